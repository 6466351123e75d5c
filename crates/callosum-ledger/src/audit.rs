//! [`AuditReader`]: the journal, read without a lock.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
    ops::ControlFlow,
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use callosum_host::{Disk, DiskError, OpenHow};
use jiff::{Timestamp, ToSpan};
use memchr::memmem;

use crate::{
    audit_search::SearchPlace,
    event::{AuditRecord, Event},
    journal::{DayFile, day_files, day_of},
    lines::Lines,
    paths::LedgerPaths,
    task_id::TaskId,
};

/// Reads a project's audit journal. The chain is not checked: see [`crate::verify()`].
///
/// Lines that are not records are skipped; [`unreadable`](Self::unreadable) lists them.
#[derive(Debug)]
pub struct AuditReader {
    pub(crate) disk: Disk,
    pub(crate) paths: LedgerPaths,
    unreadable: Mutex<Vec<UnreadableLine>>,
}

/// Position up to which a journal was read, from which [`AuditReader::go_on`] continues.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditPlace {
    /// Bytes of each day file.
    read: BTreeMap<PathBuf, u64>,
}

/// A line of the journal that was passed over because it is not a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableLine {
    /// The day file.
    pub path: PathBuf,
    /// The line in it, from 1.
    pub line: u64,
    /// The defect of the line.
    pub reason: String,
}

impl fmt::Display for UnreadableLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, reason } = self;
        let path = path.display();
        write!(
            f,
            "line {line} of `{path}` is not an audit record: {reason}"
        )
    }
}

/// Filter for records; a field that is `None` excludes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditQuery {
    /// About this task.
    pub task_id: Option<TaskId>,
    /// About this executor.
    pub executor: Option<String>,
    /// Of this kind.
    pub event: Option<Event>,
    /// Of this time or later.
    pub since: Option<Timestamp>,
    /// Of this time or earlier.
    pub until: Option<Timestamp>,
}

/// Error of a read of the journal.
#[derive(Debug, thiserror::Error)]
pub enum AuditReadError {
    /// A file could not be read.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

impl AuditReader {
    /// A reader of the project's journal; one without any records is empty.
    pub fn new(disk: Disk, paths: LedgerPaths) -> Self {
        Self {
            disk,
            paths,
            unreadable: Mutex::default(),
        }
    }

    /// The lines that this reader passed over until now, the first in each day file.
    pub fn unreadable(&self) -> Vec<UnreadableLine> {
        let unreadable = self.unreadable.lock();
        unreadable.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn pass_over(&self, line: UnreadableLine) {
        let unreadable = self.unreadable.lock();
        let mut unreadable = unreadable.unwrap_or_else(PoisonError::into_inner);
        if unreadable.iter().all(|before| before.path != line.path) {
            unreadable.push(line);
        }
    }

    /// The last `count` records, in the order in which they were written.
    ///
    /// Reads no more day files than are needed.
    pub fn tail(&self, count: usize) -> Result<Vec<AuditRecord>, AuditReadError> {
        let mut tail = VecDeque::new();
        for day_file in day_files(&self.disk, &self.paths.audit)?.iter().rev() {
            let mut of_day = VecDeque::new();
            let flow = self.read_day(day_file, &mut |record| {
                if of_day.len() + tail.len() >= count {
                    of_day.pop_front();
                }
                of_day.push_back(record);
                ControlFlow::Continue(())
            })?;
            debug_assert!(flow.is_continue(), "a whole day is read");
            of_day.append(&mut tail);
            tail = of_day;
            if tail.len() >= count {
                break;
            }
        }
        let surplus = tail.len().saturating_sub(count);
        Ok(tail.into_iter().skip(surplus).collect())
    }

    /// The records in the last `bytes` bytes of the journal, in the order in which they were written:
    /// a look at what happened lately, whose cost does not grow with the journal.
    pub fn recent(&self, bytes: u64) -> Result<Vec<AuditRecord>, AuditReadError> {
        self.recent_of(bytes, &|_| true)
    }

    /// The same, of those records whose line `is_wanted`. Lines that are not wanted are not parsed: a search in megabytes of
    /// the journal costs milliseconds.
    pub fn recent_of(
        &self,
        bytes: u64,
        is_wanted: &dyn Fn(&[u8]) -> bool,
    ) -> Result<Vec<AuditRecord>, AuditReadError> {
        let mut recent = VecDeque::new();
        let mut left = bytes;
        for day_file in day_files(&self.disk, &self.paths.audit)?.iter().rev() {
            let file = self.disk.open(&day_file.path, OpenHow::READ)?;
            let size = file.size()?;
            let from = size.saturating_sub(left);
            let mut of_day = VecDeque::new();
            let mut lines = Lines::new(&file, from, size);
            while let Some(line) = lines.next()? {
                // The first was cut, unless it is the file's own first.
                let is_cut = line.offset == from && from > 0;
                if line.is_whole
                    && !is_cut
                    && is_wanted(line.bytes)
                    && let Ok(record) = serde_json::from_slice(line.bytes)
                {
                    of_day.push_back(record);
                }
            }
            of_day.append(&mut recent);
            recent = of_day;
            left = left.saturating_sub(size);
            if left == 0 {
                break;
            }
        }
        Ok(recent.into())
    }

    /// Returns true if the journal has a record of a task.
    ///
    /// Of a dated id, reads the files of its day and the day after, in which its records are; of another, all.
    pub fn has_task(&self, task_id: &TaskId) -> Result<bool, AuditReadError> {
        let day = task_id.day_and_number().map(|(day, _)| day);
        for day_file in day_files(&self.disk, &self.paths.audit)? {
            let is_near = day.is_none_or(|day| {
                day <= day_file.day && day_file.day <= day.saturating_add(1.day())
            });
            if !is_near {
                continue;
            }
            let flow = self.read_day(&day_file, &mut |record| {
                if record.task_id.as_ref() == Some(task_id) {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            })?;
            if flow.is_break() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Hands the records that are asked for to `take`, in the order in which they were written,
    /// until it breaks off. One record is held in memory at a time.
    pub fn query(
        &self,
        query: &AuditQuery,
        mut take: impl FnMut(AuditRecord) -> ControlFlow<()>,
    ) -> Result<(), AuditReadError> {
        for day_file in day_files(&self.disk, &self.paths.audit)? {
            // A day's file holds nothing of a later day.
            if query
                .since
                .is_some_and(|since| day_file.day < day_of(since))
            {
                continue;
            }
            let flow = self.read_day(&day_file, &mut |record| {
                if query.fits(&record) {
                    take(record)
                } else {
                    ControlFlow::Continue(())
                }
            })?;
            if flow.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Passes the records of one kind to `take`, in the order in which they were written.
    ///
    /// Parses only lines that contain the kind's name, so [`unreadable`](Self::unreadable) has none of the others. Costs one
    /// search through the journal. Returns the place behind the last line that it read, for [`search_on`](Self::search_on).
    pub fn of_event(
        &self,
        event: Event,
        mut take: impl FnMut(AuditRecord),
    ) -> Result<SearchPlace, AuditReadError> {
        let mut place = SearchPlace::default();
        let name = format!("\"{event}\"");
        let name = memmem::Finder::new(name.as_bytes());
        for day_file in day_files(&self.disk, &self.paths.audit)? {
            let (flow, end) = self.read_lines(
                &day_file,
                &|line| name.find(line).is_some(),
                &mut |record| {
                    if record.event == event.as_str() {
                        take(record);
                    }
                    ControlFlow::Continue(())
                },
            )?;
            debug_assert!(flow.is_continue(), "a whole day is read");
            if end > 0 {
                place = self.behind(day_file.day, end)?;
            }
        }
        Ok(place)
    }

    /// Passes the records written since `place` to `take`, and moves `place` behind them. Returns
    /// `false` and passes nothing if the part already read has changed: `place` is then at the
    /// beginning.
    ///
    /// Costs a look at each day file, and the reading of new records. After an error, `take` may
    /// have received some records although `place` has not moved.
    pub fn go_on(
        &self,
        place: &mut AuditPlace,
        mut take: impl FnMut(AuditRecord),
    ) -> Result<bool, AuditReadError> {
        let days = day_files(&self.disk, &self.paths.audit)?;
        let is_there = |path: &PathBuf| days.iter().any(|day| day.path == *path);
        let mut is_kept = place.read.keys().all(is_there);
        let mut files = Vec::new();
        for DayFile { path, .. } in days {
            let file = self.disk.open(&path, OpenHow::READ)?;
            let size = file.size()?;
            let from = place.read.get(&path).copied().unwrap_or(0);
            is_kept &= from <= size;
            files.push((path, file, from, size));
        }
        if !is_kept {
            place.read.clear();
            return Ok(false);
        }
        for (path, file, from, size) in files {
            let mut lines = Lines::new(&file, from, size);
            let mut end = from;
            while let Some(line) = lines.next()? {
                if !line.is_whole {
                    // It is being written.
                    break;
                }
                end = line.end();
                if let Ok(record) = serde_json::from_slice(line.bytes) {
                    take(record);
                }
            }
            place.read.insert(path, end);
        }
        Ok(true)
    }

    fn read_day(
        &self,
        day_file: &DayFile,
        take: &mut dyn FnMut(AuditRecord) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, AuditReadError> {
        Ok(self.read_lines(day_file, &|_| true, take)?.0)
    }

    /// Reads the records of a day whose line is wanted, and returns the offset behind the last whole line that was read.
    fn read_lines(
        &self,
        day_file: &DayFile,
        is_wanted: &dyn Fn(&[u8]) -> bool,
        take: &mut dyn FnMut(AuditRecord) -> ControlFlow<()>,
    ) -> Result<(ControlFlow<()>, u64), AuditReadError> {
        let file = self.disk.open(&day_file.path, OpenHow::READ)?;
        let mut lines = Lines::new(&file, 0, file.size()?);
        let (mut number, mut end) = (0, 0);
        while let Some(line) = lines.next()? {
            number += 1;
            if !line.is_whole {
                // It is being written.
                break;
            }
            end = line.end();
            if !is_wanted(line.bytes) {
                continue;
            }
            let record = match serde_json::from_slice(line.bytes) {
                Ok(record) => record,
                Err(error) => {
                    self.pass_over(UnreadableLine {
                        path: day_file.path.clone(),
                        line: number,
                        reason: error.to_string(),
                    });
                    continue;
                }
            };
            if take(record).is_break() {
                return Ok((ControlFlow::Break(()), end));
            }
        }
        Ok((ControlFlow::Continue(()), end))
    }
}

impl AuditQuery {
    fn fits(&self, record: &AuditRecord) -> bool {
        self.task_id
            .as_ref()
            .is_none_or(|asked| record.task_id.as_ref() == Some(asked))
            && self
                .executor
                .as_ref()
                .is_none_or(|asked| record.executor.as_ref() == Some(asked))
            && self
                .event
                .is_none_or(|asked| record.event == asked.as_str())
            && self.since.is_none_or(|since| record.timestamp >= since)
            && self.until.is_none_or(|until| record.timestamp <= until)
    }
}
