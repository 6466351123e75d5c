//! [`excerpt`]: the beginning of a foreign text, fit to be repeated in a message.

use callosum_redact::terminal_escape::harmless;

/// The longest piece that is repeated, in characters.
const LONGEST: usize = 60;

/// Gives the beginning of a text that comes from a file or a person, with what a terminal would
/// obey made visible: control characters, line breaks too, and those that turn the direction of
/// writing.
pub fn excerpt(text: &str) -> String {
    let beginning: String = text.chars().take(LONGEST).collect();
    let on_one_line = beginning.replace('\n', "\\n").replace('\t', "\\t");
    let mut shown = harmless(&on_one_line);
    if beginning.len() < text.len() {
        shown.push_str("...");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(excerpt(&"é".repeat(61)), format!("{}...", "é".repeat(60)));
        assert_eq!(excerpt(&"é".repeat(60)), "é".repeat(60));
    }

    #[test]
    fn what_a_terminal_would_obey_is_made_visible() {
        assert_eq!(excerpt("it's\n\u{1b}[2J"), "it's\\n\\u{1b}[2J");
        assert_eq!(excerpt("a\u{202e}b"), "a\\u{202e}b");
    }
}
