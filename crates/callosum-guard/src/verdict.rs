//! Results of a decision: allow, ask or block, by which rule, and how much was understood.
//!
//! These are plain values that go into audit records as they are. Deliberately not here: the form
//! of the answer to a client, which differs from client to client.

use serde::{Deserialize, Serialize};

/// Action for a command or a write. The later, the stricter.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// It may run.
    #[default]
    Allow,
    /// A person is to be asked; if no one can be, it is refused with the reason.
    Ask,
    /// It is refused.
    Block,
}

impl Decision {
    /// Its name as records and corpora spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Block => "block",
        }
    }
}

/// Share of a command that was understood.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    /// Percentage of the commands seen to run that are known by name and by their words; rounded
    /// down, 100 only if nothing is left open.
    pub percent: u8,
    /// The parts that were not understood, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<String>,
}

impl Default for Coverage {
    fn default() -> Self {
        Self {
            percent: 100,
            open: Vec::new(),
        }
    }
}

/// The decision over one command or one write.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The action.
    pub decision: Decision,
    /// The rule that decided, `None` if none had an objection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The reason, in one sentence for the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// A command that serves the same end and that the guard allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alternative: Option<String>,
    /// The part of the command that the rule is about, as it would run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Share that was understood.
    #[serde(default)]
    pub coverage: Coverage,
    /// Whether work in the tree may be lost by it, so that the tree is better kept first. What is
    /// allowed may do so as well.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub destroys: bool,
    /// The files of the project that are overwritten if they exist, and the folders in which any
    /// may be, with a slash behind them: absolute paths. If one exists, the tree is better kept
    /// first as well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overwrites: Vec<String>,
    /// The project's files, by the names in the commands which may lose them, for callers that save
    /// files outside of the repository: absolute paths and patterns. Some may not exist.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub named: Vec<String>,
}

/// One command that would run, and what was held against it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Nesting depth; the outermost commands are at 0.
    pub depth: usize,
    /// The construct that led to it: `sudo`, `bash -c`, `xargs`; empty for a command by itself.
    pub via: String,
    /// Its words as they would run, what is not known shown as `…`.
    pub command: String,
    /// The rules that looked at it, and which of them hold.
    pub looked: Vec<RuleTrace>,
}

/// A rule that looked at a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleTrace {
    /// The rule.
    pub rule: String,
    /// The decision of the rule: `Allow` if it does not hold.
    pub decision: Decision,
}

/// Objection of one rule to one command.
pub(crate) struct RuleMatch {
    pub(crate) decision: Decision,
    pub(crate) rule: String,
    pub(crate) reason: String,
    /// Commands that serve the same end, the best first.
    pub(crate) alternatives: Vec<String>,
    pub(crate) subject: String,
}

/// A verdict and how it came about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explanation {
    /// The verdict.
    pub verdict: Verdict,
    /// Every command that would run, outermost first, in order.
    pub steps: Vec<Step>,
}
