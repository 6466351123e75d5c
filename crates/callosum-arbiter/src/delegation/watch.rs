//! [`Watch`]: whoever wants to see a delegation while it runs.

use std::time::Duration;

use callosum_agents::runner::Sign;
use callosum_ledger::{ErrorCode, TaskId};

use crate::{mode::Decision, task::TaskIndex};

/// Sees what happens, on the thread on which it happens, and must not block.
pub trait Watch: Sync {
    /// Takes note of something.
    fn notice(&self, task: TaskIndex, notice: Notice<'_>);
}

/// Something that happened to a task.
#[derive(Debug)]
pub enum Notice<'a> {
    /// It has an id, an executor and a mode, and begins.
    Started {
        /// Its id in the ledger.
        id: &'a TaskId,
        /// Who works on it.
        executor: &'a str,
        /// How it runs, and why.
        decision: Decision,
    },
    /// Its executor showed a sign of life.
    Heard(&'a Sign<'a>),
    /// It reached for the ledger and was denied; its words, masked and fit for a terminal.
    Denied(&'a str),
    /// It asked for a host that its entry does not let it reach, for the first time.
    Unreached {
        /// Its executor.
        executor: &'a str,
        /// The host and the port.
        place: &'a str,
        /// Why not.
        reason: &'a str,
    },
    /// It said something to our proxy that asks for no host.
    Unasked {
        /// Its executor.
        executor: &'a str,
        /// What came of it.
        reason: &'a str,
    },
    /// There were more places that it did not reach than are told by name.
    UnreachedBesides {
        /// Its executor.
        executor: &'a str,
        /// How many more.
        places: usize,
    },
    /// A place that its executor may reach was not there.
    Failed {
        /// Its executor.
        executor: &'a str,
        /// The host and the port, masked and harmless to a terminal.
        place: &'a str,
        /// Why.
        reason: &'a str,
    },
    /// Its answer was not taken as it is, and it is asked once more within this try.
    SentBack(&'a str),
    /// A try failed, and there will be another.
    Retrying {
        /// What the failure is called, where it has a code.
        code: Option<ErrorCode>,
        /// Why it failed.
        reason: &'a str,
        /// What is tried.
        again: Again,
        /// How long until the next try.
        pause: Duration,
    },
    /// It is over; how, its report says.
    Ended,
}

/// What is tried once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// To have the executor answer.
    Ask,
    /// To store the answer that is there.
    Commit,
}

/// Nobody watches.
impl Watch for () {
    fn notice(&self, _: TaskIndex, _: Notice<'_>) {}
}
