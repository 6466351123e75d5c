//! A line of the hashlog, written and read.
//!
//! It is derived from the ledger file alone: the same entries at the same offsets give the same
//! bytes. The format in full: `docs/formats/hashlog.md`.

use std::borrow::Cow;

use callosum_host::{DiskError, DiskFile};
use serde::{Deserialize, Serialize};

use crate::chain::HASHLOG;
use callosum_json::Checksum;

/// A line, as it is read.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct HashlogLine<'a> {
    /// The entry's number in its ledger file, from 1.
    pub(crate) seq: u64,
    #[serde(borrow)]
    pub(crate) task_id: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) executor: Cow<'a, str>,
    /// As the entry has it.
    #[serde(borrow)]
    pub(crate) timestamp: Cow<'a, str>,
    /// Offset of the entry in the ledger file.
    pub(crate) offset: u64,
    /// Length of the entry in bytes.
    pub(crate) length: u64,
    pub(crate) checksum: Checksum,
    pub(crate) prev: Checksum,
}

impl<'a> HashlogLine<'a> {
    /// Reads a line, without its line feed. The chain is not checked.
    pub(crate) fn read(line: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(line).ok()
    }

    /// Reads the bytes of the ledger file at the place that the line gives for its entry; `None` if
    /// the file is too short.
    pub(crate) fn read_entry(&self, ledger: &impl ReadRange) -> Result<Option<Vec<u8>>, DiskError> {
        read_place(ledger, self.offset, self.length)
    }
}

/// Bytes of a ledger, wherever they are kept.
pub(crate) trait ReadRange {
    /// Returns the number of bytes.
    fn size(&self) -> Result<u64, DiskError>;
    /// Returns `len` bytes from `offset`; fewer if they end before.
    fn read_range(&self, offset: u64, len: usize) -> Result<Vec<u8>, DiskError>;
}

impl ReadRange for DiskFile {
    fn size(&self) -> Result<u64, DiskError> {
        DiskFile::size(self)
    }

    fn read_range(&self, offset: u64, len: usize) -> Result<Vec<u8>, DiskError> {
        DiskFile::read_range(self, offset, len)
    }
}

/// Reads the bytes at a place that a derived file gives; `None` if there is no such place.
pub(super) fn read_place(
    ledger: &impl ReadRange,
    offset: u64,
    length: u64,
) -> Result<Option<Vec<u8>>, DiskError> {
    // A place can be anything: no more memory is allocated than there are bytes.
    let end = offset.checked_add(length);
    let size = ledger.size()?;
    if end.is_none_or(|end| end > size) {
        return Ok(None);
    }
    let bytes = ledger.read_range(offset, length as usize)?;
    Ok((bytes.len() as u64 == length).then_some(bytes))
}

/// Fields of an entry that the index repeats; empty if a foreign entry has no such text.
#[derive(Deserialize, Serialize)]
struct Indexed<'a> {
    #[serde(borrow, default)]
    task_id: Cow<'a, str>,
    #[serde(borrow, default)]
    executor: Cow<'a, str>,
    #[serde(borrow, default)]
    timestamp: Cow<'a, str>,
}

impl<'a> Indexed<'a> {
    /// Reads them out of an entry.
    fn read(entry: &'a [u8]) -> Self {
        Self::of_canonical(entry)
            .or_else(|| serde_json::from_slice(entry).ok())
            .unwrap_or(Indexed {
                task_id: Cow::Borrowed(""),
                executor: Cow::Borrowed(""),
                timestamp: Cow::Borrowed(""),
            })
    }

    /// Reads the same from the positions that they have in an entry in canonical form with the
    /// seed's fields: the executor behind the checksum, the others before the last field. Most of
    /// the bytes in between need not be looked at.
    fn of_canonical(entry: &'a [u8]) -> Option<Self> {
        let text = |bytes: &'a [u8]| {
            let is_plain = bytes
                .iter()
                .all(|byte| (b' '..0x7f).contains(byte) && *byte != b'\\');
            let text = is_plain.then(|| std::str::from_utf8(bytes).ok()).flatten();
            text.map(Cow::Borrowed)
        };
        let behind = entry.get(BEFORE_EXECUTOR.end..)?;
        if entry.get(BEFORE_EXECUTOR)? != b"\",\"executor\":\"" {
            return None;
        }
        let executor = &behind[..memchr::memchr(b'"', behind)?];
        let rest = entry.strip_suffix(b"}")?;
        let digits = rest.iter().rev().take_while(|byte| byte.is_ascii_digit());
        let rest = &rest[..rest.len() - digits.count()];
        let rest = rest.strip_suffix(b"\",\"tokens_used\":")?;
        let quote = memchr::memrchr(b'"', rest)?;
        let (rest, timestamp) = (&rest[..quote], &rest[quote + 1..]);
        let rest = rest.strip_suffix(b"\",\"timestamp\":")?;
        let quote = memchr::memrchr(b'"', rest)?;
        let (rest, task_id) = (&rest[..quote], &rest[quote + 1..]);
        rest.ends_with(b",\"task_id\":").then_some(())?;
        Some(Self {
            task_id: text(task_id)?,
            executor: text(executor)?,
            timestamp: text(timestamp)?,
        })
    }
}

/// Bytes between an entry's checksum and its executor.
const BEFORE_EXECUTOR: std::ops::Range<usize> = 77..91;

/// Appends an entry's line and gives its hash.
pub(crate) fn write_line(
    out: &mut Vec<u8>,
    seq: u64,
    offset: u64,
    entry: &[u8],
    checksum: Checksum,
    prev: Checksum,
) -> Checksum {
    #[derive(Serialize)]
    struct Line<'a> {
        seq: u64,
        #[serde(flatten)]
        indexed: Indexed<'a>,
        offset: u64,
        length: u64,
        checksum: Checksum,
        prev: Checksum,
    }
    let indexed = Indexed::read(entry);
    let from = out.len();
    let line = Line {
        seq,
        indexed,
        offset,
        length: entry.len() as u64,
        checksum,
        prev,
    };
    serde_json::to_writer(&mut *out, &line).expect("strings and numbers are printed to memory");
    out.pop();
    HASHLOG.seal(out, from)
}

/// Returns the hash of the last line of a hashlog over these entries: the offset of each, its
/// bytes, and its checksum. Returns `follows` if there is none.
pub(crate) fn head_of<'e>(
    entries: impl Iterator<Item = (usize, &'e [u8], Checksum)>,
    follows: Checksum,
) -> Checksum {
    let (mut line, mut head) = (Vec::new(), follows);
    for (number, (offset, entry, checksum)) in (1..).zip(entries) {
        line.clear();
        head = write_line(&mut line, number, offset as u64, entry, checksum, head);
    }
    head
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::entry::seal;
    use callosum_json::canonical::DuplicateKeys;

    /// CAL-SUM-2: fields read out of an entry without parsing equal those of the parsed entry.
    #[test]
    fn what_a_line_says_is_what_its_entry_says() {
        let mut of_canonical = 0;
        for (executor, task_id, timestamp, more) in [
            ("scout", "cal_2026_11_02_0001", "2026-11-02T10:00:00Z", None),
            (
                "sc\"out",
                "cal_2026_11_02_0001",
                "2026-11-02T10:00:00Z",
                None,
            ),
            ("é", "\\", "\",\"timestamp\":\"", None),
            ("", "", "", None),
            ("scout", "a", "b", Some("zz")),
            ("scout", "a", "b", Some("a")),
            ("scout", "a", "b", Some("tokens")),
        ] {
            let mut entry = json!({
                "executor": executor, "task_id": task_id, "timestamp": timestamp, "summary":
                "\",\"task_id\":\"no\",\"timestamp\":\"no\",\"tokens_used\":1}", "tokens_used": 12,
                "metadata": {"executor": "other", "task_id": "other", "tokens_used": 3},
                "linked_tasks": [],
            });
            if let Some(more) = more {
                entry[more] = json!({"task_id": "x", "timestamp": "y", "tokens_used": 4});
            }
            let (_, sealed) = seal(entry.to_string().as_bytes(), DuplicateKeys::Refused).unwrap();
            let indexed = Indexed::read(sealed.as_bytes());
            let indexed = [indexed.executor, indexed.task_id, indexed.timestamp];
            assert_eq!(indexed, [executor, task_id, timestamp], "{sealed}");
            of_canonical += usize::from(Indexed::of_canonical(sealed.as_bytes()).is_some());
        }
        assert_eq!(of_canonical, 2);
    }
}
