//! Messages, tasks and discoveries of the agents on this machine, from the log of the mesh.
//!
//! Reading goes on behind the last event that was read. When the log drops its oldest file, which is rare, it is read again
//! from its beginning, so that nothing is found that the log does not have.

use callosum_memory::{
    Memory, MemoryScope, Record, RecordKind, RecordWriter, Speaker, Turn, UpdateReport,
};
use callosum_mesh::board::{Effect, Receipt};
use callosum_mesh::event::Event;
use callosum_mesh::journal::{Cursor, Notice};
use callosum_mesh::{Mesh, mesh_store};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{RecordError, Stamp, watch};
use crate::memory::MemoryMachine;

/// Events that are read at once.
const BATCH: usize = 512;

/// Place up to which the log was read.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Place {
    /// The last event, with the log's id.
    cursor: String,
    /// The name of the log's oldest file.
    oldest: Option<String>,
}

/// Reads the events that are new, if there are any.
pub(super) fn gather(
    machine: &MemoryMachine,
    memory: &mut Memory,
    scope: &MemoryScope,
    (name, stamp): (&str, Option<&Stamp>),
) -> Result<UpdateReport, RecordError> {
    let folder = machine.homes.mesh();
    let is_begun = mesh_store::is_begun(&machine.disk, &folder);
    if !is_begun.map_err(|error| RecordError::store(&error))? {
        // A mesh that was removed.
        let removed = match stamp {
            Some(_) => memory.forget_records(name)?,
            None => 0,
        };
        return Ok(UpdateReport {
            removed,
            ..UpdateReport::default()
        });
    }
    let clock = machine.environment.clock();
    let clock = clock.map_err(|error| RecordError::store(&error))?;
    let ids = machine.environment.ids();
    let ids = ids.map_err(|error| RecordError::store(&error))?;
    let mesh = mesh_store::open(&machine.disk, &clock, &ids, &folder);
    let mesh = mesh.map_err(|error| RecordError::store(&error))?;
    let events = mesh.journal().events();
    let mut files: Vec<String> = machine
        .disk
        .list_dir(&events)
        .unwrap_or_default()
        .into_iter()
        .filter_map(|entry| entry.name.into_string().ok())
        .collect();
    files.sort_unstable();
    let newest = files.last().map(|name| events.join(name));
    let watched = watch(&machine.disk, [events].into_iter().chain(newest));
    let oldest = files.into_iter().next();
    let place: Option<Place> = stamp.and_then(Stamp::place);
    let place = place.filter(|place| place.oldest.is_none() || place.oldest == oldest);
    let cursor = place.and_then(|place| place.cursor.parse::<Cursor>().ok());
    let mut removed = 0;
    if cursor.is_none() && stamp.is_some() {
        removed = memory.forget_records(name)?;
    }
    let read = memory.write_records(scope, name, |writer| {
        let cursor = read(&mesh, cursor.unwrap_or(Cursor::START), writer)?;
        let cursor = cursor.to_string();
        Ok::<_, RecordError>(Stamp::new(watched, &Place { cursor, oldest }).text())
    })?;
    Ok(UpdateReport {
        removed: read.removed + removed,
        ..read
    })
}

/// Writes what the events behind a place say; returns the place behind the last of them.
fn read(mesh: &Mesh, from: Cursor, writer: &mut RecordWriter<'_>) -> Result<Cursor, RecordError> {
    let mut reader = mesh.journal().read_after(&from);
    loop {
        let batch = reader.next_batch(BATCH);
        let batch = batch.map_err(|error| RecordError::store(&error))?;
        if batch
            .notices
            .iter()
            .any(|notice| matches!(notice, Notice::Reset { .. }))
        {
            // Of another log: the oldest file has another name, or its events are read over those that are known.
            tracing::debug!("the log of the mesh is another one");
        }
        for event in &batch.events {
            take(event, writer)?;
        }
        if batch.is_end {
            return Ok(reader.cursor());
        }
    }
}

/// Writes what an event says.
fn take(event: &Event, writer: &mut RecordWriter<'_>) -> Result<(), RecordError> {
    let Some(effect) = Effect::of(event) else {
        return Ok(());
    };
    let by = event.source.as_str();
    let at = Some(event.timestamp);
    let record = |kind, id: String, part, title: Option<String>, turn: Option<Turn>| Record {
        kind,
        id,
        part,
        folder: event.cwd.clone(),
        title,
        turns: turn.into_iter().collect(),
    };
    let record = match effect {
        Effect::MessageSent {
            id, to, content, ..
        } if !event.source.is_us() => {
            let title = Some(format!("{by} to {to}"));
            let turn = Turn::new(Speaker::Agent, at, &content);
            record(RecordKind::Message, id, "", title, turn)
        }
        Effect::MessageMoved {
            message,
            receipt: Receipt::Dropped,
            ..
        } => return Ok(writer.remove(RecordKind::Message, &message)?),
        Effect::TaskAdded {
            id,
            assigned_to,
            prompt,
            ..
        } => {
            let whom = assigned_to.map_or("any agent".to_owned(), |agent| agent.to_string());
            let title = Some(format!("{by} to {whom}"));
            let turn = Turn::new(Speaker::User, at, &prompt);
            record(RecordKind::Task, id, "", title, turn)
        }
        Effect::TaskChanged { task, set } => {
            if let Some(prompt) = set.get("prompt").and_then(Value::as_str) {
                let turn = Turn::new(Speaker::User, at, prompt);
                writer.put(record(RecordKind::Task, task.clone(), "", None, turn))?;
            }
            let Some(result) = set.get("result").and_then(Value::as_str) else {
                return Ok(());
            };
            let turn = Turn::new(Speaker::Agent, at, result);
            record(RecordKind::Task, task, "result", None, turn)
        }
        Effect::TaskCompleted { task, result, .. } => {
            let turn = Turn::new(Speaker::Agent, at, &result.unwrap_or_default());
            record(RecordKind::Task, task, "result", None, turn)
        }
        Effect::TaskCancelled { task, reason } => {
            let turn = Turn::new(Speaker::Agent, at, &format!("canceled: {reason}"));
            record(RecordKind::Task, task, "result", None, turn)
        }
        Effect::Discovered { id, content } => {
            let id = id.unwrap_or_else(|| event.id.clone());
            let turn = Turn::new(Speaker::Agent, at, &content);
            record(
                RecordKind::Discovery,
                id,
                "",
                Some(format!("by {by}")),
                turn,
            )
        }
        Effect::DiscoveryRemoved { discovery } => {
            return Ok(writer.remove(RecordKind::Discovery, &discovery)?);
        }
        _ => return Ok(()),
    };
    Ok(writer.put(record)?)
}
