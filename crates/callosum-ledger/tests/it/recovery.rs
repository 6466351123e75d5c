//! Backups, and the ways back: from a backup, from the journal, from the ledger alone.

use std::sync::atomic::Ordering;

use callosum_ledger::{
    CreateError, ErrorCode, Ledger, OpenError, RecoverError, RecoverFrom, Recovered, replay, verify,
};
use serde_json::Value;

use crate::{
    faults::{Failure, Faulty},
    project::Project,
};

fn recover(project: &Project, from: RecoverFrom<'_>) -> Result<Recovered, RecoverError> {
    Ledger::recover(&project.disk, &project.paths, &project.clock, from)
}

/// Everything holds together, and the journal alone makes the same bytes.
fn check(project: &Project, entries: u64) {
    let found = verify(&project.disk, &project.paths).unwrap();
    assert_eq!(found.problems, []);
    assert_eq!(found.entries + found.archived_entries, entries);
    let into = tempfile::tempdir().unwrap();
    let replay = replay(&project.disk, &project.paths, None, into.path()).unwrap();
    assert_eq!(replay.difference, None);
    project.store(&project.open(), "and it goes on");
    let found = verify(&project.disk, &project.paths).unwrap();
    assert_eq!(found.problems, []);
    assert_eq!(found.entries + found.archived_entries, entries + 1);
}

fn edited(project: &Project, change: impl Fn(&mut Value)) -> String {
    let mut ledger: Value = serde_json::from_str(&project.text(&project.paths.ledger)).unwrap();
    change(&mut ledger);
    let text = serde_json::to_string_pretty(&ledger).unwrap();
    project.write(&project.paths.ledger, &text);
    text
}

/// CAL-LED-2: what comes back is what was backed up; what it replaces is set aside.
#[test]
fn a_backup_brings_the_ledger_back_as_it_was() {
    let (project, ids) = Project::with_entries(2);
    let before = project.views();
    let backup = Ledger::back_up(&project.disk, &project.paths, &project.clock).unwrap();
    assert_eq!((backup.entries, backup.bytes), (2, before.0.len() as u64));
    assert_eq!(project.text(&backup.path), before.0);
    let later = project.store(&project.open(), "after the backup");
    let replaced = project.views();

    let recovered = recover(&project, RecoverFrom::Backup(&backup.path)).unwrap();
    assert_eq!((recovered.taken_in, recovered.archived), (2, 0));
    assert_eq!(project.views(), before);
    let kept: Vec<_> = recovered
        .set_aside
        .iter()
        .map(|path| project.text(path))
        .collect();
    assert_eq!(kept, [replaced.0, replaced.1]);
    let reader = project.reader();
    assert!(reader.find(&ids[1]).unwrap().is_some());
    assert!(reader.find(&later.task_id).unwrap().is_none());
    check(&project, 2);
}

/// CAL-LED-2: two backups of one second do not collide, and what an archive has is not doubled.
#[test]
fn a_backup_from_before_a_rotation_doubles_nothing() {
    let (project, _) = Project::with_entries(3);
    let backup = Ledger::back_up(&project.disk, &project.paths, &project.clock).unwrap();
    let again = Ledger::back_up(&project.disk, &project.paths, &project.clock).unwrap();
    assert_ne!(backup.path, again.path);
    assert_eq!(backup.sha256, again.sha256);
    project.open().rotate().unwrap().unwrap();
    project.store(&project.open(), "after the rotation");
    let recovered = recover(&project, RecoverFrom::Backup(&backup.path)).unwrap();
    assert_eq!((recovered.taken_in, recovered.archived), (0, 3));
    check(&project, 3);
}

/// CAL-LED-2: a backup that does not verify brings nothing back, and nothing is changed.
#[test]
fn a_backup_that_does_not_verify_is_refused() {
    let (project, _) = Project::with_entries(2);
    let backup = Ledger::back_up(&project.disk, &project.paths, &project.clock).unwrap();
    let whole = project.text(&backup.path);
    let (views, journal) = (project.views(), project.text(&project.journal()));
    let note = backup.path.with_extension("note.json");
    let bad = [
        whole.replacen("summary 1", "summary 2", 1),
        whole[..whole.len() - 9].to_owned(),
        whole.replacen("\"1.2\"", "\"9.0\"", 1),
        String::new(),
    ];
    for with_note in [true, false] {
        if !with_note {
            project.disk.remove_file(&note).unwrap();
        }
        for text in &bad {
            project.write(&backup.path, text);
            let refused = recover(&project, RecoverFrom::Backup(&backup.path)).unwrap_err();
            assert!(matches!(refused, RecoverError::Backup { .. }), "{refused}");
        }
    }
    project.write(&backup.path, &whole);
    // A note that is there and says nothing is not as good as none.
    project.write(&note, "not a note");
    let refused = recover(&project, RecoverFrom::Backup(&backup.path)).unwrap_err();
    assert!(matches!(refused, RecoverError::Backup { .. }), "{refused}");
    assert_eq!(project.views(), views);
    assert_eq!(project.text(&project.journal()), journal);
    // Without its note it is a ledger file like any other.
    project.disk.remove_file(&note).unwrap();
    recover(&project, RecoverFrom::Backup(&backup.path)).unwrap();
    check(&project, 2);
}

/// CAL-LED-2, CAL-ERR-4, REQ-ERR-004: what was damaged or lost is rolled back to the last valid
/// state, archives too; the bad bytes are kept.
#[test]
fn the_journal_restores_whatever_was_damaged_or_lost() {
    let (project, _) = Project::with_entries(2);
    let rotated = project.open().rotate().unwrap().unwrap();
    project.store(&project.open(), "in the active ledger");
    project.store(&project.open(), "and another");
    let (views, archive) = (project.views(), project.text(&rotated.archive));
    let bad = edited(&project, |ledger| {
        ledger["tasks"][0]["summary"] = "another".into();
    });
    project.write(
        &rotated.archive,
        archive.replacen("summary 1", "summary 2", 1),
    );
    project.write(&project.paths.hashlog, "");
    assert!(matches!(project.try_open(), Err(OpenError::Foreign { .. })));

    let recovered = recover(&project, RecoverFrom::Audit).unwrap();
    assert_eq!(project.views(), views);
    assert_eq!(project.text(&rotated.archive), archive);
    let kept: Vec<_> = recovered
        .set_aside
        .iter()
        .map(|path| project.text(path))
        .collect();
    assert!(kept.contains(&bad), "{kept:?}");
    assert_eq!(kept.len(), 2);
    let journal = project.text(&project.journal());
    assert!(journal.contains(r#""event":"rollback""#), "{journal}");

    for path in [
        &project.paths.ledger,
        &project.paths.hashlog,
        &rotated.archive,
    ] {
        project.disk.remove_file(path).unwrap();
    }
    recover(&project, RecoverFrom::Audit).unwrap();
    assert_eq!(project.views(), views);
    check(&project, 4);
}

/// CAL-LED-2: entries that another program appended are taken in when somebody says so, and only
/// valid ones behind those that are known.
#[test]
fn a_foreign_append_is_taken_in_when_asked_for() {
    let (project, ids) = Project::with_entries(2);
    let valid = |ledger: &mut Value| {
        let mut entry = ledger["tasks"][1].clone();
        entry["task_id"] = "cal_2026_11_02_0009".into();
        entry.as_object_mut().unwrap().remove("checksum");
        ledger["tasks"].as_array_mut().unwrap().push(entry);
    };
    let before = project.text(&project.paths.ledger);
    edited(&project, |ledger| {
        valid(ledger);
        ledger["tasks"][2]["checksum"] = "0".repeat(64).into();
    });
    let refused = recover(&project, RecoverFrom::Appended).unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::ChecksumMismatch));
    project.write(&project.paths.ledger, &before);
    edited(&project, |ledger| {
        valid(ledger);
        drop(ledger["tasks"].as_array_mut().unwrap().remove(0));
    });
    let refused = recover(&project, RecoverFrom::Appended).unwrap_err();
    assert!(
        matches!(refused, RecoverError::Differs { number: 1 }),
        "{refused}"
    );
    project.write(&project.paths.ledger, &before);
    edited(&project, valid);
    assert!(project.try_open().is_err());
    let recovered = recover(&project, RecoverFrom::Appended).unwrap();
    assert_eq!(recovered.taken_in, 1);
    let reader = project.reader();
    assert!(
        reader
            .find(&"cal_2026_11_02_0009".parse().unwrap())
            .unwrap()
            .is_some()
    );
    assert!(reader.find(&ids[0]).unwrap().is_some());
    check(&project, 3);
}

/// CAL-GOV-1: a journal that is gone is begun anew only when somebody says so.
#[test]
fn a_lost_journal_is_begun_anew_only_when_asked_for() {
    let (project, ids) = Project::with_entries(2);
    project.open().rotate().unwrap().unwrap();
    project.store(&project.open(), "in the active ledger");
    let views = project.views();
    project.disk.remove_file(&project.journal()).unwrap();
    let refused = Ledger::create(&project.disk, &project.paths, &project.clock).unwrap_err();
    assert!(
        matches!(refused, CreateError::Open(OpenError::JournalGone { .. })),
        "{refused}"
    );
    assert_eq!(project.views(), views);

    let recovered = recover(&project, RecoverFrom::LedgerAlone).unwrap();
    assert_eq!(recovered.taken_in, 1);
    assert_eq!(project.views(), views);
    assert!(project.reader().find(&ids[0]).unwrap().is_some());
    check(&project, 3);
}

/// CAL-GOV-1: wherever a journal's replacement is interrupted, there is the old one whole, or none,
/// or the new one whole; and doing it again does the rest.
#[test]
fn a_journal_begun_anew_is_never_a_part_of_the_old_one() {
    for calls in 0.. {
        let (project, _) = Project::with_entries(2);
        let project = project.at("2026-11-03T10:00:00Z");
        project.store(&project.open(), "on another day");
        let tuesday = project.paths.audit.join("2026-11-03.jsonl");
        let old = [project.read(&project.journal()), project.read(&tuesday)];
        let (disk, calls_left) = Faulty::disk(calls, Failure::ForGood);
        let recovered = Ledger::recover(
            &disk,
            &project.paths,
            &project.clock,
            RecoverFrom::LedgerAlone,
        );
        let is_done = recovered.is_ok() && calls_left.load(Ordering::SeqCst) >= 0;
        let monday = project.disk.read_if_there(&project.journal()).unwrap();
        if let Some(monday) = monday {
            assert_eq!([monday, project.read(&tuesday)], old, "{calls}");
        } else {
            let kept = project.paths.quarantine.join("cal_audit.1");
            let kept_days =
                ["2026-11-02.jsonl", "2026-11-03.jsonl"].map(|day| project.read(&kept.join(day)));
            assert_eq!(kept_days, old, "{calls}");
        }
        recover(&project, RecoverFrom::LedgerAlone).unwrap();
        check(&project, 3);
        if is_done {
            return;
        }
    }
}
