//! `callosum mesh publish`: an event of any topic, at most one in five seconds of each agent.

use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

use callosum_host::{LockError, LockFile};
use callosum_mesh::{
    Mesh, Voice,
    agent::AgentName,
    event::{Draft, Event, LONGEST, UnreadValue, masked, read_value},
    journal::{Cursor, Durability},
    throttle,
    topic::Topic,
};
use clap::{Args, ValueEnum};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{open, speaker::SpeakerArgs, words::words};
use crate::{
    cli::context::Context,
    ui::{CommandError, Exit},
};
use callosum_mesh::mesh_store;

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

/// The lock under which an agent takes its turn; no agent has such a name.
const LOCK: &str = "@lock";

/// How long others are waited for who take theirs.
const LOCKED_FOR: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug, ValueEnum)]
enum DurabilityArg {
    /// In the log: survives the end of every process
    Logged,
    /// On disk: survives a power loss
    Synced,
}

/// `callosum mesh publish --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct PublishOutput {
    /// Whether it was published.
    pub(crate) published: bool,
    /// Its place in the log, as a cursor.
    pub(crate) cursor: Option<String>,
    /// What the acknowledgement means: `logged` or `synced`.
    pub(crate) durability: Option<String>,
    /// Seconds after which this agent may publish again, where it was too early.
    pub(crate) retry_after: Option<f64>,
    /// Whether it was published before, under the same id by the same agent; the event is that one.
    pub(crate) repeated: bool,
    /// The event: as it is in the log, or as it would be handed in.
    pub(crate) event: Option<Value>,
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
        return show(context, &told(&event, true, None));
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
        |event| told(event, false, Some(durability)),
    );
    show(context, &output)
}

/// Publishes an event under an id, once: where this agent did so before, nothing is done. Waits until this
/// agent may publish again. It is on disk when this returns.
pub(crate) fn publish_once(
    context: &Context,
    voice: &Voice,
    topic: &str,
    payload: Value,
    id: &str,
) -> Result<(), CommandError> {
    let draft = Draft::read(&serde_json::json!({
        "type": topic, "source": voice.agent, "session_id": voice.session_id,
        "pane_id": voice.pane_id, "cwd": voice.cwd, "payload": payload, "id": id,
    }));
    let draft =
        draft.map_err(|faults| CommandError::because(Exit::Usage, "invalid event", &faults))?;
    let mut mesh = open::synced_anyway(context)?;
    if before(&mesh, &draft)?.is_some() {
        return Ok(());
    }
    let stamp = mesh.folder().join("published").join(voice.agent.as_str());
    let asked = (context.clock.now(), Instant::now());
    while let Some(left) = take_turn(context, &stamp, asked)? {
        wait(context, left)?;
    }
    if let Err(error) = mesh.publish(draft, Durability::Synced) {
        give_back(context, &stamp)?;
        return Err(open::explain(&error));
    }
    open::show_done(context, &mut mesh);
    Ok(())
}

/// The event that its author published before under the id that it names.
fn before(mesh: &Mesh, draft: &Draft) -> Result<Option<Event>, CommandError> {
    let known = mesh.journal().handed_in(draft);
    known.map_err(|error| open::explain(&error.into()))
}

/// An event as it stands in the log, and what is known of it there.
fn told(event: &Event, repeated: bool, durability: Option<Durability>) -> PublishOutput {
    let cursor = Cursor {
        origin: Some(event.origin.clone()),
        seq: event.seq,
    };
    // Of one that stood there before it is known that it is in the log, and no more.
    let durability = durability.unwrap_or(Durability::Logged);
    PublishOutput {
        published: true,
        cursor: Some(cursor.to_string()),
        durability: Some(durability.as_str().to_owned()),
        retry_after: None,
        repeated,
        event: serde_json::to_value(event).ok(),
    }
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

fn dry(topic: &Topic, voice: &Voice, payload: Value) -> PublishOutput {
    let payload = match payload {
        Value::Object(payload) => Value::Object(masked(payload)),
        other => other,
    };
    let event = serde_json::json!({
        "type": topic, "event": topic, "source": voice.agent, "session_id": voice.session_id,
        "pane_id": voice.pane_id, "cwd": voice.cwd, "payload": payload,
    });
    PublishOutput {
        published: false,
        cursor: None,
        durability: None,
        retry_after: None,
        repeated: false,
        event: Some(event),
    }
}

/// Takes this agent's turn to publish, which is written down before it does: of several that come at once one has it. Else
/// how long it has to wait. Since it first asked, time is counted by what has gone by, whatever is done to the clock.
///
/// On a full disk it cannot be written down: whether the event has room the log says.
fn take_turn(
    context: &Context,
    stamp: &Path,
    asked: (Timestamp, Instant),
) -> Result<Option<Duration>, CommandError> {
    match turn(context, stamp, asked) {
        Err(LockError::Disk(error)) if error.is_full() => Ok(None),
        taken => taken.map_err(|error| {
            CommandError::because(Exit::Environment, "cannot use the mesh", &error)
        }),
    }
}

fn turn(
    context: &Context,
    stamp: &Path,
    (first, began): (Timestamp, Instant),
) -> Result<Option<Duration>, LockError> {
    let disk = &context.disk;
    if let Some(folder) = stamp.parent() {
        disk.create_private_dir(folder)?;
    }
    let lock = stamp.with_file_name(LOCK);
    let _alone = LockFile::private().acquire(disk, &lock, LOCKED_FOR)?;
    let last = disk.read_if_there(stamp)?.and_then(|bytes| {
        let text = String::from_utf8(bytes).ok()?;
        text.trim().parse::<Timestamp>().ok()
    });
    let counted = first + began.elapsed();
    if let Some(left) = throttle::wait(last, counted, throttle::WINDOW) {
        // The clock was set back: from now on it is waited, and not until it is as late again.
        if last.is_some_and(|last| last > counted) {
            disk.replace_unsynced(stamp, counted.to_string().as_bytes(), 0o600)?;
        }
        return Ok(Some(left.unsigned_abs()));
    }
    let now = context.clock.now().to_string();
    disk.replace_unsynced(stamp, now.as_bytes(), 0o600)?;
    Ok(None)
}

/// Gives the turn back of an agent whose event was not published.
fn give_back(context: &Context, stamp: &Path) -> Result<(), CommandError> {
    let removed = context.disk.remove_file(stamp);
    removed.map(drop).map_err(|error| {
        CommandError::because(Exit::Environment, "the event was not published", &error)
    })
}

fn wait(context: &Context, left: Duration) -> Result<(), CommandError> {
    const STEP: Duration = Duration::from_millis(50);
    let started = Instant::now();
    while let Some(rest) = left.checked_sub(started.elapsed()) {
        if context.cancel.is_cancelled() {
            return Err(CommandError::told(Exit::Interrupted));
        }
        thread::sleep(rest.min(STEP));
    }
    Ok(())
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
