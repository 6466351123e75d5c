//! [`Task`]: one analysis that a caller asks for.
//!
//! Only data. What follows from it is decided in [`crate::mode`] and [`crate::priority`].

use std::fmt;

use callosum_executor::registry::EMBEDDED_ID;
use callosum_ledger::TaskId;
pub use callosum_scout::Kind;

use crate::{fraction::Fraction, mode::Mode, priority::Priority};

/// One analysis that a caller asks for, before it has an id of the ledger.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// The name by which other tasks of the same submission link to it.
    pub local_id: String,
    /// Prompt of the task.
    pub prompt: String,
    /// Kind among the four analyses; `None` if it is a question and no analysis.
    pub kind: Option<Kind>,
    /// The files and folders that it is about, from the root; empty for the whole tree.
    pub paths: Vec<String>,
    /// The executor that must do it; `None` leaves the choice to the priority.
    pub executor: Option<String>,
    /// The tasks whose results it builds on.
    pub links: Vec<Link>,
    /// Part of the tree that it concerns.
    pub scope: Scope,
    /// File reads that the caller expects it to cost; `None` if there is no estimate.
    pub estimated_io_ops: Option<u64>,
    /// Priority among the tasks that wait.
    pub priority: Priority,
    /// The mode that the caller insists on; `None` leaves the choice to the arbiter.
    pub mode: Option<Mode>,
    /// The share of its citations that must hold; `None` where it is the run's that counts.
    pub require_citations: Option<Fraction>,
    /// The key of the plan's call that it is for; the journal and its entry name it, so that the call can
    /// be asked after.
    pub plan_call: Option<String>,
}

impl Task {
    /// A task with this prompt and otherwise the defaults: a question about the whole tree.
    pub fn new(local_id: impl Into<String>, prompt: impl Into<String>) -> Self {
        Self {
            local_id: local_id.into(),
            prompt: prompt.into(),
            kind: None,
            paths: Vec::new(),
            executor: None,
            links: Vec::new(),
            scope: Scope::Repo,
            estimated_io_ops: None,
            priority: Priority::default(),
            mode: None,
            require_citations: None,
            plan_call: None,
        }
    }

    /// Returns the analysis that an executor is asked for: `scout` knows the four and nothing else,
    /// so that a plain question to it is a scan.
    pub fn kind_for(&self, executor: &str) -> Option<Kind> {
        let default = (executor == EMBEDDED_ID).then(Kind::default);
        self.kind.or(default)
    }
}

/// The name under which it is recorded what was asked: one of the four analyses, or a `question`.
pub fn kind_name(kind: Option<Kind>) -> &'static str {
    kind.map_or("question", Kind::as_str)
}

/// A task's place in its [`Submission`](crate::Submission), from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskIndex(pub usize);

impl fmt::Display for TaskIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A task that another one builds on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Link {
    /// A task of the same submission; it must be committed before the other starts.
    Local(TaskIndex),
    /// A task that the ledger already holds.
    Ledger(TaskId),
}

/// Part of the tree that a task concerns (Seed CAL §4.2, `scope_type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// An independent part.
    Module,
    /// All of it.
    Repo,
}

impl Scope {
    /// Both, as they are named in a task file.
    pub const ALL: [Self; 2] = [Self::Module, Self::Repo];

    /// The name in a task file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Module => "module",
            Self::Repo => "repo",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAL-TEST-1, CAL-EXE-3: only `scout` is asked for an analysis without naming one.
    #[test]
    fn a_plain_question_is_an_analysis_for_scout_alone() {
        let mut task = Task::new("a", "what is here");
        let scan = task.kind_for(EMBEDDED_ID);
        assert_eq!(scan, Some(Kind::default()));
        assert_eq!(kind_name(scan), Kind::default().as_str());
        assert_eq!(task.kind_for("mine"), None);
        assert_eq!(kind_name(None), "question");
        task.kind = Some(Kind::default());
        assert_eq!(task.kind_for("mine"), Some(Kind::default()));
        assert_eq!(TaskIndex(3).to_string(), "3");
        let scopes = Scope::ALL.map(|scope| scope.to_string());
        assert_eq!(scopes, ["module", "repo"]);
    }
}
