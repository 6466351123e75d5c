//! `callosum constitution`: policies that decide what plans may do in a project.

mod amendment;
mod governance;
mod governance_error;
mod governance_failed;
pub mod sign;

pub use self::governance::{Governance, Revocation};
pub use self::governance_error::GovernanceError;
pub use self::governance_failed::governance_failed;
pub use self::sign::SignedOutput;

use callosum_plan_run::kernel::{Constitution, Origin, PolicyNote};
use callosum_redact::terminal_escape::harmless;
use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;

/// `callosum constitution show --json`, and `check`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ConstitutionOutput {
    /// Whether it holds; one that does not permits nothing.
    pub ok: bool,
    /// Fault, if there is one.
    pub problem: Option<String>,
    /// Its hash in the journal.
    pub hash: String,
    /// The version that its first line says.
    pub version: u64,
    /// The policies, in the order of their ids.
    pub policies: Vec<PolicyOutput>,
}

/// One policy.
#[derive(Debug, JsonSchema, Serialize)]
pub struct PolicyOutput {
    /// Its id.
    pub id: String,
    /// Its source: `built-in`, `machine` or `project`.
    pub origin: String,
    /// `permit`, `ask` or `forbid`.
    pub effect: String,
    /// Text that a person sees when they are asked.
    pub ask: Option<String>,
    /// Remedy for its denial.
    pub hint: Option<String>,
    /// Its text, in Cedar.
    pub text: String,
}

/// Returns the places of the policies that plans in this project follow.
pub fn governance(context: &Context) -> Governance {
    Governance::of(&context.disk, &context.project.homes, context.tree())
}

impl ConstitutionOutput {
    /// Returns what is printed about a constitution.
    pub fn of(constitution: &Constitution) -> Self {
        let problem = constitution.why_closed().map(str::to_owned);
        Self {
            ok: problem.is_none(),
            problem,
            hash: constitution.hash().to_owned(),
            version: constitution.version(),
            policies: constitution.policies().map(PolicyOutput::of).collect(),
        }
    }

    /// The texts of the policies, for those who want to read or change them.
    pub fn as_source(&self) -> String {
        let texts: Vec<String> = self
            .policies
            .iter()
            .map(|policy| harmless(&policy.text))
            .collect();
        texts.join("\n\n") + "\n"
    }
}

impl PolicyOutput {
    fn of(note: &PolicyNote) -> Self {
        let effect = match (note.forbids, &note.ask) {
            (true, _) => "forbid",
            (false, Some(_)) => "ask",
            (false, None) => "permit",
        };
        Self {
            id: note.id.clone(),
            origin: origin(note.origin).to_owned(),
            effect: effect.to_owned(),
            ask: note.ask.clone(),
            hint: note.hint.clone(),
            text: note.text.clone(),
        }
    }
}

/// Returns the name of the place that a policy comes from.
pub fn origin(origin: Origin) -> &'static str {
    match origin {
        Origin::BuiltIn => "built-in",
        Origin::Machine => "machine",
        Origin::Project => "project",
    }
}
