//! The labeled questions over recorded sessions (`tests/recall`), by words alone: a machine of tests has no model.
//!
//! `cargo xtask recall` measures all methods, and compares them with ripgrep.

use std::{collections::BTreeSet, fs, path::Path};

use rusqlite::Connection;
use serde_json::Value;

use crate::machine::Machine;

/// Sessions of an answer that count.
const FIRST: usize = 5;

/// Fewest questions that words answer. They answer 89.
const FEWEST: usize = 86;

/// Returns a machine with the sessions of the set.
fn machine() -> Machine {
    let mut machine = Machine::new();
    let set = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recall/sessions");
    copy(&set, &machine.path(""));
    let opencode = machine.path(".local/share/opencode");
    let sql = fs::read_to_string(opencode.join("opencode.sql")).unwrap();
    let database = Connection::open(opencode.join("opencode.db")).unwrap();
    database.execute_batch(&sql).unwrap();
    machine.update();
    machine
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

fn set(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recall");
    fs::read_to_string(path.join(file)).unwrap()
}

/// CALC-L5-1: nearly all labeled questions are answered among the first five sessions, by words alone.
#[test]
fn words_answer_labeled_questions() {
    let machine = machine();
    let questions: Vec<Value> = serde_json::from_str(&set("questions.json")).unwrap();
    assert_eq!(questions.len(), 100);
    let mut missed = BTreeSet::new();
    for question in &questions {
        let labels = question["sessions"].as_array().unwrap();
        let found = machine.found(question["question"].as_str().unwrap());
        let is_label = |session: &String| labels.iter().any(|label| label == session);
        if !found.iter().take(FIRST).any(is_label) {
            missed.insert(question["id"].as_u64().unwrap());
        }
    }
    assert!(
        questions.len() - missed.len() >= FEWEST,
        "not found: {missed:?}"
    );
}

/// CALC-L5-1: each session of each client is read, and no secret of them is stored.
#[test]
fn every_session_is_read_and_no_secret_is_stored() {
    let machine = machine();
    let sizes = machine.memory.sizes().unwrap();
    assert_eq!(sizes.sessions, 72);
    let clients = machine.memory.by_origin().unwrap();
    let sessions: Vec<u64> = clients.values().map(|(sessions, _)| *sessions).collect();
    assert_eq!(sessions, [28, 21, 11, 6, 6]);
    let mut all = String::new();
    let mut add = |turn: callosum_memory::StoredTurn| {
        all.push_str(&turn.turn.text);
        true
    };
    machine.memory.each_turn(&mut add).unwrap();
    for secret in set("secrets.txt").lines().filter(|line| !line.is_empty()) {
        assert!(!all.contains(secret), "{secret}");
    }
}
