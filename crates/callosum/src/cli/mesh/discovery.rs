//! `callosum mesh discovery`: what one agent found out and tells all.

use std::fmt::Write as _;

use callosum_evidence::terminal::on_one_line;
use callosum_mesh::{Mesh, board::Order};
use clap::{Args, Subcommand};
use schemars::JsonSchema;
use serde::Serialize;

use super::{open, speaker::SpeakerArgs, words::words};
use crate::{
    cli::context::Context,
    ui::{CommandError, Exit, shown_time},
};

/// Share discoveries with all agents
#[derive(Debug, Subcommand)]
pub(crate) enum DiscoveryCommand {
    Share(ShareArgs),
    List(ListArgs),
    Remove(RemoveArgs),
}

/// Share a discovery with all agents
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum mesh discovery share \"serde 2 breaks the export format\" --as gemini")]
pub(crate) struct ShareArgs {
    /// Text of the discovery, or `-` to read it from standard input
    #[arg(value_name = "TEXT")]
    content: String,
    /// Id of the discovery [default: a new one]
    ///
    /// Sharing the same discovery twice under one id has no effect. A different text under that id is refused, and so
    /// is an id of another agent.
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    #[command(flatten)]
    speaker: SpeakerArgs,
}

/// List discoveries, oldest first
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum mesh discovery list
  $ callosum mesh discovery list --json")]
pub(crate) struct ListArgs {}

/// Remove a discovery
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum mesh discovery remove 0f3a")]
pub(crate) struct RemoveArgs {
    /// Id of the discovery
    #[arg(value_name = "ID")]
    id: String,
    #[command(flatten)]
    speaker: SpeakerArgs,
}

/// `callosum mesh discovery list --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct DiscoveriesOutput {
    /// The discoveries, oldest first.
    pub(crate) discoveries: Vec<DiscoveryOutput>,
}

/// A discovery.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct DiscoveryOutput {
    /// Its id.
    pub(crate) id: String,
    /// What was found out.
    pub(crate) content: String,
    /// By whom.
    pub(crate) source: String,
    /// When.
    pub(crate) timestamp: String,
    /// In which folder.
    pub(crate) cwd: Option<String>,
}

pub(super) fn run(context: &Context, command: &DiscoveryCommand) -> Result<(), CommandError> {
    match command {
        DiscoveryCommand::Share(args) => {
            let id = args.id.clone().unwrap_or_else(|| context.ids.uuid_v4());
            let order = Order::Share {
                id: id.clone(),
                content: words(&args.content)?,
            };
            let voice = args.speaker.voice(context);
            let events = open::given(context, order, &voice)?;
            // Who was warned of a configuration is not warned twice.
            let mut output = shown(&mut open::mesh_again(context)?)?;
            output.discoveries.retain(|discovery| discovery.id == id);
            let source = output.discoveries.first().map(|found| &found.source);
            if let Some(source) = source
                && events.is_empty()
                && *source != voice.agent.as_str()
            {
                let what = format!("{source} already shared the same as `{id}`");
                return Err(CommandError::new(Exit::No, what).hint("callosum mesh discovery list"));
            }
            if context.ui.json {
                return context.ui.json_data(&output);
            }
            context.ui.read_by_all(&format!("{id}\n"))
        }
        DiscoveryCommand::List(_) => list(context),
        DiscoveryCommand::Remove(args) => {
            let discovery = args.id.clone();
            let none = format!("there is no discovery `{}`", args.id);
            let order = Order::Forget { discovery };
            args.speaker
                .give_to(context, order, none, "callosum mesh discovery list")
        }
    }
}

/// All discoveries, oldest first.
pub(crate) fn listed(context: &Context) -> Result<DiscoveriesOutput, CommandError> {
    let (mut mesh, _) = open::readable(context)?;
    shown(&mut mesh)
}

fn shown(mesh: &mut Mesh) -> Result<DiscoveriesOutput, CommandError> {
    let board = mesh.board().map_err(|error| open::explain(&error))?;
    let discoveries = board.discoveries.iter().map(|discovery| DiscoveryOutput {
        id: discovery.id.clone(),
        content: discovery.content.clone(),
        source: discovery.source.to_string(),
        timestamp: discovery.timestamp.to_string(),
        cwd: discovery.cwd.clone(),
    });
    Ok(DiscoveriesOutput {
        discoveries: discoveries.collect(),
    })
}

fn list(context: &Context) -> Result<(), CommandError> {
    let output = listed(context)?;
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    if output.discoveries.is_empty() {
        context.report.say("no discoveries");
    }
    let mut text = String::new();
    for discovery in &output.discoveries {
        let DiscoveryOutput {
            id,
            content,
            source,
            timestamp,
            ..
        } = discovery;
        let timestamp = shown_time(timestamp);
        let _ = writeln!(text, "{id} {timestamp} {source}: {}", on_one_line(content));
    }
    context.ui.read_by_all(&text)
}
