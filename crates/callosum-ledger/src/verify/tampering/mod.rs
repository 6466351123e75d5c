//! A table of every way to tamper with ledger, journal and checkpoints, each reported by name.
//!
//! Every row is tried at the start, in the middle and at the end. If the end is not a row of its
//! own, a comment there gives the reason. Start with [`Project`]; the rows are in the modules, by
//! what is changed.

mod checkpoints;
mod hashlog;
mod journal;
mod ledger;

use std::{path::Path, rc::Rc, time::Duration};

use callosum_host::{Clock, Disk, Ids};
use serde_json::Map;

use super::*;
use crate::{
    Ledger, LedgerOptions, NewEntry, Spawn,
    checkpoint::{Begin, TrustStore},
};

/// Five entries, a checkpoint after each: 1 record of the beginning, then 3 for each entry.
struct Project {
    folder: Rc<tempfile::TempDir>,
    disk: Disk,
    paths: LedgerPaths,
    witness: TrustStore,
    clock: Clock,
}

const ENTRIES: usize = 5;
const RECORDS: usize = 1 + 3 * ENTRIES;
/// The last record is about the last checkpoint, which cannot cover it.
const SIGNED: usize = RECORDS - 1;

impl Project {
    fn new() -> Self {
        Self::begun_at("2026-11-02T10:00:00Z")
    }

    /// Another one, begun a day later, so that no task is the same.
    fn other() -> Self {
        Self::begun_at("2026-11-03T10:00:00Z")
    }

    /// Another one of the same machine.
    fn sibling(&self) -> Self {
        let folder = Rc::clone(&self.folder);
        Self::within(folder, "beside", "2026-11-03T10:00:00Z")
    }

    fn begun_at(start: &str) -> Self {
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        Self::within(Rc::new(folder.unwrap()), "project", start)
    }

    fn within(folder: Rc<tempfile::TempDir>, name: &str, start: &str) -> Self {
        let paths = LedgerPaths::in_root(folder.path().join(name));
        let project = Self {
            disk: Disk::real(),
            witness: TrustStore::in_home(&folder.path().join("home"), &paths.root),
            clock: Clock::fixed(start.parse().unwrap(), Duration::from_millis(1)),
            folder,
            paths,
        };
        let (disk, paths) = (&project.disk, &project.paths);
        disk.create_dir_all(&paths.root).unwrap();
        Ledger::create(disk, paths, &project.clock).unwrap();
        let ledger = project.open();
        for number in 0..ENTRIES {
            let spawn = Spawn {
                executor: "scout".to_owned(),
                details: Map::new(),
            };
            let entry = NewEntry {
                task_id: ledger.reserve(spawn).unwrap(),
                executor: "scout".to_owned(),
                summary: format!("summary {number} of {start}"),
                tokens_used: 1,
                linked_tasks: Vec::new(),
                timestamp: project.clock.now(),
                metadata: Map::new(),
            };
            ledger.commit(entry).unwrap();
            let made = project.witness.make(disk, paths, Begin::GoOn, &[7; 32]);
            ledger.record(made.unwrap().unwrap().event()).unwrap();
            ledger.flush().unwrap();
        }
        drop(ledger);
        project
    }

    fn open(&self) -> Ledger {
        let (disk, paths) = (self.disk.clone(), self.paths.clone());
        Ledger::open(disk, paths, self.clock.clone(), Ids::sequence()).unwrap()
    }

    fn journal(&self) -> PathBuf {
        crate::journal::day_files(&self.disk, &self.paths.audit).unwrap()[0]
            .path
            .clone()
    }

    fn lines(&self, path: &Path) -> Vec<String> {
        let text = String::from_utf8(self.disk.read(path).unwrap()).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    fn write(&self, path: &Path, lines: &[String]) {
        let mut text = lines.join("\n");
        if !lines.is_empty() {
            text.push('\n');
        }
        self.disk.replace(path, text.as_bytes(), 0o644).unwrap();
    }

    fn verify(&self) -> Verification {
        let scope = Scope {
            archives: true,
            witness: Some(&self.witness),
        };
        verify_within(&self.disk, &self.paths, scope).unwrap()
    }

    /// Returns the finding for this file.
    fn found(&self, path: &Path) -> Option<(VerifyFinding, u64)> {
        let found = self.verify();
        let problem = found.problems.iter().find(|problem| problem.path == path);
        problem.map(|problem| (problem.fault, problem.number))
    }

    /// The entries' lines of the ledger, without the commas.
    fn entries(&self) -> Vec<String> {
        let lines = self.lines(&self.paths.ledger);
        let entries = lines.get(3..lines.len() - 2).unwrap_or_default();
        let entry = |line: &String| line.trim().trim_end_matches(',').to_owned();
        entries.iter().map(entry).collect()
    }

    fn write_entries(&self, entries: &[String]) {
        self.write_entries_to(&self.paths.ledger, entries);
    }

    fn write_entries_to(&self, path: &Path, entries: &[String]) {
        let mut lines = vec!["{".to_owned(), "  \"version\": \"1.2\",".to_owned()];
        lines.push("  \"tasks\": [".to_owned());
        for (index, entry) in entries.iter().enumerate() {
            let comma = if index + 1 < entries.len() { "," } else { "" };
            lines.push(format!("    {entry}{comma}"));
        }
        lines.extend(["  ]".to_owned(), "}".to_owned()]);
        self.write(path, &lines);
    }

    /// The checkpoints' notes.
    fn notes(&self) -> Vec<String> {
        let bytes = self.disk.read(&self.witness.path()).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let blocks: Vec<_> = text.trim_end().split("\n\n").collect();
        let note = |pair: &[&str]| format!("{}\n\n{}\n", pair[0], pair[1]);
        blocks.chunks(2).map(note).collect()
    }

    fn write_notes(&self, notes: &[String]) {
        let bytes = notes.join("\n");
        let path = self.witness.path();
        self.disk.replace(&path, bytes.as_bytes(), 0o600).unwrap();
    }
}

fn number(index: usize) -> u64 {
    index as u64 + 1
}

/// CAL-GOV-4: nothing was done, and nothing is found.
#[test]
fn an_untouched_project_is_sound_and_signed() {
    let found = Project::new().verify();
    assert_eq!(found.problems, []);
    assert_eq!(found.checkpoints, ENTRIES as u64);
    assert_eq!(found.signed_records, SIGNED as u64);
}
