//! Memory held by the long operations: a fixed amount for a ledger of any size.
//!
//! A binary of its own with one test, because its count is for the whole process.

#![expect(clippy::unwrap_used, reason = "it is a test as a whole")]

use std::{path::Path, time::Duration};

use callosum_host::{Clock, Disk, Ids};
use callosum_ledger::{
    Ledger, LedgerPaths, NewEntry, Query, Reader, RecoverFrom, RecoverOptions, Spawn, past, replay,
    verify,
};
use peak_alloc::PeakAlloc;
use serde_json::Map;

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

/// The ledger: 240 entries of 100 KB.
const ENTRIES: usize = 240;
const ENTRY: usize = 100_000;

/// A few pieces of 1 MiB, and a few entries.
const BOUND: usize = 6 * 1024 * 1024;

struct Project {
    disk: Disk,
    paths: LedgerPaths,
    clock: Clock,
}

impl Project {
    fn open(&self) -> Ledger {
        let (disk, paths) = (self.disk.clone(), self.paths.clone());
        Ledger::open(disk, paths, self.clock.clone(), Ids::sequence()).unwrap()
    }

    fn recover(&self, from: RecoverFrom<'_>) {
        let options = RecoverOptions::default();
        Ledger::recover(&self.disk, &self.paths, &self.clock, from, options).unwrap();
    }

    fn forget(&self, paths: &[&Path]) {
        for path in paths {
            self.disk.remove_file(path).unwrap();
        }
    }
}

/// Checks the limit on the memory that an operation adds to that already held.
fn bounded(what: &str, run: impl FnOnce()) {
    let before = ALLOCATED.current_usage();
    ALLOCATED.reset_peak_usage();
    run();
    let most = ALLOCATED.peak_usage().saturating_sub(before);
    assert!(most < BOUND, "{what} held {most} bytes");
}

/// REQ-LED-001, CAL-LED-2, CAL-GOV-2: memory is bounded by the largest entry, not by the ledger.
#[test]
fn no_operation_holds_a_ledger_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let project = Project {
        disk: Disk::real(),
        paths: LedgerPaths::in_root(folder.path()),
        clock: Clock::fixed(
            "2026-11-02T10:00:00Z".parse().unwrap(),
            Duration::from_millis(1),
        ),
    };
    let (disk, paths) = (&project.disk, &project.paths);
    Ledger::create(disk, paths, &project.clock).unwrap();
    let ledger = project.open();
    for number in 0..ENTRIES {
        let task_id = ledger
            .reserve(Spawn {
                executor: "scout".to_owned(),
                details: Map::new(),
            })
            .unwrap();
        let entry = NewEntry {
            task_id,
            executor: "scout".to_owned(),
            summary: format!("{number} {}", "x".repeat(ENTRY)),
            tokens_used: 1,
            linked_tasks: Vec::new(),
            timestamp: project.clock.now(),
            metadata: Map::new(),
        };
        ledger.commit(entry).unwrap();
    }
    drop(ledger);
    let now = project.clock.now();

    let mut backup = None;
    bounded("backup", || {
        backup = Some(Ledger::back_up(disk, paths, &project.clock).unwrap());
    });
    let backup = backup.unwrap().path;
    bounded("verify", || {
        assert_eq!(verify(disk, paths).unwrap().problems, []);
    });
    bounded("export", || {
        let reader = Reader::open(disk.clone(), paths.clone()).unwrap();
        let mut count = 0;
        reader.each(&Query::default(), |_| count += 1).unwrap();
        assert_eq!(count, ENTRIES);
    });
    bounded("at", || {
        let then = past(disk, paths, now).unwrap();
        assert_eq!(then.newest_first().map(Result::unwrap).count(), ENTRIES);
        let output = paths.root.join("then.json");
        assert!(then.write_ledger(&output).unwrap());
    });
    let into = folder.path().join("replayed");
    bounded("replay", || {
        assert_eq!(replay(disk, paths, None, &into).unwrap().difference, None);
    });
    bounded("opening without a watermark", || {
        project.forget(&[&paths.watermark()]);
        assert_eq!(project.open().repairs(), []);
    });
    bounded("opening without ledger and hashlog", || {
        project.forget(&[&paths.watermark(), &paths.ledger, &paths.hashlog]);
        assert_eq!(project.open().repairs().len(), 2);
    });
    bounded("recover FILE", || {
        project.recover(RecoverFrom::Backup(&backup));
    });
    bounded("recover --import-appended", || {
        project.recover(RecoverFrom::Appended);
    });
    project.open().rotate().unwrap().unwrap();
    bounded("recover --from-audit, an archive lost", || {
        project.forget(&[&paths.history.join("cal_memory_20261102_100000.json")]);
        project.recover(RecoverFrom::Audit);
    });
    bounded("recover --from-audit, an archive damaged", || {
        let archive = paths.history.join("cal_memory_20261102_100000.json");
        let file = disk
            .open(&archive, callosum_host::OpenHow::READ_WRITE)
            .unwrap();
        file.write_at(b"X", 1_000_000).unwrap();
        project.recover(RecoverFrom::Audit);
    });

    let other = Project {
        paths: LedgerPaths::in_root(folder.path().join("other")),
        disk: disk.clone(),
        clock: project.clock.clone(),
    };
    disk.create_dir_all(&other.paths.root).unwrap();
    disk.hard_link(&backup, &other.paths.ledger).unwrap();
    bounded("init over a ledger that is there", || {
        let created = Ledger::create(disk, &other.paths, &other.clock).unwrap();
        assert_eq!(created.adopted.unwrap().entries, ENTRIES as u64);
    });
}
