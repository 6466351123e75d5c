//! [`Instance`]: the one daemon of a machine's home, and how others find it.
//!
//! Who holds `mesh/serve.lock` is it; the lock of one that died is free, so that nothing stale has to be told from
//! what lives. `mesh/serve.json` says where it is found, for people and scripts.

use std::{
    io::{self, Read as _, Write as _},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    time::Duration,
};

use callosum_host::{Disk, DiskError, FileLock};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How long the daemon is waited for to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Longest answer of it.
const LONGEST: u64 = 1024 * 1024;

/// What is served, and where: the content of `mesh/serve.json`.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub(crate) struct Serving {
    /// The daemon's process.
    pub(crate) pid: u32,
    /// The version of the program that serves.
    pub(crate) version: String,
    /// Since when, in UTC.
    pub(crate) started: String,
    /// The socket, which only this user may open.
    pub(crate) socket: String,
    /// The id of the log that is served.
    pub(crate) origin: String,
    /// The address of events over HTTP; null where they are not served.
    pub(crate) events: Option<String>,
    /// The address of the bus; null where it is not served.
    pub(crate) bus: Option<String>,
    /// The address of the metrics; null where they are not served.
    pub(crate) metrics: Option<String>,
    /// What was to be served and is not.
    pub(crate) unserved: Vec<Unserved>,
}

/// Something that could not be served.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub(crate) struct Unserved {
    /// `events`, `bus` or `metrics`.
    pub(crate) what: String,
    /// Where it was to be.
    pub(crate) address: String,
    /// Why it is not there.
    pub(crate) reason: String,
}

/// The right to serve a machine's home, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Instance {
    disk: Disk,
    folder: PathBuf,
    _lock: FileLock,
}

impl Instance {
    /// Becomes the one that serves what is in `folder`; `None` where another is.
    pub(crate) fn begin(disk: &Disk, folder: &Path) -> Result<Option<Self>, DiskError> {
        disk.create_private_dir(folder)?;
        let lock =
            callosum_host::LockFile::private().try_acquire(disk, &folder.join("serve.lock"))?;
        Ok(lock.map(|lock| Self {
            disk: disk.clone(),
            folder: folder.to_owned(),
            _lock: lock,
        }))
    }

    /// The socket's path, where nothing stands any more.
    pub(super) fn socket(&self) -> Result<PathBuf, DiskError> {
        let path = socket(&self.folder);
        self.disk.remove_file(&path)?;
        Ok(path)
    }

    /// Tells others where it is found.
    pub(super) fn tell(&self, serving: &Serving) -> Result<(), DiskError> {
        let mut text = serde_json::to_string_pretty(serving).expect("it can be written as JSON");
        text.push('\n');
        self.disk
            .replace_unsynced(&self.folder.join("serve.json"), text.as_bytes(), 0o600)
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // What is left is taken over by the next.
        drop(self.disk.remove_file(&self.folder.join("serve.json")));
        drop(self.disk.remove_file(&socket(&self.folder)));
    }
}

/// The daemon's own answer to who it is; an error where none answers.
pub(crate) fn running(folder: &Path) -> io::Result<Value> {
    ask(folder, "GET", "/status")
}

/// Asks the daemon that serves what is in `folder` something, by way of its socket.
pub(crate) fn ask(folder: &Path, method: &str, path: &str) -> io::Result<Value> {
    let mut stream = UnixStream::connect(socket(folder))?;
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
    value.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "it answers something else"))
}

pub(super) fn socket(folder: &Path) -> PathBuf {
    folder.join("serve.sock")
}
