//! Tampering with the lines of a hashlog: that of the active ledger, of an archive, and of one that
//! is compressed.

use serde_json::Value;

use super::*;
use crate::{archive_files, chain::HASHLOG};
use callosum_json::Checksum;

/// A ledger whose hashlog is changed.
#[derive(Clone, Copy, Debug)]
enum Of {
    Active,
    Archived,
    Compressed,
}

const ALL: [Of; 3] = [Of::Active, Of::Archived, Of::Compressed];

impl Of {
    /// Changes the lines of the hashlog and returns the finding for its file.
    fn found(self, change: impl FnOnce(&mut Vec<String>)) -> Option<(VerifyFinding, u64)> {
        let project = Project::new();
        let path = match self {
            Self::Active => project.paths.hashlog.clone(),
            Self::Archived | Self::Compressed => {
                project.open().rotate().unwrap();
                if matches!(self, Self::Compressed) {
                    let (disk, paths) = (&project.disk, &project.paths);
                    assert_eq!(Ledger::compress_archives(disk, paths).unwrap(), 1);
                }
                let names = archive_files::names(&project.disk, &project.paths.history).unwrap();
                project.paths.archived_hashlog(&names[0])
            }
        };
        let mut lines = project.lines(&path);
        assert_eq!(lines.len(), ENTRIES);
        change(&mut lines);
        project.write(&path, &lines);
        let verified = project.verify();
        let of_file = |problem: &&Problem| problem.path == path;
        let problem = verified.problems.iter().find(of_file);
        // Nothing else is accused of it.
        assert_eq!(verified.problems.len(), usize::from(problem.is_some()));
        problem.map(|problem| (problem.fault, problem.number))
    }
}

/// A line with a field changed, its hash left as it was.
fn with(line: &str, field: &str, value: &str) -> String {
    let read: Value = serde_json::from_str(line).unwrap();
    let was = serde_json::to_string(&read[field]).unwrap();
    let changed = line.replacen(
        &format!("\"{field}\":{was}"),
        &format!("\"{field}\":{value}"),
        1,
    );
    assert_ne!(changed, line);
    changed
}

/// Returns a line with its hash recomputed.
fn rehashed(line: &str) -> String {
    let mut bytes = line.as_bytes()[..line.rfind(",\"line\":\"").unwrap()].to_vec();
    HASHLOG.seal(&mut bytes, 0);
    String::from_utf8(bytes).unwrap().trim_end().to_owned()
}

/// Renumbers and rehashes all lines from this one on, so that the chain holds.
fn rechained(lines: &mut [String], from: usize) {
    for at in from..lines.len() {
        let prev = match at.checked_sub(1) {
            None => Checksum::ZERO.to_string(),
            Some(before) => HASHLOG.check(lines[before].as_bytes()).unwrap().to_string(),
        };
        let read: Value = serde_json::from_str(&lines[at]).unwrap();
        for (field, value) in [
            ("prev", Value::from(prev)),
            ("seq", Value::from(number(at))),
        ] {
            if read[field] != value {
                lines[at] = with(&lines[at], field, &value.to_string());
            }
        }
        lines[at] = rehashed(&lines[at]);
    }
}

/// The fields of a line, each with a changed value.
const FIELDS: [(&str, &str); 6] = [
    ("task_id", "\"cal_2026_11_02_0099\""),
    ("executor", "\"other\""),
    ("timestamp", "\"2025-01-01T00:00:00Z\""),
    ("offset", "7"),
    ("length", "7"),
    (
        "checksum",
        "\"0000000000000000000000000000000000000000000000000000000000000001\"",
    ),
];

/// CAL-GOV-4, CAL-SUM-2: an edited line, also if its hash was recomputed, and those of all lines
/// behind it.
#[test]
fn an_edited_line_is_named() {
    for of in ALL {
        for at in [0, ENTRIES / 2, ENTRIES - 1] {
            for (field, value) in FIELDS {
                let expected = Some((VerifyFinding::Edited, number(at)));
                let found = of.found(|lines| lines[at] = with(&lines[at], field, value));
                assert_eq!(found, expected, "{of:?}: {field} of {at}");
                let found = of.found(|lines| lines[at] = rehashed(&with(&lines[at], field, value)));
                assert_eq!(found, expected, "{of:?}: {field} of {at}, rehashed");
                let found = of.found(|lines| {
                    lines[at] = with(&lines[at], field, value);
                    rechained(lines, at);
                });
                assert_eq!(found, expected, "{of:?}: {field} of {at}, rechained");
            }
        }
    }
}

/// CAL-GOV-4: a line that is gone, also if those behind it were renumbered and rehashed; at the end
/// it is a cut tail.
#[test]
fn a_deleted_line_or_a_cut_tail_is_named() {
    for of in ALL {
        for at in [0, ENTRIES / 2, ENTRIES - 2] {
            let expected = Some((VerifyFinding::Deleted, number(at)));
            let found = of.found(|lines| drop(lines.remove(at)));
            assert_eq!(found, expected, "{of:?}: {at}");
            let found = of.found(|lines| {
                lines.remove(at);
                rechained(lines, at);
            });
            assert_eq!(found, expected, "{of:?}: {at}, rechained");
        }
        for left in [0, ENTRIES / 2, ENTRIES - 1] {
            let found = of.found(|lines| lines.truncate(left));
            let expected = Some((VerifyFinding::TailCut, number(left)));
            assert_eq!(found, expected, "{of:?}: {left} left");
        }
    }
}

/// CAL-GOV-4: lines that were put in, moved or doubled.
#[test]
fn an_inserted_moved_or_doubled_line_is_named() {
    let other = Project::other();
    let others = other.lines(&other.paths.hashlog);
    for of in ALL {
        for at in [0, ENTRIES / 2, ENTRIES] {
            let expected = Some((VerifyFinding::Inserted, number(at)));
            let found = of.found(|lines| lines.insert(at, others[1].clone()));
            assert_eq!(found, expected, "{of:?}: another's at {at}");
            let found = of.found(|lines| lines.insert(at, "{\"made\":\"up\"}".to_owned()));
            assert_eq!(found, expected, "{of:?}: made up at {at}");
            let found = of.found(|lines| {
                lines.insert(at, others[1].clone());
                rechained(lines, at);
            });
            assert_eq!(found, expected, "{of:?}: another's at {at}, rechained");
        }
        for at in [0, ENTRIES / 2, ENTRIES - 2] {
            let expected = Some((VerifyFinding::Reordered, number(at)));
            let found = of.found(|lines| lines.swap(at, at + 1));
            assert_eq!(found, expected, "{of:?}: moved {at}");
            let found = of.found(|lines| {
                lines.swap(at, at + 1);
                rechained(lines, at);
            });
            assert_eq!(found, expected, "{of:?}: moved {at}, rechained");
        }
        for at in [0, ENTRIES / 2, ENTRIES - 1] {
            let expected = Some((VerifyFinding::Duplicated, number(at + 1)));
            let found = of.found(|lines| lines.insert(at + 1, lines[at].clone()));
            assert_eq!(found, expected, "{of:?}: doubled {at}");
            let found = of.found(|lines| {
                lines.insert(at + 1, lines[at].clone());
                rechained(lines, at + 1);
            });
            assert_eq!(found, expected, "{of:?}: doubled {at}, rechained");
        }
    }
}

/// CAL-GOV-4: lines of another ledger's hashlog, also one of the same tasks, and another one whole.
#[test]
fn a_spliced_or_rewritten_hashlog_is_named() {
    // Another day, so that no task is the same; and another hour, so that all are.
    for start in ["2026-11-03T10:00:00Z", "2026-11-02T11:00:00Z"] {
        let other = Project::begun_at(start);
        let others = other.lines(&other.paths.hashlog);
        for of in ALL {
            for at in [0, ENTRIES / 2, ENTRIES - 1] {
                let found = of.found(|lines| lines[at] = others[at].clone());
                let expected = Some((VerifyFinding::Spliced, number(at)));
                assert_eq!(found, expected, "{of:?}: one at {at}");
            }
            for at in [1, ENTRIES / 2] {
                let found = of.found(|lines| lines[at..].clone_from_slice(&others[at..]));
                let expected = Some((VerifyFinding::Spliced, number(at)));
                assert_eq!(found, expected, "{of:?}: from {at} on");
            }
            let found = of.found(|lines| lines.clone_from(&others));
            assert_eq!(found, Some((VerifyFinding::Rewritten, 1)), "{of:?}");
        }
    }
}
