//! `callosum doctor`: what works here, what does not, and the command that fixes it.
//!
//! Start with [`run`], which lists the checks. Each part adds lines to the [`Checks`]: [`machine`] where
//! things lie and what the system has, [`ledger`], [`executors`], [`command_files`], [`finding`], [`heartbeat`]; guard, sessions, zones, mesh and
//! daemon have files beside this folder. [`text`] prints them.

mod command_files;
mod executors;
mod finding;
mod heartbeat;
mod instructions;
mod ledger;
mod login_shell;
mod machine;
mod ownership;
mod text;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    context::Context, continuity, guarding, local_time::LocalTime, meshing, serving, zoning,
};
use crate::ui::{CommandError, Exit};

/// Check the setup and print each problem with the command that fixes it
///
/// Prints at most eight lines: the worst problems first, then a verdict. -v prints every check.
/// Changes nothing: it removes the probe file that it writes. Exits with 1 if a check fails.
/// Warnings do not change the exit code.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum doctor
  $ callosum doctor -v
  $ callosum doctor --json")]
pub(crate) struct DoctorArgs {}

/// `callosum doctor --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct DoctorOutput {
    /// Whether everything works that the main job needs.
    pub(crate) healthy: bool,
    /// Every check, in order.
    pub(crate) checks: Vec<CheckLine>,
}

/// One check.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct CheckLine {
    /// Its name.
    pub(crate) name: String,
    /// `ok`, `warning` or `failed`.
    pub(crate) outcome: String,
    /// What was found.
    pub(crate) found: String,
    /// The command that fixes it.
    pub(crate) hint: Option<String>,
}

/// How a check came out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Ok,
    Warning,
    Failed,
}

/// The checks so far.
#[derive(Default)]
pub(super) struct Checks {
    lines: Vec<CheckLine>,
    set_up: SetUp,
}

/// What is set up and works, by part: `guard` with the clients that it answers, and so on.
#[derive(Default)]
struct SetUp(Vec<(&'static str, Vec<String>)>);

impl SetUp {
    fn add(&mut self, part: &'static str, name: &str) {
        let place = self.0.iter().position(|(known, _)| *known == part);
        let place = place.unwrap_or_else(|| {
            self.0.push((part, Vec::new()));
            self.0.len() - 1
        });
        let names = &mut self.0[place].1;
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }

    /// Returns all of it on one line, which is empty if there is nothing.
    fn line(&self) -> String {
        let parts = self.0.iter();
        let parts: Vec<String> = parts
            .map(|(part, names)| format!("{part}: {}", names.join(", ")))
            .collect();
        match parts.as_slice() {
            [] => String::new(),
            parts => format!("{}\n", parts.join("; ")),
        }
    }
}

impl Checks {
    /// Notes that a part of the setup works, for the summary.
    pub(super) fn has(&mut self, part: &'static str, name: &str) {
        self.set_up.add(part, name);
    }

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
        self.lines.push(CheckLine {
            name: name.to_owned(),
            outcome: outcome.to_owned(),
            found: found.into(),
            hint: hint.map(str::to_owned),
        });
    }
}

pub(super) fn run(context: &Context, _args: &DoctorArgs) -> Result<(), CommandError> {
    let progress = context.report.progress("checking");
    let times = LocalTime::find(context);
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
    heartbeat::check(context, &mut checks);
    heartbeat::check_tokens(context, &times, &mut checks);
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
        healthy: checks.lines.iter().all(|check| check.outcome != "failed"),
        checks: checks.lines,
    };
    if context.ui.json {
        context.ui.json_data(&output)?;
    } else if context.ui.verbose {
        context.ui.data(&text::all(&output.checks, &times))?;
    } else {
        context
            .ui
            .data(&text::summary(&output.checks, &checks.set_up, &times))?;
    }
    if output.healthy {
        Ok(())
    } else {
        Err(CommandError::told(Exit::No))
    }
}

fn check_configuration(context: &Context, checks: &mut Checks) {
    let settings = &context.project.settings;
    if settings.warnings.is_empty() {
        checks.add("configuration", Outcome::Ok, "ok", None);
    }
    for warning in &settings.warnings {
        let hint = Some("callosum config show --origin");
        checks.add("configuration", Outcome::Warning, warning.to_string(), hint);
    }
    for waiting in &context.project.waiting {
        let found = format!(".calrc `{}` is not trusted yet", waiting.key.name());
        checks.add(
            "trust",
            Outcome::Warning,
            found,
            Some("callosum trust --list"),
        );
    }
}
