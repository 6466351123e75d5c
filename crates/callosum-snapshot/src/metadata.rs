//! [`Snapshot`]: metadata of a snapshot, as in its file (`docs/formats/snapshot.md`).

use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The format that this version writes; of another one nothing is read.
pub(super) const FORMAT: u32 = 1;

/// Metadata of a snapshot (Seed CAKE §4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The format of the file.
    pub format: u32,
    /// A UUID.
    pub snapshot_id: String,
    /// The purpose of the snapshot.
    pub label: String,
    /// When.
    pub timestamp: Timestamp,
    /// The commit that was checked out, if there is one.
    pub git_commit: Option<String>,
    /// The branch that was checked out, if there is one.
    pub branch: Option<String>,
    /// Files that differ from that commit; every file if there is none.
    pub dirty_files: Vec<String>,
    /// Errors for which it is kept until they are resolved.
    pub linked_errors: Vec<String>,
    /// Bytes of the files that were read for it.
    pub size_bytes: u64,
    /// Whether it is kept until a person removes it.
    pub checkpoint: bool,
    /// The tree's top folder.
    pub tree_path: PathBuf,
    /// The commit in our repository.
    pub commit: String,
    /// The tree in our repository.
    pub tree: String,
    /// The pack that holds all of it, if it is pinned and would otherwise borrow from the user's
    /// objects.
    pub pack: Option<String>,
    /// Files that it does not hold.
    pub not_covered: NotCovered,
    /// The only files, folders and patterns that it was to hold, seen from the tree's top folder;
    /// if there are none, it is of the tree.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    /// The files, folders and patterns that it was to hold besides the tree, ignored or not, seen
    /// from the tree's top folder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// Files that a restore of another snapshot created, if this one was taken before that: a
    /// restore of this one removes them, as long as they are unchanged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made: Vec<Made>,
    /// The agent's call that it was taken before, by the id of its record (`docs/formats/undo.md`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
}

/// A file that going back has made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Made {
    /// The file, seen from the tree's top folder.
    pub path: String,
    /// The content that was written into it, in git's name.
    pub blob: String,
}

/// Files that a snapshot does not hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotCovered {
    /// Files and folders that are ignored, the first of them.
    pub ignored: Vec<String>,
    /// Number of ignored files and folders.
    pub ignored_count: usize,
    /// Submodules, and repositories inside of the tree.
    pub repositories: Vec<String>,
    /// Files over the size cap.
    pub too_large: Vec<TooLarge>,
    /// Of what was named for it to hold, what it does not: files, repositories inside, and names of
    /// more than it takes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub named: Vec<String>,
}

/// A file that is too large for a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TooLarge {
    /// The file.
    pub path: String,
    /// Its size.
    pub bytes: u64,
}

impl NotCovered {
    /// Whether it holds everything.
    pub fn is_nothing(&self) -> bool {
        self.ignored_count == 0
            && self.repositories.is_empty()
            && self.too_large.is_empty()
            && self.named.is_empty()
    }
}

impl Snapshot {
    /// Whether it is kept regardless of its age.
    pub fn is_pinned(&self) -> bool {
        self.checkpoint || !self.linked_errors.is_empty()
    }
}
