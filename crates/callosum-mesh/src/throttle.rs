//! Rate limit of an agent's events: one in five seconds (Seed CALC §4, layer 1: "5-second per-agent
//! throttle window").

use jiff::{SignedDuration, Timestamp};

/// The window (Seed CALC §4, layer 1).
pub const WINDOW: SignedDuration = SignedDuration::from_secs(5);

/// Returns the wait before an agent may publish again after an event at `last`. `None` if it may at
/// once.
///
/// A last time in the future, as after the clock was set back, makes no agent wait for longer than
/// the window.
pub fn wait(
    last: Option<Timestamp>,
    now: Timestamp,
    window: SignedDuration,
) -> Option<SignedDuration> {
    let since = now.duration_since(last?);
    let left = if since.is_negative() {
        window
    } else {
        window - since
    };
    left.is_positive().then_some(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CALC-L1-2: one event of an agent in five seconds.
    #[test]
    fn the_window_ends_after_five_seconds() {
        let at = |millis| Timestamp::from_millisecond(millis).unwrap();
        assert_eq!(wait(None, at(0), WINDOW), None);
        let left = wait(Some(at(10_000)), at(12_500), WINDOW);
        assert_eq!(left, Some(SignedDuration::from_millis(2_500)));
        assert_eq!(wait(Some(at(10_000)), at(15_000), WINDOW), None);
        assert_eq!(wait(Some(at(60_000)), at(0), WINDOW), Some(WINDOW));
    }
}
