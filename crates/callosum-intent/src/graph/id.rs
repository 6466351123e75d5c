//! [`IntentId`]: the name of an intent in records and on the command line.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, de};

/// The most characters of an id.
const LONGEST: usize = 64;

/// Names one intent, such as `int-3f9c2a71b0de`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct IntentId(String);

/// A text that is not the id of an intent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not an intent id: it must have 1 to {LONGEST} characters of a-z, 0-9 and `-`")]
pub struct InvalidIntentId {
    /// The text.
    pub text: String,
}

impl IntentId {
    /// The beginning of every generated id.
    pub const PREFIX: &str = "int-";

    /// Makes an id from random text, such as a UUID, whose last 12 letters and digits it takes.
    pub fn from_random(random: &str) -> Self {
        let usable = |byte: &u8| byte.is_ascii_digit() || byte.is_ascii_lowercase();
        let bytes: Vec<u8> = random.bytes().filter(usable).collect();
        let tail = &bytes[bytes.len().saturating_sub(12)..];
        let tail: String = tail.iter().map(|byte| char::from(*byte)).collect();
        Self(format!("{}{tail}", Self::PREFIX))
    }

    /// Returns a text that sorts before every id. No intent has it.
    pub(super) const fn least() -> Self {
        Self(String::new())
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for IntentId {
    type Err = InvalidIntentId;

    fn from_str(text: &str) -> Result<Self, InvalidIntentId> {
        let is_allowed = |byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
        if !text.is_empty() && text.len() <= LONGEST && text.bytes().all(is_allowed) {
            return Ok(Self(text.to_owned()));
        }
        let shown = text.chars().take(LONGEST).collect();
        Err(InvalidIntentId { text: shown })
    }
}

impl fmt::Display for IntentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl<'de> Deserialize<'de> for IntentId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}
