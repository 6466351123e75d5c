//! Arguments and output of `callosum mesh discovery`.
//!
//! The use case is [`callosum_app::mesh::discovery`].

use std::fmt::Write as _;

use callosum_app::mesh::discovery::{DiscoveryOutput, listed, shown};
use callosum_app::mesh::open;
use callosum_app::{CommandError, Exit};
use callosum_mesh::board::Command;
use callosum_redact::terminal_escape::on_one_line;
use clap::{Args, Subcommand};

use super::author_args::SpeakerArgs;
use super::text_arg::words;
use crate::cli::context::Context;
use crate::ui::shown_time;

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

pub(super) fn run(context: &Context, command: &DiscoveryCommand) -> Result<(), CommandError> {
    match command {
        DiscoveryCommand::Share(args) => {
            let id = args.id.clone().unwrap_or_else(|| context.ids.uuid_v4());
            let order = Command::Share {
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
            let order = Command::Forget { discovery };
            args.speaker
                .give_to(context, order, none, "callosum mesh discovery list")
        }
    }
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
