//! [`Members`]: a gzip file of many members, which is readable in part by inflating a few.
//!
//! `zcat` reads it like any other. The last member is empty and lists, in a field that gzip leaves
//! to applications, the length of each of the members before. The format in full:
//! `docs/formats/archive.md`.

use std::{
    io::{Read as _, Write as _},
    path::Path,
};

use callosum_host::{DiskError, DiskFile};
use flate2::{Compression, read::GzDecoder, write::GzEncoder};

use super::corrupt;
use callosum_json::Checksum;

/// Ledger bytes per member, if that makes no more than [`MOST`] members.
const MEMBER: u64 = 64 * 1024;
/// The extra field of a gzip header has 65,535 bytes at most.
const MOST: u64 = 8000;
/// A gzip header with an extra field, up to that field's length.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255];
/// Id of our subfield.
const NAME: &[u8; 2] = b"CL";
/// An empty deflate stream, its CRC and its length.
const EMPTY: [u8; 10] = [3, 0, 0, 0, 0, 0, 0, 0, 0, 0];
/// The lengths of the last member before the table, and after it: header, lengths of field and
/// subfield, size, member size; count, checksum.
const BEFORE: u64 = 10 + 2 + 4 + 8 + 4;
const AFTER: u64 = 4 + 32 + EMPTY.len() as u64;

/// A gzip file that we wrote, open to be read.
#[derive(Debug)]
pub(crate) struct Members {
    file: DiskFile,
    /// Inflated size of all members together.
    size: u64,
    /// Inflated size of each member except the last.
    member: u64,
    /// Offset in the file of each member, and of the end of the last.
    begins: Vec<u64>,
}

impl Members {
    /// Reads the table; returns the file if it has no matching one.
    pub(super) fn open(file: DiskFile) -> Result<Result<Self, DiskFile>, DiskError> {
        let len = file.size()?;
        let Some(at) = len.checked_sub(AFTER) else {
            return Ok(Err(file));
        };
        let end = file.read_range(at, AFTER as usize)?;
        let Some(count) = end.get(..4).map(u32_of) else {
            return Ok(Err(file));
        };
        let last = BEFORE + u64::from(count) * 4 + AFTER;
        if u64::from(count) > MOST || last > len {
            return Ok(Err(file));
        }
        let bytes = file.read_range(len - last, last as usize)?;
        let sealed = bytes.len().saturating_sub(EMPTY.len() + 32);
        if !bytes.starts_with(&HEADER)
            || !bytes.ends_with(&EMPTY)
            || Checksum::of(&bytes[..sealed]).as_bytes()[..] != bytes[sealed..sealed + 32]
        {
            return Ok(Err(file));
        }
        let (size, member) = (u64_of(&bytes[16..24]), u64::from(u32_of(&bytes[24..28])));
        let mut begins = vec![0];
        let mut at = 0;
        for length in bytes[BEFORE as usize..sealed - 4].chunks_exact(4) {
            at += u64::from(u32_of(length));
            begins.push(at);
        }
        let is_whole = at == len - last
            && member > 0
            && member <= u64::from(u32::MAX) / 2
            && size.div_ceil(member) == u64::from(count);
        Ok(if is_whole {
            Ok(Self {
                file,
                size,
                member,
                begins,
            })
        } else {
            Err(file)
        })
    }

    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    /// Returns the number of bytes that were compressed.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// Inflates the members that contain these bytes; fewer bytes if they end before.
    pub(super) fn read_range(&self, offset: u64, len: usize) -> Result<Vec<u8>, DiskError> {
        let end = offset.saturating_add(len as u64).min(self.size);
        if offset >= end {
            return Ok(Vec::new());
        }
        let (first, last) = (offset / self.member, (end - 1) / self.member);
        let mut bytes = Vec::new();
        for number in first..=last {
            self.inflate(number, &mut bytes)?;
        }
        let skipped = (offset - first * self.member) as usize;
        bytes.truncate((end - first * self.member) as usize);
        bytes.drain(..skipped);
        Ok(bytes)
    }

    fn inflate(&self, number: u64, into: &mut Vec<u8>) -> Result<(), DiskError> {
        let wrong = |what| corrupt(self.path(), what);
        let (from, until) = (
            self.begins[number as usize],
            self.begins[number as usize + 1],
        );
        let stored = self.file.read_range(from, (until - from) as usize)?;
        let expected = (self.size - number * self.member).min(self.member);
        let before = into.len();
        GzDecoder::new(&stored[..])
            .take(expected + 1)
            .read_to_end(into)
            .map_err(|_| wrong("a member is not gzip output"))?;
        if (into.len() - before) as u64 == expected {
            Ok(())
        } else {
            Err(wrong("a member has the wrong length"))
        }
    }
}

/// Compresses a ledger, and passes the result piece by piece.
pub(crate) fn compress(
    ledger: &DiskFile,
    mut take: impl FnMut(&[u8]) -> Result<(), DiskError>,
) -> Result<(), DiskError> {
    let size = ledger.size()?;
    let member = size.div_ceil(MOST).next_multiple_of(MEMBER).max(MEMBER);
    let (mut out, mut table) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < size {
        let bytes = ledger.read_range(at, member.min(size - at) as usize)?;
        out.clear();
        let mut encoder = GzEncoder::new(&mut out, Compression::default());
        let written = encoder
            .write_all(&bytes)
            .and_then(|()| encoder.try_finish());
        written.expect("memory is written to");
        drop(encoder);
        table.extend_from_slice(&(out.len() as u32).to_le_bytes());
        take(&out)?;
        at += bytes.len() as u64;
    }
    out.clear();
    let subfield = 8 + 4 + table.len() + 4 + 32;
    out.extend_from_slice(&HEADER);
    out.extend_from_slice(&(subfield as u16 + 4).to_le_bytes());
    out.extend_from_slice(NAME);
    out.extend_from_slice(&(subfield as u16).to_le_bytes());
    out.extend_from_slice(&size.to_le_bytes());
    out.extend_from_slice(&(member as u32).to_le_bytes());
    out.extend_from_slice(&table);
    out.extend_from_slice(&((table.len() / 4) as u32).to_le_bytes());
    let seal = Checksum::of(&out);
    out.extend_from_slice(seal.as_bytes());
    out.extend_from_slice(&EMPTY);
    take(&out)
}

fn u32_of(bytes: &[u8]) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[..4]);
    u32::from_le_bytes(word)
}

fn u64_of(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[..8]);
    u64::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use callosum_host::{Disk, OpenHow};
    use flate2::read::MultiGzDecoder;
    use proptest::prelude::*;

    use super::*;

    fn file(folder: &Path, name: &str, bytes: &[u8]) -> DiskFile {
        let disk = Disk::real();
        let path = folder.join(name);
        disk.replace(&path, bytes, 0o600).unwrap();
        disk.open(&path, OpenHow::READ).unwrap()
    }

    fn compressed(ledger: &DiskFile) -> Vec<u8> {
        let mut stored = Vec::new();
        let compressed = compress(ledger, |piece| {
            stored.extend_from_slice(piece);
            Ok(())
        });
        compressed.unwrap();
        stored
    }

    fn text(len: usize) -> Vec<u8> {
        let words =
            (0..).flat_map(|number: u32| format!("{} ", number.wrapping_mul(7919)).into_bytes());
        words.take(len).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// CAL-LED-1: any part reads as it was written, and so does the whole by other programs.
        #[test]
        fn what_is_compressed_reads_as_it_was(len in 0..300_000_usize, at in 0..310_000_u64, part in 0..200_000_usize) {
            let folder = tempfile::tempdir().unwrap();
            let text = text(len);
            let stored = compressed(&file(folder.path(), "plain", &text));
            let mut all = Vec::new();
            MultiGzDecoder::new(&stored[..]).read_to_end(&mut all).unwrap();
            prop_assert_eq!(&all, &text);
            let members = Members::open(file(folder.path(), "gz", &stored)).unwrap().unwrap();
            prop_assert_eq!(members.size(), len as u64);
            let from = (at as usize).min(len);
            let until = (from + part).min(len);
            prop_assert_eq!(members.read_range(at, part).unwrap(), &text[from..until]);
        }
    }

    /// CAL-SEC-1: after a change of any byte, reads are right or are refused.
    #[test]
    fn no_changed_byte_is_read_as_something_else() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let text = text(70_000);
        let right = compressed(&file(folder.path(), "plain", &text));
        for at in (0..right.len())
            .step_by(97)
            .chain(right.len() - 100..right.len())
        {
            let mut wrong = right.clone();
            wrong[at] ^= 1;
            let path = folder.path().join("gz");
            disk.replace(&path, &wrong, 0o600).unwrap();
            let file = disk.open(&path, OpenHow::READ).unwrap();
            let Ok(members) = Members::open(file).unwrap() else {
                continue;
            };
            if let Ok(read) = members.read_range(0, text.len()) {
                assert_eq!(read, text, "{at}");
            }
        }
    }
}
