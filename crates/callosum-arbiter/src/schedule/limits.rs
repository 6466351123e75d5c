//! [`Limits`]: bounds on concurrency, and the pauses of a schedule.

use std::{fmt, ops::RangeInclusive, time::Duration};

use crate::recovery::RecoveryPolicy;

/// Limits that a schedule keeps.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Most tasks at once.
    pub concurrency: Concurrency,
    /// The pause between the starts of two staggered tasks.
    pub stagger: Duration,
    /// Rules for failures.
    pub recovery: RecoveryPolicy,
}

/// The pause between the starts of two staggered tasks (Seed CAL §4.3).
pub const DEFAULT_STAGGER: Duration = Duration::from_millis(500);

impl Default for Limits {
    fn default() -> Self {
        Self {
            concurrency: Concurrency::default(),
            stagger: DEFAULT_STAGGER,
            recovery: RecoveryPolicy::default(),
        }
    }
}

/// Most tasks at once: 3 to 12, by default 5 (REQ-SYS-005, REQ-ARB-002).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Concurrency(u8);

impl Concurrency {
    /// Allowed values.
    pub const RANGE: RangeInclusive<u8> = 3..=12;

    /// Takes a number within the range.
    pub fn new(tasks: u8) -> Result<Self, ConcurrencyError> {
        if Self::RANGE.contains(&tasks) {
            Ok(Self(tasks))
        } else {
            Err(ConcurrencyError { tasks })
        }
    }

    /// The number.
    pub fn get(self) -> usize {
        usize::from(self.0)
    }
}

impl Default for Concurrency {
    fn default() -> Self {
        Self(5)
    }
}

impl fmt::Display for Concurrency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A concurrency outside of the range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot run {tasks} tasks at once (allowed: {} to {})", Concurrency::RANGE.start(), Concurrency::RANGE.end())]
pub struct ConcurrencyError {
    /// Number that was asked for.
    pub tasks: u8,
}
