//! [`nested`]: repositories and settings of agents that lie below a folder of the tree.
//!
//! Deliberately not here: what is created later. A right that was given for a folder holds for that too.

use std::{
    collections::VecDeque,
    ffi::OsStr,
    path::{Path, PathBuf},
};

use callosum_host::{Disk, disk::EntryKind};

/// Settings of coding agents in a project, by which they start programs: what a held run left in them, the
/// next one would obey that nobody holds.
const ORDERS: [&str; 8] = [
    ".claude",
    ".codex",
    ".gemini",
    ".mcp.json",
    ".opencode",
    ".qwen",
    "opencode.json",
    "opencode.jsonc",
];

/// Most folders that are looked into for one that is writable; the nearest come first.
pub(super) const MOST_FOLDERS: usize = 4096;

/// Whether what has this name is obeyed by whoever works in the folder that it is in: agents, or git.
pub(super) fn is_obeyed(name: &OsStr) -> bool {
    name == ".git" || ORDERS.iter().any(|order| name == *order)
}

/// All that is obeyed somewhere below a folder, as far as [`MOST_FOLDERS`] show; links are not followed, and
/// what cannot be listed has nothing in it that could be written.
pub(super) fn nested(folder: &Path, disk: &Disk) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = VecDeque::from([folder.to_owned()]);
    let mut listed = 0;
    while let Some(folder) = waiting.pop_front() {
        listed += 1;
        for entry in disk.list_dir(&folder).unwrap_or_default() {
            let path = folder.join(&entry.name);
            if is_obeyed(&entry.name) {
                found.push(path);
            } else if entry.kind == EntryKind::Folder && listed + waiting.len() < MOST_FOLDERS {
                waiting.push_back(path);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories_and_settings_are_found_nearest_first() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let at = |path: &str| folder.path().join(path);
        for path in ["a/b/.git/hooks", "a/b/c/.claude", "d"] {
            disk.create_dir_all(&at(path)).unwrap();
        }
        disk.replace(&at("d/.git"), b"gitdir: ../x", 0o644).unwrap();
        std::os::unix::fs::symlink(at("a"), at("way")).unwrap();
        let found = nested(folder.path(), &disk);
        assert_eq!(found, [at("d/.git"), at("a/b/.git"), at("a/b/c/.claude")]);
        assert!(nested(&at("none"), &disk).is_empty());
    }
}
