//! [`Report`]: outcome of each task.

use std::{path::PathBuf, time::Duration};

use callosum_citation::Review;
use callosum_json::Checksum;
use callosum_ledger::{Entry, ErrorCode, TaskId, WriteError};

use crate::{budget::Bound, mode::Decision, task::Kind};

/// Outcome of a submission.
#[derive(Debug)]
pub struct Report {
    /// One for each task, in the order of the submission.
    pub tasks: Vec<TaskReport>,
    /// The executors that did not pass their last health check (Seed CAL §11.3).
    pub unwell: Vec<String>,
    /// Reason that the journal lacks some records other than the commits, if it does.
    pub unrecorded: Option<WriteError>,
}

/// Outcome of one task.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskReport {
    /// Its name in the submission.
    pub local_id: String,
    /// Its id in the ledger; `None` where it never began.
    pub task_id: Option<TaskId>,
    /// Executor that worked on it, or would have.
    pub executor: String,
    /// Kind of analysis; `None` for a plain question.
    pub kind: Option<Kind>,
    /// Mode in which it ran, and the reasons; `None` if it never began.
    pub decision: Option<Decision>,
    /// Final status.
    pub status: TaskStatus,
    /// Each try that failed, the last one last.
    pub failures: Vec<Failure>,
    /// Time from its first start to its end.
    pub elapsed: Duration,
}

/// Final status of a task.
#[derive(Clone, Debug, PartialEq)]
pub enum TaskStatus {
    /// Its answer is in the ledger.
    Committed {
        /// The entry, as it is stored.
        entry: Box<Entry>,
        /// Review of its citations when it was committed.
        citations: Review,
        /// Tokens of its summary, estimated.
        tokens_returned: u64,
        /// Age of the answer if it came from the ledger, and no executor was asked again.
        reused: Option<Duration>,
    },
    /// Its last try failed.
    Failed,
    /// It never began, because a task that it builds on did not succeed.
    DependencyFailed {
        /// That task's name in the submission.
        on: String,
    },
    /// It was not started, or not again, because a bound of its tree of tasks was reached.
    OverBudget {
        /// Bound that was reached.
        bound: Bound,
    },
    /// It was interrupted, or never began because the run was.
    Cancelled,
    /// It was given up because results could no longer be stored.
    Halted {
        /// The task whose failure showed it, by its name in the submission.
        by: String,
    },
}

/// A try that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The seed's code, where it has one.
    pub code: Option<ErrorCode>,
    /// The failure, on one line.
    pub message: String,
    /// More for diagnosis.
    pub details: Option<String>,
    /// Hash under which the full refused answer is stored.
    pub kept_answer: Option<Checksum>,
    /// Hash under which the part of an answer is stored that arrived before it broke off.
    pub kept_part: Option<Checksum>,
    /// The file of that part, from the project's folder where it is below it.
    pub kept_at: Option<PathBuf>,
    /// The time from the failure to the reset of the limit that caused it, if known.
    pub resets_in: Option<Duration>,
    /// Review of the answer's citations, if it was refused for them.
    pub citations: Option<Box<Review>>,
    /// Whether a further try is not worth making, even if its code suggests one.
    pub is_final: bool,
    /// Whether another request may fare well with this executor all the same: the fault is this request's, or
    /// a person's to mend who knows of it.
    pub spares_executor: bool,
    /// Tokens that the executor says it used for this try.
    pub tokens: u64,
}

impl Failure {
    /// A failure that has only a code and a line, and may not come again.
    pub fn of(code: Option<ErrorCode>, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            details: None,
            kept_answer: None,
            kept_part: None,
            kept_at: None,
            resets_in: None,
            citations: None,
            is_final: false,
            spares_executor: false,
            tokens: 0,
        }
    }
}

impl TaskReport {
    /// The seed's code of why it failed: that of the last failure that has one, since an executor
    /// that is left alone after failing has none.
    pub fn code(&self) -> Option<ErrorCode> {
        let mut codes = self.failures.iter().rev().map(|failure| failure.code);
        codes.find_map(|code| code)
    }

    /// Tokens that executors say they used for the tries that failed.
    pub fn tokens_in_vain(&self) -> u64 {
        let tokens = self.failures.iter().map(|failure| failure.tokens);
        tokens.fold(0, u64::saturating_add)
    }

    /// Whether its answer is in the ledger.
    pub fn is_committed(&self) -> bool {
        matches!(self.status, TaskStatus::Committed { .. })
    }
}
