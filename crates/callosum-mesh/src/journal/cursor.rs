//! [`Cursor`]: position of a reader in a log.

use std::{fmt, str::FromStr};

/// The last event that a reader has seen: the log's id, and its `seq`. Written as `ORIGIN:SEQ`, or
/// as `SEQ` alone, which is a position in any log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    /// The log; `None` for the one that is asked.
    pub origin: Option<String>,
    /// The last event that was seen; 0 before the first.
    pub seq: u64,
}

impl Cursor {
    /// Position before the first event of any log.
    pub const START: Self = Self {
        origin: None,
        seq: 0,
    };
}

impl FromStr for Cursor {
    type Err = CursorError;

    fn from_str(text: &str) -> Result<Self, CursorError> {
        let (origin, seq) = match text.rsplit_once(':') {
            Some((origin, seq)) => (Some(origin), seq),
            None => (None, text),
        };
        let is_id = |origin: &str| {
            let mut letters = origin.bytes();
            !origin.is_empty()
                && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == b'-')
        };
        match seq.parse() {
            Ok(seq) if origin.is_none_or(is_id) => Ok(Self {
                origin: origin.map(str::to_owned),
                seq,
            }),
            _ => Err(CursorError {
                found: text.chars().take(80).collect(),
            }),
        }
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(origin) = &self.origin {
            write!(f, "{origin}:")?;
        }
        write!(f, "{}", self.seq)
    }
}

/// A text is no cursor.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{found}` is not a cursor: use the `seq` of an event, alone or after the log's id and a colon"
)]
pub struct CursorError {
    /// Its beginning.
    pub found: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_is_written() {
        for text in ["0", "17", "5b2e-a:17"] {
            assert_eq!(text.parse::<Cursor>().unwrap().to_string(), text);
        }
        for text in ["", ":", "x", "a:", ":5", "a b:5", "-1", "a:-1"] {
            assert!(text.parse::<Cursor>().is_err(), "{text:?}");
        }
    }
}
