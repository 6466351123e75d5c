//! [`Item`]: item of a list in the bridge file, as its author wrote it.

use jiff::Timestamp;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::Wrote;
use crate::agent::AgentName;

/// An item of a list.
pub(super) struct Item<'a> {
    pub(super) key: &'static str,
    pub(super) id: String,
    pub(super) members: &'a Map<String, Value>,
}

impl Item<'_> {
    /// The item as its author wrote it.
    pub(super) fn wrote(&self) -> Wrote {
        Wrote {
            key: self.key.to_owned(),
            value: Value::Object(self.members.clone()),
        }
    }

    /// The keys that it has otherwise than another has them, of those that it has.
    pub(super) fn differs_from(&self, other: &Value) -> Option<&str> {
        let members = self.members.iter();
        let mut members = members.filter(|(key, value)| {
            !value.is_null() && *key != "id" && other.get(key.as_str()) != Some(value)
        });
        members.next().map(|(key, _)| key.as_str())
    }

    pub(super) fn place(&self) -> String {
        format!("{} `{}`", self.key, self.id)
    }

    pub(super) fn text(&self, key: &str) -> Option<String> {
        let text = self.members.get(key)?.as_str()?;
        Some(text.to_owned())
    }

    pub(super) fn name(&self, key: &str) -> Option<AgentName> {
        self.members.get(key)?.as_str()?.parse().ok()
    }

    pub(super) fn moment(&self, key: &str) -> Option<Timestamp> {
        self.members.get(key)?.as_str()?.parse().ok()
    }
}

/// An id for an item that has none: of its content, so that the same item gets the same.
pub(super) fn made_up_id(members: &Map<String, Value>) -> String {
    let text = serde_json::to_vec(members).unwrap_or_default();
    let hash = Sha256::digest(&text);
    let digits = hash.iter().take(8).map(|byte| format!("{byte:02x}"));
    format!("hand-{}", digits.collect::<String>())
}
