//! The files of a log, and how the place of a line is told.

use std::path::{Path, PathBuf};

use callosum_host::{Disk, DiskError, DiskFile, OpenHow, disk::EntryKind};

/// Permission bits of the log's files: what agents tell one another is their user's alone.
pub(super) const MODE: u32 = 0o600;

/// Digits of a file's name, which is the `seq` of its first event.
const DIGITS: usize = 20;

/// What follows them.
const END: &str = ".jsonl";

/// Bytes that are read at once to find a line's beginning or a file's last line.
const BLOCK: usize = 128 * 1024;

/// A file of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    /// The `seq` of the first event in it, or of the one that will be.
    pub(super) first: u64,
    pub(super) path: PathBuf,
}

impl Segment {
    pub(super) fn new(folder: &Path, first: u64) -> Self {
        Self {
            first,
            path: folder.join(format!("{first:0DIGITS$}{END}")),
        }
    }

    /// The files of the log in `folder`, oldest first; none where there is no folder.
    pub(super) fn list(disk: &Disk, folder: &Path) -> Result<Vec<Self>, DiskError> {
        let mut segments: Vec<Self> = disk
            .list_dir(folder)?
            .into_iter()
            .filter(|entry| entry.kind == EntryKind::File)
            .filter_map(|entry| {
                let digits = entry.name.to_str()?.strip_suffix(END)?;
                let is_name =
                    digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
                let first = digits.parse().ok().filter(|_| is_name)?;
                Some(Self::new(folder, first))
            })
            .collect();
        segments.sort_by_key(|segment| segment.first);
        Ok(segments)
    }

    pub(super) fn open(&self, disk: &Disk) -> Result<DiskFile, DiskError> {
        disk.open(&self.path, OpenHow::READ)
    }
}

/// The `seq` at the beginning of a line, without reading the line as JSON; `None` where it is no
/// line of ours.
pub(super) fn seq_of(line: &[u8]) -> Option<u64> {
    let digits = line.strip_prefix(b"{\"seq\":")?;
    let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
    (digits[end] == b',').then_some(())?;
    std::str::from_utf8(&digits[..end]).ok()?.parse().ok()
}

/// The last `seq` in a file, and whether its last line has an end.
pub(super) fn last_seq(file: &DiskFile) -> Result<(Option<u64>, bool), DiskError> {
    let mut end = file.size()?;
    let mut is_whole = true;
    let mut is_last = true;
    let mut after: Vec<u8> = Vec::new();
    while end > 0 {
        let start = end.saturating_sub(BLOCK as u64);
        let mut block = file.read_range(start, (end - start) as usize)?;
        if is_last {
            is_whole = block.last() == Some(&b'\n');
            is_last = false;
        }
        block.append(&mut after);
        // A line whose beginning is not in the block waits for the block before it.
        let first = if start == 0 {
            0
        } else {
            block
                .iter()
                .position(|byte| *byte == b'\n')
                .map_or(block.len(), |at| at + 1)
        };
        let lines = block[first..].split(|byte| *byte == b'\n');
        // What has no end was never acknowledged, whatever it says.
        let whole = block
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        let mut at = first;
        let mut last = None;
        for line in lines {
            if at + line.len() < whole {
                last = seq_of(line).or(last);
            }
            at += line.len() + 1;
        }
        if last.is_some() {
            return Ok((last, is_whole));
        }
        block.truncate(first);
        after = block;
        end = start;
    }
    Ok((None, is_whole))
}

/// Where the first line after `seq` begins in a file: a place at or before it, at the beginning of
/// a line. Takes as many reads as the file's size has bits.
pub(super) fn place_after(file: &DiskFile, seq: u64) -> Result<u64, DiskError> {
    let mut low = 0;
    let mut high = file.size()?;
    while high - low > BLOCK as u64 {
        let middle = low + (high - low) / 2;
        let block = file.read_range(middle, BLOCK)?;
        let found = block
            .iter()
            .enumerate()
            .filter(|(_, byte)| **byte == b'\n')
            .find_map(|(at, _)| Some((middle + at as u64 + 1, seq_of(&block[at + 1..])?)));
        match found {
            Some((at, here)) if here <= seq => {
                if at <= low {
                    break;
                }
                low = at;
            }
            // None: lines longer than a block, or none of ours. What is before them is read through.
            Some(_) | None => high = middle,
        }
    }
    Ok(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_a_line_stands_at_its_beginning() {
        assert_eq!(seq_of(b"{\"seq\":17,\"origin\":1}"), Some(17));
        for line in [
            &b""[..],
            b"{\"seq\":17",
            b"{\"seq\":x,",
            b"{ \"seq\":1,",
            b"{\"seq\":,",
        ] {
            assert_eq!(seq_of(line), None);
        }
    }
}
