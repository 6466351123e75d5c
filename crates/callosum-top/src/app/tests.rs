//! Tests of the state: what keys do, and that no overview moves a key to another item.

use proptest::prelude::*;

use super::*;
use crate::overview::{Agent, Counts, Decision, Task, WaitingItem};

fn command(name: &str, words: &[&str]) -> Command {
    Command {
        name: name.to_owned(),
        argv: words.iter().map(|word| (*word).to_owned()).collect(),
    }
}

fn call(key: &str) -> WaitingItem {
    WaitingItem {
        kind: "plan_call".to_owned(),
        id: format!("run {key}"),
        title: format!(":fs.write {key}"),
        age_seconds: 61,
        commands: vec![
            command("approve", &["plan", "approve", "run", key]),
            command("deny", &["plan", "approve", "run", key, "--refuse"]),
        ],
        ..WaitingItem::default()
    }
}

pub(crate) fn overview(calls: &[&str]) -> Overview {
    Overview {
        at: "2026-01-02T03:04:05Z".to_owned(),
        project: "/home/me/shop".to_owned(),
        waiting: calls.iter().map(|key| call(key)).collect(),
        waiting_total: calls.len() as u64,
        agents: vec![Agent {
            name: "codex@s1".to_owned(),
            pane: Some("%3".to_owned()),
            state: "WORKING".to_owned(),
            age_seconds: Some(12),
            project: Some("shop".to_owned()),
            commands: vec![
                command("explain", &["mesh", "panes", "--explain", "%3"]),
                command("message", &["mesh", "message", "send", "codex@s1", "-"]),
            ],
            ..Agent::default()
        }],
        counts: Counts {
            pending: 1,
            ..Counts::default()
        },
        tasks: vec![Task {
            id: "t1".to_owned(),
            status: "pending".to_owned(),
            priority: 1,
            prompt: "Review the parser".to_owned(),
            age_seconds: 7_200,
            commands: vec![command("cancel", &["mesh", "task", "cancel", "t1"])],
            ..Task::default()
        }],
        tasks_total: 1,
        guard: vec![Decision {
            id: "project:7".to_owned(),
            verdict: "asked".to_owned(),
            command: Some("git push --force".to_owned()),
            rule: Some("git.force-push".to_owned()),
            agent: Some("codex".to_owned()),
            commands: vec![command("allow-once", &["guard", "allow", "--once", "x"])],
            ..Decision::default()
        }],
        ..Overview::default()
    }
}

fn app(calls: &[&str]) -> App {
    let mut app = App::new(24);
    app.update(overview(calls));
    app
}

fn keys(app: &mut App, text: &str) -> Option<Action> {
    let mut last = None;
    for letter in text.chars() {
        last = app.press(match letter {
            '\n' => Key::Enter,
            '\u{1b}' => Key::Esc,
            '\t' => Key::Tab,
            letter => Key::Char(letter),
        });
    }
    last
}

fn run(words: &[&str]) -> Action {
    Action::Run(words.iter().map(|word| (*word).to_owned()).collect())
}

fn selected(app: &App) -> Option<&str> {
    app.selected().map(|item| item.id.as_str())
}

/// CAKE-MET-1: a key approves the selected call, and a denial asks first.
#[test]
fn a_call_is_approved_at_once_and_denied_after_a_question() {
    let mut app = app(&["c1", "c2"]);
    assert_eq!(
        keys(&mut app, "a"),
        Some(run(&["plan", "approve", "run", "c1"]))
    );
    assert_eq!(app.status, "running: callosum plan approve run c1");
    assert_eq!(keys(&mut app, "jd"), None);
    assert!(matches!(app.mode, Mode::Confirm(..)));
    assert_eq!(keys(&mut app, "x"), None);
    assert_eq!(keys(&mut app, "n"), None);
    assert_eq!((&app.mode, &*app.status), (&Mode::List, "nothing was done"));
    let denied = Some(run(&["plan", "approve", "run", "c2", "--refuse"]));
    assert_eq!(keys(&mut app, "dy"), denied);
}

#[test]
fn a_command_runs_once_at_a_time_and_reports_its_end() {
    let mut app = app(&["c1"]);
    let argv = ["plan", "approve", "run", "c1"];
    assert_eq!(keys(&mut app, "a"), Some(run(&argv)));
    assert_eq!(keys(&mut app, "a"), None);
    assert!(app.status.starts_with("still running"), "{}", app.status);
    app.finish(&Outcome {
        argv: argv.map(str::to_owned).to_vec(),
        result: Err("no run\nhint: \u{1b}[2J".to_owned()),
    });
    assert_eq!(app.status, "failed: no run · hint: \\u{1b}[2J");
    assert_eq!(keys(&mut app, "a"), Some(run(&argv)));
    app.finish(&Outcome {
        argv: argv.map(str::to_owned).to_vec(),
        result: Ok(String::new()),
    });
    assert_eq!(app.status, "done: callosum plan approve run c1");
}

/// A key that was meant for an item never acts on the one that took its place.
#[test]
fn the_selection_follows_its_item_and_ends_with_it() {
    let mut app = app(&["c1", "c2", "c3"]);
    keys(&mut app, "j");
    assert_eq!(selected(&app), Some("plan_call/run c2"));
    app.update(overview(&["c0", "c1", "c2"]));
    assert_eq!(selected(&app), Some("plan_call/run c2"));
    app.update(overview(&["c1", "c3"]));
    assert_eq!(selected(&app), None);
    assert_eq!(keys(&mut app, "a"), None);
    assert_eq!(app.status, "nothing is selected: j and k move");
    keys(&mut app, "j");
    assert_eq!(selected(&app), Some("agent/codex@s1/%3"));
}

#[test]
fn keys_and_tabs_switch_views_and_moves_stay_in_the_list() {
    let mut app = app(&["c1"]);
    keys(&mut app, "G");
    assert_eq!(selected(&app), Some("agent/codex@s1/%3"));
    keys(&mut app, "jjj");
    assert_eq!(selected(&app), Some("agent/codex@s1/%3"));
    keys(&mut app, "g");
    app.press(Key::PageDown);
    assert_eq!(selected(&app), Some("agent/codex@s1/%3"));
    app.press(Key::PageUp);
    assert_eq!(selected(&app), Some("plan_call/run c1"));
    keys(&mut app, "2");
    assert_eq!(selected(&app), Some("task/t1"));
    keys(&mut app, "\t");
    assert_eq!(selected(&app), Some("decision/project:7"));
    assert_eq!(
        keys(&mut app, "o"),
        Some(run(&["guard", "allow", "--once", "x"]))
    );
    keys(&mut app, "\t");
    assert_eq!(app.view, View::Now);
    app.press(Key::BackTab);
    assert_eq!(app.view, View::Guard);
    assert_eq!(keys(&mut app, "r"), Some(Action::Refresh));
}

#[test]
fn a_message_is_written_on_a_line_and_esc_cancels_it() {
    let mut app = app(&[]);
    assert_eq!(keys(&mut app, "mq 1\u{1b}"), None);
    assert_eq!(app.status, "no message was sent");
    assert_eq!(keys(&mut app, "m  \n"), None);
    assert_eq!(app.status, "an empty message is not sent");
    keys(&mut app, "mhi ");
    app.paste("the\nre");
    let sent = Some(run(&["mesh", "message", "send", "codex@s1", "hi the re"]));
    assert_eq!(keys(&mut app, "\n"), sent);
    keys(&mut app, "j");
    app.paste("a");
    assert_eq!(app.mode, Mode::List);
}

#[test]
fn a_filter_keeps_rows_with_all_words_and_esc_clears_it() {
    let mut app = app(&["c1", "c2"]);
    keys(&mut app, "/C2 FS");
    assert_eq!(selected(&app), Some("plan_call/run c2"));
    assert_eq!(keys(&mut app, "\n"), None);
    assert_eq!(app.filter(), "C2 FS");
    assert_eq!(
        keys(&mut app, "a"),
        Some(run(&["plan", "approve", "run", "c2"]))
    );
    keys(&mut app, "\u{1b}");
    assert_eq!(app.filter(), "");
    keys(&mut app, "/nothing has this");
    assert_eq!(selected(&app), None);
    keys(&mut app, "\u{1b}");
    assert_eq!(app.entries().len(), 5);
}

#[test]
fn details_and_help_close_and_details_act() {
    let mut app = app(&["c1"]);
    keys(&mut app, "\njjk");
    assert_eq!(app.mode, Mode::Details(1));
    assert_eq!(
        keys(&mut app, "a"),
        Some(run(&["plan", "approve", "run", "c1"]))
    );
    assert_eq!(app.mode, Mode::List);
    keys(&mut app, "?");
    assert_eq!(app.mode, Mode::Help(0));
    assert_eq!(keys(&mut app, "q"), None);
    assert_eq!(app.mode, Mode::List);
    assert_eq!(keys(&mut app, "d"), None);
    keys(&mut app, "n");
    keys(&mut app, "2a");
    assert!(app.status.contains("does nothing"), "{}", app.status);
}

#[test]
fn quitting_asks_while_a_command_runs() {
    let mut app = app(&["c1"]);
    assert_eq!(keys(&mut app, "q"), Some(Action::Quit));
    assert_eq!(app.press(Key::Interrupt), Some(Action::Quit));
    keys(&mut app, "a");
    assert_eq!(keys(&mut app, "q"), None);
    assert_eq!(keys(&mut app, "n"), None);
    assert_eq!(app.press(Key::Interrupt), None);
    assert_eq!(app.press(Key::Interrupt), Some(Action::Quit));
    assert_eq!(keys(&mut app, "\u{1b}qy"), Some(Action::Quit));
}

fn any_key() -> impl Strategy<Value = Key> {
    prop_oneof![
        8 => proptest::sample::select("123jkgGadomr/?qynx".chars().collect::<Vec<_>>()).prop_map(Key::Char),
        4 => proptest::sample::select(vec![
            Key::Enter, Key::Esc, Key::Tab, Key::BackTab, Key::Up, Key::Down, Key::Left, Key::Right,
            Key::PageUp, Key::PageDown, Key::Home, Key::End, Key::Backspace, Key::Delete, Key::ClearLine,
        ]),
        1 => any::<char>().prop_map(Key::Char),
    ]
}

/// A step of a person, or a new overview with these calls.
pub(crate) fn steps() -> impl Strategy<Value = Vec<(Key, Option<Vec<u8>>)>> {
    let calls = proptest::option::weighted(0.2, proptest::collection::vec(0_u8..6, 0..6));
    proptest::collection::vec((any_key(), calls), 0..60)
}

pub(crate) fn calls(numbers: &[u8]) -> Overview {
    let mut numbers = numbers.to_vec();
    numbers.sort_unstable();
    numbers.dedup();
    let names: Vec<String> = numbers.iter().map(|number| format!("c{number}")).collect();
    overview(&names.iter().map(String::as_str).collect::<Vec<_>>())
}

proptest! {
    /// Every command that runs was on the selected item when its key was pressed, or on the item that a question was about.
    #[test]
    fn a_command_is_always_one_of_the_item_that_was_selected(steps in steps()) {
        let mut app = app(&["c1", "c2"]);
        for (key, update) in steps {
            let offered = app.selected().map(|item| item.commands.clone()).unwrap_or_default();
            let asked = match &app.mode {
                Mode::Confirm(_, Action::Run(argv)) => Some(argv.clone()),
                Mode::Message(_, command) => Some(command.argv.clone()),
                _ => None,
            };
            if let Some(Action::Run(argv)) = app.press(key) {
                let is_same = |expected: &Vec<String>| {
                    let last = argv.len() - 1;
                    *expected == argv || expected.last().is_some_and(|word| word == "-") && expected[..last] == argv[..last]
                };
                let is_offered = offered.iter().any(|command| command.argv == argv);
                prop_assert!(is_offered || asked.as_ref().is_some_and(is_same), "{argv:?}");
            }
            if let Some(numbers) = update {
                let before = app.selected().map(|item| item.id.clone());
                app.update(calls(&numbers));
                let after = app.selected().map(|item| item.id.clone());
                prop_assert!(after == before || after.is_none());
            }
        }
    }
}
