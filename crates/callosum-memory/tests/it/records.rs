//! Records of ours beside the sessions of clients, and turns that are related to a text.

use std::collections::HashSet;
use std::path::PathBuf;

use callosum_memory::{Memory, MemoryError, Record, RecordKind, Speaker, Turn};
use callosum_search::Query;

use crate::machine::{Machine, claude};

fn record(id: &str, part: &'static str, text: &str) -> Record {
    Record {
        kind: RecordKind::Task,
        id: id.to_owned(),
        part,
        folder: Some("/src/shop".to_owned()),
        title: None,
        turns: Turn::new(Speaker::User, None, text).into_iter().collect(),
    }
}

/// Writes records into a store; returns the numbers of turns that were added and removed.
fn write(machine: &mut Machine, store: &str, records: Vec<Record>, all: bool) -> (u64, u64) {
    let scope = machine.scope();
    let ids: HashSet<String> = records.iter().map(|record| record.id.clone()).collect();
    let report = machine.memory.write_records(&scope, store, |writer| {
        for record in records {
            writer.put(record)?;
        }
        if all {
            writer.keep(&ids)?;
        }
        Ok::<_, MemoryError>("stamp".to_owned())
    });
    let report = report.unwrap();
    (report.added, report.removed)
}

/// CALC-L5-1: a record is written once, a newer version replaces it, a part is added, and what a store has no more goes.
#[test]
fn records_follow_their_store() {
    let mut machine = Machine::new();
    machine.write(
        ".claude/projects/-p/aaa.jsonl",
        &claude("1", "aaa", "Feed the heron"),
    );
    machine.update();
    let first = || record("t1", "", "Count the heron");
    assert_eq!(write(&mut machine, "s", vec![first()], true), (1, 0));
    assert_eq!(write(&mut machine, "s", vec![first()], true), (0, 0));
    let found = machine.found("heron");
    assert_eq!(
        HashSet::from_iter(found),
        HashSet::from(["aaa".to_owned(), "t1".to_owned()])
    );
    let newer = record("t1", "", "Count the stork");
    assert_eq!(write(&mut machine, "s", vec![newer], false), (0, 0));
    assert_eq!(machine.found("heron"), ["aaa"]);
    assert_eq!(machine.found("stork"), ["t1"]);
    let parts = vec![
        record("t1", "result", "Two storks"),
        record("t2", "result", "Lost"),
    ];
    assert_eq!(
        write(&mut machine, "s", parts, false),
        (1, 0),
        "a part of nothing is nothing"
    );
    assert_eq!(machine.memory.sizes().unwrap().turns, 3);
    // An update of the clients' files leaves records alone, and the other way around.
    machine.update();
    assert_eq!(machine.found("stork"), ["t1"]);
    let other = record("t1", "", "Count the stork");
    assert_eq!(
        write(&mut machine, "other", vec![other], true),
        (1, 0),
        "another project's"
    );
    assert_eq!(machine.search("stork").len(), 2);
    assert_eq!(write(&mut machine, "s", Vec::new(), true), (0, 2));
    assert_eq!(machine.search("stork").len(), 1);
    assert_eq!(machine.memory.forget_records("other").unwrap(), 1);
    assert_eq!(machine.found("stork"), [""; 0]);
    let sizes = machine.memory.sizes().unwrap();
    assert_eq!((sizes.turns, sizes.sessions, sizes.files), (1, 1, 1));
}

/// CALC-L5-2: records of excluded folders and forgotten ones are not written; an end of that has all stores read again.
#[test]
fn records_that_are_left_out_are_not_written() {
    let mut machine = Machine::new();
    machine.update();
    let both = || {
        vec![
            record("t1", "", "Count the heron"),
            record("t2", "", "Paint the heron"),
        ]
    };
    write(&mut machine, "s", both(), true);
    assert_eq!(
        machine.memory.record_stores().unwrap(),
        [("s".to_owned(), "stamp".to_owned())]
    );
    machine.forgotten = vec![(RecordKind::Task.into(), "t1".to_owned())];
    assert_eq!(machine.update().removed, 1);
    assert_eq!(write(&mut machine, "s", both(), true), (0, 0));
    machine.excluded = vec![PathBuf::from("/src")];
    assert_eq!(machine.update().removed, 1);
    assert_eq!(write(&mut machine, "s", both(), true), (0, 0));
    assert_eq!(machine.found("heron"), [""; 0]);
    machine.excluded.clear();
    machine.update();
    assert_eq!(
        machine.memory.record_stores().unwrap(),
        [("s".to_owned(), String::new())]
    );
    assert_eq!(write(&mut machine, "s", both(), true), (1, 0));
    assert_eq!(machine.found("heron"), ["t2"]);
}

/// CALC-L5-1: a store that cannot be read leaves the index as it was.
#[test]
fn a_failure_writes_nothing() {
    let mut machine = Machine::new();
    write(
        &mut machine,
        "s",
        vec![record("t1", "", "Count the heron")],
        true,
    );
    let scope = machine.scope();
    let failed = machine.memory.write_records(&scope, "s", |writer| {
        writer.keep(&HashSet::new())?;
        Err(MemoryError::Interrupted)
    });
    assert!(matches!(failed, Err(MemoryError::Interrupted)));
    assert_eq!(machine.found("heron"), ["t1"]);
    assert_eq!(machine.memory.record_stores().unwrap()[0].1, "stamp");
}

/// CALC-L5-1: the counts follow each change of the turns, and are those of the turns themselves.
#[test]
fn counts_are_those_of_the_turns() {
    let mut machine = Machine::new();
    let path = ".claude/projects/-p/aaa.jsonl";
    machine.write(
        path,
        &[claude("1", "aaa", "One"), claude("2", "aaa", "Two")].concat(),
    );
    machine.write(
        ".claude/projects/-p/bbb.jsonl",
        &claude("3", "bbb", "Three"),
    );
    machine.update();
    let check = |machine: &Machine, expected: (u64, u64)| {
        let mut turns = 0;
        let mut sessions = HashSet::new();
        let each = machine.memory.each_turn(&mut |turn| {
            turns += 1;
            sessions.insert(turn.session);
            true
        });
        each.unwrap();
        let sizes = machine.memory.sizes().unwrap();
        assert_eq!(
            (sizes.turns, sizes.sessions),
            (turns, sessions.len() as u64)
        );
        assert_eq!((sizes.turns, sizes.sessions), expected);
        let by_origin = machine.memory.by_origin().unwrap();
        assert_eq!(
            by_origin.values().map(|(_, turns)| turns).sum::<u64>(),
            turns
        );
    };
    check(&machine, (3, 2));
    machine.append(path, &claude("4", "aaa", "Four"));
    machine.update();
    check(&machine, (4, 2));
    // Cut: its turns are read again.
    machine.write(path, &claude("1", "aaa", "One"));
    machine.update();
    check(&machine, (2, 2));
    std::fs::remove_file(machine.path(path)).unwrap();
    machine.update();
    check(&machine, (1, 1));
}

/// CALC-BOOT-1: a turn is related if it has enough of the rare words of a text, and nothing else is.
#[test]
fn related_turns_have_most_of_a_text() {
    let mut machine = Machine::new();
    let lines = [
        claude("1", "aaa", "The webhook retry stops after three attempts"),
        claude("2", "bbb", "The attempts to paint the fence"),
        claude("3", "ccc", "A retry of the login test"),
    ];
    for (name, line) in ["aaa", "bbb", "ccc"].iter().zip(lines) {
        machine.write(&format!(".claude/projects/-p/{name}.jsonl"), &line);
    }
    machine.update();
    let path = machine.path("state/memory/turns.db");
    let reader = Memory::open_to_read(&path).unwrap().unwrap();
    let related = |text: &str, folder: &str| -> Vec<String> {
        let hits = reader.related(&[Query::read(text)], &[folder.into()], 0.5, 3);
        hits.unwrap().into_iter().map(|hit| hit.session).collect()
    };
    assert_eq!(
        related("Repair the webhook retry: attempts must stop", "/src/shop"),
        ["aaa"]
    );
    assert_eq!(
        related("Repair the webhook retry: attempts must stop", "/src/x"),
        [""; 0]
    );
    assert_eq!(
        related("Bake bread with attempts and yeast", "/src/shop"),
        [""; 0]
    );
    assert_eq!(related("!?", "/src/shop"), [""; 0]);
    let none = machine.path("state/none.db");
    assert!(Memory::open_to_read(&none).unwrap().is_none() && !none.exists());
}
