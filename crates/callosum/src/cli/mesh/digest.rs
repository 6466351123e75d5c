//! `callosum mesh digest`: what an agent is told when its session begins.

use callosum_agents::{client::Client, dialect::Dialect};
use callosum_evidence::{terminal::on_one_line, tokens};
use callosum_mesh::{
    Mesh, Voice,
    agent::AgentName,
    digest::{Beside, Digest, Source, digest_of_beside},
    route::Matrix,
};
use callosum_session::{Session, trajectory::Agent};
use clap::Args;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::open;
use crate::{
    cli::{context::Context, session},
    ui::CommandError,
};
use callosum_client::sources;

/// Show what an agent learns about the others when its session begins
///
/// Lists messages to the agent, tasks for it, results of tasks that it left, and hand-offs. Also lists discoveries,
/// events and ledger entries since its last session. Prints nothing if there is nothing new. Nothing is marked as
/// delivered, unless --mark-delivered is given.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum mesh digest --to gemini
  $ callosum mesh digest --to codex --budget 200 --json")]
pub(crate) struct DigestArgs {
    /// Agent that the digest is for
    #[arg(long = "to", value_name = "AGENT")]
    agent: AgentName,
    /// Print at most about N tokens
    #[arg(long, value_name = "N", default_value = "400")]
    budget: u64,
    /// Mark the contents as delivered, for an agent without hooks
    #[arg(long)]
    mark_delivered: bool,
}

/// `callosum mesh digest --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct DigestOutput {
    /// The text; empty where there is nothing to tell.
    pub(crate) text: String,
    /// The messages in it.
    pub(crate) messages: Vec<String>,
    /// How many items had no room.
    pub(crate) left_out: usize,
}

pub(super) fn run(context: &Context, args: &DigestArgs) -> Result<(), CommandError> {
    let voice = Voice {
        cwd: Some(context.folder.to_string_lossy().into_owned()),
        ..Voice::of(args.agent.clone())
    };
    let (mut mesh, told) = match digest(context, &voice, args.budget) {
        Ok(found) => found,
        Err(error) => {
            // The log is a source like the others.
            let why = on_one_line(&error.one_line());
            let line =
                format!("Cannot read news from other agents: {why}; run `callosum doctor`.\n");
            let beside = Beside {
                sources: project(context, &voice.agent, None),
                is_sandboxed: false,
            };
            let left = args.budget.saturating_sub(tokens::estimate(&line));
            let told = digest_of_beside(&voice.agent, &Matrix::default(), &beside, left);
            return show(
                context,
                &Digest {
                    text: format!("{line}{}", told.text),
                    ..told
                },
            );
        }
    };
    show(context, &told)?;
    if args.mark_delivered {
        let done = mesh.deliver(&told, &voice, "callosum mesh digest --mark-delivered");
        done.map_err(|error| open::explain(&error))?;
    }
    Ok(())
}

fn digest(context: &Context, voice: &Voice, budget: u64) -> Result<(Mesh, Digest), CommandError> {
    let (mut mesh, is_writable, fault) = open::readable_anyway(context)?;
    let mut beside = beside(context, &mesh, voice, is_writable)?;
    let fault = fault.map(|fault| Source::Broken(fault.to_string()));
    beside.sources.extend(fault);
    let told = mesh.digest_for(voice, &beside, budget);
    let told = told.map_err(|error| open::explain(&error))?;
    Ok((mesh, told))
}

fn show(context: &Context, told: &Digest) -> Result<(), CommandError> {
    if context.ui.json {
        return context.ui.json_data(&DigestOutput {
            text: told.text.clone(),
            messages: told.messages.clone(),
            left_out: told.left_out,
        });
    }
    context.ui.read_by_all(&told.text)
}

/// What there is beside the mesh, in the project in which it is asked.
fn beside(
    context: &Context,
    mesh: &Mesh,
    voice: &Voice,
    is_writable: bool,
) -> Result<Beside, CommandError> {
    let since = mesh.told_at(voice).map_err(|error| open::explain(&error))?;
    let agent = &voice.agent;
    let client = Dialect::ALL.into_iter().filter_map(Client::of);
    let client = client.into_iter().find(|client| {
        let name = client.program.parse::<AgentName>();
        name.is_ok_and(|name| name == *agent)
    });
    let mut found = project(context, agent, since);
    found.extend(sources::left_alone(&context.disk, mesh));
    Ok(Beside {
        sources: found,
        is_sandboxed: !is_writable || sources::is_sandboxed(client),
    })
}

/// What the project has.
fn project(context: &Context, agent: &AgentName, since: Option<Timestamp>) -> Vec<Source> {
    let session = Session {
        disk: &context.disk,
        zones: &session::zones(context),
        clock: &context.clock,
        agent: Agent::default(),
    };
    let paths = context.ledger_paths();
    vec![
        sources::panes(),
        sources::hand_offs(&session, agent),
        sources::ledger(&context.disk, &paths, since, agent),
    ]
}
