//! Backups and recoveries that a crash or a failing disk interrupts.
//!
//! Start with [`Scene`]: a project, what is done to it, and the entries that it must have before and
//! after. Every state that a crash may leave at every step is opened, and the same is done again; so
//! is what the N-th failing call leaves, for every N.

use std::{
    collections::BTreeSet,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use callosum_host::{Disk, FileLock};
use callosum_ledger::{
    ErrorCode, Ledger, Query, RecoverError, RecoverFrom, RecoverOptions, TaskId,
    checkpoint::{Begin, TrustStore},
    verify,
    verify::VerifyFinding,
};
use callosum_testkit::disk::{Crashes, Fault, FaultyDisk, Image, MemoryDisk, ObservedDisk};
use serde_json::Value;

use crate::project::{Project, ROOT};

/// Options for a repeated recovery.
const FORCED: RecoverOptions = RecoverOptions {
    signed: 0,
    force: true,
};

/// Seed of the random choices, which are the same each time.
const SEED: u64 = 20_261_122;

/// A project that is to be recovered.
struct Scene {
    image: Image,
    from: From,
    /// Whether it must open before it is recovered.
    opens: bool,
    before: BTreeSet<TaskId>,
    after: BTreeSet<TaskId>,
}

#[derive(Clone, Copy, Debug)]
enum From {
    Backup,
    Audit,
    Appended,
    LedgerAlone,
}

const BACKUP: &str = "/project/.cal_backup/cal_memory_20261102_100000.json";

impl From {
    fn of(self) -> RecoverFrom<'static> {
        match self {
            Self::Backup => RecoverFrom::Backup(Path::new(BACKUP)),
            Self::Audit => RecoverFrom::Audit,
            Self::Appended => RecoverFrom::Appended,
            Self::LedgerAlone => RecoverFrom::LedgerAlone,
        }
    }
}

fn ids(project: &Project) -> BTreeSet<TaskId> {
    let entries = project.reader().query(&Query::default()).unwrap();
    entries.into_iter().map(|entry| entry.task_id).collect()
}

/// A project on a disk in memory with an archive of one entry and a ledger of two.
fn begun() -> (MemoryDisk, Project) {
    let memory = MemoryDisk::with(&Image::with_folder(ROOT));
    let project = Project::in_memory(memory.disk());
    project.create();
    let ledger = project.open();
    project.store(&ledger, "in the archive");
    ledger.rotate().unwrap().unwrap();
    for len in [20, 700] {
        project.store(&ledger, &"x".repeat(len));
    }
    drop(ledger);
    (memory, project)
}

impl Scene {
    fn new(from: From) -> Self {
        let (memory, project) = begun();
        let before = ids(&project);
        let mut after = before.clone();
        let mut opens = false;
        match from {
            From::Backup => {
                let backup =
                    Ledger::back_up(&project.disk, &project.paths, &project.clock).unwrap();
                assert_eq!(backup.path, Path::new(BACKUP));
                project.store(&project.open(), "after the backup");
                opens = true;
            }
            From::Audit => {
                edit(&project, |ledger| {
                    ledger["tasks"][0]["summary"] = "EDITED".into();
                });
                let archive = project
                    .paths
                    .history
                    .join("cal_memory_20261102_100000.json");
                project.disk.remove_file(&archive).unwrap();
            }
            From::Appended => {
                edit(&project, |ledger| {
                    for number in 4..6 {
                        let mut entry = ledger["tasks"][1].clone();
                        entry["task_id"] = format!("cal_2026_11_02_000{number}").into();
                        entry.as_object_mut().unwrap().remove("checksum");
                        ledger["tasks"].as_array_mut().unwrap().push(entry);
                    }
                });
                after = ids(&project);
                assert_eq!(after.len(), 5);
            }
            From::LedgerAlone => {
                project.disk.remove_file(&project.journal()).unwrap();
            }
        }
        let mut before = before;
        if opens {
            before = ids(&project);
        }
        Self {
            image: memory.image(),
            from,
            opens,
            before,
            after,
        }
    }

    fn run(&self, disk: &Disk, options: RecoverOptions) -> Result<(), RecoverError> {
        let project = Project::in_memory(disk.clone());
        let from = self.from.of();
        Ledger::recover(disk, &project.paths, &project.clock, from, options).map(drop)
    }

    /// A folder cannot be moved on a disk in memory: an existing journal is not begun from scratch.
    fn again(&self) -> RecoverOptions {
        match self.from {
            From::LedgerAlone => RecoverOptions::default(),
            _ => FORCED,
        }
    }

    /// After any interruption, nothing that was readable is lost. Opening gives an error with the
    /// reason, or one state or the other, and a repetition completes the work.
    fn check(&self, image: &Image, is_done: bool, context: &str) {
        let memory = MemoryDisk::with(image);
        let project = Project::in_memory(memory.disk());
        let found = verify(&project.disk, &project.paths).unwrap();
        if self.opens {
            for problem in &found.problems {
                let is_of_a_crash = matches!(
                    problem.fault,
                    VerifyFinding::Behind | VerifyFinding::Torn | VerifyFinding::Missing
                );
                assert!(is_of_a_crash, "{context}: {problem:?}");
            }
        }
        match project.try_open() {
            Ok(ledger) => {
                drop(ledger);
                let has = ids(&project);
                let is_new = has == self.after;
                assert!(
                    is_new || (has == self.before && !is_done),
                    "{context}: {has:?}"
                );
                sound(&project, context);
            }
            Err(error) => assert!(!self.opens && !is_done, "{context}: {error}"),
        }
        match self.run(&project.disk, self.again()) {
            // It was begun from scratch before.
            Err(RecoverError::JournalIsSound { .. }) | Ok(()) => {}
            Err(error) => panic!("{context}: {error}\n{}", image.listing()),
        }
        let ledger = project.try_open();
        ledger.unwrap_or_else(|error| panic!("{context}: {error}"));
        assert_eq!(ids(&project), self.after, "{context}");
        sound(&project, context);
        no_leftovers(&memory.image(), context);
    }

    /// Checks the states that a crash may leave, and says how many there are.
    fn check_every_crash(&self) -> usize {
        let memory = MemoryDisk::with(&self.image);
        self.run(&memory.disk(), FORCED).unwrap();
        memory.tell();
        let crashes = Crashes::of(&memory.trace(), SEED).generate();
        for crash in &crashes {
            let context = format!("after {} steps", crash.steps);
            self.check(&crash.image, crash.told > 0, &context);
        }
        crashes.len()
    }

    /// Lets one call after another fail.
    fn check_every_failing_call(&self) {
        for fault in [Fault::Once, Fault::ForGood, Fault::Full, Fault::Sync] {
            for calls in 0.. {
                let memory = MemoryDisk::with(&self.image);
                let faulty = FaultyDisk::new(memory.clone(), fault, calls);
                let outcome = self.run(&faulty.disk(), FORCED);
                let context = format!("{fault:?} after {calls} calls");
                if let Err(error) = &outcome {
                    let expected = [ErrorCode::DiskFailure, ErrorCode::AuditFailure];
                    let code = error.code();
                    let is_typed = code.is_some_and(|code| expected.contains(&code));
                    assert!(is_typed, "{context}: {error}");
                }
                self.check(&memory.image(), outcome.is_ok(), &context);
                if !faulty.has_failed() {
                    assert!(outcome.is_ok());
                    break;
                }
            }
        }
    }
}

/// The next writer removes the file that a killed process was writing.
fn no_leftovers(image: &Image, context: &str) {
    let is_left = |path: &Path| path.extension().is_some_and(|ending| ending == "tmp");
    let left = image.nodes().find(|(path, _)| is_left(path));
    assert_eq!(left, None, "{context}");
}

fn sound(project: &Project, context: &str) {
    let found = verify(&project.disk, &project.paths).unwrap();
    assert_eq!(found.problems, [], "{context}");
}

fn edit(project: &Project, change: impl Fn(&mut Value)) {
    let mut ledger: Value = serde_json::from_str(&project.text(&project.paths.ledger)).unwrap();
    change(&mut ledger);
    project.write(&project.paths.ledger, ledger.to_string());
}

/// CAL-LED-2, REQ-LED-001: either the ledger that was there is there, or the backup's, whole.
#[test]
fn recovering_a_backup_survives_every_crash() {
    let scene = Scene::new(From::Backup);
    assert_eq!((scene.before.len(), scene.after.len()), (4, 3));
    let count = scene.check_every_crash();
    assert!(count > 100, "{count}");
}

/// CAL-LED-2, CAL-ERR-4, REQ-LED-001: a rollback that is interrupted is done again.
#[test]
fn recovering_from_the_journal_survives_every_crash() {
    let count = Scene::new(From::Audit).check_every_crash();
    assert!(count > 80, "{count}");
}

/// CAL-LED-2, REQ-LED-001: a repetition takes in the appended entries.
#[test]
fn taking_in_what_was_appended_survives_every_crash() {
    let count = Scene::new(From::Appended).check_every_crash();
    assert!(count > 30, "{count}");
}

/// CAL-GOV-1, REQ-LED-001: a journal that is begun from scratch exists whole, or not at all.
#[test]
fn beginning_the_journal_from_scratch_survives_every_crash() {
    let count = Scene::new(From::LedgerAlone).check_every_crash();
    assert!(count > 50, "{count}");
}

/// CAL-LED-2, CAL-ERR-5: a call that fails during a recovery is reported as what it is, and a later
/// recovery repairs what it leaves.
#[test]
fn a_recovery_survives_every_failing_call() {
    for from in [From::Backup, From::Audit, From::Appended, From::LedgerAlone] {
        Scene::new(from).check_every_failing_call();
    }
}

/// CAL-LED-2, CAL-MSP-2: while a recovery reads and writes in preparation, others may take the
/// lock.
#[test]
fn the_lock_is_free_while_a_recovery_is_prepared() {
    for from in [From::Backup, From::Audit, From::Appended, From::LedgerAlone] {
        let scene = Scene::new(from);
        let memory = MemoryDisk::with(&scene.image);
        let lock = Path::new(ROOT).join(".cal_lock/cal_mutex");
        let (others, seen) = (memory.disk(), Arc::new(Mutex::new(Vec::new())));
        let sink = Arc::clone(&seen);
        let disk = ObservedDisk::disk(memory.clone(), move |path| {
            // The files that are as large as the ledger.
            if path.extension().is_some_and(|ending| ending == "tmp") {
                let is_free = FileLock::try_acquire(&others, &lock).unwrap().is_some();
                sink.lock().unwrap().push((path.to_owned(), is_free));
            }
        });
        scene.run(&disk, FORCED).unwrap();
        let seen = seen.lock().unwrap();
        let small = Path::new(ROOT).join(".cal_lock");
        let mut large = seen.iter().filter(|(path, _)| !path.starts_with(&small));
        assert!(seen.len() > 2, "{from:?}: {seen:?}");
        assert_eq!(large.find(|(_, is_free)| !is_free), None, "{from:?}");
    }
}

/// CAL-LED-2, REQ-LED-001: what is stored while a recovery is prepared is not lost by it.
#[test]
fn what_is_stored_while_a_recovery_is_prepared_stays() {
    for times in 1..5 {
        let (memory, project) = begun();
        let archive = project
            .paths
            .history
            .join("cal_memory_20261102_100000.json");
        let before = ids(&project);
        let ledger = project.open();
        project.disk.remove_file(&archive).unwrap();
        let left = Arc::new(AtomicUsize::new(times));
        let (others, counted) = (Project::in_memory(memory.disk()), Arc::clone(&left));
        let disk = ObservedDisk::disk(memory.clone(), move |path| {
            // Once the lock has been given back: the journal is read with it free.
            let is_journal = path.extension().is_some_and(|ending| ending == "jsonl");
            let lock = others.paths.locks.join("cal_mutex");
            if is_journal
                && counted.load(Ordering::SeqCst) > 0
                && FileLock::try_acquire(&others.disk, &lock)
                    .unwrap()
                    .is_some()
            {
                counted.fetch_sub(1, Ordering::SeqCst);
                others.store(&ledger, "meanwhile");
            }
        });
        let options = RecoverOptions::default();
        let from = RecoverFrom::Audit;
        let recovered =
            Ledger::recover(&disk, &project.paths, &project.clock, from, options).unwrap();
        assert!(
            recovered
                .repairs
                .iter()
                .any(|repair| repair.path == archive)
        );
        assert_eq!(left.load(Ordering::SeqCst), 0);
        assert_eq!(ids(&project).len(), before.len() + times);
        sound(&project, "meanwhile");
        assert_eq!(project.open().repairs(), []);
    }
}

/// The backups that are there: each verifies, or has no ledger yet.
fn backups(project: &Project) -> usize {
    let names = project.disk.list_dir(&project.paths.backups).unwrap();
    let ledgers = names.iter().filter(|entry| {
        let name = entry.name.to_string_lossy();
        let stem = name.strip_suffix(".json");
        stem.is_some_and(|stem| !stem.contains('.'))
    });
    let mut count = 0;
    for entry in ledgers {
        let path = project.paths.backups.join(&entry.name);
        let from = RecoverFrom::Backup(&path);
        let recovered =
            Ledger::recover(&project.disk, &project.paths, &project.clock, from, FORCED);
        recovered.unwrap();
        count += 1;
    }
    count
}

/// CAL-LED-2, REQ-LED-001: a backup that has its name is whole in every case; one that was
/// acknowledged exists. The ledger is as it was.
#[test]
fn a_backup_survives_every_crash_and_every_failing_call() {
    let (memory, _) = begun();
    let image = memory.image();
    let back_up = |disk: &Disk| {
        let project = Project::in_memory(disk.clone());
        Ledger::back_up(disk, &project.paths, &project.clock)
    };
    let memory = MemoryDisk::with(&image);
    back_up(&memory.disk()).unwrap();
    memory.tell();
    let mut count = 0;
    for crash in Crashes::of(&memory.trace(), SEED).generate() {
        let project = Project::in_memory(MemoryDisk::with(&crash.image).disk());
        assert_eq!(project.open().repairs(), []);
        sound(&project, "a backup");
        assert!(backups(&project) >= crash.told);
        assert_eq!(ids(&project).len(), 3);
        count += 1;
    }
    assert!(count > 20, "{count}");
    for fault in [Fault::Once, Fault::ForGood, Fault::Full, Fault::Sync] {
        for calls in 0.. {
            let memory = MemoryDisk::with(&image);
            let faulty = FaultyDisk::new(memory.clone(), fault, calls);
            let outcome = back_up(&faulty.disk());
            let after = MemoryDisk::with(&memory.image());
            let project = Project::in_memory(after.disk());
            sound(&project, "a backup");
            let there = backups(&project);
            assert!(there >= usize::from(outcome.is_ok()), "{fault:?} {calls}");
            drop(project.open());
            no_leftovers(&after.image(), "a backup");
            if !faulty.has_failed() {
                outcome.unwrap();
                break;
            }
        }
    }
}

/// CAL-GOV-1, REQ-LED-001: a checkpoint that was acknowledged is kept, no state that a crash leaves
/// of one counts as tampering, and the next is made.
#[test]
fn a_checkpoint_survives_every_crash() {
    let (memory, project) = begun();
    let witness = TrustStore::in_home(Path::new("/machine"), Path::new(ROOT));
    let sign = |project: &Project| {
        let made = witness.make(&project.disk, &project.paths, Begin::GoOn, &[7; 32]);
        let made = made.unwrap().unwrap();
        let ledger = project.open();
        ledger.record(made.event()).unwrap();
        ledger.flush().unwrap();
        made
    };
    sign(&project);
    project.store(&project.open(), "between");
    let memory = MemoryDisk::with(&memory.image());
    let project = Project::in_memory(memory.disk());
    sign(&project);
    memory.tell();
    let crashes = Crashes::of(&memory.trace(), SEED).generate();
    assert!(crashes.len() > 30, "{}", crashes.len());
    for crash in crashes {
        let project = Project::in_memory(MemoryDisk::with(&crash.image).disk());
        let context = format!("after {} steps", crash.steps);
        drop(project.open());
        let scope = verify::Scope {
            archives: true,
            witness: Some(&witness),
        };
        let found = callosum_ledger::verify_within(&project.disk, &project.paths, scope).unwrap();
        assert_eq!(found.problems, [], "{context}\n{}", crash.image.listing());
        assert!(found.checkpoints as usize > crash.told, "{context}");
        project.store(&project.open(), "after the crash");
        sign(&project);
        let found = callosum_ledger::verify_within(&project.disk, &project.paths, scope).unwrap();
        assert_eq!(found.problems, [], "{context}");
    }
}
