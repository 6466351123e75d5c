//! [`Roots`]: the tree that is read, and the folder that keeps its state.

use std::{
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use callosum_host::{Disk, DiskError};
use callosum_session::Zones;

use super::{
    belief::{Belief, ForeignMark},
    git, index,
};

/// Files that mark a folder as a root.
const MARKS: [&str; 2] = [".calrc", ".cal_memory.json"];

/// Files that git keeps while it merges.
const MERGING: [&str; 7] = [
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
    "rebase-merge",
    "rebase-apply",
    "AUTO_MERGE",
];

/// The two folders of a project; the same one except in a linked git worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roots {
    /// Folder of the ledger and all other state of the project: in a linked git worktree the main
    /// worktree, so that nothing is lost with the linked one.
    pub state: PathBuf,
    /// Folder of the sessions. It is the tree, if the tree has files of theirs, so that those that
    /// a branch commits are read from its checkout, or if its branch has them and they are lost;
    /// else the folder of the other state.
    pub sessions: PathBuf,
    /// The tree that is read: the one that the user is in.
    pub tree: PathBuf,
    /// Files on the way to the root that would mark another one, and belong to another user.
    pub foreign: Vec<ForeignMark>,
}

impl Roots {
    /// Finds the roots as seen from the folder `here`; `named` is the argument of `-C`.
    ///
    /// The tree is `named`, else the nearest folder from `here` upwards with a `.calrc` or a
    /// `.cal_memory.json`, else the git toplevel, else the nearest with the notes of sessions, else `here`. Nothing above the
    /// git toplevel marks it, and no file of another user does (`Belief`). Both roots come with every link
    /// resolved.
    pub fn find(disk: &Disk, here: &Path, named: Option<&Path>) -> Result<Self, RootError> {
        let from = named.map_or_else(|| here.to_owned(), |path| here.join(path));
        let from = match disk.canonicalize(&from) {
            Ok(real) => real,
            Err(error) if error.is_absent() => return Err(RootError::Missing { path: from }),
            Err(error) => return Err(error.into()),
        };
        if !git::is_folder(disk, &from)? {
            return Err(RootError::NotAFolder { path: from });
        }
        let belief = Belief::new(disk, &from);
        let tree = match named {
            Some(_) => from.clone(),
            None => tree_of(&belief, &from)?,
        };
        let toplevel = git::toplevel(&belief, &from)?;
        // A root that was named may hold whole repositories; git has no say in it.
        let own_toplevel = toplevel.filter(|toplevel| tree.starts_with(toplevel));
        let state = match &own_toplevel {
            Some(toplevel) => state_of(disk, &tree, toplevel)?,
            None => tree.clone(),
        };
        Ok(Self {
            sessions: sessions_of(disk, &tree, &state),
            state,
            tree,
            // A user who names the root need not learn what else might be one.
            foreign: named.map_or_else(|| belief.foreign(), |_| Vec::new()),
        })
    }

    /// Whether files of sessions are committed where they are kept, also where all of them are lost. Costs the reading of git's
    /// index.
    pub fn commit_sessions(&self, disk: &Disk) -> bool {
        has_committed(disk, &self.sessions)
    }

    /// Whether git may be in the middle of a merge where sessions are kept: also of one commit picked, taken back or put on
    /// another, or of what was stashed.
    pub fn may_be_merging(&self, disk: &Disk) -> bool {
        let belief = Belief::new(disk, &self.sessions);
        let toplevel = git::toplevel(&belief, &self.sessions).ok().flatten();
        let folder = toplevel.and_then(|toplevel| git::folder(disk, &toplevel).ok().flatten());
        let has = |folder: PathBuf| {
            MERGING
                .iter()
                .any(|name| disk.exists(&folder.join(name)).unwrap_or(true))
        };
        folder.is_some_and(has)
    }

    /// Whether this is a linked git worktree, so that state and tree are apart.
    pub fn is_linked(&self) -> bool {
        self.state != self.tree
    }
}

/// Returns the tree that a folder is in, if the user has named none.
fn tree_of(belief: &Belief<'_>, from: &Path) -> Result<PathBuf, DiskError> {
    if let Some(marked) = marked(belief, from)? {
        return Ok(marked);
    }
    if let Some(toplevel) = git::toplevel(belief, from)? {
        return Ok(toplevel);
    }
    Ok(with_notes(belief, from)?.unwrap_or_else(|| from.to_owned()))
}

/// The nearest folder upwards in which notes of sessions are kept.
fn with_notes(belief: &Belief<'_>, from: &Path) -> Result<Option<PathBuf>, DiskError> {
    for folder in from.ancestors() {
        let zones = Zones {
            tree: folder.to_owned(),
            root: folder.to_owned(),
        };
        let notes = zones.notes();
        if belief.disk().exists(&notes)? && belief.in_mark(&notes)? {
            return Ok(Some(folder.to_owned()));
        }
    }
    Ok(None)
}

/// The folder of the main worktree that answers to `tree`; the main worktree itself where it
/// has no such folder.
fn state_of(disk: &Disk, tree: &Path, toplevel: &Path) -> Result<PathBuf, DiskError> {
    let Some(main) = git::main_worktree(disk, toplevel)? else {
        return Ok(tree.to_owned());
    };
    let below = tree.strip_prefix(toplevel).unwrap_or(Path::new(""));
    if below.as_os_str().is_empty() {
        // Joining nothing would add a slash, and the name by which trust is kept has none.
        return Ok(main);
    }
    let same = main.join(below);
    Ok(match disk.canonicalize(&same) {
        Ok(real) if real == same && git::is_folder(disk, &same)? => same,
        _ => main,
    })
}

/// The folder that holds the files of sessions.
fn sessions_of(disk: &Disk, tree: &Path, state: &Path) -> PathBuf {
    let own = Zones {
        tree: tree.to_owned(),
        root: tree.to_owned(),
    };
    // What cannot be looked at is reported when a session is asked for.
    let is_own = tree == state || own.are_used(disk).unwrap_or(true) || has_committed(disk, tree);
    if is_own { tree } else { state }.to_owned()
}

/// Whether the branch that is checked out has files of sessions in a folder.
fn has_committed(disk: &Disk, folder: &Path) -> bool {
    let belief = Belief::new(disk, folder);
    let Ok(Some(toplevel)) = git::toplevel(&belief, folder) else {
        return false;
    };
    let below = folder.strip_prefix(&toplevel).unwrap_or(Path::new(""));
    let below = below.as_os_str().as_bytes();
    let of_session = |path: &[u8]| {
        let path = match below {
            b"" => Some(path),
            below => path
                .strip_prefix(below)
                .and_then(|path| path.strip_prefix(b"/")),
        };
        let path = path.and_then(|path| std::str::from_utf8(path).ok());
        path.is_some_and(Zones::are_named)
    };
    index::names(disk, &toplevel, of_session)
}

/// The nearest folder upwards that is marked as a root, up to the git toplevel. What is above that is about other repositories
/// as well.
fn marked(belief: &Belief<'_>, from: &Path) -> Result<Option<PathBuf>, DiskError> {
    for folder in from.ancestors() {
        for mark in MARKS {
            let mark = folder.join(mark);
            if belief.disk().exists(&mark)? && belief.in_mark(&mark)? {
                return Ok(Some(folder.to_owned()));
            }
        }
        if git::is_toplevel(belief, folder)? {
            return Ok(None);
        }
    }
    Ok(None)
}

/// Reason that there is no root.
#[derive(Debug, thiserror::Error)]
pub enum RootError {
    /// Nothing is there.
    #[error("the folder `{}` does not exist", path.display())]
    Missing {
        /// Path that does not exist.
        path: PathBuf,
    },
    /// It is not a folder.
    #[error("`{}` is not a folder", path.display())]
    NotAFolder {
        /// Path of what is there.
        path: PathBuf,
    },
    /// The disk does not say.
    #[error(transparent)]
    Disk(#[from] DiskError),
}
