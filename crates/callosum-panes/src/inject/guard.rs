//! The condition under which tmux itself types: that the pane still looks as it did when the decision was made.
//!
//! A look and a key that follows are two commands, and a busy machine may put a dialog between them. A condition that the
//! server checks in the same step as the key leaves no such gap.

use crate::{layout::ComposerLines, screen::Screen, tmux::TmuxPane};

/// Characters that a word needs to be worth looking for.
const SHORTEST: usize = 3;

/// Characters that are looked for at most.
const LONGEST: usize = 32;

/// Returns the format that is true while the pane shows what was seen: the cursor at its place, the last line of the
/// draft and the last line of the screen where they were, no copy mode, and the same program.
pub fn condition(pane: &TmuxPane, screen: &Screen, place: &ComposerLines) -> String {
    let mut parts = vec![
        format!("#{{==:#{{pane_pid}},{}}}", pane.pid),
        format!("#{{==:#{{cursor_x}},{}}}", pane.cursor.0),
        format!("#{{==:#{{cursor_y}},{}}}", pane.cursor.1),
        format!("#{{==:#{{pane_width}},{}}}", pane.size.0),
        format!("#{{==:#{{pane_height}},{}}}", pane.size.1),
    ];
    for flag in [
        "pane_in_mode",
        "pane_input_off",
        "pane_synchronized",
        "pane_dead",
    ] {
        parts.push(format!("#{{?{flag},0,1}}"));
    }
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    if pane.command.chars().all(is_plain) {
        parts.push(format!(
            "#{{==:#{{pane_current_command}},{}}}",
            pane.command
        ));
    }
    let draft = (place.first..place.end).rev();
    let last_draft = draft
        .into_iter()
        .find(|index| word(screen, *index).is_some());
    let last = screen.bottom(1).first().copied();
    for index in [last_draft, last].into_iter().flatten() {
        if let Some(word) = word(screen, index) {
            let first = screen
                .lines
                .iter()
                .position(|line| line.text.contains(word));
            let row = first.map_or(0, |first| first + 1);
            parts.push(format!("#{{==:#{{C:{word}}},{row}}}"));
        }
    }
    let all = parts.into_iter().rev();
    all.reduce(|rest, part| format!("#{{&&:{part},{rest}}}"))
        .unwrap_or_default()
}

/// Returns the longest run of letters and digits in a line. It needs no quotes in a format or a pattern.
fn word(screen: &Screen, index: usize) -> Option<&str> {
    let line = screen.lines.get(index)?.text.as_str();
    let words = line.split(|letter: char| !letter.is_ascii_alphanumeric());
    let longest = words.max_by_key(|word| word.len())?;
    let word = longest.get(..longest.len().min(LONGEST))?;
    (word.len() >= SHORTEST).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Layout, RuleSet, tmux::TmuxPane};

    fn pane(command: &str) -> TmuxPane {
        TmuxPane {
            id: "%3".to_owned(),
            pid: 42,
            tty: String::new(),
            is_dead: false,
            is_in_mode: false,
            is_input_off: false,
            is_alternate: true,
            cursor: (5, 6),
            size: (80, 24),
            corner: (0, 0),
            window: (80, 24),
            is_active: true,
            activity: 0,
            session: String::new(),
            command: command.to_owned(),
            folder: "/".into(),
            title: String::new(),
        }
    }

    fn layout(screen: &Screen) -> Layout {
        RuleSet::built_in("claude-code").unwrap().layout(screen)
    }

    #[test]
    fn the_condition_names_cursor_program_draft_and_footer() {
        let rule = "─".repeat(20);
        let text =
            format!("❯ Fix the 'parser'\n{rule}\n❯ Fix the 'parser'\n{rule}\n  ? for shortcuts\n");
        let screen = Screen::read(text.as_bytes(), None);
        let place = layout(&screen).composer.unwrap();
        let condition = condition(&pane("claude"), &screen, &place);
        for part in [
            "#{==:#{pane_pid},42}",
            "#{==:#{cursor_x},5}",
            "#{==:#{C:parser},1}",
            "#{==:#{C:shortcuts},5}",
            "#{?pane_synchronized,0,1}",
            "#{==:#{pane_current_command},claude}",
        ] {
            assert!(condition.contains(part), "{condition}");
        }
        assert!(!condition.contains('\''));
        assert_eq!(
            condition.matches('{').count(),
            condition.matches('}').count()
        );
    }

    #[test]
    fn a_name_with_signs_is_left_out() {
        let rule = "─".repeat(20);
        let text = format!("{rule}\n❯ \n{rule}\n");
        let screen = Screen::read(text.as_bytes(), None);
        let place = layout(&screen).composer.unwrap();
        let condition = condition(&pane("it's,}"), &screen, &place);
        assert!(
            !condition.contains("it's") && !condition.contains("#{C:"),
            "{condition}"
        );
    }
}
