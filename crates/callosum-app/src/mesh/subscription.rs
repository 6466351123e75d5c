//! [`Subscription`]: state that a subscriber keeps from one start to the next: its position, and the events that it
//! read and has not delivered yet.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::PathBuf;

use callosum_host::{Disk, DiskError, FileLock};
use callosum_mesh::journal::Cursor;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of the file.
const FORMAT: u32 = 1;

/// Most events that wait to be taken. No more are read while there are so many.
pub const MOST_PENDING: usize = 1000;

/// State of a subscriber, in a file if one is given.
#[derive(Debug)]
pub struct Subscription {
    disk: Disk,
    path: Option<PathBuf>,
    /// Held as long as this lives: two subscribers with one file would each overwrite the other's
    /// pending events.
    _lock: Option<FileLock>,
    /// The position in the log, if one is known.
    pub cursor: Option<Cursor>,
    /// The events that were read and not delivered.
    pub pending: VecDeque<Value>,
}

/// Suffix of the lock's file name.
const LOCK: &str = ".lock";

#[derive(Deserialize, Serialize)]
struct File {
    format: u32,
    cursor: Option<String>,
    #[serde(default)]
    pending: VecDeque<Value>,
}

/// The only part of the file that every version has.
#[derive(Deserialize)]
struct Version {
    format: u32,
}

/// A state that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SubscriptionError {
    /// The file cannot be read or written.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// Another process remembers in it.
    #[error("another `callosum mesh subscribe` uses {}: give each its own state file", .0.display())]
    Taken(PathBuf),
    /// It is none of ours.
    #[error("{} is not a state file of `callosum mesh subscribe`: {reason}", path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// Fault of the content.
        reason: String,
    },
    /// A newer version of the program wrote it.
    #[error("{} has format {found}, which is newer than 1", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
    },
}

impl Subscription {
    /// Opens the file, or the one that a link there leads to; the state is empty if there is none.
    /// No other process opens it until this is dropped.
    pub fn open(disk: &Disk, path: Option<PathBuf>) -> Result<Self, SubscriptionError> {
        let path = path.map(|path| disk.canonicalize(&path).unwrap_or(path));
        let lock = match &path {
            Some(path) => {
                let mut name = OsString::from(path);
                name.push(LOCK);
                let lock = FileLock::try_acquire(disk, &PathBuf::from(name))?;
                Some(lock.ok_or_else(|| SubscriptionError::Taken(path.clone()))?)
            }
            None => None,
        };
        let mut own = Self {
            disk: disk.clone(),
            path,
            _lock: lock,
            cursor: None,
            pending: VecDeque::new(),
        };
        let Some(path) = &own.path else {
            return Ok(own);
        };
        let Some(bytes) = disk.read_if_there(path)? else {
            return Ok(own);
        };
        let form = |reason: String| SubscriptionError::Form {
            path: path.clone(),
            reason,
        };
        let Version { format } =
            serde_json::from_slice(&bytes).map_err(|error| form(error.to_string()))?;
        if format > FORMAT {
            return Err(SubscriptionError::Newer {
                path: path.clone(),
                found: format,
            });
        }
        let file: File = serde_json::from_slice(&bytes).map_err(|error| form(error.to_string()))?;
        let cursor = file.cursor.map(|cursor| cursor.parse::<Cursor>());
        own.cursor = cursor
            .transpose()
            .map_err(|error| form(error.to_string()))?;
        own.pending = file.pending;
        Ok(own)
    }

    /// Writes it down, in one step.
    pub fn keep(&self) -> Result<(), SubscriptionError> {
        let Some(path) = &self.path else {
            return Ok(());
        };
        let file = File {
            format: FORMAT,
            cursor: self.cursor.as_ref().map(Cursor::to_string),
            pending: self.pending.clone(),
        };
        let mut bytes = serde_json::to_vec(&file).unwrap_or_default();
        bytes.push(b'\n');
        Ok(self.disk.replace_unsynced(path, &bytes, 0o600)?)
    }
}
