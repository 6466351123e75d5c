//! Damage by a crash is repaired, a person's changes are not touched.

use std::path::Path;

use callosum_host::OpenHow;
use callosum_ledger::{ErrorCode, JournalError, OpenError, Query, RepairKind, replay, verify};
use serde_json::Value;

use crate::project::Project;

/// The line feeds of a text, as offsets after them.
fn ends_of_lines(text: &str) -> Vec<usize> {
    text.match_indices('\n').map(|(at, _)| at + 1).collect()
}

/// REQ-LED-001, CAL-SUM-2: whichever part of the last write reached the journal, opening finds the
/// entries that were whole and nothing of the others.
#[test]
fn a_journal_cut_at_any_byte_of_the_last_write_opens_with_the_whole_entries() {
    let (project, _) = Project::with_entries(2);
    let after_two = project.views();
    let whole = project.read(&project.journal());
    let kept = whole.len();
    project.store(&project.open(), "third");
    let three = project.read(&project.journal());
    for cut in (kept..three.len()).step_by(17) {
        project.write(&project.journal(), &three[..cut]);
        project.write(&project.paths.ledger, &after_two.0);
        project.write(&project.paths.hashlog, &after_two.1);
        let opened = project.open();
        assert_eq!(project.views(), after_two, "cut at {cut}");
        drop(opened);
        assert!(
            verify(&project.disk, &project.paths).unwrap().is_sound(),
            "cut at {cut}"
        );
    }
}

/// REQ-LED-001: a view at any earlier state, or torn at any byte, is brought up to date.
#[test]
fn a_view_at_any_earlier_state_or_torn_is_brought_up_to_date() {
    let (project, _) = Project::with_entries(3);
    let (ledger, hashlog) = project.views();
    let watermark = project.paths.watermark();
    for with_watermark in [true, false] {
        for cut in (0..ledger.len()).step_by(29) {
            if !with_watermark {
                project.disk.remove_file(&watermark).unwrap();
            }
            project.write(&project.paths.ledger, &ledger[..cut]);
            assert!(!project.open().repairs().is_empty(), "cut at {cut}");
            assert_eq!(project.views().0, ledger, "cut at {cut}");
        }
        for cut in (0..hashlog.len()).step_by(41) {
            project.write(&project.paths.hashlog, &hashlog[..cut]);
            drop(project.open());
            assert_eq!(project.views().1, hashlog, "cut at {cut}");
        }
    }
    project.disk.remove_file(&project.paths.ledger).unwrap();
    project.disk.remove_file(&project.paths.hashlog).unwrap();
    let repairs = project.open().repairs();
    assert!(
        repairs
            .iter()
            .all(|repair| repair.what == RepairKind::Rewritten)
    );
    assert_eq!(project.views(), (ledger, hashlog));
}

/// REQ-LED-001: sectors of the last writes that reached the disk in any combination, with zeros
/// where a size came before its data, are mended.
#[test]
fn sectors_of_a_view_that_were_lost_are_written_again() {
    const SECTOR: usize = 512;
    let (project, _) = Project::with_entries(1);
    let before = project.text(&project.paths.ledger).into_bytes();
    // What lies before the watermark was synced: no crash can take it back.
    let watermark = project.read(&project.paths.watermark());
    let ledger = project.open();
    project.store(&ledger, &"x".repeat(1500));
    project.store(&ledger, &"y".repeat(900));
    drop(ledger);
    let views = project.views();
    let after = views.0.as_bytes();
    let sectors = after.len().div_ceil(SECTOR);
    for survived in 0..1_u32 << sectors {
        let mut mixed = after.to_vec();
        for sector in 0..sectors {
            let at = sector * SECTOR..((sector + 1) * SECTOR).min(after.len());
            if survived >> sector & 1 == 0 {
                for byte in at {
                    mixed[byte] = before.get(byte).copied().unwrap_or(0);
                }
            }
        }
        project.write(&project.paths.watermark(), &watermark);
        project.write(&project.paths.ledger, &mixed);
        drop(project.open());
        assert!(project.views() == views, "sectors {survived:b}");
    }
}

/// CAL-SUM-2: what a repair takes out of a file is kept, and the journal tells of it.
#[test]
fn a_repair_keeps_what_it_cut_and_tells_the_journal() {
    let (project, _) = Project::with_entries(1);
    let journal = project.text(&project.journal());
    project.write(&project.journal(), format!("{journal}{{\"torn"));
    let ledger = project.open();
    let repairs = ledger.repairs();
    assert_eq!(repairs.len(), 1);
    assert_eq!(repairs[0].what, RepairKind::Cut { bytes: 6 });
    let kept = repairs[0].kept.clone().unwrap();
    assert_eq!(project.text(&kept), "{\"torn");
    let journal = project.text(&project.journal());
    let last: Value = serde_json::from_str(journal.lines().last().unwrap()).unwrap();
    assert_eq!(last["event"], "repair");
    assert_eq!(last["details"]["file"], "cal_audit/2026-11-02.jsonl");
    drop(ledger);
    assert_eq!(project.open().repairs(), []);
}

/// CAL-SUM-2: the watermark is derived: lost or wrong, opening only reads more.
#[test]
fn a_watermark_that_is_lost_or_wrong_changes_nothing() {
    let (project, _) = Project::with_entries(2);
    let views = project.views();
    let watermark = project.paths.watermark();
    project.disk.remove_file(&watermark).unwrap();
    drop(project.open());
    let right = project.text(&watermark);
    for wrong in [
        "",
        "{}",
        "null",
        &right.replace("\"seq\":", "\"seq\":1"),
        &right[..40],
    ] {
        project.write(&watermark, wrong);
        assert_eq!(project.open().repairs(), [], "{wrong}");
        assert_eq!(project.views(), views);
    }
    // One that was right, of another ledger.
    let (other, _) = Project::with_entries(3);
    other.disk.remove_file(&other.paths.watermark()).unwrap();
    drop(other.open());
    project.write(&watermark, other.text(&other.paths.watermark()));
    assert_eq!(project.open().repairs(), []);
    assert_eq!(project.views(), views);
}

/// CAL-GOV-1: damage to what was promised to be on disk is never taken for a torn end.
#[test]
fn a_damaged_record_in_the_middle_is_an_error_and_nothing_is_cut() {
    let (project, _) = Project::with_entries(3);
    project
        .disk
        .remove_file(&project.paths.watermark())
        .unwrap();
    let journal = project.text(&project.journal());
    let lines = ends_of_lines(&journal);
    for line in 0..lines.len() - 2 {
        let mut damaged = journal.clone().into_bytes();
        damaged[lines[line] - 100] ^= 1;
        let begins = line.checked_sub(1).map_or(0, |before| lines[before]);
        project.write(&project.journal(), &damaged);
        let error = project.try_open().unwrap_err();
        assert!(
            matches!(&error, OpenError::Journal(JournalError::Damaged { offset, .. }) if *offset == begins as u64),
            "line {line}: {error}"
        );
        assert_eq!(error.code(), Some(ErrorCode::ChecksumMismatch));
        assert_eq!(project.read(&project.journal()), damaged);
    }
}

/// CAL-GOV-1: an entry that the ledger has and the journal has lost is not thrown away.
#[test]
fn a_journal_that_lost_an_acknowledged_entry_is_an_error() {
    let (project, _) = Project::with_entries(2);
    let journal = project.text(&project.journal());
    let lines = ends_of_lines(&journal);
    let cut = &journal[..lines[lines.len() - 2]];
    project.write(&project.journal(), cut);
    let views = project.views();
    let error = project.try_open().unwrap_err();
    assert!(matches!(error, OpenError::Foreign { .. }), "{error}");
    assert_eq!(project.views(), views);
    assert_eq!(project.text(&project.journal()), cut);
}

/// CAL-SUM-2, REQ-SEC-001: an entry that another program added or changed is reported, not removed.
#[test]
fn a_foreign_append_or_edit_is_an_error_that_names_the_entry() {
    let check = |change: &dyn Fn(&mut Value), expected: &str| {
        let (project, _) = Project::with_entries(2);
        let mut ledger: Value = serde_json::from_str(&project.text(&project.paths.ledger)).unwrap();
        change(&mut ledger);
        let changed = serde_json::to_string_pretty(&ledger).unwrap();
        project.write(&project.paths.ledger, &changed);
        let error = project.try_open().unwrap_err();
        assert!(matches!(error, OpenError::Foreign { .. }), "{error}");
        assert!(error.to_string().ends_with(expected), "{error}");
        assert_eq!(project.text(&project.paths.ledger), changed);
    };
    check(
        &|ledger| {
            let mut entry = ledger["tasks"][1].clone();
            entry["task_id"] = "cal_2026_11_02_0009".into();
            ledger["tasks"].as_array_mut().unwrap().push(entry);
        },
        "entry 3 (`cal_2026_11_02_0009`) was added",
    );
    check(
        &|ledger| ledger["tasks"][0]["summary"] = "another".into(),
        "entry 1 (`cal_2026_11_02_0001`) differs",
    );
    check(
        &|ledger| drop(ledger["tasks"].as_array_mut().unwrap().remove(0)),
        "entry 1 (`cal_2026_11_02_0002`) differs",
    );
    check(
        &|ledger| ledger["note"] = 1.into(),
        "its fields other than `tasks` differ",
    );
}

/// CAL-SCH-1: another program may rewrite the file in its own layout; the contents count.
#[test]
fn a_ledger_in_another_layout_is_read_and_then_written_in_ours() {
    let (project, ids) = Project::with_entries(2);
    let before = project.views();
    let ledger: Value = serde_json::from_str(&before.0).unwrap();
    project.write(
        &project.paths.ledger,
        serde_json::to_string_pretty(&ledger).unwrap(),
    );
    let reader = project.reader();
    assert_eq!(reader.query(&Query::default()).unwrap().len(), 2);
    assert_eq!(
        reader.find(&ids[0]).unwrap().unwrap().entry.summary,
        "summary 0"
    );
    let repairs = project.open().repairs();
    assert_eq!(repairs.len(), 1);
    assert!(repairs[0].kept.is_some());
    assert_eq!(project.views(), before);
}

/// CAL-GOV-2, REQ-GOV-003, REQ-TEST-004: the journal alone gives ledger and hashlog, byte for byte.
#[test]
fn a_replay_gives_the_same_bytes_and_finds_the_first_that_differs() {
    let (project, _) = Project::with_entries(3);
    let project = project.at("2026-11-03T09:00:00Z");
    project.store(&project.open(), "the next day");
    let into = tempfile::tempdir().unwrap();
    let again = replay(&project.disk, &project.paths, None, into.path()).unwrap();
    assert_eq!(again.difference, None);
    assert_eq!(again.entries, 4);
    assert_eq!(
        project.read(&again.ledger),
        project.read(&project.paths.ledger)
    );
    assert_eq!(
        project.read(&again.hashlog),
        project.read(&project.paths.hashlog)
    );

    let monday = project.journal();
    let part = replay(&project.disk, &project.paths, Some(&monday), into.path()).unwrap();
    assert_eq!((part.entries, part.difference), (3, None));

    let ledger = project.text(&project.paths.ledger);
    project.write(
        &project.paths.ledger,
        ledger.replace("summary 1", "summary !"),
    );
    let differs = replay(&project.disk, &project.paths, None, into.path()).unwrap();
    let difference = differs.difference.unwrap();
    assert_eq!(difference.line, 5);
    assert_eq!(
        difference.offset,
        ledger.find("summary 1").unwrap() as u64 + 8
    );
    assert!(difference.expected.unwrap().contains("summary 1"));
    assert!(difference.found.unwrap().contains("summary !"));
    let error = replay(
        &project.disk,
        &project.paths,
        Some(into.path()),
        into.path(),
    )
    .unwrap_err();
    assert!(error.to_string().contains("is not a day file"), "{error}");
}

/// CAL-SEC-1: who may read the ledger stays as its owner decided, and what is set aside is the
/// owner's alone.
#[test]
fn a_repair_leaves_permissions_as_they_were() {
    let (project, _) = Project::with_entries(2);
    let mode = |path: &Path| {
        let file = project.disk.open(path, OpenHow::READ).unwrap();
        file.mode().unwrap().unwrap()
    };
    for path in [&project.paths.ledger, &project.paths.hashlog] {
        let torn = project.text(path).replace(':', ";");
        project.disk.replace(path, torn.as_bytes(), 0o600).unwrap();
    }
    let repairs = project.open().repairs();
    assert_eq!(repairs.len(), 2, "{repairs:?}");
    for repair in repairs {
        assert_eq!(repair.what, RepairKind::Rewritten);
        assert_eq!(mode(&repair.path), 0o600);
        assert_eq!(mode(&repair.kept.unwrap()), 0o600);
    }
}

/// CAL-LED-2: what a killed process was writing goes with the next opening for writing; what is not
/// ours, what a link leads to, and what is being written, stays.
#[test]
fn what_a_killed_process_was_writing_is_removed() {
    let (project, _) = Project::with_entries(1);
    let (disk, paths) = (&project.disk, &project.paths);
    let elsewhere = paths.root.join("elsewhere");
    for folder in [&paths.quarantine, &elsewhere] {
        disk.create_dir_all(folder).unwrap();
    }
    std::os::unix::fs::symlink(&elsewhere, &paths.backups).unwrap();
    let left = [
        paths.root.join("..cal_memory.json.1-0.tmp"),
        paths.root.join("..cal_hashlog.1-1.tmp"),
        paths.root.join(".2026-11-02.jsonl.1-2.tmp"),
        paths
            .history
            .join(".cal_memory_20261102_100000.json.1-3.tmp"),
        paths
            .quarantine
            .join(".cal_memory.json.0123456789abcdef.1-4.tmp"),
        paths.audit.join(".2026-11-02.jsonl.1-5.tmp"),
    ];
    let not_ours = [
        paths.root.join(".notes.txt.1-0.tmp"),
        elsewhere.join(".cal_memory_20261102_100000.json.1-0.tmp"),
    ];
    for path in left.iter().chain(&not_ours) {
        project.write(path, b"half of it");
    }
    let written = disk.new_file(&paths.ledger, 0o644).unwrap();
    assert_eq!(project.open().repairs(), []);
    for path in &left {
        assert!(!disk.exists(path).unwrap(), "{}", path.display());
    }
    for path in &not_ours {
        assert!(disk.exists(path).unwrap(), "{}", path.display());
    }
    let found = verify(disk, paths).unwrap();
    assert_eq!(found.problems, []);
    let names = disk.list_dir(&paths.root).unwrap();
    let being_written = names
        .iter()
        .filter(|entry| entry.name.to_string_lossy().ends_with(".tmp"));
    assert_eq!(being_written.count(), 2);
    drop(written);
}
