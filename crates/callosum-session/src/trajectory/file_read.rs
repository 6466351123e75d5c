//! [`FileRead`]: the parts of one trajectory file that claims and checkpoints need, read line by
//! line.
//!
//! A hundred megabytes of an agent's thoughts and calls cost only the memory of its claims.

use std::{
    collections::BTreeMap,
    io::{BufReader, Read as _},
};

use callosum_host::{Disk, OpenHow};
use flate2::read::MultiGzDecoder;
use serde_json::Value;

use super::{
    day_file::{DayFile, LARGEST_FILE},
    lines::{FileReader, Lines},
    record::{Bad, Record, RecordForm, read_each},
};
use crate::zones::ZoneError;

/// Most bytes of one file that are read line by line, from its end.
const LARGEST_READ: u64 = 256 * 1024 * 1024;

/// Result of reading one file.
pub(super) struct FileRead<R> {
    /// The needed records after the last hand-off.
    pub(super) since: Vec<R>,
    /// The others: the last record, and the one with the latest time.
    last: Option<R>,
    latest: Option<R>,
    /// The hand-offs.
    pub(super) handoffs: Vec<Record>,
    /// Positions up to which each transcript has been synthesized: the last record of it counts.
    pub(super) positions: BTreeMap<String, u64>,
    pub(super) bad: Bad,
    /// Number of bytes read.
    pub(super) bytes: u64,
}

impl<R: RecordForm> FileRead<R> {
    /// Reads a file; `None` if it is not a file, or a compressed one is broken.
    pub(super) fn read(disk: &Disk, day: &DayFile) -> Result<Option<Self>, ZoneError> {
        let mut read = Self {
            since: Vec::new(),
            last: None,
            latest: None,
            handoffs: Vec::new(),
            positions: BTreeMap::new(),
            bad: Bad::default(),
            bytes: 0,
        };
        let Some((bad, bytes)) = read_day(disk, day, |kept| read.take(kept))? else {
            return Ok(None);
        };
        read.since.splice(0..0, read.latest.take());
        read.since.extend(read.last.take());
        Ok(Some(Self { bad, bytes, ..read }))
    }

    fn take(&mut self, kept: R) {
        if let Some(record) = kept.record() {
            self.note_position(record);
            if record.phase() == "session_handoff" {
                self.handoffs.push(record.clone());
                self.since.clear();
                (self.last, self.latest) = (None, None);
                return;
            }
        }
        let is_needed = kept.is_needed();
        let before = if is_needed {
            self.since.push(kept);
            self.last.take()
        } else {
            self.last.replace(kept)
        };
        if let Some(before) = before
            && self
                .latest
                .as_ref()
                .is_none_or(|latest| latest.ts() < before.ts())
        {
            self.latest = Some(before);
        }
    }

    fn note_position(&mut self, record: &Record) {
        let name = record.text("transcript");
        let at = record.members.get("position").and_then(Value::as_u64);
        if let Some(at) = at
            && record.phase() == "delta_sync"
            && !name.is_empty()
        {
            self.positions.insert(name.to_owned(), at);
        }
    }

    /// Returns the line of the last hand-off; 0 if there is none.
    pub(super) fn covered(&self) -> usize {
        self.handoffs.last().map_or(0, |handoff| handoff.line)
    }
}

/// Reads a file line by line, and passes on each record. Returns the lines that are no record, and
/// the number of bytes; `None` if it is not a file, or a compressed one is broken or larger than
/// the limit.
fn read_day<R: RecordForm>(
    disk: &Disk,
    day: &DayFile,
    take: impl FnMut(R),
) -> Result<Option<(Bad, u64)>, ZoneError> {
    if !day.is_file {
        return Ok(None);
    }
    let file = disk.open(&day.path, OpenHow::READ)?;
    let mut failed = None;
    let (read, bytes) = if day.is_archived {
        let source = FileReader::new(&file, 0, &mut failed).buffered();
        let source = MultiGzDecoder::new(source).take(LARGEST_FILE + 1);
        let mut lines = Lines::new(BufReader::new(source));
        (read_each(&mut lines, take), lines.read)
    } else {
        let skipped = file.size()?.saturating_sub(LARGEST_READ);
        let source = FileReader::new(&file, skipped, &mut failed).buffered();
        let mut lines = Lines::new(source);
        (read_each(&mut lines, take), lines.read)
    };
    if let Some(error) = failed {
        return Err(error.into());
    }
    let is_whole = !day.is_archived || bytes <= LARGEST_FILE;
    Ok(read.ok().filter(|_| is_whole).map(|bad| (bad, bytes)))
}

/// Gives away each record of a file, as soon as it is read; none of one that cannot be read, and not all of an archive that
/// is broken further on.
pub(crate) fn each_record(
    disk: &Disk,
    day: &DayFile,
    take: impl FnMut(Record),
) -> Result<(), ZoneError> {
    read_day(disk, day, take)?;
    Ok(())
}
