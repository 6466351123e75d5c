//! [`NewEntry`] and [`Entry`]: one result in the ledger, before and after it is stored.
//!
//! An entry is stored in canonical form with its checksum in it. The key `checksum` sorts first
//! among the keys of the seed, so the stored text is `{"checksum":"…",` and then exactly the
//! bytes that the checksum is over but for their opening brace: it is checked without parsing.

use jiff::{Timestamp, civil};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::task_id::TaskId;
use callosum_json::{
    Checksum,
    canonical::{self, CanonicalError, DuplicateKeys},
};

/// A result that is to be stored.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NewEntry {
    /// The task that it is the result of.
    pub task_id: TaskId,
    /// The id of the executor that produced it.
    pub executor: String,
    /// The result.
    pub summary: String,
    /// Number of tokens that the executor used for it.
    pub tokens_used: u64,
    /// The tasks whose results it rests on.
    pub linked_tasks: Vec<TaskId>,
    /// When it was finished.
    pub timestamp: Timestamp,
    /// Repository, branch, mode, priority, and other details.
    pub metadata: Map<String, Value>,
}

/// A result in the ledger.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The task that it is the result of.
    pub task_id: TaskId,
    /// The id of the executor that produced it.
    pub executor: String,
    /// The result.
    pub summary: String,
    /// Number of tokens that the executor used for it.
    pub tokens_used: u64,
    /// The checksum that is stored in it.
    pub checksum: Checksum,
    /// The tasks whose results it rests on.
    pub linked_tasks: Vec<TaskId>,
    /// When it was finished.
    pub timestamp: Timestamp,
    /// Repository, branch, mode, priority, and other details.
    pub metadata: Map<String, Value>,
    /// Fields that the schema does not have.
    pub other: Map<String, Value>,
    stored: String,
}

/// Reason that bytes are not a ledger entry.
#[derive(Debug, thiserror::Error)]
pub enum EntryError {
    /// They are not JSON that has a canonical form.
    #[error("not an entry: {0}")]
    Canonical(#[from] CanonicalError),
    /// A field is missing, or violates the schema.
    #[error("not an entry: {reason}")]
    Schema {
        /// The defect.
        reason: String,
    },
    /// The stored checksum is not that of the entry.
    #[error("the checksum of entry `{task_id}` is {actual}, but the entry states {stored}")]
    Mismatch {
        /// Task of the entry.
        task_id: TaskId,
        /// The checksum in the entry.
        stored: Checksum,
        /// The checksum of the entry.
        actual: Checksum,
    },
}

/// The fields as they are read; the checksum of a foreign entry may be missing.
#[derive(Deserialize)]
struct Fields {
    task_id: TaskId,
    executor: String,
    summary: String,
    tokens_used: u64,
    checksum: Option<Checksum>,
    #[serde(default)]
    linked_tasks: Vec<TaskId>,
    timestamp: String,
    #[serde(default)]
    metadata: Map<String, Value>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

impl Entry {
    /// Reads an entry, in any layout, without checking its checksum.
    ///
    /// An entry without a checksum is given the right one.
    pub fn read(bytes: &[u8]) -> Result<Self, EntryError> {
        let fields: Fields = serde_json::from_slice(bytes).map_err(schema)?;
        let text = std::str::from_utf8(bytes).map_err(schema)?;
        let timestamp = read_timestamp(&fields.timestamp).ok_or_else(|| EntryError::Schema {
            reason: format!(
                "`timestamp`: `{}` is not an ISO 8601 time",
                fields.timestamp
            ),
        })?;
        let (checksum, stored) = match fields.checksum {
            Some(checksum) => (checksum, text.to_owned()),
            None => seal(bytes, DuplicateKeys::LastWins)?,
        };
        Ok(Self {
            task_id: fields.task_id,
            executor: fields.executor,
            summary: fields.summary,
            tokens_used: fields.tokens_used,
            checksum,
            linked_tasks: fields.linked_tasks,
            timestamp,
            metadata: fields.metadata,
            other: fields.other,
            stored,
        })
    }

    /// Checks the stored checksum against the stored bytes.
    pub fn check(&self) -> Result<(), EntryError> {
        let stored = self.stored.as_bytes();
        if is_sealed(stored) {
            return Ok(());
        }
        let actual = checksum_of_stored(stored)?;
        if actual == self.checksum {
            Ok(())
        } else {
            Err(EntryError::Mismatch {
                task_id: self.task_id.clone(),
                stored: self.checksum,
                actual,
            })
        }
    }

    /// The JSON text of the entry, exactly as it is stored.
    pub fn as_json(&self) -> &str {
        &self.stored
    }
}

impl NewEntry {
    /// The entry as it will be stored: canonical, with its checksum.
    pub(crate) fn seal(&self) -> Result<Entry, EntryError> {
        let plain = serde_json::to_vec(self).map_err(schema)?;
        let (checksum, stored) = seal(&plain, DuplicateKeys::Refused)?;
        Ok(Entry {
            task_id: self.task_id.clone(),
            executor: self.executor.clone(),
            summary: self.summary.clone(),
            tokens_used: self.tokens_used,
            checksum,
            linked_tasks: self.linked_tasks.clone(),
            timestamp: self.timestamp,
            metadata: self.metadata.clone(),
            other: Map::new(),
            stored,
        })
    }
}

/// Takes the checksum of an object without its field `checksum`, and puts it in.
pub(crate) fn seal(
    bytes: &[u8],
    duplicates: DuplicateKeys,
) -> Result<(Checksum, String), CanonicalError> {
    let mut value = canonical::read(bytes, duplicates)?;
    value.remove(CHECKSUM);
    let plain = value.to_canonical();
    let checksum = Checksum::of(plain.as_bytes());
    if value.first_key().is_some_and(|first| first > CHECKSUM) {
        // As in every entry of our own: the hashed text need not be printed a second time.
        let stored = format!("{{\"{CHECKSUM}\":\"{checksum}\",{}", &plain[1..]);
        return Ok((checksum, stored));
    }
    value.insert(CHECKSUM, checksum.to_string());
    Ok((checksum, value.to_canonical()))
}

/// The field that an entry's checksum is stored in.
const CHECKSUM: &str = "checksum";

/// Start of every entry in our own layout; the checksum and a comma follow.
const PREFIX: &[u8] = b"{\"checksum\":\"";
/// Bytes before those that the checksum is over, its closing quote and the comma included.
const SEALED_FROM: usize = PREFIX.len() + 64 + 2;

/// The checksum that is stored at the head of an entry of our own layout.
pub(crate) fn checksum_at_head(stored: &[u8]) -> Option<Checksum> {
    let hex = stored.strip_prefix(PREFIX)?.get(..66)?;
    (&hex[64..] == b"\",").then(|| Checksum::from_hex(&hex[..64]))?
}

/// Whether the bytes have our own layout and the checksum at their head is right.
pub(crate) fn is_sealed(stored: &[u8]) -> bool {
    checksum_at_head(stored)
        .is_some_and(|checksum| Checksum::of_parts(&[b"{", &stored[SEALED_FROM..]]) == checksum)
}

/// The checksum that an entry in any layout should have.
pub(crate) fn checksum_of_stored(stored: &[u8]) -> Result<Checksum, CanonicalError> {
    canonical::checksum_without(stored, "checksum", DuplicateKeys::LastWins)
}

/// Reads an ISO 8601 time; one without a zone is taken as UTC, one without a time as midnight.
pub(crate) fn read_timestamp(text: &str) -> Option<Timestamp> {
    if let Ok(timestamp) = text.parse::<Timestamp>() {
        return Some(timestamp);
    }
    let civil: civil::DateTime = text.parse().ok()?;
    civil
        .to_zoned(jiff::tz::TimeZone::UTC)
        .ok()
        .map(|zoned| zoned.timestamp())
}

fn schema(error: impl std::fmt::Display) -> EntryError {
    EntryError::Schema {
        reason: error.to_string(),
    }
}
