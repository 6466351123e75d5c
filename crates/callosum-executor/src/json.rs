//! [`read_value`]: reads JSON from elsewhere as a value in memory.
//!
//! Errors have one form, with their place, whichever step finds them: the canonical form, which
//! supports integers of any size, or the value, which does not.

use callosum_json::canonical::{
    CanonicalError, CanonicalFault, DuplicateKeys, TextPosition, canonicalize,
};
use serde_json::Value;

use crate::sanitize::fit_shortly;

/// Reads one JSON value that has a canonical form; a duplicate key is rejected, since two readers
/// may believe different ones.
///
/// Integers outside of 64 bits become floats, to 17 digits. One that no float can represent is
/// rejected as [`CanonicalFault::TooLarge`]: it has a canonical form, but no value in memory. A key
/// that an error names is masked, and cut if it is long.
pub fn read_value(bytes: &[u8]) -> Result<Value, CanonicalError> {
    canonicalize(bytes, DuplicateKeys::Refused).map_err(|mut error| {
        if let CanonicalFault::DuplicateKey(key) = &mut error.fault {
            *key = fit_shortly(key);
        }
        error
    })?;
    serde_json::from_slice(bytes).map_err(|error| CanonicalError {
        place: place(bytes, error.line(), error.column()),
        fault: CanonicalFault::TooLarge,
    })
}

/// A place from a line and a byte in it, both from 1.
fn place(bytes: &[u8], line: usize, column: usize) -> TextPosition {
    let mut lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let before: usize = lines.by_ref().take(line - 1).map(<[u8]>::len).sum();
    let within = &lines.next().unwrap_or_default();
    let within = &within[..within.len().min(column.saturating_sub(1))];
    TextPosition {
        line,
        column: String::from_utf8_lossy(within).chars().count() + 1,
        offset: before + within.len(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_number_that_nothing_can_hold_is_placed() {
        let huge = "9".repeat(400);
        for (text, line) in [
            (huge.clone(), 1),
            (format!("-{huge}"), 1),
            (format!("{{\n \"é\": [{huge}]\n}}"), 2),
        ] {
            let error = read_value(text.as_bytes()).unwrap_err();
            assert_eq!(error.fault, CanonicalFault::TooLarge);
            assert_eq!(error.place.line, line);
            assert!(text.as_bytes()[error.place.offset].is_ascii_digit());
            let in_line = text[..error.place.offset].chars().rev();
            let column = in_line.take_while(|c| *c != '\n').count() + 1;
            assert_eq!(error.place.column, column);
        }
    }

    /// LOA-SEC-1: what is foreign in an error is fit to be shown.
    #[test]
    fn a_duplicate_key_is_named_without_harm() {
        let key = "AKIAQWERTYUIOPASDFGH \\u001b]0;x\\r\\u202e";
        let error = read_value(format!("{{\"{key}\": 1, \"{key}\": 1}}").as_bytes()).unwrap_err();
        assert!(error.to_string().contains("[secret: aws access key]"));
        assert!(
            !error
                .to_string()
                .contains(|c: char| c.is_control() || c == '\u{202e}')
        );
        let long = "k".repeat(1 << 20);
        let error = read_value(format!("{{\"{long}\": 1, \"{long}\": 1}}").as_bytes()).unwrap_err();
        assert!(error.to_string().len() < 600);
    }

    #[test]
    fn integers_beyond_64_bits_are_floats() {
        assert_eq!(
            read_value(b"[18446744073709551615, 18446744073709551616]").unwrap(),
            json!([u64::MAX, 18_446_744_073_709_551_616.0])
        );
    }

    proptest! {
        /// Any text with a canonical form is read or rejected, without a panic.
        #[test]
        fn numbers_of_any_size_are_answered(digits in "-?[1-9][0-9]{0,700}(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,4})?") {
            let _answer = read_value(format!("{{\"a\": [{digits}]}}").as_bytes());
        }
    }
}
