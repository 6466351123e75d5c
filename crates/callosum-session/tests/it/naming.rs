//! Times as names: decisions of one second are distinguished, and none has a time in the future.

use std::time::Duration;

use callosum_host::Clock;
use callosum_session::{
    EvidenceKind, NewDecision,
    recovery::{Recollection, level_1},
};

use crate::place::{NOTHING, Place};

fn decide(place: &Place, words: &str) -> String {
    let held = place.session().hold().unwrap();
    let new = NewDecision {
        decision: words.to_owned(),
        ground: EvidenceKind::UserInput,
        ..NewDecision::default()
    };
    held.decide(&new).unwrap().decision.ts
}

/// LOA-FMT-1: decisions of one second have names of their own that are not ahead of the clock by more
/// than their number in milliseconds, and stay in the order in which they were made, also when they
/// come back from the trajectory.
#[test]
fn decisions_of_one_second_are_named_to_the_millisecond_and_stay_in_order() {
    let at = |time: &str| Clock::fixed(time.parse().unwrap(), Duration::ZERO);
    let mut place = Place::new();
    place.clock = at("2026-01-02T03:04:05.250Z");
    let first = [
        decide(&place, "One"),
        decide(&place, "Two"),
        decide(&place, "Three"),
    ];
    let names = [
        "2026-01-02T03:04:05Z",
        "2026-01-02T03:04:05.250Z",
        "2026-01-02T03:04:05.251Z",
    ];
    assert_eq!(first, names);
    place.clock = at("2026-01-02T03:04:06Z");
    let later = [decide(&place, "Four"), decide(&place, "Five")];
    assert_eq!(later, ["2026-01-02T03:04:06Z", "2026-01-02T03:04:06.001Z"]);
    let recovered = || level_1(&Recollection::gather(&place.session(), 3).unwrap(), 500);
    let newest = "Decided: Five [the user's word]\nDecided: Four [the user's word]\n\
                  Decided: Three [the user's word]\n";
    assert!(recovered().contains(newest), "{}", recovered());
    place.disk.remove_file(&place.zones.notes()).unwrap();
    let held = place.session().hold().unwrap();
    held.heal(&NOTHING).unwrap();
    let notes = place.session().notes().unwrap().unwrap();
    let words: Vec<String> = notes.decisions().into_iter().map(|made| made.ts).collect();
    assert_eq!(words, [&first[..], &later[..]].concat());
    assert!(recovered().contains(newest), "{}", recovered());
}
