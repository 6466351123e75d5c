//! [`Ledger`]: the only way to write, shared by the threads of a process.
//!
//! A writer puts a request into a queue. The first thread to find no other at work takes the whole
//! queue as one group. It locks, aligns files with the writes of other processes, appends the
//! group's records to the journal in one write, syncs once, extends the views, and reports to each
//! waiting thread the result of its request. A thread that arrives in between waits for the next
//! group, so no thread waits for more than two syncs.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
};

use callosum_host::{Clock, Disk, Ids};

use crate::{
    audit_buffer,
    backup::{self, Backup, BackupError},
    cleanup, compression,
    create_error::CreateError,
    entry::{Entry, NewEntry},
    event::{AuditEvent, Spawn},
    group_commit::{Done, Request, Writer, Written},
    init::{self, Creation},
    locks::{self, ExclusiveLedger},
    open_error::OpenError,
    paths::LedgerPaths,
    reader::ReadError,
    recovery::{self, RecoverError, RecoverFrom, RecoverOptions, Recovered},
    repair::{Repair, repair_event},
    rotation::Rotated,
    task_id::TaskId,
    write_error::WriteError,
};

/// A project's ledger, open for writing.
pub struct Ledger {
    disk: Disk,
    paths: LedgerPaths,
    clock: Clock,
    ids: Ids,
    options: LedgerOptions,
    queue: Mutex<Queue>,
    turned: Condvar,
}

/// Options of a ledger that is open for writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LedgerOptions {
    /// The size in bytes from which on the ledger file is archived before more is written to it.
    pub rotate_at: u64,
    /// Number of records of the journal that were signed, as
    /// [`TrustStore::signed_records`](crate::checkpoint::TrustStore::signed_records) returns it. A
    /// journal that has fewer is not opened: it was cut, or reset to an earlier state.
    pub signed: u64,
}

impl Default for LedgerOptions {
    /// Seed CAL §9.3: 250 MB.
    fn default() -> Self {
        Self {
            rotate_at: 250 * 1_000_000,
            signed: 0,
        }
    }
}

struct Queue {
    requests: Vec<Request>,
    outcomes: HashMap<u64, Result<Done, WriteError>>,
    last_ticket: u64,
    /// Taken by whichever thread is at work.
    writer: Option<Box<Writer>>,
    repairs: Vec<Repair>,
    rotations: Vec<Rotated>,
    not_rotated: Option<WriteError>,
}

impl Ledger {
    /// Opens a project's ledger, aligning ledger file and hashlog with the journal.
    ///
    /// Holds the ledger's lock for a moment; waits up to 1.5 s for it. Costs the reading of
    /// everything written since the watermark, about 1 MB at most, or of the whole journal without
    /// a valid watermark. [`repairs`](Self::repairs) and the journal list the repairs.
    ///
    /// Fails, and leaves every file as it is, if a file is newer than this program or disagrees
    /// with the journal.
    pub fn open(disk: Disk, paths: LedgerPaths, clock: Clock, ids: Ids) -> Result<Self, OpenError> {
        Self::open_with(disk, paths, clock, ids, LedgerOptions::default())
    }

    /// Opens a ledger with options other than the seed's.
    pub fn open_with(
        disk: Disk,
        paths: LedgerPaths,
        clock: Clock,
        ids: Ids,
        options: LedgerOptions,
    ) -> Result<Self, OpenError> {
        let mut writer = Writer::default();
        let repairs = {
            let held = ExclusiveLedger::acquire(&disk, &paths)?;
            let _audit = held.lock_audit()?;
            writer.bring_in_line(&disk, &paths, &clock, &held, options.signed)?
        };
        // Leftover files take up space, and no program reads them.
        drop(cleanup::sweep(&disk, &paths));
        let archives = writer
            .positions()
            .map(|(position, _)| position.archives.clone());
        let parted = compression::tidy(&disk, &paths, &archives.unwrap_or_default());
        let ledger = Self {
            disk,
            paths,
            clock,
            ids,
            options,
            queue: Mutex::new(Queue {
                requests: Vec::new(),
                outcomes: HashMap::new(),
                last_ticket: 0,
                writer: Some(Box::new(writer)),
                repairs,
                rotations: Vec::new(),
                not_rotated: None,
            }),
            turned: Condvar::new(),
        };
        // An archive's second file does no harm; the next opening looks at it again.
        ledger.record_parted(parted.unwrap_or_default());
        Ok(ledger)
    }

    /// Records in the journal which duplicates of archives were moved away. If the journal cannot
    /// be written, the events wait for the next group.
    fn record_parted(&self, parted: Vec<Repair>) {
        if parted.is_empty() {
            return;
        }
        for repair in &parted {
            drop(self.record(repair_event(&self.paths, repair)));
        }
        self.queue().repairs.extend(parted);
        drop(self.flush());
    }

    /// Lists the repairs that aligned files with the journal, on opening and since.
    pub fn repairs(&self) -> Vec<Repair> {
        self.queue().repairs.clone()
    }

    /// Lists the archives that this handle made, because of the ledger's size or on request.
    pub fn rotations(&self) -> Vec<Rotated> {
        self.queue().rotations.clone()
    }

    /// Returns the error that kept this handle's last write from archiving a ledger that has
    /// reached its size limit.
    ///
    /// The write itself still went to the ledger.
    pub fn not_rotated(&self) -> Option<WriteError> {
        self.queue().not_rotated.clone()
    }

    /// Returns the paths of the ledger's files.
    pub fn paths(&self) -> &LedgerPaths {
        &self.paths
    }

    /// Reserves the day's next task id by writing the spawn's record.
    ///
    /// No other process is given the same id. The record is in the journal when this returns, and
    /// on disk with the next commit or [`flush`](Self::flush). Past the day's 9,999th, ids are
    /// UUIDs.
    pub fn reserve(&self, spawn: Spawn) -> Result<TaskId, WriteError> {
        let at = self.clock.now();
        match self.submit(|ticket| Request::Reserve { ticket, spawn, at })? {
            Done::Reserved(task_id) => Ok(task_id),
            Done::Flushed | Done::Stored(_) | Done::Rotated(_) => {
                unreachable!("a reservation gives an id")
            }
        }
    }

    /// Records an event in the journal.
    ///
    /// The record takes its place in the order of calls and joins the next group that any thread
    /// writes. It stays in memory until then, also after a failed write. If the journal cannot be
    /// written at all, it waits in the audit buffer on disk, if there is one. Use
    /// [`flush`](Self::flush) to make sure that it is in the journal.
    pub fn record(&self, event: AuditEvent) -> Result<(), WriteError> {
        let at = self.clock.now();
        self.queue().requests.push(Request::Record { event, at });
        Ok(())
    }

    /// Makes everything durable that was recorded or reserved before.
    pub fn flush(&self) -> Result<(), WriteError> {
        let at = self.clock.now();
        self.submit(|ticket| Request::Flush { ticket, at })
            .map(drop)
    }

    /// Stores an entry and returns it with its checksum.
    ///
    /// The entry is on disk, in the journal, when this returns, and so is every event recorded
    /// before. Waits up to 1.5 s for another process's lock. Its cost does not depend on the size
    /// of the ledger.
    ///
    /// Fails if a linked task has no entry, if the task has one already, and if the disk or the
    /// lock fails. Then the entry is not in the ledger, except that after a failed sync or a panic
    /// of the writing thread it may turn out to be in it once the ledger is opened again.
    pub fn commit(&self, entry: NewEntry) -> Result<Entry, WriteError> {
        let entry = entry
            .seal()
            .map_err(|error| WriteError::Entry(Arc::new(error)))?;
        let at = self.clock.now();
        let entry = Box::new(entry);
        match self.submit(|ticket| Request::Commit { ticket, entry, at })? {
            Done::Stored(entry) => Ok(*entry),
            Done::Flushed | Done::Reserved(_) | Done::Rotated(_) => {
                unreachable!("a commit gives an entry")
            }
        }
    }

    /// Archives the ledger of any size and begins a new one; `None` if it has no entries.
    ///
    /// The archive is on disk when this returns. Costs two syncs of the ledger's files in addition
    /// to those of a commit; nothing is copied.
    pub fn rotate(&self) -> Result<Option<Rotated>, WriteError> {
        let at = self.clock.now();
        match self.submit(|ticket| Request::Rotate { ticket, at })? {
            Done::Rotated(rotated) => Ok(rotated),
            Done::Flushed | Done::Reserved(_) | Done::Stored(_) => {
                unreachable!("a rotation gives what it archived")
            }
        }
    }

    /// Counts the requests that wait for the current group to end, recorded events included.
    pub fn waiting(&self) -> usize {
        self.queue().requests.len()
    }

    /// Whether another process is writing to the ledger at this moment.
    ///
    /// Checks without waiting. A lock that cannot be checked counts as free: the next writer gets
    /// the error.
    pub fn another_process_is_writing(&self) -> bool {
        let queue = self.queue();
        // While one of our own threads is at work, the lock is ours, or about to be.
        queue.writer.is_some() && locks::is_ledger_locked(&self.disk, &self.paths).unwrap_or(false)
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn submit(&self, request: impl FnOnce(u64) -> Request) -> Result<Done, WriteError> {
        let mut queue = self.queue();
        queue.last_ticket += 1;
        let ticket = queue.last_ticket;
        queue.requests.push(request(ticket));
        loop {
            if let Some(outcome) = queue.outcomes.remove(&ticket) {
                return outcome;
            }
            queue = match queue.writer.take() {
                Some(writer) => self.write_group(queue, writer),
                None => self
                    .turned
                    .wait(queue)
                    .unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Writes everything that is in the queue, while the queue stays open for others.
    fn write_group<'a>(
        &'a self,
        mut queue: MutexGuard<'a, Queue>,
        writer: Box<Writer>,
    ) -> MutexGuard<'a, Queue> {
        let mut group = Group {
            ledger: self,
            writer: Some(writer),
            requests: std::mem::take(&mut queue.requests),
        };
        drop(queue);
        let written = group
            .writer
            .as_mut()
            .expect("the writer is taken back by `end` only")
            .write(
                &self.disk,
                &self.paths,
                &self.ids,
                self.options.rotate_at,
                &group.requests,
            );
        group.end(written)
    }
}

/// Operations on the files of a project, for which no ledger is open.
impl Ledger {
    /// Creates the missing parts of a project's ledger, and returns what it did.
    ///
    /// Nothing existing is overwritten, and a second run does nothing. A ledger of another program,
    /// without a journal, is taken over if every checksum in it is right: each entry becomes a
    /// record of the journal and the original file is set aside.
    ///
    /// Fails, with everything left as it was but for empty folders, if an existing file is not a
    /// ledger, or is newer than this program.
    pub fn create(
        disk: &Disk,
        paths: &LedgerPaths,
        clock: &Clock,
    ) -> Result<Creation, CreateError> {
        init::create(disk, paths, clock)
    }

    /// Copies the active ledger and its hashlog into the folder of backups.
    ///
    /// Holds the ledger's lock only while it records their sizes; appends during the copy are not
    /// waited for. Costs the reading and writing of the ledger, and reading it back.
    pub fn back_up(disk: &Disk, paths: &LedgerPaths, clock: &Clock) -> Result<Backup, BackupError> {
        backup::back_up(disk, paths, clock)
    }

    /// Recovers a project's ledger, and returns what was done.
    ///
    /// Costs the reading of the whole journal, and writing the new entries into it. Everything is
    /// read and written before the ledger's lock is taken, which is held while the files get their
    /// names. If other processes write in between, it is done again, the third time with the lock
    /// held throughout. After a crash in the middle, running it again completes it.
    ///
    /// Fails, with everything left as it was, if the source does not verify, and if something would
    /// be lost that the options do not allow.
    pub fn recover(
        disk: &Disk,
        paths: &LedgerPaths,
        clock: &Clock,
        from: RecoverFrom<'_>,
        options: RecoverOptions,
    ) -> Result<Recovered, RecoverError> {
        recovery::recover(disk, paths, clock, from, options)
    }

    /// Compresses the archives that the journal lists and that are still plain, and returns their
    /// number.
    ///
    /// Holds no lock that another process waits for. Does nothing if another process is
    /// compressing. Reads each back and compares it before it removes the plain one: costs
    /// compressing and inflating each, seconds for one of 250 MB.
    pub fn compress_archives(disk: &Disk, paths: &LedgerPaths) -> Result<usize, ReadError> {
        compression::compress_archives(disk, paths)
    }
}

/// A group during its write. However the write ends, the writer is returned and no thread waits
/// forever.
struct Group<'a> {
    ledger: &'a Ledger,
    writer: Option<Box<Writer>>,
    requests: Vec<Request>,
}

impl<'a> Group<'a> {
    /// Distributes the results.
    fn end(&mut self, written: Result<Written, WriteError>) -> MutexGuard<'a, Queue> {
        let mut queue = self.ledger.queue();
        match written {
            Ok(written) => {
                queue.outcomes.extend(written.outcomes);
                queue.repairs.extend(written.repairs);
                queue.rotations.extend(written.rotated);
                queue.not_rotated = written.not_rotated;
            }
            Err(error) => {
                let is_buffered = self
                    .writer
                    .as_mut()
                    .is_some_and(|writer| writer.take_buffered());
                // Events without a waiting thread stay, ahead of newly queued requests.
                let mut kept = Vec::new();
                for request in self.requests.drain(..) {
                    match request.ticket() {
                        Some(ticket) => {
                            queue.outcomes.insert(ticket, Err(error.clone()));
                        }
                        None if is_buffered => {}
                        None => kept.push(request),
                    }
                }
                kept.append(&mut queue.requests);
                queue.requests = kept;
            }
        }
        queue.writer = self.writer.take();
        self.ledger.turned.notify_all();
        queue
    }
}

impl Drop for Group<'_> {
    fn drop(&mut self) {
        if let Some(writer) = &mut self.writer {
            // Only a panic leads here. The next group determines again how far this one came.
            writer.forget_position();
            drop(self.end(Err(WriteError::Interrupted)));
        }
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        if self.queue().requests.is_empty() || self.flush().is_ok() {
            return;
        }
        // No caller is left to report to; callers that need certainty call `flush`. Events missing
        // from the journal wait where the next opening looks for them.
        let queue = self.queue();
        if let Some(path) = &self.paths.audit_buffer {
            let events = queue.requests.iter().filter_map(Request::event);
            drop(audit_buffer::append(&self.disk, path, &self.ids, events));
        }
    }
}

impl fmt::Debug for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ledger")
            .field("root", &self.paths.root)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        panic::{AssertUnwindSafe, catch_unwind},
        path::Path,
        time::Duration,
    };

    use callosum_host::{
        OpenHow,
        disk::{FileHandle, FileStat, FileSystem, ListedEntry},
    };

    use super::*;
    use crate::event::Event;

    /// A disk that panics at its first call.
    struct Panicking;

    impl FileSystem for Panicking {
        fn open(&self, _: &Path, _: OpenHow) -> io::Result<Box<dyn FileHandle>> {
            panic!("injected")
        }
        fn create_dir(&self, _: &Path) -> io::Result<()> {
            panic!("injected")
        }
        fn rename(&self, _: &Path, _: &Path) -> io::Result<()> {
            panic!("injected")
        }
        fn hard_link(&self, _: &Path, _: &Path) -> io::Result<()> {
            panic!("injected")
        }
        fn remove_file(&self, _: &Path) -> io::Result<()> {
            panic!("injected")
        }
        fn remove_dir(&self, _: &Path) -> io::Result<()> {
            panic!("injected")
        }
        fn sync_dir(&self, _: &Path) -> io::Result<()> {
            panic!("injected")
        }
        fn stat(&self, _: &Path) -> io::Result<FileStat> {
            panic!("injected")
        }
        fn list_dir(&self, _: &Path) -> io::Result<Vec<ListedEntry>> {
            panic!("injected")
        }
        fn canonicalize(&self, _: &Path) -> io::Result<std::path::PathBuf> {
            panic!("injected")
        }
    }

    /// CAL-ERR-5: a panic of the thread at work is an error for those who wait, and no more.
    #[test]
    fn a_panic_while_writing_leaves_no_thread_waiting_and_the_ledger_usable() {
        let folder = tempfile::tempdir().unwrap();
        let paths = LedgerPaths::in_root(folder.path());
        let clock = Clock::fixed("2026-11-02T10:00:00Z".parse().unwrap(), Duration::ZERO);
        let disk = Disk::real();
        Ledger::create(&disk, &paths, &clock).unwrap();
        let mut ledger = Ledger::open(disk.clone(), paths, clock, Ids::sequence()).unwrap();
        ledger.disk = Disk::with(Arc::new(Panicking));
        ledger.record(AuditEvent::new(Event::Decision)).unwrap();
        let mut queue = ledger.queue();
        let at = ledger.clock.now();
        queue.requests.push(Request::Flush { ticket: 7, at });
        queue.requests.push(Request::Flush { ticket: 8, at });
        let writer = queue.writer.take().unwrap();
        let unwound = catch_unwind(AssertUnwindSafe(|| drop(ledger.write_group(queue, writer))));
        assert!(unwound.is_err());
        let mut queue = ledger.queue();
        for ticket in [7, 8] {
            let outcome = queue.outcomes.remove(&ticket);
            assert!(matches!(outcome, Some(Err(WriteError::Interrupted))));
        }
        assert!(queue.writer.is_some());
        drop(queue);

        ledger.disk = disk;
        ledger.flush().unwrap();
        assert!(ledger.queue().requests.is_empty());
    }
}
