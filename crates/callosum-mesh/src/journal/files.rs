//! Files of a log, and the search for a line by its `seq`.

use std::path::{Path, PathBuf};

use callosum_host::{Disk, DiskError, DiskFile, OpenHow, disk::EntryKind};

use crate::event::Event;

/// Permission bits of the log's files: what agents tell one another is their user's alone.
pub(super) const MODE: u32 = 0o600;

/// Digits of a file's name, which is the `seq` of its first event.
const DIGITS: usize = 20;

/// Ending of the name.
const END: &str = ".jsonl";

/// Bytes that are read at once to find a line's beginning or a file's last line.
const BLOCK: usize = 128 * 1024;

/// Bytes that are read first to find a line between two places: a few of the usual ones.
const PROBE: usize = 4 * 1024;

/// So near to the line that is looked for, what is between is read through.
const NEAR: u64 = 16 * 1024;

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

/// The largest `seq` that is one: what every reader of JSON holds exactly.
pub(super) const MOST_SEQ: u64 = 1 << 53;

/// Returns the event of a whole line. Returns `None` if it is none of ours, no matter how it
/// begins.
pub(super) fn event_of(line: &[u8]) -> Option<Event> {
    let event: Event = serde_json::from_slice(line).ok()?;
    (event.seq < MOST_SEQ).then_some(event)
}

/// Returns the `seq` of a line.
fn seq_of(line: &[u8]) -> Option<u64> {
    event_of(line).map(|event| event.seq)
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
        // A line without an end was never acknowledged, so it does not count.
        let whole = block.iter().rposition(|byte| *byte == b'\n');
        let whole = &block[first.min(whole.unwrap_or(0))..whole.unwrap_or(0)];
        let last = whole.rsplit(|byte| *byte == b'\n').find_map(seq_of);
        if last.is_some() {
            return Ok((last, is_whole));
        }
        block.truncate(first);
        after = block;
        end = start;
    }
    Ok((None, is_whole))
}

/// Returns a place in a file at or before the first line after `seq`, at the beginning of a line.
/// Takes as many reads as the file's size has bits, of few bytes if lines are short.
pub(super) fn place_after(file: &DiskFile, seq: u64) -> Result<u64, DiskError> {
    let mut low = 0;
    let mut high = file.size()?;
    while high - low > NEAR {
        let middle = low + (high - low) / 2;
        let mut found = line_after(file, middle, PROBE)?;
        if found.is_none() && high - low > BLOCK as u64 {
            found = line_after(file, middle, BLOCK)?;
        }
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

/// Returns the place and `seq` of the first event that is whole in the `bytes` after a place.
fn line_after(file: &DiskFile, place: u64, bytes: usize) -> Result<Option<(u64, u64)>, DiskError> {
    let block = file.read_range(place, bytes)?;
    let mut starts = block.iter().enumerate();
    Ok(starts.find_map(|(at, byte)| {
        let line = Some(&block[at + 1..]).filter(|_| *byte == b'\n')?;
        let line = line.split(|byte| *byte == b'\n').next()?;
        Some((place + at as u64 + 1, seq_of(line)?))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CALC-L1-2: a line that only begins like an event says nothing of the log's end.
    #[test]
    fn a_line_that_is_no_whole_event_has_no_place() {
        let whole = |seq: &str| {
            format!(
                r#"{{"seq":{seq},"origin":"o","id":"i","type":"a.b","event":"a.b","source":"x","machine":"m","timestamp":"2026-03-09T10:00:00Z","ts":1.0,"session_id":null,"pane_id":null,"cwd":null,"payload":{{}}}}"#
            )
        };
        assert_eq!(seq_of(whole("17").as_bytes()), Some(17));
        for line in [
            "",
            "{\"seq\":99,x",
            "{\"seq\":99,\"origin\":1}",
            "{\"seq\":18446744073709551615,\"x",
            &whole("18446744073709551615"),
        ] {
            assert_eq!(seq_of(line.as_bytes()), None, "{line}");
        }
    }
}
