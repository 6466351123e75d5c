//! Questions asked of ledgers in every layout.

use std::time::Duration;

use callosum_host::{Clock, Disk, Ids};
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::*;
use crate::{ErrorCode, Ledger, NewEntry, Spawn};

struct Project {
    _folder: tempfile::TempDir,
    disk: Disk,
    paths: LedgerPaths,
}

impl Project {
    /// Four entries, a minute apart, by two executors in two modes.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let paths = LedgerPaths::in_root(folder.path());
        let clock = Clock::fixed(at(0), Duration::from_mins(1));
        Ledger::create(&disk, &paths, &clock).unwrap();
        let ledger = Ledger::open(
            disk.clone(),
            paths.clone(),
            Clock::fixed(at(0), Duration::ZERO),
            Ids::sequence(),
        )
        .unwrap();
        for (number, executor, mode) in [
            (0, "scout", "concurrent"),
            (1, "gemini-cli", "queued"),
            (2, "scout", "queued"),
            (3, "scout", "concurrent"),
        ] {
            let spawn = Spawn {
                executor: executor.to_owned(),
                details: Map::new(),
            };
            let mut metadata = Map::new();
            metadata.insert("mode".to_owned(), mode.into());
            metadata.insert("repo".to_owned(), "callosum".into());
            metadata.insert("branch".to_owned(), "main".into());
            let entry = NewEntry {
                task_id: ledger.reserve(spawn).unwrap(),
                executor: executor.to_owned(),
                summary: format!("Summary {number} É"),
                tokens_used: 10,
                linked_tasks: Vec::new(),
                timestamp: at(number),
                metadata,
            };
            ledger.commit(entry).unwrap();
        }
        Self {
            _folder: folder,
            disk,
            paths,
        }
    }

    fn reader(&self) -> Reader {
        Reader::open(self.disk.clone(), self.paths.clone()).unwrap()
    }

    fn replace(&self, path: &std::path::Path, text: &str) {
        self.disk.replace(path, text.as_bytes(), 0o644).unwrap();
    }

    fn ledger_text(&self) -> String {
        String::from_utf8(self.disk.read(&self.paths.ledger).unwrap()).unwrap()
    }

    fn hashlog(&self) -> Vec<Value> {
        let hashlog = self.disk.read(&self.paths.hashlog).unwrap();
        let lines = hashlog.split_inclusive(|byte| *byte == b'\n');
        lines
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect()
    }

    /// Queries everything, with this hashlog: the result must be the ledger's contents.
    fn check_with_hashlog(&self, lines: &[Value]) {
        let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
        let text = lines.join("\n") + "\n";
        self.replace(&self.paths.hashlog, &text);
        self.check(Query::default(), &[3, 2, 1, 0]);
        let reader = self.reader();
        for number in 0..4 {
            let id = format!("cal_2026_11_02_000{}", number + 1).parse().unwrap();
            let found = reader.find(&id).unwrap().unwrap();
            assert_eq!(found.entry.task_id, id);
            assert_eq!(found.entry.summary, format!("Summary {number} É"), "{text}");
        }
        assert_eq!(reader.stats().unwrap().entries, 4);
    }

    fn ledger(&self) -> Value {
        serde_json::from_slice(&self.disk.read(&self.paths.ledger).unwrap()).unwrap()
    }

    /// The numbers of the summaries that a query gives.
    fn check(&self, query: Query, expected: &[usize]) {
        let found = self.reader().query(&query).unwrap();
        let found: Vec<_> = found.into_iter().map(|entry| entry.summary).collect();
        let expected: Vec<_> = expected.iter().map(|n| format!("Summary {n} É")).collect();
        assert_eq!(found, expected, "{query:?}");
    }
}

/// So many minutes after the first entry.
fn at(minutes: i64) -> Timestamp {
    let first: Timestamp = "2026-11-02T10:00:00Z".parse().unwrap();
    first + jiff::SignedDuration::from_mins(minutes)
}

fn every_query_on(project: &Project) {
    let all = Query::default();
    let text = |text: &str| Some(text.to_owned());
    project.check(all.clone(), &[3, 2, 1, 0]);
    project.check(
        Query {
            limit: Some(2),
            ..all.clone()
        },
        &[3, 2],
    );
    project.check(
        Query {
            executor: text("scout"),
            ..all.clone()
        },
        &[3, 2, 0],
    );
    project.check(
        Query {
            mode: text("queued"),
            ..all.clone()
        },
        &[2, 1],
    );
    project.check(
        Query {
            repo: text("other"),
            ..all.clone()
        },
        &[],
    );
    project.check(
        Query {
            branch: text("main"),
            limit: Some(1),
            ..all.clone()
        },
        &[3],
    );
    project.check(
        Query {
            text: text("summary 1 é"),
            ..all.clone()
        },
        &[1],
    );
    project.check(
        Query {
            text: text("QUEUED"),
            ..all.clone()
        },
        &[2, 1],
    );
    project.check(
        Query {
            since: Some(at(1)),
            until: Some(at(2)),
            ..all
        },
        &[2, 1],
    );
}

/// CAL-FLOW-2: by executor, time, mode, repository, branch and text, newest first.
#[test]
fn every_query_gives_the_same_in_every_layout() {
    let project = Project::new();
    every_query_on(&project);
    project.disk.remove_file(&project.paths.hashlog).unwrap();
    every_query_on(&project);
    let pretty = serde_json::to_string_pretty(&project.ledger()).unwrap();
    project.replace(&project.paths.ledger, &pretty);
    every_query_on(&project);
}

/// REQ-LED-005: what is archived is found as what is not.
#[test]
fn archives_are_searched_after_the_active_ledger() {
    let project = Project::new();
    let archive = project
        .paths
        .history
        .join("cal_memory_20261102_120000.json");
    let text = serde_json::to_string(&project.ledger()).unwrap();
    project.replace(&archive, &text);
    // Another program's: there is no journal that would tell of it.
    for day in day_files(&project.disk, &project.paths.audit).unwrap() {
        project.disk.remove_file(&day.path).unwrap();
    }
    project.replace(&project.paths.ledger, "{\"version\":\"1.2\",\"tasks\":[]}");
    project.disk.remove_file(&project.paths.hashlog).unwrap();
    every_query_on(&project);
    let id = "cal_2026_11_02_0002".parse().unwrap();
    let found = project.reader().find(&id).unwrap().unwrap();
    assert_eq!(found.entry.executor, "gemini-cli");
    assert_eq!(found.place.path, archive);
    assert!(found.place.is_archived);
    let stats = project.reader().stats().unwrap();
    assert_eq!(
        (stats.entries, stats.archived_entries, stats.archives),
        (4, 4, 1)
    );
    assert_eq!(stats.tokens_used, 40);
    assert_eq!(stats.executors["scout"].entries, 3);
    assert_eq!((stats.first, stats.last), (Some(at(0)), Some(at(3))));
}

/// CAL-FLOW-2: an entry is found by its id, at the location that the result gives.
#[test]
fn an_entry_is_found_by_its_id_at_its_location() {
    let project = Project::new();
    let id = "cal_2026_11_02_0003".parse().unwrap();
    let found = project.reader().find(&id).unwrap().unwrap();
    found.entry.check().unwrap();
    let file = project.disk.read(&project.paths.ledger).unwrap();
    let from = found.place.offset as usize;
    let stored = &file[from..from + found.place.length as usize];
    assert_eq!(stored, found.entry.as_json().as_bytes());
    let unknown = "cal_2026_11_02_0005".parse().unwrap();
    assert_eq!(project.reader().find(&unknown).unwrap(), None);
}

/// CAL-MSP-2: a reader sees the ledger up to the hashlog's last whole line.
#[test]
fn a_line_that_is_being_written_is_not_read() {
    let project = Project::new();
    let mut hashlog = project.disk.read(&project.paths.hashlog).unwrap();
    hashlog.extend_from_slice(b"{\"seq\":5,\"task_id\":");
    project
        .disk
        .replace(&project.paths.hashlog, &hashlog, 0o644)
        .unwrap();
    every_query_on(&project);
}

/// CAL-SCH-1: fields that the schema does not have are given back, integers of any size exactly.
#[test]
fn fields_beyond_the_schema_are_kept() {
    let project = Project::new();
    let mut ledger = project.ledger();
    let entry = ledger["tasks"][0].as_object_mut().unwrap();
    entry.insert("mood".to_owned(), "good".into());
    // An entry without a checksum is one that nothing is promised of.
    entry.remove("checksum");
    let text = serde_json::to_string(&ledger).unwrap();
    let text = text.replace(
        "\"mood\"",
        "\"count\":123456789012345678901234567890,\"mood\"",
    );
    project.replace(&project.paths.ledger, &text);
    let id = "cal_2026_11_02_0001".parse().unwrap();
    let found = project.reader().find(&id).unwrap().unwrap();
    assert_eq!(found.entry.other["mood"], "good");
    assert!(
        found
            .entry
            .as_json()
            .contains("123456789012345678901234567890")
    );
}

/// CAL-ERR-4: a hashlog that points to another entry, or to nothing, misleads no reader.
#[test]
fn a_hashlog_that_points_elsewhere_is_not_believed() {
    let project = Project::new();
    let hashlog = project.hashlog();
    let mut exchanged = hashlog.clone();
    for field in ["offset", "length", "checksum"] {
        exchanged[1][field] = hashlog[2][field].clone();
        exchanged[2][field] = hashlog[1][field].clone();
    }
    project.check_with_hashlog(&exchanged);
    for (field, line) in [("offset", 1), ("length", 1), ("offset", 3), ("length", 3)] {
        for wild in [0, 1 << 40, i64::MAX as u64, u64::MAX] {
            let mut changed = hashlog.clone();
            changed[line][field] = wild.into();
            project.check_with_hashlog(&changed);
        }
    }
    let mut shorter = hashlog.clone();
    shorter.remove(1);
    project.check_with_hashlog(&shorter);
}

/// CAL-ERR-4, REQ-SYS-003: an entry that was edited is E004, whichever way it is asked for.
#[test]
fn an_edited_entry_is_not_handed_out() {
    let project = Project::new();
    let text = project.ledger_text().replace("Summary 1", "SUMMARY 1");
    project.replace(&project.paths.ledger, &text);
    for with_hashlog in [true, false] {
        if !with_hashlog {
            project.disk.remove_file(&project.paths.hashlog).unwrap();
        }
        let reader = project.reader();
        let find =
            |number: u32| reader.find(&format!("cal_2026_11_02_000{number}").parse().unwrap());
        let query = Query::default();
        for error in [find(2).unwrap_err(), reader.query(&query).unwrap_err()] {
            assert_eq!(error.code(), Some(ErrorCode::ChecksumMismatch), "{error}");
        }
        assert!(find(3).unwrap().is_some());
        let newest = Query {
            limit: Some(2),
            ..query
        };
        assert_eq!(reader.query(&newest).unwrap().len(), 2);
    }
}

#[test]
fn what_cannot_be_read_is_an_error_that_names_the_file() {
    let project = Project::new();
    project.disk.remove_file(&project.paths.hashlog).unwrap();
    project.replace(&project.paths.ledger, "{\"version\":\"1.2\",\"tasks\":[");
    let error = Reader::open(project.disk.clone(), project.paths.clone()).unwrap_err();
    assert!(matches!(error, ReadError::File { .. }), "{error}");
    project.replace(
        &project.paths.ledger,
        "{\"version\":\"1.2\",\"tasks\":[{}]}",
    );
    let error = project.reader().query(&Query::default()).unwrap_err();
    assert!(
        matches!(error, ReadError::Entry { number: 1, .. }),
        "{error}"
    );
    project.disk.remove_file(&project.paths.ledger).unwrap();
    let error = Reader::open(project.disk.clone(), project.paths.clone()).unwrap_err();
    assert!(matches!(error, ReadError::LedgerGone { .. }), "{error}");
}
