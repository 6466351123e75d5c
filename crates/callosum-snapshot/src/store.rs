//! [`Store`]: takes snapshots of one tree and goes back to them.

use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use callosum_host::{DiskError, FileLock, LockError, disk::EntryKind};

use super::{
    capture::{CapturedTree, Scope, display_path, paths},
    changes::Changes,
    git::{GitEnvironment, GitError},
    metadata::{FORMAT, Snapshot},
    repository::Repository,
};

/// So many dirty files are named.
const MOST_DIRTY: usize = 10_000;

/// So many files are named in one call of git.
const MOST_PATHS: usize = 500;

/// Timeout for another process's snapshot.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// Purpose and scope of a snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// In words.
    pub label: String,
    /// Errors for which it is kept.
    pub linked_errors: Vec<String>,
    /// Whether it is kept until a person removes it.
    pub checkpoint: bool,
    /// The files, folders and patterns that it is to hold, seen from the tree's top folder; of none
    /// it holds the tree.
    pub only: Vec<String>,
    /// The files, folders and patterns that it is to hold besides the tree, though they are
    /// ignored. A name with more than 2,000 files or 64 MB is left out, and reported.
    pub also: Vec<String>,
    /// The agent's call that it is taken before.
    pub call: Option<String>,
}

/// Reason that there is no snapshot, or no way back to one.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// Git did not do its part.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A file could not be read or written.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// Another process is at it for too long.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// There is none of this id.
    #[error("there is no snapshot `{id}`")]
    Unknown {
        /// The requested id.
        id: String,
    },
    /// More than one id begins so.
    #[error("more than one snapshot begins with `{id}`")]
    Ambiguous {
        /// The requested id.
        id: String,
    },
    /// None of what is named is there.
    #[error("no file in the tree is named {}", shown_names(named))]
    Nothing {
        /// The names.
        named: Vec<String>,
    },
    /// More files are named than a snapshot of named ones holds.
    #[error("too many files for a snapshot of named files: {count}")]
    TooMany {
        /// Number of files.
        count: usize,
    },
    /// The user is in the middle of something.
    #[error("cannot restore files in `{}`: {what} is in progress", tree.display())]
    UnderWay {
        /// The operation.
        what: &'static str,
        /// The tree.
        tree: PathBuf,
    },
    /// Objects that it leans on are gone from the user's repository.
    #[error("snapshot `{id}` is incomplete: objects were removed from the repository")]
    Broken {
        /// The snapshot.
        id: String,
    },
}

fn shown_names(named: &[String]) -> String {
    let quoted: Vec<String> = named.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(" or ")
}

/// Result of a restore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// The snapshot of the tree as it was before.
    pub before: Snapshot,
    /// Effect on each file.
    pub changes: Changes,
}

/// The snapshots of one tree.
#[derive(Clone, Debug)]
pub struct Store {
    pub(super) surroundings: GitEnvironment,
    pub(super) repository: Repository,
}

impl Store {
    /// Finds the tree that `root` is in. `folder` names the folder of its snapshots from the tree's
    /// path. Creates nothing.
    pub fn find(
        surroundings: GitEnvironment,
        root: &Path,
        folder: impl FnOnce(&Path) -> PathBuf,
    ) -> Result<Self, SnapshotError> {
        let repository = Repository::find(&surroundings, root, folder)?;
        Ok(Self {
            surroundings,
            repository,
        })
    }

    /// The tree's top folder.
    pub fn tree(&self) -> &Path {
        &self.repository.tree
    }

    /// Takes a snapshot of the tree, or of the files in it that are named.
    ///
    /// Reads what has changed since the last one; the first reads what differs from the user's
    /// index, or everything if there is no repository. The user's index, refs and objects are not
    /// touched. Waits up to 5 s for another process that takes one; a snapshot of named files does
    /// not wait for one of the tree.
    pub fn create(&self, wanted: &Wanted) -> Result<Snapshot, SnapshotError> {
        let _lock = if wanted.only.is_empty() {
            self.lock_tree(PATIENCE)?
        } else {
            self.lock_names(PATIENCE)?
        };
        let taken = self.take(&wanted.only, &wanted.also)?;
        if taken.is_missed {
            let named = wanted.only.clone();
            return Err(SnapshotError::Nothing { named });
        }
        self.keep(wanted, taken)
    }

    fn keep(&self, wanted: &Wanted, taken: CapturedTree) -> Result<Snapshot, SnapshotError> {
        let GitEnvironment {
            disk, clock, ids, ..
        } = &self.surroundings;
        let now = clock.now();
        let date = format!("@{} +0000", now.as_second());
        let git = self.repository.of_tree(&self.surroundings);
        let commit = git
            .clone()
            .with("GIT_AUTHOR_DATE", &date)
            .with("GIT_COMMITTER_DATE", &date)
            .line(&["commit-tree", &taken.tree, "-m", &wanted.label])?;
        let head = git
            .line(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])
            .ok();
        let branch = git
            .line(&["symbolic-ref", "--short", "--quiet", "HEAD"])
            .ok();
        let is_users = self.repository.users.is_some();
        let against: &[&str] = match &head {
            Some(head) if wanted.only.is_empty() => {
                &["diff-tree", "-r", "-z", "--name-only", head, &taken.tree]
            }
            _ => &["ls-tree", "-r", "-z", "--name-only", &taken.tree],
        };
        let dirty = git.run(against)?;
        let mut snapshot = Snapshot {
            format: FORMAT,
            snapshot_id: ids.uuid_v4(),
            label: wanted.label.clone(),
            timestamp: now,
            git_commit: head,
            branch: branch.filter(|_| is_users),
            dirty_files: paths(&dirty)
                .take(MOST_DIRTY)
                .map(|path| display_path(&path))
                .collect(),
            linked_errors: wanted.linked_errors.clone(),
            size_bytes: taken.bytes,
            checkpoint: wanted.checkpoint,
            tree_path: self.repository.tree.clone(),
            commit,
            tree: taken.tree,
            pack: None,
            not_covered: taken.not_covered,
            only: wanted.only.clone(),
            also: wanted.also.clone(),
            made: Vec::new(),
            call: wanted.call.clone(),
        };
        let reference = self.reference(&snapshot.snapshot_id);
        disk.replace(
            &reference,
            format!("{}\n", snapshot.commit).as_bytes(),
            0o600,
        )?;
        if snapshot.is_pinned() {
            snapshot.pack = self.make_whole(&snapshot)?;
        }
        self.write_note(&snapshot)?;
        Ok(snapshot)
    }

    pub(super) fn write_note(&self, snapshot: &Snapshot) -> Result<(), DiskError> {
        let disk = &self.surroundings.disk;
        disk.create_dir_all(&self.notes())?;
        let mut note =
            serde_json::to_vec_pretty(snapshot).expect("strings and numbers are printed to memory");
        note.push(b'\n');
        disk.replace(&self.note(&snapshot.snapshot_id), &note, 0o600)
    }

    /// All snapshots, the newest first.
    pub fn list(&self) -> Result<Vec<Snapshot>, SnapshotError> {
        let disk = &self.surroundings.disk;
        let mut all = Vec::new();
        for entry in disk.list_dir(&self.notes())? {
            let Some(bytes) = disk.read_if_there(&self.notes().join(entry.name))? else {
                continue;
            };
            // One of a later format is for a later version.
            let read: Option<Snapshot> = serde_json::from_slice(&bytes).ok();
            all.extend(read.filter(|snapshot| snapshot.format == FORMAT));
        }
        all.sort_by(|a, b| {
            let key = |snapshot: &Snapshot| (snapshot.timestamp, snapshot.snapshot_id.clone());
            key(b).cmp(&key(a))
        });
        Ok(all)
    }

    /// The snapshot whose id begins so.
    pub fn named(&self, id: &str) -> Result<Snapshot, SnapshotError> {
        let mut found = self
            .list()?
            .into_iter()
            .filter(|snapshot| !id.is_empty() && snapshot.snapshot_id.starts_with(id));
        let first = found
            .next()
            .ok_or_else(|| SnapshotError::Unknown { id: id.to_owned() })?;
        match found.next() {
            Some(_) if first.snapshot_id != id => {
                Err(SnapshotError::Ambiguous { id: id.to_owned() })
            }
            _ => Ok(first),
        }
    }

    /// Returns the effect of a restore from a snapshot on the tree as it is now.
    pub fn changes(&self, snapshot: &Snapshot) -> Result<Changes, SnapshotError> {
        let _locks = self.lock(PATIENCE)?;
        let now = self.take(&snapshot.only, &snapshot.also)?;
        self.changes_from(&now.tree, snapshot)
    }

    /// The text of what going back would change, as git shows it: of files that stay as they are
    /// nothing.
    pub fn patch(&self, snapshot: &Snapshot) -> Result<Vec<u8>, SnapshotError> {
        let _locks = self.lock(PATIENCE)?;
        let now = self.take(&snapshot.only, &snapshot.also)?;
        let changes = self.changes_from(&now.tree, snapshot)?;
        let changed: Vec<&OsStr> = changes
            .written()
            .chain(changes.removed())
            .map(|change| change.path.as_os_str())
            .collect();
        let git = self
            .repository
            .of_tree(&self.surroundings)
            .with("GIT_LITERAL_PATHSPECS", "1");
        let mut patch = Vec::new();
        for paths in changed.chunks(MOST_PATHS) {
            let fixed = [
                "diff-tree",
                "-r",
                "-p",
                "--no-color",
                &now.tree,
                &snapshot.tree,
                "--",
            ];
            let fixed = fixed.into_iter().map(OsStr::new);
            let arguments: Vec<&OsStr> = fixed.chain(paths.iter().copied()).collect();
            patch.extend(git.run(&arguments)?);
        }
        Ok(patch)
    }

    /// Puts the files of a snapshot back, after a snapshot of the tree as it is now.
    ///
    /// Files that the snapshot does not hold stay, and so do those that could not be brought back
    /// again. If the snapshot was itself taken before a restore of another, the files which that
    /// created are removed, unless they were changed since. The user's index is not touched. Fails
    /// while a merge, a rebase or the like is under way.
    pub fn restore(&self, snapshot: &Snapshot) -> Result<Restored, SnapshotError> {
        let disk = &self.surroundings.disk;
        if let Some(what) = self.repository.under_way(disk)? {
            let tree = self.repository.tree.clone();
            return Err(SnapshotError::UnderWay { what, tree });
        }
        let _locks = self.lock(PATIENCE)?;
        // Of named files none may be left: to bring them back is what it is for.
        let wanted = Wanted {
            label: format!("before restoring {}", snapshot.snapshot_id),
            only: snapshot.only.clone(),
            also: snapshot.also.clone(),
            ..Wanted::default()
        };
        let mut before = self.keep(&wanted, self.take(&wanted.only, &wanted.also)?)?;
        let changes = self.changes_from(&before.tree, snapshot)?;
        self.check_whole(snapshot)?;
        before.made = changes.made();
        if !before.made.is_empty() {
            // Recorded before it is made: if the process is killed on the way, the user can undo
            // what was made by then.
            self.write_note(&before)?;
        }
        for change in changes.removed() {
            self.remove(&change.path)?;
        }
        let mut written = Vec::new();
        for change in changes.written() {
            written.extend_from_slice(change.path.as_os_str().as_bytes());
            written.push(0);
        }
        if !written.is_empty() {
            let index = self.repository.folder.join("restore.index");
            disk.remove_file(&index)?;
            let mut git = self.repository.of_files(&self.surroundings);
            git.variables.retain(|(name, _)| *name != "GIT_INDEX_FILE");
            let git = git.with("GIT_INDEX_FILE", &index);
            git.run(&["read-tree", &snapshot.tree])?;
            let done = git.run_on(&["checkout-index", "-f", "-q", "-z", "--stdin"], written);
            disk.remove_file(&index)?;
            done?;
        }
        Ok(Restored { before, changes })
    }

    /// Removes a file, and the folders that hold nothing any more then.
    fn remove(&self, path: &Path) -> Result<(), DiskError> {
        let disk = &self.surroundings.disk;
        disk.remove_file(&self.repository.tree.join(path))?;
        for folder in path.ancestors().skip(1) {
            let is_top = folder.as_os_str().is_empty();
            if is_top || disk.remove_dir(&self.repository.tree.join(folder)).is_err() {
                break;
            }
        }
        Ok(())
    }

    /// Locks the reading of the tree into this program's index.
    pub(super) fn lock_tree(&self, patience: Duration) -> Result<FileLock, SnapshotError> {
        self.lock_file("lock", patience)
    }

    /// Locks the reading of files that are named alone, which is not to wait for a large tree.
    fn lock_names(&self, patience: Duration) -> Result<FileLock, SnapshotError> {
        self.lock_file("named.lock", patience)
    }

    /// Locks writing more than a new snapshot: no one else reads or writes at that time.
    pub(super) fn lock(&self, patience: Duration) -> Result<[FileLock; 2], SnapshotError> {
        Ok([self.lock_tree(patience)?, self.lock_names(patience)?])
    }

    fn lock_file(&self, name: &str, patience: Duration) -> Result<FileLock, SnapshotError> {
        let disk = &self.surroundings.disk;
        self.repository.create(disk)?;
        let path = self.repository.folder.join(name);
        Ok(FileLock::acquire(disk, &path, patience)?)
    }

    pub(super) fn take(
        &self,
        only: &[String],
        also: &[String],
    ) -> Result<CapturedTree, SnapshotError> {
        let scope = Scope { only, also };
        CapturedTree::now(&self.surroundings, &self.repository, scope)
    }

    fn changes_from(&self, now: &str, snapshot: &Snapshot) -> Result<Changes, SnapshotError> {
        let git = self.repository.of_tree(&self.surroundings);
        let printed = git
            .run(&["diff-tree", "-r", "-z", now, &snapshot.tree])
            .map_err(|error| match error {
                GitError::Failed { .. } => SnapshotError::Broken {
                    id: snapshot.snapshot_id.clone(),
                },
                error => error.into(),
            })?;
        let disk = &self.surroundings.disk;
        let tree = &self.repository.tree;
        // A path that cannot be examined counts as existing, so that it is not overwritten. A file
        // or a link on the way to a path is in its place.
        let in_place = |path: &Path| {
            let mut above: Vec<&Path> = path.ancestors().skip(1).collect();
            above.pop();
            for folder in above.into_iter().rev() {
                match disk.stat(&tree.join(folder)) {
                    Ok(Some(found)) if found.kind == EntryKind::Folder => {}
                    Ok(None) => return None,
                    _ => return Some(folder.to_owned()),
                }
            }
            let is_there = disk.exists(&tree.join(path)).unwrap_or(true);
            is_there.then(|| path.to_owned())
        };
        // Everything in a folder, if a file is to replace it.
        let inside = |folder: &Path| {
            let found = disk.stat(&tree.join(folder)).ok()??;
            if found.kind != EntryKind::Folder {
                return None;
            }
            let mut files = Vec::new();
            let mut folders = vec![folder.to_owned()];
            while let Some(folder) = folders.pop() {
                for entry in disk.list_dir(&tree.join(&folder)).ok()? {
                    let path = folder.join(entry.name);
                    match entry.kind {
                        EntryKind::Folder => folders.push(path),
                        _ => files.push(path),
                    }
                }
            }
            Some(files)
        };
        Ok(Changes::read(&printed, &snapshot.made, in_place, inside))
    }

    /// Fails where an object of the snapshot is gone, before anything is written.
    fn check_whole(&self, snapshot: &Snapshot) -> Result<(), SnapshotError> {
        let git = self.repository.of_tree(&self.surroundings);
        let checked = git.run(&["rev-list", "--objects", "--quiet", &snapshot.commit]);
        match checked {
            Ok(_) => Ok(()),
            Err(GitError::Failed { .. }) => Err(SnapshotError::Broken {
                id: snapshot.snapshot_id.clone(),
            }),
            Err(error) => Err(error.into()),
        }
    }

    /// Copies what a pinned snapshot leans on: it may be kept longer than the user's git keeps what
    /// nothing there refers to any more.
    fn make_whole(&self, snapshot: &Snapshot) -> Result<Option<String>, SnapshotError> {
        if self.repository.users.is_none() {
            return Ok(None);
        }
        let git = self.repository.of_bare(&self.surroundings);
        let packs = self.repository.objects().join("pack");
        self.surroundings.disk.create_dir_all(&packs)?;
        let base = packs.join("pack");
        let base = base.to_string_lossy();
        let input = format!("{}\n", snapshot.commit).into_bytes();
        let name = git.run_on(&["pack-objects", "--revs", "--quiet", &base], input)?;
        let name = String::from_utf8_lossy(&name).trim().to_owned();
        Ok(Some(name).filter(|name| !name.is_empty()))
    }

    pub(super) fn notes(&self) -> PathBuf {
        self.repository.folder.join("notes")
    }

    pub(super) fn note(&self, id: &str) -> PathBuf {
        self.notes().join(format!("{id}.json"))
    }

    pub(super) fn reference(&self, id: &str) -> PathBuf {
        self.repository.bare().join("refs/snapshots").join(id)
    }
}
