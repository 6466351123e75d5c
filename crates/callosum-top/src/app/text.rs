//! Text from elsewhere, made fit for a cell: no control characters, one line, bounded.

use callosum_redact::terminal_escape::on_one_line;

/// Most letters of one text that are shown.
const LONGEST: usize = 4_000;

/// Returns a text on one line, cut, in which what a terminal would obey is escaped.
pub(crate) fn safe(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        None => on_one_line(text),
        Some((end, _)) => format!("{}…", on_one_line(&text[..end])),
    }
}

/// Returns the line that a person can paste into a shell.
pub(crate) fn command_line(argv: &[String]) -> String {
    let words = argv.iter().map(|word| {
        // A word with a NUL byte cannot be an argument at all.
        shlex::try_quote(word).map_or_else(|_| "''".to_owned(), std::borrow::Cow::into_owned)
    });
    let mut line = "callosum".to_owned();
    for word in words {
        line.push(' ');
        line.push_str(&word);
    }
    safe(&line)
}

/// Returns a time span in its largest unit: `7s`, `3m`, `2h` or `5d`.
pub(crate) fn age(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_is_escaped_and_cut() {
        let text = safe("a\u{1b}[2Jb\nc\u{202e}d\u{9b}\r");
        assert_eq!(text, "a\\u{1b}[2Jb\\nc\\u{202e}d\\u{9b}\\r");
        let long = safe(&"字".repeat(1 << 20));
        assert_eq!(long.chars().count(), LONGEST + 1);
    }

    #[test]
    fn a_command_line_can_be_pasted() {
        let argv = ["guard", "explain", "--", "git push 'x'"].map(str::to_owned);
        assert_eq!(
            command_line(&argv),
            "callosum guard explain -- \"git push 'x'\""
        );
        assert_eq!(command_line(&["\0".to_owned()]), "callosum ''");
    }

    #[test]
    fn an_age_has_one_unit() {
        let ages = [0, 59, 60, 3_599, 3_600, 86_399, 86_400, 900_000].map(age);
        assert_eq!(ages, ["0s", "59s", "1m", "59m", "1h", "23h", "1d", "10d"]);
    }
}
