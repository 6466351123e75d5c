//! Signing the current journal, on a disk whose calls fail.
//!
//! Start with [`Scene::at_every_call`]: the N-th call of signing and of recording that fails, for
//! every N, every way to begin and every way to fail. Crashes are in `interrupted_recoveries`, and
//! an interrupted key change is in `keys`.

use std::path::Path;

use callosum_host::{Disk, LockError};
use callosum_ledger::{
    Query, TaskId,
    checkpoint::{Begin, CheckpointError, KeyError, SignedBy, StoredCheckpoint, TrustStore},
    verify::Scope,
    verify_within,
};
use callosum_testkit::disk::{Crashes, Fault, FaultyDisk, Image, MemoryDisk};

use crate::project::{Project, ROOT};

/// Calls that are to fail and are reached by a workload are at least so many.
const MANY: usize = 20;

/// A project with something to sign.
struct Scene {
    image: Image,
    begin: Begin,
    /// Number of checkpoints that are kept.
    kept: usize,
    stored: Vec<TaskId>,
}

fn witness() -> TrustStore {
    TrustStore::in_home(Path::new("/machine"), Path::new(ROOT))
}

/// Result of signing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Signed {
    /// It is kept, and the journal records it.
    Recorded,
    /// It is kept, and counts like any other; the journal could not record it.
    Unrecorded,
    /// There was nothing new.
    Nothing,
}

/// Signs, and tells the journal, as the program does.
fn sign(disk: &Disk, begin: Begin, seed: u8) -> Result<Signed, CheckpointError> {
    let project = Project::in_memory(disk.clone());
    let made = witness().make(disk, &project.paths, begin, &[seed; 32])?;
    let Some(made) = made else {
        return Ok(Signed::Nothing);
    };
    let Ok(ledger) = project.try_open() else {
        return Ok(Signed::Unrecorded);
    };
    let recorded = ledger.record(made.event()).and_then(|()| ledger.flush());
    Ok(recorded.map_or(Signed::Unrecorded, |()| Signed::Recorded))
}

fn is_of_the_disk(error: &CheckpointError) -> bool {
    matches!(
        error,
        CheckpointError::Disk(_)
            | CheckpointError::Lock(LockError::Disk(_))
            | CheckpointError::Key(KeyError::Disk(_))
    )
}

fn is_ours(kept: &StoredCheckpoint) -> bool {
    kept.signed == SignedBy::Us
}

impl Scene {
    /// An archive, two entries, and so many checkpoints.
    fn new(begin: Begin, kept: usize) -> Self {
        let memory = MemoryDisk::with(&Image::with_folder(ROOT));
        let project = Project::in_memory(memory.disk());
        project.disk.create_dir_all("/machine".as_ref()).unwrap();
        project.create();
        let ledger = project.open();
        let mut stored = vec![project.store(&ledger, "archived").task_id];
        ledger.rotate().unwrap().unwrap();
        for _ in 0..kept {
            stored.push(project.store(&ledger, "signed").task_id);
            ledger.flush().unwrap();
            assert!(sign(&project.disk, Begin::GoOn, 1).unwrap() == Signed::Recorded);
        }
        stored.push(project.store(&ledger, "to be signed").task_id);
        drop(ledger);
        Self {
            image: memory.image(),
            begin,
            kept,
            stored,
        }
    }

    /// Returns the minimum number of checkpoints that must be kept.
    fn least(&self, acknowledged: usize) -> usize {
        match self.begin {
            Begin::Anew => acknowledged,
            Begin::GoOn | Begin::NewKey => self.kept + acknowledged,
        }
    }

    /// Nothing is lost, the next opening and the next checkpoints are clean.
    fn check(&self, disk: &Disk, outcome: Option<Signed>, context: &str) {
        let is_kept = matches!(outcome, Some(Signed::Recorded | Signed::Unrecorded));
        let acknowledged = usize::from(is_kept);
        let project = Project::in_memory(disk.clone());
        let scope = Scope {
            archives: true,
            witness: Some(&witness()),
        };
        let kept = witness().read(disk).unwrap();
        assert!(kept.unreadable.is_empty(), "{context}");
        assert!(kept.kept.iter().all(is_ours), "{context}: {kept:?}");
        assert!(kept.kept.len() >= self.least(acknowledged), "{context}");
        let ledger = project
            .try_open()
            .unwrap_or_else(|error| panic!("{context}: {error}"));
        let later = project.store(&ledger, "afterwards").task_id;
        drop(ledger);
        // Checkpoints that were set aside stay so: a caller that began from scratch, and whose
        // checkpoint was not recorded, asks for it again.
        let next = match self.begin {
            Begin::Anew if outcome != Some(Signed::Recorded) => Begin::Anew,
            _ => Begin::GoOn,
        };
        for (begin, seed) in [(next, 5), (Begin::NewKey, 6)] {
            let made = sign(disk, begin, seed).unwrap_or_else(|error| panic!("{context}: {error}"));
            assert!(made == Signed::Recorded, "{context}");
        }
        let found = verify_within(disk, &project.paths, scope).unwrap();
        assert_eq!(found.problems, [], "{context}");
        let least = match next {
            Begin::Anew => 2,
            _ => self.least(acknowledged) + 2,
        };
        assert!(found.checkpoints as usize >= least, "{context}");
        let ledger = project.open();
        assert_eq!(ledger.repairs(), [], "{context}");
        drop(ledger);
        let entries = project.reader().query(&Query::default()).unwrap();
        for id in self.stored.iter().chain([&later]) {
            let is_there = entries.iter().any(|entry| entry.task_id == *id);
            assert!(is_there, "{context}: lost {id}");
        }
    }

    /// Lets one call after another fail, until none is reached any more.
    fn at_every_call(&self, fault: Fault) {
        for calls in 0.. {
            let memory = MemoryDisk::with(&self.image);
            let faulty = FaultyDisk::new(memory.clone(), fault, calls);
            let outcome = sign(&faulty.disk(), self.begin, 2);
            let context = format!("{:?}, {fault:?} after {calls} calls", self.begin);
            if let Err(error) = &outcome {
                assert!(is_of_the_disk(error), "{context}: {error}");
                let is_noticed = !matches!(fault, Fault::Interrupted | Fault::Short);
                assert!(is_noticed, "{context}: {error}");
            }
            let outcome = outcome.ok();
            self.check(&memory.disk(), outcome, &context);
            if !faulty.has_failed() {
                assert!(outcome == Some(Signed::Recorded));
                assert!(calls > MANY || !matches!(fault, Fault::Once), "{calls}");
                break;
            }
        }
    }
}

/// Every way to begin, with what there is before it.
fn scenes() -> [Scene; 4] {
    [
        Scene::new(Begin::GoOn, 0),
        Scene::new(Begin::GoOn, 1),
        Scene::new(Begin::NewKey, 1),
        Scene::new(Begin::Anew, 1),
    ]
}

/// CAL-GOV-1, CAL-ERR-5: a call that fails during signing is reported as what it is. No checkpoint
/// and no entry is lost by it, and later work is unaffected.
#[test]
fn signing_survives_every_failing_call() {
    for scene in scenes() {
        for fault in [Fault::Once, Fault::ForGood, Fault::Full] {
            scene.at_every_call(fault);
        }
    }
}

/// CAL-GOV-1, CAL-ERR-5: a sync that fails is an error, and one that is interrupted, or does a part
/// of what was asked, is none.
#[test]
fn signing_survives_failing_syncs_and_does_not_notice_signals() {
    for scene in scenes() {
        let faults = [
            Fault::Sync,
            Fault::SyncForGood,
            Fault::Interrupted,
            Fault::Short,
        ];
        for fault in faults {
            scene.at_every_call(fault);
        }
    }
}

/// CAL-GOV-1, CAL-ERR-5, REQ-LED-001: a failed sync may have lost its data, though every reader
/// still sees it. After any later crash, everything signed before it and after is kept, and nothing
/// was signed that the journal has lost.
#[test]
fn a_crash_after_a_failed_sync_loses_nothing_that_was_signed() {
    for scene in scenes() {
        for syncs in 0.. {
            let memory = MemoryDisk::with(&scene.image);
            memory.fail_sync_after(syncs);
            let first = sign(&memory.disk(), scene.begin, 2);
            let has_failed = memory.trace().failed_syncs() > 0;
            memory.fail_sync_after(usize::MAX);
            let context = format!("{:?}, the sync after {syncs} failed", scene.begin);
            let again = match scene.begin {
                Begin::Anew if first.is_err() => Begin::Anew,
                _ => Begin::GoOn,
            };
            let project = Project::in_memory(memory.disk());
            project.store(&project.open(), "after the failure");
            let second = sign(&memory.disk(), again, 3);
            let second = second.unwrap_or_else(|error| panic!("{context}: {error}"));
            assert!(second == Signed::Recorded, "{context}");
            let crashes = Crashes::of(&memory.trace(), 3).at_the_end();
            for crash in crashes.iter().step_by(3) {
                let crashed = MemoryDisk::with(&crash.image);
                let kept = witness().read(&crashed.disk()).unwrap().kept.len();
                let both = scene.least(1 + usize::from(first.is_ok()));
                assert!(again == Begin::Anew || kept >= both, "{context}");
                scene.check(&crashed.disk(), Some(second), &context);
            }
            if !has_failed {
                break;
            }
        }
    }
}
