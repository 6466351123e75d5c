//! `callosum constitution`: what plans may do here, by which policies.

mod check;
mod show;
mod sign;

use callosum_arbiter::kernel::{Constitution, Origin, PolicyNote};
use callosum_evidence::terminal::{harmless, on_one_line};
use clap::Subcommand;
use schemars::JsonSchema;
use serde::Serialize;

pub(super) use self::sign::SignedOutput;
use super::context::Context;
use crate::ui::{CommandError, Table};
use callosum_config::Governance;

/// Show, check and sign the policies of plans
///
/// Policies permit or forbid each call of a plan, or require the approval of a person. See
/// `docs/formats/constitution.md`.
#[derive(Debug, Subcommand)]
pub(crate) enum ConstitutionCommand {
    Show(show::ShowArgs),
    Check(check::CheckArgs),
    Sign(sign::SignArgs),
}

/// `callosum constitution show --json`, and `check`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct ConstitutionOutput {
    /// Whether it holds; one that does not permits nothing.
    ok: bool,
    /// What is wrong, where something is.
    problem: Option<String>,
    /// What it is known by in the journal.
    hash: String,
    /// The version that its first line says.
    version: u64,
    /// The policies, in the order of their ids.
    policies: Vec<PolicyOutput>,
}

/// One policy.
#[derive(Debug, JsonSchema, Serialize)]
struct PolicyOutput {
    /// Its id.
    id: String,
    /// Its source: `built-in`, `machine` or `project`.
    origin: String,
    /// `permit`, `ask` or `forbid`.
    effect: String,
    /// Text that a person sees when they are asked.
    ask: Option<String>,
    /// What may be done about its denial.
    hint: Option<String>,
    /// Its text, in Cedar.
    text: String,
}

pub(super) fn run(context: &Context, command: &ConstitutionCommand) -> Result<(), CommandError> {
    match command {
        ConstitutionCommand::Show(args) => show::run(context, args),
        ConstitutionCommand::Check(args) => check::run(context, args),
        ConstitutionCommand::Sign(args) => sign::run(context, args),
    }
}

/// Where it is said what plans may do in this project.
pub(super) fn governance(context: &Context) -> Governance {
    Governance::of(&context.disk, &context.project.homes, context.tree())
}

impl ConstitutionOutput {
    fn of(constitution: &Constitution) -> Self {
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
    fn as_source(&self) -> String {
        let texts: Vec<String> = self
            .policies
            .iter()
            .map(|policy| harmless(&policy.text))
            .collect();
        texts.join("\n\n") + "\n"
    }
}

/// Returns the policies as a table.
fn as_text(output: &ConstitutionOutput) -> String {
    let mut table = Table::new(&["policy", "source", "effect", "text"]);
    for policy in &output.policies {
        let says = policy.ask.as_ref().or(policy.hint.as_ref());
        let says = says.map(|text| on_one_line(text));
        table.row([
            policy.id.clone(),
            policy.origin.clone(),
            policy.effect.clone(),
            says.unwrap_or_default(),
        ]);
    }
    let head = format!("version {}, {}", output.version, output.hash);
    format!("{head}\n{}", table.render())
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

fn origin(origin: Origin) -> &'static str {
    match origin {
        Origin::BuiltIn => "built-in",
        Origin::Machine => "machine",
        Origin::Project => "project",
    }
}
