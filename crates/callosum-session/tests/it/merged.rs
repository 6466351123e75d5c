//! Decisions that two checkouts made in the same second, brought together: each is one of its own.

use callosum_session::{
    Config, EvidenceKind, NewHandoff,
    bead::{Bead, Sheet},
    divergence::forks,
    evidence::{Evidence, Relative},
    grounding::Threshold,
    heal::RepairSource,
    notes::Notes,
};

use crate::place::{NOTHING, Place};

/// When both were made.
const TIME: &str = "2026-01-02T03:04:";

/// Decisions of the two checkouts.
struct Two {
    /// The checkout into which the other was merged.
    place: Place,
    /// The entries of the notes and the records of the trajectory, of the grounded decision first.
    entries: [String; 2],
    records: [String; 2],
}

impl Two {
    fn new(with_bead: bool) -> Self {
        let made = [("Grounded A", Some("a.rs:1")), ("Unfounded B", None)].map(|(words, cited)| {
            let place = Place::new();
            if with_bead {
                place.with_current_bead(&["go on"]);
            }
            place.decide(words, cited, EvidenceKind::Nothing);
            place
        });
        let entries = made.each_ref().map(|place| {
            let notes = place.session().notes().unwrap().unwrap();
            notes.decisions()[0].written("\n")
        });
        let records = made.each_ref().map(|place| {
            let file = place.session().trajectory().file_of("2026-01-02").unwrap();
            String::from_utf8(place.disk.read(&file).unwrap()).unwrap()
        });
        let [place, _] = made;
        assert_eq!(entries[0][..25], entries[1][..25], "they share a second");
        Self {
            place,
            entries,
            records,
        }
    }

    /// Puts these entries and records into the one checkout, in this order.
    fn merge(&self, entries: &[usize], records: &[usize]) {
        let (disk, zones) = (&self.place.disk, &self.place.zones);
        let block: Vec<&str> = entries.iter().map(|at| &*self.entries[*at]).collect();
        let notes = String::from_utf8(disk.read(&zones.notes()).unwrap()).unwrap();
        let start = notes
            .find("#### ")
            .unwrap_or_else(|| notes.find("### Pending").unwrap());
        let end = notes.find("### Pending").unwrap();
        let merged = format!(
            "{}{}\n\n{}",
            &notes[..start],
            block.join("\n\n"),
            &notes[end..]
        );
        disk.replace(&zones.notes(), merged.as_bytes(), 0o644)
            .unwrap();
        let lines: String = records.iter().map(|at| &*self.records[*at]).collect();
        let file = self
            .place
            .session()
            .trajectory()
            .file_of("2026-01-02")
            .unwrap();
        disk.replace(&file, lines.as_bytes(), 0o644).unwrap();
    }

    fn check(&self) -> (String, String) {
        let checked = self.place.check(&Config::default());
        let mut lines = checked.steps[0].said.iter();
        let lines = [lines.next(), lines.next_back()].map(|line| line.cloned().unwrap_or_default());
        let [first, last] = lines;
        (first, last)
    }

    fn counted(&self) -> (usize, usize) {
        let grounding = self.place.check(&Config::default()).grounding;
        (grounding.grounded(), grounding.total())
    }
}

/// LOA-GRD-1: whichever of two decisions of one second is recorded later, each counts, and the gate stays closed until both
/// have evidence.
#[test]
fn two_decisions_of_one_second_are_two_claims() {
    for with_bead in [false, true] {
        let two = Two::new(with_bead);
        for order in [[0, 1], [1, 0]] {
            two.merge(&order, &order);
            let (first, last) = two.check();
            assert_eq!(first, "Cannot clear: 1 decision lacks evidence");
            assert!(last.ends_with(": Unfounded B (no evidence)"), "{last}");
            assert_eq!(two.counted(), (1, 2));
            let session = two.place.session();
            let held = session.hold().unwrap();
            assert!(
                held.hand_off(&NewHandoff::default(), &Config::default())
                    .is_err()
            );
            let seed = session.recorded_since_handoff(callosum_session::ClaimScope::Everyone);
            let tree =
                callosum_session::evidence::Tree::new(&two.place.disk, &two.place.zones.tree);
            let seed = callosum_session::grounding::Grounding::of(&seed.unwrap(), &tree);
            let lines = seed.lines(&Threshold::default());
            assert!(
                lines.starts_with("total_claims=2\ngrounded_claims=1\n"),
                "{lines}"
            );
        }
    }
}

/// LOA-GRD-1: the name that a check prints tells the two apart, and what is cited by it grounds the one that is meant.
#[test]
fn one_of_two_decisions_of_a_second_is_made_good_by_its_name() {
    let two = Two::new(false);
    two.merge(&[0, 1], &[1, 0]);
    let checked = two.place.check(&Config::default());
    let message = checked.steps[0].said.join("\n");
    let name = message.split('\'').nth(1).unwrap();
    assert!(
        name.starts_with(TIME) && name.ends_with("Z - Unfounded B"),
        "{message}"
    );
    let place = Evidence::parse("a.rs:2", Relative::Accepted).unwrap();
    let session = two.place.session();
    session.hold().unwrap().cite(name, &[place]).unwrap();
    assert_eq!(two.counted(), (2, 2));
    let read = session
        .since_handoff(callosum_session::ClaimScope::Everyone)
        .unwrap();
    let claims: Vec<_> = callosum_session::grounding::claims(&read.recorded.records);
    let notes = session.notes().unwrap().unwrap();
    let tree = callosum_session::evidence::Tree::new(&two.place.disk, &two.place.zones.tree);
    let none: &[(String, Bead)] = &[];
    assert_eq!(forks(none, &notes, &claims, &tree), []);
}

/// LOA-GRD-1, LOA-HEAL-1: a merge that kept one of the entries loses neither claim, and the other entry is healed.
#[test]
fn an_entry_that_a_merge_dropped_counts_and_is_healed() {
    for kept in [0, 1] {
        let two = Two::new(false);
        two.merge(&[kept], &[0, 1]);
        assert_eq!(two.counted(), (1, 2));
        let held = two.place.session().hold().unwrap();
        let healed = held.heal(&NOTHING).unwrap();
        assert!(
            healed
                .iter()
                .any(|one| one.from == RepairSource::Trajectory),
            "{healed:?}"
        );
        drop(held);
        let notes = two.place.disk.read(&two.place.zones.notes()).unwrap();
        let notes = Notes::read(notes);
        let mut titles: Vec<String> = notes
            .decisions()
            .into_iter()
            .map(|made| made.title)
            .collect();
        titles.sort();
        assert_eq!(titles, ["Grounded A", "Unfounded B"]);
        assert_eq!(two.counted(), (1, 2));
    }
}

/// LOA-GRD-1: a decision whose words a person changed stays one, also where it is cited then.
#[test]
fn a_restated_decision_stays_one() {
    let place = Place::new();
    place.decide("Use one", None, EvidenceKind::Nothing);
    let notes = String::from_utf8(place.disk.read(&place.zones.notes()).unwrap()).unwrap();
    let changed = notes.replace(
        "- Use one\n**Decision**: Use one",
        "- Use two\n**Decision**: Use two",
    );
    place
        .disk
        .replace(&place.zones.notes(), changed.as_bytes(), 0o644)
        .unwrap();
    let session = place.session();
    let ts = session.notes().unwrap().unwrap().decisions()[0].ts.clone();
    let cited = Evidence::parse("a.rs:2", Relative::Accepted).unwrap();
    session.hold().unwrap().cite(&ts, &[cited]).unwrap();
    let grounding = place.check(&Config::default()).grounding;
    assert_eq!((grounding.grounded(), grounding.total()), (1, 1));
    assert_eq!(grounding.claims[0].claim.decision.as_ref(), Some(&ts));
    let held = session.hold().unwrap();
    let healed = held.heal(&NOTHING).unwrap();
    let of_notes = |one: &&callosum_session::heal::Healed| one.file.ends_with("NOTES.md");
    assert_eq!(healed.iter().find(of_notes), None);
}

/// LOA-GRD-1: what a merge brings into the file of an earlier day, or of another agent, counts although a hand-off was made since:
/// that covers what was there when it was made, and no more.
#[test]
fn a_hand_off_covers_what_was_there_and_no_more() {
    let place = Place::new();
    let disk = &place.disk;
    let record = |agent: &str, second: u8, words: &str| {
        format!(
            r#"{{"ts":"2026-01-01T00:00:0{second}Z","agent":"{agent}","phase":"cite","decision":"2026-01-01T00:00:0{second}Z","claim":"{words}","grounding":"none"}}"#
        )
    };
    let counted = || place.check(&Config::default()).grounding.total();
    for agent in ["implementing-tasks", "reviewing-code"] {
        let file = place
            .zones
            .trajectories()
            .join(format!("{agent}-2026-01-01.jsonl"));
        let mut text = format!("{}\n", record(agent, 1, &format!("Ours of {agent}")));
        disk.create_dir_all(file.parent().unwrap()).unwrap();
        disk.replace(&file, text.as_bytes(), 0o644).unwrap();
        place.decide("Later", None, EvidenceKind::Nothing);
        assert_eq!(counted(), 2, "{agent}");
        let session = place.session();
        let forced = NewHandoff {
            is_forced: true,
            ..NewHandoff::default()
        };
        let over = |left: usize| {
            let held = session.hold().unwrap();
            held.hand_off(&forced, &Config::default()).unwrap();
            drop(held);
            assert_eq!(counted(), left, "{agent}");
        };
        over(0);
        // A merge puts theirs before ours as well as behind it.
        for (before, second, words) in [(false, 2, "Theirs"), (true, 3, "Too")] {
            let words = format!("{words} of {agent}");
            let new = format!("{}\n", record(agent, second, &words));
            text = if before { new + &text } else { text + &new };
            disk.replace(&file, text.as_bytes(), 0o644).unwrap();
            let checked = place.check(&Config::default());
            let claims: Vec<_> = checked
                .grounding
                .claims
                .iter()
                .map(|one| &one.claim.text)
                .collect();
            assert_eq!(claims, [&words]);
            over(0);
        }
    }
}

/// LOA-GRD-1, LOA-BEAD-1: a bead's two decisions of one second both count, and what is cited by the name of one reaches that one.
#[test]
fn two_decisions_of_one_second_in_a_bead_are_two() {
    let place = Place::new();
    let id = place.with_current_bead(&["go on"]);
    place.decide("Grounded A", Some("a.rs:1"), EvidenceKind::Nothing);
    let path = place.session().beads().path(&id).unwrap();
    let text = String::from_utf8(place.disk.read(&path).unwrap()).unwrap();
    let ts = place.session().notes().unwrap().unwrap().decisions()[0]
        .ts
        .clone();
    let read = |text: &str| Sheet::read(text).unwrap();
    let bead = || {
        let text = String::from_utf8(place.disk.read(&path).unwrap()).unwrap();
        Bead::of(read(&text).members())
    };
    let other = format!("- ts: \"{ts}\"\n    decision: Unfounded B\n");
    let at = text.find("test_scenarios:").unwrap();
    let text = format!("{}  {other}{}", &text[..at], &text[at..]);
    place.disk.replace(&path, text.as_bytes(), 0o644).unwrap();
    assert_eq!(bead().uncounted, [""; 0]);
    let checked = || place.check(&Config::default()).grounding;
    let named: Vec<_> = checked()
        .claims
        .iter()
        .filter_map(|one| one.claim.decision.clone())
        .collect();
    assert_eq!(named, [ts.clone(), format!("{ts} - Unfounded B")]);
    assert_eq!((checked().grounded(), checked().total()), (1, 2));
    let cited = Evidence::parse("a.rs:2", Relative::Accepted).unwrap();
    let held = place.session().hold().unwrap();
    held.cite(&named[1], &[cited]).unwrap();
    drop(held);
    assert_eq!((checked().grounded(), checked().total()), (2, 2));
    let made = bead().decisions;
    let last = made.last().unwrap();
    assert_eq!(
        (&*last.ts, &*last.decision, last.evidence.len()),
        (&*ts, "Unfounded B", 1)
    );
}
