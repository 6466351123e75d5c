//! The readers against the recorded outputs: type, file and line of the first event, and no event on negatives.
//!
//! Run with `--nocapture` to see the share of each family and every row that is wrong.

#![expect(clippy::unwrap_used, reason = "a test fails on what it cannot unwrap")]
#![expect(
    clippy::disallowed_methods,
    reason = "the rows are read as a test's own files"
)]

mod recorded;

use std::collections::BTreeMap;

use callosum_diagnose::{ErrorEvent, StreamSource, read};
use serde_json::Value;

use crate::recorded::rows;

/// Whether the event has the type, file, line and severity of the label.
fn is_right(event: Option<&ErrorEvent>, label: &Value) -> bool {
    let Some(event) = event else { return false };
    [&label["type"], &label["alias"]]
        .iter()
        .any(|name| name.as_str() == Some(&event.error_type))
        && label["file"].as_str() == event.file_path.as_deref()
        && label["line"].as_u64() == event.line_number.map(u64::from)
        && label["severity"] == serde_json::to_value(event.severity).unwrap()
}

/// CAKE-WATCH-1: at least 97 % of recorded errors are read right, and nothing is reported on output without an error.
#[test]
fn recorded_outputs_are_read_right() {
    let mut families: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for (family, row) in rows() {
        let text = row["text"].as_str().unwrap();
        let events = read(
            text.as_bytes(),
            StreamSource::Merged,
            "2026-01-01T00:00:00Z",
        )
        .events;
        let expect = &row["expect"];
        let right = if expect["type"].is_null() {
            events.is_empty()
        } else {
            is_right(events.first(), expect)
        };
        let counts = families.entry(family).or_default();
        counts.1 += 1;
        if right {
            counts.0 += 1;
            continue;
        }
        let first = events.first().map(|event| {
            format!(
                "{} {:?} {:?} {:?} {:?}",
                event.error_type, event.file_path, event.line_number, event.severity, event.message
            )
        });
        println!(
            "{} ({}): expected {expect}\n    got {first:?}",
            row["id"], row["tool"]
        );
    }
    let (mut right, mut all) = (0, 0);
    for (family, (good, rows)) in &families {
        println!("{family}: {good} of {rows}");
        if family != "negatives" {
            right += good;
            all += rows;
        }
    }
    println!("all: {right} of {all}");
    let (quiet, negatives) = families["negatives"];
    assert_eq!(
        quiet, negatives,
        "an event was reported on output without an error"
    );
    assert!(right * 100 >= all * 97, "{right} of {all}");
}
