//! The seven steps before a context is cleared, the hand-off after, and what is recovered then.

use callosum_evidence::tokens::estimate;
use callosum_session::{
    Config, Enforcement, Ground, NewHandoff,
    bead::{Bead, BeadId, BeadUpdate, NewBead},
    checkpoint::{Checked, Outcome},
    evidence::{Evidence, Relative},
    recovery::{Recollection, level_1},
    trajectory::Agent,
};

use crate::place::Place;

fn outcomes(checked: &Checked) -> Vec<Outcome> {
    checked.steps.iter().map(|step| step.outcome).collect()
}

/// LOA-CHK-1, LOA-EDD-1: all seven steps, of which grounding blocks until there is evidence; the
/// hand-off is in bead, trajectory and notes, and what comes after counts anew.
#[test]
fn a_checkpoint_blocks_until_decisions_have_evidence_and_is_handed_off() {
    let ground = Place::new();
    let held = ground.session().hold().unwrap();
    let new = NewBead {
        id: BeadId::new("bd-1"),
        title: "Work".to_owned(),
        ..NewBead::default()
    };
    let id = held.create_bead(&new, || "x".to_owned()).unwrap();
    let update = BeadUpdate {
        is_current: true,
        next_steps: vec!["go on".to_owned()],
        ..BeadUpdate::default()
    };
    held.update_bead(&id, &update).unwrap();
    drop(held);
    ground.decide("Use one", Some("a.rs:1"), Ground::Nothing);
    ground.decide("Use two", None, Ground::Nothing);
    let config = Config::default();
    let blocked = ground.check(&config);
    use Outcome::{Blocked, Done, Passed, Warned};
    assert_eq!(
        outcomes(&blocked),
        [Blocked, Passed, Passed, Passed, Passed, Done, Warned]
    );
    assert!(!blocked.permits());
    assert_eq!(
        blocked.steps[0].said[0],
        "Cannot clear: 1 decisions lack evidence"
    );
    let warn = Config {
        enforcement: Enforcement::Warn,
        ..Config::default()
    };
    assert!(ground.check(&warn).permits());

    let notes = ground.session().notes().unwrap().unwrap();
    assert_eq!(notes.identifiers()[0].place, "${PROJECT_ROOT}/a.rs:1");
    let ts = notes.decisions()[1].ts.clone();
    let place = Evidence::parse("a.rs:2", Relative::Accepted).unwrap();
    ground
        .session()
        .hold()
        .unwrap()
        .cite(&ts, &[place])
        .unwrap();
    ground.decide("Use three", Some("a.rs:2"), Ground::Nothing);
    let permitted = ground.check(&config);
    assert_eq!(
        outcomes(&permitted),
        [Passed, Passed, Passed, Passed, Passed, Done, Passed]
    );
    let new = NewHandoff {
        scenarios: 3,
        to: Some(Agent::new("reviewing-code").unwrap()),
        ..NewHandoff::default()
    };
    let handed = ground.session().hold().unwrap().hand_off(&new).unwrap();
    assert_eq!(
        (handed.session_id.as_str(), handed.ratio.as_str()),
        ("sess-001", "1.00")
    );
    assert_eq!(handed.notes_refs.len(), 3);
    let bead = Bead::of(ground.session().bead(&id).unwrap().members());
    assert_eq!(bead.handoffs, [handed.ts.as_str()]);
    let read = ground.session().trajectory().since_handoff().unwrap();
    assert!(read.records.is_empty());
    let record = read.handoff.unwrap().1;
    assert_eq!(
        (record.text("to"), record.members["edd_verified"].clone()),
        ("reviewing-code", true.into())
    );

    let session = ground.session();
    let told = level_1(&Recollection::gather(&session, 3).unwrap(), 100);
    assert!(
        told.starts_with("Bead: bd-1 Work (open)\nCheckpoint: 2026-01-02T"),
        "{told}"
    );
    assert!(
        told.contains("Next: go on\nDecided: Use three [verified]\n"),
        "{told}"
    );
    assert!(estimate(&told) <= 100);
    ground
        .disk
        .replace(&ground.zones.tree.join("a.rs"), b"fn one() {}\n", 0o644)
        .unwrap();
    let told = level_1(&Recollection::gather(&session, 3).unwrap(), 100);
    assert!(told.contains("Decided: Use three [stale]\n"), "{told}");
}

/// LOA-GRD-3, LOA-MARK-1: a feature that is said not to be there needs two queries that differ, and
/// a control.
#[test]
fn a_ghost_blocks_until_two_queries_that_differ_found_nothing() {
    let ghost = |queries: &str, control: u8| {
        let ground = Place::new();
        ground.trajectory(&format!(
            "{{\"phase\":\"ghost\",\"feature\":\"SSO\",\"queries\":[{queries}],\"control\":{{\"query\":\"one\",\"results\":{control}}}}}"
        ));
        let step = ground.check(&Config::default()).steps.remove(1);
        (step.outcome, step.said.concat())
    };
    let query = |text: &str, results: u8| format!("{{\"query\":\"{text}\",\"results\":{results}}}");
    let two = [
        query("single sign on", 0),
        query("saml identity provider", 0),
    ]
    .join(",");
    assert_eq!(ghost(&two, 3).0, Outcome::Passed);
    let (outcome, said) = ghost(&two, 0);
    assert_eq!(outcome, Outcome::Blocked);
    assert!(said.starts_with("[UNVERIFIED GHOST] SSO: "), "{said}");
    assert_eq!(ghost(&query("sso", 0), 3).0, Outcome::Blocked);
    let same = [query("single sign on", 0), query("sign on single", 0)].join(",");
    assert_eq!(ghost(&same, 3).0, Outcome::Blocked);
    let found = [query("single sign on", 0), query("saml", 1)].join(",");
    assert_eq!(ghost(&found, 3).0, Outcome::Blocked);
}
