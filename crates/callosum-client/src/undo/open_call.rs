//! [`OpenCalls`]: calls that have begun and not ended, and [`Turns`]: the turn that each session is in.
//!
//! Both are small files in the machine's home, named by checksums. The hook after a call finds there what the hook before
//! it recorded; of a call for which nothing was recorded there is no file, and nothing else is looked up.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use callosum_host::{Disk, DiskError};
use callosum_json::Checksum;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use callosum_config::Homes;

/// Time for which an unfinished call or turn is remembered.
const REMEMBERED: Duration = Duration::from_hours(72);

/// Most files in a folder before old ones are removed.
const MOST: usize = 64;

/// A call that has begun.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenCall {
    /// The id of its record.
    pub id: String,
    /// The top of the tree that it changes.
    pub tree: PathBuf,
    /// The files that a file tool writes, as they are recorded.
    pub files: Vec<String>,
    /// Whether it is a command for which a snapshot is taken.
    pub is_command: bool,
    /// The snapshot, if its id was known before the command ran.
    pub snapshot: Option<String>,
}

/// Calls that have begun and not ended.
#[derive(Clone, Debug)]
pub struct OpenCalls {
    folder: Folder,
}

impl OpenCalls {
    /// Opens the records in the machine's home.
    pub fn new(disk: &Disk, homes: &Homes) -> Self {
        Self {
            folder: Folder::new(disk, homes, "open"),
        }
    }

    /// Remembers a call by `key`, which its client's next event about it has as well.
    pub fn begin(&self, key: &str, call: &OpenCall, now: Timestamp) -> Result<(), DiskError> {
        let bytes = serde_json::to_vec(call).expect("plain data has a JSON form");
        self.folder.write(key, &bytes, now)
    }

    /// Returns whether another call is about to write this file of a tree. Reads at most 64 small files.
    pub fn are_about(&self, tree: &Path, file: &str) -> bool {
        let folder = &self.folder;
        let listed = folder.disk.list_dir(&folder.path).unwrap_or_default();
        listed.iter().take(MOST).any(|entry| {
            let bytes = folder.disk.read_if_there(&folder.path.join(&entry.name));
            let bytes = bytes.ok().flatten().unwrap_or_default();
            let call: Option<OpenCall> = serde_json::from_slice(&bytes).ok();
            call.is_some_and(|call| call.tree == tree && call.files.iter().any(|one| one == file))
        })
    }

    /// Returns the call, and forgets it.
    pub fn end(&self, key: &str) -> Option<OpenCall> {
        let path = self.folder.path(key);
        let bytes = self.folder.disk.read_if_there(&path).ok()??;
        // Another hook of the same event may have taken it just now.
        let is_ours = self.folder.disk.remove_file(&path).unwrap_or(false);
        is_ours.then(|| serde_json::from_slice(&bytes).ok())?
    }
}

/// The turn that each session is in.
#[derive(Clone, Debug)]
pub struct Turns {
    folder: Folder,
}

impl Turns {
    /// Opens the records in the machine's home.
    pub fn new(disk: &Disk, homes: &Homes) -> Self {
        Self {
            folder: Folder::new(disk, homes, "turns"),
        }
    }

    /// Begins a turn of a session.
    pub fn begin(
        &self,
        agent: &str,
        session: &str,
        turn: &str,
        now: Timestamp,
    ) -> Result<(), DiskError> {
        let key = format!("{agent}\0{session}");
        self.folder.write(&key, turn.as_bytes(), now)
    }

    /// Returns the turn that a session is in; `None` if no prompt of it was seen.
    pub fn current(&self, agent: &str, session: &str) -> Option<String> {
        let path = self.folder.path(&format!("{agent}\0{session}"));
        let bytes = self.folder.disk.read_if_there(&path).ok()??;
        String::from_utf8(bytes).ok()
    }
}

#[derive(Clone, Debug)]
struct Folder {
    disk: Disk,
    path: PathBuf,
}

impl Folder {
    fn new(disk: &Disk, homes: &Homes, name: &str) -> Self {
        Self {
            disk: disk.clone(),
            path: homes.machine.join("undo").join(name),
        }
    }

    /// A client chooses its ids: they are no names of files.
    fn path(&self, key: &str) -> PathBuf {
        self.path.join(Checksum::of(key.as_bytes()).to_string())
    }

    fn write(&self, key: &str, bytes: &[u8], now: Timestamp) -> Result<(), DiskError> {
        self.disk.create_private_dir(&self.path)?;
        let all = self.disk.list_dir(&self.path)?;
        for entry in all.iter().filter(|_| all.len() > MOST) {
            let path = self.path.join(&entry.name);
            let stat = self.disk.stat(&path)?;
            let age = stat.and_then(|stat| {
                let now = std::time::SystemTime::from(now);
                now.duration_since(stat.modified).ok()
            });
            if age.is_some_and(|age| age > REMEMBERED) {
                self.disk.remove_file(&path)?;
            }
        }
        self.disk.replace_unsynced(&self.path(key), bytes, 0o600)
    }
}
