//! [`excerpt`]: the beginning of a foreign text, fit to be repeated in a message.

/// The longest piece that is repeated, in characters.
const LONGEST: usize = 60;

/// Gives the beginning of a text that comes from a file or a person, with what a terminal would
/// obey made visible: control characters, and those that turn the direction of writing.
pub fn excerpt(text: &str) -> String {
    let mut shown = String::new();
    for character in text.chars().take(LONGEST) {
        if character.is_control() || turns_direction(character) {
            shown.extend(character.escape_debug());
        } else {
            shown.push(character);
        }
    }
    if text.chars().nth(LONGEST).is_some() {
        shown.push_str("...");
    }
    shown
}

fn turns_direction(character: char) -> bool {
    matches!(
        character,
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
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
