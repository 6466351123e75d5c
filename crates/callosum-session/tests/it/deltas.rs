//! Checkpoints of the time between: what happened since the last one is kept, and once.

use std::path::PathBuf;

use callosum_session::{
    Config, Delta, EvidenceKind, NewDecision, NewHandoff, Synthesized,
    bead::{Bead, BeadUpdate, NewBead},
    budget::Zone,
    evidence::Tree,
    grounding::Grounding,
};
use serde_json::Value;

use crate::place::Place;

fn synthesize(place: &Place, delta: &Delta) -> Option<Synthesized> {
    let held = place.session().hold().unwrap();
    held.synthesize(delta).unwrap()
}

fn file(place: &Place) -> PathBuf {
    let folder = place.zones.trajectories();
    folder.join("implementing-tasks-2026-01-02.jsonl")
}

fn trajectory(place: &Place) -> Vec<Value> {
    let text = String::from_utf8(place.disk.read(&file(place)).unwrap()).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn add(place: &Place, line: &str) {
    let path = file(place);
    place.disk.create_dir_all(path.parent().unwrap()).unwrap();
    let mut bytes = place.disk.read_if_there(&path).unwrap().unwrap_or_default();
    bytes.extend_from_slice(line.as_bytes());
    bytes.push(b'\n');
    place.disk.replace(&path, &bytes, 0o644).unwrap();
}

fn at(position: u64) -> Delta {
    Delta {
        position: Some(("s.jsonl".to_owned(), position)),
        tokens: Some(5_200),
        zone: Some(Zone::Yellow),
        files: vec!["a.rs".to_owned()],
        reasoning: Some("Measure the pool".to_owned()),
        session_id: Some("s".to_owned()),
        ..Delta::default()
    }
}

/// LOA-DELTA-1: a transcript that became shorter goes on being read from where it ends now, once, also if nothing else happened.
#[test]
fn a_transcript_that_became_shorter_has_its_new_position() {
    let place = Place::new();
    let position = || place.session().position("s.jsonl").unwrap();
    let shrunk = |position: u64, from: u64| Delta {
        shrunk_from: Some(from),
        ..at(position)
    };
    assert!(synthesize(&place, &at(100)).is_some());
    assert!(synthesize(&place, &shrunk(30, 100)).is_some());
    assert_eq!(position(), 30);
    // Another hook has seen the same.
    assert_eq!(synthesize(&place, &shrunk(30, 100)), None);
    assert_eq!(synthesize(&place, &at(25)), None);
    let more = Delta {
        files: vec!["b.rs".to_owned()],
        ..at(60)
    };
    assert!(synthesize(&place, &more).is_some());
    assert_eq!(position(), 60);
    let idle = Delta {
        files: Vec::new(),
        ..shrunk(10, 60)
    };
    assert!(synthesize(&place, &idle).is_some());
    assert_eq!(position(), 10);
    // The record of a later day counts, regardless of the one before.
    let next = place.zones.trajectories();
    let next = next.join("implementing-tasks-2026-01-03.jsonl");
    let line = "{\"phase\":\"delta_sync\",\"transcript\":\"s.jsonl\",\"position\":7}\n";
    place.disk.replace(&next, line.as_bytes(), 0o644).unwrap();
    assert_eq!(position(), 7);
}

/// LOA-DELTA-1: a checkpoint has the seed's members, and each position is written once.
#[test]
fn a_position_is_written_once_for_any_request() {
    let place = Place::new();
    let held = place.session().hold().unwrap();
    held.decide(&NewDecision {
        decision: "Use one pool".to_owned(),
        ground: EvidenceKind::UserInput,
        ..NewDecision::default()
    })
    .unwrap();
    drop(held);
    let saved = synthesize(&place, &at(100)).unwrap();
    assert_eq!((saved.decisions, saved.taken_over), (1, 0));
    let records = trajectory(&place);
    let record = records.last().unwrap();
    assert_eq!(record["phase"], "delta_sync");
    assert_eq!(record["tokens"], 5_200);
    assert_eq!(record["decisions_persisted"], 1);
    assert_eq!(record["bead_updated"], false);
    assert_eq!(record["notes_updated"], true);
    assert_eq!(record["files"][0], "a.rs");
    let active = place.session().notes().unwrap().unwrap().active();
    assert_eq!(active.checkpoint.as_deref(), Some(saved.ts.as_str()));
    assert_eq!(active.reasoning.as_deref(), Some("Measure the pool"));
    assert_eq!(place.session().position("s.jsonl").unwrap(), 100);

    assert_eq!(synthesize(&place, &at(100)), None);
    assert_eq!(synthesize(&place, &at(90)), None);
    let idle = Delta {
        files: Vec::new(),
        ..at(120)
    };
    assert_eq!(synthesize(&place, &idle), None);
    assert_eq!(trajectory(&place).len(), records.len());
    let risen = Delta {
        zone: Some(Zone::Red),
        ..idle
    };
    assert!(synthesize(&place, &risen).is_some());
}

/// LOA-DELTA-1: the fill level of a context is remembered per transcript; if it is lost, the last
/// checkpoint of the same transcript has it.
#[test]
fn a_fuller_zone_is_one_of_the_same_transcript() {
    let place = Place::new();
    let of = |name: &str, position: u64, zone: Zone| Delta {
        position: Some((name.to_owned(), position)),
        zone: Some(zone),
        ..Delta::default()
    };
    assert!(synthesize(&place, &of("a", 10, Zone::Red)).is_some());
    assert!(synthesize(&place, &of("b", 10, Zone::Yellow)).is_some());
    assert_eq!(place.session().zone_reached("a").unwrap(), Some(Zone::Red));
    let own = place.zones.own().join("contexts");
    place.disk.remove_file(&own).unwrap();
    assert_eq!(place.session().zone_reached("a").unwrap(), None);
    assert_eq!(synthesize(&place, &of("b", 20, Zone::Yellow)), None);
    assert!(synthesize(&place, &of("b", 30, Zone::Orange)).is_some());
    // A file of another program, and more transcripts than are remembered.
    place
        .disk
        .replace(&own, b"\xff\nno zone\tb\n", 0o644)
        .unwrap();
    assert_eq!(place.session().zone_reached("b").unwrap(), None);
    let held = place.session().hold().unwrap();
    for many in 0..40 {
        held.note_zone(&format!("t{many}"), Zone::Green).unwrap();
    }
    held.note_zone("line\nbreak", Zone::Red).unwrap();
    let text = String::from_utf8(place.disk.read(&own).unwrap()).unwrap();
    assert_eq!(text.lines().count(), 32);
    assert_eq!(
        place.session().zone_reached("t39").unwrap(),
        Some(Zone::Green)
    );
    assert_eq!(place.session().zone_reached("t0").unwrap(), None);
}

/// LOA-DELTA-1: claims that another writer made in the trajectory alone come into notes and bead,
/// once, and come back to notes that have lost them, unless someone withdrew them.
#[test]
fn claims_of_other_writers_come_into_notes_and_bead_once() {
    let place = Place::new();
    let held = place.session().hold().unwrap();
    let new = NewBead {
        title: "Pool".to_owned(),
        ..NewBead::default()
    };
    let id = held.create_bead(&new, || "x7y8".to_owned()).unwrap();
    let current = BeadUpdate {
        is_current: true,
        ..BeadUpdate::default()
    };
    held.update_bead(&id, &current).unwrap();
    drop(held);
    let claim = r#"{"ts":"2026-01-02T03:00:00.250Z","agent":"x","phase":"cite","claim":"One is enough","grounding":"citation","evidence":["`fn one() {}` [${PROJECT_ROOT}/a.rs:1]"]}"#;
    add(&place, claim);
    add(&place, claim);
    add(
        &place,
        r#"{"ts":"2026-01-02T03:00:00Z","phase":"cite","claim":"Another at the same time"}"#,
    );
    add(
        &place,
        r#"{"ts":"yesterday","phase":"cite","claim":"of no time"}"#,
    );
    add(&place, "{torn");
    let saved = synthesize(&place, &Delta::default()).unwrap();
    assert_eq!((saved.decisions, saved.taken_over), (2, 2));
    let decisions = place.session().notes().unwrap().unwrap().decisions();
    let known: Vec<_> = decisions
        .iter()
        .map(|made| {
            (
                made.ts.as_str(),
                made.decision.as_str(),
                made.evidence.len(),
            )
        })
        .collect();
    assert_eq!(
        known,
        [
            ("2026-01-02T03:00:00Z", "One is enough", 1),
            ("2026-01-02T03:00:00.001Z", "Another at the same time", 0)
        ]
    );
    let bead = Bead::of(place.session().bead(&id).unwrap().members());
    assert_eq!(bead.decisions.len(), 2);
    let text = String::from_utf8(place.disk.read(&file(&place)).unwrap()).unwrap();
    assert_eq!(text.matches("\"phase\":\"delta_sync\"").count(), 1);

    let put = |text: &str| {
        let notes = place.zones.notes();
        place.disk.replace(&notes, text.as_bytes(), 0o644).unwrap();
    };
    put("# Notes\n");
    let saved = synthesize(&place, &Delta::default()).unwrap();
    assert_eq!((saved.decisions, saved.taken_over), (2, 2));
    let times = decisions.iter().map(|made| format!("#### {}", made.ts));
    put(&format!(
        "# Notes\n<!-- {} -->\n",
        times.collect::<Vec<_>>().join(" ")
    ));
    assert_eq!(synthesize(&place, &Delta::default()), None);
    let bead = Bead::of(place.session().bead(&id).unwrap().members());
    assert_eq!(bead.decisions.len(), 2);
}

/// LOA-DELTA-1: a hand-off does not cause the transcript to be reported from its beginning again.
#[test]
fn a_position_is_remembered_across_a_hand_off() {
    let place = Place::new();
    synthesize(&place, &at(100)).unwrap();
    let held = place.session().hold().unwrap();
    held.hand_off(&NewHandoff::default(), &Config::default())
        .unwrap();
    drop(held);
    assert_eq!(place.session().position("s.jsonl").unwrap(), 100);
    assert_eq!(place.session().position("other.jsonl").unwrap(), 0);
}

/// LOA-GRD-1: a checkpoint is no claim: the ratio is what it was.
#[test]
fn a_checkpoint_leaves_the_ratio_as_it_is() {
    let place = Place::new();
    add(
        &place,
        r#"{"ts":"2026-01-02T03:00:00Z","phase":"cite","claim":"Nothing shows it"}"#,
    );
    let ratio = || {
        let read = place.session().trajectory().since_handoff().unwrap();
        let tree = Tree::new(&place.disk, &place.zones.tree);
        let grounding = Grounding::of(&read.into(), &tree);
        (grounding.grounded(), grounding.total())
    };
    let before = ratio();
    synthesize(&place, &at(1)).unwrap();
    assert_eq!(ratio(), before);
}

/// LOA-SEC-1: what a transcript tells is masked like everything else.
#[test]
fn secrets_of_a_plan_are_taken_out() {
    let place = Place::new();
    let token = format!("ghp_{}", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3gH6");
    let delta = Delta {
        reasoning: Some(format!("try {token}\n## now")),
        ..at(1)
    };
    synthesize(&place, &delta).unwrap();
    let active = place.session().notes().unwrap().unwrap().active();
    assert_eq!(
        active.reasoning.as_deref(),
        Some("try [secret: github token] ## now")
    );
}
