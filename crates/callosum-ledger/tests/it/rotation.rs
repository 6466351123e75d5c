//! Archiving the ledger: at its size, on demand, interrupted, and over many days.

use std::io::Write as _;

use callosum_host::{Disk, OpenHow};
use callosum_ledger::{
    Ledger, Query, RecoverFrom, RecoverOptions, Replay, Verification, past, replay, verify,
};
use flate2::write::GzEncoder;
use serde_json::Value;

use crate::project::{Project, id};

fn verified(project: &Project) -> Verification {
    let found = verify(&project.disk, &project.paths).unwrap();
    assert_eq!(found.problems, []);
    found
}

fn replayed(project: &Project) -> Replay {
    let into = tempfile::tempdir().unwrap();
    let replay = replay(&project.disk, &project.paths, None, into.path()).unwrap();
    assert_eq!(replay.difference, None);
    replay
}

fn archives(project: &Project) -> Vec<String> {
    let listed = project.disk.list_dir(&project.paths.history).unwrap();
    listed
        .into_iter()
        .map(|entry| entry.name.into_string().unwrap())
        .collect()
}

/// CAL-LED-1, REQ-LED-002, REQ-LED-003, REQ-PERF-004: what grew to the threshold is archived
/// before more is written, and the next ledger goes on where it ended.
#[test]
fn a_ledger_of_the_threshold_is_archived_before_the_next_entry() {
    let (project, ids) = Project::with_entries(3);
    let before = project.views();
    let project = project.rotating_at(before.0.len() as u64);
    let ledger = project.open();
    let next = project.store(&ledger, "after the rotation");
    let [rotated] = &ledger.rotations()[..] else {
        panic!("{:?}", ledger.rotations());
    };
    assert_eq!(
        archives(&project),
        [
            "cal_memory_20261102_100000.hashlog",
            "cal_memory_20261102_100000.json"
        ]
    );
    assert_eq!(
        rotated.archive,
        project
            .paths
            .history
            .join("cal_memory_20261102_100000.json")
    );
    assert_eq!((rotated.entries, rotated.bytes), (3, before.0.len() as u64));
    assert_eq!(project.text(&rotated.archive), before.0);
    assert_eq!(next.task_id, id("cal_2026_11_02_0004"));

    let hashlog = project.text(&project.paths.hashlog);
    let first: Value = serde_json::from_str(hashlog.lines().next().unwrap()).unwrap();
    let last: Value = serde_json::from_str(before.1.lines().last().unwrap()).unwrap();
    assert_eq!((&first["prev"], &first["seq"]), (&last["line"], &1.into()));

    let found = verified(&project);
    assert_eq!((found.entries, found.archived_entries), (1, 3));
    let replay = replayed(&project);
    assert_eq!((replay.entries, replay.archived_entries), (1, 3));
    let reader = project.reader();
    for task_id in &ids {
        let found = reader.find(task_id).unwrap().unwrap();
        assert!(found.place.is_archived);
    }
    assert_eq!(reader.query(&Query::default()).unwrap().len(), 4);
}

/// CAL-LED-1: on demand too, and a ledger without entries is left as it is.
#[test]
fn a_rotation_that_is_asked_for_archives_what_there_is() {
    let (project, ids) = Project::with_entries(1);
    let ledger = project.open();
    assert_eq!(ledger.rotate().unwrap().unwrap().entries, 1);
    assert_eq!(ledger.rotate().unwrap(), None);
    let mut linked = project.entry(id("cal_2026_11_02_0100"), "builds on what is archived");
    linked.linked_tasks = ids.clone();
    ledger.commit(linked).unwrap();
    let taken = ledger.commit(project.entry(ids[0].clone(), "again"));
    assert!(taken.is_err());
    assert_eq!(ledger.rotate().unwrap().unwrap().entries, 1);
    assert_eq!(
        archives(&project)
            .iter()
            .filter(|name| name.strip_suffix(".json").is_some())
            .count(),
        2
    );
    drop(ledger);
    // A new handle finds a ledger that was just begun in line.
    assert_eq!(project.open().repairs(), []);
    assert_eq!(verified(&project).archived_entries, 2);
}

/// CAL-LED-1: a handle that was open before goes on in the new ledger.
#[test]
fn another_handle_follows_a_rotation() {
    let (project, ids) = Project::with_entries(2);
    let (one, other) = (project.open(), project.open());
    project.store(&other, "seen by the other alone");
    one.rotate().unwrap().unwrap();
    let mut linked = project.entry(id("cal_2026_11_02_0100"), "links over the rotation");
    linked.linked_tasks = ids;
    other.commit(linked).unwrap();
    project.store(&one, "and back");
    other.rotate().unwrap().unwrap();
    project.store(&one, "and again");
    let found = verified(&project);
    assert_eq!((found.entries, found.archived_entries), (1, 5));
    assert_eq!((one.repairs(), other.repairs()), (vec![], vec![]));
}

/// CAL-GOV-2, REQ-GOV-003: many days and rotations replay to the same bytes, archives included.
#[test]
fn many_days_and_rotations_replay_byte_for_byte() {
    let mut project = Project::new().rotating_at(1200);
    for day in 2..9 {
        project = project.at(&format!("2026-11-0{day}T10:00:00Z"));
        let ledger = project.open();
        for number in 0..5 {
            project.store(&ledger, &format!("day {day}, number {number}"));
        }
    }
    let replay = replayed(&project);
    assert_eq!(replay.entries + replay.archived_entries, 35);
    assert!(replay.archives > 5);
    verified(&project);
    for day in 2..9 {
        let file = project.paths.audit.join(format!("2026-11-0{day}.jsonl"));
        let into = tempfile::tempdir().unwrap();
        let part = callosum_ledger::replay(&project.disk, &project.paths, Some(&file), into.path())
            .unwrap();
        assert_eq!(part.difference, None, "day {day}");
    }
    // The names also grow where the clock goes back.
    let project = project.at("2026-11-08T01:00:00Z");
    project.open().rotate().unwrap().unwrap();
    replayed(&project);
}

/// CAL-LED-1: an archive that is lost, with the watermark, is written again from the journal.
#[test]
fn a_lost_archive_is_rebuilt_from_the_journal() {
    let (project, _) = Project::with_entries(2);
    let rotated = project.open().rotate().unwrap().unwrap();
    let whole = project.read(&rotated.archive);
    project.disk.remove_file(&rotated.archive).unwrap();
    let found = verify(&project.disk, &project.paths).unwrap();
    assert_eq!(found.problems[0].path, rotated.archive);
    project
        .disk
        .remove_file(&project.paths.watermark())
        .unwrap();
    let repairs = project.open().repairs();
    assert_eq!(repairs.len(), 1, "{repairs:?}");
    assert_eq!(project.read(&rotated.archive), whole);
    verified(&project);
}

/// CAL-LED-1: every state that the steps of a rotation leave behind is finished on opening.
#[test]
fn a_rotation_interrupted_between_any_two_steps_is_finished() {
    let (project, _) = Project::with_entries(2);
    let (ledger, hashlog) = project.views();
    let before = project.disk.read(&project.paths.watermark()).ok();
    let rotated = project.open().rotate().unwrap().unwrap();
    let (empty, _) = project.views();
    let kept_hashlog = rotated.archive.with_extension("hashlog");
    for state in 0..16 {
        let has = |bit: u32| state & (1 << bit) != 0;
        let set = |path: &std::path::Path, text: Option<&str>| match text {
            Some(text) => project.write(path, text),
            None => drop(project.disk.remove_file(path).unwrap()),
        };
        // The archives get their names before the active files are replaced.
        if (has(2) && !has(0)) || (has(3) && !has(1)) {
            continue;
        }
        set(&rotated.archive, has(0).then_some(ledger.as_str()));
        set(&kept_hashlog, has(1).then_some(hashlog.as_str()));
        set(
            &project.paths.ledger,
            Some(if has(2) { &empty } else { &ledger }),
        );
        set(
            &project.paths.hashlog,
            Some(if has(3) { "" } else { &hashlog }),
        );
        match &before {
            Some(bytes) => project.write(&project.paths.watermark(), bytes),
            None => drop(
                project
                    .disk
                    .remove_file(&project.paths.watermark())
                    .unwrap(),
            ),
        }
        let repairs = project.open().repairs();
        assert_eq!(
            repairs.is_empty(),
            state == 0b1111,
            "{state:04b}: {repairs:?}"
        );
        assert_eq!(project.text(&rotated.archive), ledger, "{state:04b}");
        assert_eq!(project.text(&kept_hashlog), hashlog, "{state:04b}");
        assert_eq!(
            project.views(),
            (empty.clone(), String::new()),
            "{state:04b}"
        );
        verified(&project);
    }
    replayed(&project);
}

/// The ledger as it was before and after each rotation.
#[test]
fn the_past_is_rebuilt_as_it_stood() {
    let mut project = Project::new();
    let mut stood = Vec::new();
    for hour in 11..20 {
        project = project.at(&format!("2026-11-02T{hour}:00:00Z"));
        let ledger = project.open();
        if hour % 3 == 0 {
            ledger.rotate().unwrap().unwrap();
        }
        project.store(&ledger, &format!("at {hour}"));
        stood.push((hour, project.read(&project.paths.ledger)));
    }
    for (hour, bytes) in stood {
        let time = format!("2026-11-02T{hour}:30:00Z").parse().unwrap();
        let then = past(&project.disk, &project.paths, time).unwrap();
        let output = project.paths.root.join(format!("{hour}.json"));
        assert!(then.write_ledger(&output).unwrap());
        assert!(!then.write_ledger(&output).unwrap());
        assert_eq!(project.read(&output), bytes, "{hour}");
        assert_eq!((then.active() + then.archived()) as u64, hour - 10);
        let entries: Vec<_> = then
            .newest_first()
            .map(|entry| entry.unwrap().summary)
            .collect();
        let expected: Vec<_> = (11..=hour).rev().map(|hour| format!("at {hour}")).collect();
        assert_eq!(entries, expected);
    }
    let before = past(
        &project.disk,
        &project.paths,
        "2026-11-01T00:00:00Z".parse().unwrap(),
    );
    assert_eq!(
        before.unwrap_err().to_string(),
        "no ledger existed at 2026-11-01T00:00:00Z"
    );
}

/// CAL-LED-1, CAL-GOV-2: a compressed archive is read, verified and replayed by its contents, also
/// if another program compressed it, and by a reader that was active in between.
#[test]
fn compression_keeps_the_contents_of_archives() {
    let (project, ids) = Project::with_entries(3);
    let early = project.reader();
    let rotated = project.open().rotate().unwrap().unwrap();
    let later = project.reader();
    let plain = project.read(&rotated.archive);
    project.store(&project.open(), "after the rotation");
    let compress = || Ledger::compress_archives(&project.disk, &project.paths).unwrap();
    assert_eq!(compress(), 1);
    let place = rotated.place(&project.disk).unwrap();
    assert!(project.read(&place).len() < plain.len());
    assert!(place.to_str().unwrap().ends_with("_100000.json.gz"));
    assert!(!project.disk.exists(&rotated.archive).unwrap());

    // Any other gzip file will do as well.
    let of_others = {
        let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(&plain).unwrap();
        encoder.finish().unwrap()
    };
    for bytes in [project.read(&place), of_others] {
        project.write(&place, &bytes);
        for reader in [&early, &later, &project.reader()] {
            let found = reader.find(&ids[1]).unwrap().unwrap();
            assert_eq!(found.entry.summary, "summary 1");
        }
        assert_eq!(early.query(&Query::default()).unwrap().len(), 3);
        assert_eq!(project.reader().query(&Query::default()).unwrap().len(), 4);
        let stats = project.reader().stats().unwrap();
        assert_eq!((stats.entries, stats.archives), (4, 1));
        assert_eq!(verified(&project).archived_entries, 3);
        replayed(&project);
    }
    project
        .disk
        .remove_file(&project.paths.watermark())
        .unwrap();
    let taken = project
        .open()
        .commit(project.entry(ids[0].clone(), "again"));
    assert!(taken.is_err());
    assert_eq!(project.open().repairs(), []);

    // What a process left that was killed while it compressed goes with the next opening.
    let cut = project
        .paths
        .history
        .join(".cal_memory_20261102_100000.json.gz.7-0.tmp");
    project.write(&cut, b"cut short");
    project.write(&rotated.archive, &plain);
    drop(project.open());
    assert!(!project.disk.exists(&cut).unwrap());
    assert!(!project.disk.exists(&place).unwrap());
    assert_eq!(project.read(&rotated.archive), plain);
    assert_eq!(compress(), 1);

    // Both files, as no crash leaves them: the plain one is read, and the other is named.
    project.write(&rotated.archive, &plain);
    project.write(&place, b"not what it should be");
    let found = verify(&project.disk, &project.paths).unwrap();
    assert_eq!(found.problems.len(), 1, "{:?}", found.problems);
    assert_eq!(found.problems[0].path, place);
    assert_eq!(found.archived_entries, 3);
    assert_eq!(compress(), 1);
    assert_eq!(verified(&project).archived_entries, 3);
    assert!(!project.disk.exists(&rotated.archive).unwrap());

    // One that is damaged is named, and restored from the journal.
    project.write(&place, b"not what it should be");
    let found = verify(&project.disk, &project.paths).unwrap();
    assert_eq!(found.problems[0].path, place);
    let from = RecoverFrom::Audit;
    let options = RecoverOptions::default();
    Ledger::recover(&project.disk, &project.paths, &project.clock, from, options).unwrap();
    assert_eq!(project.read(&rotated.archive), plain);
    assert_eq!(verified(&project).archived_entries, 3);
}

/// CAL-LED-1: an entry that is archived during a read is returned once.
#[test]
fn a_reader_that_was_open_before_a_rotation_gives_each_entry_once() {
    let (project, ids) = Project::with_entries(3);
    let reader = project.reader();
    project.open().rotate().unwrap().unwrap();
    assert_eq!(reader.query(&Query::default()).unwrap().len(), 3);
    assert_eq!(reader.stats().unwrap().entries, 3);
    assert!(reader.find(&ids[0]).unwrap().is_some());
}

/// REQ-LED-005: a thousand entries in an archive and as many in the active ledger, each found by
/// its index and, without it, by the hashlog or the file itself.
#[test]
fn entries_are_found_with_an_index_and_without() {
    let project = Project::new();
    let ledger = project.open();
    let mut ids = Vec::new();
    for round in 0..2 {
        for number in 0..1000 {
            let summary = format!("{round} {number} {}", "x".repeat(1000));
            ids.push(project.store(&ledger, &summary).task_id);
        }
        if round == 0 {
            ledger.rotate().unwrap().unwrap();
        }
    }
    drop(ledger);
    let index = project.paths.locks.join("index");
    assert!(project.disk.exists(&index).unwrap());
    let listed = archives(&project);
    let archived_index = listed.iter().find(|name| name.ends_with("index")).unwrap();
    let archived_index = project.paths.history.join(archived_index);
    let check = || {
        let reader = project.reader();
        for task_id in ids.iter().step_by(97) {
            let found = reader.find(task_id).unwrap().unwrap();
            assert_eq!(found.entry.task_id, *task_id);
        }
        assert!(reader.find(&id("cal_2020_01_01_0001")).unwrap().is_none());
    };
    check();
    for path in [&archived_index, &index] {
        project.disk.remove_file(path).unwrap();
        check();
    }
    project.write(&archived_index, "not an index");
    check();
    for entry in archives(&project) {
        if entry.ends_with("hashlog") {
            let path = project.paths.history.join(entry);
            project.disk.remove_file(&path).unwrap();
        }
    }
    check();
    let before = Query {
        until: Some("2026-11-01T00:00:00Z".parse().unwrap()),
        ..Query::default()
    };
    assert_eq!(project.reader().query(&before).unwrap(), []);
}

/// CAL-SEC-1: who may read an archive is as its ledger's owner decided.
#[test]
fn an_archive_and_the_new_ledger_keep_permissions() {
    let (project, _) = Project::with_entries(1);
    let bytes = project.read(&project.paths.ledger);
    project
        .disk
        .replace(&project.paths.ledger, &bytes, 0o600)
        .unwrap();
    let rotated = project.open().rotate().unwrap().unwrap();
    for path in [&rotated.archive, &project.paths.ledger] {
        let file = Disk::real().open(path, OpenHow::READ).unwrap();
        assert_eq!(file.mode().unwrap(), Some(0o600), "{}", path.display());
    }
}

/// CAL-LED-1: a file of any kind under a name that would be the next is left alone, and no entry is
/// lost for it.
#[test]
fn a_rotation_takes_an_unused_name() {
    let (project, _) = Project::with_entries(2);
    let history = &project.paths.history;
    let taken = ["", "_2", "_3", "_4"].map(|count| format!("cal_memory_20261102_100000{count}"));
    project.write(&history.join(format!("{}.hashlog", taken[0])), "{}");
    let folder = history.join(format!("{}.json", taken[1]));
    project.disk.create_dir_all(&folder).unwrap();
    project.write(&history.join(format!("{}.json.gz", taken[2])), "{}");
    project.write(&history.join(format!("{}.index", taken[3])), "{}");
    for of_the_end in ["99990101_000000.json", "99991231_235959_4294967295.json"] {
        project.write(&history.join(format!("cal_memory_{of_the_end}")), "{}");
    }
    let before = project.views();
    let ledger = project.open();
    let rotated = ledger.rotate().unwrap().unwrap();
    let name = rotated.archive.file_name().unwrap().to_str().unwrap();
    assert_eq!(name, "cal_memory_20261102_100000_5.json");
    assert_eq!(project.text(&rotated.archive), before.0);
    assert_eq!(project.views().1, "");
    project.store(&ledger, "goes on");
    drop(ledger);
    assert_eq!(project.open().repairs(), []);
    project
        .disk
        .remove_file(&project.paths.watermark())
        .unwrap();
    assert_eq!(project.open().repairs(), []);
    assert!(!archives(&project).iter().any(|name| name.contains(".part")));
}

/// CAL-LED-1: a folder that was put where an archive was is not taken for it.
#[test]
fn what_is_not_a_file_is_not_an_archive() {
    let (project, _) = Project::with_entries(2);
    let rotated = project.open().rotate().unwrap().unwrap();
    project.disk.remove_file(&rotated.archive).unwrap();
    project.disk.create_dir_all(&rotated.archive).unwrap();
    project
        .disk
        .remove_file(&project.paths.watermark())
        .unwrap();
    let refused = project.open_refused();
    assert!(refused.contains("an archive belongs there"), "{refused}");
}

/// CAL-LED-1, REQ-ERR-005: where nothing can be archived, what is committed is stored all the same.
#[test]
fn a_folder_of_archives_that_cannot_be_written_prevents_no_write() {
    let (project, _) = Project::with_entries(2);
    let project = project.rotating_at(10);
    let ledger = project.open();
    project.disk.remove_dir(&project.paths.history).unwrap();
    project.write(&project.paths.history, "not a folder");
    project.store(&ledger, "stored nevertheless");
    assert!(ledger.not_rotated().is_some());
    assert!(ledger.rotate().is_err());
    assert_eq!(ledger.rotations(), []);
    project.disk.remove_file(&project.paths.history).unwrap();
    project.store(&ledger, "after the mending");
    assert!(ledger.not_rotated().is_none());
    assert_eq!(ledger.rotations().len(), 1);
    drop(ledger);
    assert_eq!(verified(&project).archived_entries, 3);
}
