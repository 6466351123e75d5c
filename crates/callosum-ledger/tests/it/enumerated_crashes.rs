//! Every state that a crash may leave, at every step of every way to write.
//!
//! Start with [`Workload::check_every_crash`]. [`Crashes`] defines and generates the possible
//! states after a crash, and [`check`] defines the conditions on each. Deliberately not here: disks
//! that fail, which are another matter (`faults`).

use std::{
    collections::{BTreeSet, HashMap},
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::Mutex,
    thread,
};

use callosum_ledger::{
    AuditEvent, AuditQuery, AuditReader, Entry, ErrorCode, Event, Ledger, Query, Repair,
    RepairKind, locks::ExclusiveLedger, replay, verify, verify::VerifyFinding,
};
use callosum_testkit::disk::{Crash, Crashes, Image, MemoryDisk, Trace};
use serde_json::Value;

use crate::project::{Project, ROOT, spawn};

/// Promise to a workload.
#[derive(Clone, Debug)]
enum Promise {
    /// The ledger is created.
    Created,
    /// The entry is stored.
    Stored(Box<Entry>),
    /// So many decisions are in the journal.
    Recorded(usize),
}

/// Something that is done to a project on a disk that remembers.
struct Workload {
    memory: MemoryDisk,
    /// Promises from before the disk was mounted.
    before: Vec<Promise>,
    /// Promises since then, in the order of the trace.
    since: Mutex<Vec<Promise>>,
}

impl Workload {
    /// An empty folder.
    fn on_nothing() -> Self {
        Self::on(Image::with_folder(ROOT), Vec::new())
    }

    /// A disk on which this is, with what was promised of it.
    fn on(image: Image, before: Vec<Promise>) -> Self {
        Self {
            memory: MemoryDisk::with(&image),
            before,
            since: Mutex::default(),
        }
    }

    /// A ledger with so many entries, all of it durable, with a watermark in their midst.
    fn on_entries(count: usize) -> Self {
        let first = Self::on_nothing();
        let project = first.project();
        project.create();
        let ledger = project.open();
        for number in 0..count {
            first.store(&project, &ledger, &format!("{number} before"));
            if number == count / 2 {
                project
                    .disk
                    .remove_file(&project.paths.watermark())
                    .unwrap();
                drop(project.open());
            }
        }
        drop(ledger);
        let mut promises = first.since.into_inner().unwrap();
        promises.push(Promise::Created);
        Self::on(first.memory.image(), promises)
    }

    /// Returns the same after a foreign change to the disk.
    fn changed(self, change: impl FnOnce(&mut Image, &Project)) -> Self {
        let mut image = self.memory.image();
        change(&mut image, &self.project());
        Self::on(image, self.before)
    }

    fn project(&self) -> Project {
        Project::in_memory(self.memory.disk())
    }

    fn promised(&self, promise: Promise) {
        let mut since = self.since.lock().unwrap();
        assert_eq!(self.memory.tell(), since.len());
        since.push(promise);
    }

    fn create(&self, project: &Project) {
        project.create();
        self.promised(Promise::Created);
    }

    fn store(&self, project: &Project, ledger: &Ledger, summary: &str) -> Entry {
        let entry = project.store(ledger, summary);
        self.promised(Promise::Stored(Box::new(entry.clone())));
        entry
    }

    fn decide(&self, ledger: &Ledger, count: usize) {
        ledger.record(decision()).unwrap();
        ledger.flush().unwrap();
        self.promised(Promise::Recorded(count));
    }

    /// Checks every state that a crash may have left, and for each kind of repair some of the
    /// states that a further crash during the repair may have left. Says how many.
    fn check_every_crash(&self, now: &str) -> usize {
        let trace = self.memory.trace();
        let since = self.since.lock().unwrap();
        let issued: Vec<&Promise> = self.before.iter().chain(since.iter()).collect();
        let mut checked = 0;
        let mut repaired: HashMap<BTreeSet<(PathBuf, &str)>, usize> = HashMap::new();
        for (number, crash) in Crashes::of(&trace, SEED).generate().iter().enumerate() {
            let promised = self.before.len() + crash.told;
            let expected = Expected {
                promised: &issued[..promised],
                issued: &issued,
                now,
                goes_on: number % SOME == 0,
            };
            let (repairs, trace) = check(crash, &expected);
            checked += 1;
            if repairs.is_empty() {
                continue;
            }
            let count = repaired.entry(kinds(&repairs)).or_default();
            *count += 1;
            if *count > 1 {
                continue;
            }
            let crashes = Crashes::of(&trace, SEED).generate();
            let every = crashes.len().div_ceil(OF_A_REPAIR);
            for crash in crashes.iter().step_by(every) {
                check(crash, &expected);
                checked += 1;
            }
        }
        checked
    }
}

/// Seed of the random choices, which are the same each time.
const SEED: u64 = 20_261_102;

/// Of each kind of repair, up to so many of the states that it may be interrupted in are checked.
const OF_A_REPAIR: usize = 24;

/// After one in so many crashes, the ledger is replayed and written to.
const SOME: usize = 8;

fn decision() -> AuditEvent {
    AuditEvent::new(Event::Decision)
}

/// Whether two entries have the same contents, in any layout; their checksums hold.
fn is_same(one: &Entry, other: &Entry) -> bool {
    (&one.task_id, one.checksum, &one.summary) == (&other.task_id, other.checksum, &other.summary)
}

/// Returns the files that were repaired, and the kind of each repair.
fn kinds(repairs: &[Repair]) -> BTreeSet<(PathBuf, &'static str)> {
    let kind = |repair: &Repair| match repair.what {
        RepairKind::Cut { .. } => "cut",
        RepairKind::Extended { .. } => "extended",
        RepairKind::Rewritten => "rewritten",
        RepairKind::Archived => "archived",
        RepairKind::SetAside => "set aside",
    };
    let kinds = repairs
        .iter()
        .map(|repair| (repair.path.clone(), kind(repair)));
    kinds.collect()
}

struct Expected<'p> {
    promised: &'p [&'p Promise],
    /// Promises by the end of the workload, including the one in progress.
    issued: &'p [&'p Promise],
    /// When the project is opened after the crash.
    now: &'p str,
    /// Whether the ledger is replayed and written to afterwards.
    goes_on: bool,
}

impl Expected<'_> {
    fn entry(promise: &Promise) -> Option<&Entry> {
        match promise {
            Promise::Stored(entry) => Some(entry),
            Promise::Created | Promise::Recorded(_) => None,
        }
    }

    fn has_issued(&self, entry: &Entry) -> bool {
        let mut issued = self
            .issued
            .iter()
            .filter_map(|promise| Self::entry(promise));
        issued.any(|issued| is_same(issued, entry))
    }

    fn is_created(&self) -> bool {
        self.promised
            .iter()
            .any(|promise| matches!(promise, Promise::Created))
    }
}

/// Checks the conditions after a crash, and returns the repairs made on opening and their kinds.
///
/// Before anything is opened, a reader sees entries that were issued, whole, or gets an error with
/// the reason. `verify` finds a problem if, and only if, opening then repairs something, and never
/// takes it for tampering. After opening, every promise is kept, and nothing else is there but the
/// entry in progress. The ledger is JSON, `verify` finds nothing, and each repair is in the journal
/// with the bytes that it cut. A second opening changes not one byte. Then, for some, an entry can
/// be stored under an id of its own, and a replay gives the same bytes.
fn check(crash: &Crash, expected: &Expected<'_>) -> (Vec<Repair>, Trace) {
    let memory = MemoryDisk::with(&crash.image);
    let project = Project::in_memory(memory.disk()).at(expected.now);
    // What kept the journal from being written is gone.
    drop(project.disk.remove_dir(&tuesdays_file(&project)));
    let context = || format!("after {} steps\n{}", crash.steps, crash.image.listing());

    if let Ok(reader) = callosum_ledger::Reader::open(project.disk.clone(), project.paths.clone())
        && let Ok(entries) = reader.query(&Query::default())
    {
        for entry in entries {
            assert!(expected.has_issued(&entry), "{entry:?}\n{}", context());
        }
    }
    let found_before = verify(&project.disk, &project.paths).unwrap();
    for problem in &found_before.problems {
        // A loss of power must not look like tampering.
        let is_of_a_crash = match problem.fault {
            VerifyFinding::Behind | VerifyFinding::Torn | VerifyFinding::Missing => true,
            // The ledger of another program that is being taken over.
            VerifyFinding::Layout => problem.path == project.paths.ledger,
            _ => false,
        };
        assert!(is_of_a_crash, "{problem:?}\n{}", context());
    }

    let ledger = if expected.is_created() {
        project.try_open()
    } else {
        project.try_open().or_else(|_| {
            project.create();
            project.try_open()
        })
    };
    let ledger = ledger.unwrap_or_else(|error| panic!("{error}\n{}", context()));
    let repairs = ledger.repairs();
    let trace = memory.trace();
    if expected.is_created() {
        assert!(
            found_before.is_sound() == repairs.is_empty(),
            "{:?}\n{repairs:?}\n{}",
            found_before.problems,
            context()
        );
    }
    drop(ledger);

    let entries = project.reader().query(&Query::default()).unwrap();
    for promise in expected.promised {
        if let Some(entry) = Expected::entry(promise) {
            let is_there = entries.iter().any(|found| is_same(found, entry));
            assert!(is_there, "lost {}\n{}", entry.task_id, context());
        }
        if let Promise::Recorded(count) = promise {
            assert!(
                count_of(&project, Event::Decision) >= *count,
                "lost a decision\n{}",
                context()
            );
        }
    }
    for entry in &entries {
        assert!(expected.has_issued(entry), "{entry:?}\n{}", context());
    }
    let decisions = expected.issued.iter().map(|promise| match promise {
        Promise::Recorded(count) => *count,
        Promise::Created | Promise::Stored(_) => 0,
    });
    assert!(count_of(&project, Event::Decision) <= decisions.max().unwrap_or(0));
    check_sound(&project, entries.len(), &context);
    for repair in &repairs {
        let kept = repair.kept.as_ref();
        assert!(kept.is_none_or(|kept| project.disk.exists(kept).unwrap()));
    }
    assert!(
        count_of(&project, Event::Repair) >= repairs.len(),
        "{}",
        context()
    );

    let before = memory.image();
    let again = project.open();
    assert_eq!(again.repairs(), [], "{}", context());
    assert!(memory.image() == before, "{}", context());
    if expected.goes_on {
        let later = project.store(&again, "after the crash");
        assert!(entries.iter().all(|entry| entry.task_id != later.task_id));
        check_sound(&project, entries.len() + 1, &context);
        let replayed = replay(&project.disk, &project.paths, None, Path::new("/replayed"));
        assert_eq!(replayed.unwrap().difference, None, "{}", context());
    }
    (repairs, trace)
}

fn tuesdays_file(project: &Project) -> PathBuf {
    project.paths.audit.join("2026-11-03.jsonl")
}

fn count_of(project: &Project, event: Event) -> usize {
    let query = AuditQuery {
        event: Some(event),
        ..AuditQuery::default()
    };
    let reader = AuditReader::new(project.disk.clone(), project.paths.clone());
    let mut count = 0;
    let read = reader.query(&query, |_| {
        count += 1;
        ControlFlow::Continue(())
    });
    read.unwrap();
    count
}

fn check_sound(project: &Project, entries: usize, context: &dyn Fn() -> String) {
    let found = verify(&project.disk, &project.paths).unwrap();
    assert_eq!(found.problems, [], "{}", context());
    assert_eq!((found.entries + found.archived_entries) as usize, entries);
    let file: Value = serde_json::from_slice(&project.read(&project.paths.ledger)).unwrap();
    assert_eq!(
        file["tasks"].as_array().unwrap().len() as u64,
        found.entries
    );
}

const MONDAY: &str = "2026-11-02T12:00:00Z";
const TUESDAY: &str = "2026-11-03T12:00:00Z";

/// REQ-LED-001, CAL-SUM-2: creating a ledger, and the first entries.
#[test]
fn creating_and_the_first_entries_survive_every_crash() {
    let workload = Workload::on_nothing();
    let project = workload.project();
    workload.create(&project);
    let ledger = project.open();
    for number in 0..2 {
        workload.store(&project, &ledger, &format!("{number} \u{e9}"));
    }
    drop(ledger);
    assert!(workload.check_every_crash(MONDAY) > 300);
}

/// REQ-LED-001: entries of all sizes, with events between them, on a ledger with a past.
#[test]
fn appending_survives_every_crash() {
    let workload = Workload::on_entries(3);
    let project = workload.project();
    let ledger = project.open();
    for (number, len) in [0, 1500, 40, 600].into_iter().enumerate() {
        ledger.record(decision()).unwrap();
        workload.store(&project, &ledger, &"x".repeat(len));
        workload.decide(&ledger, 2 * number + 2);
    }
    drop(ledger);
    assert!(workload.check_every_crash(MONDAY) > 1000);
}

/// REQ-LED-001, CAL-MSP-2: entries of several threads, which share a write and a sync.
#[test]
fn group_commit_survives_every_crash() {
    let workload = Workload::on_entries(1);
    let project = workload.project();
    let ledger = project.open();
    let ids: Vec<_> = (0..4).map(|_| ledger.reserve(spawn()).unwrap()).collect();
    // While another process writes, the first thread waits for it, and the others for the first.
    let held = ExclusiveLedger::acquire(&project.disk, &project.paths).unwrap();
    thread::scope(|scope| {
        for (thread, id) in ids.into_iter().enumerate() {
            let (workload, project, ledger) = (&workload, &project, &ledger);
            scope.spawn(move || {
                let entry = project.entry(id, &"y".repeat(150 * thread));
                let stored = ledger.commit(entry).unwrap();
                workload.promised(Promise::Stored(Box::new(stored)));
            });
        }
        while ledger.waiting() < 3 {
            thread::yield_now();
        }
        drop(held);
    });
    drop(ledger);
    assert!(workload.memory.trace().file_syncs() <= 2);
    assert!(workload.check_every_crash(MONDAY) > 150);
}

/// CAL-MSP-2: two processes that write in turn, each bringing itself in line with the other.
#[test]
fn two_handles_in_turn_survive_every_crash() {
    let workload = Workload::on_entries(2);
    let project = workload.project();
    let handles = [project.open(), project.open()];
    for number in 0..4 {
        workload.store(&project, &handles[number % 2], &format!("{number}"));
    }
    drop(handles);
    assert!(workload.check_every_crash(MONDAY) > 600);
}

/// CAL-GOV-1: the first records of a new day, in a new file.
#[test]
fn a_new_day_survives_every_crash() {
    let workload = Workload::on_entries(2);
    let monday = workload.project();
    let ledger = monday.open();
    workload.store(&monday, &ledger, "monday");
    drop(ledger);
    let tuesday = workload.project().at("2026-11-03T00:00:00Z");
    let ledger = tuesday.open();
    workload.store(&tuesday, &ledger, "tuesday");
    workload.store(&tuesday, &ledger, &"z".repeat(700));
    drop(ledger);
    assert!(workload.check_every_crash(TUESDAY) > 500);
}

/// CAL-LED-1, REQ-LED-003: archiving the ledger and going on in a new one, by hand and at the
/// threshold.
#[test]
fn archiving_survives_every_crash() {
    let mut count = 0;
    let workload = Workload::on_entries(2);
    let project = workload.project();
    let ledger = project.open();
    workload.store(&project, &ledger, "the last of the first");
    assert!(ledger.rotate().unwrap().is_some());
    workload.store(&project, &ledger, "the first of the second");
    drop(ledger);
    count += workload.check_every_crash(MONDAY);

    let workload = Workload::on_entries(1);
    let project = workload.project().rotating_at(500);
    let ledger = project.open();
    for _ in 0..3 {
        workload.store(&project, &ledger, &"x".repeat(300));
    }
    assert_eq!(ledger.rotations().len(), 2);
    drop(ledger);
    count += workload.check_every_crash(MONDAY);
    assert!(count > 500, "{count}");
}

/// CAL-LED-1: compressing what was archived, and doing the rest of it the next time.
#[test]
fn compressing_archives_survives_every_crash() {
    let workload = Workload::on_entries(2);
    let project = workload.project();
    let ledger = project.open();
    assert!(ledger.rotate().unwrap().is_some());
    workload.store(&project, &ledger, "the first of the second");
    let compress = || Ledger::compress_archives(&project.disk, &project.paths).unwrap();
    assert_eq!(compress(), 1);
    assert!(ledger.rotate().unwrap().is_some());
    assert_eq!((compress(), compress()), (1, 0));
    workload.store(&project, &ledger, "the first of the third");
    drop(ledger);
    let count = workload.check_every_crash(MONDAY);
    assert!(count > 300, "{count}");
}

/// CAL-SUM-2: setting the watermark again, and continuing from it.
#[test]
fn setting_the_watermark_survives_every_crash() {
    let workload = Workload::on_entries(2);
    let project = workload.project();
    let ledger = project.open();
    for _ in 0..3 {
        // One sector after another is in need of the sync.
        workload.store(&project, &ledger, &"x".repeat(600));
    }
    drop(ledger);
    project
        .disk
        .remove_file(&project.paths.watermark())
        .unwrap();
    let ledger = project.open();
    workload.store(&project, &ledger, "beyond it");
    drop(ledger);
    assert!(workload.check_every_crash(MONDAY) > 120);
}

/// CAL-ERR-8: events that wait on disk while the journal cannot be written, and are then taken
/// over, each once.
#[test]
fn waiting_events_survive_every_crash() {
    let workload = Workload::on_entries(1).changed(|image, project| {
        image.put_folder(tuesdays_file(project));
    });
    let project = workload.project().at("2026-11-03T00:00:00Z");
    let ledger = project.open();
    for count in 1..=2 {
        ledger.record(decision()).unwrap();
        let error = ledger.flush().unwrap_err();
        assert_eq!(error.code(), Some(ErrorCode::AuditFailure));
        workload.promised(Promise::Recorded(count));
    }
    drop(ledger);
    project.disk.remove_dir(&tuesdays_file(&project)).unwrap();
    let ledger = project.open();
    workload.decide(&ledger, 3);
    workload.store(&project, &ledger, "and on");
    drop(ledger);
    assert!(workload.check_every_crash(TUESDAY) > 100);
}

/// CAL-SUM-2: rebuilding a hashlog that is lost, or wrong in the middle.
#[test]
fn rebuilding_the_hashlog_survives_every_crash() {
    let mut count = 0;
    for is_lost in [true, false] {
        let workload = Workload::on_entries(4).changed(|image, project| {
            image.remove_file(&project.paths.watermark());
            let hashlog = image.file(&project.paths.hashlog).unwrap().to_vec();
            image.remove_file(&project.paths.hashlog);
            if !is_lost {
                let half = [&hashlog[..hashlog.len() / 2], &[0; 600]].concat();
                image.put_file(&project.paths.hashlog, half);
            }
        });
        let project = workload.project();
        let ledger = project.open();
        assert_eq!(ledger.repairs().len(), 1);
        workload.store(&project, &ledger, "and on");
        drop(ledger);
        count += workload.check_every_crash(MONDAY);
    }
    assert!(count > 200);
}

/// CAL-SUM-2: opening a project whose three files were all torn.
#[test]
fn repairing_on_opening_survives_every_crash() {
    let workload = Workload::on_entries(4).changed(|image, project| {
        for path in [&project.paths.ledger, &project.paths.hashlog] {
            let bytes = image.file(path).unwrap();
            let mut torn = bytes.to_vec();
            let sectors = torn.chunks_mut(512);
            sectors.last().unwrap().fill(0);
            image.put_file(path, torn);
        }
        let mut journal = image.file(&project.journal()).unwrap().to_vec();
        journal.extend_from_slice(b"{\"torn\":");
        journal.resize(journal.len() + 512, 0);
        image.put_file(project.journal(), journal);
        image.remove_file(&project.paths.watermark());
    });
    let project = workload.project();
    let ledger = project.open();
    assert_eq!(ledger.repairs().len(), 3);
    workload.store(&project, &ledger, "and on");
    drop(ledger);
    assert!(workload.check_every_crash(MONDAY) > 120);
}

/// CAL-SCH-1: a ledger of another program being taken over; its entries are promised from the
/// beginning.
#[test]
fn taking_over_a_ledger_survives_every_crash() {
    let source = Workload::on_entries(3);
    let project = source.project();
    let ledger: Value = serde_json::from_slice(&project.read(&project.paths.ledger)).unwrap();
    let mut image = Image::with_folder(ROOT);
    let pretty = serde_json::to_string_pretty(&ledger).unwrap();
    image.put_file(&project.paths.ledger, pretty);
    let is_entry = |promise: &Promise| matches!(promise, Promise::Stored(_));
    let entries = source.before.into_iter().filter(is_entry).collect();
    let workload = Workload::on(image, entries);
    let project = workload.project();
    workload.create(&project);
    let ledger = project.open();
    workload.store(&project, &ledger, "ours");
    drop(ledger);
    assert!(workload.check_every_crash(MONDAY) > 150);
}
