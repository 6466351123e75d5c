//! [`propose`]: the agent that should own a contested file, since it has more context about it (Seed CALC §12, phase 2).

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::ConflictSide;

/// Points for each line that an agent wrote to the file.
const LINE: u64 = 1;

/// Most lines that count: a generated file says little about knowledge.
const MOST_LINES: u64 = 300;

/// Points for each decision of the agent that cites the file. It weighs as much as a function of fifty lines.
const DECISION: u64 = 50;

/// Most decisions that count.
const MOST_DECISIONS: u64 = 5;

/// Points for a claimed task that names the file: the work there was given to this agent.
const TASK: u64 = 200;

/// An agent's knowledge of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Context {
    /// Number of lines of the file that it added or changed, as far as they are recorded.
    pub lines_written: u64,
    /// Number of its recorded decisions that cite the file.
    pub decisions: u64,
    /// Whether a task that it has claimed names the file.
    pub has_task: bool,
}

impl Context {
    /// Returns the points: one for each line up to 300, 50 for each decision up to five, 200 for a claimed task.
    pub fn points(&self) -> u64 {
        let lines = self.lines_written.min(MOST_LINES) * LINE;
        let decisions = self.decisions.min(MOST_DECISIONS) * DECISION;
        let task = if self.has_task { TASK } else { 0 };
        lines + decisions + task
    }

    /// Describes it for a text, such as `12 lines written, 1 decision`.
    pub fn describe(&self) -> String {
        let plural = |count| if count == 1 { "" } else { "s" };
        let mut text = format!(
            "{} line{} written",
            self.lines_written,
            plural(self.lines_written)
        );
        if self.decisions > 0 {
            let _ = write!(
                text,
                ", {} decision{}",
                self.decisions,
                plural(self.decisions)
            );
        }
        if self.has_task {
            text.push_str(", a task that names the file");
        }
        text
    }
}

/// The proposed owner of a contested file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Proposal {
    /// The side that should own it.
    pub owner: ConflictSide,
    /// The reason, as a part of a sentence.
    pub reason: String,
}

/// Proposes the agent with more context as the owner. With equal points it is the first, which held the lease.
pub fn propose(first: &Context, second: &Context) -> Proposal {
    let (one, other) = (first.points(), second.points());
    let owner = if other > one {
        ConflictSide::Second
    } else {
        ConflictSide::First
    };
    let reason = if one == other {
        "both have the same context, and it held the lease".to_owned()
    } else {
        let (own, others) = match owner {
            ConflictSide::First => (first, second),
            ConflictSide::Second => (second, first),
        };
        format!("{}, against {}", own.describe(), others.describe())
    };
    Proposal { owner, reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(lines_written: u64, decisions: u64, has_task: bool) -> Context {
        Context {
            lines_written,
            decisions,
            has_task,
        }
    }

    /// CALC-FUT-1: the agent with more context about the file is the proposed owner; the lease decides a tie.
    #[test]
    fn the_agent_with_more_context_is_proposed() {
        for (first, second, owner) in [
            (
                context(0, 0, false),
                context(0, 0, false),
                ConflictSide::First,
            ),
            (
                context(3, 0, false),
                context(12, 0, false),
                ConflictSide::Second,
            ),
            (
                context(40, 0, false),
                context(3, 1, false),
                ConflictSide::Second,
            ),
            // A generated file does not outweigh a task and a decision.
            (
                context(9_000, 0, false),
                context(60, 1, true),
                ConflictSide::Second,
            ),
            (
                context(10, 0, true),
                context(100, 1, false),
                ConflictSide::First,
            ),
        ] {
            let proposal = propose(&first, &second);
            assert_eq!(proposal.owner, owner, "{first:?} {second:?}");
        }
    }

    /// Swapping the sides swaps the owner, except in a tie.
    #[test]
    fn a_proposal_does_not_depend_on_the_order_unless_in_a_tie() {
        for lines in [0, 1, 250, 301, 5_000] {
            for decisions in 0..7 {
                let (one, other) = (context(lines, decisions, false), context(77, 2, true));
                let is_tie = one.points() == other.points();
                let straight = propose(&one, &other).owner;
                let swapped = propose(&other, &one).owner;
                assert!(is_tie || straight == swapped.other());
            }
        }
    }
}
