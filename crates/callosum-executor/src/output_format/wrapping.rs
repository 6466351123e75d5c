//! [`unwrapped`]: removes the text around JSON in a program's output: terminal sequences, separators of lines, a byte order mark.
//!
//! A client that thinks it writes to a terminal colors its output; JavaScript libraries end lines
//! with U+2028. The JSON inside can be read all the same, and it is paid for.

/// Returns the bytes without the blanks and marks before them, and the blanks behind them.
pub(crate) fn unwrapped(bytes: &[u8]) -> &[u8] {
    behind_wrapping(bytes).trim_ascii_end()
}

/// Returns the bytes without the blanks and marks before them.
pub(super) fn behind_wrapping(bytes: &[u8]) -> &[u8] {
    let mut rest = bytes;
    loop {
        let bare = without_marks(rest).trim_ascii_start();
        if bare.len() == rest.len() {
            return bare;
        }
        rest = bare;
    }
}

/// Returns the bytes without terminal sequences, U+FEFF, U+2028 and U+2029 before them. Blanks stay.
pub(super) fn without_marks(bytes: &[u8]) -> &[u8] {
    /// UTF-8 of the marks that are no blanks.
    const MARKS: [&[u8]; 4] = [
        b"\xef\xbb\xbf",
        b"\xe2\x80\xa8",
        b"\xe2\x80\xa9",
        b"\xe2\x80\x8b",
    ];
    let mut rest = bytes;
    loop {
        let mark = MARKS.iter().find_map(|mark| rest.strip_prefix(*mark));
        match mark.or_else(|| behind_sequence(rest)) {
            Some(behind) => rest = behind,
            None => return rest,
        }
    }
}

/// Returns what comes behind a terminal sequence or a control character that is no blank, if the bytes begin with one.
fn behind_sequence(bytes: &[u8]) -> Option<&[u8]> {
    match bytes {
        // CSI: parameters, then one byte from @ to ~.
        [0x1b, b'[', rest @ ..] => {
            let end = rest.iter().position(|byte| (0x40..=0x7e).contains(byte))?;
            Some(&rest[end + 1..])
        }
        // OSC: ends with BEL or ESC \.
        [0x1b, b']', rest @ ..] => {
            let end = rest.iter().position(|byte| matches!(byte, 0x07 | 0x1b))?;
            let behind = &rest[end + 1..];
            Some(match rest[end] {
                0x1b => behind.strip_prefix(b"\\").unwrap_or(behind),
                _ => behind,
            })
        }
        [0x1b, _, rest @ ..] | [0x00..=0x08 | 0x0e..=0x1a | 0x7f, rest @ ..] => Some(rest),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn marks_and_sequences_around_words_are_left_out() {
        for (text, bare) in [
            ("\u{1b}[2K\u{1b}[1;32m {}\n", "{}"),
            ("\u{1b}]8;;x\u{1b}\\\u{feff}{}", "{}"),
            ("\r\n\u{2028}\t{} \u{1b}", "{} \u{1b}"),
            ("\u{1b}[", "\u{1b}["),
            ("", ""),
        ] {
            assert_eq!(unwrapped(text.as_bytes()), bare.as_bytes(), "{text:?}");
        }
    }

    proptest! {
        /// The rest is a suffix of the input and is unchanged.
        #[test]
        fn only_the_outside_is_taken_away(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let bare = unwrapped(&bytes);
            prop_assert!(bytes.trim_ascii_end().ends_with(bare));
            prop_assert_eq!(unwrapped(bare), bare);
        }
    }
}
