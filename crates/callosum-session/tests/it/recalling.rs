//! Search for decisions on a topic, of any age.

use std::fmt::Write as _;

use callosum_citation::tokens::estimate;
use callosum_session::{
    EvidenceKind,
    recovery::{DecisionHit, Recollection, level_1},
};

use crate::place::Place;

/// LOA-REC-1: a query looks at every decision and every hand-off, tells those that it means first, and
/// counts what did not fit.
#[test]
fn a_query_finds_the_oldest_decision_and_hand_off() {
    let place = Place::new();
    let mut text = "# Notes\n\n### Decision Log\n".to_owned();
    let _ = write!(
        text,
        "\n#### 2020-01-01T00:00:00Z - Keep the zebra\n**Decision**: Keep the zebra\n**Evidence**:\n\
         - `fn two() {{}}` [${{PROJECT_ROOT}}/a.rs:2]\n"
    );
    for number in 0..3000 {
        let (minute, second) = (number / 60, number % 60);
        let _ = write!(
            text,
            "\n#### 2026-01-01T00:{minute:02}:{second:02}Z - Use pool {number}\n**Decision**: Use pool {number}\n"
        );
    }
    let path = place.zones.notes();
    place.disk.create_dir_all(path.parent().unwrap()).unwrap();
    place.disk.replace(&path, text.as_bytes(), 0o644).unwrap();
    let folder = place.zones.trajectories();
    place.disk.create_dir_all(&folder).unwrap();
    for day in 1..20 {
        let reasoning = if day == 1 { "herd of zebra" } else { "other" };
        let record = format!(
            "{{\"phase\":\"session_handoff\",\"ts\":\"2025-01-{day:02}T00:00:00Z\",\"agent\":\"a\",\"reasoning\":\"{reasoning}\"}}\n"
        );
        let file = folder.join(format!("a-2025-01-{day:02}.jsonl"));
        place.disk.replace(&file, record.as_bytes(), 0o644).unwrap();
    }
    let session = place.session();
    let found = DecisionHit::gather(&session, "zebra", 500).unwrap();
    let lines: Vec<String> = found.told(500).lines().map(str::to_owned).collect();
    assert_eq!(
        lines,
        [
            "2020-01-01T00:00:00Z Keep the zebra [quote found]: Keep the zebra See: ${PROJECT_ROOT}/a.rs:2",
            "Handoff by a at 2025-01-01T00:00:00Z: herd of zebra",
        ]
    );
    let many = DecisionHit::gather(&session, "pool", 100).unwrap();
    let text = many.told(100);
    assert!(estimate(&text) <= 100);
    let shown = text.lines().count() - 1;
    let left = format!("+{} more", 3000 - shown);
    assert_eq!(text.lines().last(), Some(left.as_str()));
    assert_eq!(
        many.told(100),
        DecisionHit::gather(&session, "pool", 100)
            .unwrap()
            .told(100)
    );
    assert!(
        DecisionHit::gather(&session, "giraffe", 500)
            .unwrap()
            .is_empty()
    );
}

/// LOA-TRUTH-1, LOA-REC-1: if the current bead has other words of a decision, these are shown, with
/// what the bead cites.
#[test]
fn the_words_of_the_current_bead_take_precedence_over_the_notes() {
    let place = Place::new();
    let id = place.with_current_bead(&[]);
    place.decide("Use one pool", Some("a.rs:1"), EvidenceKind::Nothing);
    let path = place.session().beads().path(&id).unwrap();
    let bead = String::from_utf8(place.disk.read(&path).unwrap()).unwrap();
    let changed = bead.replace(
        "decision: \"Use one pool\"",
        "decision: \"Drop the backups\"",
    );
    let changed = changed.replace("decision: Use one pool", "decision: Drop the backups");
    assert_ne!(bead, changed);
    place
        .disk
        .replace(&path, changed.as_bytes(), 0o644)
        .unwrap();
    let text = level_1(&Recollection::gather(&place.session(), 3).unwrap(), 100);
    assert!(
        text.contains("Decided: Drop the backups [quote found]\n"),
        "{text}"
    );
    assert!(!text.contains("Use one pool"), "{text}");
}
