//! The index of a hashlog: position of each task's entry, sorted by a hash of its id.
//!
//! Rows of one width in blocks behind a header. The header names the hashlog and the part of it
//! that the index covers, so it never counts for another. Each block carries a checksum, which is
//! checked whenever the block is read. It can be deleted at any time. The format in full:
//! `docs/formats/index.md`.

use std::path::Path;

use callosum_host::{Disk, DiskError, DiskFile, OpenHow};

use jiff::Timestamp;

use super::line::{HashlogLine, ReadRange, read_place};
use crate::{chain::HASHLOG, entry::read_timestamp, lines::Lines};
use callosum_json::Checksum;

const MAGIC: &[u8; 8] = b"CALINDX2";
const HEADER: usize = 96;
/// Length of the part of the header that its own checksum covers.
const HEADER_SEALED: usize = 72;
const ROW: usize = 32;
/// Rows of a whole block: with its checksum it is as long as a page.
const ROWS: u64 = 127;
/// The length of a block's checksum.
const BLOCK_SEAL: usize = 32;
const BLOCK: usize = ROWS as usize * ROW + BLOCK_SEAL;

/// Minimum number of new bytes of a hashlog for which its index is rewritten.
const WORTH_IT: u64 = 64 * 1024;

/// Position of one entry.
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
    /// Length of the part of the hashlog that it covers.
    pub(super) covered: u64,
    /// The hash of the line that ends there.
    head: Checksum,
    /// Number of entries in that part.
    pub(super) count: u64,
    /// The earliest and the latest time of them, in microseconds since 1970.
    pub(super) times: (i64, i64),
}

/// Reason that an index gives no answer.
#[derive(Debug)]
pub(super) enum IndexFault {
    /// A block does not match its checksum.
    Damaged,
    Disk(DiskError),
}

impl From<DiskError> for IndexFault {
    fn from(error: DiskError) -> Self {
        Self::Disk(error)
    }
}

impl Row {
    /// Reads the entry that it is of; `None` where the ledger has no such place.
    pub(crate) fn read_entry(&self, ledger: &impl ReadRange) -> Result<Option<Vec<u8>>, DiskError> {
        read_place(ledger, self.offset, u64::from(self.length))
    }

    /// The row of a line; `None` where the numbers are beyond what a row holds.
    fn from_line(line: &HashlogLine<'_>) -> Option<Self> {
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
    /// Opens the index at `path`; `None` if it is not of this hashlog.
    pub(super) fn open(
        disk: &Disk,
        path: &Path,
        hashlog: &DiskFile,
    ) -> Result<Option<Self>, DiskError> {
        let Some(file) = disk.open_if_there(path, OpenHow::READ)? else {
            return Ok(None);
        };
        let Some(index) = Self::read(file)? else {
            return Ok(None);
        };
        let is_of_it = head_at(hashlog, index.covered)? == Some(index.head);
        Ok(is_of_it.then_some(index))
    }

    /// Reads a file as an index; `None` if it is not one, or incomplete.
    fn read(file: DiskFile) -> Result<Option<Self>, DiskError> {
        let header = file.read_range(0, HEADER)?;
        if header.len() < HEADER
            || !header.starts_with(MAGIC)
            || seal_of(&header[..HEADER_SEALED]) != header[HEADER_SEALED..]
        {
            return Ok(None);
        }
        let mut head = [0; 32];
        head.copy_from_slice(&header[16..48]);
        let index = Self {
            covered: u64_at(&header, 8),
            head: Checksum::from_bytes(head),
            count: u64_at(&header, 48),
            times: (
                u64_at(&header, 56).cast_signed(),
                u64_at(&header, 64).cast_signed(),
            ),
            file,
        };
        let is_whole = length_of(index.count) == Some(index.file.size()?);
        Ok(is_whole.then_some(index))
    }

    /// The rows that may be a task's, the latest first.
    pub(super) fn rows_of(&self, task_id: &str) -> Result<Vec<Row>, IndexFault> {
        let key = key_of(task_id);
        let mut found = Vec::new();
        for number in self.first_with(key)?..self.blocks() {
            let rows = self.block(number)?;
            let goes_on = rows.last().is_some_and(|last| last.key == key);
            found.extend(rows.into_iter().filter(|row| row.key == key));
            if !goes_on {
                break;
            }
        }
        found.sort_by_key(|row| std::cmp::Reverse(row.number));
        Ok(found)
    }

    /// Returns the first block whose last key is not smaller; the number of all if there is none.
    ///
    /// Keys are spread evenly, so the search starts at the expected block, then moves farther and
    /// farther away, and bisects at last.
    fn first_with(&self, key: u64) -> Result<u64, IndexFault> {
        let (mut low, mut high) = (0, self.blocks());
        let mut guess = ((u128::from(key) * u128::from(high)) >> 64) as u64;
        let mut step = 1;
        while low < high {
            let middle = if (low..high).contains(&guess) {
                guess
            } else {
                low + (high - low) / 2
            };
            let rows = self.block(middle)?;
            if rows.last().is_none_or(|last| last.key < key) {
                low = middle + 1;
                guess = middle.saturating_add(step);
            } else {
                high = middle;
                if rows.first().is_some_and(|first| first.key < key) {
                    break;
                }
                guess = middle.saturating_sub(step);
            }
            step *= 2;
        }
        Ok(high)
    }

    /// Counts the blocks.
    fn blocks(&self) -> u64 {
        self.count.div_ceil(ROWS)
    }

    /// Returns the rows of one block, checked against its checksum.
    fn block(&self, number: u64) -> Result<Vec<Row>, IndexFault> {
        let rows = (self.count - number * ROWS).min(ROWS) as usize;
        let len = rows * ROW + BLOCK_SEAL;
        let bytes = self
            .file
            .read_range(HEADER as u64 + number * BLOCK as u64, len)?;
        if bytes.len() < len {
            return Err(IndexFault::Damaged);
        }
        let (rows, seal) = bytes.split_at(rows * ROW);
        if block_seal(self.head, number, rows).as_bytes()[..] != *seal {
            return Err(IndexFault::Damaged);
        }
        Ok(rows.chunks_exact(ROW).map(Row::read).collect())
    }

    /// All rows.
    fn rows(&self) -> Result<Vec<Row>, IndexFault> {
        let mut rows = Vec::new();
        for number in 0..self.blocks() {
            rows.extend(self.block(number)?);
        }
        Ok(rows)
    }
}

/// Whether the index at `path` agrees with the hashlog, if it is an index of this hashlog.
///
/// An index of another state of the hashlog, or of another format, counts as right, because no
/// reader uses it.
pub(crate) fn is_right(disk: &Disk, path: &Path, hashlog: &Path) -> Result<bool, DiskError> {
    let Some(file) = disk.open_if_there(path, OpenHow::READ)? else {
        return Ok(true);
    };
    let magic = file.read_range(0, MAGIC.len())?;
    if !magic.is_empty() && magic != MAGIC {
        return Ok(true);
    }
    let (Some(index), Some(hashlog)) = (
        Index::read(file)?,
        disk.open_if_there(hashlog, OpenHow::READ)?,
    ) else {
        return Ok(false);
    };
    if head_at(&hashlog, index.covered)? != Some(index.head) {
        return Ok(true);
    }
    let Some(mut rows) = rows_from(&hashlog, Vec::new(), 0, index.covered)? else {
        // The check of the hashlog itself reports its faults.
        return Ok(true);
    };
    rows.sort_unstable();
    let right = file_of(&rows, index.head, index.covered);
    Ok(index.file.read_all()? == right)
}

/// Rewrites the index if it lacks much of the hashlog: an eighth of what it covers. So all rewrites
/// together are at most eight times the hashlog.
///
/// `end` is the end of the hashlog's last whole line. Nothing is written if the lines are not
/// numbered consecutively.
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
    if let Some(old) = old {
        match old.rows() {
            Ok(of_old) => (rows, at) = (of_old, old.covered),
            Err(IndexFault::Damaged) => {}
            Err(IndexFault::Disk(error)) => return Err(error),
        }
    }
    let (Some(mut rows), Some(head)) = (rows_from(hashlog, rows, at, end)?, head_at(hashlog, end)?)
    else {
        return Ok(());
    };
    rows.sort_unstable();
    disk.replace(path, &file_of(&rows, head, end), 0o600)
}

/// Returns the rows of the lines up to `end`, those up to `at` being known; `None` if they are not
/// numbered consecutively.
fn rows_from(
    hashlog: &DiskFile,
    mut rows: Vec<Row>,
    at: u64,
    end: u64,
) -> Result<Option<Vec<Row>>, DiskError> {
    let mut lines = Lines::new(hashlog, at, end);
    while let Some(line) = lines.next()? {
        let expected = rows.len() as u64 + 1;
        let row = HashlogLine::read(line.bytes)
            .filter(|read| line.is_whole && read.seq == expected)
            .and_then(|read| Row::from_line(&read));
        match row {
            Some(row) => rows.push(row),
            None => return Ok(None),
        }
    }
    Ok(Some(rows))
}

fn file_of(rows: &[Row], head: Checksum, covered: u64) -> Vec<u8> {
    let first = rows.iter().map(|row| row.micros).min().unwrap_or(i64::MAX);
    let last = rows.iter().map(|row| row.micros).max().unwrap_or(i64::MIN);
    let mut file = Vec::with_capacity(HEADER + rows.len().div_ceil(ROWS as usize) * BLOCK);
    file.extend_from_slice(MAGIC);
    file.extend_from_slice(&covered.to_le_bytes());
    file.extend_from_slice(head.as_bytes());
    file.extend_from_slice(&(rows.len() as u64).to_le_bytes());
    file.extend_from_slice(&first.to_le_bytes());
    file.extend_from_slice(&last.to_le_bytes());
    let seal = seal_of(&file);
    file.extend_from_slice(&seal);
    for (number, block) in rows.chunks(ROWS as usize).enumerate() {
        let from = file.len();
        for row in block {
            row.write(&mut file);
        }
        let seal = block_seal(head, number as u64, &file[from..]);
        file.extend_from_slice(seal.as_bytes());
    }
    file
}

/// Returns the length in bytes of an index with this many rows.
fn length_of(count: u64) -> Option<u64> {
    let rows = count.checked_mul(ROW as u64)?;
    let seals = count.div_ceil(ROWS).checked_mul(BLOCK_SEAL as u64)?;
    rows.checked_add(seals)?.checked_add(HEADER as u64)
}

/// Computes a block's checksum, which covers its index, its number and its rows.
fn block_seal(head: Checksum, number: u64, rows: &[u8]) -> Checksum {
    Checksum::of_parts(&[&head.as_bytes()[..], &number.to_le_bytes(), rows])
}

/// Returns the hash stated by the line that ends at `end`.
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

    /// Makes a hashlog of this many lines in a folder, and returns the path for its index.
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
        assert!(is_right(&disk, &path, file.path()).unwrap());
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

    /// CAL-SEC-1: any contents of the file are refused or read within their bounds.
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
    }

    /// CAL-SEC-1, REQ-PERF-004: no byte of it can be changed so that an entry is hidden or
    /// another one is found.
    #[test]
    fn every_changed_byte_is_noticed() {
        let (_folder, disk, file, path) = hashlog(150);
        build(&disk, &path, &file, None, file.size().unwrap()).unwrap();
        let right = disk.read(&path).unwrap();
        let mut rows = Index::open(&disk, &path, &file)
            .unwrap()
            .unwrap()
            .rows()
            .unwrap();
        rows.sort_by_key(|row| row.number);
        for (at, byte) in right.iter().enumerate() {
            let changed = disk.open(&path, OpenHow::READ_WRITE).unwrap();
            let set = |byte: u8| changed.write_at(&[byte], at as u64).unwrap();
            set(byte ^ 1);
            // It reads the whole hashlog each time. A changed name of the format is another's.
            if at < HEADER || at % 61 == 0 {
                let is_other = at < MAGIC.len();
                assert_eq!(
                    is_right(&disk, &path, file.path()).unwrap(),
                    is_other,
                    "{at}"
                );
            }
            let Some(index) = Index::open(&disk, &path, &file).unwrap() else {
                assert!(at < HEADER);
                set(*byte);
                continue;
            };
            assert!(matches!(index.rows(), Err(IndexFault::Damaged)), "{at}");
            for number in [1, 77, 150] {
                match index.rows_of(&format!("cal_{number}")) {
                    Ok(found) => assert_eq!(found, [rows[number - 1]], "{at}"),
                    Err(error) => assert!(matches!(error, IndexFault::Damaged), "{error:?}"),
                }
            }
            set(*byte);
        }
    }
}
