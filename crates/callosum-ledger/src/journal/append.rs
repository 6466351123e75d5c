//! Appending records to the journal: one write for a whole group of them, and one sync.

use callosum_host::{
    Disk, DiskError, DiskFile, OpenHow,
    disk::{NewFile, Operation},
};
use jiff::{Timestamp, civil::Date, tz::TimeZone};

use super::{day::path_of_day, record::Draft};
use crate::{
    derived_files::copy,
    event::{AuditEvent, Event},
    open_files::OpenFiles,
    paths::LedgerPaths,
    position::Position,
    task_id::TaskId,
};

/// Records that are written together.
pub(crate) struct Batch {
    position: Position,
    bytes: Vec<u8>,
    /// Offset of the bytes in the day's file.
    from: u64,
    day: Date,
    /// Last record of the day before, if this batch begins a new one.
    ended: Option<EndedDay>,
}

struct EndedDay {
    day: Date,
    from: u64,
    bytes: Vec<u8>,
}

/// The day of a time, in UTC.
pub(crate) fn day_of(timestamp: Timestamp) -> Date {
    timestamp.to_zoned(TimeZone::UTC).date()
}

/// Whether the journal cannot be written at all, rather than not this time.
pub(crate) fn is_unwritable(error: &DiskError) -> bool {
    let may_not = error.is_denied() || error.is_read_only();
    may_not || (error.operation == Operation::Open && !error.is_full())
}

impl Batch {
    /// Begins a batch that is written at `now`.
    ///
    /// A clock that went back does not lead back to an earlier day's file: the order of the files
    /// is the order of the records.
    pub(crate) fn begin(position: Position, now: Timestamp) -> Self {
        let today = day_of(now);
        let mut batch = Self {
            from: position.offset,
            day: position.day.unwrap_or(today),
            bytes: Vec::new(),
            ended: None,
            position,
        };
        if today > batch.day {
            // This record changes the size of the file that other processes look at, so that they
            // learn of the new one.
            let last = AuditEvent::new(Event::DayEnd).with("next", today.to_string());
            batch.push(&last, now, None);
            batch.ended = Some(EndedDay {
                day: batch.day,
                from: batch.from,
                bytes: std::mem::take(&mut batch.bytes),
            });
            batch.from = 0;
            batch.day = today;
            batch.position.offset = 0;
            // The day before is synced before anything is written to this one.
            batch.position.synced = batch.position.seq;
            batch.position.before_day = batch.position.seq;
        }
        batch.position.day = Some(batch.day);
        batch
    }

    /// Adds a record.
    pub(crate) fn push(&mut self, event: &AuditEvent, timestamp: Timestamp, entry: Option<&str>) {
        let position = &mut self.position;
        if let Some(id) = &event.task_id {
            position.note_id(id);
        }
        position.seq += 1;
        let before = self.bytes.len();
        let draft = Draft {
            timestamp,
            seq: position.seq,
            synced: position.synced,
            prev: position.head,
            event,
            entry,
        };
        position.head = draft.write(&mut self.bytes);
        position.offset += (self.bytes.len() - before) as u64;
    }

    /// Gives out the next dated id of a day.
    pub(crate) fn next_id(&mut self, today: Date) -> Option<TaskId> {
        self.position.next_id(today)
    }

    /// The day of the id that would be given out next.
    pub(crate) fn day_of_ids(&self, today: Date) -> Date {
        let last = self.position.last_id.map(|(day, _)| day);
        last.map_or(today, |last| last.max(today))
    }

    /// Keeps in mind that an id is taken.
    pub(crate) fn note_id(&mut self, id: &TaskId) {
        self.position.note_id(id);
    }

    /// Returns the number of bytes that it adds to the journal.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len() + self.ended.as_ref().map_or(0, |ended| ended.bytes.len())
    }

    /// Writes the records, and syncs them if requested.
    ///
    /// After an error nothing of the batch counts: its bytes are cut off again, as far as the disk
    /// still obeys, and else left to the next opening as a torn end.
    pub(crate) fn write(
        mut self,
        disk: &Disk,
        paths: &LedgerPaths,
        files: &mut OpenFiles,
        sync: bool,
    ) -> Result<Position, DiskError> {
        self.end_day(disk, paths, files)?;
        if self.bytes.is_empty() && !sync {
            return Ok(self.position);
        }
        let path = path_of_day(&paths.audit, self.day);
        let file = files.writable(disk, &path, OpenHow::READ_WRITE_CREATE)?;
        write_or_cut(file, &self.bytes, self.from)?;
        if sync {
            let needs_name = !self.position.has_durable_name();
            self.position.synced = self.position.seq;
            sync_or_cut(file, self.from)?;
            if needs_name {
                disk.sync_dir(&paths.audit)
                    .inspect_err(|_| drop(file.set_len(self.from)))?;
            }
        }
        Ok(self.position)
    }

    /// Writes the last record of the day before, if this batch begins a new one.
    fn end_day(
        &self,
        disk: &Disk,
        paths: &LedgerPaths,
        files: &mut OpenFiles,
    ) -> Result<(), DiskError> {
        if let Some(ended) = &self.ended {
            let path = path_of_day(&paths.audit, ended.day);
            let file = files.writable(disk, &path, OpenHow::READ_WRITE)?;
            write_or_cut(file, &ended.bytes, ended.from)?;
            sync_or_cut(file, ended.from)?;
        }
        Ok(())
    }

    /// Returns a copy of the day's file from before the batch, without its name. Everything drained
    /// into it is in the journal as a whole once it gets the name, or not at all.
    pub(crate) fn day_file(&self, disk: &Disk, paths: &LedgerPaths) -> Result<NewFile, DiskError> {
        let path = path_of_day(&paths.audit, self.day);
        // A link in the file's place is refused by name, as everywhere, and not replaced.
        let found = disk.open_if_there(&path, OpenHow::READ_WRITE)?;
        let mode = match &found {
            Some(found) => found.mode()?,
            None => None,
        };
        let mut file = disk.new_file(&path, mode.unwrap_or(0o644))?;
        if let Some(found) = &found {
            copy(found, self.from, &mut file)?;
        }
        Ok(file)
    }

    /// The file of the first day of a journal whose folder is not there yet, without its name.
    pub(crate) fn first_day_file(
        &self,
        disk: &Disk,
        paths: &LedgerPaths,
    ) -> Result<NewFile, DiskError> {
        // Outside the folder, which may be moved away with all that is in it.
        let folder = paths.audit.parent().unwrap_or(&paths.root);
        disk.new_file(&path_of_day(folder, self.day), 0o644)
    }

    /// Moves the records pushed so far into the day's file.
    pub(crate) fn drain(&mut self, file: &mut NewFile) -> Result<(), DiskError> {
        file.push(&self.bytes)?;
        self.bytes.clear();
        Ok(())
    }

    /// Gives the day's file its name; the journal must be as it was when the batch was begun.
    pub(crate) fn put(
        mut self,
        disk: &Disk,
        paths: &LedgerPaths,
        mut file: NewFile,
    ) -> Result<Position, DiskError> {
        self.drain(&mut file)?;
        file.sync()?;
        self.end_day(disk, paths, &mut OpenFiles::default())?;
        file.replace_as(&path_of_day(&paths.audit, self.day))?;
        self.position.synced = self.position.seq;
        Ok(self.position)
    }
}

fn write_or_cut(file: &DiskFile, bytes: &[u8], from: u64) -> Result<(), DiskError> {
    // The first error is the one to report.
    file.write_at(bytes, from)
        .inspect_err(|_| drop(file.set_len(from)))
}

/// Syncs a file, or cuts it at `from` and writes the rest again. The rest holds records that others
/// count on, though none was acknowledged as durable yet, and a failed sync may have lost them.
fn sync_or_cut(file: &DiskFile, from: u64) -> Result<(), DiskError> {
    file.sync_data().inspect_err(|_| {
        drop(file.set_len(from));
        drop(file.write_again());
    })
}
