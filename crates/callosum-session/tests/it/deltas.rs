//! Checkpoints of the time between: what happened since the last one is kept, and once.

use std::time::Duration;

use callosum_host::{Clock, Disk};
use callosum_session::{
    Delta, Ground, NewDecision, NewHandoff, Session, Synthesized, Zones,
    bead::{Bead, BeadUpdate, NewBead},
    budget::Zone,
    grounding::Grounding,
    trajectory::Agent,
};
use serde_json::Value;

struct Place {
    _folder: tempfile::TempDir,
    disk: Disk,
    zones: Zones,
    clock: Clock,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let root = disk.canonicalize(folder.path()).unwrap();
        disk.replace(&root.join("a.rs"), b"fn one() {}\nfn two() {}\n", 0o644)
            .unwrap();
        Self {
            _folder: folder,
            disk,
            zones: Zones {
                tree: root.clone(),
                root,
            },
            clock: Clock::fixed(
                "2026-01-02T03:04:05Z".parse().unwrap(),
                Duration::from_secs(1),
            ),
        }
    }

    fn session(&self) -> Session<'_> {
        Session {
            disk: &self.disk,
            zones: &self.zones,
            clock: &self.clock,
            agent: Agent::default(),
        }
    }

    fn synthesize(&self, delta: &Delta) -> Option<Synthesized> {
        let held = self.session().hold().unwrap();
        held.synthesize(delta).unwrap()
    }

    fn trajectory(&self) -> Vec<Value> {
        let path = self.zones.trajectories();
        let path = path.join("implementing-tasks-2026-01-02.jsonl");
        let text = String::from_utf8(self.disk.read(&path).unwrap()).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    fn add(&self, line: &str) {
        let path = self.zones.trajectories();
        self.disk.create_dir_all(&path).unwrap();
        let path = path.join("implementing-tasks-2026-01-02.jsonl");
        let mut bytes = self.disk.read_if_there(&path).unwrap().unwrap_or_default();
        bytes.extend_from_slice(line.as_bytes());
        bytes.push(b'\n');
        self.disk.replace(&path, &bytes, 0o644).unwrap();
    }
}

fn at(position: u64) -> Delta {
    Delta {
        position: Some(("s.jsonl".to_owned(), position)),
        tokens: Some(5_200),
        zone: Some(Zone::Yellow),
        files: vec!["a.rs".to_owned()],
        reasoning: Some("Measure the pool".to_owned()),
        session_id: Some("s".to_owned()),
    }
}

/// LOA-DELTA-1: a checkpoint has the seed's members, and each position is written once.
#[test]
fn a_position_is_written_once_whatever_is_asked_for() {
    let place = Place::new();
    let held = place.session().hold().unwrap();
    held.decide(&NewDecision {
        decision: "Use one pool".to_owned(),
        ground: Ground::UserInput,
        ..NewDecision::default()
    })
    .unwrap();
    drop(held);
    let saved = place.synthesize(&at(100)).unwrap();
    assert_eq!((saved.decisions, saved.taken_over), (1, 0));
    let records = place.trajectory();
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

    assert_eq!(place.synthesize(&at(100)), None);
    assert_eq!(place.synthesize(&at(90)), None);
    let idle = Delta {
        files: Vec::new(),
        ..at(120)
    };
    assert_eq!(place.synthesize(&idle), None);
    assert_eq!(place.trajectory().len(), records.len());
    let risen = Delta {
        zone: Some(Zone::Red),
        ..idle
    };
    assert!(place.synthesize(&risen).is_some());
}

/// LOA-DELTA-1: what another writer claimed in the trajectory alone comes into notes and bead, once,
/// and what somebody took out of the notes afterwards is not put back.
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
    place.add(claim);
    place.add(claim);
    place.add(r#"{"ts":"2026-01-02T03:00:00Z","phase":"cite","claim":"Another at the same time"}"#);
    place.add(r#"{"ts":"yesterday","phase":"cite","claim":"of no time"}"#);
    place.add("{torn");
    let saved = place.synthesize(&Delta::default()).unwrap();
    assert_eq!((saved.decisions, saved.taken_over), (2, 2));
    let decisions = place.session().notes().unwrap().unwrap().decisions();
    let told: Vec<_> = decisions
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
        told,
        [
            ("2026-01-02T03:00:00Z", "One is enough", 1),
            ("2026-01-02T03:00:01Z", "Another at the same time", 0)
        ]
    );
    let bead = Bead::of(place.session().bead(&id).unwrap().members());
    assert_eq!(bead.decisions.len(), 2);
    let path = place.zones.trajectories();
    let path = path.join("implementing-tasks-2026-01-02.jsonl");
    let text = String::from_utf8(place.disk.read(&path).unwrap()).unwrap();
    assert_eq!(text.matches("\"phase\":\"delta_sync\"").count(), 1);

    place
        .disk
        .replace(&place.zones.notes(), b"# Notes\n", 0o644)
        .unwrap();
    assert_eq!(place.synthesize(&Delta::default()), None);
}

/// LOA-DELTA-1: a hand-off does not make the transcript be told again from its beginning.
#[test]
fn a_position_is_remembered_across_a_hand_off() {
    let place = Place::new();
    place.synthesize(&at(100)).unwrap();
    let held = place.session().hold().unwrap();
    held.hand_off(&NewHandoff::default()).unwrap();
    drop(held);
    assert_eq!(place.session().position("s.jsonl").unwrap(), 100);
    assert_eq!(place.session().position("other.jsonl").unwrap(), 0);
}

/// LOA-GRD-1: a checkpoint is no claim: the ratio is what it was.
#[test]
fn a_checkpoint_leaves_the_ratio_as_it_is() {
    let place = Place::new();
    place.add(r#"{"ts":"2026-01-02T03:00:00Z","phase":"cite","claim":"Nothing shows it"}"#);
    let ratio = || {
        let read = place.session().trajectory().since_handoff().unwrap();
        let tree = callosum_session::evidence::Tree::new(&place.disk, &place.zones.tree);
        let grounding = Grounding::of(&read, &tree);
        (grounding.grounded(), grounding.total())
    };
    let before = ratio();
    place.synthesize(&at(1)).unwrap();
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
    place.synthesize(&delta).unwrap();
    let active = place.session().notes().unwrap().unwrap().active();
    assert_eq!(
        active.reasoning.as_deref(),
        Some("try [secret: github token] ## now")
    );
}
