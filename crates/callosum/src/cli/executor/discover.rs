//! Arguments and output of `callosum executor discover`.
//!
//! The use case is [`callosum_app::executor::discover`].

use callosum_app::executor::check::enter;
use callosum_app::executor::discover::{
    DiscoverOutput, Discovery, FoundOutput, listening, servers, take_in, take_in_server,
};
use callosum_app::executor::list::next_line;
use callosum_app::executor_pool::Roster;
use callosum_app::executor_readiness::Lack;
use callosum_app::{CommandError, open_ledger};
use callosum_executor::discover::{find_in_path, undecided};
use callosum_executor::registry::Status;
use callosum_ledger::Ledger;
use clap::Args;

use super::check::shake_hands_with_all;
use crate::cli::context::Context;
use crate::ui::Table;

/// Find executors on this machine, register new ones and check inactive ones
///
/// Searches PATH for coding agents and adapters. Searches for model servers at their default ports:
/// Ollama at 11434, LM Studio at 1234, llama.cpp at 8080 and vLLM at 8000. If
/// CALLOSUM_MODEL_SERVERS is set, searches for the servers it names instead.
///
/// A new executor is inactive until it passes a handshake. The handshake asks no model: it asks a
/// coding agent for its version and options, an adapter to start, and a server for its list of
/// models. `callosum doctor` reports anything else that an executor needs.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum executor discover
  $ callosum executor discover --json")]
pub(crate) struct DiscoverArgs {}

pub(super) fn run(context: &Context, _args: &DiscoverArgs) -> Result<(), CommandError> {
    let servers = servers(context)?;
    let ledger = open_ledger::open(context)?;
    let mut roster = Roster::load(context)?;
    let mut found = Vec::new();
    let path = context.environment.get("PATH").unwrap_or_default();
    for discovered in find_in_path(&context.disk, path) {
        let place = discovered.program.display().to_string();
        let entry = discovered.known.entry();
        let mut one = take_in(&mut roster, place, entry)?;
        let is_link = discovered.real != discovered.program;
        one.output.resolved_path = is_link.then(|| discovered.real.display().to_string());
        one.output.shim_for = discovered.shim_of.map(str::to_owned);
        found.push(one);
    }
    for answering in listening(context, servers)? {
        found.extend(take_in_server(context, &mut roster, &answering)?);
    }
    let found = shake_hands_with_new(context, &ledger, &mut roster, found)?;
    if context.ui.json {
        return context.ui.json_data(&DiscoverOutput { found });
    }
    tell(context, &roster, found)
}

/// Performs handshakes with those that may become ready, and writes the results.
fn shake_hands_with_new(
    context: &Context,
    ledger: &Ledger,
    roster: &mut Roster<'_>,
    found: Vec<Discovery>,
) -> Result<Vec<FoundOutput>, CommandError> {
    let entries = found.iter().filter_map(|found| found.entry.as_ref());
    // What a person has to say, no handshake can.
    let asked = entries.filter(|entry| undecided(entry).is_none()).cloned();
    let mut shaken = shake_hands_with_all(context, asked.collect())?
        .into_iter()
        .peekable();
    let mut outputs = Vec::new();
    for Discovery { mut output, entry } in found {
        if let Some(mut executor) = entry {
            if let Some((_, shaken, check)) = shaken.next_if(|(_, it, _)| it.id == executor.id) {
                executor = shaken;
                output.hint = check.hint;
            }
            output.reason = executor.inactive_reason().map(str::to_owned);
            output.status = executor.status.to_string();
            let change = if output.registered_now {
                "discovered"
            } else {
                "handshake"
            };
            roster.put(&executor);
            enter(context, ledger, executor, change)?;
        }
        if output.reason.is_none()
            && let Some(executor) = roster.registry().get(&output.id)
            && executor.status == Status::Active
            && let Some(lack) = Lack::of(context, executor)
        {
            output.reason = Some(lack.what);
            output.hint = output.hint.or(lack.hint);
        }
        outputs.push(output);
    }
    Ok(outputs)
}

fn tell(
    context: &Context,
    roster: &Roster<'_>,
    found: Vec<FoundOutput>,
) -> Result<(), CommandError> {
    if found.is_empty() {
        let what = "no known executor is in PATH and no model server answers on this machine; scout is \
                    always available";
        context.report.say(what);
        return Ok(());
    }
    let is_new = |one: &FoundOutput| one.registered_now && one.status == Status::Active.to_string();
    if found.iter().any(is_new) {
        context.report.say(&next_line(&roster.choice()));
    }
    let mut table = Table::new(&["id", "status", "program", "note"]);
    let mut hints = Vec::new();
    for one in found {
        let note = match (one.registered_now, one.reason) {
            (_, Some(reason)) => reason,
            (true, None) => "registered".to_owned(),
            (false, None) if one.is_unasked => {
                "already registered, not checked again (callosum executor check)".to_owned()
            }
            (false, None) => "already registered".to_owned(),
        };
        let note = match one.shim_for {
            Some(manager) => format!("{note}; a shim of {manager}"),
            None => note,
        };
        // A client and what speaks for it lack the same.
        hints.extend(one.hint.filter(|hint| !hints.contains(hint)));
        table.row([one.id, one.status, one.program, note]);
    }
    context.ui.data(&table.render())?;
    for hint in hints {
        context.report.hint(&hint);
    }
    Ok(())
}
