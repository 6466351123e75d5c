//! Facts about the project that a message may refer to: files, programs, and commands that the
//! guard allows.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use callosum_guard::{Decision, Facts, Policy, decide};
use callosum_host::Disk;
use callosum_intervention::classify::Project;

use super::Watcher;
use crate::hook::facts;

/// Most names at the root that are read.
const MOST_FILES: usize = 2_000;

/// Programs that a suggested fix may run, if they are installed.
const PROGRAMS: [&str; 26] = [
    "bun", "bundle", "cargo", "composer", "df", "eslint", "gem", "git", "go", "gradle", "make",
    "mvn", "node", "npm", "npx", "php", "pip", "pip3", "pnpm", "poetry", "pytest", "python",
    "python3", "ruff", "uv", "yarn",
];

/// Folders of a project that hold programs of its own.
const OWN_PROGRAMS: [&str; 5] = [
    "node_modules/.bin",
    ".venv/bin",
    "venv/bin",
    "vendor/bin",
    "bin",
];

/// The project, as messages see it.
pub(super) struct ProjectFacts {
    disk: Disk,
    root: PathBuf,
    facts: Facts,
    policy: Policy,
}

impl ProjectFacts {
    /// Gathers the facts for the project of a watcher.
    pub(super) fn gather(watcher: &Watcher) -> Self {
        let root = &watcher.root;
        Self {
            disk: watcher.disk.clone(),
            root: root.clone(),
            facts: facts(&watcher.disk, &watcher.environment, Some(root), Some(root)),
            policy: watcher.config.policy(Vec::new()),
        }
    }

    /// Whether the guard allows a command in this project.
    pub(super) fn allows(&self, command: &str) -> bool {
        decide(command, &self.facts, &self.policy).decision == Decision::Allow
    }

    /// Whether a file of the project exists; `path` is relative to its root.
    pub(super) fn has_file(&self, path: &str) -> bool {
        self.disk.exists(&self.root.join(path)).unwrap_or(false)
    }

    /// Whether the project brings a program along.
    pub(super) fn declares(&self, program: &str) -> bool {
        let is_name = !program.is_empty() && !program.contains('/') && !program.starts_with('.');
        is_name
            && OWN_PROGRAMS
                .iter()
                .any(|folder| self.has_file(&format!("{folder}/{program}")))
    }

    /// Returns the files at the root, and the programs that are installed or that the project brings along.
    pub(super) fn project(&self, path: Option<&std::ffi::OsStr>) -> Project {
        let files = self.disk.list_dir(&self.root).unwrap_or_default();
        let files = files
            .into_iter()
            .take(MOST_FILES)
            .map(|entry| entry.name.to_string_lossy().into_owned())
            .collect();
        let folders: Vec<PathBuf> = path
            .map(|path| std::env::split_paths(path).collect())
            .unwrap_or_default();
        let is_installed = |program: &str| {
            folders
                .iter()
                .filter(|folder| folder.is_absolute())
                .any(|folder| self.disk.exists(&folder.join(program)).unwrap_or(false))
        };
        let programs: BTreeSet<String> = PROGRAMS
            .iter()
            .filter(|program| is_installed(program) || self.declares(program))
            .map(|program| (*program).to_owned())
            .collect();
        Project { files, programs }
    }

    /// Returns the root.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }
}
