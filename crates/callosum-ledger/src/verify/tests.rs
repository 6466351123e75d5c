//! Every kind of tampering, at the start, in the middle and at the end.

use std::time::Duration;

use callosum_host::{Clock, Disk, Ids};
use serde_json::Map;

use super::*;
use crate::{AuditEvent, Event, Ledger, NewEntry, Spawn, chain::JOURNAL, journal::Record};

struct Project {
    _folder: tempfile::TempDir,
    disk: Disk,
    paths: LedgerPaths,
}

/// A project of five entries, and of one record that is not about an entry after each.
fn project() -> Project {
    project_from("2026-11-02T10:00:00Z")
}

fn project_from(start: &str) -> Project {
    let folder = tempfile::tempdir().unwrap();
    let disk = Disk::real();
    let paths = LedgerPaths::in_root(folder.path());
    let clock = Clock::fixed(start.parse().unwrap(), Duration::from_millis(1));
    Ledger::create(&disk, &paths, &clock).unwrap();
    let ledger = Ledger::open(disk.clone(), paths.clone(), clock.clone(), Ids::sequence()).unwrap();
    for number in 0..5 {
        let spawn = Spawn {
            executor: "scout".to_owned(),
            details: Map::new(),
        };
        let entry = NewEntry {
            task_id: ledger.reserve(spawn).unwrap(),
            executor: "scout".to_owned(),
            summary: format!("summary {number}"),
            tokens_used: 1,
            linked_tasks: Vec::new(),
            timestamp: clock.now(),
            metadata: Map::new(),
        };
        ledger.commit(entry).unwrap();
        ledger.record(AuditEvent::new(Event::State)).unwrap();
    }
    ledger.flush().unwrap();
    Project {
        _folder: folder,
        disk,
        paths,
    }
}

impl Project {
    fn journal(&self) -> PathBuf {
        crate::journal::day_files(&self.disk, &self.paths.audit).unwrap()[0]
            .path
            .clone()
    }

    fn open(&self) -> Ledger {
        let clock = Clock::fixed("2026-11-02T11:00:00Z".parse().unwrap(), Duration::ZERO);
        Ledger::open(
            self.disk.clone(),
            self.paths.clone(),
            clock,
            Ids::sequence(),
        )
        .unwrap()
    }

    fn lines(&self, path: &std::path::Path) -> Vec<String> {
        let text = String::from_utf8(self.disk.read(path).unwrap()).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    fn write(&self, path: &std::path::Path, lines: &[String]) {
        let text = lines.join("\n") + "\n";
        self.disk.replace(path, text.as_bytes(), 0o644).unwrap();
    }

    /// The problem with one file.
    fn problem(&self, path: &std::path::Path) -> Option<(VerifyFinding, u64)> {
        let found = verify(&self.disk, &self.paths).unwrap();
        let problem = found.problems.iter().find(|problem| problem.path == path);
        problem.map(|problem| (problem.fault, problem.number))
    }
}

/// Changes the lines of a file and returns the result of `verify`.
fn tampered(
    choose: impl Fn(&Project) -> PathBuf,
    change: impl Fn(&mut Vec<String>),
) -> Option<(VerifyFinding, u64)> {
    let project = project();
    let path = choose(&project);
    let mut lines = project.lines(&path);
    change(&mut lines);
    project.write(&path, &lines);
    project.problem(&path)
}

#[test]
fn what_was_written_is_sound_and_counted() {
    let project = project();
    let found = verify(&project.disk, &project.paths).unwrap();
    assert_eq!(found.problems, []);
    assert_eq!((found.entries, found.hashlog_lines), (5, 5));
    assert_eq!((found.records, found.day_files), (16, 1));
}

/// CAL-GOV-1, REQ-GOV-001: a changed record is reported at every position.
#[test]
fn an_edited_record_is_named() {
    for at in [0, 7, 15] {
        let found = tampered(Project::journal, |lines| {
            lines[at] = lines[at].replace("2026", "2025");
        });
        assert_eq!(found, Some((VerifyFinding::Edited, at as u64 + 1)));
    }
}

/// CAL-GOV-1: a record that was taken out, moved or doubled is named.
#[test]
fn a_missing_moved_or_doubled_record_is_named() {
    for at in [0, 7, 14] {
        let number = at as u64 + 1;
        let found = tampered(Project::journal, |lines| drop(lines.remove(at)));
        assert_eq!(
            found,
            Some((VerifyFinding::Deleted, number)),
            "deleted {at}"
        );
        let found = tampered(Project::journal, |lines| lines.swap(at, at + 1));
        assert_eq!(
            found,
            Some((VerifyFinding::Reordered, number)),
            "moved {at}"
        );
        let found = tampered(Project::journal, |lines| {
            lines.insert(at + 1, lines[at].clone());
        });
        assert_eq!(
            found,
            Some((VerifyFinding::Duplicated, number + 1)),
            "doubled {at}"
        );
    }
}

/// CAL-GOV-1: records of another log do not fit in, though each is right in itself.
#[test]
fn records_of_another_journal_are_named() {
    let other = project_from("2026-11-02T10:00:01Z");
    let others = other.lines(&other.journal());
    for at in [0, 7, 15] {
        let found = tampered(Project::journal, |lines| {
            lines[at..].clone_from_slice(&others[at..]);
        });
        // From the first record on it is a whole journal, of another ledger.
        let expected = (at > 0).then_some((VerifyFinding::Spliced, at as u64 + 1));
        assert_eq!(found, expected, "spliced at {at}");
    }
}

/// CAL-GOV-1: an unfinished last line is what a crash leaves.
#[test]
fn a_torn_end_is_distinguished_from_tampering() {
    let project = project();
    let path = project.journal();
    let mut bytes = project.disk.read(&path).unwrap();
    bytes.extend_from_slice(b"{\"timestamp\":\"2026");
    project.disk.replace(&path, &bytes, 0o644).unwrap();
    assert_eq!(project.problem(&path), Some((VerifyFinding::Torn, 17)));
}

/// CAL-SUM-1, REQ-SEC-002: entry lines stand from the fourth line of the ledger on.
#[test]
fn every_change_to_an_entry_of_the_ledger_is_named() {
    let ledger = |project: &Project| project.paths.ledger.clone();
    for at in [3, 5, 7] {
        let number = at as u64 - 2;
        let found = tampered(ledger, |lines| {
            lines[at] = lines[at].replace("summary", "sUmmary");
        });
        assert!(found.is_some(), "key {at}");
        let found = tampered(ledger, |lines| {
            lines[at] = lines[at].replace("summary ", "Summary ");
        });
        assert_eq!(found, Some((VerifyFinding::Edited, number)), "edited {at}");
    }
    for at in [3, 5, 6] {
        let number = at as u64 - 2;
        let found = tampered(ledger, |lines| drop(lines.remove(at)));
        assert_eq!(
            found,
            Some((VerifyFinding::Deleted, number)),
            "deleted {at}"
        );
        let found = tampered(ledger, |lines| lines.insert(at, lines[at].clone()));
        assert_eq!(
            found,
            Some((VerifyFinding::Duplicated, number + 1)),
            "doubled {at}"
        );
    }
    for at in [3, 5] {
        let found = tampered(ledger, |lines| lines.swap(at, at + 1));
        assert_eq!(
            found,
            Some((VerifyFinding::Reordered, at as u64 - 2)),
            "moved {at}"
        );
    }
    let found = tampered(ledger, |lines| {
        lines.remove(7);
        lines[6].pop();
    });
    assert_eq!(found, Some((VerifyFinding::Behind, 5)));
    let found = tampered(ledger, |lines| lines[1] = lines[1].replace("1.2", "1.1"));
    assert_eq!(found, Some((VerifyFinding::Layout, 0)));
    let found = tampered(ledger, |lines| lines.truncate(5));
    assert_eq!(
        found,
        Some((VerifyFinding::Torn, 3)),
        "a crash can leave that"
    );
    let found = tampered(ledger, |lines| lines.push("]".to_owned()));
    assert_eq!(found.unwrap().0, VerifyFinding::Unreadable);
}

/// CAL-SUM-1: an entry whose checksum fits its changed text still differs from the journal.
#[test]
fn an_entry_that_was_forged_with_its_checksum_is_named() {
    let found = tampered(
        |project| project.paths.ledger.clone(),
        |lines| {
            let forged = lines[4]
                .trim()
                .trim_end_matches(',')
                .replace("summary 1", "summary 9");
            let (_, sealed) = crate::entry::seal(
                forged.as_bytes(),
                callosum_json::canonical::DuplicateKeys::Refused,
            )
            .unwrap();
            lines[4] = format!("    {sealed},");
        },
    );
    assert_eq!(found, Some((VerifyFinding::Edited, 2)));
}

/// CAL-SUM-2: a changed hashlog is named.
#[test]
fn every_change_to_the_hashlog_is_named() {
    let hashlog = |project: &Project| project.paths.hashlog.clone();
    for at in [0, 2, 4] {
        let number = at as u64 + 1;
        let found = tampered(hashlog, |lines| {
            lines[at] = lines[at].replace("scout", "scOut");
        });
        assert_eq!(found, Some((VerifyFinding::Edited, number)), "edited {at}");
    }
    for at in [0, 2, 3] {
        let number = at as u64 + 1;
        let found = tampered(hashlog, |lines| drop(lines.remove(at)));
        assert_eq!(
            found,
            Some((VerifyFinding::Deleted, number)),
            "deleted {at}"
        );
    }
    let found = tampered(hashlog, |lines| drop(lines.pop()));
    assert_eq!(found, Some((VerifyFinding::Behind, 5)));
}

#[test]
fn a_missing_file_is_named() {
    let project = project();
    project.disk.remove_file(&project.paths.hashlog).unwrap();
    assert_eq!(
        project.problem(&project.paths.hashlog),
        Some((VerifyFinding::Missing, 0))
    );
    project.disk.remove_file(&project.paths.ledger).unwrap();
    assert_eq!(
        project.problem(&project.paths.ledger),
        Some((VerifyFinding::Missing, 0))
    );
    project.disk.remove_file(&project.journal()).unwrap();
    let found = verify(&project.disk, &project.paths).unwrap();
    assert!(found.is_sound(), "nothing at all is nothing wrong");
}

/// CAL-SUM-2: a part that was never written to ledger and hashlog counts as crash damage, not as an
/// edit of the other file. Zeros in a part that a watermark confirms to be on disk do not.
#[test]
fn holes_that_a_crash_leaves_are_distinguished_from_tampering() {
    let project = project();
    let ledger = project.disk.read(&project.paths.ledger).unwrap();
    let hole = |from: usize, until: usize| {
        let mut bytes = ledger.clone();
        bytes[from..until].fill(0);
        let ledger = &project.paths.ledger;
        project.disk.replace(ledger, &bytes, 0o644).unwrap();
        let hashlog = project.problem(&project.paths.hashlog);
        assert_eq!(hashlog, None, "{from}..{until}");
        project.problem(ledger).unwrap().0
    };
    assert_eq!(hole(1024, ledger.len()), VerifyFinding::Torn);
    assert_eq!(hole(512, 1024), VerifyFinding::Torn);
    assert_eq!(
        hole(0, 512),
        VerifyFinding::Unreadable,
        "its head was synced"
    );
    assert_eq!(
        hole(600, 700),
        VerifyFinding::Unreadable,
        "no disk writes that"
    );
}

/// CAL-SCH-2: a task with two entries is reported, even if everything else fits together.
#[test]
fn a_second_entry_of_a_task_is_named() {
    let project = project();
    let path = project.journal();
    let mut lines = project.lines(&path);
    let commit = lines[2].clone();
    let last = Record::read(lines[lines.len() - 1].as_bytes()).unwrap();
    let (seq, prev) = (last.head.seq, last.hash);
    let (fields, _) = commit.split_once(",\"prev\":").unwrap();
    let (_, head) = fields.split_once("\"seq\":3,").unwrap();
    let before = &fields[..fields.len() - head.len() - "\"seq\":3,".len()];
    let mut again = format!("{before}\"seq\":{},{head},\"prev\":\"{prev}\"", seq + 1).into_bytes();
    JOURNAL.seal(&mut again, 0);
    lines.push(String::from_utf8(again).unwrap().trim_end().to_owned());
    project.write(&path, &lines);
    drop(project.open());
    let found = verify(&project.disk, &project.paths).unwrap();
    let [problem] = &found.problems[..] else {
        panic!("{:?}", found.problems);
    };
    assert_eq!(
        (problem.fault, problem.number),
        (VerifyFinding::Duplicated, seq + 1)
    );
    let id = problem.task_id.as_ref().unwrap();
    assert_eq!(id.as_str(), "cal_2026_11_02_0001");
}

/// CAL-GOV-4: a day's file under an earlier day's name would be missed by queries for its day.
#[test]
fn a_day_file_with_another_name_is_named() {
    let project = project();
    let renamed = project.paths.audit.join("2026-10-30.jsonl");
    project.disk.rename(&project.journal(), &renamed).unwrap();
    assert_eq!(project.problem(&renamed), Some((VerifyFinding::Edited, 0)));
}

/// CAL-GOV-4: where the ledger was changed, its hashlog is not accused.
#[test]
fn a_hashlog_that_says_where_entries_were_is_right() {
    let project = project();
    let text = project.disk.read(&project.paths.ledger).unwrap();
    let text = String::from_utf8(text).unwrap();
    let longer = text.replacen("summary 1", "summary one", 1);
    let ledger = &project.paths.ledger;
    project
        .disk
        .replace(ledger, longer.as_bytes(), 0o644)
        .unwrap();
    assert_eq!(project.problem(ledger), Some((VerifyFinding::Edited, 2)));
    assert_eq!(project.problem(&project.paths.hashlog), None);
}

/// CAL-GOV-4: a link in the ledger's place is called one.
#[test]
fn a_link_in_the_place_of_the_ledger_is_named() {
    let project = project();
    let elsewhere = project.paths.root.join("elsewhere");
    project
        .disk
        .rename(&project.paths.ledger, &elsewhere)
        .unwrap();
    std::os::unix::fs::symlink(&elsewhere, &project.paths.ledger).unwrap();
    let found = verify(&project.disk, &project.paths).unwrap();
    let [problem] = &found.problems[..] else {
        panic!("{:?}", found.problems);
    };
    assert_eq!(problem.path, project.paths.ledger);
    assert!(problem.detail.contains("a link"), "{problem:?}");
}
