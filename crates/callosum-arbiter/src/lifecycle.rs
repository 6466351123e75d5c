//! [`State`]: state of an executor's process, from idle to idle again.
//!
//! The whole of Seed CAL §5.1 is one function, [`State::after`]. The driver of a process asks it at
//! each step and records the answer; a step that the table does not have is an error, never a
//! state.

use std::fmt;

/// State of an executor's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// Registered, not started.
    Idle,
    /// Its process works on a task.
    Running,
    /// It answered; the answer waits to be judged and committed.
    AwaitMerge,
    /// Its process is gone; what it left is not yet cleared away.
    Terminated,
}

impl State {
    /// All four, in the order in which a task that succeeds meets them.
    pub const ALL: [Self; 4] = [
        Self::Idle,
        Self::Running,
        Self::AwaitMerge,
        Self::Terminated,
    ];

    /// The name in the audit journal.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Running => "running",
            Self::AwaitMerge => "await_merge",
            Self::Terminated => "terminated",
        }
    }

    /// The state that `trigger` leads to.
    pub fn after(self, trigger: Trigger) -> Result<Self, IllegalTransition> {
        match (self, trigger) {
            (Self::Idle, Trigger::Assigned) => Ok(Self::Running),
            (Self::Running, Trigger::Answered) => Ok(Self::AwaitMerge),
            (Self::Running, Trigger::Broke) | (Self::AwaitMerge, Trigger::Judged) => {
                Ok(Self::Terminated)
            }
            (Self::Terminated, Trigger::CleanedUp) => Ok(Self::Idle),
            (from, trigger) => Err(IllegalTransition { from, trigger }),
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Event that moves a process from one state to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trigger {
    /// It was started with a task.
    Assigned,
    /// It ended with an answer.
    Answered,
    /// It ended without one: a crash, a deadline, an interruption.
    Broke,
    /// Its answer was committed or refused.
    Judged,
    /// Its temporary folder and its pipes are gone.
    CleanedUp,
}

impl Trigger {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Assigned,
        Self::Answered,
        Self::Broke,
        Self::Judged,
        Self::CleanedUp,
    ];

    /// The name in the audit journal.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Assigned => "assigned",
            Self::Answered => "answered",
            Self::Broke => "broke",
            Self::Judged => "judged",
            Self::CleanedUp => "cleaned_up",
        }
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A step that Seed CAL §5.1 does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a process that is `{from}` has no step `{trigger}`")]
pub struct IllegalTransition {
    /// State before the trigger.
    pub from: State,
    /// Trigger that does not fit.
    pub trigger: Trigger,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAL-MSP-1: the table of §5.1, and nothing else.
    #[test]
    fn only_the_five_transitions_of_the_table_are_legal() {
        let mut legal = Vec::new();
        for from in State::ALL {
            for trigger in Trigger::ALL {
                if let Ok(to) = from.after(trigger) {
                    legal.push((from.as_str(), to.as_str()));
                }
            }
        }
        assert_eq!(
            legal,
            [
                ("idle", "running"),
                ("running", "await_merge"),
                ("running", "terminated"),
                ("await_merge", "terminated"),
                ("terminated", "idle"),
            ],
        );
    }

    /// CAL-MSP-1
    #[test]
    fn an_illegal_step_says_which() {
        let refused = State::Idle.after(Trigger::Judged).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "a process that is `idle` has no step `judged`"
        );
    }

    /// CAL-MSP-1, CAL-TEST-1: the journal names each step differently.
    #[test]
    fn each_step_has_a_name_of_its_own() {
        let names = Trigger::ALL.map(|trigger| trigger.to_string());
        assert_eq!(
            names,
            ["assigned", "answered", "broke", "judged", "cleaned_up"]
        );
    }
}
