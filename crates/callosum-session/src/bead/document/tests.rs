//! Files are read and changed, and say nothing else afterwards.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::bead::Bead;

/// The seed's own example (Seed LOA §5.2), shortened.
const SEED: &str = "\
# Extended Bead schema for Lossless Ledger Protocol
id: bd-x7y8
title: \"Implement JWT refresh token rotation\"
type: feature
status: in_progress  # since Monday
priority: 1

# Standard Bead fields...
created: 2024-01-15T10:00:00Z
assignee: null
x_team: {colour: blue}

# NEW: Decision history (append-only ledger)
decisions:
  - ts: 2024-01-15T10:30:00Z
    decision: \"Use rotating refresh tokens\"
    rationale: \"Prevents token theft replay attacks\"
    evidence:
      - path: ${PROJECT_ROOT}/src/auth/refresh.ts
        line: 12
        quote: \"export async function rotateRefreshToken()\"

# NEW: EDD verification (required before handoff)
test_scenarios:
  - name: \"Token expires at boundary\"
    type: edge_case
    expected: \"Grace period applies, no forced logout\"

# Next steps (specific, actionable)
next_steps:
  - \"Implement clock skew tolerance (±30 seconds)\"

# Blockers and questions
blockers: []
questions:
  - \"Should grace period be configurable per-client?\"
";

/// LOA-FMT-1: a time is written as the seed writes one, whether it is to the second or to the millisecond.
#[test]
fn a_time_is_written_plain() {
    for ts in ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.001Z"] {
        let made = Sheet::read("id: bd-1\n").unwrap();
        let made = made
            .with(&Step::Push("decisions", json!({"ts": ts})))
            .unwrap();
        assert_eq!(made.text(), format!("id: bd-1\ndecisions:\n  - ts: {ts}\n"));
        assert_eq!(Bead::of(made.members()).decisions[0].ts, ts);
    }
}

fn decided() -> Value {
    json!({
        "ts": "2024-01-15T14:30:00Z", "decision": "Add \"grace\"\n", "rationale": null,
        "evidence": [{"path": "${PROJECT_ROOT}/a b.rs", "line": 3, "quote": "x: [y] # z"}],
    })
}

/// LOA-FMT-1: the seed's own bead is read.
#[test]
fn the_bead_of_the_seed_is_understood() {
    let bead = Bead::of(Sheet::read(SEED).unwrap().members());
    assert_eq!((bead.id.as_str(), bead.priority), ("bd-x7y8", 1));
    assert_eq!(bead.status, "in_progress");
    assert_eq!(bead.decisions[0].evidence[0].path, "src/auth/refresh.ts");
    assert_eq!(bead.scenarios, ["Token expires at boundary"]);
    assert_eq!(bead.next_steps.len(), 1);
}

/// LOA-FMT-1: a bead in braces on one line can be changed, and its words stay as written; one on
/// several lines is refused with the line.
#[test]
fn a_bead_in_braces_is_changed() {
    let sheet =
        Sheet::read("# mine\n{id: bd-1, title: no, x_v: 1.10, status: open, decisions: []}\n");
    let sheet = sheet.unwrap();
    assert_eq!(Bead::of(sheet.members()).title, "no");
    let made = sheet.with(&Step::Set("status", "closed".into())).unwrap();
    let made = made.with(&Step::Push("decisions", decided())).unwrap();
    assert!(
        made.text()
            .starts_with("# mine\n{\"id\":\"bd-1\",\"title\":\"no\",\"x_v\":\"1.10\",")
    );
    assert_eq!(made.members()["status"], "closed");
    assert_eq!(Bead::of(made.members()).decisions.len(), 1);
    let several = Sheet::read("# mine\n{id: bd-1,\n status: open,\n title: x}\n").unwrap();
    let refused = several.with(&Step::Set("status", "closed".into()));
    let (key, line) = ("status", 3);
    assert_eq!(refused, Err(SheetError::Unwritable { key, line }));
}

/// LOA-FMT-1: comments and unknown keys survive our writes.
#[test]
fn what_is_changed_is_the_only_thing_that_changes() {
    let sheet = Sheet::read(SEED).unwrap();
    let changed = sheet
        .with_all(&[
            Step::Push("decisions", decided()),
            Step::Push("blockers", json!("bd-2")),
            Step::Set("status", json!("closed")),
            Step::Push(
                "handoffs",
                json!({"session_id": "sess-001", "grounding_ratio": 0.97}),
            ),
        ])
        .unwrap();
    let before: Vec<&str> = SEED.lines().collect();
    let after: Vec<&str> = changed.text().lines().collect();
    let lost: Vec<&&str> = before.iter().filter(|line| !after.contains(line)).collect();
    assert_eq!(
        lost,
        [&"status: in_progress  # since Monday", &"blockers: []"]
    );
    assert!(changed.text().contains("status: closed  # since Monday\n"));
    assert!(changed.text().contains("blockers:\n  - bd-2\nquestions:"));
    assert!(changed.text().contains(
        "rotateRefreshToken()\"\n  - ts: 2024-01-15T14:30:00Z\n    decision: \"Add \\\"grace\\\"\\n\"\n"
    ));
    assert!(
        changed
            .text()
            .contains("        line: 3\n        quote: \"x: [y] # z\"\n\n# NEW: EDD")
    );
    assert!(
        changed
            .text()
            .ends_with("handoffs:\n  - session_id: sess-001\n    grounding_ratio: 0.97\n")
    );
}

#[test]
fn other_ways_to_write_a_list_are_added_to() {
    for (text, expected) in [
        (
            "a: 1\nnext_steps: [x, 'y']  # c\n",
            "a: 1\nnext_steps: [x, 'y', \"new one\"]  # c\n",
        ),
        (
            "next_steps:\n- x\n- y\nb: 2",
            "next_steps:\n- x\n- y\n- \"new one\"\nb: 2",
        ),
        (
            "next_steps:\r\n    - x\r\n",
            "next_steps:\r\n    - x\r\n    - \"new one\"\r\n",
        ),
        (
            "next_steps: # none\nb: 2\n",
            "next_steps:  # none\n  - \"new one\"\nb: 2\n",
        ),
        (
            "next_steps:\n  - |\n    # x\n",
            "next_steps:\n  - |\n    # x\n  - \"new one\"\n",
        ),
        (
            "---\na: 1\n...\n",
            "---\na: 1\nnext_steps:\n  - \"new one\"\n...\n",
        ),
        ("a: 1", "a: 1\nnext_steps:\n  - \"new one\"\n"),
        ("a: &x [q]\nnext_steps: *x\n", ""),
        ("next_steps: words\n", ""),
    ] {
        let changed = Sheet::read(text)
            .unwrap()
            .with(&Step::Push("next_steps", json!("new one")));
        match changed {
            Ok(changed) => assert_eq!(changed.text(), expected),
            Err(_) => assert_eq!(expected, "", "{text}"),
        }
    }
}

#[test]
fn a_list_is_replaced_whole() {
    let sheet = Sheet::read("next_steps:\n  - x\n  - y\n\n# c\nb: 2\n").unwrap();
    let changed = sheet
        .with(&Step::Replace("next_steps", vec![json!("z")]))
        .unwrap();
    assert_eq!(changed.text(), "next_steps:\n  - \"z\"\n\n# c\nb: 2\n");
    let empty = changed.with(&Step::Replace("next_steps", vec![])).unwrap();
    assert_eq!(empty.text(), "next_steps: []\n\n# c\nb: 2\n");
}

#[test]
fn what_is_no_bead_is_refused_with_its_line() {
    for (text, message) in [
        ("a: 1\nb: 2\na: 3\n", "duplicate key `a` (line 3)"),
        ("a:\n\t- x\n", "tab"),
        ("- a\n", "no keys"),
        ("a: [\n", "line"),
    ] {
        let problem = Sheet::read(text).unwrap_err().to_string();
        assert!(
            problem.to_lowercase().contains(message),
            "{text}: {problem}"
        );
    }
    let bomb: String = (1..30).fold("a0: &a0 [x, x]\n".to_owned(), |text, n| {
        let m = n - 1;
        format!("{text}a{n}: &a{n} [*a{m}, *a{m}, *a{m}, *a{m}]\n")
    });
    assert!(Sheet::read(&bomb).is_err());
}

proptest! {
    /// LOA-FMT-1: any text that is written reads back unchanged.
    #[test]
    fn any_text_is_an_item_and_a_value(text in any::<String>()) {
        let sheet = Sheet::read(SEED).unwrap();
        let item = json!({"decision": text, "more": [text, {"quote": text}]});
        let changed = sheet.with_all(&[
            Step::Push("decisions", item),
            Step::Push("next_steps", json!(text)),
            Step::Set("title", json!(text)),
        ]);
        prop_assert!(changed.is_ok(), "{:?}", changed);
    }
}
