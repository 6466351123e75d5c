//! Creating, reserving and committing.

use std::{
    collections::HashSet,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    thread,
};

use callosum_host::OpenHow;
use callosum_json::canonical;
use callosum_ledger::{
    AuditEvent, AuditReader, CreateError, ErrorCode, Event, Ledger, LedgerVersion, OpenError,
    Query, SearchPlace, Searched, TaskId, WriteError,
    checkpoint::{Begin, TrustStore},
    locks::ExclusiveLedger,
    verify,
    verify::Scope,
    verify_within,
};
use serde_json::Value;

use crate::project::{Project, START, id, spawn};

/// REQ-DEP-005, CAL-CFG-1: the seed's files are created, and only once.
#[test]
fn create_makes_what_is_missing_and_nothing_the_second_time() {
    let project = Project::empty();
    let created = project.create().created;
    let names: HashSet<_> = created
        .iter()
        .map(|path| path.file_name().unwrap().to_str().unwrap())
        .collect();
    let expected = [
        ".cal_memory.json",
        ".cal_hashlog",
        ".cal_memory_history",
        "cal_audit",
        ".cal_lock",
    ];
    assert_eq!(names, HashSet::from(expected));
    let before = project.views();
    assert_eq!(project.create(), callosum_ledger::Creation::default());
    assert_eq!(project.views(), before);
    let ledger: Value = serde_json::from_str(&before.0).unwrap();
    assert_eq!(ledger, serde_json::json!({"version": "1.2", "tasks": []}));
}

/// CAL-SCH-1, REQ-SYS-003: at rest the file is valid JSON of the seed's schema.
#[test]
fn committed_entries_are_in_the_ledger_as_the_schema_says() {
    let project = Project::new();
    let ledger = project.open();
    let first = project.store(&ledger, "first");
    let task_id = ledger.reserve(spawn()).unwrap();
    let mut linked = project.entry(task_id, "second é \u{1f600}");
    linked.linked_tasks.push(first.task_id.clone());
    linked.metadata.insert("mode".to_owned(), "queued".into());
    let second = ledger.commit(linked.clone()).unwrap();

    let file: Value = serde_json::from_str(&project.text(&project.paths.ledger)).unwrap();
    let stored = &file["tasks"][1];
    assert_eq!(stored["summary"], "second é \u{1f600}");
    assert_eq!(stored["linked_tasks"][0], first.task_id.as_str());
    assert_eq!(stored["checksum"], second.checksum.to_string());
    assert_eq!(stored["metadata"]["mode"], "queued");
    // CAL-SUM-1: over the canonical form of the entry without its checksum.
    let plain = serde_json::to_vec(&linked).unwrap();
    let checksum = canonical::checksum(&plain, canonical::DuplicateKeys::Refused).unwrap();
    assert_eq!(second.checksum, checksum);
    // CAL-SUM-2: and in the hashlog.
    assert!(
        project
            .text(&project.paths.hashlog)
            .contains(&checksum.to_string())
    );
    assert_eq!(
        project
            .reader()
            .find(&second.task_id)
            .unwrap()
            .unwrap()
            .entry,
        second
    );
}

/// CAL-SCH-2: a reserved id is given out once, also by another handle on the same files.
#[test]
fn two_handles_never_reserve_the_same_id() {
    let project = Project::new();
    let (one, other) = (project.open(), project.open());
    let ids: Vec<_> = (0..6)
        .map(|turn| if turn % 2 == 0 { &one } else { &other })
        .map(|ledger| ledger.reserve(spawn()).unwrap().to_string())
        .collect();
    let expected: Vec<_> = (1..7).map(|n| format!("cal_2026_11_02_000{n}")).collect();
    assert_eq!(ids, expected);
}

/// CAL-SCH-2: once the day's numbers are used up, ids are UUIDs.
#[test]
fn past_the_last_number_of_a_day_ids_are_uuids() {
    let project = Project::new();
    let ledger = project.open();
    ledger
        .commit(project.entry(id("cal_2026_11_02_9998"), "imported"))
        .unwrap();
    assert_eq!(ledger.reserve(spawn()).unwrap(), id("cal_2026_11_02_9999"));
    assert_eq!(
        ledger.reserve(spawn()).unwrap(),
        id("00000000-0000-4000-8000-000000000001")
    );
}

/// CAL-SCH-4: a link must lead to an entry.
#[test]
fn a_commit_with_unknown_links_is_refused_and_names_them() {
    let project = Project::new();
    let ledger = project.open();
    let known = project.store(&ledger, "known");
    let before = project.views();
    let mut entry = project.entry(ledger.reserve(spawn()).unwrap(), "lost");
    entry.linked_tasks = vec![known.task_id, id("cal_2020_01_01_0001")];
    let error = ledger.commit(entry).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the ledger does not contain these linked tasks: `cal_2020_01_01_0001`"
    );
    assert_eq!(error.code(), None);
    assert_eq!(project.views(), before);
}

/// CAL-SCH-4: a link may lead to what another process stored, before or after opening.
#[test]
fn links_lead_to_what_other_handles_stored() {
    let (project, ids) = Project::with_entries(1);
    let (one, other) = (project.open(), project.open());
    let later = project.store(&other, "later");
    let mut entry = project.entry(one.reserve(spawn()).unwrap(), "linked");
    entry.linked_tasks = vec![ids[0].clone(), later.task_id];
    one.commit(entry).unwrap();
}

#[test]
fn a_task_has_one_entry() {
    let (project, ids) = Project::with_entries(1);
    let again = project.entry(ids[0].clone(), "again");
    let error = project.open().commit(again).unwrap_err();
    assert!(matches!(error, WriteError::Taken { task_id } if task_id == ids[0]));
}

/// REQ-LED-001, CAL-MSP-2: entries of many threads and handles are all there, once.
#[test]
fn entries_of_many_threads_and_handles_are_all_there_once() {
    let project = Project::new();
    let ledgers: Vec<Ledger> = (0..3).map(|_| project.open()).collect();
    let ids: Vec<TaskId> = thread::scope(|scope| {
        let threads: Vec<_> = (0..12)
            .map(|thread| {
                let (project, ledger) = (&project, &ledgers[thread % 3]);
                scope.spawn(move || {
                    (0..5)
                        .map(|turn| {
                            let event = AuditEvent::new(Event::Decision).with("turn", turn);
                            ledger.record(event).unwrap();
                            project.store(ledger, &format!("{thread}/{turn}")).task_id
                        })
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        threads
            .into_iter()
            .flat_map(|t| t.join().unwrap())
            .collect()
    });
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), 60);
    let read = project.reader().query(&Query::default()).unwrap();
    let read: HashSet<_> = read.iter().map(|entry| &entry.task_id).collect();
    assert_eq!(read, ids.iter().collect());
    drop(ledgers);
    assert_eq!(project.open().repairs(), []);
}

/// CAL-GOV-1: events are in the journal in the order of their calls.
#[test]
fn events_stand_in_order_before_the_commit_that_follows_them() {
    let project = Project::new();
    let ledger = project.open();
    let id = ledger.reserve(spawn()).unwrap();
    for status in ["running", "await_merge"] {
        let mut event = AuditEvent::new(Event::State);
        event.status = Some(status.to_owned());
        ledger.record(event).unwrap();
    }
    ledger.commit(project.entry(id, "done")).unwrap();
    ledger.record(AuditEvent::new(Event::Recovery)).unwrap();
    drop(ledger);
    let kinds: Vec<String> = project
        .text(&project.journal())
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["event"].to_string())
        .collect();
    assert_eq!(
        kinds,
        ["created", "spawn", "state", "state", "commit", "recovery"]
            .map(|kind| format!("\"{kind}\""))
    );
}

/// CAL-GOV-1: a day's records stand in the day's file, and the chain goes on in the next.
#[test]
fn a_new_day_begins_a_new_file_that_other_handles_notice() {
    let project = Project::new();
    let (old, other) = (project.open(), project.open());
    project.store(&old, "monday");
    let project = project.at("2026-11-03T00:00:00Z");
    let tuesday = project.open();
    assert_eq!(
        project.store(&tuesday, "tuesday").task_id.as_str(),
        "cal_2026_11_03_0001"
    );
    // A handle whose clock has stopped continues in the new file.
    let late = project.store(&other, "late");
    assert_eq!(late.task_id.as_str(), "cal_2026_11_03_0002");
    let days: Vec<_> = project.disk.list_dir(&project.paths.audit).unwrap();
    assert_eq!(days.len(), 2);
    let first = project.text(&project.journal());
    assert!(
        first
            .lines()
            .last()
            .unwrap()
            .contains("\"event\":\"day_end\"")
    );
    drop((old, other, tuesday));
    assert_eq!(project.open().repairs(), []);
    assert_eq!(project.reader().stats().unwrap().entries, 3);
}

/// CAL-GOV-1: if another program replaces, cuts or removes a file of ours between two commits, this
/// is noticed, though it was open the whole time.
#[test]
fn a_file_that_is_replaced_cut_or_removed_between_two_commits_is_noticed() {
    type Change = fn(&Project, &Path);
    let copy: Change = |project, path| project.write(path, project.read(path));
    let cut: Change = |project, path| {
        let file = project.disk.open(path, OpenHow::READ_WRITE).unwrap();
        file.set_len(file.size().unwrap() - 5).unwrap();
    };
    let remove: Change = |project, path| assert!(project.disk.remove_file(path).unwrap());
    let link: Change = |project, path| {
        let elsewhere = path.with_extension("elsewhere");
        project.disk.rename(path, &elsewhere).unwrap();
        symlink(&elsewhere, path).unwrap();
    };
    let check = |of: fn(&Project) -> PathBuf, change: Change, is_mended: bool| {
        let (project, _) = Project::with_entries(1);
        let ledger = project.open();
        project.store(&ledger, "before");
        let path = of(&project);
        change(&project, &path);
        let id = ledger.reserve(spawn());
        let stored = id.and_then(|id| ledger.commit(project.entry(id, "after")));
        assert_eq!(stored.is_ok(), is_mended, "{}: {stored:?}", path.display());
        drop(ledger);
        if is_mended {
            let found = verify(&project.disk, &project.paths).unwrap();
            assert_eq!((found.problems, found.entries), (vec![], 3));
            assert_eq!(project.open().repairs(), []);
        }
    };
    let views: [fn(&Project) -> PathBuf; 2] = [
        |project| project.paths.ledger.clone(),
        |project| project.paths.hashlog.clone(),
    ];
    for view in views {
        check(view, copy, true);
        check(view, cut, true);
        check(view, remove, true);
    }
    check(Project::journal, copy, true);
    check(Project::journal, cut, false);
    check(Project::journal, remove, false);
    check(Project::journal, link, false);
}

/// CAL-MSP-2: a lock's file that is removed while a ledger is open excludes no one any more, so
/// both lock the file that is there next.
#[test]
fn a_removed_lock_file_is_noticed_by_a_ledger_that_had_it_open() {
    let project = Project::new();
    let ledger = project.open();
    project.store(&ledger, "before");
    for entry in project.disk.list_dir(&project.paths.locks).unwrap() {
        let path = project.paths.locks.join(entry.name);
        project.disk.remove_file(&path).unwrap();
    }
    let held = ExclusiveLedger::acquire(&project.disk, &project.paths).unwrap();
    assert_eq!(
        ledger.flush().unwrap_err().code(),
        Some(ErrorCode::LockTimeout)
    );
    drop(held);
    project.store(&ledger, "after");
    // The same with their folder.
    for entry in project.disk.list_dir(&project.paths.locks).unwrap() {
        let path = project.paths.locks.join(entry.name);
        project.disk.remove_file(&path).unwrap();
    }
    project.disk.remove_dir(&project.paths.locks).unwrap();
    project.store(&ledger, "after that");
    let held = ExclusiveLedger::acquire(&project.disk, &project.paths).unwrap();
    assert_eq!(
        ledger.flush().unwrap_err().code(),
        Some(ErrorCode::LockTimeout)
    );
    drop(held);
}

/// CAL-ERR-7, REQ-MSP-001: another process's lock is waited for 1.5 s, then it is E007.
#[test]
fn a_held_lock_is_e007_and_the_ledger_goes_on_afterwards() {
    let project = Project::new();
    let ledger = project.open();
    assert!(!ledger.another_process_is_writing());
    let held = ExclusiveLedger::acquire(&project.disk, &project.paths).unwrap();
    assert!(ledger.another_process_is_writing());
    ledger.record(AuditEvent::new(Event::Decision)).unwrap();
    let error = ledger.flush().unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::LockTimeout));
    drop(held);
    ledger.flush().unwrap();
    assert!(project.text(&project.journal()).contains("\"decision\""));
}

/// CAL-SCH-1: a later version is not written to, and can be read.
#[test]
fn a_ledger_of_a_later_version_is_read_and_never_written() {
    let (project, ids) = Project::with_entries(1);
    let newer = project
        .text(&project.paths.ledger)
        .replace("\"1.2\"", "\"1.3\"");
    project.write(&project.paths.ledger, &newer);
    let error = project.try_open().unwrap_err();
    assert!(matches!(
        error,
        OpenError::Newer {
            found: LedgerVersion { major: 1, minor: 3 },
            ..
        }
    ));
    assert_eq!(project.text(&project.paths.ledger), newer);
    let reader = project.reader();
    assert_eq!(reader.version().unwrap().to_string(), "1.3");
    assert!(reader.find(&ids[0]).unwrap().is_some());

    let other = Project::empty();
    other.write(&other.paths.ledger, &newer);
    let error = Ledger::create(&other.disk, &other.paths, &other.clock).unwrap_err();
    assert!(matches!(error, CreateError::Open(OpenError::Newer { .. })));
}

/// CAL-SCH-1: a ledger of another program is taken over with every field that it has.
#[test]
fn a_ledger_without_a_journal_is_taken_over_where_its_checksums_are_right() {
    let (source, ids) = Project::with_entries(2);
    let ledger: Value = serde_json::from_str(&source.text(&source.paths.ledger)).unwrap();
    let mut foreign = ledger.clone();
    foreign["owner"] = "somebody".into();
    let pretty = serde_json::to_string_pretty(&foreign).unwrap();

    let project = Project::empty();
    project.write(&project.paths.ledger, &pretty);
    let adoption = project.create().adopted.unwrap();
    assert_eq!(adoption.entries, 2);
    assert_eq!(project.text(&adoption.original.unwrap()), pretty);
    let taken: Value = serde_json::from_str(&project.text(&project.paths.ledger)).unwrap();
    assert_eq!(taken, foreign);
    let opened = project.open();
    assert_eq!(opened.repairs(), []);
    let mut entry = project.entry(opened.reserve(spawn()).unwrap(), "linked");
    entry.linked_tasks = ids;
    opened.commit(entry).unwrap();

    let wrong = pretty.replace("summary 1", "summary 2");
    let project = Project::empty();
    project.write(&project.paths.ledger, &wrong);
    let error = Ledger::create(&project.disk, &project.paths, &project.clock).unwrap_err();
    assert!(
        matches!(error, CreateError::BadEntry { number: 2, .. }),
        "{error}"
    );
    assert_eq!(project.text(&project.paths.ledger), wrong);
}

/// CAL-SCH-4, CAL-MSP-2: an entry may be linked regardless of the archives, which are not read.
#[test]
fn a_link_to_the_active_ledger_reads_no_archive() {
    let (project, _) = Project::with_entries(2);
    let archive = project.open().rotate().unwrap().unwrap().archive;
    let ids = [project.store(&project.open(), "active").task_id];
    project.write(&archive, "not a ledger");
    let ledger = project.open();
    let mut entry = project.entry(ledger.reserve(spawn()).unwrap(), "linked");
    entry.linked_tasks = ids.to_vec();
    ledger.commit(entry).unwrap();
    let mut entry = project.entry(ledger.reserve(spawn()).unwrap(), "linked");
    entry.linked_tasks = vec![id("cal_2020_01_01_0001")];
    let error = ledger.commit(entry).unwrap_err();
    assert!(matches!(error, WriteError::Read(_)), "{error}");
}

/// REQ-LED-001: a record that turns out to be whole after its write was given up is known to the
/// check that a task has one entry.
#[test]
fn a_task_whose_entry_turned_up_in_the_journal_has_one() {
    let (project, _) = Project::with_entries(1);
    let ledger = project.open();
    let id = ledger.reserve(spawn()).unwrap();
    // Another handle stores it, and the journal is all that is left of that.
    let views = project.views();
    project
        .open()
        .commit(project.entry(id.clone(), "once"))
        .unwrap();
    project.write(&project.paths.ledger, &views.0[..views.0.len() / 2]);
    project.write(&project.paths.hashlog, "");
    project
        .disk
        .remove_file(&project.paths.watermark())
        .unwrap();
    let error = ledger.commit(project.entry(id, "twice")).unwrap_err();
    assert!(matches!(error, WriteError::Taken { .. }), "{error}");
}

/// CAL-GOV-1: a day file of a day to come is refused by name, and one of tomorrow is not.
#[test]
fn a_day_file_of_a_day_to_come_is_refused_by_name() {
    let (project, _) = Project::with_entries(1);
    let to_come = project.paths.audit.join("2026-11-04.jsonl");
    project.write(&to_come, "{}\n");
    let open = project.open_refused();
    assert!(open.contains("2026-11-04.jsonl"), "{open}");
    let error = Ledger::create(&project.disk, &project.paths, &project.clock).unwrap_err();
    assert!(error.to_string().contains("2026-11-04.jsonl"), "{error}");
    project.disk.remove_file(&to_come).unwrap();
    let ahead = project.at("2026-11-03T10:00:00Z");
    ahead.store(&ahead.open(), "a clock that is ahead");
    let project = ahead.at(START);
    project.store(&project.open(), "a clock that is right");
}

/// CAL-GOV-1: an empty day file of a day to come takes none of today's records.
#[test]
fn an_empty_day_file_of_a_day_to_come_is_passed_over() {
    for day in ["2026-11-03", "2026-12-23"] {
        let (project, _) = Project::with_entries(1);
        let to_come = project.paths.audit.join(format!("{day}.jsonl"));
        project.write(&to_come, "");
        project.store(&project.open(), "today");
        assert!(!project.disk.exists(&to_come).unwrap());
        let found = verify(&project.disk, &project.paths).unwrap();
        assert_eq!((found.day_files, found.problems), (1, Vec::new()));
    }
}

/// An error and what caused it, as the program shows it.
fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(": ")
}

/// CAL-SEC-1: a day file that is a link is refused by name, and nothing is written where it leads.
#[test]
fn a_linked_day_file_is_refused_by_name() {
    let outside = Project::empty();
    let victim = outside.paths.root.join("victim");
    for is_there in [false, true] {
        if is_there {
            outside.write(&victim, "theirs\n");
        }
        let project = Project::empty();
        project.disk.create_dir_all(&project.paths.audit).unwrap();
        symlink(&victim, project.journal()).unwrap();
        for _ in 0..2 {
            let error = Ledger::create(&project.disk, &project.paths, &project.clock).unwrap_err();
            let text = with_causes(&error);
            assert!(text.contains("2026-11-02.jsonl"), "{text}");
        }
        assert!(!project.disk.exists(&project.paths.ledger).unwrap());

        let (project, _) = Project::with_entries(1);
        let project = project.at("2026-11-03T10:00:00Z");
        symlink(&victim, project.paths.audit.join("2026-11-03.jsonl")).unwrap();
        let ledger = project.open();
        let error = ledger.flush().unwrap_err();
        assert_eq!(error.code(), Some(ErrorCode::AuditFailure));
        assert!(error.to_string().contains("2026-11-03.jsonl"), "{error}");
        let found = outside.disk.read_if_there(&victim).unwrap();
        assert_eq!(found.as_deref(), is_there.then_some(&b"theirs\n"[..]));
    }
}

/// CAL-MSP-2: what is written, archived and signed while everything is verified is not taken for
/// damage.
#[test]
fn verifying_while_others_write_finds_nothing_wrong() {
    let (project, _) = Project::with_entries(1);
    let home = tempfile::tempdir().unwrap();
    let witness = TrustStore::in_home(home.path(), &project.paths.root);
    let ledger = project.open();
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for turn in 0..200 {
                project.store(&ledger, &"x".repeat(turn));
                if turn % 7 == 0 {
                    let made = witness.make(&project.disk, &project.paths, Begin::GoOn, &[7; 32]);
                    ledger.record(made.unwrap().unwrap().event()).unwrap();
                }
                if turn % 20 == 0 {
                    ledger.rotate().unwrap();
                }
            }
        });
        let scope = Scope {
            archives: true,
            witness: Some(&witness),
        };
        while !writer.is_finished() {
            let found = verify_within(&project.disk, &project.paths, scope).unwrap();
            assert_eq!(found.problems, []);
        }
    });
}

/// CAL-GOV-1: the records of one kind are all found, in their order, and text that names the kind makes no record of it.
#[test]
fn the_records_of_one_kind_are_found_among_others() {
    let project = Project::new();
    let ledger = project.open();
    for turn in 0..4_u64 {
        let event = AuditEvent::new(Event::Intent).with("turn", turn);
        ledger.record(event).unwrap();
        let other = AuditEvent::new(Event::Decision).with("about", "intent");
        ledger.record(other.with("quoted", "\"intent\"")).unwrap();
    }
    ledger.flush().unwrap();
    drop(ledger);
    let reader = AuditReader::new(project.disk.clone(), project.paths.clone());
    let mut turns = Vec::new();
    let read = reader.of_event(Event::Intent, |record| {
        turns.extend(record.details["turn"].as_u64());
    });
    read.unwrap();
    assert_eq!(turns, [0, 1, 2, 3]);
}

/// A search goes on from where the last one came, in bounded pieces, and begins again in a journal that was replaced.
#[test]
fn a_search_through_the_journal_goes_on_where_it_came() {
    let project = Project::new();
    let ledger = project.open();
    let record = |event: AuditEvent| {
        ledger.record(event).unwrap();
        ledger.flush().unwrap();
    };
    for turn in 0..20_u64 {
        let other = AuditEvent::new(Event::Decision).with("turn", turn);
        record(other.with("intent", "a key of this name is no record of the kind"));
    }
    let reader = AuditReader::new(project.disk.clone(), project.paths.clone());
    let mut place = SearchPlace::default();
    let search = |place: &mut SearchPlace| {
        let searched = reader.search_on(Event::Intent, place, &mut 1000);
        searched.unwrap()
    };
    let mut pieces = 1;
    while search(&mut place) == Searched::Unfinished {
        pieces += 1;
    }
    assert!(pieces > 5, "{pieces}");
    assert_eq!(search(&mut place), Searched::None);
    let json = serde_json::to_string(&place).unwrap();
    let mut place: SearchPlace = serde_json::from_str(&json).unwrap();
    record(AuditEvent::new(Event::Intent));
    assert_eq!(search(&mut place), Searched::Found);
    // It stays before the record that it found.
    assert_eq!(search(&mut place), Searched::Found);
    let mut end = reader.of_event(Event::Intent, |_| {}).unwrap();
    assert_eq!(search(&mut end), Searched::None);

    let day = project
        .disk
        .list_dir(&project.paths.audit)
        .unwrap()
        .remove(0);
    let day = project.paths.audit.join(day.name);
    let text = String::from_utf8(project.disk.read(&day).unwrap()).unwrap();
    let text = text.replace("\"turn\":19", "\"turn\":18");
    project.disk.replace(&day, text.as_bytes(), 0o644).unwrap();
    assert_eq!(search(&mut end), Searched::None);
    assert_eq!(search(&mut place), Searched::Replaced);
    assert_eq!(place, SearchPlace::default());
}
