//! [`Writer`]: writes a group of requests, on one thread, under the locks.

use std::{collections::HashMap, sync::Arc};

use callosum_host::{Clock, Disk, DiskError, Ids, LockError, OpenHow, disk::Operation};
use jiff::Timestamp;

use super::{
    known_tasks::KnownTasks,
    request::{Done, Request, Written},
    watermark_policy::Mark,
};
use crate::{
    audit_buffer,
    clock_skew::skew_event,
    derived_files::Expected,
    entry::Entry,
    event::{AuditEvent, Event},
    journal::{Batch, StoredEntry, is_unwritable},
    locks::{ExclusiveLedger, ExclusiveTask, KeptLocks},
    open_error::OpenError,
    open_files::OpenFiles,
    paths::LedgerPaths,
    position::{Position, View},
    reader::highest_of_day,
    reconcile::{Aligned, News, align},
    repair::{Repair, repair_event},
    rotation::{self, RotateError},
    task_id::TaskId,
    write_error::WriteError,
};

/// A process's memory between two groups.
#[derive(Default)]
pub(crate) struct Writer {
    /// Ends of the files; `None` if they must be determined again.
    position: Option<Position>,
    locks: KeptLocks,
    files: OpenFiles,
    known: KnownTasks,
    mark: Mark,
    /// Whether events may wait in the audit buffer.
    has_buffer: bool,
    /// Length of the audit buffer when its events were moved to the journal.
    taken_over: u64,
    /// Whether the events of the last group went to the buffer.
    was_buffered: bool,
    /// The failed sync after which nothing more is written.
    halted: Option<Arc<DiskError>>,
}

impl Writer {
    /// Brings the files in line, records the repairs in the journal, and returns them. Refuses a
    /// journal that has fewer records than were signed.
    pub(crate) fn bring_in_line(
        &mut self,
        disk: &Disk,
        paths: &LedgerPaths,
        clock: &Clock,
        held: &ExclusiveLedger<'_>,
        signed: u64,
    ) -> Result<Vec<Repair>, OpenError> {
        let now = clock.now();
        let aligned = align(disk, paths, held, None, &mut self.files, (now, signed))?;
        self.settle(disk, paths, clock, aligned, repair_event)
    }

    /// Continues from a position that a holder of the locks has established.
    pub(crate) fn stand_at(&mut self, disk: &Disk, paths: &LedgerPaths, mut position: Position) {
        self.mark.set(disk, paths, &mut self.files, &mut position);
        self.position = Some(position);
    }

    /// Returns the positions in journal and views, once the views match the journal.
    pub(crate) fn positions(&self) -> Option<(&Position, &View)> {
        let position = self.position.as_ref()?;
        Some((position, position.view.as_ref()?))
    }

    /// Records in the journal the repairs of a caller that holds the locks, and continues from
    /// there.
    pub(crate) fn settle(
        &mut self,
        disk: &Disk,
        paths: &LedgerPaths,
        clock: &Clock,
        aligned: Aligned,
        event_of: fn(&LedgerPaths, &Repair) -> AuditEvent,
    ) -> Result<Vec<Repair>, OpenError> {
        let Aligned {
            mut position,
            repairs,
            news,
        } = aligned;
        let now = clock.now();
        let mut batch = Batch::begin(position.clone(), now);
        for repair in &repairs {
            batch.push(&event_of(paths, repair), now, None);
        }
        self.has_buffer = paths.audit_buffer.is_some();
        let skew = skew_event(disk, paths, &position, now)?;
        if let Some(event) = &skew {
            batch.push(event, now, None);
        }
        let is_taking_over = self.push_buffered(disk, paths, &mut batch)?;
        if is_taking_over || !repairs.is_empty() || skew.is_some() {
            match batch.write(disk, paths, &mut self.files, true) {
                Ok(written) => {
                    position = written;
                    self.remove_buffer(disk, paths);
                }
                Err(error) if repairs.is_empty() && is_unwritable(&error) => {
                    // The events stay in the buffer. The next writer gets the error.
                    self.forget_position();
                    return Ok(repairs);
                }
                Err(error) => return Err(OpenError::Unrecorded(error)),
            }
        }
        if matches!(news, News::All) || !repairs.is_empty() {
            self.mark.set(disk, paths, &mut self.files, &mut position);
        }
        self.position = Some(position);
        Ok(repairs)
    }

    /// Puts the events of the audit buffer before everything else. Returns whether there is a
    /// buffer, which is removed once the journal is synced: events already in the journal may not
    /// be on disk yet.
    fn push_buffered(
        &mut self,
        disk: &Disk,
        paths: &LedgerPaths,
        batch: &mut Batch,
    ) -> Result<bool, DiskError> {
        let Some(path) = paths.audit_buffer.as_ref().filter(|_| self.has_buffer) else {
            return Ok(false);
        };
        let waiting = audit_buffer::waiting(disk, paths, path)?;
        self.taken_over = waiting.len;
        for buffered in &waiting.events {
            batch.push(&buffered.event, buffered.at, None);
        }
        self.has_buffer = disk.exists(path)?;
        Ok(self.has_buffer)
    }

    /// Removes the audit buffer once its events are in the journal. If that fails, the next time
    /// skips those that are there already.
    fn remove_buffer(&mut self, disk: &Disk, paths: &LedgerPaths) {
        if let Some(path) = paths.audit_buffer.as_ref().filter(|_| self.has_buffer) {
            let is_gone = audit_buffer::remove(disk, paths, path, self.taken_over);
            self.has_buffer = !is_gone.unwrap_or(false);
        }
    }

    /// Whether the events of the group that failed wait in the audit buffer.
    pub(crate) fn take_buffered(&mut self) -> bool {
        std::mem::take(&mut self.was_buffered)
    }

    /// Has the next group find out where the files stand.
    pub(crate) fn forget_position(&mut self) {
        self.position = None;
        self.files.close();
    }

    /// Writes a group, and archives the ledger before if it has `rotate_at` bytes or more. An error
    /// is every request's; what one request alone did wrong is its own outcome.
    pub(crate) fn write(
        &mut self,
        disk: &Disk,
        paths: &LedgerPaths,
        ids: &Ids,
        rotate_at: u64,
        requests: &[Request],
    ) -> Result<Written, WriteError> {
        if let Some(reason) = &self.halted {
            return Err(WriteError::Halted(Arc::clone(reason)));
        }
        let Some(now) = requests.iter().map(Request::at).max() else {
            return Ok(Written::default());
        };
        let mut looked_up = Ok(());
        if let Some(position) = &self.position {
            // No thread waits for the archives to be read; entries stored during the read are
            // handled below.
            let archives = position.archives.clone();
            looked_up = self.known.look_up(disk, paths, &archives, requests);
        }
        let acquire = || ExclusiveLedger::acquire_kept(disk, paths, &self.locks);
        let held = match acquire() {
            // The folder was cleared away, as by `git clean`: git does not know it.
            Err(LockError::Disk(error))
                if error.is_absent() && disk.exists(&paths.root).unwrap_or(false) =>
            {
                let created = disk.create_dir_all(&paths.locks);
                created.map_err(|error| lock_failed(error.into()))?;
                acquire()
            }
            held => held,
        };
        let held = held.map_err(lock_failed)?;
        let task_locks = self.lock_tasks(&held, requests);
        let _audit = held.lock_audit().map_err(lock_failed)?;
        let known = self.position.take();
        let was_known = known.is_some();
        let aligned =
            align(disk, paths, &held, known, &mut self.files, (now, 0)).map_err(open_failed)?;
        if self.known.take_news(&aligned.news) || !was_known {
            looked_up = self
                .known
                .look_up(disk, paths, &aligned.position.archives, requests);
        }
        let mut position = aligned.position;
        let mut view = position.view.clone().ok_or_else(|| {
            open_failed(OpenError::NotCreated {
                root: paths.root.clone(),
            })
        })?;
        let is_asked_to_rotate = requests
            .iter()
            .any(|request| matches!(request, Request::Rotate { .. }));
        let (mut rotated, mut not_rotated) = (None, None);
        if view.entries > 0 && (is_asked_to_rotate || view.ledger_len() >= rotate_at) {
            let from = position.clone();
            match rotation::rotate(disk, paths, &mut self.files, from, &view, now) {
                Ok((after, archived)) => {
                    position = after;
                    self.mark.set(disk, paths, &mut self.files, &mut position);
                    view = position.view.clone().unwrap_or(view);
                    rotated = Some(archived);
                }
                Err(RotateError::Refused(error)) if !is_sync(&error) => {
                    not_rotated = Some(rotation_failed(error));
                }
                Err(RotateError::Journal(error)) => return Err(self.fail(requests, error)),
                Err(RotateError::Refused(error) | RotateError::Unfinished(error)) => {
                    self.undo(requests);
                    return Err(rotation_failed(error));
                }
            }
        }

        let archives = position.archives.clone();
        let mut batch = Batch::begin(position, now);
        push_repairs(&mut batch, paths, &aligned.repairs, now);
        let mut outcomes = Vec::with_capacity(requests.len());
        let mut stored = Vec::new();
        let is_taking_over = self
            .push_buffered(disk, paths, &mut batch)
            .map_err(|error| open_failed(error.into()))?;
        let mut sync = is_taking_over || !aligned.repairs.is_empty();
        for request in requests {
            match request {
                Request::Record { event, at } => batch.push(event, *at, None),
                Request::Reserve { ticket, spawn, at } => {
                    let id = self.known.reserve(&mut batch, ids, spawn, *at, |day| {
                        highest_of_day(disk, paths, &archives, day)
                    });
                    outcomes.push((*ticket, Ok(Done::Reserved(id))));
                }
                Request::Flush { ticket, .. } => {
                    sync = true;
                    outcomes.push((*ticket, Ok(Done::Flushed)));
                }
                Request::Rotate { ticket, .. } => {
                    sync = true;
                    outcomes.push((
                        *ticket,
                        match &not_rotated {
                            Some(error) => Err(error.clone()),
                            None => Ok(Done::Rotated(rotated.clone())),
                        },
                    ));
                }
                Request::Commit { ticket, entry, at } => {
                    let locked = task_locks.get(&entry.task_id);
                    let checked = self.known.check(entry, looked_up.as_ref().err()).and_then(
                        |()| match locked {
                            Some(Err(error)) => Err(error.clone()),
                            Some(Ok(_)) | None => Ok(()),
                        },
                    );
                    if let Err(error) = checked {
                        outcomes.push((*ticket, Err(error)));
                        continue;
                    }
                    sync = true;
                    let event = stored_event(Event::Commit, "committed", entry);
                    batch.push(&event, *at, Some(entry.as_json()));
                    self.known.note_stored(&entry.task_id);
                    stored.push(StoredEntry::from_entry(entry));
                    outcomes.push((*ticket, Ok(Done::Stored(entry.clone()))));
                }
            }
        }

        self.mark.grown(batch.len() as u64);
        let written = batch.write(disk, paths, &mut self.files, sync);
        let mut position = match written {
            Ok(position) => position,
            Err(error) => {
                if is_unwritable(&error) {
                    self.buffer(disk, paths, ids, requests);
                }
                return Err(self.fail(requests, error));
            }
        };
        if sync {
            self.remove_buffer(disk, paths);
        }
        for (_, outcome) in &outcomes {
            if let Ok(Done::Stored(entry)) = outcome {
                self.known.note_written(&entry.task_id);
            }
        }
        // From here on the group is on disk and will be acknowledged. A view that cannot be
        // extended is brought in line by the next group, or by the next opening.
        let extended = extend_views(disk, paths, &mut self.files, &view, &stored);
        if let Ok(view) = extended {
            position.view = Some(view);
            if sync && self.mark.is_due() {
                self.mark.set(disk, paths, &mut self.files, &mut position);
            }
            self.position = Some(position);
        } else {
            self.files.close();
        }
        Ok(Written {
            outcomes,
            repairs: aligned.repairs,
            rotated,
            not_rotated,
        })
    }

    /// Locks the tasks whose ids came from elsewhere, because their entries may be on their way
    /// there too.
    fn lock_tasks<'l>(
        &self,
        held: &'l ExclusiveLedger<'_>,
        requests: &[Request],
    ) -> HashMap<TaskId, Result<ExclusiveTask<'l>, WriteError>> {
        let mut locks = HashMap::new();
        for entry in requests.iter().filter_map(Request::entry) {
            if !self.known.is_reserved(&entry.task_id) && !locks.contains_key(&entry.task_id) {
                let lock = held.lock_task(&entry.task_id).map_err(lock_failed);
                locks.insert(entry.task_id.clone(), lock);
            }
        }
        locks
    }

    /// Stores a group's events, which no thread waits for, so that they outlast this process. Also
    /// stores that a task was refused.
    fn buffer(&mut self, disk: &Disk, paths: &LedgerPaths, ids: &Ids, requests: &[Request]) {
        let Some(path) = &paths.audit_buffer else {
            return;
        };
        // A task that was refused has no id, and nothing else records it.
        let refused: Vec<_> = requests.iter().filter_map(Request::refused).collect();
        let events = requests.iter().filter_map(Request::event);
        let refused = refused.iter().map(|(event, at)| (event, *at));
        // If that fails too, they stay in memory.
        self.was_buffered = audit_buffer::append(disk, path, ids, events.chain(refused)).is_ok();
        self.has_buffer |= self.was_buffered;
    }

    /// Undoes what a group left in mind that was not written.
    fn undo(&mut self, requests: &[Request]) {
        for entry in requests.iter().filter_map(Request::entry) {
            self.known.forget(&entry.task_id);
        }
        self.files.close();
    }

    /// Undoes a group that the journal did not take, and writes nothing more after a failed sync.
    fn fail(&mut self, requests: &[Request], error: DiskError) -> WriteError {
        self.undo(requests);
        let is_sync = error.operation == Operation::Sync;
        let error = Arc::new(error);
        if is_sync {
            self.halted = Some(Arc::clone(&error));
        }
        WriteError::Journal(error)
    }
}

/// Extends ledger file and hashlog at their ends. Neither is synced.
fn extend_views(
    disk: &Disk,
    paths: &LedgerPaths,
    files: &mut OpenFiles,
    view: &View,
    stored: &[StoredEntry],
) -> Result<View, DiskError> {
    if stored.is_empty() {
        return Ok(view.clone());
    }
    let mut expected = Expected::after(view, stored);
    expected
        .ledger
        .extend_from_slice(view.begun.tail.as_bytes());
    for (path, bytes, end) in [
        (&paths.ledger, &expected.ledger, view.ledger_end),
        (&paths.hashlog, &expected.hashlog, view.hashlog_end),
    ] {
        let file = files.writable(disk, path, OpenHow::READ_WRITE)?;
        file.write_at(bytes, end)?;
    }
    Ok(expected.view)
}

/// Returns the event for a stored entry, regardless of its origin.
fn stored_event(event: Event, status: &str, entry: &Entry) -> AuditEvent {
    AuditEvent {
        event,
        task_id: Some(entry.task_id.clone()),
        executor: Some(entry.executor.clone()),
        hash: Some(entry.checksum),
        status: Some(status.to_owned()),
        details: serde_json::Map::new(),
    }
}

fn push_repairs(batch: &mut Batch, paths: &LedgerPaths, repairs: &[Repair], now: Timestamp) {
    for repair in repairs {
        batch.push(&repair_event(paths, repair), now, None);
    }
}

fn rotation_failed(error: OpenError) -> WriteError {
    match error {
        OpenError::Disk(error) => WriteError::Disk(Arc::new(error)),
        error => open_failed(error),
    }
}

/// Whether this is a failed sync, after which the state of the disk is unknown.
fn is_sync(error: &OpenError) -> bool {
    let error = error.disk_error();
    error.is_some_and(|error| error.operation == Operation::Sync)
}

fn lock_failed(error: LockError) -> WriteError {
    WriteError::Lock(Arc::new(error))
}

fn open_failed(error: OpenError) -> WriteError {
    WriteError::Open(Arc::new(error))
}
