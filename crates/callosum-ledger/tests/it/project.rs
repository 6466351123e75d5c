//! A project in a temporary folder, with a fixed clock and ids in sequence.

use std::{path::Path, time::Duration};

use callosum_host::{Clock, Disk, Ids};
use callosum_ledger::{Entry, Ledger, LedgerOptions, LedgerPaths, NewEntry, Reader, Spawn, TaskId};
use serde_json::Map;

/// When every test begins.
pub(crate) const START: &str = "2026-11-02T10:00:00Z";

/// Path of a project on a disk in memory.
pub(crate) const ROOT: &str = "/project";

pub(crate) struct Project {
    _folder: Option<tempfile::TempDir>,
    pub(crate) disk: Disk,
    pub(crate) paths: LedgerPaths,
    pub(crate) clock: Clock,
    pub(crate) ids: Ids,
    pub(crate) options: LedgerOptions,
}

impl Project {
    /// A folder without a ledger.
    pub(crate) fn empty() -> Self {
        let folder = folder();
        Self {
            paths: LedgerPaths::in_root(folder.path()),
            _folder: Some(folder),
            disk: Disk::real(),
            clock: clock_from(START),
            ids: Ids::sequence(),
            options: LedgerOptions::default(),
        }
    }

    /// Returns the project in the folder [`ROOT`] of a disk in memory, with its present contents.
    pub(crate) fn in_memory(disk: Disk) -> Self {
        let mut paths = LedgerPaths::in_root(ROOT);
        paths.audit_buffer = Some("/machine/audit-buffer.jsonl".into());
        Self {
            paths,
            _folder: None,
            disk,
            clock: clock_from(START),
            ids: Ids::sequence(),
            options: LedgerOptions::default(),
        }
    }

    /// A folder with a new ledger.
    pub(crate) fn new() -> Self {
        let project = Self::empty();
        project.create();
        project
    }

    pub(crate) fn create(&self) -> callosum_ledger::Creation {
        Ledger::create(&self.disk, &self.paths, &self.clock).unwrap()
    }

    /// The same project at another time.
    pub(crate) fn at(mut self, time: &str) -> Self {
        self.clock = clock_from(time);
        self
    }

    /// The same project, whose ledger is archived at this size.
    pub(crate) fn rotating_at(mut self, bytes: u64) -> Self {
        self.options.rotate_at = bytes;
        self
    }

    pub(crate) fn open(&self) -> Ledger {
        self.try_open().unwrap()
    }

    pub(crate) fn try_open(&self) -> Result<Ledger, callosum_ledger::OpenError> {
        Ledger::open_with(
            self.disk.clone(),
            self.paths.clone(),
            self.clock.clone(),
            self.ids.clone(),
            self.options,
        )
    }

    /// The reason why it cannot be opened.
    pub(crate) fn open_refused(&self) -> String {
        self.try_open().unwrap_err().to_string()
    }

    pub(crate) fn reader(&self) -> Reader {
        Reader::open(self.disk.clone(), self.paths.clone()).unwrap()
    }

    /// A ledger with so many entries; their ids.
    pub(crate) fn with_entries(count: usize) -> (Self, Vec<TaskId>) {
        let project = Self::new();
        let ledger = project.open();
        let ids = (0..count)
            .map(|number| project.store(&ledger, &format!("summary {number}")).task_id)
            .collect();
        drop(ledger);
        (project, ids)
    }

    /// Reserves an id and commits an entry for it.
    pub(crate) fn store(&self, ledger: &Ledger, summary: &str) -> Entry {
        let id = ledger.reserve(spawn()).unwrap();
        ledger.commit(self.entry(id, summary)).unwrap()
    }

    pub(crate) fn entry(&self, task_id: TaskId, summary: &str) -> NewEntry {
        NewEntry {
            task_id,
            executor: "scout".to_owned(),
            summary: summary.to_owned(),
            tokens_used: 7,
            linked_tasks: Vec::new(),
            timestamp: self.clock.now(),
            metadata: Map::new(),
        }
    }

    pub(crate) fn read(&self, path: &Path) -> Vec<u8> {
        self.disk.read(path).unwrap()
    }

    pub(crate) fn text(&self, path: &Path) -> String {
        String::from_utf8(self.read(path)).unwrap()
    }

    pub(crate) fn write(&self, path: &Path, bytes: impl AsRef<[u8]>) {
        self.disk.replace(path, bytes.as_ref(), 0o644).unwrap();
    }

    /// The day file of the day on which every test begins.
    pub(crate) fn journal(&self) -> std::path::PathBuf {
        self.paths.audit.join("2026-11-02.jsonl")
    }

    /// Everything that opening must bring back after a crash.
    pub(crate) fn views(&self) -> (String, String) {
        (
            self.text(&self.paths.ledger),
            self.text(&self.paths.hashlog),
        )
    }
}

/// A temporary folder; in memory where the system has such a file system, because the tests sync
/// more often than a disk likes.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm")
        .or_else(|_| tempfile::tempdir())
        .unwrap()
}

pub(crate) fn clock_from(time: &str) -> Clock {
    Clock::fixed(time.parse().unwrap(), Duration::from_millis(1))
}

pub(crate) fn spawn() -> Spawn {
    Spawn {
        executor: "scout".to_owned(),
        details: Map::new(),
    }
}

pub(crate) fn id(text: &str) -> TaskId {
    text.parse().unwrap()
}
