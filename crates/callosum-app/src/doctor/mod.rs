//! Checks what works here, what does not, and which command fixes it.
//!
//! Each part adds its results to the [`Checks`]: [`machine`] the folders and the system, then
//! [`ledger`], [`executors`] and the others. The checks of guard, sessions, zones, mesh and MCP are
//! in sibling modules.

pub mod command_files;
pub mod executors;
pub mod heartbeat;
pub mod instructions;
pub mod ledger;
pub mod login_shell;
pub mod machine;
pub mod ownership;
pub mod search;
pub mod text;

use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;

/// `callosum doctor --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct DoctorOutput {
    /// Whether everything works that the main job needs.
    pub healthy: bool,
    /// Every check, in order.
    pub checks: Vec<CheckLine>,
}

/// One check.
#[derive(Debug, JsonSchema, Serialize)]
pub struct CheckLine {
    /// Its name.
    pub name: String,
    /// `ok`, `warning` or `failed`.
    pub outcome: String,
    /// Finding.
    pub found: String,
    /// The command that fixes it.
    pub hint: Option<String>,
}

/// Result of a check.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The check passed.
    Ok,
    /// Something needs attention, and works.
    Warning,
    /// Something does not work.
    Failed,
}

/// The checks so far.
#[derive(Default)]
pub struct Checks {
    /// The results, in the order of the checks.
    pub lines: Vec<CheckLine>,
    /// The parts that are set up.
    pub set_up: SetUp,
}

/// The parts that are set up and work: `guard` with the clients that it answers, and so on.
#[derive(Default)]
pub struct SetUp(Vec<(&'static str, Vec<String>)>);

impl SetUp {
    /// Adds a name to a part, once.
    pub fn add(&mut self, part: &'static str, name: &str) {
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
    pub fn line(&self) -> String {
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
    pub fn has(&mut self, part: &'static str, name: &str) {
        self.set_up.add(part, name);
    }

    /// Adds the result of a check.
    pub fn add(
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

/// Checks the project's configuration.
pub fn check_configuration(context: &Context, checks: &mut Checks) {
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
