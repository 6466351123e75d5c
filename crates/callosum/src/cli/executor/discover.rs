//! `callosum executor discover`: known programs that are installed.

use callosum_agents::{discover::find_in_path, registry::Status};
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::check::{enter, shake_hands};
use crate::{
    cli::{context::Context, roster::Roster, store},
    ui::{CommandError, Table},
};

/// Find known executors in PATH, register those that are new, and ask the inactive ones again
///
/// Each is registered as inactive until it has shaken hands, which asks no model: a coding agent is
/// asked for its version and its options. What it lacks beyond that, `callosum doctor` says.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum executor discover
  $ callosum executor discover --json")]
pub(crate) struct DiscoverArgs {}

/// `callosum executor discover --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct DiscoverOutput {
    /// The known programs that PATH has.
    pub(crate) found: Vec<FoundOutput>,
}

/// A known program that is installed.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct FoundOutput {
    /// Its id in the registry.
    pub(crate) id: String,
    /// Where it stands.
    pub(crate) program: String,
    /// `active` or `inactive`, as the registry says now.
    pub(crate) status: String,
    /// Whether it is new in the registry.
    pub(crate) registered_now: bool,
    /// Why it is inactive.
    pub(crate) reason: Option<String>,
}

pub(super) fn run(context: &Context, _args: &DiscoverArgs) -> Result<(), CommandError> {
    let ledger = store::open(context)?;
    let mut roster = Roster::load(context)?;
    let mut found = Vec::new();
    let path = context.environment.get("PATH").unwrap_or_default();
    for discovered in find_in_path(&context.disk, path) {
        let known = discovered.known;
        let mut output = FoundOutput {
            id: known.id.to_owned(),
            program: discovered.program.display().to_string(),
            status: String::new(),
            registered_now: false,
            reason: None,
        };
        let there = roster.registry().get(known.id).cloned();
        let mut executor = match there {
            Some(there) if there.status == Status::Active || !roster.is_trusted(&there) => {
                output.status = there.status.to_string();
                if !roster.is_trusted(&there) {
                    let waits = "comes with the repository and waits for `callosum trust`";
                    output.reason = Some(waits.to_owned());
                }
                found.push(output);
                continue;
            }
            Some(inactive) => inactive,
            None => {
                let new = known.entry();
                roster.trust(&new)?;
                output.registered_now = true;
                new
            }
        };
        // A person may have said what the table cannot know.
        let is_ours = executor.fingerprint() == known.entry().fingerprint();
        if !is_ours || known.cannot_be_active().is_none() {
            (_, executor, _) = shake_hands(context, executor)?;
        }
        output.reason = executor.inactive_reason().map(str::to_owned);
        output.status = executor.status.to_string();
        let change = if output.registered_now {
            "discovered"
        } else {
            "handshake"
        };
        enter(context, &ledger, executor, change)?;
        found.push(output);
    }
    if context.ui.json {
        return context.ui.json_data(&DiscoverOutput { found });
    }
    if found.is_empty() {
        context
            .ui
            .say("no known executor is in PATH; scout is always there");
        return Ok(());
    }
    let is_new = |one: &FoundOutput| one.registered_now && one.status == Status::Active.to_string();
    if found.iter().any(is_new) {
        let next = Roster::load(context)?.candidates();
        let next = next.first().map_or("nobody", String::as_str);
        context
            .ui
            .say(&format!("tasks that name nobody go to {next}"));
    }
    let mut table = Table::new(&["id", "status", "program", "note"]);
    for one in found {
        let note = match (one.registered_now, one.reason) {
            (_, Some(reason)) => reason,
            (true, None) => "registered".to_owned(),
            (false, None) => "registered before".to_owned(),
        };
        table.row([one.id, one.status, one.program, note]);
    }
    context.ui.data(&table.render())
}
