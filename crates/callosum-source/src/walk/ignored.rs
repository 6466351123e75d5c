//! [`Ignored`]: the paths that the ignore files of a tree exclude.
//!
//! The crate `ignore` parses their lines. Opening the files is deliberately not left to it: a
//! stranger may have put a pipe, a device, or a link to either in the place of one, which would be
//! read forever.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use callosum_host::{Disk, disk::EntryKind};
use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};

use super::tree::{Skipped, Why};

/// The files, those that count more first: within each, the one that is nearer counts more.
const FILES: [&str; 3] = [".ignore", ".gitignore", ".git/info/exclude"];

/// Most bytes of one.
const LARGEST: u64 = 1 << 20;

/// The rules of the folders that were come through so far.
pub(super) struct Ignored {
    disk: Disk,
    root: PathBuf,
    folders: Mutex<HashMap<PathBuf, Arc<Rules>>>,
    passed_over: Mutex<Vec<Skipped>>,
}

/// The rules of one folder, in the order of [`FILES`].
type Rules = [Gitignore; 3];

impl Ignored {
    /// Creates the rules of a tree, before any was read.
    pub(super) fn new(disk: &Disk, root: &Path) -> Self {
        Self {
            disk: disk.clone(),
            root: root.to_owned(),
            folders: Mutex::default(),
            passed_over: Mutex::default(),
        }
    }

    /// Whether an entry of a folder that is not itself left out is.
    pub(super) fn holds(&self, path: &Path, is_folder: bool) -> bool {
        let above = path.ancestors().skip(1);
        let above = above.take_while(|folder| folder.starts_with(&self.root));
        let rules: Vec<Arc<Rules>> = above.map(|folder| self.rules(folder)).collect();
        for kind in 0..FILES.len() {
            for of_folder in &rules {
                match of_folder[kind].matched(path, is_folder) {
                    Match::None => {}
                    Match::Ignore(_) => return true,
                    Match::Whitelist(_) => return false,
                }
            }
        }
        false
    }

    /// The ignore files that were not read, and why.
    pub(super) fn passed_over(&self) -> Vec<Skipped> {
        let mut all = self
            .passed_over
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *all)
    }

    fn rules(&self, folder: &Path) -> Arc<Rules> {
        let mut folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = folders.get(folder) {
            return Arc::clone(known);
        }
        let rules = Arc::new(FILES.map(|name| self.read(folder, name)));
        folders.insert(folder.to_owned(), Arc::clone(&rules));
        rules
    }

    fn read(&self, folder: &Path, name: &str) -> Gitignore {
        let path = folder.join(name);
        let text = match self.text(&path) {
            Ok(Some(text)) => text,
            Ok(None) => return Gitignore::empty(),
            Err(why) => {
                let named = path.strip_prefix(&self.root).unwrap_or(&path);
                let mut all = self
                    .passed_over
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner);
                all.push(Skipped {
                    path: named.to_string_lossy().into_owned(),
                    why,
                });
                return Gitignore::empty();
            }
        };
        let mut builder = GitignoreBuilder::new(folder);
        for line in text.trim_start_matches('\u{feff}').lines() {
            // A line that makes no sense leaves nothing out, as in git.
            drop(builder.add_line(None, line));
        }
        builder.build().unwrap_or_else(|_| Gitignore::empty())
    }

    fn text(&self, path: &Path) -> Result<Option<String>, Why> {
        let refused = |error: callosum_host::DiskError| Why::Unreadable(error.source.to_string());
        let Ok(Some(found)) = self.disk.stat(path) else {
            return Ok(None);
        };
        match found.kind {
            EntryKind::File if found.len > LARGEST => return Err(Why::TooLarge(found.len)),
            EntryKind::File => {}
            EntryKind::Link => return Err(Why::Link),
            // No one takes a folder of this name for one.
            EntryKind::Folder => return Ok(None),
            EntryKind::Other => return Err(Why::Special),
        }
        let bytes = self.disk.read_at_most(path, LARGEST).map_err(refused)?;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }
}
