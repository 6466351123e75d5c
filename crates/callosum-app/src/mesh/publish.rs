//! `callosum mesh publish`: an event of any topic, at most one in five seconds of each agent.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use callosum_host::{LockError, LockFile};
use callosum_mesh::event::{Draft, Event, masked};
use callosum_mesh::journal::{Cursor, Durability};
use callosum_mesh::topic::Topic;
use callosum_mesh::{Author, Mesh, throttle};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::context::Context;
use crate::mesh::open;
use crate::{CommandError, Exit};

/// The lock under which an agent takes its turn; no agent has such a name.
const LOCK: &str = "@lock";

/// Time to wait for other processes that take their turn.
const LOCKED_FOR: Duration = Duration::from_secs(5);

/// `callosum mesh publish --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct PublishOutput {
    /// Whether it was published.
    pub published: bool,
    /// Its place in the log, as a cursor.
    pub cursor: Option<String>,
    /// Meaning of the acknowledgement: `logged` or `synced`.
    pub durability: Option<String>,
    /// Seconds after which this agent may publish again, where it was too early.
    pub retry_after: Option<f64>,
    /// Whether it was published before, under the same id by the same agent; the event is that one.
    pub repeated: bool,
    /// The event: as it is in the log, or as it would be published.
    pub event: Option<Value>,
}

/// Publishes an event under an id, once: where this agent did so before, nothing is done. Waits until this
/// agent may publish again. It is on disk when this returns.
pub fn publish_once(
    context: &Context,
    voice: &Author,
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
pub fn before(mesh: &Mesh, draft: &Draft) -> Result<Option<Event>, CommandError> {
    let known = mesh.journal().handed_in(draft);
    known.map_err(|error| open::explain(&error.into()))
}

/// Returns the output for an event of the log, with its known durability.
pub fn output_of(event: &Event, repeated: bool, durability: Option<Durability>) -> PublishOutput {
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

/// Returns the event as it would be published.
pub fn dry(topic: &Topic, voice: &Author, payload: Value) -> PublishOutput {
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

/// Takes this agent's turn to publish, and records it before the agent does. Of several concurrent
/// processes one gets it. Else returns the time to wait. From the first request on, time is
/// measured by a monotonic clock, so that changes of the clock have no effect.
///
/// On a full disk the turn cannot be recorded: the log decides whether the event has room.
pub fn take_turn(
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
pub fn give_back(context: &Context, stamp: &Path) -> Result<(), CommandError> {
    let removed = context.disk.remove_file(stamp);
    removed.map(drop).map_err(|error| {
        CommandError::because(Exit::Environment, "the event was not published", &error)
    })
}

/// Waits for this time, unless the command is cancelled.
pub fn wait(context: &Context, left: Duration) -> Result<(), CommandError> {
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
