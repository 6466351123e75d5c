//! [`Tracker`]: hysteresis, so that a screen in the middle of a redraw does not change a state.

use std::time::Duration;

use jiff::Timestamp;

use crate::state::{Assessment, Signal, State};

/// Time for which an agent that worked must look idle before it is. Clients redraw in two steps.
pub const QUIET: Duration = Duration::from_millis(400);

/// Time without knowledge after which a known state is given up.
const PUZZLED: Duration = Duration::from_secs(1);

/// Looks in which a change must have been seen.
const LOOKS: u32 = 2;

/// Follows one pane over time.
#[derive(Clone, Debug)]
pub struct Tracker {
    /// State that is believed.
    current: Assessment,
    /// Since when.
    since: Timestamp,
    /// Another state: which, since when, and in how many looks.
    candidate: Option<(State, Timestamp, u32)>,
}

impl Tracker {
    /// Returns a tracker that believes the first assessment.
    pub fn new(first: Assessment, now: Timestamp) -> Self {
        Self {
            current: first,
            since: now,
            candidate: None,
        }
    }

    /// Returns what is believed.
    pub fn current(&self) -> &Assessment {
        &self.current
    }

    /// Returns since when the state has been the same.
    pub fn since(&self) -> Timestamp {
        self.since
    }

    /// Takes up `since` from a registry that knew the same state before this process did.
    pub fn resume(&mut self, state: State, since: Timestamp) {
        if state == self.current.state && since < self.since {
            self.since = since;
        }
    }

    /// Whether a change waits for another look.
    pub fn is_unsettled(&self) -> bool {
        self.candidate.is_some()
    }

    /// Takes the next assessment. Returns whether the state changed.
    pub fn update(&mut self, next: Assessment, now: Timestamp) -> bool {
        if next.state == self.current.state {
            self.current = next;
            self.candidate = None;
            return false;
        }
        let patience = patience(&self.current, &next);
        let (since, looks) = match self.candidate {
            // A clock that was set back must not keep a change waiting for ever.
            Some((state, since, looks)) if state == next.state && since <= now => {
                (since, looks + 1)
            }
            _ => (now, 1),
        };
        let waited = now.duration_since(since).unsigned_abs();
        if patience.is_zero() || (waited >= patience && looks >= LOOKS) {
            self.current = next;
            self.since = since;
            self.candidate = None;
            return true;
        }
        self.candidate = Some((next.state, since, looks));
        false
    }
}

/// Returns how long a change must last to be believed.
fn patience(current: &Assessment, next: &Assessment) -> Duration {
    let is_event = next
        .evidence
        .first()
        .is_some_and(|evidence| matches!(evidence.signal, Signal::Process | Signal::Hook));
    match next.state {
        _ if is_event => Duration::ZERO,
        State::Unknown if current.state != State::Unknown => PUZZLED,
        state if state.takes_prompt() && !current.state.takes_prompt() => QUIET,
        _ => Duration::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Evidence;

    fn seen(state: State, signal: Signal) -> Assessment {
        Assessment {
            evidence: vec![Evidence {
                signal,
                rule: String::new(),
                text: String::new(),
            }],
            ..Assessment::new(state)
        }
    }

    fn at(milliseconds: i64) -> Timestamp {
        Timestamp::from_millisecond(1_000_000_000 + milliseconds).unwrap()
    }

    fn tracker(states: &[(State, i64)]) -> Tracker {
        let mut tracker = Tracker::new(seen(State::Working, Signal::Screen), at(0));
        for (state, time) in states {
            tracker.update(seen(*state, Signal::Screen), at(*time));
        }
        tracker
    }

    #[test]
    fn a_worker_is_idle_after_it_looked_idle_for_a_while() {
        let one = tracker(&[(State::TrulyIdle, 200)]);
        assert_eq!(
            (one.current().state, one.is_unsettled()),
            (State::Working, true)
        );
        let late = tracker(&[(State::TrulyIdle, 200), (State::TrulyIdle, 700)]);
        assert_eq!(
            (late.current().state, late.since()),
            (State::TrulyIdle, at(200))
        );
        let flicker = tracker(&[
            (State::TrulyIdle, 200),
            (State::Working, 300),
            (State::TrulyIdle, 700),
        ]);
        assert_eq!(flicker.current().state, State::Working);
    }

    #[test]
    fn a_dialog_and_a_hook_count_at_once() {
        assert_eq!(
            tracker(&[(State::BlockedOnApproval, 1)]).current().state,
            State::BlockedOnApproval
        );
        let mut stopped = tracker(&[]);
        assert!(stopped.update(seen(State::TaskComplete, Signal::Hook), at(1)));
    }

    #[test]
    fn a_screen_that_is_torn_for_a_moment_changes_nothing() {
        let torn = tracker(&[
            (State::Unknown, 10),
            (State::Unknown, 400),
            (State::Working, 500),
        ]);
        assert_eq!(torn.current().state, State::Working);
        let lost = tracker(&[
            (State::Unknown, 10),
            (State::Unknown, 400),
            (State::Unknown, 1_100),
        ]);
        assert_eq!(lost.current().state, State::Unknown);
    }

    #[test]
    fn a_clock_that_was_set_back_delays_one_look_and_no_more() {
        let mut tracker = tracker(&[(State::TrulyIdle, 200)]);
        tracker.update(seen(State::TrulyIdle, Signal::Screen), at(-90_000));
        assert!(tracker.update(seen(State::TrulyIdle, Signal::Screen), at(-89_000)));
    }

    #[test]
    fn a_registry_that_knew_the_state_before_gives_its_age() {
        let mut tracker = tracker(&[]);
        tracker.resume(State::Working, at(-5_000));
        assert_eq!(tracker.since(), at(-5_000));
        tracker.resume(State::TrulyIdle, at(-9_000));
        assert_eq!(tracker.since(), at(-5_000));
    }
}
