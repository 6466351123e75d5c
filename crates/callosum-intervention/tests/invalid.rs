//! Invalid messages that a reader wrote who had not seen the gate: malformed, forbidden, about something else, dangerous.

use callosum_intervention::{
    operator::{Context, Operator},
    voice::GateFacts,
};
use serde_json::Value;

/// CAKE-VOICE-1: none of them passes, even if the guard allows everything and every file exists.
#[test]
fn no_invalid_message_passes() {
    let operator = Operator::built_in().unwrap();
    let rows = include_str!("messages/invalid.jsonl");
    let mut kinds = std::collections::BTreeMap::new();
    for line in rows.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let event = (!row["event"].is_null())
            .then(|| Context::from_json(&row["event"].to_string()).unwrap());
        let surroundings = GateFacts {
            allows: &|_| true,
            exists: &|_| true,
            declares: &|_| false,
            event: event.as_ref().map(Context::facts),
        };
        let message = row["message"].as_str().unwrap();
        let verdict = operator.gate().check(message, &surroundings);
        assert!(!verdict.passed, "{}: {message}", row["id"]);
        assert!(!verdict.reason.is_empty(), "{}", row["id"]);
        *kinds.entry(row["kind"].to_string()).or_insert(0) += 1;
    }
    assert!(
        kinds.len() == 4 && kinds.values().sum::<i32>() >= 60,
        "{kinds:?}"
    );
}
