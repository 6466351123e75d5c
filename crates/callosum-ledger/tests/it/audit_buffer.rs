//! Events while the journal cannot be written: each gets there once.

use std::path::PathBuf;

use callosum_host::OpenHow;
use callosum_ledger::{
    AuditEvent, AuditQuery, AuditReader, ErrorCode, Event, Ledger, WriteError, verify,
};
use callosum_testkit::disk::{Fault, FaultyDisk, Image, MemoryDisk};
use serde_json::Value;

use crate::project::{Project, ROOT, id, spawn};

/// A project on the day after its first entry, with a buffer, and the place of the day's file.
fn next_day() -> (Project, PathBuf) {
    let (mut project, _) = Project::with_entries(1);
    // Outside of what the project's own tests look at, and gone with it.
    project.paths.audit_buffer = Some(project.paths.root.join("machine/audit-buffer/p.jsonl"));
    let project = project.at("2026-11-03T00:00:00Z");
    let today = project.paths.audit.join("2026-11-03.jsonl");
    (project, today)
}

fn decision(turn: u64) -> AuditEvent {
    AuditEvent::new(Event::Decision).with("turn", turn)
}

/// The turns of the decisions in the journal, in its order.
fn turns(project: &Project) -> Vec<u64> {
    let reader = AuditReader::new(project.disk.clone(), project.paths.clone());
    let mut turns = Vec::new();
    let decisions = AuditQuery {
        event: Some(Event::Decision),
        ..AuditQuery::default()
    };
    reader
        .query(&decisions, |record| {
            turns.extend(record.details.get("turn").and_then(Value::as_u64));
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
    turns
}

fn buffer(project: &Project) -> Option<String> {
    let path = project.paths.audit_buffer.as_ref().unwrap();
    let bytes = project.disk.read_if_there(path).unwrap();
    bytes.map(|bytes| String::from_utf8(bytes).unwrap())
}

/// Records so many decisions on a journal that cannot be written, in groups of two.
fn record_in_vain(ledger: &Ledger, count: u64) {
    for turn in 1..=count {
        ledger.record(decision(turn)).unwrap();
        if turn % 2 == 0 {
            let error = ledger.flush().unwrap_err();
            assert_eq!(error.code(), Some(ErrorCode::AuditFailure));
        }
    }
}

/// A project whose buffer holds four decisions, with the folder gone that kept the journal closed.
fn with_four_waiting() -> (Project, String) {
    let (project, today) = next_day();
    project.disk.create_dir_all(&today).unwrap();
    record_in_vain(&project.open(), 4);
    project.disk.remove_dir(&today).unwrap();
    let waiting = buffer(&project).unwrap();
    (project, waiting)
}

/// CAL-ERR-8: while the journal cannot be written nothing is committed, what was recorded is on
/// disk elsewhere, and the next group takes it over before its own.
#[test]
fn events_wait_on_disk_and_stand_in_the_journal_before_the_next_commit() {
    let (project, today) = next_day();
    let ledger = project.open();
    project.disk.create_dir_all(&today).unwrap();
    let views = project.views();
    record_in_vain(&ledger, 4);
    let entry = project.entry(id("cal_2026_11_03_0777"), "refused");
    let error = ledger.commit(entry).unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::AuditFailure));
    assert_eq!(buffer(&project).unwrap().lines().count(), 4);
    assert_eq!(project.views(), views);
    assert!(turns(&project).is_empty());

    project.disk.remove_dir(&today).unwrap();
    ledger.record(decision(5)).unwrap();
    let id = ledger.reserve(spawn()).unwrap();
    ledger.commit(project.entry(id, "stored")).unwrap();
    assert_eq!(turns(&project), [1, 2, 3, 4, 5]);
    assert_eq!(buffer(&project), None);
    drop(ledger);
    assert!(verify(&project.disk, &project.paths).unwrap().is_sound());
    assert_eq!(project.open().repairs(), []);
}

/// CAL-ERR-8: what a process left waiting is taken over by the next that opens the ledger.
#[test]
fn the_next_opening_takes_over_what_waits() {
    let (project, _) = with_four_waiting();
    drop(project.open());
    assert_eq!(turns(&project), [1, 2, 3, 4]);
    assert_eq!(buffer(&project), None);
}

/// CAL-ERR-8: an opening that cannot take it over either leaves it waiting, and reading goes on.
#[test]
fn an_opening_that_cannot_take_over_leaves_it_waiting() {
    let (project, waiting) = with_four_waiting();
    let today = project.paths.audit.join("2026-11-03.jsonl");
    project.disk.create_dir_all(&today).unwrap();
    let ledger = project.open();
    assert_eq!(project.reader().stats().unwrap().entries, 1);
    assert_eq!(buffer(&project).as_ref(), Some(&waiting));
    project.disk.remove_dir(&today).unwrap();
    ledger.flush().unwrap();
    assert_eq!(turns(&project), [1, 2, 3, 4]);
    assert_eq!(buffer(&project), None);
}

/// CAL-ERR-8: wherever a crash breaks the taking over off, each event is in the journal once.
#[test]
fn a_taking_over_that_is_broken_off_anywhere_puts_each_event_there_once() {
    let (project, waiting) = with_four_waiting();
    let path = project.paths.audit_buffer.clone().unwrap();
    drop(project.open());
    let today = project.paths.audit.join("2026-11-03.jsonl");
    let whole = project.read(&today);
    for cut in (0..=whole.len()).step_by(37).chain([whole.len()]) {
        project.write(&today, &whole[..cut]);
        project.write(&path, &waiting);
        drop(project.open());
        assert_eq!(turns(&project), [1, 2, 3, 4], "cut at {cut}");
        assert_eq!(buffer(&project), None, "cut at {cut}");
        let found = verify(&project.disk, &project.paths).unwrap();
        assert_eq!(found.problems, [], "cut at {cut}");
    }
}

/// CAL-ERR-8: a buffer that a crash tore keeps its whole lines, and more go behind them.
#[test]
fn a_torn_buffer_gives_its_whole_lines_and_takes_more() {
    let (project, waiting) = with_four_waiting();
    let path = project.paths.audit_buffer.clone().unwrap();
    project.write(&path, &waiting[..waiting.len() - 9]);
    let today = project.paths.audit.join("2026-11-03.jsonl");
    project.disk.create_dir_all(&today).unwrap();
    let ledger = project.open();
    ledger.record(decision(9)).unwrap();
    ledger.flush().unwrap_err();
    drop(ledger);
    project.disk.remove_dir(&today).unwrap();
    drop(project.open());
    assert_eq!(turns(&project), [1, 2, 3, 9]);
    // What was torn is kept, as everywhere.
    let kept = project.disk.list_dir(&project.paths.quarantine).unwrap();
    assert_eq!(kept.len(), 1);
}

/// CAL-SEC-1: what waits is its owner's alone.
#[test]
fn only_its_owner_may_read_the_buffer() {
    let (project, _) = with_four_waiting();
    let path = project.paths.audit_buffer.as_ref().unwrap();
    let file = project.disk.open(path, OpenHow::READ).unwrap();
    assert_eq!(file.mode().unwrap(), Some(0o600));
}

/// CAL-ERR-8: events that any failing call keeps from the buffer stay in memory, and are in the
/// journal once in the end, no matter how many of them had reached the buffer.
#[test]
fn events_that_the_buffer_took_only_in_part_are_recorded_once() {
    for fault in [Fault::Once, Fault::Sync] {
        let mut has_failed = true;
        let mut calls = 0;
        while has_failed {
            let memory = MemoryDisk::with(&Image::with_folder(ROOT));
            Project::in_memory(memory.disk()).create();
            let faulty = FaultyDisk::new(memory, fault, usize::MAX);
            let project = Project::in_memory(faulty.disk()).at("2026-11-03T00:00:00Z");
            let today = project.paths.audit.join("2026-11-03.jsonl");
            project.disk.create_dir_all(&today).unwrap();
            let ledger = project.open();
            record_in_vain(&ledger, 2);
            ledger.record(decision(3)).unwrap();
            ledger.record(decision(4)).unwrap();
            faulty.fail_after(calls);
            assert!(ledger.flush().is_err());
            has_failed = faulty.has_failed();
            faulty.mend();
            project.disk.remove_dir(&today).unwrap();
            ledger.record(decision(5)).unwrap();
            let context = format!("{fault:?} after {calls} calls");
            match ledger.flush() {
                Ok(()) => assert_eq!(turns(&project), [1, 2, 3, 4, 5], "{context}"),
                // After a failed sync of the journal this handle writes nothing more.
                Err(error) => {
                    assert!(matches!(error, WriteError::Halted(_)), "{context}: {error}");
                    drop(project.open());
                    assert_eq!(turns(&project), [1, 2], "{context}");
                }
            }
            calls += 1;
        }
    }
}

/// CAL-ERR-8: a task that the journal did not take is recorded once it can be written again.
#[test]
fn a_refused_reservation_is_recorded() {
    let (project, today) = next_day();
    let ledger = project.open();
    project.disk.create_dir_all(&today).unwrap();
    let error = ledger.reserve(spawn()).unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::AuditFailure));
    drop(ledger);
    project.disk.remove_dir(&today).unwrap();
    drop(project.open());
    let tail = AuditReader::new(project.disk.clone(), project.paths.clone());
    let [.., last] = &tail.tail(9).unwrap()[..] else {
        panic!("there is no record");
    };
    assert_eq!(
        (last.event.as_str(), last.status.as_deref()),
        ("error", Some("refused"))
    );
    assert_eq!(last.details["code"], "E008");
}

/// CAL-ERR-5, CAL-ERR-8: events given to a handle that had halted are not lost with it.
#[test]
fn the_events_of_a_halted_handle_wait_on_disk() {
    let memory = MemoryDisk::with(&Image::with_folder(ROOT));
    let project = Project::in_memory(memory.disk());
    project.create();
    project.store(&project.open(), "before");
    let faulty = FaultyDisk::new(memory.clone(), Fault::Sync, usize::MAX);
    let ledger = Project::in_memory(faulty.disk()).open();
    ledger.record(decision(1)).unwrap();
    faulty.fail_now();
    assert!(ledger.flush().unwrap_err().has_halted());
    ledger.record(decision(2)).unwrap();
    assert!(ledger.flush().unwrap_err().has_halted());
    drop(ledger);
    assert_eq!(buffer(&project).unwrap().lines().count(), 2);
    drop(project.open());
    assert_eq!(turns(&project), [1, 2]);
    assert_eq!(buffer(&project), None);
}
