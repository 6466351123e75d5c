//! `callosum doctor`: what works here, what is missing, and how to mend it.
//!
//! Start with [`run`], which lists what is looked at. Each part adds lines to the [`Checks`]: [`machine`] where
//! things lie and what the system has, [`ledger`], [`executors`], [`command_files`], [`finding`]; guard, sessions, zones, mesh and
//! daemon have files beside this folder.

mod command_files;
mod executors;
mod finding;
mod instructions;
mod ledger;
mod login_shell;
mod machine;
mod ownership;

use std::fmt::Write as _;

use clap::Args;
use owo_colors::OwoColorize as _;
use schemars::JsonSchema;
use serde::Serialize;

use super::{context::Context, continuity, guarding, meshing, serving, zoning};
use crate::ui::{CommandError, Exit, Progress};

/// Say what works here, what is missing, and how to mend it
///
/// Changes nothing but for a probe file that it removes again. Exits with 1 where something that
/// the main job needs does not work.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum doctor
  $ callosum doctor --json")]
pub(crate) struct DoctorArgs {}

/// `callosum doctor --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct DoctorOutput {
    /// Whether everything works that the main job needs.
    pub(crate) works: bool,
    /// What was looked at, in order.
    pub(crate) checks: Vec<CheckLine>,
}

/// One thing that was looked at.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct CheckLine {
    /// What.
    pub(crate) name: String,
    /// `ok`, `warning` or `failed`.
    pub(crate) outcome: String,
    /// What was found.
    pub(crate) found: String,
    /// How to mend it.
    pub(crate) hint: Option<String>,
}

/// How a check came out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Ok,
    Warning,
    Failed,
}

#[derive(Default)]
pub(super) struct Checks(Vec<CheckLine>);

impl Checks {
    pub(super) fn add(
        &mut self,
        name: &str,
        outcome: Outcome,
        found: impl Into<String>,
        hint: Option<&str>,
    ) {
        let outcome = match outcome {
            Outcome::Ok => "ok",
            Outcome::Warning => "warning",
            Outcome::Failed => "failed",
        };
        self.0.push(CheckLine {
            name: name.to_owned(),
            outcome: outcome.to_owned(),
            found: found.into(),
            hint: hint.map(str::to_owned),
        });
    }
}

pub(super) fn run(context: &Context, _args: &DoctorArgs) -> Result<(), CommandError> {
    let progress = Progress::start(context.ui, "looking around");
    let mut checks = Checks::default();
    machine::check_root(context, &mut checks);
    machine::check_homes(context, &mut checks);
    check_configuration(context, &mut checks);
    ownership::check(context, &mut checks);
    ledger::check(context, &mut checks);
    executors::check(context, &mut checks);
    executors::check_confinement(context, &mut checks);
    login_shell::check(context, &mut checks);
    guarding::check(context, &mut checks);
    command_files::check(context, &mut checks);
    serving::check(context, &mut checks);
    continuity::check(context, &mut checks);
    zoning::check(context, &mut checks);
    instructions::check(context, &mut checks);
    meshing::check(context, &mut checks);
    finding::check(context, &mut checks);
    machine::check_needs(&mut checks);
    drop(progress);
    let output = DoctorOutput {
        works: checks.0.iter().all(|check| check.outcome != "failed"),
        checks: checks.0,
    };
    if context.ui.json {
        context.ui.json_data(&output)?;
    } else {
        context.ui.data(&as_text(&output))?;
    }
    if output.works {
        Ok(())
    } else {
        Err(CommandError::told(Exit::No))
    }
}

fn check_configuration(context: &Context, checks: &mut Checks) {
    let settings = &context.project.settings;
    if settings.warnings.is_empty() {
        checks.add("configuration", Outcome::Ok, "in order", None);
    }
    for warning in &settings.warnings {
        let hint = Some("callosum config show --origin");
        checks.add("configuration", Outcome::Warning, warning.to_string(), hint);
    }
    for waiting in &context.project.waiting {
        let found = format!(".calrc `{}` waits to be trusted", waiting.key.name());
        checks.add(
            "trust",
            Outcome::Warning,
            found,
            Some("callosum trust --list"),
        );
    }
}

fn as_text(output: &DoctorOutput) -> String {
    let mut text = String::new();
    for check in &output.checks {
        let outcome = match check.outcome.as_str() {
            "ok" => "ok     ".green().to_string(),
            "warning" => "warning".yellow().to_string(),
            _ => "failed ".red().to_string(),
        };
        let _ = writeln!(text, "{outcome} {}: {}", check.name, check.found);
        if let Some(hint) = &check.hint {
            let _ = writeln!(text, "        {} {hint}", "hint:".cyan());
        }
    }
    text
}
