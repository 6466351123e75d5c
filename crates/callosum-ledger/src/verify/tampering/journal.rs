//! Tampering with the journal.

use super::*;
use crate::chain::JOURNAL;
use callosum_json::Checksum;

/// Changes the journal and returns the finding.
fn journal(change: impl FnOnce(&mut Vec<String>)) -> Option<(VerifyFinding, u64)> {
    let project = Project::new();
    let path = project.journal();
    let mut lines = project.lines(&path);
    assert_eq!(lines.len(), RECORDS);
    change(&mut lines);
    project.write(&path, &lines);
    let found = project.found(&path);
    // Verifying is not mending: it is found as often as it is looked for.
    assert_eq!(project.found(&path), found);
    found
}

/// Returns a record with its hash recomputed, behind another one.
fn resealed(line: &str, prev: Option<Checksum>) -> String {
    let (fields, rest) = line.split_at(line.rfind(",\"prev\":\"").unwrap());
    let stated = &rest[9..73];
    let prev = prev.map_or_else(|| stated.to_owned(), |prev| prev.to_string());
    let mut bytes = format!("{fields},\"prev\":\"{prev}\"").into_bytes();
    JOURNAL.seal(&mut bytes, 0);
    let text = String::from_utf8(bytes).unwrap();
    text.trim_end().to_owned()
}

/// Recomputes the hash of every record, so that the chain holds.
fn rechained(lines: &mut [String]) {
    let mut head = Checksum::ZERO;
    for line in lines {
        *line = resealed(line, Some(head));
        head = JOURNAL.check(line.as_bytes()).unwrap();
    }
}

/// CAL-GOV-4: edited, also if the record's own hash was recomputed.
#[test]
fn an_edited_record_is_named() {
    for at in [0, 1, RECORDS / 2, RECORDS - 2, RECORDS - 1] {
        let found = journal(|lines| lines[at] = lines[at].replace("2026", "2025"));
        assert_eq!(
            found,
            Some((VerifyFinding::Edited, number(at))),
            "edited {at}"
        );
    }
    for at in [0, 1, RECORDS / 2, RECORDS - 6] {
        let found = journal(|lines| {
            let line = lines[at].replace("T10:", "T11:");
            lines[at] = resealed(&line, None);
        });
        assert_eq!(
            found,
            Some((VerifyFinding::Edited, number(at))),
            "resealed {at}"
        );
    }
}

/// CAL-GOV-4: the last record is about the last checkpoint and is not signed yet. Its checkpoint
/// must be kept, the rest of it is not proven, and the verification reports how far the proof
/// reaches.
#[test]
fn the_last_record_is_proven_as_far_as_it_tells_of_a_checkpoint() {
    let project = Project::new();
    let path = project.journal();
    let lines = project.lines(&path);
    let with_last = |change: &dyn Fn(&str) -> String| {
        let mut lines = lines.clone();
        let last = lines.pop().unwrap();
        lines.push(resealed(&change(&last), None));
        project.write(&path, &lines);
        project.verify()
    };
    for field in ["\"root\":\"", "\"size\":"] {
        let found = with_last(&|last| {
            let at = last.find(field).unwrap() + field.len();
            let other = if last[at..].starts_with('9') {
                "8"
            } else {
                "9"
            };
            format!("{}{other}{}", &last[..at], &last[at + 1..])
        });
        let [problem] = &found.problems[..] else {
            panic!("{field}: {:?}", found.problems);
        };
        assert_eq!(problem.fault, VerifyFinding::CheckpointMissing, "{field}");
        assert_eq!(problem.path, project.witness.path());
    }
    let found = with_last(&|last| last.replace("T10:", "T11:"));
    assert_eq!(found.problems, []);
    assert_eq!(
        (found.records, found.signed_records),
        (RECORDS as u64, SIGNED as u64)
    );
}

/// CAL-GOV-4: deleted; at the end it is a cut tail.
#[test]
fn a_deleted_record_is_named() {
    for at in [0, 1, RECORDS / 2, RECORDS - 2] {
        let found = journal(|lines| drop(lines.remove(at)));
        assert_eq!(
            found,
            Some((VerifyFinding::Deleted, number(at))),
            "deleted {at}"
        );
    }
}

/// CAL-GOV-4: inserted, as a line of anything, and as a record that was made to fit.
#[test]
fn an_inserted_record_is_named() {
    for at in [0, 1, RECORDS / 2, RECORDS - 1] {
        let found = journal(|lines| lines.insert(at, "{\"made\":\"up\"}".to_owned()));
        assert_eq!(
            found,
            Some((VerifyFinding::Inserted, number(at))),
            "line {at}"
        );
        let found = journal(|lines| {
            let made_up = lines[at].replace("T10:", "T11:");
            lines.insert(at, resealed(&made_up, None));
        });
        assert_eq!(
            found,
            Some((VerifyFinding::Inserted, number(at))),
            "fitting {at}"
        );
    }
    // Behind the last record, one that fits is what the program itself would write.
    let found = journal(|lines| {
        lines.pop();
        lines.push("{\"made\":\"up\"}".to_owned());
    });
    assert_eq!(found, Some((VerifyFinding::Inserted, number(SIGNED))));
}

/// CAL-GOV-4: reordered and duplicated.
#[test]
fn a_moved_or_doubled_record_is_named() {
    for at in [0, 1, RECORDS / 2, RECORDS - 2] {
        let found = journal(|lines| lines.swap(at, at + 1));
        assert_eq!(
            found,
            Some((VerifyFinding::Reordered, number(at))),
            "moved {at}"
        );
    }
    for at in [0, RECORDS / 2, RECORDS - 1] {
        let found = journal(|lines| lines.insert(at + 1, lines[at].clone()));
        let expected = Some((VerifyFinding::Duplicated, number(at + 1)));
        assert_eq!(found, expected, "doubled {at}");
    }
}

/// CAL-GOV-4: records of another journal, in the place of ours and among them.
#[test]
fn a_spliced_journal_is_named() {
    let other = Project::other();
    let others = other.lines(&other.journal());
    let found = journal(|lines| lines[..4].clone_from_slice(&others[..4]));
    assert_eq!(found, Some((VerifyFinding::Spliced, 1)), "its beginning");
    for at in [1, RECORDS / 2, RECORDS - 1] {
        let expected = Some((VerifyFinding::Spliced, number(at)));
        let found = journal(|lines| lines[at..].clone_from_slice(&others[at..]));
        assert_eq!(found, expected, "from {at} on");
        let found = journal(|lines| lines.insert(at, others[at].clone()));
        assert_eq!(found, expected, "one more at {at}");
        let found = journal(|lines| lines[at] = others[at].clone());
        assert_eq!(found, expected, "one instead at {at}");
    }
}

/// CAL-GOV-4: a cut tail, however long, with ledger and hashlog cut to fit as well.
#[test]
fn a_cut_tail_is_named() {
    for left in [1, RECORDS / 2, SIGNED - 1] {
        let found = journal(|lines| lines.truncate(left));
        assert_eq!(
            found,
            Some((VerifyFinding::TailCut, number(left))),
            "{left} left"
        );

        let project = Project::new();
        let path = project.journal();
        let mut lines = project.lines(&path);
        lines.truncate(left);
        project.write(&path, &lines);
        for view in [&project.paths.ledger, &project.paths.hashlog] {
            project.disk.remove_file(view).unwrap();
        }
        drop(project.disk.remove_file(&project.paths.watermark()));
        drop(project.open());
        let mut problems = project.verify().problems;
        problems.retain(|problem| problem.path != project.witness.path());
        let faults: Vec<_> = problems.iter().map(|problem| problem.fault).collect();
        // Rebuilding the views is a record, and so another one than was signed.
        let expected = if left + 1 < SIGNED {
            [VerifyFinding::TailCut, VerifyFinding::Rewritten]
        } else {
            [VerifyFinding::Rewritten, VerifyFinding::Rewritten]
        };
        assert!(
            faults.len() == 1 && expected.contains(&faults[0]),
            "{problems:?}"
        );
    }
}

/// CAL-GOV-4: a tail that was cut in the middle of a line removes signed records like any other:
/// the last line, which looks like the result of a crash, does not hide that. The report gives the
/// total number of signed records. Nothing is written to such a journal until a person confirms it.
#[test]
fn a_tail_that_was_cut_within_a_line_is_named() {
    for left in [1, RECORDS / 2, SIGNED - 1] {
        let project = Project::new();
        let path = project.journal();
        let lines = project.lines(&path);
        let mut text = lines[..left].join("\n");
        text.push('\n');
        text.push_str(&lines[left][..lines[left].len() / 2]);
        let cut = text.into_bytes();
        project.disk.replace(&path, &cut, 0o644).unwrap();
        let found = project.verify().problems;
        let of_journal = found.iter().find(|problem| problem.path == path).unwrap();
        assert_eq!(of_journal.fault, VerifyFinding::TailCut, "{left} left");
        assert_eq!(of_journal.number, number(left));
        let stated = format!("{SIGNED} records were signed");
        assert!(of_journal.detail.contains(&stated), "{}", of_journal.detail);

        let signed = project
            .witness
            .signed_records(&project.disk, &project.paths);
        let options = LedgerOptions {
            signed: signed.unwrap(),
            ..LedgerOptions::default()
        };
        let (disk, paths) = (project.disk.clone(), project.paths.clone());
        let (clock, ids) = (project.clock.clone(), Ids::sequence());
        let error = Ledger::open_with(disk, paths, clock, ids, options).unwrap_err();
        let expected = matches!(&error, OpenError::Cut { records, .. } if *records == left as u64);
        assert!(expected, "{error}");
        assert_eq!(project.disk.read(&path).unwrap(), cut);
        assert!(!project.disk.exists(&project.paths.quarantine).unwrap());
    }
}

/// CAL-GOV-4: a last record that was torn and not signed is what a crash leaves.
#[test]
fn a_torn_record_that_was_not_signed_is_torn() {
    let project = Project::new();
    let path = project.journal();
    let bytes = project.disk.read(&path).unwrap();
    let torn = &bytes[..bytes.len() - 20];
    project.disk.replace(&path, torn, 0o644).unwrap();
    let found = project.found(&path);
    assert_eq!(found, Some((VerifyFinding::Torn, RECORDS as u64)));
}

/// CAL-GOV-4: a consistent rewrite of everything is not what was signed.
#[test]
fn a_consistent_rewriting_is_named() {
    // The checkpoints are of 3, 6, 9, 12 and 15 records; each is reported up to its size.
    for (at, first) in [(0, 1), (2, 1), (RECORDS / 2, 7), (SIGNED - 1, 13)] {
        let project = Project::new();
        let path = project.journal();
        let mut lines = project.lines(&path);
        lines[at] = lines[at].replacen("T10:", "T11:", 1);
        rechained(&mut lines);
        project.write(&path, &lines);
        for view in [&project.paths.ledger, &project.paths.hashlog] {
            project.disk.remove_file(view).unwrap();
        }
        drop(project.disk.remove_file(&project.paths.watermark()));
        drop(project.open());
        let found = project.verify().problems;
        let [problem] = &found[..] else {
            panic!("{at}: {found:?}");
        };
        let number = problem.number;
        assert_eq!(
            (problem.fault, number),
            (VerifyFinding::Rewritten, first),
            "{at}"
        );
    }
    let other = Project::other();
    let project = Project::new();
    project.disk.remove_file(&project.journal()).unwrap();
    for (from, to) in [
        (&other.paths.ledger, &project.paths.ledger),
        (&other.paths.hashlog, &project.paths.hashlog),
    ] {
        let bytes = other.disk.read(from).unwrap();
        project.disk.replace(to, &bytes, 0o644).unwrap();
    }
    let to = project.paths.audit.join("2026-11-03.jsonl");
    project.write(&to, &other.lines(&other.journal()));
    assert_eq!(project.found(&to), Some((VerifyFinding::Rewritten, 1)));
}

/// CAL-GOV-4: a journal that is gone while its checkpoints are there.
#[test]
fn a_missing_journal_is_named() {
    let project = Project::new();
    project.disk.remove_file(&project.journal()).unwrap();
    let found = project.found(&project.paths.audit);
    assert_eq!(found, Some((VerifyFinding::Missing, 0)));
    let project = Project::new();
    project.write(&project.journal(), &[]);
    assert!(!project.verify().is_sound());
}

/// CAL-GOV-4: the last entry of ledger and hashlog that the journal lacks was cut off from the
/// journal, or was added here if the journal is proven.
#[test]
fn views_that_go_beyond_the_journal_are_named() {
    let project = Project::new();
    let path = project.journal();
    let lines = project.lines(&path);
    // Without checkpoints, ledger and hashlog are the witnesses.
    project.write(&path, &lines[..RECORDS - 3]);
    let found = verify(&project.disk, &project.paths).unwrap().problems;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].fault, VerifyFinding::TailCut);
    assert_eq!(found[0].number, number(RECORDS - 3));
    assert_eq!(found[0].path, path);
}
