//! [`StatePlace`]: whether a project's state is in its own tree or in the machine's state folder.
//!
//! Nothing is written into a working tree that was not initialized: its ledger, journal, answers and session files are in
//! a folder of the machine's, named after the project's root. `callosum init` moves them into the tree and
//! `callosum uninstall` moves them out again (`cli/init/moving.rs`). Start with [`StatePlace::find`].

use std::path::{Path, PathBuf};

use callosum_host::{Disk, DiskError};
use callosum_ledger::LedgerPaths;
use callosum_session::Zones;

use super::{directories::Homes, root::Roots};

/// The project's settings, in the folder of its state (Seed CAL §14.3).
pub(crate) const CALRC: &str = ".calrc";

/// The file in the machine's folder that makes it the place of the state, no matter what the tree
/// has: a move between the two has begun and is not done.
pub const MOVING: &str = ".moving";

/// The same for session files.
pub const MOVING_SESSIONS: &str = ".moving-sessions";

/// Place of the new state of a project that has none yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NewState {
    /// Into the machine's state folder.
    #[default]
    Machine,
    /// Into the project's tree, as before there was `callosum init`.
    Project,
}

/// The folders that a project's state is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatePlace {
    /// The folder of ledger, journal, registry and `.calrc`.
    pub folder: PathBuf,
    /// Whether that is the project's own root.
    pub is_in_tree: bool,
}

impl StatePlace {
    /// Finds the folder of a project's state. Creates nothing. Costs one look at the machine's folder, and up to six at
    /// the tree.
    pub fn find(disk: &Disk, homes: &Homes, root: &Path) -> Result<Self, DiskError> {
        let machine = homes.project(root);
        let is_in_tree = if disk.exists(&machine.join(MOVING))? {
            false
        } else {
            homes.new_state == NewState::Project || is_initialized(disk, root)?
        };
        let folder = if is_in_tree { root.to_owned() } else { machine };
        Ok(Self { folder, is_in_tree })
    }
}

/// Whether the tree at `root` has state of ours. `registry.json` does not count: other programs have files of that name.
pub fn is_initialized(disk: &Disk, root: &Path) -> Result<bool, DiskError> {
    let LedgerPaths {
        ledger,
        hashlog,
        history,
        audit,
        ..
    } = LedgerPaths::in_root(root);
    for path in [root.join(CALRC), ledger, hashlog, history, audit] {
        if disk.exists(&path)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Puts session files into the machine's folder, unless the tree has some, or its branch has.
pub fn place_sessions(disk: &Disk, homes: &Homes, roots: &mut Roots) {
    let machine = homes.project(&roots.state);
    if disk.exists(&machine.join(MOVING_SESSIONS)).unwrap_or(false) {
        roots.sessions = machine;
        return;
    }
    if homes.new_state == NewState::Project {
        return;
    }
    let zones = Zones {
        tree: roots.tree.clone(),
        root: roots.sessions.clone(),
    };
    // A tree that cannot be looked at may have some.
    let is_used = zones.are_used(disk).unwrap_or(true);
    if !is_used && !roots.commit_sessions(disk) {
        roots.sessions = machine;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_dir::TestDir;

    /// A tree that was not initialized has its state in the machine's folder, and each of our own names in
    /// it brings the state there.
    #[test]
    fn state_is_in_the_tree_only_if_the_tree_has_some() {
        let ground = TestDir::new();
        let homes = ground.homes();
        let root = ground.folder("root");
        let find = || StatePlace::find(&ground.disk, &homes, &root).unwrap();
        assert_eq!(find().folder, homes.project(&root));
        ground.write("root/registry.json", "{}");
        assert!(!find().is_in_tree);
        for name in [".calrc", ".cal_memory.json", ".cal_hashlog"] {
            let path = ground.write(&format!("root/{name}"), "");
            assert_eq!(find().folder, root, "{name}");
            ground.disk.remove_file(&path).unwrap();
        }
        ground.folder("root/cal_audit");
        assert!(find().is_in_tree);
        let moving = homes.project(&root).join(MOVING);
        ground
            .disk
            .create_dir_all(moving.parent().unwrap())
            .unwrap();
        ground.disk.replace(&moving, b"", 0o600).unwrap();
        assert!(!find().is_in_tree, "a move that was not finished");
    }

    /// Session files go where the tree has some, else to the machine.
    #[test]
    fn session_files_are_in_the_tree_only_if_it_has_some() {
        let ground = TestDir::new();
        let homes = ground.homes();
        let root = ground.folder("root");
        let place = || {
            let mut roots = Roots::find(&ground.disk, &root, Some(&root)).unwrap();
            place_sessions(&ground.disk, &homes, &mut roots);
            roots.sessions
        };
        assert_eq!(place(), homes.project(&root));
        ground.write("root/loa-grimoire/NOTES.md", "# Notes\n");
        assert_eq!(place(), root);
    }
}
