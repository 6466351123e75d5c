//! State of a git repository that a command is about, as a driver found it.
//!
//! `git_questions` names what the driver is to find out.

use serde::{Deserialize, Serialize};

/// The state of one repository. `None` means unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GitState {
    /// Tracked files that differ from the commit that is checked out, staged or not: absolute paths.
    pub changed: Option<Vec<String>>,
    /// Files that git neither tracks nor ignores: absolute paths. A folder of such files ends with a slash.
    pub untracked: Option<Vec<String>>,
    /// The same for files that git ignores.
    pub ignored: Option<Vec<String>>,
    /// Whether a branch other than the current one, a remote branch or a tag holds every commit of `HEAD`.
    pub head_is_saved: bool,
    /// Whether other branches, remote branches or tags hold every commit of all branches that were asked about,
    /// even when these are deleted together. Branches that do not exist lose nothing.
    pub branches_are_saved: bool,
    /// Whether there is any stash.
    pub has_stashes: Option<bool>,
}
