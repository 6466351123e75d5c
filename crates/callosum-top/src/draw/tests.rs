//! Tests of the drawing: one screen as it is, and that no size, text or key breaks it.

use proptest::prelude::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Color;

use super::*;
use crate::app::Key;
use crate::app::tests::{calls, overview, steps};
use crate::overview::{Overview, WaitingItem};

fn terminal(width: u16, height: u16) -> Terminal<TestBackend> {
    Terminal::new(TestBackend::new(width, height)).unwrap()
}

fn lines(terminal: &Terminal<TestBackend>) -> Vec<String> {
    let buffer = terminal.backend().buffer();
    let rows = buffer.content.chunks(usize::from(buffer.area.width.max(1)));
    rows.map(|row| {
        let mut line = String::new();
        let mut skip = 0;
        for cell in row {
            if skip > 0 {
                skip -= 1;
                continue;
            }
            skip = Span::raw(cell.symbol()).width().saturating_sub(1);
            line.push_str(cell.symbol());
        }
        line.trim_end().to_owned()
    })
    .collect()
}

fn screen(app: &App, width: u16, height: u16, palette: Palette) -> Terminal<TestBackend> {
    let mut terminal = terminal(width, height);
    terminal.draw(|frame| draw(frame, app, palette)).unwrap();
    terminal
}

fn shown(app: &App, width: u16, height: u16) -> Vec<String> {
    lines(&screen(app, width, height, Palette::new(true)))
}

fn app_with(overview: Overview, keys: &str) -> App {
    let mut app = App::new(24);
    app.update(overview);
    for key in keys.chars() {
        app.press(if key == '\n' {
            Key::Enter
        } else {
            Key::Char(key)
        });
    }
    app
}

#[test]
fn a_screen_of_80_by_24_shows_views_items_command_and_keys() {
    let mut now = overview(&["c1", "c2"]);
    now.faults.push("mesh: cannot read the mesh".to_owned());
    let app = app_with(now, "j");
    let screen = shown(&app, 80, 24);
    assert_eq!(
        screen[..7],
        [
            "callosum top  1 Now  2 Tasks  3 Guard                    /home/me/shop  03:04:05",
            "! mesh: cannot read the mesh",
            "Waiting for you (2)",
            "  1m   plan call      :fs.write c1",
            "> 1m   plan call      :fs.write c2",
            "Agents (1)",
            "  12s  working              codex        %3        shop",
        ]
    );
    assert_eq!(
        screen[22..],
        [
            "$ callosum plan approve run c2",
            "a approve   d deny   Enter details   / filter   ? keys   q quit",
        ]
    );
}

#[test]
fn tasks_and_decisions_have_their_views() {
    let tasks = shown(&app_with(overview(&[]), "2"), 80, 24);
    assert_eq!(
        tasks[1..3],
        [
            "1 pending, 0 in progress, 0 complete, 0 canceled; 1 of 1 open tasks",
            "> 2h   pending      P1   any agent    Review the parser",
        ]
    );
    let guard = shown(&app_with(overview(&[]), "3"), 80, 24);
    assert_eq!(
        guard[2],
        "> 0s   asked     codex     git.force-push     git push --force"
    );
}

#[test]
fn details_show_every_command_with_its_key() {
    let screen = shown(&app_with(overview(&["c1"]), "\n"), 80, 24);
    let expected = [
        "kind         plan call",
        "key a        $ callosum plan approve run c1",
        "key d        $ callosum plan approve run c1 --refuse",
    ];
    for line in expected {
        assert!(
            screen.iter().any(|shown| shown == line),
            "{line}: {screen:#?}"
        );
    }
    let help = shown(&app_with(overview(&[]), "?"), 80, 24);
    assert!(
        help.iter()
            .any(|line| line == "o            allow the command once")
    );
}

#[test]
fn a_message_shows_its_end_and_the_cursor() {
    let text = "字".repeat(60);
    let app = app_with(overview(&[]), &format!("m{text}"));
    let mut terminal = screen(&app, 40, 10, Palette::new(true));
    let cursor = terminal.get_cursor_position().unwrap();
    assert_eq!((cursor.x, cursor.y), (38, 9));
    assert_eq!(lines(&terminal)[9], "字".repeat(19));
    let app = app_with(overview(&[]), "mhi");
    assert_eq!(shown(&app, 40, 10)[9], "to codex@s1: hi");
}

#[test]
fn a_question_and_a_filter_are_shown() {
    let app = app_with(overview(&["c1"]), "d");
    assert_eq!(
        shown(&app, 80, 10)[9],
        "[y/n] deny: callosum plan approve run c1 --refuse?"
    );
    let app = app_with(overview(&["c1"]), "/fs\n");
    assert!(shown(&app, 80, 10)[0].contains(" /fs "));
    let app = app_with(overview(&["c1"]), "/fs");
    assert_eq!(shown(&app, 80, 10)[9], "/fs");
}

/// A terminal never gets what it would obey.
#[test]
fn hostile_text_is_escaped() {
    let hostile = "\u{1b}[2J\u{9b}31m\u{202e}evil\r\n\u{7}字\u{0}";
    let mut now = overview(&[]);
    now.project = hostile.to_owned();
    now.faults.push(hostile.to_owned());
    now.waiting.push(WaitingItem {
        kind: hostile.to_owned(),
        id: hostile.to_owned(),
        title: hostile.repeat(60_000),
        commands: vec![crate::overview::Command {
            name: hostile.to_owned(),
            argv: vec![hostile.to_owned(), "-".to_owned()],
        }],
        ..WaitingItem::default()
    });
    for agent in &mut now.agents {
        agent.name = hostile.to_owned();
        agent.state = hostile.to_owned();
        agent.task = Some((hostile.to_owned(), hostile.to_owned()));
    }
    for keys in ["", "\n", "G\n", "Gm", "2", "3", "?"] {
        let app = app_with(now.clone(), keys);
        for line in shown(&app, 80, 24) {
            assert!(
                !line
                    .chars()
                    .any(|letter| letter.is_control() || letter == '\u{202e}'),
                "{line:?}"
            );
        }
    }
    let app = app_with(now, "");
    assert!(
        shown(&app, 80, 24)
            .iter()
            .any(|line| line.contains("\\u{1b}[2J"))
    );
}

#[test]
fn a_screen_without_colors_has_none() {
    let app = app_with(overview(&["c1"]), "");
    let colors = |palette: Palette| {
        let terminal = screen(&app, 80, 24, palette);
        let cells = terminal.backend().buffer().content.iter();
        cells
            .filter(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset)
            .count()
    };
    assert_eq!(colors(Palette::new(false)), 0);
    assert!(colors(Palette::new(true)) > 0);
}

#[test]
fn a_long_list_is_scrolled_to_its_selection() {
    let mut now = overview(&[]);
    now.waiting = (0..200)
        .map(|number| WaitingItem {
            kind: "dead_letter".to_owned(),
            id: number.to_string(),
            title: format!("letter {number}"),
            ..WaitingItem::default()
        })
        .collect();
    for (keys, title) in [("", "letter 0"), ("G", "codex"), ("Gk", "letter 199")] {
        let screen = shown(&app_with(now.clone(), keys), 80, 24);
        let selected = screen.iter().find(|line| line.starts_with("> ")).unwrap();
        assert!(selected.contains(title), "{selected}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// No size of a screen, order of keys and sequence of overviews makes the drawing fail.
    #[test]
    fn every_state_fits_on_every_screen(steps in steps(), width in 1_u16..90, height in 1_u16..30) {
        let mut app = App::new(height);
        for (key, update) in steps {
            app.press(key);
            if let Some(numbers) = update {
                app.update(calls(&numbers));
            }
            let screen = shown(&app, width, height);
            prop_assert_eq!(screen.len(), usize::from(height));
        }
    }
}
