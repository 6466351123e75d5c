//! [`notice`]: records one event for a process that cannot wait.
//!
//! A [`Ledger`](crate::Ledger) brings every file in line before it writes, waits for locks, and
//! syncs. A hook that decides on each call of an agent's tools has a few milliseconds and one
//! event. So this reads only the journal's last line, appends after it, and syncs nothing. If it
//! would have to wait, or the journal does not end in a whole record, the event goes to the audit
//! buffer, from which the next opening takes it.
//!
//! Deliberately not here: entries, and repairs. A record that a crash undoes was never
//! acknowledged.

use std::{path::PathBuf, time::Duration};

use callosum_host::{Disk, DiskError, Ids, OpenHow};
use jiff::Timestamp;

use crate::{
    audit_buffer::{self, Durability},
    event::{AuditEvent, Event},
    journal::{Batch, Record, day_files},
    lines::last_line,
    locks::{ExclusiveLedger, KeptLocks},
    open_files::OpenFiles,
    paths::LedgerPaths,
    position::Position,
};

/// A journal that can record an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Journal {
    /// A project's.
    Project(Box<LedgerPaths>),
    /// The machine's own, in this folder, of what happened outside of projects. It is begun with
    /// its first event, and has no ledger.
    Machine(PathBuf),
}

/// File that received an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noticed {
    /// It is a record of the journal.
    Journal,
    /// It waits in the audit buffer.
    Buffer,
}

impl Journal {
    /// Returns the paths of its files.
    pub fn paths(&self) -> LedgerPaths {
        match self {
            Self::Project(paths) => (**paths).clone(),
            Self::Machine(folder) => LedgerPaths {
                audit: folder.join("audit"),
                locks: folder.join("lock"),
                audit_buffer: Some(folder.join("buffer.jsonl")),
                ..LedgerPaths::in_root(folder)
            },
        }
    }
}

/// Tells a journal of an event.
///
/// Costs a few calls of the system, and no sync but at the turn of a day; waits at most `patience`
/// for each of the three locks. The record is not on disk when this returns.
///
/// Fails where neither journal nor buffer can be written.
pub fn notice(
    disk: &Disk,
    journal: &Journal,
    ids: &Ids,
    (event, at): (&AuditEvent, Timestamp),
    patience: Duration,
) -> Result<Noticed, DiskError> {
    let paths = journal.paths();
    let may_begin = matches!(journal, Journal::Machine(_));
    if may_begin {
        disk.create_private_dir(&paths.root)?;
        disk.create_private_dir(&paths.audit)?;
        disk.create_private_dir(&paths.locks)?;
    }
    let appended = append(disk, &paths, (event, at), patience, may_begin);
    let refused = match appended {
        Ok(true) => return Ok(Noticed::Journal),
        Ok(false) => None,
        Err(error) => Some(error),
    };
    let buffered = match &paths.audit_buffer {
        Some(path) => audit_buffer::append_within(
            disk,
            path,
            ids,
            std::iter::once((event, at)),
            Durability::Later,
            patience,
        ),
        None => return refused.map_or(Ok(Noticed::Buffer), Err),
    };
    // What kept the journal from being written is the better reason.
    buffered
        .map(|()| Noticed::Buffer)
        .map_err(|error| refused.unwrap_or(error))
}

/// The events that wait for a journal to take them, with their times, in their order.
///
/// Takes no lock, so that one of them may be in the journal a moment later.
pub fn waiting(
    disk: &Disk,
    paths: &LedgerPaths,
) -> Result<Vec<(AuditEvent, Timestamp)>, DiskError> {
    let Some(path) = &paths.audit_buffer else {
        return Ok(Vec::new());
    };
    let waiting = audit_buffer::waiting(disk, paths, path)?;
    let events = waiting.events.into_iter();
    Ok(events.map(|waits| (waits.event, waits.at)).collect())
}

/// Appends a record; returns `false` if that would need a wait, or a repair.
fn append(
    disk: &Disk,
    paths: &LedgerPaths,
    (event, at): (&AuditEvent, Timestamp),
    patience: Duration,
    may_begin: bool,
) -> Result<bool, DiskError> {
    let kept = KeptLocks::default();
    let Ok(held) = ExclusiveLedger::acquire_within(disk, paths, &kept, patience) else {
        return Ok(false);
    };
    let Ok(_audit) = held.lock_audit_within(patience) else {
        return Ok(false);
    };
    let position = match end(disk, paths)? {
        Some(position) => position,
        None if may_begin && day_files(disk, &paths.audit)?.is_empty() => Position::start(),
        None => return Ok(false),
    };
    let mut batch = Batch::begin(position, at);
    // Writers of a project's ledger empty its buffer; no other process empties this one.
    let buffer = paths.audit_buffer.as_deref().filter(|_| may_begin);
    let mut taken_over = None;
    if let Some(buffer) = buffer
        && disk.exists(buffer)?
    {
        let waiting = audit_buffer::waiting(disk, paths, buffer)?;
        for buffered in &waiting.events {
            batch.push(&buffered.event, buffered.at, None);
        }
        taken_over = Some((buffer, waiting.len));
    }
    batch.push(event, at, None);
    batch.write(disk, paths, &mut OpenFiles::default(), false)?;
    if let Some((buffer, len)) = taken_over {
        // If that fails, the next time skips the events already in the journal.
        drop(audit_buffer::remove(disk, paths, buffer, len));
    }
    Ok(true)
}

/// Returns the end of the journal according to its last record; `None` if it does not end in one.
fn end(disk: &Disk, paths: &LedgerPaths) -> Result<Option<Position>, DiskError> {
    let Some(last) = day_files(disk, &paths.audit)?.pop() else {
        return Ok(None);
    };
    let Some(file) = disk.open_if_there(&last.path, OpenHow::READ)? else {
        return Ok(None);
    };
    let size = file.size()?;
    let Some(line) = last_line(&file, size)? else {
        return Ok(None);
    };
    let Ok(record) = Record::read(&line) else {
        return Ok(None);
    };
    if record.head.event == Event::DayEnd.as_str() {
        // A crash came before the next day's file, which only an opening begins rightly.
        return Ok(None);
    }
    Ok(Some(Position {
        day: Some(last.day),
        offset: size,
        seq: record.head.seq,
        head: record.hash,
        synced: record.head.synced,
        ..Position::start()
    }))
}

#[cfg(test)]
mod tests {
    use callosum_host::{Clock, FileLock};

    use super::*;
    use crate::{AuditReader, Ledger, verify};

    /// CAKE-SHIM-1: 2 ms are waited for a lock, no more.
    const PATIENCE: Duration = Duration::from_millis(2);

    struct Fixture {
        folder: tempfile::TempDir,
        disk: Disk,
        paths: LedgerPaths,
        clock: Clock,
    }

    impl Fixture {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let disk = Disk::real();
            let root = folder.path().join("project");
            disk.create_dir_all(&root).unwrap();
            let paths = LedgerPaths {
                audit_buffer: Some(folder.path().join("home/buffer.jsonl")),
                ..LedgerPaths::in_root(root)
            };
            let start = "2026-11-02T23:59:00Z".parse().unwrap();
            let clock = Clock::fixed(start, Duration::ZERO);
            Self {
                folder,
                disk,
                paths,
                clock,
            }
        }

        fn create(&self) {
            Ledger::create(&self.disk, &self.paths, &self.clock).unwrap();
        }

        fn open(&self) -> Ledger {
            let (clock, ids) = (self.clock.clone(), Ids::random());
            Ledger::open(self.disk.clone(), self.paths.clone(), clock, ids).unwrap()
        }

        fn notice(&self, journal: &Journal, text: &str, at: &str) -> Result<Noticed, DiskError> {
            let event = AuditEvent::new(Event::Guard).with("said", text);
            let at = (&event, at.parse().unwrap());
            notice(&self.disk, journal, &Ids::random(), at, PATIENCE)
        }

        fn project(&self) -> Journal {
            Journal::Project(Box::new(self.paths.clone()))
        }

        fn texts(&self, journal: &Journal) -> Vec<String> {
            let records = AuditReader::new(self.disk.clone(), journal.paths()).tail(1000);
            let text = |detail: &serde_json::Value| detail.as_str().map(str::to_owned);
            let records = records.unwrap();
            let text = records
                .iter()
                .filter_map(|record| record.details.get("said").and_then(text));
            text.collect()
        }

        fn is_sound(&self) -> bool {
            verify(&self.disk, &self.paths).unwrap().is_sound()
        }
    }

    /// CAKE-SHIM-1: an event recorded in passing is a link of the chain, and writers continue after
    /// it, even those that already had the ledger open.
    #[test]
    fn an_event_recorded_in_passing_is_a_record_like_any_other() {
        let ground = Fixture::new();
        ground.create();
        let ledger = ground.open();
        let project = ground.project();
        for (text, at) in [
            ("before midnight", "2026-11-02T23:59:30Z"),
            ("after midnight", "2026-11-03T00:00:01Z"),
            ("the clock went back", "2026-11-02T23:59:59Z"),
        ] {
            let noticed = ground.notice(&project, text, at).unwrap();
            assert_eq!(noticed, Noticed::Journal, "{text}");
            let event = AuditEvent::new(Event::State).with("said", format!("ledger, {text}"));
            ledger.record(event).unwrap();
            ledger.flush().unwrap();
        }
        assert_eq!(ground.texts(&project).len(), 6);
        assert!(ground.is_sound());
    }

    /// CAL-ERR-7: an append does not wait for the holder of the lock, and its event is not lost.
    #[test]
    fn what_would_have_to_wait_goes_to_the_buffer_and_from_there_to_the_journal() {
        let ground = Fixture::new();
        ground.create();
        let ledger = ground.open();
        let project = ground.project();
        let at = "2026-11-02T23:59:30Z";
        let held = ExclusiveLedger::acquire(&ground.disk, &ground.paths).unwrap();
        for text in ["first", "second"] {
            assert_eq!(ground.notice(&project, text, at).unwrap(), Noticed::Buffer);
        }
        drop(held);
        drop(ledger);
        assert_eq!(ground.texts(&project), Vec::<String>::new());
        drop(ground.open());
        assert_eq!(ground.texts(&project), ["first", "second"]);
        let buffer = ground.paths.audit_buffer.clone().unwrap();
        assert!(!ground.disk.exists(&buffer).unwrap());
        assert!(ground.is_sound());
    }

    /// CAL-ERR-7: an event that comes while others are taken over is not removed with them.
    #[test]
    fn a_buffer_that_has_grown_meanwhile_stays() {
        let ground = Fixture::new();
        ground.create();
        let project = ground.project();
        let at = "2026-11-02T23:59:30Z";
        let held = ExclusiveLedger::acquire(&ground.disk, &ground.paths).unwrap();
        ground.notice(&project, "first", at).unwrap();
        let buffer = ground.paths.audit_buffer.clone().unwrap();
        let read = audit_buffer::waiting(&ground.disk, &ground.paths, &buffer).unwrap();
        ground.notice(&project, "meanwhile", at).unwrap();
        let remove = |len| audit_buffer::remove(&ground.disk, &ground.paths, &buffer, len);
        assert!(!remove(read.len).unwrap());
        // Nor is it removed while another process is writing to it.
        let writing = FileLock::try_acquire(&ground.disk, &buffer).unwrap();
        let all = audit_buffer::waiting(&ground.disk, &ground.paths, &buffer).unwrap();
        assert!(!remove(all.len).unwrap());
        drop(writing);
        drop(held);
        drop(ground.open());
        assert_eq!(ground.texts(&project), ["first", "meanwhile"]);
    }

    /// CAL-LED-2: a torn end is mended by an opening, never written behind.
    #[test]
    fn behind_a_torn_end_nothing_is_written() {
        let ground = Fixture::new();
        ground.create();
        let day = ground.paths.audit.join("2026-11-02.jsonl");
        let file = ground.disk.open(&day, OpenHow::READ_WRITE).unwrap();
        let size = file.size().unwrap();
        for torn in [&b"{\"torn"[..], b"not a record\n"] {
            file.write_at(torn, size).unwrap();
            let noticed = ground.notice(&ground.project(), "behind", "2026-11-02T23:59:30Z");
            assert_eq!(noticed.unwrap(), Noticed::Buffer);
            file.set_len(size).unwrap();
        }
    }

    #[test]
    fn the_machines_journal_begins_with_its_first_event_and_takes_its_own_buffer_over() {
        let ground = Fixture::new();
        let machine = Journal::Machine(ground.folder.path().join("home/journal"));
        let at = "2026-11-02T23:59:30Z";
        let tell = |text| ground.notice(&machine, text, at).unwrap();
        assert_eq!(tell("first"), Noticed::Journal);
        let paths = machine.paths();
        let held = ExclusiveLedger::acquire(&ground.disk, &paths).unwrap();
        assert_eq!(tell("buffered"), Noticed::Buffer);
        drop(held);
        assert_eq!(tell("last"), Noticed::Journal);
        assert_eq!(ground.texts(&machine), ["first", "buffered", "last"]);
        assert!(!ground.disk.exists(&paths.audit_buffer.unwrap()).unwrap());
    }

    /// CAL-ERR-7: if neither can be written, the caller gets an error.
    #[test]
    fn without_journal_and_buffer_there_is_an_error() {
        let ground = Fixture::new();
        ground.create();
        let paths = LedgerPaths {
            audit_buffer: Some(ground.paths.ledger.join("not/a/folder")),
            locks: ground.paths.ledger.join("nor/this"),
            ..ground.paths.clone()
        };
        let noticed = ground.notice(
            &Journal::Project(Box::new(paths)),
            "x",
            "2026-11-02T23:59:30Z",
        );
        assert!(noticed.is_err());
    }
}
