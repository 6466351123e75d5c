//! Written files match `docs/formats` and `docs/schemas`.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use boon::{Compiler, Schemas};
use callosum_ledger::{AuditEvent, Event};
use serde_json::Value;

use crate::project::{Project, spawn};

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// A project in which everything was written that can be: two days, links, a repair, an adoption.
fn eventful() -> Project {
    let source = Project::with_entries(2).0;
    let project = Project::empty();
    project.write(&project.paths.ledger, source.read(&source.paths.ledger));
    project.create();
    let ledger = project.open();
    let first = project.store(&ledger, "first\n\"é\u{7f}\u{1f600}\"");
    ledger
        .record(AuditEvent::new(Event::Error).with("code", "E001"))
        .unwrap();
    let mut entry = project.entry(ledger.reserve(spawn()).unwrap(), "linked");
    entry.linked_tasks.push(first.task_id);
    for (key, value) in [
        ("mode", Value::from("sequential")),
        ("priority", "round-robin".into()),
        ("ratio", 1e16.into()),
        ("small", 0.000_012.into()),
    ] {
        entry.metadata.insert(key.to_owned(), value);
    }
    ledger.commit(entry).unwrap();
    drop(ledger);
    let torn = project.text(&project.journal()) + "{\"torn";
    project.write(&project.journal(), torn);
    let project = project.at("2026-11-03T08:00:00Z");
    project.store(&project.open(), "the next day");
    project
}

/// Checks every value against a schema.
fn validate(schema: &str, values: impl IntoIterator<Item = Value>) {
    let mut schemas = Schemas::new();
    let mut compiler = Compiler::new();
    compiler.enable_format_assertions();
    let path = docs().join("schemas").join(schema);
    let index = compiler
        .compile(path.to_str().unwrap(), &mut schemas)
        .unwrap();
    let mut count = 0;
    for value in values {
        if let Err(error) = schemas.validate(&value, index) {
            panic!("{schema}: {error:#}\n{value:#}");
        }
        count += 1;
    }
    assert!(count > 0);
}

fn lines(project: &Project, path: &Path) -> Vec<Value> {
    project
        .text(path)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// CAL-GOV-3, REQ-SYS-003: every file that is written has the published schema.
#[test]
fn what_is_written_has_the_published_schema() {
    let project = eventful();
    let ledger = serde_json::from_str(&project.text(&project.paths.ledger)).unwrap();
    validate("ledger.schema.json", [ledger]);
    validate(
        "hashlog-line.schema.json",
        lines(&project, &project.paths.hashlog),
    );
    let mut records = lines(&project, &project.journal());
    records.extend(lines(
        &project,
        &project.paths.audit.join("2026-11-03.jsonl"),
    ));
    let kinds: Vec<_> = records.iter().map(|record| &record["event"]).collect();
    for kind in [
        "created", "adopted", "spawn", "commit", "error", "repair", "day_end",
    ] {
        assert!(kinds.iter().any(|found| *found == kind), "{kind}");
    }
    validate("audit-record.schema.json", records);
}

/// Runs the shell command that a page of `docs/formats` gives, in the project's folder.
#[expect(
    clippy::disallowed_methods,
    reason = "the page promises that the command works by itself; nothing of the product runs here"
)]
fn run_from(page: &str, project: &Project) -> String {
    let text = project.text(&docs().join("formats").join(page));
    let (_, after) = text.split_once("```sh\n").unwrap();
    let (command, _) = after.split_once("```").unwrap();
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(&project.paths.root)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// CAL-SUM-1, REQ-COM-002: anyone can check a ledger with Python's standard library.
#[test]
fn pythons_standard_library_checks_every_entry() {
    let project = eventful();
    let printed = run_from("ledger.md", &project);
    assert_eq!(printed.lines().count(), 5);
    assert!(
        printed.lines().all(|line| line.ends_with(" ok")),
        "{printed}"
    );
    let ledger = project.text(&project.paths.ledger);
    project.write(
        &project.paths.ledger,
        ledger.replace("linked\"", "Linked\""),
    );
    assert!(run_from("ledger.md", &project).contains("WRONG"));
}

/// CAL-GOV-1: and the journal's records too.
#[test]
fn pythons_standard_library_checks_every_record() {
    let project = eventful();
    assert_eq!(run_from("audit-journal.md", &project), "");
    let journal = project.text(&project.journal());
    project.write(&project.journal(), journal.replacen("E001", "E002", 1));
    let line = 1 + journal
        .lines()
        .position(|line| line.contains("E001"))
        .unwrap();
    assert_eq!(
        run_from("audit-journal.md", &project),
        format!("record {line} was changed\n")
    );
}

/// CAL-GOV-1: every kind of event is described.
#[test]
fn every_kind_of_event_is_on_the_page_and_in_the_schema() {
    let project = Project::empty();
    let page = project.text(&docs().join("formats/audit-journal.md"));
    let schema = project.text(&docs().join("schemas/audit-record.schema.json"));
    for event in Event::ALL {
        assert!(page.contains(&format!("`{event}`")), "{event}");
        assert!(schema.contains(&format!("\"{event}\"")), "{event}");
    }
}
