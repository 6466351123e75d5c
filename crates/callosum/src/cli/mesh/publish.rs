//! Arguments and output of `callosum mesh publish`.
//!
//! The use case is [`callosum_app::mesh::publish`].

use std::time::{Duration, Instant};

use callosum_app::mesh::open;
use callosum_app::mesh::publish::{
    PublishOutput, before, dry, give_back, output_of, take_turn, wait,
};
use callosum_app::{CommandError, Exit};
use callosum_mesh::agent::AgentName;
use callosum_mesh::event::{Draft, LONGEST, UnreadValue, read_value};
use callosum_mesh::journal::Durability;
use callosum_mesh::mesh_store;
use callosum_mesh::topic::Topic;
use clap::{Args, ValueEnum};
use serde_json::Value;

use super::author_args::SpeakerArgs;
use super::text_arg::words;
use crate::cli::context::Context;

/// Publish an event
///
/// An event has a topic and a payload. Each agent may publish once every five seconds. An earlier event is refused,
/// or waits if --wait is given. Secrets are masked.
///
/// The acknowledgement states the durability of the event. A logged event survives the end of every process, a synced
/// event also survives a power loss.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum mesh publish agent.task_complete --payload '{\"summary\": \"parser done\"}' --dry-run
  $ callosum mesh publish build.broken --as codex --payload '{\"target\": \"ios\"}' --wait
  $ echo '{\"note\": \"from a file\"}' | callosum mesh publish agent.note --payload - --wait")]
pub(crate) struct PublishArgs {
    /// Topic: parts separated by dots
    #[arg(value_name = "TOPIC")]
    topic: Topic,
    /// JSON object, or `-` to read it from standard input
    #[arg(long, value_name = "JSON", default_value = "{}")]
    payload: String,
    /// Id of the event [default: a new one]
    ///
    /// If the same agent publishes an id twice, there is only one event.
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    #[command(flatten)]
    speaker: SpeakerArgs,
    /// Durability that the acknowledgement guarantees
    #[arg(long, value_enum, default_value = "logged")]
    durability: DurabilityArg,
    /// Print the event, and publish nothing
    #[arg(long)]
    dry_run: bool,
    /// Wait until this agent may publish again
    #[arg(long)]
    wait: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum DurabilityArg {
    /// In the log: survives the end of every process
    Logged,
    /// On disk: survives a power loss
    Synced,
}

pub(super) fn run(context: &Context, args: &PublishArgs) -> Result<(), CommandError> {
    let voice = args.speaker.voice(context);
    let payload = payload(&args.payload)?;
    let draft = Draft::read(&serde_json::json!({
        "type": args.topic, "source": voice.agent, "session_id": voice.session_id,
        "pane_id": voice.pane_id, "cwd": voice.cwd, "payload": payload, "id": args.id,
    }));
    let mut draft =
        draft.map_err(|faults| CommandError::because(Exit::Usage, "invalid event", &faults))?;
    if args.dry_run {
        let folder = context.project.homes.mesh();
        let is_begun = mesh_store::is_begun(&context.disk, &folder);
        if is_begun.map_err(|error| open::explain(&error.into()))? {
            before(&open::mesh_anyway(context)?, &draft)?;
        }
        return show(context, &dry(&args.topic, &voice, payload));
    }
    let mut mesh = open::synced_anyway(context)?;
    // Gemini CLI does not say which session runs a command.
    let voice = open::with_session(context, &mut mesh, &voice)?;
    draft.session_id.clone_from(&voice.session_id);
    if let Some(event) = before(&mesh, &draft)? {
        return show(context, &output_of(&event, true, None));
    }
    let stamp = mesh.folder().join("published").join(voice.agent.as_str());
    let asked = (context.clock.now(), Instant::now());
    while let Some(left) = take_turn(context, &stamp, asked)? {
        if !args.wait {
            return refuse(context, &voice.agent, left);
        }
        wait(context, left)?;
    }
    let durability = match args.durability {
        DurabilityArg::Logged => Durability::Logged,
        DurabilityArg::Synced => Durability::Synced,
    };
    let events = match mesh.publish(draft, durability) {
        Ok(events) => events,
        Err(error) => {
            give_back(context, &stamp)?;
            return Err(open::explain(&error));
        }
    };
    open::show_done(context, &mut mesh);
    let output = events.first().map_or_else(
        // It means the board, and was so already.
        || PublishOutput {
            published: true,
            cursor: None,
            durability: Some(durability.as_str().to_owned()),
            retry_after: None,
            repeated: false,
            event: None,
        },
        |event| output_of(event, false, Some(durability)),
    );
    show(context, &output)
}

fn payload(text: &str) -> Result<Value, CommandError> {
    let text = words(text)?;
    if text.len() > LONGEST {
        let what = format!("the payload is too large (limit: {LONGEST} bytes)");
        return Err(CommandError::new(Exit::Usage, what));
    }
    read_value(&text).map_err(|error| {
        let what = match error {
            UnreadValue::NoJson(_) => "--payload is not valid JSON",
            UnreadValue::TooLarge { .. } => "--payload cannot be stored unchanged",
        };
        CommandError::because(Exit::Usage, what, &error)
    })
}

fn refuse(context: &Context, agent: &AgentName, left: Duration) -> Result<(), CommandError> {
    let seconds = left.as_secs_f64();
    if context.ui.json {
        context.ui.json_data(&PublishOutput {
            published: false,
            cursor: None,
            durability: None,
            retry_after: Some(seconds),
            repeated: false,
            event: None,
        })?;
    }
    let what = format!("{agent} published less than five seconds ago; wait {seconds:.1} s");
    Err(CommandError::new(Exit::No, what).hint("add --wait"))
}

fn show(context: &Context, output: &PublishOutput) -> Result<(), CommandError> {
    if context.ui.json {
        return context.ui.json_data(output);
    }
    match (&output.cursor, &output.durability) {
        (Some(cursor), Some(durability)) => context.ui.data(&format!("{cursor} {durability}\n")),
        _ => match &output.event {
            Some(event) => context.ui.json_data(event),
            None => Ok(()),
        },
    }
}
