//! The labels of the recorded outputs: each is one that a reader can report, and none is about something else.

#![expect(clippy::unwrap_used, reason = "what a test cannot unwrap has failed")]
#![expect(
    clippy::disallowed_methods,
    reason = "the rows are read as a test's own files"
)]

mod recorded;

use std::collections::BTreeSet;

use callosum_diagnose::{Severity, error_type};

use crate::recorded::rows;

/// CAKE-WATCH-1: the set is as large and as varied as it is to be, and an id names one row.
#[test]
fn the_set_is_large_and_every_id_names_one_row() {
    let rows = rows();
    let mut ids = BTreeSet::new();
    let mut tools = BTreeSet::new();
    let (mut positive, mut negative, mut unrecorded) = (0, 0, 0);
    for (file, row) in &rows {
        let id = row["id"].as_str().unwrap();
        assert!(ids.insert(id), "{id} is used twice");
        assert!(!row["text"].as_str().unwrap().is_empty(), "{id}");
        unrecorded += usize::from(row["recorded"] == false);
        if file == "negatives" {
            negative += 1;
        } else {
            positive += 1;
            tools.insert(row["tool"].as_str().unwrap());
        }
    }
    assert!(
        positive >= 300 && negative >= 60,
        "{positive} and {negative}"
    );
    assert!(tools.len() >= 25, "{}", tools.len());
    assert!(unrecorded * 10 <= rows.len(), "{unrecorded}");
}

/// CAKE-WATCH-1: a label has a type that can be reported, a severity, and a file and line that the output contains.
#[test]
fn every_label_is_one_that_a_reader_can_report() {
    for (file, row) in rows() {
        let id = row["id"].as_str().unwrap();
        let expect = &row["expect"];
        if file == "negatives" {
            assert!(expect["type"].is_null(), "{id}");
            continue;
        }
        let more = row["more"].as_array().cloned().unwrap_or_default();
        for label in std::iter::once(expect).chain(&more) {
            for key in ["type", "alias"] {
                let Some(name) = label[key].as_str() else {
                    assert_eq!(key, "alias", "{id}");
                    continue;
                };
                assert!(
                    error_type::is_listed(name) || error_type::is_class(name),
                    "{id}: {name}"
                );
            }
            let severity: Severity = serde_json::from_value(label["severity"].clone()).unwrap();
            assert!(severity >= Severity::Low, "{id}");
            let line = &label["line"];
            assert!(
                line.is_null() || line.as_u64().is_some_and(|line| line > 0),
                "{id}"
            );
        }
        if let Some(path) = expect["file"].as_str() {
            // A path may be broken over lines, escaped in JSON, or joined from a folder and a name.
            let name = path.rsplit(['/', '\\']).next().unwrap();
            assert!(row["text"].as_str().unwrap().contains(name), "{id}: {path}");
        }
    }
}
