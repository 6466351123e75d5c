//! The time of day, from the system or fixed by a test.
//!
//! For durations use [`std::time::Instant`]: a measured duration never enters a decision that
//! must be repeatable, so it needs no fake.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use jiff::{SignedDuration, Timestamp};

/// Tells the time of day in UTC; cheap to clone, and clones share a fixed time.
#[derive(Clone)]
pub struct Clock(Source);

#[derive(Clone)]
enum Source {
    System,
    /// The system's, set wrong by so much.
    Shifted(SignedDuration),
    Fixed {
        next_millis: Arc<AtomicI64>,
        step_millis: i64,
    },
}

impl Clock {
    /// The system's clock.
    pub fn system() -> Self {
        Self(Source::System)
    }

    /// Returns a clock that goes as the system's, and is ahead of it by this much, or behind.
    pub fn shifted(by: SignedDuration) -> Self {
        Self(Source::Shifted(by))
    }

    /// Returns a clock that starts at `start`, and advances by `step` at each further question.
    pub fn fixed(start: Timestamp, step: Duration) -> Self {
        Self(Source::Fixed {
            next_millis: Arc::new(AtomicI64::new(start.as_millisecond())),
            step_millis: i64::try_from(step.as_millis()).unwrap_or(i64::MAX),
        })
    }

    /// The time now, cut to whole milliseconds.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that reads the clock"
    )]
    pub fn now(&self) -> Timestamp {
        let system = || Timestamp::now().as_millisecond();
        let millis = match &self.0 {
            Source::System => system(),
            Source::Shifted(by) => {
                let by = i64::try_from(by.as_millis()).unwrap_or(0);
                system().saturating_add(by)
            }
            Source::Fixed {
                next_millis,
                step_millis,
            } => next_millis.fetch_add(*step_millis, Ordering::Relaxed),
        };
        Timestamp::from_millisecond(millis).unwrap_or(Timestamp::MAX)
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Source::System => "Clock::system",
            Source::Shifted(_) => "Clock::shifted",
            Source::Fixed { .. } => "Clock::fixed",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixed_clock_steps_at_each_question_and_shares_its_time() {
        let start: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
        let clock = Clock::fixed(start, Duration::from_secs(1));
        let same = clock.clone();
        assert_eq!(clock.now(), start);
        assert_eq!(same.now() - start, jiff::Span::new().seconds(1).fieldwise());
    }

    #[test]
    fn a_shifted_clock_goes_on_and_is_wrong_by_as_much() {
        let shift = SignedDuration::from_hours(-3);
        let (before, wrong) = (Clock::system().now(), Clock::shifted(shift).now());
        let after = Clock::system().now();
        assert!(before + shift <= wrong && wrong <= after + shift);
    }
}
