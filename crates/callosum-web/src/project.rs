//! Projects of this machine, and the files whose changes make a view stale.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

use callosum_host::Disk;
use sha2::{Digest as _, Sha256};

use crate::form_token::hexadecimal;

/// Something that views show, and that changes as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// Agents, tasks, messages and discoveries.
    Mesh,
    /// The audit journal: decisions of the guard, runs of plans, tasks of executors.
    Journal,
    /// The ledger.
    Ledger,
    /// Decisions, beads and hand-offs.
    Sessions,
    /// Snapshots of the tree.
    Snapshots,
    /// Errors and their fixes.
    Recall,
}

impl Subject {
    /// All subjects.
    pub(crate) const ALL: [Self; 6] = [
        Self::Mesh,
        Self::Journal,
        Self::Ledger,
        Self::Sessions,
        Self::Snapshots,
        Self::Recall,
    ];

    /// Returns the name that pages use.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Mesh => "mesh",
            Self::Journal => "journal",
            Self::Ledger => "ledger",
            Self::Sessions => "sessions",
            Self::Snapshots => "snapshots",
            Self::Recall => "recall",
        }
    }
}

/// Questions of the page about this machine.
pub trait Machine: Send + Sync {
    /// Returns the roots of the projects that the page offers, the most likely one first.
    fn projects(&self) -> Vec<PathBuf>;

    /// Returns files and folders whose changes mean that a subject changed.
    fn watched(&self, root: &Path) -> Vec<(Subject, PathBuf)>;

    /// Returns the agent whose process, or a process that it started, is at the other end of a connection; `None` if it is no
    /// agent's. The daemon's own address is the first.
    fn agent_at(&self, ends: (SocketAddr, SocketAddr)) -> Option<String>;
}

/// A project as the page addresses it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Project {
    pub(crate) root: PathBuf,
    /// The first 12 hexadecimal digits of the SHA-256 of the root's path.
    pub(crate) id: String,
    /// Last component of the path.
    pub(crate) name: String,
}

impl Project {
    pub(crate) fn new(root: PathBuf) -> Self {
        let digest = Sha256::digest(root.as_os_str().as_encoded_bytes());
        let id = hexadecimal(&digest[..6]);
        let name = root.file_name().unwrap_or(root.as_os_str());
        Self {
            id,
            name: name.to_string_lossy().into_owned(),
            root,
        }
    }
}

/// State of the files of a subject: another value means that it changed.
pub(crate) fn stamp(disk: &Disk, paths: &[&Path]) -> u64 {
    use std::hash::{DefaultHasher, Hasher as _};
    let mut hasher = DefaultHasher::new();
    for path in paths {
        add(disk, path, 2, &mut hasher);
    }
    hasher.finish()
}

/// Adds size and time of a file, and of what is in a folder.
fn add(disk: &Disk, path: &Path, depth: usize, hasher: &mut impl std::hash::Hasher) {
    use std::hash::Hash as _;
    let Ok(Some(stat)) = disk.stat(path) else {
        0u8.hash(hasher);
        return;
    };
    (stat.len, stat.modified).hash(hasher);
    if stat.kind == callosum_host::disk::EntryKind::Folder && depth > 0 {
        // A folder that cannot be listed counts as unchanged.
        for entry in disk.list_dir(path).unwrap_or_default() {
            add(disk, &path.join(&entry.name), depth - 1, hasher);
        }
    }
}
