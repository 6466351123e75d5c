//! One line of the journal, written and read.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, value::RawValue};

use super::archived::Archived;
use crate::{
    archive_name::ArchiveName,
    chain::{ChainFault, JOURNAL},
    event::{AuditEvent, Event},
    position::{Begun, View},
    task_id::TaskId,
};
use callosum_json::Checksum;

/// The format of the journal that this version writes.
pub(crate) const JOURNAL_FORMAT: u32 = 1;

/// A record that is about to be written.
pub(crate) struct Draft<'a> {
    pub(crate) timestamp: Timestamp,
    pub(crate) seq: u64,
    pub(crate) synced: u64,
    pub(crate) prev: Checksum,
    pub(crate) event: &'a AuditEvent,
    /// The entry's canonical form, with its checksum.
    pub(crate) entry: Option<&'a str>,
}

/// The fields before the chain's, in the order in which they are written.
#[derive(Serialize)]
struct Head<'a> {
    timestamp: Timestamp,
    task_id: Option<&'a str>,
    executor: Option<&'a str>,
    hash: Option<String>,
    status: Option<&'a str>,
    seq: u64,
    event: &'a str,
    synced: u64,
    details: &'a Map<String, Value>,
}

impl Draft<'_> {
    /// Appends the record's line and gives its hash.
    pub(crate) fn write(&self, out: &mut Vec<u8>) -> Checksum {
        let from = out.len();
        let event = self.event;
        let head = Head {
            timestamp: self.timestamp,
            task_id: event.task_id.as_ref().map(AsRef::as_ref),
            executor: event.executor.as_deref(),
            hash: event.hash.map(|hash| format!("sha256:{hash}")),
            status: event.status.as_deref(),
            seq: self.seq,
            event: event.event.as_str(),
            synced: self.synced,
            details: &event.details,
        };
        serde_json::to_writer(&mut *out, &head)
            .expect("strings, numbers and JSON values are printed to memory");
        out.pop();
        if let Some(entry) = self.entry {
            out.extend_from_slice(b",\"entry\":");
            out.extend_from_slice(entry.as_bytes());
        }
        out.extend_from_slice(BEFORE_PREV);
        out.extend_from_slice(&self.prev.hex());
        out.push(b'"');
        JOURNAL.seal(out, from)
    }
}

/// A record as it is in a file: the parts that the chain and the views need.
#[derive(Debug)]
pub(crate) struct Record<'a> {
    pub(crate) head: RecordHead,
    /// The entry's text, which is not parsed: the record's hash is over its bytes.
    pub(crate) entry: Option<&'a str>,
    pub(crate) prev: Checksum,
    /// Its own hash.
    pub(crate) hash: Checksum,
}

/// The fields of a record that stand before its entry.
#[derive(Debug, Deserialize)]
pub(crate) struct RecordHead {
    pub(crate) timestamp: Timestamp,
    pub(crate) task_id: Option<String>,
    pub(crate) seq: u64,
    pub(crate) status: Option<String>,
    pub(crate) event: String,
    pub(crate) synced: u64,
    pub(crate) details: Option<Box<RawValue>>,
}

/// Bytes between the head of a record and its entry, and the start of every entry.
const BEFORE_ENTRY: &[u8] = b",\"entry\":{\"checksum\":\"";
/// Length of the part of [`BEFORE_ENTRY`] before the entry.
const ENTRY_KEY: usize = ",\"entry\":".len();
/// Bytes between the entry, or the head, and the hash of the record before.
const BEFORE_PREV: &[u8] = b",\"prev\":\"";

/// A record's statement about the ledger that it begins.
#[derive(Debug)]
pub(crate) struct Begins {
    /// The format of the records from here on.
    pub(crate) journal: u32,
    pub(crate) begun: Begun,
    /// Hash that the hashlog's first line follows.
    pub(crate) hashlog: Checksum,
    /// The ledger before it, which was archived.
    pub(crate) archived: Option<Archived>,
    /// The archives that were there before the journal.
    pub(crate) adopted: Vec<Archived>,
    /// The highest dated id in them.
    pub(crate) last_id: Option<TaskId>,
    /// Whether a recovery put it in the place of the one before it.
    pub(crate) is_recovery: bool,
}

/// The details of a record that begins a ledger.
#[derive(Deserialize)]
struct BeginsDetails {
    journal: u32,
    head: String,
    tail: String,
    hashlog: Option<Checksum>,
    archive: Option<ArchiveName>,
    bytes: Option<u64>,
    entries: Option<u64>,
    #[serde(default)]
    archives: Vec<Archived>,
    last_id: Option<TaskId>,
    recovered_from: Option<String>,
}

impl Begins {
    /// The ledger that it begins.
    pub(crate) fn view(&self) -> View {
        View::after(self.begun.clone(), self.hashlog)
    }
}

/// Reason that a line is not a valid record by itself.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RecordFault {
    #[error(transparent)]
    Chain(#[from] ChainFault),
    #[error("the line is not a record: {0}")]
    Fields(#[from] serde_json::Error),
    #[error("the line is not a record: it does not end with the hash of the previous one")]
    Prev,
}

impl<'a> Record<'a> {
    /// Reads a line, without its line feed, and checks its own hash; its place in the chain is for
    /// the caller to check.
    pub(crate) fn read(line: &'a [u8]) -> Result<Self, RecordFault> {
        let hash = JOURNAL.check(line)?;
        let body = &line[..=line.len() - JOURNAL.end_len()];
        let (fields, prev) = split_prev(body).ok_or(RecordFault::Prev)?;
        // The first place that looks like an entry is one, unless it is inside a detail: then the
        // text before it is not the whole of the other fields.
        if let Some(at) = memchr::memmem::find(fields, BEFORE_ENTRY)
            && let Ok(head) = parse_closed(&fields[..at])
            && let Ok(entry) = std::str::from_utf8(&fields[at + ENTRY_KEY..])
        {
            return Ok(Self {
                head,
                entry: Some(entry),
                prev,
                hash,
            });
        }
        Ok(Self {
            head: parse_closed(fields)?,
            entry: None,
            prev,
            hash,
        })
    }

    /// Whether it stores an entry.
    pub(crate) fn stores(&self) -> bool {
        self.head.event == Event::Commit.as_str() || self.head.event == Event::Adopted.as_str()
    }

    /// Returns the ledger that it begins, if it begins one.
    pub(crate) fn begins(&self) -> Result<Option<Begins>, String> {
        let event = &self.head.event;
        if event != Event::Created.as_str() && event != Event::Rotation.as_str() {
            return Ok(None);
        }
        let details = self.head.details.as_deref().map_or("null", RawValue::get);
        let details: BeginsDetails =
            serde_json::from_str(details).map_err(|error| format!("`details`: {error}"))?;
        let is_created = event == Event::Created.as_str();
        let archived = match (
            details.archive,
            details.bytes,
            details.entries,
            details.hashlog,
        ) {
            _ if is_created => None,
            (Some(archive), Some(bytes), Some(entries), Some(hashlog)) => Some(Archived {
                archive,
                bytes,
                entries,
                hashlog,
                follows: Checksum::ZERO,
                is_adopted: false,
            }),
            _ => return Err("`details`: it does not describe an archive".to_owned()),
        };
        Ok(Some(Begins {
            journal: details.journal,
            begun: Begun {
                head: details.head,
                tail: details.tail,
            },
            hashlog: details.hashlog.unwrap_or(Checksum::ZERO),
            archived,
            adopted: details
                .archives
                .into_iter()
                .filter(|_| is_created)
                .map(|archived| Archived {
                    is_adopted: true,
                    ..archived
                })
                .collect(),
            last_id: details.last_id.filter(|_| is_created),
            is_recovery: details.recovered_from.is_some(),
        }))
    }
}

/// Parses fields of an object whose closing brace was cut off.
fn parse_closed(fields: &[u8]) -> Result<RecordHead, serde_json::Error> {
    serde_json::from_slice(&[fields, b"}"].concat())
}

/// Splits the hash of the record before from the end of a record's body.
fn split_prev(body: &[u8]) -> Option<(&[u8], Checksum)> {
    let (fields, end) = body.split_at_checked(body.len().checked_sub(BEFORE_PREV.len() + 65)?)?;
    let hex = end.strip_prefix(BEFORE_PREV)?.strip_suffix(b"\"")?;
    Some((fields, Checksum::from_hex(hex)?))
}
