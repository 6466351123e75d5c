//! The user's policy for the guard: strictness, rules of their own, and permissions.
//!
//! Plain values, from any source.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    permission::Permission,
    rule::{Severity, Strictness},
    secret_list::SecretReads,
    verdict::Decision,
};

/// The rule of those who want to be asked about everything, and its reason.
pub(crate) const CONFIRM: (&str, &str) = (
    "config.confirm",
    "the configuration requires a person to confirm everything",
);

/// Settings for decisions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Policy {
    /// Limit on the danger that the guard tolerates.
    pub strictness: Strictness,
    /// Rules of the user, which check commands in addition to the built-in ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<UserRule>,
    /// Permissions of a person. They lift a question, never a block.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub permissions: Vec<Permission>,
    /// The same, each for one command that needs it and no further one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub once: Vec<Permission>,
    /// Whether a person is to be asked about everything that would otherwise be allowed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub confirm: bool,
    /// Whether local changes may be discarded in a linked worktree that a client made for its agent.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub relaxed_worktrees: bool,
    /// Decisions that a person set for single rules, by the rule's id. They count at any
    /// strictness.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub levels: BTreeMap<String, Decision>,
    /// The answer for what is too large to be looked at: to ask, or to block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_budget: Option<Decision>,
    /// The files whose reading is asked about or blocked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secrets: Option<SecretReads>,
}

impl Policy {
    /// Returns the decision of a rule that matches: what a person set for it, else what its severity comes to.
    pub(crate) fn decision(&self, rule: &str, severity: Severity) -> Decision {
        let by_person = self.levels.get(rule).copied();
        by_person.unwrap_or_else(|| severity.decision(self.strictness))
    }
}

/// A rule as users write it, in the form of the built-in ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserRule {
    /// Its name, as verdicts will say it.
    pub id: String,
    /// The names of the programs it is about.
    pub tools: Vec<String>,
    /// Options of these programs that take the next word.
    #[serde(default)]
    pub takes: String,
    /// Patterns; at least one must hold, as in `destroy !--dry-run`. An empty list means always.
    #[serde(default)]
    pub when: Vec<String>,
    /// Severity of a match.
    pub severity: Severity,
    /// The reason, for the agent.
    pub reason: String,
    /// A command that serves the same end.
    #[serde(default)]
    pub alternative: Option<String>,
    /// Commands that it must catch, as a proof of its meaning.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub catches: Vec<String>,
    /// Commands that look alike and that it must let pass.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spares: Vec<String>,
}
