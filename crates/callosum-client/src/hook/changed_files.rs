//! [`Changed`]: the files that a call changes, by the paths by which leases name them.

use std::path::Path;

use callosum_guard::{CommandAnalysis, Facts, Touched};
use callosum_host::{Disk, disk::EntryKind};
use callosum_mesh::{board::Lease, leased_path};

use super::{
    event::Action,
    git_writes::{AffectedLeases, GitTargets, When},
};
use callosum_config::Environment;

/// Most bytes of a patch that is read.
const LONGEST_PATCH: u64 = 1024 * 1024;

/// The files that a call changes; for a command, as the guard parses it.
#[derive(Debug, Default)]
pub(super) struct Changed {
    touched: Vec<Touched>,
    /// Trees in which git writes files that the command does not name.
    trees: GitTargets,
    /// Whether a command makes the change. Commands change many files that no one works on.
    is_command: bool,
}

impl Changed {
    /// Returns the files that an action changes, before or after it ran.
    ///
    /// `analysis` is that of the command, if it has been made over these facts.
    pub(super) fn by(
        disk: &Disk,
        action: &Action,
        facts: &Facts,
        analysis: Option<CommandAnalysis>,
    ) -> Self {
        let analysis = match action {
            Action::Shell(command) => {
                analysis.or_else(|| Some(CommandAnalysis::of(command, facts)))
            }
            Action::Write(_) | Action::Read(_) | Action::Other => None,
        };
        let cwd = Path::new(facts.cwd.as_deref().unwrap_or("/"));
        let found = match action {
            Action::Shell(_) => analysis
                .as_ref()
                .map(|command| command.changed_files(&|path| patch(disk, path)))
                .unwrap_or_default(),
            Action::Write(paths) => {
                let whole = paths.iter().map(|path| Touched {
                    path: cwd.join(path).to_string_lossy().into_owned(),
                    is_whole: false,
                    only: None,
                });
                whole.collect()
            }
            Action::Read(_) | Action::Other => Vec::new(),
        };
        let real = found.into_iter().map(|touched| Touched {
            path: as_leased(disk, touched.path),
            ..touched
        });
        let trees = analysis.map(|command| GitTargets::of(disk, &command));
        Self {
            touched: real.collect(),
            trees: trees.unwrap_or_default(),
            is_command: matches!(action, Action::Shell(_)),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.touched.is_empty() && self.trees.is_empty()
    }

    /// Whether this file is changed, as far as the call names it.
    pub(super) fn takes_in(&self, file: &str) -> bool {
        self.touched.iter().any(|touched| touched.takes_in(file))
    }

    /// Whether this file may be changed: it is in a tree besides to which git writes.
    pub(super) fn may_take_in(&self, file: &str) -> bool {
        self.takes_in(file) || self.trees.hold(file)
    }

    /// Selects the leases whose files are changed. Asks git only if there is no other way to know.
    pub(super) fn met(
        &self,
        held: Vec<Lease>,
        when: When,
        disk: &Disk,
        environment: &Environment,
    ) -> AffectedLeases {
        let (named, others) = held
            .into_iter()
            .partition(|lease| self.takes_in(&lease.path));
        let mut met = self.trees.met(others, when, disk, environment);
        met.sure.splice(0..0, named);
        met
    }

    /// Whether anything in this folder is changed.
    pub(super) fn is_in(&self, folder: &Path) -> bool {
        let mut touched = self.touched.iter();
        touched.any(|touched| Path::new(&touched.path).starts_with(folder))
    }

    /// The files that are named one by one and are there now, but for those in `folder`; of a command only those in the
    /// project, which is in `root`.
    pub(super) fn files(&self, disk: &Disk, folder: &Path, root: Option<&Path>) -> Vec<String> {
        self.named(disk, folder, root, false)
    }

    /// Returns the same before the call: for an editor also files that do not exist yet.
    pub(super) fn files_to_be(
        &self,
        disk: &Disk,
        folder: &Path,
        root: Option<&Path>,
    ) -> Vec<String> {
        self.named(disk, folder, root, !self.is_command)
    }

    fn named(
        &self,
        disk: &Disk,
        folder: &Path,
        root: Option<&Path>,
        may_be_missing: bool,
    ) -> Vec<String> {
        let named = self.touched.iter().filter(|touched| {
            let path = Path::new(&touched.path);
            let is_project = root.is_some_and(|root| path.starts_with(root));
            !touched.is_whole && !path.starts_with(folder) && (!self.is_command || is_project)
        });
        let there = named.filter(|touched| {
            let found = disk.stat(Path::new(&touched.path)).ok().flatten();
            found.map_or(may_be_missing, |found| found.kind == EntryKind::File)
        });
        there.map(|touched| touched.path.clone()).collect()
    }
}

/// Returns the content of a patch, up to [`LONGEST_PATCH`]; `None` if it cannot be read.
fn patch(disk: &Disk, path: &str) -> Option<String> {
    let path = Path::new(path);
    let found = disk.stat(path).ok()??;
    if found.kind != EntryKind::File || found.len > LONGEST_PATCH {
        return None;
    }
    let bytes = disk.read_if_there(path).ok()??;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns a path as leases name it; unchanged if the disk cannot resolve it.
fn as_leased(disk: &Disk, path: String) -> String {
    let found = leased_path(disk, Path::new(&path)).ok();
    found.map_or(path, |found| found.to_string_lossy().into_owned())
}
