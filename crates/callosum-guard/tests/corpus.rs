//! The corpus: commands as they are really written, and what the guard says to each.
//!
//! One file for each group; a row is `{"id", "command", "expect"}`. Every row is held exactly, so
//! that a rule that grows or shrinks shows what it changes.

#![expect(clippy::unwrap_used, reason = "what a test cannot unwrap has failed")]

use std::path::Path;

use callosum_guard::{Decision, Facts, Policy, decide};
use serde::Deserialize;

#[derive(Deserialize)]
struct Row {
    id: String,
    command: String,
    expect: Decision,
}

fn facts() -> Facts {
    Facts {
        cwd: Some("/home/u/p".to_owned()),
        home: Some("/home/u".to_owned()),
        root: Some("/home/u/p".to_owned()),
        git_dir: Some("/home/u/p/.git".to_owned()),
        ..Facts::default()
    }
}

fn rows() -> Vec<Row> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut rows = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|end| end != "jsonl") {
            continue;
        }
        #[expect(clippy::disallowed_methods, reason = "a test reads its own corpus")]
        let text = std::fs::read_to_string(path).unwrap();
        rows.extend(
            text.lines()
                .map(|line| serde_json::from_str::<Row>(line).unwrap()),
        );
    }
    rows
}

/// CAKE-SHIM-1: each command of the corpus gets the verdict that its row says.
#[test]
fn every_row_gets_its_verdict() {
    let rows = rows();
    assert!(rows.len() >= 600, "{}", rows.len());
    let mut wrong = Vec::new();
    for row in &rows {
        let verdict = decide(&row.command, &facts(), &Policy::default());
        if verdict.decision != row.expect {
            wrong.push(format!(
                "{}: {} for {:?}, by {:?}, expected {}",
                row.id,
                verdict.decision.name(),
                row.command,
                verdict.rule,
                row.expect.name()
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// CAKE-SHIM-1: an id names one row.
#[test]
fn no_id_is_used_twice() {
    let mut ids: Vec<String> = rows().into_iter().map(|row| row.id).collect();
    ids.sort_unstable();
    let count = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), count);
}
