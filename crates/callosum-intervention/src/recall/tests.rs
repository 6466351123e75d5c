//! The database as files: written by several at once, damaged, of another version, full and read-only.

use std::{path::Path, time::Duration};

use callosum_diagnose::{ErrorEvent, Severity, StreamSource};
use callosum_host::Disk;
use jiff::Timestamp;
use tempfile::TempDir;

use super::*;

fn event(error_type: &str, message: &str) -> ErrorEvent {
    ErrorEvent {
        error_type: error_type.to_owned(),
        file_path: Some("src/app.py".to_owned()),
        line_number: Some(3),
        message: message.to_owned(),
        code: None,
        module: None,
        test: None,
        severity: Severity::High,
        stream_source: StreamSource::Merged,
        timestamp: String::new(),
        raw_output: String::new(),
    }
}

fn place(project: &str) -> Place {
    Place {
        project: project.to_owned(),
        client: "claude".to_owned(),
        session: "s1".to_owned(),
        command: "python app.py".to_owned(),
    }
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

fn open(path: &Path) -> RecallDb {
    RecallDb::open(&Disk::real(), path, 24, at(0)).unwrap()
}

/// CAKE-RCL-1: an error is counted by project, and a record has the seed's names.
#[test]
fn an_error_is_counted_by_project() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("state/recall.db");
    let database = open(&path);
    assert_eq!(*database.condition(), Condition::Sound);
    let missing = event("ModuleNotFoundError", "No module named 'requests'");
    assert_eq!(
        database
            .record(&missing, &place("/a"), at(0))
            .unwrap()
            .occurrences,
        1
    );
    let again = database.record(&missing, &place("/a"), at(60)).unwrap();
    assert_eq!((again.occurrences, again.interventions), (2, 0));
    let other = database.record(&missing, &place("/b"), at(60)).unwrap();
    assert_eq!(other.occurrences, 1);
    // Another process sees it.
    let listed = open(&path).list(Some("/a"), None, 10).unwrap();
    assert_eq!(listed.len(), 1);
    let written = serde_json::to_value(&listed[0]).unwrap();
    assert_eq!(written["occurrence_count"], 2);
    assert_eq!(written["first_seen"], at(0).to_string());
    assert_eq!(written["last_seen"], at(60).to_string());
    assert_eq!(written["error_type"], "ModuleNotFoundError");
    assert_eq!(written["expires_at"], at(60 + 24 * 3600).to_string());
    let named = database.named(&again.signature[7..17], Some("/a")).unwrap();
    assert_eq!(named, listed);
    assert!(
        database
            .named("sha256:zz' OR 1=1", None)
            .unwrap()
            .is_empty()
    );
    assert!(database.forget(&again.signature, "/a").unwrap());
    assert!(!database.forget(&again.signature, "/a").unwrap());
    assert_eq!(database.list(None, None, 10).unwrap().len(), 1);
}

/// CAKE-RCL-1: similar errors are found above the threshold, the most similar first, and others are not.
#[test]
fn similar_errors_are_found_above_the_threshold() {
    let folder = TempDir::new().unwrap();
    let database = open(&folder.path().join("recall.db"));
    for number in 0..300 {
        let message = format!("column users{number}x.email does not exist");
        database
            .record(&event("OtherError", &message), &place("/a"), at(number))
            .unwrap();
    }
    for message in [
        "No module named 'requests'",
        "No module named 'request'",
        "No module named 'sqlalchemy'",
        "division by zero",
    ] {
        database
            .record(
                &event("ModuleNotFoundError", message),
                &place("/a"),
                at(1000),
            )
            .unwrap();
    }
    let wanted = Signature::of_event(&event("ModuleNotFoundError", "No module named 'requests'"));
    let similar = database.similar(&wanted.normalized, THRESHOLD, 5).unwrap();
    let messages: Vec<&str> = similar
        .iter()
        .map(|similar| &*similar.record.message)
        .collect();
    assert_eq!(
        messages,
        ["No module named 'requests'", "No module named 'request'"]
    );
    assert!((similar[0].score - 1.0).abs() < f64::EPSILON);
    let long = "words \"and\" * NEAR( quotes' ".repeat(40);
    let long = Signature::of_text(&long).normalized;
    assert!(
        database
            .similar(&long, THRESHOLD, 5)
            .unwrap()
            .iter()
            .all(|similar| similar.score >= THRESHOLD)
    );
    assert!(database.similar("", THRESHOLD, 5).unwrap().is_empty());
}

/// CAKE-RCL-1: what has expired is no longer listed, and its counts are kept.
#[test]
fn the_counts_of_an_expired_error_are_kept() {
    let folder = TempDir::new().unwrap();
    let database = open(&folder.path().join("recall.db"));
    for second in 0..250 {
        let message = format!("thing{second}z is missing");
        let other = event("KeyError", &message);
        database.record(&other, &place("/a"), at(second)).unwrap();
    }
    database
        .record(&event("KeyError", "late"), &place("/a"), at(20 * 3600))
        .unwrap();
    assert_eq!(database.expire(at(25 * 3600)).unwrap(), 250);
    assert_eq!(database.list(None, None, 1000).unwrap().len(), 1);
    let totals: u32 = database
        .read(|connection| {
            connection.query_row("SELECT sum(occurrence_count) FROM error_total", [], |row| {
                row.get(0)
            })
        })
        .unwrap();
    assert_eq!(totals, 250);
    let similar = database.similar("KeyError app.py thing7z is missing", 0.5, 5);
    assert!(similar.unwrap().is_empty());
}

/// CAKE-RCL-1: threads and other connections that write at once lose nothing.
#[test]
fn writers_at_once_lose_nothing() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("recall.db");
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let path = &path;
            scope.spawn(move || {
                let database = open(path);
                for number in 0..25 {
                    let same = event("KeyError", "'id'");
                    database
                        .record(&same, &place("/a"), at(writer * 100 + number))
                        .unwrap();
                }
            });
        }
    });
    let listed = open(&path).list(None, None, 10).unwrap();
    assert_eq!(listed[0].occurrence_count, 100);
}

/// CAKE-RCL-1: a corrupt file is set aside whole, and a new one is used.
#[test]
fn a_corrupt_file_is_set_aside() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("recall.db");
    for bytes in [&b"no database at all, though long enough to be one"[..]; 2] {
        let disk = Disk::real();
        disk.replace_unsynced(&path, bytes, 0o600).unwrap();
        let database = RecallDb::open(&disk, &path, 24, at(0)).unwrap();
        let Condition::SetAside(aside) = database.condition().clone() else {
            panic!("{:?}", database.condition());
        };
        assert_eq!(disk.read(&aside).unwrap(), bytes);
        database
            .record(&event("KeyError", "'id'"), &place("/a"), at(0))
            .unwrap();
        drop(database);
        assert_eq!(open(&path).list(None, None, 9).unwrap().len(), 1);
        disk.remove_file(&aside).unwrap();
    }
}

/// CAKE-RCL-1: a file in which pages are overwritten is set aside when it is opened, or fails with an error.
#[test]
fn a_damaged_header_is_set_aside() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("recall.db");
    let database = open(&path);
    database
        .record(&event("KeyError", "'id'"), &place("/a"), at(0))
        .unwrap();
    drop(database);
    let disk = Disk::real();
    let mut bytes = disk.read(&path).unwrap();
    bytes[..60].fill(0x5a);
    disk.replace_unsynced(&path, &bytes, 0o600).unwrap();
    let database = RecallDb::open(&disk, &path, 24, at(0)).unwrap();
    assert!(matches!(database.condition(), Condition::SetAside(_)));
}

/// CAKE-RCL-1: where nothing can be written, errors are kept in memory.
#[test]
fn without_a_place_to_write_the_database_is_in_memory() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("file");
    Disk::real().replace_unsynced(&file, b"", 0o600).unwrap();
    let database = open(&file.join("recall.db"));
    assert_eq!(*database.condition(), Condition::InMemory);
    let recorded = database.record(&event("KeyError", "'id'"), &place("/a"), at(0));
    assert_eq!(recorded.unwrap().occurrences, 1);
    assert_eq!(database.list(None, None, 9).unwrap().len(), 1);
}

/// CAKE-RCL-1: a file of a newer version is left alone.
#[test]
fn a_newer_file_is_left_alone() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("recall.db");
    drop(open(&path));
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute_batch("PRAGMA user_version=99")
        .unwrap();
    let error = RecallDb::open(&Disk::real(), &path, 24, at(0)).unwrap_err();
    assert!(matches!(error, RecallError::Newer { found: 99, .. }));
}

/// CAKE-RCL-1: on a full disk the oldest errors make room for the new one.
#[test]
fn a_full_disk_costs_the_oldest_errors() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("recall.db");
    let database = open(&path);
    // The limit holds for one connection, which the pool keeps.
    database
        .read(|connection| {
            connection.query_row("PRAGMA max_page_count=300", [], |row| row.get::<_, i64>(0))
        })
        .unwrap();
    for number in 0..3_000 {
        let letters: String = format!("{number:04}")
            .bytes()
            .map(|digit| char::from(b'a' + digit - b'0'))
            .collect();
        let error = event("KeyError", &format!("{letters} {}", "x".repeat(200)));
        let recorded = database.record(&error, &place("/a"), at(number));
        assert_eq!(recorded.unwrap().occurrences, 1, "{number}");
    }
    let left = database.list(None, None, 9_000).unwrap();
    assert!(!left.is_empty() && left.len() < 3_000, "{}", left.len());
    assert_eq!(left[0].last_seen, at(2_999).to_string());
}

/// CAKE-RCL-1: another process that holds the file for long is an error after three tries, and the wait ends.
#[test]
fn a_file_that_stays_locked_is_an_error() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("recall.db");
    let database = open(&path);
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let recorded = database.record(&event("KeyError", "'id'"), &place("/a"), at(0));
    assert!(matches!(recorded, Err(RecallError::Database { .. })));
    other.execute_batch("ROLLBACK").unwrap();
    std::thread::sleep(Duration::from_millis(1));
    let recorded = database.record(&event("KeyError", "'id'"), &place("/a"), at(0));
    assert_eq!(recorded.unwrap().occurrences, 1);
}
