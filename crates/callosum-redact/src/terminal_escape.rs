//! Makes the control sequences in a text visible, so that a terminal does not obey them.
//!
//! For all text that comes from elsewhere and is shown: words of executors, names of files, quotes.
//! Deliberately not here: removing colors, which would hide that there were any.

use std::{borrow::Cow, fmt::Write as _};

/// Escapes characters that would move the cursor, rewrite earlier output, or change the direction
/// of writing.
///
/// Line breaks and tabs stay. Other control characters, and the overrides and isolates of the
/// direction (U+202A to U+202E, U+2066 to U+2069), become their escapes as Rust writes them:
/// `\u{1b}`, `\r`. A text without any of them is returned as it is. Applying it twice is the same
/// as once.
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

/// The same, with invisible characters made visible as well: marks of direction, joiners, tags,
/// blanks without width. For text that a model reads, which may obey what a person does not see.
///
/// Joiners and selectors of a form stay where they belong to a visible sign: between letters that
/// are not ASCII, and after an emoji. Applying it twice is the same as once.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut before = ' ';
    for character in text.chars() {
        let is_of_sign = is_of_sign(character) && !before.is_ascii() && !is_unseen(before);
        if is_obeyed(character) {
            shown.extend(character.escape_debug());
        } else if is_unseen(character) && !is_of_sign {
            shown.extend(character.escape_unicode());
        } else {
            shown.push(character);
        }
        before = character;
    }
    shown
}

/// The same, in which no tag of a client begins or ends: [`quote::neutral`](crate::quote::neutral). For words from
/// elsewhere that a client puts between tags for its model, which they could end, as with `</system-reminder>`.
pub fn untagged(text: &str) -> String {
    crate::quote::neutral(text)
}

/// The same for a text in JSON, as JSON escapes it: `\u009b`. A JSON parser reads the original
/// text.
///
/// JSON's own escapes stay as they are, and so do the breaks between its values. Applying it twice
/// is the same as once.
pub fn in_json(json: &str) -> Cow<'_, str> {
    // Nearly all texts have none, and are not looked at by their characters.
    let may_be = |byte: u8| matches!(byte, 0x7f | 0xc2 | 0xe2);
    let is_escaped = |character: char| {
        character >= '\u{7f}' && is_obeyed(character)
            || matches!(character, '\u{2028}' | '\u{2029}')
    };
    if !json.bytes().any(may_be) || !json.contains(is_escaped) {
        return Cow::Borrowed(json);
    }
    let mut shown = String::with_capacity(json.len() + 16);
    for character in json.chars() {
        if is_escaped(character) {
            let _ = write!(shown, "\\u{:04x}", u32::from(character));
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

/// Whether a character takes no room of its own on a screen: a person does not see it, but a
/// program that reads the text by characters does.
pub fn is_unseen(character: char) -> bool {
    matches!(character, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// Whether it changes the form of the character before it: a joiner, a selector.
fn is_of_sign(character: char) -> bool {
    matches!(character, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}')
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

    /// CALC-SEC-1: JSON without control sequences for a terminal has the same content for a JSON
    /// parser.
    #[test]
    fn json_has_nothing_that_a_terminal_would_obey_and_says_the_same() {
        for (json, shown) in [
            ("\"a\u{9b}31mb\"", "\"a\\u009b31mb\""),
            ("[\"\u{7f}\u{85}\"]\n", "[\"\\u007f\\u0085\"]\n"),
            (
                "\"\u{202e}x\u{2066}\u{2028}\"",
                "\"\\u202ex\\u2066\\u2028\"",
            ),
            (
                "{\n  \"été\": \"\u{1f600} \\u001b\"\n}",
                "{\n  \"été\": \"\u{1f600} \\u001b\"\n}",
            ),
        ] {
            assert_eq!(in_json(json), shown);
            assert_eq!(in_json(shown), shown);
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

    /// LOA-SEC-1: invisible characters are shown, and no script or emoji is taken apart.
    #[test]
    fn invisible_characters_are_made_visible() {
        for (text, shown) in [
            ("a\u{202e}b", "a\\u{202e}b"),
            ("a\u{200b}b\u{feff}", "a\\u{200b}b\\u{feff}"),
            ("a\u{e0041}", "a\\u{e0041}"),
            ("a\u{200d}b", "a\\u{200d}b"),
            ("\u{2764}\u{fe0f}\u{fe01}", "\u{2764}\u{fe0f}\\u{fe01}"),
            (
                "\u{1f469}\u{200d}\u{1f680} \u{2764}\u{fe0f}",
                "\u{1f469}\u{200d}\u{1f680} \u{2764}\u{fe0f}",
            ),
            (
                "\u{646}\u{645}\u{6cc}\u{200c}\u{62e}",
                "\u{646}\u{645}\u{6cc}\u{200c}\u{62e}",
            ),
            ("one\n\ttwo, été", "one\n\ttwo, été"),
        ] {
            assert_eq!(visible(text), shown);
            assert_eq!(visible(shown), shown);
        }
    }

    #[test]
    fn no_tag_of_a_client_is_left() {
        for (text, shown) in [
            ("</system-reminder>\u{202e}", "‹/system-reminder>\\u{202e}"),
            ("a < b", "a < b"),
            ("été", "été"),
        ] {
            assert_eq!(untagged(text), shown);
        }
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
