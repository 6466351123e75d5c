//! `callosum executor discover`: known programs that are installed, and servers of models that listen here.
//!
//! What is found is entered in one way, [`take_in`]. Deliberately not here: what is looked for, which is
//! data of [`callosum_agents`].

use callosum_agents::{
    discover::{find_in_path, undecided},
    local_server::{Answering, LocalServer, look_around, several_models},
    registry::{Executor, Status},
};
use callosum_ledger::Ledger;
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    check::{enter, shake_hands_with_all},
    list::next_line,
};
use crate::{
    cli::{context::Context, lack::Lack, roster::Roster, store},
    ui::{CommandError, Exit, Table},
};

/// Names the servers of models that are looked for, in place of where they usually listen.
const SERVERS: &str = "CALLOSUM_MODEL_SERVERS";

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

/// `callosum executor discover --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct DiscoverOutput {
    /// The known programs that PATH has, and the servers that answer.
    pub(crate) found: Vec<FoundOutput>,
}

/// An executor that is there.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct FoundOutput {
    /// Its id in the registry.
    pub(crate) id: String,
    /// Its place: the file of a program, or the address of a server.
    pub(crate) program: String,
    /// The file that a program leads to, where it is a link; null for any other.
    pub(crate) resolved_path: Option<String>,
    /// The version manager whose shim the program is, such as `asdf`, which can start a different
    /// file each time; null if it is no shim.
    pub(crate) shim_for: Option<String>,
    /// `active` or `inactive`, as the registry says now.
    pub(crate) status: String,
    /// Whether it is new in the registry.
    pub(crate) registered_now: bool,
    /// Why it is inactive, or is given no task for now.
    pub(crate) reason: Option<String>,
    /// What helps, as far as that is known.
    pub(crate) hint: Option<String>,
    /// Whether it was active and so not asked again: what stands in `PATH` now may be another program than passed.
    #[serde(skip)]
    is_unasked: bool,
}

pub(super) fn run(context: &Context, _args: &DiscoverArgs) -> Result<(), CommandError> {
    let servers = servers(context)?;
    let ledger = store::open(context)?;
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

/// Where servers of models are looked for.
fn servers(context: &Context) -> Result<Vec<LocalServer>, CommandError> {
    let Some(value) = context.environment.get(SERVERS) else {
        return Ok(LocalServer::usual());
    };
    let text = value.to_string_lossy();
    LocalServer::listed(&text).map_err(|error| {
        let what = format!("the variable {SERVERS} is `{text}`");
        CommandError::because(Exit::Environment, what, &error)
            .hint(format!("export {SERVERS}=ollama=http://127.0.0.1:11434"))
    })
}

/// Those of them that answer.
fn listening(context: &Context, servers: Vec<LocalServer>) -> Result<Vec<Answering>, CommandError> {
    if servers.is_empty() {
        return Ok(Vec::new());
    }
    let progress = context
        .report
        .progress("looking for model servers on this machine");
    let found = look_around(servers, &context.surroundings()?);
    drop(progress);
    Ok(found)
}

/// Enters a server, should it have a model; whoever is registered for it already stays as he is.
fn take_in_server(
    context: &Context,
    roster: &mut Roster<'_>,
    answering: &Answering,
) -> Result<Option<Found>, CommandError> {
    let server = &answering.server;
    let Some(model) = answering.models.first() else {
        let what = format!(
            "{} answers at {} but has no model yet",
            server.id, server.endpoint
        );
        context.report.say(&what);
        return Ok(None);
    };
    let place = server.endpoint.clone();
    let mut known = roster.registry().executors().iter();
    if let Some(known) = known.find(|known| server.is_asked_by(known)) {
        let known = known.clone();
        return take_in(roster, place, known).map(Some);
    }
    let mut entry = server.entry(model);
    if let Err(error) = entry.check() {
        let what = format!("{} answers at {place} but was skipped: {error}", server.id);
        context.report.warn(&what, None);
        return Ok(None);
    }
    if answering.models.len() > 1
        && let Some(reason) = several_models(&entry)
    {
        entry.deactivate(&reason);
    }
    take_in(roster, place, entry).map(Some)
}

/// An executor that is there, and its entry where that is to be written.
struct Found {
    output: FoundOutput,
    entry: Option<Executor>,
}

/// Looks an entry up, and takes it for a new one where its id is.
fn take_in(roster: &mut Roster<'_>, place: String, new: Executor) -> Result<Found, CommandError> {
    let mut output = FoundOutput {
        id: new.id.clone(),
        program: place,
        resolved_path: None,
        shim_for: None,
        status: String::new(),
        registered_now: false,
        reason: None,
        hint: None,
        is_unasked: false,
    };
    let executor = match roster.registry().get(&new.id).cloned() {
        Some(there) if !roster.is_trusted(&there) => {
            output.status = there.status.to_string();
            output.reason = Some("comes with the repository and is not trusted yet".to_owned());
            output.hint = Some("callosum trust --list".to_owned());
            return Ok(Found {
                output,
                entry: None,
            });
        }
        Some(there) if there.status == Status::Active => {
            output.status = there.status.to_string();
            output.is_unasked = true;
            if let Some(left) = roster.left_alone(&there.id) {
                output.reason = Some(format!(
                    "paused for {} s more after repeated failures; it gets no tasks until then",
                    left.as_secs().max(1)
                ));
                output.hint = Some(format!("callosum executor check {}", there.id));
            }
            return Ok(Found {
                output,
                entry: None,
            });
        }
        Some(inactive) => inactive,
        None => {
            roster.trust(&new)?;
            roster.put(&new);
            output.registered_now = true;
            new
        }
    };
    Ok(Found {
        output,
        entry: Some(executor),
    })
}

/// Shakes hands with those where that may help, and writes what came of it.
fn shake_hands_with_new(
    context: &Context,
    ledger: &Ledger,
    roster: &mut Roster<'_>,
    found: Vec<Found>,
) -> Result<Vec<FoundOutput>, CommandError> {
    let entries = found.iter().filter_map(|found| found.entry.as_ref());
    // What a person has to say, no handshake can.
    let asked = entries.filter(|entry| undecided(entry).is_none()).cloned();
    let mut shaken = shake_hands_with_all(context, asked.collect())?
        .into_iter()
        .peekable();
    let mut told = Vec::new();
    for Found { mut output, entry } in found {
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
        told.push(output);
    }
    Ok(told)
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
