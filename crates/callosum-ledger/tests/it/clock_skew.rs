//! A clock that was ahead and was set right: nothing is refused, nothing is lost, and it is on the record.

use callosum_ledger::{
    AuditQuery, AuditReader, Ledger, day_ahead,
    verify::{Scope, verify_within},
};

use crate::project::{Project, START};

/// Counts the records that the clock was ahead.
fn skews(project: &Project) -> usize {
    let journal = AuditReader::new(project.disk.clone(), project.paths.clone());
    let mut count = 0;
    let counted = journal.query(&AuditQuery::default(), |record| {
        count += usize::from(record.event == "clock_skew");
        std::ops::ControlFlow::Continue(())
    });
    counted.unwrap();
    count
}

fn assert_sound(project: &Project) {
    let scope = Scope {
        archives: true,
        witness: None,
    };
    let found = verify_within(&project.disk, &project.paths, scope).unwrap();
    assert_eq!(found.problems, Vec::new());
}

/// CAL-GOV-1: however far it was ahead, delegations continue once it is right, and acknowledged
/// entries stay.
#[test]
fn records_go_on_after_a_clock_was_ahead() {
    for (ahead, days) in [
        ("2026-11-04T10:00:00Z", 2),
        ("2026-12-23T23:59:59Z", 51),
        ("2046-11-02T10:00:00Z", 7305),
    ] {
        let (project, _) = Project::with_entries(1);
        let project = project.at(ahead);
        let acknowledged = project.store(&project.open(), "ahead").task_id;
        let project = project.at(START);
        assert_eq!(skews(&project), 0);
        for number in 0..3 {
            let ledger = project.open();
            project.store(&ledger, &format!("right again {number}"));
        }
        assert_eq!(skews(&project), 1, "{ahead}");
        Ledger::create(&project.disk, &project.paths, &project.clock).unwrap();
        assert_sound(&project);
        let found = project.reader().find(&acknowledged).unwrap().unwrap();
        assert_eq!(found.entry.summary, "ahead");
        assert_eq!(project.reader().stats().unwrap().entries, 5);
        let skew = day_ahead(&project.disk, &project.paths, project.clock.now());
        let skew = skew.unwrap().unwrap();
        assert_eq!(skew.days, days);
        assert!(skew.to_string().contains(&ahead[..10]), "{skew}");
        let later = project.at(ahead);
        let skew = day_ahead(&later.disk, &later.paths, later.clock.now());
        assert_eq!(skew.unwrap(), None);
        later.store(&later.open(), "that day has come");
        assert_sound(&later);
    }
}

/// CAL-LED-1: archives that were named while the clock was ahead are followed by others.
#[test]
fn rotation_goes_on_after_a_clock_was_ahead() {
    let (project, _) = Project::with_entries(1);
    let project = project.rotating_at(1).at("2027-01-02T03:04:05Z");
    let mut ids = vec![project.store(&project.open(), "ahead 1").task_id];
    ids.push(project.store(&project.open(), "ahead 2").task_id);
    let project = project.at(START);
    for number in 0..3 {
        let ledger = project.open();
        ids.push(project.store(&ledger, &format!("right {number}")).task_id);
    }
    assert_sound(&project);
    for id in &ids {
        assert!(project.reader().find(id).unwrap().is_some(), "{id}");
    }
}

/// CAL-GOV-1: a file of a day to come whose first record is damaged is damage, and no file to move away.
#[test]
fn damage_in_a_file_of_a_day_to_come_is_named_as_damage() {
    let (project, _) = Project::with_entries(1);
    let project = project.at("2026-11-09T10:00:00Z");
    let ledger = project.open();
    for _ in 0..2 {
        project.store(&ledger, "ahead");
    }
    drop(ledger);
    let path = project.paths.audit.join("2026-11-09.jsonl");
    let text = project.text(&path);
    project.write(&path, text.replacen("\"seq\"", "\"sEq\"", 1));
    project
        .disk
        .remove_file(&project.paths.watermark())
        .unwrap();
    let project = project.at(START);
    let refused = project.open_refused();
    assert!(refused.contains("is damaged at record"), "{refused}");
}
