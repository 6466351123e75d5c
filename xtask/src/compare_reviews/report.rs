//! [`Report`]: what each method found and what that used, as a table and as JSON.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{
    Options,
    method::{Attempt, Method},
    planting::Bug,
    vote::{NEAR, Outcome},
};

/// What the numbers of a scripted model mean.
const NOTE: &str = "Scripted models show only that the comparison runs and what it costs.";

/// All results of one comparison.
pub(super) struct Report<'r> {
    pub(super) options: &'r Options,
    pub(super) models: &'r [String],
    pub(super) bugs: &'r [Bug],
    /// Each method with its attempt at each bug.
    pub(super) methods: Vec<(Method, Vec<Attempt>)>,
    /// Index of the single model that found the most.
    pub(super) best: usize,
}

/// The sum of some attempts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sum {
    pub(super) found: usize,
    pub(super) wrong_line: usize,
    pub(super) not_found: usize,
    pub(super) questions: usize,
    pub(super) failed: usize,
    pub(super) unreadable: usize,
    pub(super) dropped: usize,
    pub(super) out_of_budget: usize,
    pub(super) tokens: u64,
    pub(super) cost_usd: f64,
    pub(super) milliseconds: u64,
}

impl Sum {
    /// Adds the attempts of one method, each at the bug with the same index.
    pub(super) fn of(bugs: &[Bug], attempts: &[Attempt]) -> Self {
        let mut sum = Self::default();
        for (bug, attempt) in bugs.iter().zip(attempts) {
            match Outcome::of(attempt.line, bug.mutation.line) {
                Outcome::Found => sum.found += 1,
                Outcome::WrongLine => sum.wrong_line += 1,
                Outcome::NotFound => sum.not_found += 1,
            }
            sum.questions += attempt.questions;
            sum.failed += attempt.failures.len();
            sum.unreadable += attempt.unreadable;
            sum.dropped += attempt.dropped;
            sum.out_of_budget += usize::from(attempt.is_out_of_budget);
            sum.tokens += attempt.tokens;
            sum.cost_usd += attempt.cost_usd;
            sum.milliseconds += attempt.milliseconds;
        }
        sum
    }

    fn seconds(&self) -> f64 {
        self.milliseconds as f64 / 1000.0
    }

    fn json(&self) -> Value {
        json!({
            "found": self.found,
            "wrong_line": self.wrong_line,
            "not_found": self.not_found,
            "questions": self.questions,
            "failed": self.failed,
            "unreadable": self.unreadable,
            "dropped": self.dropped,
            "out_of_budget": self.out_of_budget,
            "tokens": self.tokens,
            "cost_usd": self.cost_usd,
            "seconds": self.seconds(),
        })
    }
}

impl Report<'_> {
    fn sums(&self) -> Vec<Sum> {
        let attempts = self.methods.iter();
        attempts
            .map(|(_, attempts)| Sum::of(self.bugs, attempts))
            .collect()
    }

    /// Returns what all methods used. What they found has no sum: they looked for the same bugs.
    fn used(&self) -> Sum {
        let mut used = Sum::default();
        for sum in self.sums() {
            used.questions += sum.questions;
            used.failed += sum.failed;
            used.tokens += sum.tokens;
            used.cost_usd += sum.cost_usd;
            used.milliseconds += sum.milliseconds;
        }
        used
    }

    /// Returns the reasons of failed questions, each once.
    pub(super) fn failures(&self) -> Vec<&str> {
        let attempts = self.methods.iter().flat_map(|(_, attempts)| attempts);
        let mut failures: Vec<&str> = attempts
            .flat_map(|attempt| attempt.failures.iter().map(String::as_str))
            .collect();
        failures.sort_unstable();
        failures.dedup();
        failures
    }

    /// Returns whether at least one question got a reply.
    pub(super) fn has_replies(&self) -> bool {
        let used = self.used();
        used.failed < used.questions
    }

    /// Returns the report as JSON.
    pub(super) fn json(&self) -> Value {
        let methods = self.methods.iter().zip(self.sums()).enumerate();
        let methods: Vec<Value> = methods
            .map(|(index, ((method, _), sum))| {
                let mut row = sum.json();
                row["method"] = method.name().into();
                row["models"] = method.models().into();
                row["is_best_single"] = (index == self.best).into();
                row
            })
            .collect();
        let bugs: Vec<Value> = (0..self.bugs.len()).map(|index| self.bug(index)).collect();
        let used = self.used();
        json!({
            "note": NOTE,
            "seed": self.options.seed,
            "tokens_per_method_and_bug": self.options.tokens,
            "lines_that_count_as_the_same": NEAR,
            "models": self.models,
            "bugs": bugs,
            "methods": methods,
            "failures": self.failures(),
            "total": {
                "questions": used.questions,
                "failed": used.failed,
                "tokens": used.tokens,
                "cost_usd": used.cost_usd,
                "seconds": used.seconds(),
            },
        })
    }

    fn bug(&self, index: usize) -> Value {
        let bug = &self.bugs[index];
        let results = self.methods.iter().map(|(method, attempts)| {
            let attempt = &attempts[index];
            json!({
                "method": method.name(),
                "models": method.models(),
                "outcome": Outcome::of(attempt.line, bug.mutation.line).as_str(),
                "line": attempt.line,
                "questions": attempt.questions,
                "failed": attempt.failures.len(),
                "unreadable": attempt.unreadable,
                "dropped": attempt.dropped,
                "is_out_of_budget": attempt.is_out_of_budget,
                "tokens": attempt.tokens,
                "cost_usd": attempt.cost_usd,
                "seconds": attempt.milliseconds as f64 / 1000.0,
            })
        });
        json!({
            "repository": bug.repository(),
            "file": bug.file,
            "line": bug.mutation.line,
            "change": bug.mutation.kind,
            "before": bug.before,
            "after": bug.after,
            "results": results.collect::<Vec<_>>(),
        })
    }

    /// Returns the report as a table, with the note below it.
    pub(super) fn table(&self) -> String {
        let Options { seed, tokens, .. } = self.options;
        let mut table = format!(
            "bugs: {}, seed: {seed}, at most {tokens} tokens for each method and bug, models: {}\n\n",
            self.bugs.len(),
            self.models.join(", "),
        );
        let _ = writeln!(
            table,
            "{:<34} {:>6} {:>11} {:>10} {:>10} {:>9} {:>9} {:>9}",
            "method", "found", "wrong line", "not found", "questions", "tokens", "USD", "seconds"
        );
        let rows = self.methods.iter().zip(self.sums()).enumerate();
        for (index, ((method, _), sum)) in rows {
            let mark = if index == self.best { " *" } else { "" };
            let name = match method {
                Method::Federation(_) => method.name().to_owned(),
                Method::Single(model) | Method::SelfConsistency(model) => {
                    format!("{}, {model}{mark}", method.name())
                }
            };
            let _ = writeln!(
                table,
                "{name:<34} {:>6} {:>11} {:>10} {:>10} {:>9} {:>9.4} {:>9.1}",
                sum.found,
                sum.wrong_line,
                sum.not_found,
                sum.questions,
                sum.tokens,
                sum.cost_usd,
                sum.seconds()
            );
        }
        let used = self.used();
        let _ = writeln!(
            table,
            "{:<34} {:>6} {:>11} {:>10} {:>10} {:>9} {:>9.4} {:>9.1}",
            "total",
            "",
            "",
            "",
            used.questions,
            used.tokens,
            used.cost_usd,
            used.seconds()
        );
        table.push_str("\n* the single best: it found the most of these bugs\n");
        for failure in self.failures() {
            let _ = writeln!(table, "failed: {failure}");
        }
        table.push_str(NOTE);
        table
    }
}

/// Returns the index of the attempts that found the most; of several such, the one that used the fewest tokens.
pub(super) fn best(sums: &[Sum]) -> usize {
    let indexes = 0..sums.len();
    indexes
        .min_by_key(|&index| (usize::MAX - sums[index].found, sums[index].tokens, index))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_found_the_most_with_the_fewest_tokens() {
        let sum = |found, tokens| Sum {
            found,
            tokens,
            ..Sum::default()
        };
        assert_eq!(best(&[sum(1, 1), sum(3, 900), sum(3, 800), sum(3, 800)]), 2);
        assert_eq!(best(&[sum(0, 5), sum(0, 5)]), 0);
    }
}
