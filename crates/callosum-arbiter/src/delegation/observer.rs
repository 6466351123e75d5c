//! [`Watch`]: observer of a delegation while it runs.

use std::time::Duration;

use callosum_executor::runner::Sign;
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
        /// Executor that works on it.
        executor: &'a str,
        /// Mode in which it runs, and the reasons.
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
        /// Reason that it is not asked.
        reason: &'a str,
    },
    /// It sent something to our proxy that asks for no host.
    Unasked {
        /// Its executor.
        executor: &'a str,
        /// Outcome of the request.
        reason: &'a str,
    },
    /// There were more unreached places than are reported by name.
    UnreachedBesides {
        /// Its executor.
        executor: &'a str,
        /// Number of further places.
        places: usize,
    },
    /// A place that its executor may reach was not there.
    Failed {
        /// Its executor.
        executor: &'a str,
        /// The host and the port, masked and harmless to a terminal.
        place: &'a str,
        /// Reason for it.
        reason: &'a str,
    },
    /// Its answer was not taken as it is, and it is asked once more within this try.
    SentBack(&'a str),
    /// A try failed, and there will be another.
    Retrying {
        /// Code of the failure, if it has one.
        code: Option<ErrorCode>,
        /// Reason that it failed.
        reason: &'a str,
        /// Kind of retry.
        again: RetryNotice,
        /// Pause until the next try.
        pause: Duration,
    },
    /// It is over; how, its report says.
    Ended,
}

/// Kind of retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryNotice {
    /// To have the executor answer.
    Ask,
    /// To store the answer that is there.
    Commit,
}

/// No one watches.
impl Watch for () {
    fn notice(&self, _: TaskIndex, _: Notice<'_>) {}
}
