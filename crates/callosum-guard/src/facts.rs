//! Known facts about the environment in which a command would run: plain values that the caller
//! gathered.
//!
//! A decision reads these and nothing else, so that the same facts give the same verdict a year
//! later. Deliberately not here: looking anything up.

use serde::{Deserialize, Serialize};

use crate::{git_state::GitState, path};

/// The facts that a decision rests on. Paths are absolute, with links resolved by the caller.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// The folder in which the command starts.
    pub cwd: Option<String>,
    /// The home folder of who runs it.
    pub home: Option<String>,
    /// The root of the project; nothing outside is to be changed.
    pub root: Option<String>,
    /// The folder of the project's records, if that is not the root: for a linked worktree the main
    /// one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The repository's own folder, `.git` as a rule, elsewhere for a linked worktree.
    pub git_dir: Option<String>,
    /// Whether the root is a linked worktree of a repository in another place.
    pub worktree: bool,
    /// Whether the root has records of this program, so that a pattern may include them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub initialised: bool,
    /// Whether git passes these records over.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ignored: bool,
    /// The system's temporary folders.
    pub free: Vec<String>,
    /// Folders outside the root that the client was given: written in like the project, but without
    /// snapshots.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub given: Vec<String>,
    /// Files and folders outside of the project by which the guard itself is steered. A free folder
    /// inside of one is free all the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<String>,
    /// The one of these in which this program keeps what is the machine's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// Targets of links, by the path of the link, for those on the way to a path that is judged.
    #[serde(skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub links: std::collections::BTreeMap<String, String>,
    /// Folders with a repository of their own, among those that the command may name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub repositories: Vec<String>,
    /// Existing files among words of the command that may be a file as well as a branch, and are no
    /// branch.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub standing: Vec<String>,
    /// Folders that the command goes to, which do not exist and are not made by it: it stays where
    /// it is then, and goes on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// Folders that exist, among the paths that the command moves or copies several things to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<String>,
    /// The state of the repositories that the command is about, by the folder in which git runs. Drivers look only if the
    /// command would be stopped otherwise; see [`CommandAnalysis::questions`](crate::CommandAnalysis::questions).
    #[serde(skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub git: std::collections::BTreeMap<String, GitState>,
    /// Paths that the command deletes and that do not exist.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<String>,
}

impl Facts {
    /// Returns the project that a folder is in; the folder itself if it is in none.
    pub(crate) fn tree_of(&self, folder: &str, cwd: Option<&str>) -> String {
        let folder = path::absolute(folder, cwd);
        let root = self.root.as_deref();
        let root = root.filter(|root| path::is_within(&folder, root));
        root.map_or(folder.clone(), str::to_owned)
    }
}

#[cfg(test)]
impl Facts {
    /// Those of a project in a home folder, as tests take them to be.
    pub(crate) fn of_a_project() -> Self {
        Self {
            cwd: Some("/home/u/p".to_owned()),
            home: Some("/home/u".to_owned()),
            root: Some("/home/u/p".to_owned()),
            git_dir: Some("/home/u/p/.git".to_owned()),
            repositories: vec!["/home/u/p/cloned".to_owned(), "/tmp/cloned".to_owned()],
            kept: vec!["/home/u/.local/state/callosum".to_owned()],
            machine: Some("/home/u/.local/state/callosum".to_owned()),
            standing: vec![
                "/home/u/p/Makefile".to_owned(),
                "/home/u/p/crates".to_owned(),
            ],
            ..Self::default()
        }
    }
}
