//! [`Bounds`]: limits of a tree of tasks, and whether one is reached.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};

/// An amount of US dollars, in ten-thousandths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Money(pub u64);

impl Money {
    /// The amount that a number of dollars is; nothing where it is negative or no number.
    pub fn of_dollars(dollars: f64) -> Self {
        Self((dollars * 10_000.0).round().max(0.0) as u64)
    }

    /// The number of dollars that it is.
    pub fn to_dollars(self) -> f64 {
        self.0 as f64 / 10_000.0
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = if self.0.is_multiple_of(100) { 2 } else { 4 };
        write!(f, "${:.digits$}", self.to_dollars())
    }
}

/// Limits of a tree of tasks; `None` means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    /// Starts of an executor, further tries included.
    pub spawns: Option<u64>,
    /// Tokens that executors say they used.
    pub tokens: Option<u64>,
    /// Cost that executors report.
    pub cost: Option<Money>,
    /// Seconds since the first task.
    pub seconds: Option<u64>,
}

/// Resources that a tree of tasks has used until now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Starts of an executor.
    pub spawns: u64,
    /// Tokens.
    pub tokens: u64,
    /// Money.
    pub cost: Money,
}

/// A bound that was reached: nothing more is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Starts of an executor.
    Spawns(u64),
    /// Tokens.
    Tokens(u64),
    /// Money.
    Cost(Money),
    /// Seconds.
    Seconds(u64),
}

impl Bounds {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The bound that keeps the next task from being started, if one does.
    pub fn reached(&self, spent: &Spent, elapsed: Duration) -> Option<Bound> {
        let spawns = self.spawns.filter(|most| spent.spawns >= *most);
        let tokens = self.tokens.filter(|most| spent.tokens >= *most);
        let cost = self.cost.filter(|most| spent.cost >= *most);
        let seconds = self.seconds.filter(|most| elapsed.as_secs() >= *most);
        spawns
            .map(Bound::Spawns)
            .or(tokens.map(Bound::Tokens))
            .or(cost.map(Bound::Cost))
            .or(seconds.map(Bound::Seconds))
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spawns(most) => write!(f, "max_spawns of {most}"),
            Self::Tokens(most) => write!(f, "max_tokens of {most}"),
            Self::Cost(most) => write!(f, "max_cost of {most}"),
            Self::Seconds(most) => write!(f, "max_seconds of {most}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_reached_at_its_number_and_not_before() {
        let bounds = Bounds {
            spawns: Some(2),
            tokens: Some(100),
            cost: Some(Money::of_dollars(0.5)),
            seconds: Some(3),
        };
        let spent = |spawns, tokens, dollars| Spent {
            spawns,
            tokens,
            cost: Money::of_dollars(dollars),
        };
        let reached = |spent, seconds| bounds.reached(&spent, Duration::from_secs(seconds));
        assert_eq!(reached(spent(1, 99, 0.49), 2), None);
        assert_eq!(reached(spent(2, 0, 0.0), 0), Some(Bound::Spawns(2)));
        assert_eq!(reached(spent(0, 100, 0.0), 0), Some(Bound::Tokens(100)));
        let half = Money::of_dollars(0.5);
        assert_eq!(reached(spent(0, 0, 0.5), 0), Some(Bound::Cost(half)));
        assert_eq!(reached(spent(0, 0, 0.0), 3), Some(Bound::Seconds(3)));
        assert_eq!(Bound::Cost(half).to_string(), "max_cost of $0.50");
        let huge = spent(u64::MAX, u64::MAX, f64::INFINITY);
        assert_eq!(Bounds::default().reached(&huge, Duration::MAX), None);
        assert_eq!(Money::of_dollars(f64::NAN), Money(0));
    }
}
