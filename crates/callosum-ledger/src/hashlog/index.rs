//! The index of a hashlog: where each task's entry stands, sorted by a hash of its id.
//!
//! Rows of one width behind a header. The header says which part of which hashlog it is of, so it
//! never counts for another; it can be deleted at any time. The format in full:
//! `docs/formats/index.md`.

use std::path::Path;

use callosum_host::{Disk, DiskError, DiskFile, OpenHow};

use jiff::Timestamp;

use super::line::{HashlogLine, ReadRange, read_place};
use crate::{chain::HASHLOG, checksum::Checksum, entry::read_timestamp, lines::Lines};

const MAGIC: &[u8; 8] = b"CALINDX1";
const HEADER: usize = 128;
/// How much of the header its own checksum is over.
const HEADER_SEALED: usize = 112;
const ROW: usize = 32;

/// A hashlog is not indexed anew for fewer bytes than these.
const WORTH_IT: u64 = 64 * 1024;

/// Where one entry stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Row {
    /// The first eight bytes of the SHA-256 of the task's id.
    key: u64,
    /// The entry's number in its ledger file, from 1.
    pub(crate) number: u32,
    pub(crate) length: u32,
    pub(crate) offset: u64,
    /// When it was finished, in microseconds since 1970.
    micros: i64,
}

/// An index that is of the hashlog that it was opened for.
#[derive(Debug)]
pub(super) struct Index {
    file: DiskFile,
    /// How much of the hashlog it covers.
    pub(super) covered: u64,
    /// How many entries that are.
    pub(super) count: u64,
    /// The earliest and the latest time of them, in microseconds since 1970.
    pub(super) times: (i64, i64),
}

impl Row {
    /// Reads the entry that it is of; `None` where the ledger has no such place.
    pub(crate) fn read_entry(&self, ledger: &impl ReadRange) -> Result<Option<Vec<u8>>, DiskError> {
        read_place(ledger, self.offset, u64::from(self.length))
    }

    /// The row of a line; `None` where the numbers are beyond what a row holds.
    fn of(line: &HashlogLine<'_>) -> Option<Self> {
        Some(Self {
            key: key_of(&line.task_id),
            number: u32::try_from(line.seq).ok()?,
            length: u32::try_from(line.length).ok()?,
            offset: line.offset,
            micros: read_timestamp(&line.timestamp).map_or(0, Timestamp::as_microsecond),
        })
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.key.to_le_bytes());
        out.extend_from_slice(&self.offset.to_le_bytes());
        out.extend_from_slice(&self.micros.to_le_bytes());
        out.extend_from_slice(&self.length.to_le_bytes());
        out.extend_from_slice(&self.number.to_le_bytes());
    }

    fn read(bytes: &[u8]) -> Self {
        Self {
            key: u64_at(bytes, 0),
            offset: u64_at(bytes, 8),
            micros: u64_at(bytes, 16).cast_signed(),
            length: u32_at(bytes, 24),
            number: u32_at(bytes, 28),
        }
    }
}

impl Index {
    /// Opens the index at `path`; `None` where it is not of this hashlog.
    pub(super) fn open(
        disk: &Disk,
        path: &Path,
        hashlog: &DiskFile,
    ) -> Result<Option<Self>, DiskError> {
        let Some(file) = disk.open_if_there(path, OpenHow::READ)? else {
            return Ok(None);
        };
        let header = file.read_range(0, HEADER)?;
        if header.len() < HEADER
            || !header.starts_with(MAGIC)
            || seal_of(&header[..HEADER_SEALED]) != header[HEADER_SEALED..]
        {
            return Ok(None);
        }
        let index = Self {
            covered: u64_at(&header, 8),
            count: u64_at(&header, 48),
            times: (
                u64_at(&header, 56).cast_signed(),
                u64_at(&header, 64).cast_signed(),
            ),
            file,
        };
        let is_whole = index
            .count
            .checked_mul(ROW as u64)
            .and_then(|rows| rows.checked_add(HEADER as u64))
            == Some(index.file.size()?);
        let is_of_it = head_at(hashlog, index.covered)?
            .is_some_and(|head| head.as_bytes()[..] == header[16..48]);
        Ok((is_whole && is_of_it).then_some(index))
    }

    /// The rows that may be a task's, the latest first.
    pub(super) fn rows_of(&self, task_id: &str) -> Result<Vec<Row>, DiskError> {
        // Twice the distance that a key of so many is off its place by chance, and then some.
        const NEAR: u64 = 512;
        let key = key_of(task_id);
        let likely = ((u128::from(key) * u128::from(self.count)) >> 64) as u64;
        let from = likely.saturating_sub(NEAR);
        let until = (likely + NEAR).min(self.count);
        let mut rows = self.rows(from, until)?;
        let has_below = from == 0 || rows.first().is_some_and(|row| row.key < key);
        let has_above = until == self.count || rows.last().is_some_and(|row| row.key > key);
        if !has_below || !has_above {
            let from = self.first_from(key)?;
            rows = self.rows(from, (from + NEAR).min(self.count))?;
        }
        rows.retain(|row| row.key == key);
        rows.sort_by_key(|row| std::cmp::Reverse(row.number));
        Ok(rows)
    }

    /// The number of the first row whose key is not smaller.
    fn first_from(&self, key: u64) -> Result<u64, DiskError> {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            let row = self.rows(middle, middle + 1)?;
            if row.first().is_none_or(|row| row.key < key) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    fn rows(&self, from: u64, until: u64) -> Result<Vec<Row>, DiskError> {
        let offset = HEADER as u64 + from * ROW as u64;
        let bytes = self
            .file
            .read_range(offset, (until - from) as usize * ROW)?;
        Ok(bytes.chunks_exact(ROW).map(Row::read).collect())
    }

    /// Whether the rows are what the header says; lookups do not ask.
    fn is_sound(&self) -> Result<bool, DiskError> {
        let header = self.file.read_range(0, HEADER)?;
        let rows = self.file.read_from(HEADER as u64)?;
        Ok(Checksum::of(&rows).as_bytes()[..] == header[72..104])
    }
}

/// Writes the index anew where it lacks much of the hashlog: an eighth of what it covers, so that
/// what is written over the years is eight times the hashlog at most.
///
/// `end` is where the hashlog's last whole line ends. Nothing is written where the lines are not
/// numbered one after the other.
pub(crate) fn refresh(
    disk: &Disk,
    hashlog: &Path,
    index: &Path,
    end: u64,
) -> Result<(), DiskError> {
    if end < WORTH_IT {
        return Ok(());
    }
    let Some(hashlog) = disk.open_if_there(hashlog, OpenHow::READ)? else {
        return Ok(());
    };
    let old = Index::open(disk, index, &hashlog)?.filter(|old| old.covered <= end);
    let covered = old.as_ref().map_or(0, |old| old.covered);
    if end - covered < WORTH_IT.max(covered / 8) {
        return Ok(());
    }
    build(disk, index, &hashlog, old.as_ref(), end)
}

/// Writes the index of a hashlog to which nothing more is added, beginning with one of a part of it.
pub(crate) fn complete(
    disk: &Disk,
    hashlog: &Path,
    index: &Path,
    of_part: &Path,
) -> Result<(), DiskError> {
    let hashlog = disk.open(hashlog, OpenHow::READ)?;
    let end = hashlog.size()?;
    if end < WORTH_IT {
        return Ok(());
    }
    let old = Index::open(disk, of_part, &hashlog)?;
    build(disk, index, &hashlog, old.as_ref(), end)
}

/// Writes an index that covers the hashlog up to `end`.
pub(super) fn build(
    disk: &Disk,
    path: &Path,
    hashlog: &DiskFile,
    old: Option<&Index>,
    end: u64,
) -> Result<(), DiskError> {
    let (mut rows, mut at) = (Vec::new(), 0);
    if let Some(old) = old
        && old.is_sound()?
    {
        rows = old.rows(0, old.count)?;
        at = old.covered;
    }
    let mut lines = Lines::new(hashlog, at, end);
    while let Some(line) = lines.next()? {
        let expected = rows.len() as u64 + 1;
        let row = HashlogLine::read(line.bytes)
            .filter(|read| line.is_whole && read.seq == expected)
            .and_then(|read| Row::of(&read));
        match row {
            Some(row) => rows.push(row),
            None => return Ok(()),
        }
    }
    let Some(head) = head_at(hashlog, end)? else {
        return Ok(());
    };
    rows.sort_unstable();
    disk.replace(path, &file_of(&rows, head, end), 0o600)
}

fn file_of(rows: &[Row], head: Checksum, covered: u64) -> Vec<u8> {
    let mut body = Vec::with_capacity(rows.len() * ROW);
    for row in rows {
        row.write(&mut body);
    }
    let first = rows.iter().map(|row| row.micros).min().unwrap_or(i64::MAX);
    let last = rows.iter().map(|row| row.micros).max().unwrap_or(i64::MIN);
    let mut file = Vec::with_capacity(HEADER + body.len());
    file.extend_from_slice(MAGIC);
    file.extend_from_slice(&covered.to_le_bytes());
    file.extend_from_slice(head.as_bytes());
    file.extend_from_slice(&(rows.len() as u64).to_le_bytes());
    file.extend_from_slice(&first.to_le_bytes());
    file.extend_from_slice(&last.to_le_bytes());
    file.extend_from_slice(Checksum::of(&body).as_bytes());
    file.resize(HEADER_SEALED, 0);
    let seal = seal_of(&file);
    file.extend_from_slice(&seal);
    file.extend_from_slice(&body);
    file
}

/// The hash that the line says which ends at `end`.
fn head_at(hashlog: &DiskFile, end: u64) -> Result<Option<Checksum>, DiskError> {
    let len = HASHLOG.end_len();
    let Some(from) = end.checked_sub(len as u64) else {
        return Ok(None);
    };
    let bytes = hashlog.read_range(from, len)?;
    Ok(bytes
        .strip_suffix(b"\n")
        .filter(|_| bytes.len() == len)
        .and_then(|line| HASHLOG.stated(line)))
}

fn key_of(task_id: &str) -> u64 {
    u64_at(Checksum::of(task_id.as_bytes()).as_bytes(), 0)
}

fn seal_of(header: &[u8]) -> [u8; HEADER - HEADER_SEALED] {
    let mut seal = [0; HEADER - HEADER_SEALED];
    seal.copy_from_slice(&Checksum::of(header).as_bytes()[..HEADER - HEADER_SEALED]);
    seal
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hashlog of so many lines in a folder, and where its index goes.
    fn hashlog(count: u64) -> (tempfile::TempDir, Disk, DiskFile, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let path = folder.path().join("hashlog");
        let (mut text, mut head) = (Vec::new(), Checksum::ZERO);
        for number in 1..=count {
            let entry = format!(
                r#"{{"task_id":"cal_{number}","timestamp":"2026-11-02T10:00:{:02}Z"}}"#,
                number % 60
            );
            head = super::super::write_line(
                &mut text,
                number,
                number * 100,
                entry.as_bytes(),
                Checksum::ZERO,
                head,
            );
        }
        disk.replace(&path, &text, 0o600).unwrap();
        let file = disk.open(&path, OpenHow::READ).unwrap();
        let index = folder.path().join("index");
        (folder, disk, file, index)
    }

    #[test]
    fn every_line_is_found_and_nothing_else() {
        let (_folder, disk, file, path) = hashlog(3000);
        build(&disk, &path, &file, None, file.size().unwrap()).unwrap();
        let index = Index::open(&disk, &path, &file).unwrap().unwrap();
        assert_eq!((index.count, index.covered), (3000, file.size().unwrap()));
        assert!(index.is_sound().unwrap());
        for number in 1..=3000 {
            let rows = index.rows_of(&format!("cal_{number}")).unwrap();
            let found: Vec<_> = rows.iter().map(|row| (row.number, row.offset)).collect();
            assert_eq!(found, [(number, u64::from(number) * 100)]);
        }
        assert_eq!(index.rows_of("cal_0").unwrap(), []);
        let earliest: jiff::Timestamp = "2026-11-02T10:00:00Z".parse().unwrap();
        let first = earliest.as_microsecond();
        assert_eq!(index.times, (first, first + 59_000_000));
    }

    #[test]
    fn an_index_grows_from_the_one_before() {
        let (_folder, disk, file, path) = hashlog(300);
        let text = file.read_all().unwrap();
        let middle = memchr::memrchr(b'\n', &text[..text.len() / 2]).unwrap() as u64 + 1;
        build(&disk, &path, &file, None, middle).unwrap();
        let part = Index::open(&disk, &path, &file).unwrap().unwrap();
        assert!(part.count < 200);
        build(&disk, &path, &file, Some(&part), text.len() as u64).unwrap();
        let grown = disk.read(&path).unwrap();
        build(&disk, &path, &file, None, text.len() as u64).unwrap();
        assert_eq!(grown, disk.read(&path).unwrap());
    }

    /// CAL-SEC-1: whatever stands in the file, it is refused or read within its bounds.
    #[test]
    fn a_header_that_was_changed_and_another_hashlog_do_not_count() {
        let (_folder, disk, file, path) = hashlog(50);
        build(&disk, &path, &file, None, file.size().unwrap()).unwrap();
        let right = disk.read(&path).unwrap();
        for at in 0..HEADER {
            let mut wrong = right.clone();
            wrong[at] ^= 1;
            disk.replace(&path, &wrong, 0o600).unwrap();
            assert!(Index::open(&disk, &path, &file).unwrap().is_none(), "{at}");
        }
        for len in [0, 7, HEADER, right.len() - 1, right.len() - ROW] {
            disk.replace(&path, &right[..len], 0o600).unwrap();
            assert!(Index::open(&disk, &path, &file).unwrap().is_none(), "{len}");
        }
        disk.replace(&path, &right, 0o600).unwrap();
        let (_other_folder, _, other, _) = hashlog(40);
        assert!(Index::open(&disk, &path, &other).unwrap().is_none());
        let mut wrong = right.clone();
        wrong[HEADER + 1] ^= 1;
        disk.replace(&path, &wrong, 0o600).unwrap();
        let index = Index::open(&disk, &path, &file).unwrap().unwrap();
        assert!(!index.is_sound().unwrap());
    }
}
