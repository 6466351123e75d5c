//! [`RunSecret`]: secret of the machine that a run was begun on, and of no other, and the seals that it
//! puts on the run's records.
//!
//! A journal may come along with a repository, and its chain needs no key. So each record of a run
//! has a number, from 0, and carries a seal over its whole content. It is numbered, and not chained
//! to the seal before it, so that a line in between takes nothing away from those behind it. The
//! program decides where the secret is kept.

use std::{
    collections::BTreeMap,
    fmt::{self, Write as _},
};

use callosum_json::{
    Checksum,
    canonical::{self, DuplicateKeys},
};
use callosum_ledger::{AuditEvent, AuditRecord};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value as Json, json};

/// The detail that says which of its run's records one is.
const NUMBER: &str = "number";

/// The detail that is the seal.
const SEAL: &str = "seal";

/// A detail that the journal adds where an event had to wait for it.
const BUFFERED: &str = "buffered";

/// Hashed first, so that the same secret makes no seal of anything else.
const PURPOSE: &[u8] = b"callosum-plan-record-1\0";

/// The secret that a run's records are sealed with; 64 hexadecimal digits where it is stored.
#[derive(Clone, PartialEq, Eq)]
pub struct RunSecret([u8; 32]);

impl RunSecret {
    /// Takes 32 bytes that no one can guess.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Numbers an event, and seals it.
    pub(super) fn seal(&self, event: &mut AuditEvent, number: u64) {
        event.details.insert(NUMBER.to_owned(), number.into());
        let seal = self.seal_of(event.status.as_deref(), &event.details);
        event.details.insert(SEAL.to_owned(), json!(seal));
    }

    /// Returns the number of a record that carries the seal of it.
    pub(super) fn number_of(&self, record: &AuditRecord) -> Option<u64> {
        let recorded = record.details.get(SEAL)?.as_str()?;
        let number = record.details.get(NUMBER)?.as_u64()?;
        let seal = self.seal_of(record.status.as_deref(), &record.details)?;
        (seal.to_string() == recorded).then_some(number)
    }

    /// `None` of what has no canonical form, which no record of ours is.
    fn seal_of(&self, status: Option<&str>, details: &Map<String, Json>) -> Option<Checksum> {
        let mut details: BTreeMap<&str, &Json> = details
            .iter()
            .map(|(name, detail)| (name.as_str(), detail))
            .collect();
        details.remove(SEAL);
        details.remove(BUFFERED);
        let record = serde_json::to_vec(&(status, details)).ok()?;
        let canonical = canonical::canonicalize(&record, DuplicateKeys::Refused).ok()?;
        Some(Checksum::keyed(&self.0, &[PURPOSE, &canonical]))
    }
}

impl fmt::Debug for RunSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RunSecret")
    }
}

impl Serialize for RunSecret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut digits = String::new();
        for byte in self.0 {
            let _ = write!(digits, "{byte:02x}");
        }
        serializer.serialize_str(&digits)
    }
}

impl<'de> Deserialize<'de> for RunSecret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Checksum::deserialize(deserializer).map(|bytes| Self(*bytes.as_bytes()))
    }
}

/// Means by which this machine recognizes its own records of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSeals {
    /// Secret that seals them.
    pub secret: RunSecret,
    /// The journal's number of the last record that is taken without a seal: 0, but for a run that a version without
    /// seals began.
    pub after: u64,
    /// Least number of records that were on disk.
    pub tally: u64,
}

/// Records that say that they are of a run, and count for nothing: this machine did not write them, or, where it has
/// no seals of the run, they don't fit those before them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignRecords {
    /// Number of records.
    pub count: u64,
    /// The journal's number of the first.
    pub first: u64,
    /// Event that the first of them claims.
    pub status: String,
}

/// Records that this machine wrote, and that are not there as it did.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MissingRecords {
    /// Others should come before one, and do not.
    #[error("records of the run before audit record {seq} are missing or were changed")]
    Before {
        /// The journal's number for it.
        seq: u64,
    },
    /// There should be more.
    #[error(
        "the last records of the run are missing or were changed: {written} were written here, \
         but {found} exist"
    )]
    Last {
        /// Least number of records that were written.
        written: u64,
        /// Number of records that exist.
        found: u64,
    },
}

/// The records of one run as they are read, held against their seals.
#[derive(Debug, Default)]
pub(super) struct SealCheck {
    seals: Option<RunSeals>,
    /// The highest number of the journal until now.
    last: u64,
    /// The number that the next record of ours has.
    pub(super) next: u64,
    pub(super) foreign: Option<ForeignRecords>,
    missing: Option<MissingRecords>,
}

impl SealCheck {
    /// Takes every record where there are no seals.
    pub(super) fn with(seals: Option<RunSeals>) -> Self {
        Self {
            seals,
            ..Self::default()
        }
    }

    /// Whether a record counts.
    ///
    /// One without a right seal does not, nor a copy of one that was there before. Where one of ours is
    /// missing, none behind it does.
    pub(super) fn admits(&mut self, record: &AuditRecord) -> bool {
        let Some(seals) = &self.seals else {
            return true;
        };
        // Only while they come in their order: a program that appends a line may give it any
        // number.
        let is_from_before = record.seq > self.last && record.seq <= seals.after;
        self.last = self.last.max(record.seq);
        if is_from_before {
            return true;
        }
        match seals.secret.number_of(record) {
            Some(number) if number == self.next && self.missing.is_none() => {
                self.next += 1;
                true
            }
            Some(number) if number >= self.next => {
                let seq = record.seq;
                self.missing.get_or_insert(MissingRecords::Before { seq });
                false
            }
            _ => {
                self.pass_over(record.seq, record.status.as_deref().unwrap_or_default());
                false
            }
        }
    }

    /// Returns the records of ours that are missing, once all records are read.
    pub(super) fn missing(&self) -> Option<MissingRecords> {
        let written = self.seals.as_ref().map_or(0, |seals| seals.tally);
        let found = self.next;
        let last = (found < written).then_some(MissingRecords::Last { written, found });
        self.missing.clone().or(last)
    }

    /// Whether this machine can tell which records are its own.
    pub(super) fn can_tell(&self) -> bool {
        self.seals.is_some()
    }

    /// Counts a record that counts for nothing. The journal's numbers need not come in order.
    pub(super) fn pass_over(&mut self, seq: u64, status: &str) {
        let foreign = self.foreign.get_or_insert_with(|| ForeignRecords {
            count: 0,
            first: seq,
            status: status.to_owned(),
        });
        foreign.count += 1;
    }
}
