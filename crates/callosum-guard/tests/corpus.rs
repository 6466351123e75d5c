//! Tests of the corpus: commands as agents and people write them, each with its expected verdict.
//!
//! `corpus/README.md` describes the rows. Each verdict must match exactly, so that a wider or a
//! narrower rule shows which commands it changes.

#![expect(clippy::unwrap_used, reason = "what a test cannot unwrap has failed")]

mod rows;

use callosum_guard::{Policy, decide};

use crate::rows::{facts, rows};

/// CAKE-SHIM-1: each command of the corpus gets the verdict of its row.
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
