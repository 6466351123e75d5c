//! A line of the hashlog, written and read.
//!
//! It is derived from the ledger file alone: the same entries at the same offsets give the same
//! bytes. The format in full: `docs/formats/hashlog.md`.

use std::borrow::Cow;

use callosum_host::{DiskError, DiskFile};
use serde::{Deserialize, Serialize};

use crate::{chain::HASHLOG, checksum::Checksum};

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
    /// Where the entry begins in the ledger file.
    pub(crate) offset: u64,
    /// How many bytes it has.
    pub(crate) length: u64,
    pub(crate) checksum: Checksum,
    pub(crate) prev: Checksum,
}

impl<'a> HashlogLine<'a> {
    /// Reads a line, without its line feed. The chain is not checked.
    pub(crate) fn read(line: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(line).ok()
    }

    /// Reads what stands in the ledger file where the line says that its entry is; `None` where
    /// the file does not reach so far.
    pub(crate) fn read_entry(&self, ledger: &impl ReadRange) -> Result<Option<Vec<u8>>, DiskError> {
        read_place(ledger, self.offset, self.length)
    }
}

/// Bytes of a ledger, wherever they are kept.
pub(crate) trait ReadRange {
    /// How many there are.
    fn size(&self) -> Result<u64, DiskError>;
    /// `len` bytes from `offset`; fewer where they end before.
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

/// Reads what stands at a place that something derived names; `None` where there is no such place.
pub(super) fn read_place(
    ledger: &impl ReadRange,
    offset: u64,
    length: u64,
) -> Result<Option<Vec<u8>>, DiskError> {
    // A place can be anything: no room is made for more than there is.
    let end = offset.checked_add(length);
    let size = ledger.size()?;
    if end.is_none_or(|end| end > size) {
        return Ok(None);
    }
    let bytes = ledger.read_range(offset, length as usize)?;
    Ok((bytes.len() as u64 == length).then_some(bytes))
}

/// What the index repeats of an entry; empty where a foreign entry has no such text.
#[derive(Deserialize, Serialize)]
struct Indexed<'a> {
    #[serde(borrow, default)]
    task_id: Cow<'a, str>,
    #[serde(borrow, default)]
    executor: Cow<'a, str>,
    #[serde(borrow, default)]
    timestamp: Cow<'a, str>,
}

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
    let indexed = serde_json::from_slice(entry).unwrap_or(Indexed {
        task_id: Cow::Borrowed(""),
        executor: Cow::Borrowed(""),
        timestamp: Cow::Borrowed(""),
    });
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

/// The hash of the last line of a hashlog over these entries: the offset of each, its bytes, and
/// its checksum. `follows` where there is none.
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
