//! Notes that were lost, cut short or replaced by older ones: what was decided comes back from those
//! who still have it.

use callosum_session::{
    Config, Delta, EvidenceKind, NewHandoff,
    bead::{Bead, BeadId},
    heal::RepairSource,
    notes::Notes,
    trajectory::Agent,
};
use proptest::prelude::*;

use crate::place::{NOTHING, NoFile, Place};

/// A project in which the bead was deleted, and that was committed.
const DELETED: NoFile = NoFile {
    ever: Some(&[".beads/bd-1.yaml"]),
};

/// A project whose git does not report in time what was committed.
const UNKNOWN: NoFile = NoFile { ever: None };

/// Three decisions; one has evidence and one belongs to another agent.
fn with_decisions() -> Place {
    let place = Place::new();
    place.with_current_bead(&[]);
    place.decide("Use one pool", Some("a.rs:1"), EvidenceKind::Nothing);
    place.decide("The user wants two", None, EvidenceKind::UserInput);
    let other = place.session_of(Agent::new("documenting").unwrap());
    let new = callosum_session::NewDecision {
        decision: "Say why".to_owned(),
        rationale: Some("it is asked".to_owned()),
        ..callosum_session::NewDecision::default()
    };
    other.hold().unwrap().decide(&new).unwrap();
    place
}

fn notes(place: &Place) -> Vec<u8> {
    place.disk.read(&place.zones.notes()).unwrap()
}

fn put(place: &Place, bytes: &[u8]) {
    place
        .disk
        .replace(&place.zones.notes(), bytes, 0o644)
        .unwrap();
}

/// Returns the repairs of the notes, with their sources.
fn heal(place: &Place) -> Vec<(String, RepairSource)> {
    let held = place.session().hold().unwrap();
    let healed = held.heal(&NOTHING).unwrap().into_iter();
    healed.map(|one| (one.was, one.from)).collect()
}

fn decided(bytes: Vec<u8>) -> Vec<String> {
    let decisions = Notes::read(bytes).decisions();
    decisions.iter().map(|made| made.written("\n")).collect()
}

/// LOA-HEAL-1: decisions that were never committed come back as they were, with the current bead,
/// whichever way the notes were lost.
#[test]
fn decisions_that_were_never_committed_come_back_as_they_were() {
    let place = with_decisions();
    let whole = notes(&place);
    let all = decided(whole.clone());
    assert_eq!(heal(&place), []);
    let text = String::from_utf8(whole.clone()).unwrap();
    let (before, _) = text.split_once("#### ").unwrap();
    let torn = &text[..text.find("wants two").unwrap() + 3];
    let older = format!("{before}\n### Pending Questions\n- [ ] mine\n");
    for (lost, was) in [
        (None, "missing"),
        (Some(""), "blank"),
        (Some("# Notes\n\0\0"), "broken: it contains NUL bytes"),
        (Some(torn), "missing 2 decisions"),
        (Some(older.as_str()), "missing 3 decisions"),
    ] {
        match lost {
            None => assert!(place.disk.remove_file(&place.zones.notes()).unwrap()),
            Some(text) => put(&place, text.as_bytes()),
        }
        let healed = heal(&place);
        assert_eq!(healed[0].0, was);
        assert!(
            healed
                .iter()
                .any(|(_, from)| *from == RepairSource::Trajectory),
            "{healed:?}"
        );
        assert_eq!(decided(notes(&place)), all, "{was}");
        let active = Notes::read(notes(&place)).active();
        assert_eq!(active.bead.as_deref(), Some("bd-1"), "{was}");
        assert_eq!(heal(&place), []);
        if lost == Some(older.as_str()) {
            assert_eq!(Notes::read(notes(&place)).questions(), ["mine"]);
        }
        put(&place, &whole);
    }
}

/// LOA-HEAL-1: where no trajectory is left, the bead still has its decisions.
#[test]
fn what_only_a_bead_has_comes_from_the_bead() {
    let place = with_decisions();
    for entry in place.disk.list_dir(&place.zones.trajectories()).unwrap() {
        let path = place.zones.trajectories().join(entry.name);
        place.disk.remove_file(&path).unwrap();
    }
    place.disk.remove_file(&place.zones.notes()).unwrap();
    let healed = heal(&place);
    assert_eq!(
        healed[1],
        ("missing 3 decisions".to_owned(), RepairSource::Beads)
    );
    let made = Notes::read(notes(&place)).decisions();
    assert_eq!(made[0].decision, "Use one pool");
    assert_eq!(made[0].evidence.len(), 1);
}

/// LOA-DELTA-1: a checkpoint counts what is in the notes when it is done, and brings back what is not.
#[test]
fn a_checkpoint_tells_what_is_in_the_notes() {
    let place = with_decisions();
    let all = decided(notes(&place));
    place.disk.remove_file(&place.zones.notes()).unwrap();
    let held = place.session().hold().unwrap();
    let saved = held.synthesize(&Delta::default()).unwrap().unwrap();
    drop(held);
    assert_eq!((saved.decisions, saved.taken_over), (3, 3));
    assert_eq!(decided(notes(&place)), all);
    let active = Notes::read(notes(&place)).active();
    assert_eq!(active.bead.as_deref(), Some("bd-1"));
    let held = place.session().hold().unwrap();
    assert_eq!(held.synthesize(&Delta::default()).unwrap(), None);
}

/// LOA-FMT-1: what a person took back by commenting it out, or by moving it elsewhere, stays so.
#[test]
fn what_was_taken_back_stays_so() {
    let place = with_decisions();
    let text = String::from_utf8(notes(&place)).unwrap();
    let entry = text.split("#### ").nth(2).unwrap();
    let taken_back = text.replace(
        &format!("#### {entry}"),
        &format!("<!--\n#### {}\n-->\n", entry.trim_end()),
    );
    put(&place, taken_back.as_bytes());
    assert_eq!(Notes::read(notes(&place)).decisions().len(), 2);
    assert_eq!(heal(&place), []);
    assert_eq!(notes(&place), taken_back.as_bytes());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// LOA-HEAL-1: wherever the notes break off, every decision is there again, once, and nothing that
    /// was left is taken away.
    #[test]
    fn notes_that_break_off_anywhere_are_made_whole(share in 0.0_f64..1.0, at_a_line in any::<bool>()) {
        let place = with_decisions();
        let whole = notes(&place);
        let all: std::collections::BTreeSet<String> = decided(whole.clone()).into_iter().collect();
        let mut cut = (whole.len() as f64 * share) as usize;
        if at_a_line {
            cut += whole[cut..].iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        }
        put(&place, &whole[..cut]);
        heal(&place);
        let healed = notes(&place);
        let made = decided(healed.clone());
        prop_assert_eq!(made.iter().filter(|made| all.contains(*made)).count(), all.len(), "{:?}", made);
        if !whole[..cut].trim_ascii().is_empty() {
            for line in whole[..cut].split_inclusive(|byte| *byte == b'\n') {
                prop_assert!(healed.windows(line.len()).any(|there| there == line));
            }
        }
    }
}

/// LOA-HEAL-1: a bead that was lost before it was committed comes back with what was recorded of it; what
/// nothing tells is left out, and named; nothing is invented.
#[test]
fn a_bead_that_was_never_committed_comes_back_as_far_as_it_is_known() {
    let place = with_decisions();
    let id = BeadId::new("bd-1").unwrap();
    let session = place.session();
    let before = Bead::of(session.bead(&id).unwrap().members());
    let forced = NewHandoff {
        is_forced: true,
        ..NewHandoff::default()
    };
    let held = session.hold().unwrap();
    held.hand_off(&forced, &Config::default()).unwrap();
    let file = place.zones.beads().join("bd-1.yaml");
    place.disk.remove_file(&file).unwrap();
    // Its deletion was committed: it stays deleted, and git is not asked again.
    assert_eq!(held.heal(&DELETED).unwrap(), []);
    assert_eq!(held.heal(&NOTHING).unwrap(), []);
    let gone = place.zones.own().join("beads.gone");
    place.disk.remove_file(&gone).unwrap();
    // Where git does not say, nothing is made.
    assert_eq!(held.heal(&UNKNOWN).unwrap(), []);
    drop(held);
    let healed = heal(&place);
    let problem =
        "missing and never committed (status, priority, needs and next steps are unknown)";
    assert_eq!(healed, [(problem.to_owned(), RepairSource::Trajectory)]);
    let text = String::from_utf8(place.disk.read(&file).unwrap()).unwrap();
    assert!(text.starts_with("# Rebuilt from the trajectory"));
    assert!(!text.contains("status:") && !text.contains("priority:"));
    let after = Bead::of(session.bead(&id).unwrap().members());
    assert_eq!(
        (&after.title, &after.decisions),
        (&before.title, &before.decisions)
    );
    assert_eq!(after.scenarios, before.scenarios);
    assert_eq!(after.handoffs.len(), 1);
    assert_eq!(heal(&place), []);

    // Before something is written to it, the current bead comes back by itself.
    place.disk.remove_file(&file).unwrap();
    let held = session.hold().unwrap();
    let healed = held.heal_current_bead(&NOTHING).unwrap().unwrap();
    assert_eq!(
        (healed.was.as_str(), healed.from),
        (problem, RepairSource::Trajectory)
    );
}

/// LOA-HEAL-1: records of any writer, torn lines and odd ids make no bead of nothing.
#[test]
fn what_no_record_tells_of_makes_no_bead() {
    let place = Place::new();
    for line in [
        r#"{"phase":"delta_sync","bead_id":"bd-9"}"#,
        r#"{"phase":"cite","claim":"x","note":"\"bead_id\":\"bd-8\""}"#,
        r#"{"phase":"cite","bead_id":"../x","ts":"2026-01-02T03:04:05Z","decision":"2026-01-02T03:04:05Z","claim":"x"}"#,
        r#"{"phase":"cite","bead_id":7}"#,
        r#"{"phase":"cite","bead_id":"bd-7"#,
    ] {
        place.trajectory(line);
    }
    let healed = heal(&place);
    assert!(
        healed
            .iter()
            .all(|(was, _)| !was.contains("never committed")),
        "{healed:?}"
    );
    assert_eq!(place.disk.list_dir(&place.zones.beads()).unwrap().len(), 0);
}
