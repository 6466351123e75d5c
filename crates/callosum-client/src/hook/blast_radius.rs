//! The blast radius of a command that the guard stops: how many files it would delete or change, and how many of them
//! no commit has.
//!
//! Start with [`describe`]. It counts within a time limit and says nothing if it cannot count all: a number that is too
//! small would calm someone who should not be calm.

use std::{
    collections::{BTreeMap, HashSet},
    path::{Path, PathBuf},
    time::Instant,
};

use callosum_guard::{Facts, GitState};
use callosum_host::{Disk, disk::EntryKind};

use super::{
    git_index,
    worktree::{git_dir, top},
};

/// Most files that are counted.
const MOST: usize = 50_000;

/// Returns what a stopped command would do, such as `deletes 412 files, 3 of them never committed`.
///
/// `paths` are those that the command deletes. `None` if that is not known, or counting takes longer than the deadline.
pub(super) fn describe(
    disk: &Disk,
    rule: &str,
    paths: &[String],
    facts: &Facts,
    deadline: Instant,
) -> Option<String> {
    if rule.starts_with("rm.") {
        let mut count = Count::default();
        for path in paths.iter().filter(|path| !facts.absent.contains(path)) {
            count.add(disk, Path::new(path), deadline)?;
        }
        return count.text();
    }
    let mut states = facts.git.values();
    let (Some(state), None) = (states.next(), states.next()) else {
        return None;
    };
    match rule {
        "git.reset-hard" | "git.discard" | "git.remove-all" => {
            let changed = state.changed.as_ref()?.len();
            (changed > 0).then(|| format!("{} with changes", files(changed)))
        }
        "git.clean" | "git.clean-within" | "git.clean-ignored" => cleaned(disk, state, deadline),
        _ => None,
    }
}

fn cleaned(disk: &Disk, state: &GitState, deadline: Instant) -> Option<String> {
    let untracked = state.untracked.iter().flatten();
    let ignored = state.ignored.iter().flatten();
    let mut count = Count::default();
    for path in untracked.chain(ignored) {
        count.add(disk, Path::new(path), deadline)?;
    }
    (count.files > 0).then(|| format!("{}, none of them committed", files(count.files)))
}

#[derive(Default)]
struct Count {
    files: usize,
    uncommitted: usize,
    /// The tracked files of each repository, by its top.
    tracked: BTreeMap<PathBuf, Option<HashSet<Vec<u8>>>>,
}

impl Count {
    /// Counts the files at and below a path; `None` if there are too many, or time is up.
    fn add(&mut self, disk: &Disk, path: &Path, deadline: Instant) -> Option<()> {
        let mut open = vec![path.to_owned()];
        while let Some(path) = open.pop() {
            if self.files > MOST || Instant::now() > deadline {
                return None;
            }
            let Some(found) = disk.stat(&path).ok()? else {
                continue;
            };
            if found.kind == EntryKind::Folder {
                for entry in disk.list_dir(&path).ok()? {
                    open.push(path.join(&entry.name));
                }
            } else {
                self.files += 1;
                self.uncommitted += usize::from(!self.is_tracked(disk, &path));
            }
        }
        Some(())
    }

    fn is_tracked(&mut self, disk: &Disk, path: &Path) -> bool {
        let Some(top) = path.parent().and_then(|folder| top(disk, folder)) else {
            return false;
        };
        let tracked = self.tracked.entry(top.clone()).or_insert_with(|| {
            let git = git_dir(disk, &top)?;
            git_index::names(disk, &git)
        });
        let inner = path.strip_prefix(&top).ok();
        let inner = inner.map(|inner| inner.as_os_str().as_encoded_bytes());
        tracked
            .as_ref()
            .zip(inner)
            .is_some_and(|(tracked, inner)| tracked.contains(inner))
    }

    fn text(&self) -> Option<String> {
        let Self {
            files: all,
            uncommitted,
            ..
        } = self;
        match (*all, *uncommitted) {
            (0, _) => None,
            (all, 0) => Some(format!("{}, all of them in git", files(all))),
            (all, lost) if lost == all => Some(format!("{}, never committed", files(all))),
            (all, lost) => Some(format!("{}, {lost} of them never committed", files(all))),
        }
    }
}

/// `1 file`, `2 files`.
fn files(count: usize) -> String {
    if count == 1 {
        "1 file".to_owned()
    } else {
        format!("{count} files")
    }
}
