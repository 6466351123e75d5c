//! [`Actions`]: output of a schedule, and [`Outcome`], its input.

use std::time::Duration;

use callosum_ledger::ErrorCode;

use crate::{budget::Bound, mode::Decision, task::TaskIndex};

/// Tasks to start now, and the event to wait for afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actions {
    /// The tasks to start, in this order.
    pub starts: Vec<Start>,
    /// The tasks that have ended without being started, or before being started again, since the
    /// last turn.
    pub dropped: Vec<(TaskIndex, Ending)>,
    /// Next event.
    pub then: WakeUp,
}

/// A task that is to start now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// The task.
    pub task: TaskIndex,
    /// Number of earlier tries.
    pub retries: u32,
    /// Mode in which it runs, and the reason; the same for each try.
    pub decision: Decision,
}

/// Next event after a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WakeUp {
    /// Ask again when a running task has finished, or at this time of the run if that is earlier.
    WaitUntil(Duration),
    /// Ask again when a running task has finished.
    WaitForEvent,
    /// Every task has ended.
    Done,
}

/// Result of one try of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Its answer is in the ledger.
    Committed,
    /// It failed; a failure without a code is one that a further try would not change.
    Failed(Option<ErrorCode>),
    /// A limit refused it that is lifted after so long; it is tried again then, however few retries there are.
    Limited(Duration),
    /// Its answer is there, and only the ledger did not take it; the executor is not asked again.
    Uncommitted(ErrorCode),
    /// It was sent back once already, and a further try would not change it.
    Refused(ErrorCode),
    /// It failed because the ledger takes nothing any more in this run; to try again is useless.
    Unstorable(ErrorCode),
    /// It was not started: a bound of the tree of tasks was reached, for it and all others.
    OverBudget(Bound),
    /// It was interrupted.
    Cancelled,
}

/// Consequence of a try's outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consequence {
    /// The task runs again.
    Retry {
        /// The number of this retry, from 1.
        retry: u32,
        /// The earliest time of the run at which it starts.
        at: Duration,
    },
    /// The task is over.
    Ended(Ending),
}

/// Final status of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Its answer is in the ledger.
    Committed,
    /// Its last try failed.
    Failed(Option<ErrorCode>),
    /// It was never started, because a task that it builds on did not succeed.
    DependencyFailed {
        /// That task.
        on: TaskIndex,
    },
    /// It was interrupted, or never started because the whole run was.
    Cancelled,
    /// It was never started, or not again, because a bound of the tree of tasks was reached.
    OverBudget(Bound),
    /// It was never started, or not again, because results can no longer be stored.
    Halted {
        /// The task whose failure showed it.
        by: TaskIndex,
    },
}
