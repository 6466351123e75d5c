//! The N-th call fails, for every N of a workload and every way to fail.
//!
//! Start with [`run`], the workload. The disk is in memory; what a real full disk and a read-only
//! mount do is in `faults`.

use callosum_ledger::{Entry, ErrorCode, Ledger, OpenError, Query, WriteError, verify};
use callosum_testkit::disk::{Crashes, Fault, FaultyDisk, Image, MemoryDisk};

use crate::project::{Project, ROOT, spawn};

const MONDAY: &str = "2026-11-02T12:00:00Z";
const TUESDAY: &str = "2026-11-03T12:00:00Z";

/// A ledger with an entry, all of it durable.
fn begun() -> (Image, Entry) {
    let memory = MemoryDisk::with(&Image::with_folder(ROOT));
    let project = Project::in_memory(memory.disk());
    project.create();
    let entry = project.store(&project.open(), "before");
    (memory.image(), entry)
}

/// Acknowledged entries, and failures.
#[derive(Default)]
struct Outcome {
    stored: Vec<Entry>,
    opening: Vec<OpenError>,
    writing: Vec<WriteError>,
}

impl Outcome {
    fn codes(&self) -> impl Iterator<Item = Option<ErrorCode>> {
        let opening = self.opening.iter().map(OpenError::code);
        opening.chain(self.writing.iter().map(WriteError::code))
    }

    fn is_clean(&self) -> bool {
        self.opening.is_empty() && self.writing.is_empty()
    }
}

/// Opens, archives, stores and flushes on two days; on the second, everything is read from the beginning and
/// a watermark is set. What fails is tried once more on the same handle.
fn run(disk: &callosum_host::Disk) -> Outcome {
    let mut outcome = Outcome::default();
    for day in [MONDAY, TUESDAY] {
        let project = Project::in_memory(disk.clone()).at(day);
        if day == TUESDAY {
            // It is only a convenience, and may stay.
            drop(disk.remove_file(&project.paths.watermark()));
        }
        let ledger = match project.try_open() {
            Ok(ledger) => ledger,
            Err(error) => {
                outcome.opening.push(error);
                match project.try_open() {
                    Ok(ledger) => ledger,
                    Err(error) => {
                        outcome.opening.push(error);
                        continue;
                    }
                }
            }
        };
        for _ in 0..2 {
            match ledger.rotate() {
                Ok(_) => break,
                Err(error) => outcome.writing.push(error),
            }
        }
        // Longer than what a disk writes whole.
        let long = "x".repeat(600);
        let mut has_halted = false;
        for number in 0..2 {
            for _ in 0..2 {
                match store(&project, &ledger, &format!("{day} {number} {long}")) {
                    Ok(entry) => {
                        // Data in an unknown state is not promised.
                        assert!(!has_halted);
                        outcome.stored.push(entry);
                        break;
                    }
                    Err(error) => {
                        has_halted |= error.has_halted();
                        outcome.writing.push(error);
                    }
                }
            }
        }
        if let Err(error) = ledger.flush() {
            outcome.writing.push(error);
        }
    }
    outcome
}

fn store(project: &Project, ledger: &Ledger, summary: &str) -> Result<Entry, WriteError> {
    let id = ledger.reserve(spawn())?;
    ledger.commit(project.entry(id, summary))
}

/// Without faults any more: it opens, everything acknowledged is there, nothing else but what was
/// tried, and it goes on.
fn check_afterwards(image: &Image, before: &Entry, stored: &[Entry], context: &str) {
    let memory = MemoryDisk::with(image);
    let project = Project::in_memory(memory.disk()).at(TUESDAY);
    let ledger = project
        .try_open()
        .unwrap_or_else(|error| panic!("{context}: {error}\n{}", image.listing()));
    let later = project.store(&ledger, "after the fault");
    drop(ledger);
    let entries = project.reader().query(&Query::default()).unwrap();
    for entry in stored.iter().chain([before, &later]) {
        assert!(entries.contains(entry), "{context}: lost {}", entry.task_id);
    }
    let found = verify(&project.disk, &project.paths).unwrap();
    assert_eq!(found.problems, [], "{context}");
    assert_eq!(project.open().repairs(), [], "{context}");
}

/// Runs the workload with one fault after another until it is not met any more, and hands each
/// outcome to `judge` with the number of the call.
fn at_every_call(fault: Fault, judge: impl Fn(&Outcome, &str)) {
    let (image, before) = begun();
    for calls in 0.. {
        let memory = MemoryDisk::with(&image);
        let faulty = FaultyDisk::new(memory.clone(), fault, calls);
        let outcome = run(&faulty.disk());
        let context = format!("{fault:?} after {calls} calls");
        judge(&outcome, &context);
        check_afterwards(&memory.image(), &before, &outcome.stored, &context);
        if !faulty.has_failed() {
            assert!(outcome.is_clean());
            assert_eq!(outcome.stored.len(), 4);
            break;
        }
    }
}

/// CAL-ERR-5, CAL-ERR-8: one input/output error is reported as what it is, and a retry of the
/// failed operation succeeds, unless it was a sync.
#[test]
fn after_one_failed_call_trying_again_succeeds_or_writing_is_halted() {
    at_every_call(Fault::Once, |outcome, context| {
        let expected = [Some(ErrorCode::DiskFailure), Some(ErrorCode::AuditFailure)];
        assert!(
            outcome.codes().all(|code| expected.contains(&code)),
            "{context}"
        );
        assert!(outcome.opening.len() <= 1, "{context}");
        let has_halted = outcome.writing.iter().any(WriteError::has_halted);
        assert!(has_halted || outcome.writing.len() <= 1, "{context}");
        assert!(has_halted || outcome.stored.len() == 4, "{context}");
    });
}

/// CAL-ERR-5: a disk that fails for good gives errors with codes and loses nothing.
#[test]
fn a_disk_that_fails_for_good_loses_nothing_that_was_acknowledged() {
    at_every_call(Fault::ForGood, |outcome, context| {
        let expected = [Some(ErrorCode::DiskFailure), Some(ErrorCode::AuditFailure)];
        assert!(
            outcome.codes().all(|code| expected.contains(&code)),
            "{context}"
        );
    });
}

/// CAL-ERR-5: a full disk is E005 for every write.
#[test]
fn a_full_disk_is_e005_at_every_call_and_loses_nothing() {
    at_every_call(Fault::Full, |outcome, context| {
        for code in outcome.codes() {
            assert_eq!(code, Some(ErrorCode::DiskFailure), "{context}");
        }
    });
}

/// REQ-LED-001: signals and short reads and writes have no visible effect.
#[test]
fn interrupted_and_short_calls_are_not_noticed() {
    for fault in [Fault::Interrupted, Fault::Short] {
        at_every_call(fault, |outcome, context| {
            assert!(outcome.is_clean(), "{context}: {:?}", outcome.writing);
            assert_eq!(outcome.stored.len(), 4, "{context}");
        });
    }
}

/// CAL-ERR-5: after a failed sync nothing more is acknowledged on that handle, and what another
/// handle then stores is not lost.
#[test]
fn after_a_failed_sync_nothing_is_acknowledged_on_that_handle() {
    for fault in [Fault::Sync, Fault::SyncForGood] {
        at_every_call(fault, |outcome, context| {
            for error in &outcome.writing {
                // What belongs to an archive is synced too, and fails without a halt.
                let is_of_archive = matches!(error, WriteError::Disk(_) | WriteError::Open(_));
                let is_reported = error.has_halted() || is_of_archive;
                assert!(is_reported, "{context}: {error}");
                assert_eq!(error.code(), Some(ErrorCode::DiskFailure), "{context}");
            }
        });
    }
}
/// CAL-ERR-5, REQ-LED-001: a failed sync may have lost its data, though every reader still sees it.
/// After any later crash, everything is there that was acknowledged before it, and by other handles
/// after it.
#[test]
fn a_crash_after_a_failed_sync_loses_nothing_that_was_acknowledged() {
    let (image, before) = begun();
    for syncs in 0.. {
        let memory = MemoryDisk::with(&image);
        memory.fail_sync_after(syncs);
        let stored = run(&memory.disk()).stored;
        let context = format!("the sync after {syncs} of files failed");
        go_on_and_crash(&memory, stored, &before, 6, &context);
        if memory.trace().failed_syncs() == 0 {
            break;
        }
    }
    // Those of folders among them.
    for syncs in 0.. {
        let memory = MemoryDisk::with(&image);
        let faulty = FaultyDisk::new(memory.clone(), Fault::Sync, syncs);
        let stored = run(&faulty.disk()).stored;
        let context = format!("the sync after {syncs} failed");
        go_on_and_crash(&memory, stored, &before, 6, &context);
        if !faulty.has_failed() {
            break;
        }
    }
}

/// REQ-LED-001: a writer that is killed at any call leaves unsynced what it had written. Another
/// process sees that, goes on, and then the power fails.
#[test]
fn a_crash_after_a_killed_writer_loses_nothing_that_was_acknowledged() {
    let (image, before) = begun();
    for calls in 0.. {
        let memory = MemoryDisk::with(&image);
        let faulty = FaultyDisk::new(memory.clone(), Fault::ForGood, calls);
        let stored = run(&faulty.disk()).stored;
        let context = format!("killed after {calls} calls");
        go_on_and_crash(&memory, stored, &before, 150, &context);
        if !faulty.has_failed() {
            break;
        }
    }
}

/// Has another process store something too, and checks one of so many of the states that a crash
/// may leave then.
fn go_on_and_crash(
    memory: &MemoryDisk,
    mut stored: Vec<Entry>,
    before: &Entry,
    one_of: usize,
    context: &str,
) {
    memory.fail_sync_after(usize::MAX);
    let project = Project::in_memory(memory.disk()).at(TUESDAY);
    // So that it sets one, which vouches for what the other wrote too.
    let watermark = project.paths.watermark();
    project.disk.remove_file(&watermark).unwrap();
    let ledger = project.open();
    for len in [10, 900] {
        stored.push(store(&project, &ledger, &"z".repeat(len)).unwrap());
    }
    drop(ledger);
    for crash in Crashes::of(&memory.trace(), 3)
        .at_the_end()
        .iter()
        .step_by(one_of)
    {
        check_afterwards(&crash.image, before, &stored, context);
    }
}
