//! The age of entries, also under a clock that jumps.

use callosum_intent::delegation::Why;
use jiff::{SignedDuration, Timestamp};

use crate::{call, engine_with_offer, now};

/// Decides at one time, and again after the clock changed by `change`.
fn why_after(change: SignedDuration) -> Why {
    let (engine, symbol) = engine_with_offer("f");
    let asked = call(symbol, 1, 2);
    assert_eq!(engine.decide(&asked, now()).why, Why::Metadata);
    engine.decide(&asked, now() + change).why
}

/// CCOS-DEL-3: an entry is valid for 24 hours.
#[test]
fn an_entry_is_valid_for_24_hours() {
    let day = SignedDuration::from_hours(24);
    let nanosecond = SignedDuration::from_nanos(1);
    assert_eq!(why_after(SignedDuration::ZERO), Why::Hit);
    assert_eq!(why_after(day - nanosecond), Why::Hit);
    assert_eq!(why_after(day), Why::Metadata);
    assert_eq!(why_after(day * 400), Why::Metadata);
}

/// CCOS-DEL-3: a clock that is set back does not make an entry older than 24 hours valid.
#[test]
fn a_clock_that_is_set_back_ends_entries_of_the_future() {
    assert_eq!(why_after(SignedDuration::from_secs(-59)), Why::Hit);
    assert_eq!(why_after(SignedDuration::from_secs(-61)), Why::Metadata);
    assert_eq!(
        why_after(SignedDuration::from_hours(-24 * 400)),
        Why::Metadata
    );
}

/// CCOS-DEL-3: after a jump, the new entry counts from the new time.
#[test]
fn an_entry_that_was_made_after_a_jump_is_valid_from_then_on() {
    let (engine, symbol) = engine_with_offer("f");
    let asked = call(symbol, 1, 2);
    for hours in [0, 48, -48] {
        let then = now() + SignedDuration::from_hours(hours);
        assert_eq!(engine.decide(&asked, then).why, Why::Metadata);
        let later = then + SignedDuration::from_hours(23);
        assert_eq!(engine.decide(&asked, later).why, Why::Hit);
    }
    assert_eq!(engine.len(), 1);
}

#[test]
fn the_first_and_the_last_time_are_times_like_others() {
    let (engine, symbol) = engine_with_offer("f");
    let asked = call(symbol, 1, 2);
    for time in [Timestamp::MIN, Timestamp::MAX, Timestamp::MIN] {
        assert_eq!(engine.decide(&asked, time).why, Why::Metadata);
        assert_eq!(engine.decide(&asked, time).why, Why::Hit);
    }
    engine.take_records().written();
}
