//! [`read_value`]: JSON that came from elsewhere, read so that nothing of it is kept otherwise than it was written.

use serde_json::Value;

use callosum_json::UniqueKeys;

/// Most characters of a number that are shown.
const MOST_SHOWN: usize = 40;

/// Reason for which a text cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum UnreadValue {
    /// It is no JSON, or an object in it has a key twice.
    #[error(transparent)]
    NoJson(#[from] serde_json::Error),
    /// A whole number in it has more digits than are kept.
    #[error(
        "`{found}` is an integer outside -2^63 to 2^64-1, whose digits would not all be kept: \
         write it as a string"
    )]
    TooLarge {
        /// The number, shortened.
        found: String,
    },
}

/// Reads a value. Linear in the text's length.
///
/// Fails if the text is not JSON, if an object has a key twice, which would be ambiguous, or if a
/// whole number would lose digits.
pub fn read_value(text: &str) -> Result<Value, UnreadValue> {
    let UniqueKeys(value) = serde_json::from_str(text)?;
    if let Some(found) = too_large(text) {
        let found = found.chars().take(MOST_SHOWN).collect();
        return Err(UnreadValue::TooLarge { found });
    }
    Ok(value)
}

/// The first whole number of a JSON text that fits into no 64 bits.
fn too_large(text: &str) -> Option<&str> {
    let is_of_number = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            b'-' | b'0'..=b'9' => {
                let rest = &bytes[at..];
                let end = rest.iter().position(|byte| !is_of_number(*byte));
                let number = &text[at..at + end.unwrap_or(rest.len())];
                let is_whole = !number.contains(['.', 'e', 'E']);
                if is_whole && number.parse::<i64>().is_err() && number.parse::<u64>().is_err() {
                    return Some(number);
                }
                at += number.len();
            }
            _ => at += 1,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// CALC-L1-1: no submitted value is stored as something else.
    #[test]
    fn what_would_be_kept_otherwise_is_refused_by_name() {
        let sound = r#"{"a":[1,-2.5e300,18446744073709551615,-9223372036854775808],"\"9":"123456789012345678901234567890"}"#;
        let value = read_value(sound).unwrap();
        assert_eq!(value["a"][2], json!(u64::MAX));
        assert_eq!(value["a"][3], json!(i64::MIN));
        for (text, named) in [
            (
                r#"{"n":123456789012345678901234567890}"#,
                "`123456789012345678901234567890`",
            ),
            (
                r#"[{"é\\":-9223372036854775809}]"#,
                "`-9223372036854775809`",
            ),
            ("18446744073709551616", "`18446744073709551616`"),
            (r#"{"type":"a.b","type":"c.d"}"#, "duplicate key `type`"),
            (r#"{"payload":{"a":1,"a":1}}"#, "duplicate key `a`"),
            ("{", "EOF"),
        ] {
            let error = read_value(text).unwrap_err().to_string();
            assert!(error.contains(named), "{error}");
        }
    }
}
