//! [`Signature`]: one name for the same error, with any line numbers, paths and times (Seed CAKE §3).

use std::fmt::Write as _;

use callosum_diagnose::ErrorEvent;
use sha2::{Digest as _, Sha256};

/// Longest normalized text, in bytes.
const LONGEST: usize = 400;

/// The identity of an error, and the text that it was made from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Signature {
    /// `sha256:` and 64 hexadecimal digits.
    pub id: String,
    /// Type, file name and message, with numbers, addresses, times and folders masked.
    pub normalized: String,
}

impl Signature {
    /// Returns the signature of an error.
    ///
    /// The message keeps quoted names, so that two missing modules differ. It loses numbers, hexadecimal words, UUIDs
    /// and folders, so that two runs of one command agree. The caller has masked secrets before.
    pub fn of_event(event: &ErrorEvent) -> Self {
        let file = event.file_path.as_deref().map_or("", base_name);
        let mut normalized = format!("{} {file} ", event.error_type);
        if let Some(test) = &event.test {
            push_normalized(test, &mut normalized);
            normalized.push(' ');
        }
        push_normalized(&event.message, &mut normalized);
        Self::of_normalized(normalized)
    }

    /// Returns the signature of a plain text, such as a message that a person pastes.
    pub fn of_text(text: &str) -> Self {
        let mut normalized = String::new();
        push_normalized(text, &mut normalized);
        Self::of_normalized(normalized)
    }

    fn of_normalized(mut normalized: String) -> Self {
        normalized.truncate(normalized.floor_char_boundary(LONGEST));
        let normalized = normalized.trim().to_owned();
        let mut id = "sha256:".to_owned();
        for byte in Sha256::digest(normalized.as_bytes()) {
            let _ = write!(id, "{byte:02x}");
        }
        Self { id, normalized }
    }
}

/// Returns the last part of a path.
fn base_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Appends a text word by word, with what differs from run to run masked, and one blank between words.
fn push_normalized(text: &str, into: &mut String) {
    let mut is_first = true;
    for word in text.split_whitespace() {
        if into.len() > LONGEST {
            return;
        }
        if !is_first {
            into.push(' ');
        }
        is_first = false;
        push_word(word, into);
    }
}

/// Appends one word. Punctuation around it stays.
fn push_word(word: &str, into: &mut String) {
    let is_edge = |letter: char| {
        matches!(
            letter,
            '"' | '\'' | '`' | '(' | ')' | '[' | ']' | '{' | '}' | ',' | ';' | '<' | '>' | ':'
        )
    };
    let start = word.len() - word.trim_start_matches(is_edge).len();
    let core = word[start..].trim_end_matches(is_edge);
    let end = start + core.len();
    into.push_str(&word[..start]);
    // A path keeps its last part: `/tmp/a1/x.py` and `./x.py` are the same file in two runs.
    let core = if core.contains(['/', '\\']) && !core.contains("://") {
        base_name(core)
    } else {
        core
    };
    push_masked(core, into);
    into.push_str(&word[end..]);
}

/// Appends a word with its numbers as `#`, and as a single `#` if it is an address, a hash or a UUID.
fn push_masked(word: &str, into: &mut String) {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let bare = word.strip_prefix("0x").unwrap_or(word);
    let is_hexadecimal = bare
        .bytes()
        .all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    if (bare.len() < word.len() || (bare.len() >= 7 && digits > 0)) && is_hexadecimal {
        into.push('#');
        return;
    }
    let mut was_digit = false;
    let mut before = ' ';
    for letter in word.chars() {
        // A digit that belongs to a name (`utf8`, `E0308`) stays: it distinguishes errors.
        let is_number = letter.is_ascii_digit() && (was_digit || !before.is_alphanumeric());
        if !is_number {
            into.push(letter);
        } else if !was_digit {
            into.push('#');
        }
        was_digit = is_number;
        before = letter;
    }
}

#[cfg(test)]
mod tests {
    use callosum_diagnose::{Severity, StreamSource};
    use proptest::prelude::*;

    use super::*;

    fn event(error_type: &str, file: Option<&str>, line: Option<u32>, message: &str) -> ErrorEvent {
        ErrorEvent {
            error_type: error_type.to_owned(),
            file_path: file.map(str::to_owned),
            line_number: line,
            message: message.to_owned(),
            code: None,
            module: None,
            test: None,
            severity: Severity::High,
            stream_source: StreamSource::Merged,
            timestamp: String::new(),
            raw_output: String::new(),
        }
    }

    fn normalized(text: &str) -> String {
        Signature::of_text(text).normalized
    }

    /// CAKE-RCL-1: what differs from run to run is masked, and names stay.
    #[test]
    fn numbers_and_folders_are_masked_and_names_stay() {
        for (text, expected) in [
            ("line 42 of 7", "line # of #"),
            ("took 1.23s at 0x7ffe12", "took #.#s at #"),
            ("/tmp/a8f/x.py:12: bad", "x.py:#: bad"),
            ("No module named 'requests'", "No module named 'requests'"),
            ("utf8 E0308 TS2345", "utf8 E0308 TS2345"),
            ("commit 9fceb02d0ae598e95", "commit #"),
            ("id 550e8400-e29b-41d4-a716-446655440000", "id #"),
            ("  many \t blanks ", "many blanks"),
            ("127.0.0.1:8080 in use", "#.#.#.#:# in use"),
        ] {
            assert_eq!(normalized(text), expected, "{text}");
        }
    }

    /// CAKE-RCL-1: the same error in another run has the same signature; another name does not.
    #[test]
    fn an_error_has_one_signature_in_all_runs() {
        let one = event(
            "KeyError",
            Some("/home/a/app.py"),
            Some(3),
            "'id' after 12 ms",
        );
        let again = event("KeyError", Some("src/app.py"), Some(90), "'id' after 7 ms");
        assert_eq!(Signature::of_event(&one), Signature::of_event(&again));
        let other = event("KeyError", Some("src/app.py"), Some(3), "'name' after 7 ms");
        assert_ne!(Signature::of_event(&one).id, Signature::of_event(&other).id);
        assert!(Signature::of_event(&one).id.starts_with("sha256:"));
        assert_eq!(Signature::of_event(&one).id.len(), 71);
    }

    proptest! {
        /// CAKE-RCL-1: any text has a bounded normal form, and separate numbers never count.
        #[test]
        fn any_text_has_a_bounded_normal_form(text in ".{0,300}", a in 0u32..9999, b in 0u32..9999) {
            prop_assert!(normalized(&text).len() <= LONGEST);
            prop_assert_eq!(normalized(&format!("{a} {text}")), normalized(&format!("{b} {text}")));
        }

        /// CAKE-RCL-1: line numbers and folders do not count.
        #[test]
        fn lines_and_folders_do_not_count(a in 1u32..9999, b in 1u32..9999, folder in "[a-z]{1,8}") {
            let one = event("E", Some("x.rs"), Some(a), &format!("at x.rs:{a}"));
            let other = event("E", Some(&format!("/{folder}/x.rs")), Some(b), &format!("at /{folder}/x.rs:{b}"));
            prop_assert_eq!(Signature::of_event(&one), Signature::of_event(&other));
        }
    }
}
