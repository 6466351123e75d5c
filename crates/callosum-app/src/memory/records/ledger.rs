//! Requests and answers of a project's ledger.
//!
//! A ledger that grew has its newest entries read. One that shrank or was replaced, as by a rotation or a recovery, is read as
//! a whole, and what it has no more goes.

use std::collections::HashSet;
use std::path::PathBuf;

use callosum_ledger::{Entry, Query, Reader};
use callosum_memory::{Memory, MemoryError, Record, RecordKind, Speaker, Turn, UpdateReport};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{FileMark, RecordError, Stamp, StoreUpdate};
use crate::context::Context;

/// Most entries of a ledger in the index: the newest.
const MOST: usize = 10_000;

/// Entries that were finished shortly before the last one that is known are looked at again: tasks that end together are
/// committed in any order.
const AGAIN: SignedDuration = SignedDuration::from_hours(1);

/// Place up to which a ledger was read.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Place {
    /// The time of the newest entry.
    newest: Option<Timestamp>,
}

/// Returns the ledger and the folder of its archives.
pub(super) fn files(context: &Context) -> Vec<PathBuf> {
    let paths = context.ledger_paths();
    vec![paths.ledger, paths.history]
}

/// Reads the entries that are new.
pub(super) fn gather(
    update: StoreUpdate<'_>,
    memory: &mut Memory,
) -> Result<UpdateReport, RecordError> {
    let StoreUpdate {
        context,
        scope,
        name,
        before,
        watched,
    } = update;
    let place: Option<Place> = before.and_then(Stamp::place);
    let grew = before.is_some_and(|before| only_grew(&before.watched, &watched));
    let since = place.and_then(|place| place.newest).filter(|_| grew);
    let query = Query {
        since: since.and_then(|since| since.checked_sub(AGAIN).ok()),
        limit: Some(MOST),
        ..Query::default()
    };
    let reader = Reader::open(context.disk.clone(), context.ledger_paths());
    let reader = reader.map_err(|error| RecordError::store(&error))?;
    let folder = context.tree().to_str().map(str::to_owned);
    memory.write_records(scope, name, |writer| {
        let mut newest = since;
        let mut ids = HashSet::new();
        let mut written: Result<(), MemoryError> = Ok(());
        let read = reader.each(&query, |entry| {
            if written.is_err() {
                return;
            }
            newest = newest.max(Some(entry.timestamp));
            ids.insert(entry.task_id.to_string());
            written = writer.put(record(entry, folder.clone()));
        });
        written?;
        read.map_err(|error| RecordError::store(&error))?;
        if query.since.is_none() {
            writer.keep(&ids)?;
        }
        Ok(Stamp::new(watched, &Place { newest }).text())
    })
}

/// Whether the ledger is the same file with more in it, and no archive came or went.
fn only_grew(before: &[(PathBuf, Option<FileMark>)], now: &[(PathBuf, Option<FileMark>)]) -> bool {
    let ([(old_path, Some(old)), old_history], [(path, Some(new)), history]) = (before, now) else {
        return false;
    };
    old_path == path && old_history == history && old.2 == new.2 && old.0 <= new.0
}

fn record(entry: Entry, folder: Option<String>) -> Record {
    let text = |key: &str| entry.metadata.get(key).and_then(Value::as_str);
    let at = Some(entry.timestamp);
    let request = text("prompt").and_then(|prompt| Turn::new(Speaker::User, at, prompt));
    let by = match text("asked_by") {
        Some(asked_by) => format!("{} for {asked_by}", entry.executor),
        None => entry.executor.clone(),
    };
    let answer = Turn::new(Speaker::Agent, at, &entry.summary);
    Record {
        kind: RecordKind::Ledger,
        id: entry.task_id.to_string(),
        part: "",
        folder,
        title: Some(by),
        turns: request.into_iter().chain(answer).collect(),
    }
}
