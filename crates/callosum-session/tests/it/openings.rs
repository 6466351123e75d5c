//! Hand-offs that name an agent, and the start text of a new session.

use std::time::Duration;

use callosum_host::Clock;
use callosum_session::{
    Config, Enforcement, EvidenceKind, NewHandoff, SessionStart,
    heal::{Healed, RepairSource},
    recovery::DecisionHit,
    trajectory::Agent,
};

use crate::place::Place;

fn hand_off(place: &Place, to: &str, reasoning: &str) {
    let new = NewHandoff {
        to: Some(Agent::new(to).unwrap()),
        reasoning: Some(reasoning.to_owned()),
        session_id: Some(format!("s-{reasoning}")),
        is_forced: true,
        ..NewHandoff::default()
    };
    let held = place.session().hold().unwrap();
    held.hand_off(&new, &Config::default()).unwrap();
}

fn waiting(place: &Place, names: &[&str], session_id: &str) -> Vec<String> {
    let waiting = place.session().waiting_for(names, session_id).unwrap();
    let waiting = waiting.into_iter();
    waiting.filter_map(|one| one.reasoning).collect()
}

fn pick_up(place: &Place, name: &str, session_id: &str) {
    let session = place.session();
    let waiting = session.waiting_for(&[name], session_id).unwrap();
    let held = session.hold().unwrap();
    let agent = Agent::new(name).unwrap();
    held.pick_up(&agent, &waiting, session_id).unwrap();
}

fn trajectory_of(place: &Place, name: &str) -> String {
    let session = place.session_of(Agent::new(name).unwrap());
    let file = session.trajectory().file_of("2026-01-02").unwrap();
    String::from_utf8(place.disk.read(&file).unwrap()).unwrap()
}

/// LOA-FUT-1: of several hand-offs in one second each reaches a session of its own, and each is found by what
/// the line says that was cut.
#[test]
fn hand_offs_of_one_second_are_distinguished() {
    let place = Place::new();
    let now = place.clock.now();
    let mut place = place;
    place.clock = Clock::fixed(now, Duration::ZERO);
    for words in ["one", "two", "three"] {
        let new = NewHandoff {
            to: Some(Agent::new("codex").unwrap()),
            reasoning: Some(words.to_owned()),
            is_forced: true,
            ..NewHandoff::default()
        };
        let held = place.session().hold().unwrap();
        held.hand_off(&new, &Config::default()).unwrap();
    }
    let session = place.session();
    let first = session.waiting_for(&["codex"], "x").unwrap();
    let mut ids: Vec<&str> = first.iter().map(|one| one.session_id.as_str()).collect();
    ids.sort_unstable();
    assert_eq!(ids, ["sess-001", "sess-002", "sess-003"]);
    let agent = Agent::new("codex").unwrap();
    let held = session.hold().unwrap();
    held.pick_up(&agent, &first[..1], "x").unwrap();
    drop(held);
    assert_eq!(waiting(&place, &["codex"], "y").len(), 2);
    let found = DecisionHit::gather(&place.session(), "handoff", 500).unwrap();
    assert_eq!(found.told(500).lines().count(), 3);
}

/// LOA-FUT-1: a hand-off reaches the agent that it names, in one session of it.
#[test]
fn a_hand_off_reaches_one_session_of_the_agent_that_it_names() {
    let place = Place::new();
    assert_eq!(waiting(&place, &["codex"], "x"), [""; 0]);
    hand_off(&place, "codex", "one");
    hand_off(&place, "codex", "two");
    hand_off(&place, "gemini", "other");
    let names = ["codex", "codex-cli"];
    assert_eq!(waiting(&place, &names, "x"), ["two", "one"]);
    pick_up(&place, "codex", "x");
    assert_eq!(waiting(&place, &names, "y"), [""; 0]);
    // Its own context may have been compacted since.
    assert_eq!(waiting(&place, &names, "x"), ["two", "one"]);
    assert_eq!(waiting(&place, &["gemini"], "x"), ["other"]);
    let file = trajectory_of(&place, "codex");
    assert_eq!(file.lines().count(), 2);
    pick_up(&place, "codex", "x");
    assert_eq!(trajectory_of(&place, "codex"), file);
}

#[test]
fn foreign_files_torn_lines_and_old_days_are_passed_over() {
    let place = Place::new();
    hand_off(&place, "codex", "one");
    let record = "{\"phase\":\"session_handoff\",\"to\":\"codex\",\"reasoning\":\"old\"}\n";
    let put = |name: &str, text: &str| {
        let path = place.zones.trajectories().join(format!("{name}.jsonl"));
        place.disk.replace(&path, text.as_bytes(), 0o644).unwrap();
    };
    put("a-2025-01-01", record);
    for day in 1..15 {
        let torn = "{\"phase\":\"session_handoff\",\"to\":7}\n{\"torn";
        put(&format!("a-2026-01-{day:02}"), torn);
    }
    for name in ["short", "é-2026-01-02", "-2026-01-02", "a-2026-13-99"] {
        put(name, record);
    }
    assert_eq!(waiting(&place, &["codex"], "x"), ["one"]);
    put(
        "implementing-tasks-2026-01-14",
        &record.replace("old", "new"),
    );
    assert_eq!(waiting(&place, &["codex"], "x"), ["one", "new"]);
}

/// LOA-REC-1, LOA-CHK-1: a new session sees the unsupported claims of the last one, also if that
/// one was handed off.
#[test]
fn a_new_session_sees_the_unsupported_claims_of_the_last_one() {
    let place = Place::new();
    assert!(!place.zones.are_used(&place.disk).unwrap());
    place.decide("Use one pool", Some("a.rs:1"), EvidenceKind::Nothing);
    place.decide("Retry for ever", None, EvidenceKind::Nothing);
    assert!(place.zones.are_used(&place.disk).unwrap());
    let start_text = || {
        let opening =
            SessionStart::gather(&place.session(), &["codex"], "x", Enforcement::Standard).unwrap();
        assert_eq!(opening.told(100, 9000), opening.told(100, 9000));
        opening.told(100, 9000).text
    };
    let line = "> Without evidence, 1 of 2 claims: Retry for ever (no evidence)\n";
    assert!(start_text().contains(line), "{}", start_text());
    assert!(start_text().contains("> Decided: Use one pool (a.rs:1) [quote found]\n"));
    hand_off(&place, "gemini", "enough");
    let line = "> Handed off without evidence: Retry for ever\n";
    assert!(start_text().contains(line), "{}", start_text());
    place.decide("Use two pools", Some("a.rs:2"), EvidenceKind::Nothing);
    assert!(
        !start_text().contains("ithout evidence"),
        "{}",
        start_text()
    );
}

/// LOA-HEAL-1: repairs and their sources are on the trail; failed ones are not.
#[test]
fn what_was_healed_is_written_down() {
    let place = Place::new();
    let healed = |from| Healed {
        file: "loa-grimoire/NOTES.md".to_owned(),
        was: "missing".to_owned(),
        from,
        aside: None,
    };
    let held = place.session().hold().unwrap();
    held.note_healed(&[healed(RepairSource::Git), healed(RepairSource::Nobody)])
        .unwrap();
    held.note_healed(&[healed(RepairSource::Nobody)]).unwrap();
    let file = trajectory_of(&place, "implementing-tasks");
    assert_eq!(file.lines().count(), 1);
    assert!(
        file.contains("\"self_heal\"") && file.contains("\"from\":\"git\""),
        "{file}"
    );
}

/// LOA-FUT-1: a hand-off is shown, with the place of its rest, regardless of the length of its
/// words and of the other one-time messages; a name means its agent in any case of letters.
#[test]
fn a_hand_off_is_always_shown() {
    let place = Place::new();
    hand_off(&place, "Codex", &"the pool is too small ".repeat(400));
    let mut opening =
        SessionStart::gather(&place.session(), &["codex"], "x", Enforcement::Standard).unwrap();
    opening.healed = (0..500)
        .map(|number| Healed {
            file: format!(".beads/bd-{number}.yaml"),
            was: "broken: it is no bead".to_owned(),
            from: RepairSource::Nobody,
            aside: None,
        })
        .collect();
    for budget in [60, 100, 400] {
        let rendered = opening.told(budget, 9000);
        assert_eq!(rendered.handed_over, 1, "{budget}: {}", rendered.text);
        let line = rendered.text.lines().nth(1).unwrap();
        assert!(line.starts_with("> Handoff: by implementing-tasks at "));
        let rest = "… `callosum session recover --level 2 handoff`";
        assert!(line.ends_with(rest), "{line}");
    }
    let rendered = opening.told(100, 9000).text;
    assert!(rendered.contains(": the pool is too small"), "{rendered}");
    hand_off(&place, "codex", "short");
    let opening =
        SessionStart::gather(&place.session(), &["codex"], "x", Enforcement::Standard).unwrap();
    let rendered = opening.told(100, 9000);
    assert_eq!(rendered.handed_over, 2, "{}", rendered.text);
}
