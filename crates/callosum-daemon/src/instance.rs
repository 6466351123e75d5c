//! [`Instance`]: the single daemon of a machine's home, and the files by which others find it.
//!
//! The holder of `mesh/serve.lock` is the daemon. The lock of a dead one is free, so that there is
//! no stale state to detect. `mesh/serve.json` has its addresses, for people and scripts.

use std::{
    cell::{Cell, RefCell},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    time::Duration,
};

use callosum_host::{Disk, DiskError, FileLock, LockFile, disk::FileId, socket::connect};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Longest wait for an answer of the daemon.
const PATIENCE: Duration = Duration::from_secs(2);

/// Longest answer of it.
const LONGEST: u64 = 1024 * 1024;

/// Addresses of the daemon: the content of `mesh/serve.json`.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Serving {
    /// The daemon's process.
    pub pid: u32,
    /// The version of the program that serves.
    pub version: String,
    /// Since when, in UTC.
    pub started: String,
    /// The socket, which only this user may open.
    pub socket: String,
    /// The id of the log that is served.
    pub origin: String,
    /// The address of events over HTTP; null where they are not served.
    pub events: Option<String>,
    /// The address of the bus; null where it is not served.
    pub bus: Option<String>,
    /// The address of the metrics; null where they are not served.
    pub metrics: Option<String>,
    /// The address of the page; null if it is not served.
    #[serde(default)]
    pub page: Option<String>,
    /// The address of queries about past sessions; null if they are not served.
    #[serde(default)]
    pub memory: Option<String>,
    /// Services that could not be started.
    pub unserved: Vec<Unserved>,
}

/// Something that could not be served.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Unserved {
    /// `events`, `bus`, `metrics`, `page` or `memory`.
    pub what: String,
    /// Address that was requested.
    pub address: String,
    /// Reason for the failure.
    pub reason: String,
}

/// The right to serve a machine's home, given back when it is dropped.
#[derive(Debug)]
pub struct Instance {
    disk: Disk,
    folder: PathBuf,
    lock: RefCell<FileLock>,
    /// The socket that it answers at.
    socket: Cell<Option<FileId>>,
    /// Whether another serves here since.
    is_lost: Cell<bool>,
}

/// Whether a daemon is still found where it serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stand {
    InPlace,
    /// Its socket is gone, and it may make another.
    Removed,
    /// Another daemon has begun to serve there.
    Lost,
}

impl Instance {
    /// Becomes the one that serves what is in `folder`; `None` where another is.
    pub fn begin(disk: &Disk, folder: &Path) -> Result<Option<Self>, DiskError> {
        let lock = locked(disk, folder)?;
        Ok(lock.map(|lock| Self {
            disk: disk.clone(),
            folder: folder.to_owned(),
            lock: RefCell::new(lock),
            socket: Cell::default(),
            is_lost: Cell::default(),
        }))
    }

    /// The socket's path.
    pub(super) fn socket(&self) -> PathBuf {
        socket(&self.folder)
    }

    /// Removes the file in the socket's place.
    pub(super) fn make_room(&self) -> Result<(), DiskError> {
        self.disk.remove_file(&self.socket())?;
        Ok(())
    }

    /// Records that the socket in its place now is its own.
    pub(super) fn note_socket(&self) -> Result<(), DiskError> {
        let stat = self.disk.stat(&self.socket())?;
        self.socket.set(stat.and_then(|stat| stat.id));
        Ok(())
    }

    /// Returns whether it can still be found. If its lock was removed, it acquires the one that is
    /// in its place now.
    pub(super) fn stand(&self) -> Result<Stand, DiskError> {
        let path = lock_path(&self.folder);
        if !self.lock.borrow().stands_at(&self.disk, &path)? {
            let Some(lock) = locked(&self.disk, &self.folder)? else {
                self.is_lost.set(true);
                return Ok(Stand::Lost);
            };
            self.lock.replace(lock);
        }
        let stat = self.disk.stat(&self.socket())?;
        let is_own = stat.is_some_and(|stat| stat.id == self.socket.get());
        Ok(if is_own {
            Stand::InPlace
        } else {
            Stand::Removed
        })
    }

    /// Tells others where it is found.
    pub(super) fn write_addresses(&self, serving: &Serving) -> Result<(), DiskError> {
        let mut text = serde_json::to_string_pretty(serving).expect("it can be written as JSON");
        text.push('\n');
        self.disk
            .replace_unsynced(&self.folder.join("serve.json"), text.as_bytes(), 0o600)
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        if self.is_lost.get() {
            return;
        }
        // What is left is taken over by the next.
        drop(self.disk.remove_file(&self.folder.join("serve.json")));
        drop(self.disk.remove_file(&socket(&self.folder)));
    }
}

/// The daemon's own answer to who it is; an error where none answers.
pub fn running(folder: &Path) -> io::Result<Value> {
    ask(folder, "GET", "/status")
}

/// Asks the daemon that serves what is in `folder` something, by way of its socket.
pub fn ask(folder: &Path, method: &str, path: &str) -> io::Result<Value> {
    let mut stream = connect(&socket(folder))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
    );
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    stream.take(LONGEST).read_to_end(&mut answer)?;
    let answer = String::from_utf8_lossy(&answer);
    let is_well = answer.starts_with("HTTP/1.1 200 ");
    let body = answer.split_once("\r\n\r\n").map(|(_, body)| body);
    let value = body
        .filter(|_| is_well)
        .and_then(|body| serde_json::from_str(body).ok());
    value.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "unexpected response"))
}

/// Whether a daemon that does not answer may be there all the same: it holds the lock, or its files were removed.
pub fn may_be_there(disk: &Disk, folder: &Path) -> Result<bool, DiskError> {
    let path = lock_path(folder);
    let is_free = disk.exists(&path)? && LockFile::private().try_acquire(disk, &path)?.is_some();
    Ok(!is_free)
}

/// Whether a daemon holds the lock, no matter what it answers.
pub fn is_held(disk: &Disk, folder: &Path) -> Result<bool, DiskError> {
    let path = lock_path(folder);
    let is_held = disk.exists(&path)? && LockFile::private().try_acquire(disk, &path)?.is_none();
    Ok(is_held)
}

/// Returns the process of the last daemon, as `mesh/serve.json` has it. `None` if there is no such
/// file.
pub fn noted_pid(disk: &Disk, folder: &Path) -> Result<Option<u32>, DiskError> {
    let bytes = disk.read_if_there(&folder.join("serve.json"))?;
    let noted = bytes.and_then(|bytes| serde_json::from_slice::<Serving>(&bytes).ok());
    Ok(noted.map(|noted| noted.pid))
}

fn lock_path(folder: &Path) -> PathBuf {
    folder.join("serve.lock")
}

fn locked(disk: &Disk, folder: &Path) -> Result<Option<FileLock>, DiskError> {
    disk.create_private_dir(folder)?;
    LockFile::private().try_acquire(disk, &lock_path(folder))
}

pub(super) fn socket(folder: &Path) -> PathBuf {
    folder.join("serve.sock")
}
