//! [`nested`]: repositories, settings of agents and locks of ours that lie below a folder of the tree.
//!
//! Deliberately not here: what is created later. A right that was given for a folder holds for that too.

use std::{
    collections::VecDeque,
    ffi::OsStr,
    path::{Path, PathBuf},
};

use callosum_host::{Disk, disk::EntryKind};

/// Files and folders of a project that coding agents, editors, shells, package managers and git obey: what a confined run left in
/// them, the next run obeys that nothing confines.
const ORDERS: [&str; 53] = [
    ".agents",
    ".aider.conf.yml",
    ".amazonq",
    ".augment",
    ".beads",
    ".claude",
    ".clinerules",
    ".codex",
    ".continue",
    ".crush.json",
    ".cursor",
    ".cursorrules",
    ".devcontainer",
    ".envrc",
    ".gemini",
    ".gitattributes",
    ".githooks",
    // Instructions and prompts of Copilot, and workflows that run with the secrets of a repository.
    ".github",
    ".goosehints",
    ".husky",
    ".idea",
    ".junie",
    ".kiro",
    ".lefthook.yml",
    ".loa.config.yaml",
    ".mcp.json",
    ".mise.toml",
    ".npmrc",
    ".opencode",
    ".openhands",
    ".pnpmfile.cjs",
    ".pre-commit-config.yaml",
    ".qwen",
    ".roo",
    ".trae",
    ".vscode",
    ".windsurf",
    ".windsurfrules",
    ".yarnrc.yml",
    ".zed",
    "AGENTS.md",
    "AGENTS.override.md",
    "CLAUDE.local.md",
    "CLAUDE.md",
    "CRUSH.md",
    "GEMINI.md",
    "QWEN.md",
    "crush.json",
    "lefthook.yml",
    // Decisions of sessions, which the next session reads.
    "loa-grimoire",
    "mise.toml",
    "opencode.json",
    "opencode.jsonc",
];

/// Folders in a project in which files stand whose locks this program waits for: the ledger's and the registry's,
/// and that of its sessions.
const LOCKS: [&str; 2] = [".cal_lock", "loa-grimoire/.session"];

/// Most folders that are looked into for one that is shown; the nearest come first.
pub(super) const MOST_FOLDERS: usize = 4096;

/// Whether agents or git obey a file or folder of this name in the folder that they work in.
pub(super) fn is_obeyed(name: &OsStr) -> bool {
    name == ".git" || ORDERS.iter().any(|order| name == *order)
}

/// Search result for a folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Nested {
    /// Files and folders that programs obey.
    pub obeyed: Vec<PathBuf>,
    /// Folders of locks, of any project.
    pub locks: Vec<PathBuf>,
}

/// Returns the targets of links in a folder that clients obey: `CLAUDE.md` may be a link to `docs/agents.md`.
pub(super) fn obeyed_by_link(folder: &Path, disk: &Disk) -> Vec<PathBuf> {
    let entries = disk.list_dir(folder).unwrap_or_default().into_iter();
    entries
        .filter(|entry| entry.kind == EntryKind::Link && is_obeyed(&entry.name))
        .filter_map(|entry| disk.canonicalize(&folder.join(&entry.name)).ok())
        .collect()
}

/// Searches a folder and those below it, up to `MOST_FOLDERS`, the nearest first. Links are not
/// followed; a folder that cannot be listed has nothing in it that could be written.
pub fn nested(folder: &Path, disk: &Disk) -> Nested {
    let mut found = Nested::default();
    let mut waiting = VecDeque::from([folder.to_owned()]);
    let mut listed = 0;
    while let Some(folder) = waiting.pop_front() {
        listed += 1;
        for entry in disk.list_dir(&folder).unwrap_or_default() {
            let path = folder.join(&entry.name);
            if is_obeyed(&entry.name) {
                if entry.kind == EntryKind::Link {
                    // Who obeys the link obeys what it leads to.
                    found.obeyed.extend(disk.canonicalize(&path));
                }
                let within = LOCKS.iter().map(|lock| folder.join(lock));
                let within = within.filter(|lock| *lock != path && lock.starts_with(&path));
                found
                    .locks
                    .extend(within.filter(|lock| is_folder(lock, disk)));
                found.obeyed.push(path);
                continue;
            }
            if entry.kind != EntryKind::Folder {
                continue;
            }
            if LOCKS.iter().any(|name| path.ends_with(name)) {
                found.locks.push(path);
            } else if listed + waiting.len() < MOST_FOLDERS {
                waiting.push_back(path);
            }
        }
    }
    found
}

fn is_folder(path: &Path, disk: &Disk) -> bool {
    let stat = disk.stat(path).ok().flatten();
    stat.is_some_and(|stat| stat.kind == EntryKind::Folder)
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
        let found = nested(folder.path(), &disk).obeyed;
        assert_eq!(found, [at("d/.git"), at("a/b/.git"), at("a/b/c/.claude")]);
        assert_eq!(nested(&at("none"), &disk), Nested::default());
    }

    /// CAL-SEC-1: what a later run obeys that nothing confines is found for each agent, and for tools that every agent starts.
    #[test]
    fn files_that_agents_and_tools_obey_are_found() {
        for name in [
            ".aider.conf.yml",
            ".amazonq",
            ".continue",
            ".gitattributes",
            ".github",
            ".goosehints",
            ".junie",
            ".kiro",
            ".npmrc",
            ".openhands",
            ".zed",
            "CRUSH.md",
        ] {
            assert!(is_obeyed(OsStr::new(name)), "{name}");
        }
        assert!(!is_obeyed(OsStr::new("README.md")));
        assert!(ORDERS.is_sorted());
    }

    #[test]
    fn locks_of_any_checkout_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let at = |path: &str| folder.path().join(path);
        let locks = [".cal_lock", "a/b/.cal_lock", "a/loa-grimoire/.session"];
        for path in locks.iter().chain(&["other/.session", "a/.cal_backup"]) {
            disk.create_dir_all(&at(path)).unwrap();
        }
        disk.replace(&at("other/.cal_lock"), b"no folder", 0o644)
            .unwrap();
        let mut found = nested(folder.path(), &disk).locks;
        found.sort_unstable();
        assert_eq!(found, locks.map(at));
    }
}
