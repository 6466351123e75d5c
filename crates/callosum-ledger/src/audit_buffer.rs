//! [`AuditBuffer`]: events that the journal could not take, kept outside of the project until it
//! can (Seed CAL §7.1, E008).
//!
//! Every event has an id, which its record in the journal carries as `details.buffered`. So moving
//! events to the journal can be interrupted anywhere, and continues with those that the journal
//! lacks. The format in full: `docs/formats/audit-buffer.md`.
//!
//! Deliberately not here: entries. Nothing is committed without its record.

use std::{collections::HashSet, io, path::Path, time::Duration};

use callosum_host::{Disk, DiskError, FileLock, Ids, LockError, OpenHow, disk::Operation};
use jiff::{Timestamp, ToSpan};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    chain::BUFFER,
    event::{AuditEvent, AuditRecord, Event},
    journal::{day_files, day_of},
    lines::Lines,
    paths::LedgerPaths,
    quarantine,
    task_id::TaskId,
};
use callosum_json::Checksum;

/// Time for which a process that holds the ledger waits for one that only leaves an event here.
const PATIENCE: Duration = Duration::from_millis(500);

/// Detail of a record that holds the id of the buffer's event.
const BUFFERED: &str = "buffered";

/// An event that waits.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Buffered {
    /// With its id among its details.
    pub(crate) event: AuditEvent,
    pub(crate) at: Timestamp,
}

#[derive(Serialize, Deserialize)]
struct Line {
    id: String,
    timestamp: Timestamp,
    task_id: Option<TaskId>,
    executor: Option<String>,
    hash: Option<Checksum>,
    status: Option<String>,
    event: Event,
    details: Map<String, Value>,
}

/// The events that wait, and how long the buffer was when it was read.
#[derive(Debug, Default)]
pub(crate) struct BufferedEvents {
    pub(crate) events: Vec<Buffered>,
    pub(crate) len: u64,
}

/// Durability that an event needs before the caller reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    /// The event must be on disk: no other copy exists.
    Now,
    /// With the system's next write-back, for callers that cannot wait for a disk.
    Later,
}

/// Appends events to the buffer, durably, behind those already in it.
///
/// After an error the buffer holds none of these events, as long as the disk still obeys. A caller
/// that keeps them in memory then does not find them here as well.
pub(crate) fn append<'e>(
    disk: &Disk,
    path: &Path,
    ids: &Ids,
    events: impl Iterator<Item = (&'e AuditEvent, Timestamp)>,
) -> Result<(), DiskError> {
    append_within(disk, path, ids, events, Durability::Now, PATIENCE)
}

/// The same, waiting no longer than `patience` for others who write to it.
pub(crate) fn append_within<'e>(
    disk: &Disk,
    path: &Path,
    ids: &Ids,
    events: impl Iterator<Item = (&'e AuditEvent, Timestamp)>,
    durably: Durability,
    patience: Duration,
) -> Result<(), DiskError> {
    let mut bytes = Vec::new();
    for (event, at) in events {
        let from = bytes.len();
        let line = Line {
            id: ids.uuid_v4(),
            timestamp: at,
            task_id: event.task_id.clone(),
            executor: event.executor.clone(),
            hash: event.hash,
            status: event.status.clone(),
            event: event.event,
            details: event.details.clone(),
        };
        serde_json::to_writer(&mut bytes, &line).expect("JSON values are printed to memory");
        bytes.pop();
        BUFFER.seal(&mut bytes, from);
    }
    if bytes.is_empty() {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        disk.create_private_dir(folder)?;
    }
    // The file gets its mode here; if this one was just removed, the lock below may be on another
    // file.
    drop(disk.open(path, OpenHow::READ_WRITE_CREATE.with_mode(0o600))?);
    let _lock = FileLock::acquire(disk, path, patience).map_err(not_locked)?;
    let file = disk.open(path, OpenHow::READ_WRITE_CREATE.with_mode(0o600))?;
    let end = file.size()?;
    if end > 0 && file.read_range(end - 1, 1)? != b"\n" {
        // What a crash left unfinished ends here, and is no event.
        bytes.insert(0, b'\n');
    }
    let written = file.write_at(&bytes, end);
    if durably == Durability::Later {
        return written.inspect_err(|_| drop(file.set_len(end)));
    }
    let written = written
        .and_then(|()| file.sync_all())
        .and_then(|()| path.parent().map_or(Ok(()), |folder| disk.sync_dir(folder)));
    written.inspect_err(|_| {
        drop(file.set_len(end));
        // Earlier bytes may have waited for the same sync.
        drop(file.write_again());
    })
}

/// The events that wait and that the journal does not have, in their order.
pub(crate) fn waiting(
    disk: &Disk,
    paths: &LedgerPaths,
    path: &Path,
) -> Result<BufferedEvents, DiskError> {
    let Some(bytes) = disk.read_if_there(path)? else {
        return Ok(BufferedEvents::default());
    };
    let len = bytes.len() as u64;
    let lines: Vec<Line> = bytes
        .split(|byte| *byte == b'\n')
        .filter_map(read)
        .collect();
    let Some(first) = lines.iter().map(|line| line.timestamp).min() else {
        let events = Vec::new();
        return Ok(BufferedEvents { events, len });
    };
    let taken = taken_over(disk, paths, first)?;
    let events = lines
        .into_iter()
        .filter(|line| !taken.contains(&line.id))
        .map(|line| Buffered {
            event: AuditEvent {
                event: line.event,
                task_id: line.task_id,
                executor: line.executor,
                hash: line.hash,
                status: line.status,
                details: line.details,
            }
            .with(BUFFERED, line.id),
            at: line.timestamp,
        })
        .collect();
    Ok(BufferedEvents { events, len })
}

/// Removes a buffer whose events are all in the journal, and on disk there.
///
/// Foreign lines in it are moved to the quarantine. A buffer that has grown since it had `len`
/// bytes stays, because another process added an event. Returns whether the buffer is gone.
pub(crate) fn remove(
    disk: &Disk,
    paths: &LedgerPaths,
    path: &Path,
    len: u64,
) -> Result<bool, DiskError> {
    if !disk.exists(path)? {
        return Ok(true);
    }
    let Some(_lock) = FileLock::try_acquire(disk, path)? else {
        return Ok(false);
    };
    let Some(bytes) = disk.read_if_there(path)? else {
        return Ok(true);
    };
    if bytes.len() as u64 != len {
        return Ok(false);
    }
    let mut lines = bytes.split(|byte| *byte == b'\n');
    if lines.any(|line| !line.is_empty() && read(line).is_none()) {
        quarantine::keep(disk, paths, path, &bytes)?;
    }
    disk.remove_file(path)?;
    match path.parent() {
        Some(folder) => disk.sync_dir(folder).map(|()| true),
        None => Ok(true),
    }
}

fn not_locked(error: LockError) -> DiskError {
    match error {
        LockError::Timeout { path, .. } => DiskError {
            operation: Operation::Lock,
            path,
            source: io::ErrorKind::WouldBlock.into(),
        },
        LockError::Disk(error) => error,
    }
}

fn read(line: &[u8]) -> Option<Line> {
    BUFFER.check(line).ok()?;
    serde_json::from_slice(line).ok()
}

/// The ids of the events that the journal has taken over, since the first of them happened.
fn taken_over(
    disk: &Disk,
    paths: &LedgerPaths,
    since: Timestamp,
) -> Result<HashSet<String>, DiskError> {
    // If a clock went back since then, records continue in the later day's file; one that was a day
    // ahead when the event happened may have been set right.
    let first_day = day_of(since).saturating_sub(1.day());
    let finder = memchr::memmem::Finder::new("\"buffered\":\"");
    let mut ids = HashSet::new();
    for day in day_files(disk, &paths.audit)? {
        if day.day < first_day {
            continue;
        }
        let file = disk.open(&day.path, OpenHow::READ)?;
        let mut lines = Lines::new(&file, 0, file.size()?);
        while let Some(line) = lines.next()? {
            if finder.find(line.bytes).is_none() {
                continue;
            }
            let record: Option<AuditRecord> = serde_json::from_slice(line.bytes).ok();
            let id = record.and_then(|mut record| record.details.remove(BUFFERED));
            if let Some(Value::String(id)) = id {
                ids.insert(id);
            }
        }
    }
    Ok(ids)
}
