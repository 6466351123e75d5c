//! [`Outcomes`]: how calls of a symbol went at each target, so that failures change the next decision.

use std::{collections::HashMap, sync::Mutex};

use serde::{Deserialize, Serialize};

use super::locked;

/// Counts above which both are halved, so that old outcomes lose weight.
const MOST: u32 = 64;

/// Past calls of a symbol at a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Past {
    /// Calls that succeeded.
    pub successes: u32,
    /// Calls that failed.
    pub failures: u32,
}

/// Past calls of all symbols at all targets.
#[derive(Debug, Default)]
pub(super) struct Outcomes(Mutex<HashMap<(u32, u32), Past>>);

impl Past {
    /// Returns the expected share of successes, from 0 to 1. Without past calls it is one half.
    pub fn success_rate(self) -> f64 {
        let successes = f64::from(self.successes);
        (successes + 1.0) / (successes + f64::from(self.failures) + 2.0)
    }

    fn record(&mut self, is_success: bool) {
        if is_success {
            self.successes += 1;
        } else {
            self.failures += 1;
        }
        if self.successes + self.failures > MOST {
            self.successes /= 2;
            self.failures /= 2;
        }
    }
}

impl Outcomes {
    /// Counts a call of a symbol at a target.
    pub(super) fn record(&self, symbol: u32, target: u32, is_success: bool) {
        let mut outcomes = locked(&self.0);
        outcomes
            .entry((symbol, target))
            .or_default()
            .record(is_success);
    }

    /// Returns the past calls of a symbol at each of these targets.
    pub(super) fn past(&self, symbol: u32, targets: impl Iterator<Item = u32>) -> Vec<Past> {
        let outcomes = locked(&self.0);
        targets
            .map(|target| outcomes.get(&(symbol, target)).copied().unwrap_or_default())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_outcomes_lose_weight() {
        let mut past = Past::default();
        for _ in 0..1_000 {
            past.record(false);
        }
        assert!(past.success_rate() < 0.05);
        for _ in 0..200 {
            past.record(true);
        }
        assert!(past.success_rate() > 0.9, "{past:?}");
    }
}
