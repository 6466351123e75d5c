//! [`Circuit`]: the state of one executor's breaker, and what moves it.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// When a circuit opens, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Failures in a row that open it; 0 never does.
    pub failures: u64,
    /// Time that it stays open before one task may try.
    pub pause: Duration,
}

/// Results of an executor's last tries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Circuit {
    /// Failures since its last success.
    pub failures: u64,
    /// When it opened, or a try that was let through began; `None` while it is closed.
    pub opened: Option<Timestamp>,
}

/// Whether a task may be handed to an executor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It may.
    Closed,
    /// It may, as the one that finds out.
    HalfOpen,
    /// It may not, for so long.
    Open {
        /// Rest of the pause.
        left: Duration,
    },
}

impl Circuit {
    /// Whether the executor may get a task at `now`.
    pub fn admits(&self, now: Timestamp, rules: Rules) -> Admission {
        let Some(opened) = self.opened.filter(|_| rules.failures > 0) else {
            return Admission::Closed;
        };
        // A clock that was set back must not keep it open for longer than the pause.
        let since = Duration::try_from(now.duration_since(opened)).unwrap_or_default();
        if since >= rules.pause {
            Admission::HalfOpen
        } else {
            Admission::Open {
                left: rules.pause.saturating_sub(since),
            }
        }
    }

    /// The circuit once a task was let through at `now`: others wait for what it finds out, and
    /// where it never says, for another pause.
    #[must_use]
    pub fn trying(self, now: Timestamp, rules: Rules) -> Self {
        match self.admits(now, rules) {
            Admission::HalfOpen => Self {
                opened: Some(now),
                ..self
            },
            Admission::Closed | Admission::Open { .. } => self,
        }
    }

    /// The circuit after a try that ended at `now`.
    #[must_use]
    pub fn after(self, succeeded: bool, now: Timestamp, rules: Rules) -> Self {
        if succeeded {
            return Self::default();
        }
        let failures = self.failures.saturating_add(1);
        let opens = rules.failures > 0 && failures >= rules.failures;
        Self {
            failures,
            opened: if opens { Some(now) } else { self.opened },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules = Rules {
        failures: 2,
        pause: Duration::from_mins(1),
    };

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_000_000 + seconds).unwrap()
    }

    #[test]
    fn failures_in_a_row_open_it_and_one_try_closes_it() {
        let once = Circuit::default().after(false, at(0), RULES);
        assert_eq!(once.admits(at(0), RULES), Admission::Closed);
        assert_eq!(
            once.after(true, at(1), RULES)
                .after(false, at(2), RULES)
                .failures,
            1
        );
        let open = once.after(false, at(1), RULES);
        let left = Duration::from_secs(50);
        assert_eq!(open.admits(at(11), RULES), Admission::Open { left });
        assert_eq!(open.admits(at(61), RULES), Admission::HalfOpen);
        let trying = open.trying(at(61), RULES);
        assert!(matches!(
            trying.admits(at(62), RULES),
            Admission::Open { .. }
        ));
        assert_eq!(
            trying.after(true, at(63), RULES).admits(at(63), RULES),
            Admission::Closed
        );
        let again = trying.after(false, at(63), RULES);
        assert!(matches!(
            again.admits(at(64), RULES),
            Admission::Open { .. }
        ));
    }

    #[test]
    fn a_clock_that_goes_back_and_rules_that_are_off_keep_no_one_out() {
        let open = Circuit {
            failures: 9,
            opened: Some(at(1_000)),
        };
        let left = RULES.pause;
        assert_eq!(open.admits(at(0), RULES), Admission::Open { left });
        let off = Rules {
            failures: 0,
            ..RULES
        };
        assert_eq!(open.admits(at(0), off), Admission::Closed);
    }
}
