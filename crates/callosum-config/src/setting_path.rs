//! [`Address`]: one value of `.calrc`, by name.

use std::{ffi::OsStr, fmt, ops::RangeInclusive};

use callosum_arbiter::truncate::excerpt;
use serde_json::Value as Json;

use super::{
    key::Key,
    value::{Takes, Value},
};

/// The range of an executor's priority. The lowest goes first.
pub const PRIORITIES: RangeInclusive<u64> = 0..=1000;

/// The range of how many tasks an executor may have at once.
const CAPS: RangeInclusive<u64> = 1..=12;

/// One value of `.calrc`: a key of the table, or one of those that each executor has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A key of the table.
    Key(Key),
    /// Whether an executor may be chosen: `executors.ID.enabled`.
    Enabled(String),
    /// In which order executors are chosen: `executors.ID.priority`.
    Priority(String),
    /// Most tasks that an executor may have at once: `executors.ID.max_concurrent`.
    MaxConcurrent(String),
}

impl Address {
    /// Those of each executor, as they are written.
    pub const OF_EXECUTORS: [&str; 3] = [
        "executors.ID.enabled",
        "executors.ID.priority",
        "executors.ID.max_concurrent",
    ];

    /// Reads an address as it is typed.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(key) = Key::ALL.into_iter().find(|key| key.name() == text) {
            return Some(Self::Key(key));
        }
        // An id may hold dots itself, so the field is the text after the last one.
        let (id, field) = text.strip_prefix("executors.")?.rsplit_once('.')?;
        match field {
            "enabled" if !id.is_empty() => Some(Self::Enabled(id.to_owned())),
            "priority" if !id.is_empty() => Some(Self::Priority(id.to_owned())),
            "max_concurrent" if !id.is_empty() => Some(Self::MaxConcurrent(id.to_owned())),
            _ => None,
        }
    }

    /// The names that lead to the value in `.calrc`, from the outermost.
    pub fn names(&self) -> Vec<&str> {
        match self {
            Self::Key(key) => vec![key.name()],
            Self::Enabled(id) => vec!["executors", id, "enabled"],
            Self::Priority(id) => vec!["executors", id, "priority"],
            Self::MaxConcurrent(id) => vec!["executors", id, "max_concurrent"],
        }
    }

    /// Returns the values that it takes.
    pub fn takes(&self) -> Takes {
        match self {
            Self::Key(key) => key.takes(),
            Self::Enabled(_) => Takes::Switch,
            Self::Priority(_) => Takes::Count(PRIORITIES),
            Self::MaxConcurrent(_) => Takes::Count(CAPS),
        }
    }

    /// Reads a value in its JSON form in `.calrc`.
    pub fn read_json(&self, value: &Json) -> Result<Value, NotAllowed> {
        let as_text = || match value {
            Json::String(text) => text.clone(),
            other => other.to_string(),
        };
        self.takes()
            .read_json(value)
            .ok_or_else(|| self.not_allowed(&as_text()))
    }

    /// Reads a value as it is typed, or given in the environment.
    pub fn read_text(&self, text: &OsStr) -> Result<Value, NotAllowed> {
        self.takes()
            .read_text(text)
            .ok_or_else(|| self.not_allowed(&text.to_string_lossy()))
    }

    fn not_allowed(&self, value: &str) -> NotAllowed {
        NotAllowed {
            key: excerpt(&self.to_string()),
            value: excerpt(value),
            allowed: self.takes().to_string(),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names().join("."))
    }
}

/// A value that its key does not allow.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{key}` is `{value}` (allowed: {allowed})")]
pub struct NotAllowed {
    /// The key, with those that lead to it.
    pub key: String,
    /// The value, cut where it is long.
    pub value: String,
    /// Allowed values.
    pub allowed: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_executors_id_may_hold_dots() {
        let address = Address::parse("executors.model-4.1.enabled").unwrap();
        assert_eq!(address, Address::Enabled("model-4.1".to_owned()));
        assert_eq!(address.names(), ["executors", "model-4.1", "enabled"]);
        assert_eq!(address.to_string(), "executors.model-4.1.enabled");
    }

    #[test]
    fn what_leads_nowhere_is_no_address() {
        for text in [
            "",
            "executors",
            "executors.x",
            "executors..enabled",
            "colour",
        ] {
            assert_eq!(Address::parse(text), None, "{text}");
        }
    }

    /// CAL-CFG-1
    #[test]
    fn a_refusal_names_the_key_the_value_and_what_is_allowed() {
        let address = Address::Priority("x".to_owned());
        assert_eq!(
            address
                .read_text(OsStr::new("first"))
                .unwrap_err()
                .to_string(),
            "`executors.x.priority` is `first` (allowed: a whole number from 0 to 1000)"
        );
    }
}
