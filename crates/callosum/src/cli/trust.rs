//! `callosum trust`: what a repository asks for that could run code or write elsewhere.

use std::fmt::Write as _;

use callosum_agents::registry::Executor;
use callosum_ledger::{AuditEvent, Event, Ledger};
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::{context::Context, explain, roster::Roster, store};
use crate::{
    config::{Key, Subject},
    ui::CommandError,
};

/// Allow what this repository brings along and this machine has not seen
///
/// Shows every executor of registry.json that was not registered here, and every path of .calrc
/// that is not the default, and allows them on this machine. A later change asks again.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum trust --list
  $ callosum trust")]
pub(crate) struct TrustArgs {
    /// Show what waits, and allow nothing
    #[arg(long)]
    list: bool,
}

/// `callosum trust --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct TrustOutput {
    /// Executors that were, or are, waiting.
    pub(crate) executors: Vec<WaitingExecutor>,
    /// Settings that were, or are, waiting.
    pub(crate) settings: Vec<WaitingSetting>,
    /// Whether they are allowed now.
    pub(crate) trusted: bool,
}

/// An executor that this machine does not start yet.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct WaitingExecutor {
    /// Its name.
    pub(crate) id: String,
    /// What would be started.
    pub(crate) command_template: String,
    /// The environment variables that it would be given.
    pub(crate) pass_environment: Vec<String>,
}

/// A setting that is not in force yet.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct WaitingSetting {
    /// Its key in `.calrc`.
    pub(crate) key: String,
    /// What would be in force.
    pub(crate) value: String,
}

pub(super) fn run(context: &Context, args: &TrustArgs) -> Result<(), CommandError> {
    let mut roster = Roster::load(context)?;
    let waiting: Vec<Executor> = roster
        .registry()
        .executors()
        .iter()
        .filter(|executor| !roster.is_trusted(executor))
        .cloned()
        .collect();
    let settings: Vec<WaitingSetting> = context
        .project
        .waiting
        .iter()
        .map(|waiting| WaitingSetting {
            key: Key::name(waiting.key).to_owned(),
            value: waiting.setting.value.to_string(),
        })
        .collect();
    let output = TrustOutput {
        executors: waiting
            .iter()
            .map(|executor| WaitingExecutor {
                id: executor.id.clone(),
                command_template: executor.command_template.clone(),
                pass_environment: executor.pass_environment.clone(),
            })
            .collect(),
        settings,
        trusted: !args.list,
    };
    let is_something = !output.executors.is_empty() || !output.settings.is_empty();
    // Shown before it is allowed: what stands in the terminal is what was agreed to.
    if context.ui.json {
        context.ui.json_data(&output)?;
    } else if is_something {
        context.ui.data(&as_text(&output))?;
    } else {
        context.ui.say("nothing waits to be trusted");
    }
    if is_something && !args.list {
        for executor in &waiting {
            roster.trust(executor)?;
        }
        if let Some(hash) = context.project.calrc.fingerprint
            && !output.settings.is_empty()
        {
            let mut trust = context.project.trust.clone();
            trust
                .record(Subject::Calrc(hash))
                .map_err(|error| explain::trust(&error))?;
        }
        // What is trusted may say where the ledger stands, so it is read anew.
        let again = context.anew()?;
        record(&store::open(&again)?, &output)?;
    }
    Ok(())
}

fn record(ledger: &Ledger, output: &TrustOutput) -> Result<(), CommandError> {
    let ids: Vec<&str> = output
        .executors
        .iter()
        .map(|executor| executor.id.as_str())
        .collect();
    let keys: Vec<&str> = output
        .settings
        .iter()
        .map(|setting| setting.key.as_str())
        .collect();
    let event = AuditEvent {
        status: Some("trusted".to_owned()),
        ..AuditEvent::new(Event::Trust)
    };
    store::record(ledger, event.with("executors", ids).with("settings", keys))
}

fn as_text(output: &TrustOutput) -> String {
    let word = if output.trusted { "trusted" } else { "waits" };
    let mut text = String::new();
    for executor in &output.executors {
        let command = executor.command_template.escape_debug();
        let _ = writeln!(text, "{word}: executor {} runs: {command}", executor.id);
        if !executor.pass_environment.is_empty() {
            let names = executor.pass_environment.join(" ");
            let _ = writeln!(text, "  and is given: {}", names.escape_debug());
        }
    }
    for setting in &output.settings {
        let _ = writeln!(
            text,
            "{word}: .calrc `{}` is {}",
            setting.key, setting.value
        );
    }
    text
}
