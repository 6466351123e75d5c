//! [`PathSuffixes`]: whether a path is short for a file somewhere in the tree.
//!
//! Writers leave folders out at the front of a path, or put the root's own name or a letter of a
//! diff there. Deliberately not here: names without a folder, which are short for anything.

use std::path::{Path, PathBuf};

use callosum_host::{Disk, disk::EntryKind};

/// Most folders of a tree that are looked through; in a larger one a path may be short for anything.
const MOST_FOLDERS: usize = 4096;

/// Folders of dependencies and build output, where no cited path is searched for.
const PASSED_OVER: [&str; 3] = [".git", "node_modules", "target"];

/// The folders of a tree, listed on the first query.
pub(super) struct PathSuffixes<'a> {
    disk: &'a Disk,
    root: &'a Path,
    folders: Option<Vec<PathBuf>>,
}

impl<'a> PathSuffixes<'a> {
    /// Returns the suffixes of the tree at `root`, without reading anything yet.
    pub(super) fn of(disk: &'a Disk, root: &'a Path) -> Self {
        Self {
            disk,
            root,
            folders: None,
        }
    }

    /// Whether a path, or its remainder without leading names but with at least one folder, is that
    /// of a file below one of the tree's folders. Also true if that is unknown.
    ///
    /// The first call lists each folder, each call looks into each.
    pub(super) fn may_mean(&mut self, path: &str) -> bool {
        let disk = self.disk;
        let folders = self.folders();
        if folders.len() >= MOST_FOLDERS {
            return true;
        }
        let mut left = path;
        loop {
            let is_there = |folder: &PathBuf| disk.exists(&folder.join(left)).unwrap_or(true);
            if folders.iter().any(is_there) {
                return true;
            }
            match left.split_once('/') {
                Some((_, rest)) if rest.contains('/') => left = rest,
                _ => return false,
            }
        }
    }

    /// Returns the folders of the tree, the root first, as many as are looked through.
    ///
    /// The first call costs a listing of each.
    pub(super) fn folders(&mut self) -> &[PathBuf] {
        let (disk, root) = (self.disk, self.root);
        self.folders.get_or_insert_with(|| folders(disk, root))
    }
}

/// Returns a tree's folders, the root first, up to the limit. A folder that cannot be listed counts
/// as empty.
fn folders(disk: &Disk, root: &Path) -> Vec<PathBuf> {
    let mut found = vec![root.to_owned()];
    let mut next = 0;
    while next < found.len() && found.len() < MOST_FOLDERS {
        let entries = disk.list_dir(&found[next]).unwrap_or_default();
        for entry in entries {
            let is_passed_over = PASSED_OVER.iter().any(|name| entry.name == *name);
            if entry.kind == EntryKind::Folder && !is_passed_over {
                let folder = found[next].join(entry.name);
                found.push(folder);
            }
        }
        next += 1;
    }
    found
}
