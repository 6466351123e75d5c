//! [`Shown`]: screen of the fake client, drawn as Claude Code 2.1.332 draws it.

use std::fmt::Write as _;

/// Lines that a turn and its prompt take at most.
const KEPT: usize = 200;

/// A paste of so many characters or lines is collapsed.
const COLLAPSED: (usize, usize) = (300, 4);

#[derive(Default)]
pub(crate) struct Shown {
    pub(crate) draft: String,
    pub(crate) queue: Vec<String>,
    pub(crate) is_working: bool,
    pub(crate) is_limited: bool,
    pub(crate) spin: usize,
    pub(crate) turns: Vec<String>,
}

impl Shown {
    pub(crate) fn prompt(&mut self, text: &str) {
        self.turns.push(String::new());
        self.turns.push(format!("❯ {}", short(text)));
        self.turns.push(String::new());
        self.turns.push("● I look at it.".to_owned());
        let first = self.turns.len().saturating_sub(KEPT);
        self.turns.drain(..first);
    }

    pub(crate) fn end(&mut self) {
        self.turns.push(String::new());
        self.turns
            .push("✻ Churned for 1s · done 12:47 PM".to_owned());
    }

    pub(crate) fn frame(&self, columns: u16, rows: u16) -> String {
        let columns = usize::from(columns);
        let mut above: Vec<String> = Vec::new();
        for line in &self.turns {
            above.extend(wrapped(line, columns));
        }
        for text in &self.queue {
            above.push(String::new());
            above.extend(wrapped(&format!("❯ {}", short(text)), columns));
            above.push("  ⎿  Queued · ctrl+x ctrl+s to send now".to_owned());
        }
        let is_empty = self.draft.is_empty();
        if self.is_working && is_empty {
            let star = ["·", "✢", "✳", "✶"][self.spin % 4];
            above.push(String::new());
            above.push(format!(
                "{star} Scampering… ({}s · ↓ 32 tokens)",
                self.spin / 10
            ));
        }
        if self.is_limited {
            above.push("❯ Go on".to_owned());
            above.push("  ⎿  You've hit your session limit · resets 3pm".to_owned());
        }
        above.push(String::new());
        let rule = "─".repeat(columns);
        let composer = wrapped(&format!("❯ {}", short(&self.draft)), columns);
        let footer = match (self.is_working, is_empty) {
            (true, true) => "  ⏸ manual mode on · esc to interrupt",
            (false, true) => "  ⏸ manual mode on · ? for shortcuts",
            (_, false) => "  ⏸ manual mode on",
        };
        let below = composer.len() + 3;
        let room = usize::from(rows).saturating_sub(below);
        let first = above.len().saturating_sub(room);
        let mut lines = vec![String::new(); room.saturating_sub(above.len())];
        lines.extend(above.drain(first..));
        let row = lines.len() + 1 + composer.len();
        let column = composer.last().map_or(0, |line| line.chars().count()) + 1;
        lines.push(rule.clone());
        lines.extend(composer);
        lines.push(rule);
        lines.push(footer.to_owned());
        screen(&lines, row, column)
    }

    /// Returns the screen of a dialog or a page, which hides the composer.
    pub(crate) fn covered(&self, rows: u16, is_dialog: bool) -> String {
        let rule = "─".repeat(60);
        let words: &[&str] = if is_dialog {
            &[
                rule.as_str(),
                " Bash command",
                "",
                " Do you want to proceed?",
                " ❯ 1. Yes",
                "   2. No",
                "",
                " Esc to cancel · Tab to amend",
            ]
        } else {
            &[
                "  Help  General   Commands",
                "",
                "  For more help: docs",
                "",
                "  ←/→ to switch · Esc to close",
            ]
        };
        let room = usize::from(rows).saturating_sub(words.len());
        let mut above: Vec<String> = self.turns.clone();
        let first = above.len().saturating_sub(room);
        above.drain(..first);
        above.resize(room, String::new());
        let above = above
            .into_iter()
            .map(|line| line.chars().take(60).collect());
        let lines: Vec<String> = above
            .chain(words.iter().map(|line| (*line).to_owned()))
            .collect();
        let row = lines.len() - 3;
        screen(&lines, row, 2)
    }
}

fn screen(lines: &[String], row: usize, column: usize) -> String {
    let mut frame = "\x1b[H\x1b[2J".to_owned();
    frame.push_str(&lines.join("\r\n"));
    write!(frame, "\x1b[{row};{column}H").unwrap();
    frame
}

fn short(text: &str) -> String {
    let lines = text.lines().count();
    if text.chars().count() >= COLLAPSED.0 || lines >= COLLAPSED.1 {
        format!("[Pasted text #1 +{} lines]", lines.saturating_sub(1))
    } else {
        text.to_owned()
    }
}

/// Wraps a text, with two columns of indentation from its second line on.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.split('\n') {
        let mut current = if lines.is_empty() {
            String::new()
        } else {
            "  ".to_owned()
        };
        for letter in line.chars() {
            if current.chars().count() + 1 >= columns {
                lines.push(std::mem::replace(&mut current, "  ".to_owned()));
            }
            current.push(letter);
        }
        lines.push(current);
    }
    lines
}
