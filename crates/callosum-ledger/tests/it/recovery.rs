//! Backups, and the ways back: from a backup, from the journal, from the ledger alone.

use std::sync::atomic::Ordering;

use callosum_json::Checksum;
use callosum_ledger::{
    CreateError, ErrorCode, Ledger, OpenError, RecoverError, RecoverFrom, RecoverOptions,
    Recovered, replay, verify,
};
use serde_json::Value;

use crate::{
    faults::{Failure, Faulty},
    project::Project,
};

fn recover(project: &Project, from: RecoverFrom<'_>) -> Result<Recovered, RecoverError> {
    recover_with(project, from, RecoverOptions::default())
}

fn recover_with(
    project: &Project,
    from: RecoverFrom<'_>,
    options: RecoverOptions,
) -> Result<Recovered, RecoverError> {
    Ledger::recover(&project.disk, &project.paths, &project.clock, from, options)
}

const FORCED: RecoverOptions = RecoverOptions {
    signed: 0,
    force: true,
};

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
    assert_eq!(recovered.left_out, std::slice::from_ref(&later.task_id));
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
    let refused = recover(&project, RecoverFrom::Backup(&backup.path)).unwrap_err();
    assert!(matches!(refused, RecoverError::NoNote { .. }), "{refused}");
    recover(&project, RecoverFrom::Unverified(&backup.path)).unwrap();
    check(&project, 2);
}

/// CAL-LED-2, CAL-ERR-4, REQ-ERR-004: what was damaged or lost is rolled back to the last valid
/// state, archives too; the bad bytes are kept.
#[test]
fn the_journal_restores_everything_damaged_or_lost() {
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

/// CAL-LED-2: entries that another program appended are taken in on request, and only valid ones
/// after the known ones.
#[test]
fn a_foreign_append_is_taken_in_when_asked_for() {
    let (project, ids) = Project::with_entries(2);
    let valid = |ledger: &mut Value| {
        let mut entry = ledger["tasks"][1].clone();
        entry["task_id"] = "cal_2026_11_02_0003".into();
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
            .find(&"cal_2026_11_02_0003".parse().unwrap())
            .unwrap()
            .is_some()
    );
    assert!(reader.find(&ids[0]).unwrap().is_some());
    check(&project, 3);
}

/// CAL-GOV-1: a lost journal is begun from scratch only on request.
#[test]
fn a_lost_journal_is_begun_from_scratch_only_on_request() {
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
fn a_journal_begun_from_scratch_is_never_a_part_of_the_old_one() {
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
            FORCED,
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
        recover_with(&project, RecoverFrom::LedgerAlone, FORCED).unwrap();
        check(&project, 3);
        if is_done {
            return;
        }
    }
}

/// Returns the parts that would be lost: the signed records, and the entries that ledger and
/// hashlog have but the journal does not.
fn refused_loss(error: &RecoverError) -> (u64, String) {
    match error {
        RecoverError::Beyond { entries, first, .. } => (*entries, first.to_string()),
        error => panic!("{error}"),
    }
}

/// CAL-LED-2, CAL-GOV-1: an entry that ledger and hashlog have, and whose record was damaged, is
/// not dropped; it is taken in on request.
#[test]
fn an_entry_whose_last_record_is_damaged_is_not_dropped() {
    for is_cut in [false, true] {
        let (project, ids) = Project::with_entries(3);
        let backup = Ledger::back_up(&project.disk, &project.paths, &project.clock).unwrap();
        let journal = project.text(&project.journal());
        let last = journal.trim_end().rfind('\n').unwrap() + 1;
        let damaged = if is_cut {
            journal[..last].to_owned()
        } else {
            journal.replacen("summary 2", "summary X", 1)
        };
        project.write(&project.journal(), &damaged);
        let views = project.views();
        for from in [RecoverFrom::Audit, RecoverFrom::Backup(&backup.path)] {
            if is_cut && from != RecoverFrom::Audit {
                continue;
            }
            let refused = recover(&project, from).unwrap_err();
            assert_eq!(refused_loss(&refused), (1, ids[2].to_string()));
        }
        assert_eq!(project.views(), views);
        assert_eq!(project.text(&project.journal()), damaged);

        let signed = RecoverOptions {
            signed: 7,
            force: false,
        };
        let recovered = recover_with(&project, RecoverFrom::Appended, signed).unwrap();
        assert_eq!((recovered.taken_in, recovered.signed), (1, Some(7)));
        assert!(project.reader().find(&ids[2]).unwrap().is_some());
        check(&project, 3);
    }
}

/// CAL-LED-2, CAL-GOV-1: a journal that has fewer records than were signed is nothing to go back to
/// unasked.
#[test]
fn a_journal_that_was_cut_is_not_gone_back_to_unasked() {
    let (project, _) = Project::with_entries(2);
    let signed = |force| RecoverOptions { signed: 99, force };
    let refused = recover_with(&project, RecoverFrom::Audit, signed(false)).unwrap_err();
    assert!(
        matches!(
            refused,
            RecoverError::Open(OpenError::Cut { signed: 99, .. })
        ),
        "{refused}"
    );
    let recovered = recover_with(&project, RecoverFrom::Audit, signed(true)).unwrap();
    assert_eq!(recovered.signed, Some(99));
    check(&project, 2);
}

/// CAL-LED-2, CAL-SEC-1: anyone can compute a checksum. A backup's entries are those of the
/// journal, and entries unknown to the journal are taken in only if a person vouches for them.
#[test]
fn a_forged_entry_in_a_backup_is_refused_by_name() {
    let (project, ids) = Project::with_entries(2);
    let backup = Ledger::back_up(&project.disk, &project.paths, &project.clock).unwrap();
    let note = backup.path.with_extension("note.json");
    let views = project.views();
    let forge = |change: &dyn Fn(&mut Value)| {
        let mut ledger: Value = serde_json::from_str(&project.text(&backup.path)).unwrap();
        change(&mut ledger["tasks"][1]);
        ledger["tasks"][1]
            .as_object_mut()
            .unwrap()
            .remove("checksum");
        let text = ledger.to_string();
        let mut described: Value = serde_json::from_str(&project.text(&note)).unwrap();
        described["sha256"] = Checksum::of(text.as_bytes()).to_string().into();
        project.write(&backup.path, text);
        project.write(&note, described.to_string());
    };
    forge(&|entry| entry["summary"] = "FORGED".into());
    for from in [
        RecoverFrom::Backup(&backup.path),
        RecoverFrom::Unverified(&backup.path),
    ] {
        match recover(&project, from).unwrap_err() {
            RecoverError::NotCommitted { task_id } => assert_eq!(task_id, ids[1]),
            error => panic!("{error}"),
        }
    }
    forge(&|entry| entry["task_id"] = "cal_2026_11_01_0001".into());
    match recover(&project, RecoverFrom::Backup(&backup.path)).unwrap_err() {
        RecoverError::Untold { task_id } => assert_eq!(task_id.as_str(), "cal_2026_11_01_0001"),
        error => panic!("{error}"),
    }
    assert_eq!(project.views(), views);
    let recovered = recover(&project, RecoverFrom::Unverified(&backup.path)).unwrap();
    assert_eq!(
        (recovered.taken_in, recovered.left_out),
        (2, vec![ids[1].clone()])
    );
    check(&project, 2);
}

/// CAL-LED-2: the ledger is not a backup of itself, and a sound journal is not given up unasked.
#[test]
fn what_would_lose_the_proof_is_refused() {
    let (project, _) = Project::with_entries(1);
    let before = (project.views(), project.text(&project.journal()));
    let refused = recover(&project, RecoverFrom::Unverified(&project.paths.ledger)).unwrap_err();
    assert!(matches!(refused, RecoverError::Itself { .. }), "{refused}");
    let refused = recover(&project, RecoverFrom::LedgerAlone).unwrap_err();
    assert!(
        matches!(refused, RecoverError::JournalIsSound { records: 3 }),
        "{refused}"
    );
    assert_eq!((project.views(), project.text(&project.journal())), before);
    recover_with(&project, RecoverFrom::LedgerAlone, FORCED).unwrap();
    check(&project, 1);
}

/// CAL-LED-2, CAL-SCH-2: what another program appended keeps to the rules that ours keep to.
#[test]
fn an_appended_entry_is_held_to_the_rules() {
    let (project, ids) = Project::with_entries(2);
    let before = project.text(&project.paths.ledger);
    let appended = |id: &str, links: &[&str]| {
        project.write(&project.paths.ledger, &before);
        edited(&project, |ledger| {
            let mut entry = ledger["tasks"][1].clone();
            entry["task_id"] = id.into();
            entry["linked_tasks"] = links.into();
            entry.as_object_mut().unwrap().remove("checksum");
            ledger["tasks"].as_array_mut().unwrap().push(entry);
        });
        recover(&project, RecoverFrom::Appended)
    };
    for far in [
        "cal_2026_11_02_9999",
        "cal_2026_11_03_0001",
        "cal_9999_12_31_0001",
    ] {
        let refused = appended(far, &[]).unwrap_err();
        assert!(
            matches!(refused, RecoverError::Id { number: 3, .. }),
            "{refused}"
        );
    }
    let refused = appended("cal_2026_11_02_0003", &["cal_2026_11_01_0001"]).unwrap_err();
    assert!(
        matches!(refused, RecoverError::UnknownLinks { number: 3, .. }),
        "{refused}"
    );
    appended("cal_2026_11_02_0003", &[ids[0].as_str()]).unwrap();
    check(&project, 3);
}

/// Journal, ledger and hashlog are gone; two archives, one of them without its hashlog, and a backup
/// are left: of what is archived, and of one more entry.
fn only_archives_and_a_backup() -> (Project, std::path::PathBuf) {
    let (project, _) = Project::with_entries(2);
    let ledger = project.open();
    let first = ledger.rotate().unwrap().unwrap().archive;
    project.store(&ledger, "second archive");
    let backup = Ledger::back_up(&project.disk, &project.paths, &project.clock).unwrap();
    ledger.rotate().unwrap();
    project.store(&ledger, "active");
    drop(ledger);
    let paths = &project.paths;
    project.disk.remove_tree(&paths.audit).unwrap();
    let hashlog = first.with_extension("hashlog");
    for gone in [&paths.ledger, &paths.hashlog, &hashlog] {
        project.disk.remove_file(gone).unwrap();
    }
    (project, backup.path)
}

/// CAL-LED-2: where journal and ledger are lost, the archives are taken over by a new journal.
#[test]
fn archives_alone_are_taken_over_by_a_new_journal() {
    let (project, _) = only_archives_and_a_backup();
    let recovered = recover(&project, RecoverFrom::LedgerAlone).unwrap();
    assert_eq!(recovered.taken_in, 0);
    check(&project, 3);

    let empty = Project::empty();
    let refused = recover(&empty, RecoverFrom::LedgerAlone).unwrap_err();
    let is_nothing = matches!(refused, RecoverError::Open(OpenError::NotCreated { .. }));
    assert!(is_nothing, "{refused}");
    assert!(!empty.disk.exists(&empty.paths.ledger).unwrap());
}

/// CAL-LED-2: and by one that begins with a backup, without doubling any entry.
#[test]
fn a_backup_brings_back_a_ledger_whose_journal_is_lost() {
    let (project, backup) = only_archives_and_a_backup();
    let recovered = recover(&project, RecoverFrom::Backup(&backup)).unwrap();
    assert_eq!((recovered.taken_in, recovered.archived), (0, 1));
    check(&project, 3);

    let (project, backup) = only_archives_and_a_backup();
    project.disk.remove_tree(&project.paths.history).unwrap();
    let recovered = recover(&project, RecoverFrom::Backup(&backup)).unwrap();
    assert_eq!((recovered.taken_in, recovered.archived), (1, 0));
    check(&project, 1);

    // Without its note, nothing says that it is what was backed up.
    let (project, backup) = only_archives_and_a_backup();
    let note = backup.with_extension("note.json");
    project.disk.remove_file(&note).unwrap();
    let refused = recover(&project, RecoverFrom::Backup(&backup)).unwrap_err();
    assert!(matches!(refused, RecoverError::NoNote { .. }), "{refused}");
    recover(&project, RecoverFrom::Unverified(&backup)).unwrap();
    check(&project, 3);
}
