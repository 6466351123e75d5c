//! What a terminal would obey in a text, made visible instead.
//!
//! For whatever comes from elsewhere and is shown: words of executors, names of
//! files, quotes. Deliberately not here: taking colours out, which would hide that there were any.

/// Escapes what would move the cursor, rewrite what was shown, or turn the direction of writing.
///
/// Line breaks and tabs stay. Other control characters, and the overrides and isolates of the
/// direction (U+202A to U+202E, U+2066 to U+2069), become their escapes as Rust writes them:
/// `\u{1b}`, `\r`. A text without any of them comes back as it is; twice is once.
pub fn harmless(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_obeyed(character) {
            shown.extend(character.escape_debug());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// The same for what is shown on one line: line breaks and tabs become their escapes, too.
pub fn on_one_line(text: &str) -> String {
    harmless(text).replace('\n', "\\n").replace('\t', "\\t")
}

fn is_obeyed(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        other => other.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// LOA-SEC-1: no title, no cleared screen, no line written over, no text turned around.
    #[test]
    fn what_a_terminal_would_obey_is_made_visible() {
        for (text, shown) in [
            ("a\u{1b}]0;title\u{7}b", "a\\u{1b}]0;title\\u{7}b"),
            ("a\u{9b}2Jb\u{7f}", "a\\u{9b}2Jb\\u{7f}"),
            ("failed\rstatus: verified", "failed\\rstatus: verified"),
            ("a\u{202e}b\u{202c}", "a\\u{202e}b\\u{202c}"),
            ("\u{2066}a\u{2069}", "\\u{2066}a\\u{2069}"),
        ] {
            assert_eq!(harmless(text), shown);
        }
    }

    /// A command is shown as it would be typed: quotes are not its escapes.
    #[test]
    fn one_line_keeps_quotes_and_no_break() {
        assert_eq!(
            on_one_line("sh -c 'a \"b\"'\n\tc\r"),
            "sh -c 'a \"b\"'\\n\\tc\\r"
        );
    }

    #[test]
    fn lines_tabs_and_every_script_stay_as_they_are() {
        let text = "one\n\ttwo: été, \u{5d0}\u{5d1}, \u{1f600}, it's `\\u{1b}`\n";
        assert_eq!(harmless(text), text);
    }

    proptest! {
        #[test]
        fn twice_is_once_and_nothing_is_left_to_obey(text in any::<String>()) {
            let once = harmless(&text);
            prop_assert!(!once.contains(is_obeyed));
            prop_assert_eq!(harmless(&once), once);
        }
    }
}
