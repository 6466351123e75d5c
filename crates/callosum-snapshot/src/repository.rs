//! [`Repository`]: this program's bare repository, and the tree whose snapshots it holds.

use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use callosum_host::{Disk, DiskError};

use super::{
    git::{Git, GitEnvironment, GitError},
    store::SnapshotError,
};

/// Files in git's folder while an operation is in progress.
const UNDER_WAY: [(&str, &str); 6] = [
    ("MERGE_HEAD", "a merge"),
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("BISECT_LOG", "a bisection"),
];

/// Attributes of every file in this program's repository, which take precedence over those in the
/// tree: bytes are taken as they are. Unset runs nothing; for an encoding, only unspecified does.
const ATTRIBUTES: &[u8] = b"* -text -crlf -ident -filter !eol !working-tree-encoding\n";

/// A tree on disk, and its git repositories.
#[derive(Clone, Debug)]
pub(super) struct Repository {
    /// The tree's top folder.
    pub(super) tree: PathBuf,
    /// The user's, if the tree is in one.
    pub(super) users: Option<Users>,
    /// This program's folder for this tree.
    pub(super) folder: PathBuf,
}

/// The repository that the tree belongs to. None of it is ever written.
#[derive(Clone, Debug)]
pub(super) struct Users {
    pub(super) git_dir: PathBuf,
    objects: PathBuf,
    index: PathBuf,
    format: String,
}

impl Repository {
    /// Finds the tree that `root` is in; `folder` returns this program's folder for the tree's
    /// path.
    ///
    /// Without a repository, the tree is `root` itself.
    pub(super) fn find(
        surroundings: &GitEnvironment,
        root: &Path,
        folder: impl FnOnce(&Path) -> PathBuf,
    ) -> Result<Self, GitError> {
        let git = Git::in_folder(surroundings, root);
        let asked = git.run(&[
            "rev-parse",
            "--path-format=absolute",
            "--show-toplevel",
            "--absolute-git-dir",
            "--git-path",
            "objects",
            "--git-path",
            "index",
            "--show-object-format",
        ]);
        let output = match asked {
            Ok(output) => output,
            Err(GitError::Failed { message, .. }) if message.contains("not a git repository") => {
                return Ok(Self {
                    tree: root.to_owned(),
                    users: None,
                    folder: folder(root),
                });
            }
            Err(error) => return Err(error),
        };
        let lines: Vec<&[u8]> = output.split(|byte| *byte == b'\n').collect();
        let [tree, git_dir, objects, index, format, ..] = lines.as_slice() else {
            return Err(GitError::Failed {
                command: "rev-parse".to_owned(),
                message: "git did not print where the repository is".to_owned(),
            });
        };
        let path = |bytes: &[u8]| PathBuf::from(OsStr::from_bytes(bytes));
        let tree = path(tree);
        Ok(Self {
            folder: folder(&tree),
            users: Some(Users {
                git_dir: path(git_dir),
                objects: path(objects),
                index: path(index),
                format: String::from_utf8_lossy(format).into_owned(),
            }),
            tree,
        })
    }

    /// The bare repository.
    pub(super) fn bare(&self) -> PathBuf {
        self.folder.join("repo")
    }

    pub(super) fn objects(&self) -> PathBuf {
        self.bare().join("objects")
    }

    /// Returns the path of this program's index, which stays from one snapshot to the next.
    pub(super) fn index(&self) -> PathBuf {
        self.folder.join("tree.index")
    }

    /// The settings that all worktrees of the user's repository share, and what it ignores.
    fn shared(&self, name: &str) -> Option<PathBuf> {
        let users = self.users.as_ref()?;
        Some(users.objects.parent()?.join(name))
    }

    /// Creates the bare repository if it is missing, and has it borrow the user's objects.
    pub(super) fn create(&self, disk: &Disk) -> Result<(), DiskError> {
        let bare = self.bare();
        disk.create_private_dir(&self.folder)?;
        disk.create_private_dir(&bare)?;
        disk.create_dir_all(&bare.join("refs/snapshots"))?;
        disk.create_dir_all(&self.objects().join("info"))?;
        disk.create(&bare.join("HEAD"), b"ref: refs/heads/none\n", 0o600)?;
        let is_sha256 = self
            .users
            .as_ref()
            .is_some_and(|users| users.format == "sha256");
        let config: &[u8] = if is_sha256 {
            b"[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectformat = sha256\n"
        } else {
            b"[core]\n\trepositoryformatversion = 0\n\tbare = true\n"
        };
        disk.create(&bare.join("config"), config, 0o600)?;
        let attributes = bare.join("info/attributes");
        if disk.read_if_there(&attributes)?.as_deref() != Some(ATTRIBUTES) {
            disk.create_dir_all(&bare.join("info"))?;
            disk.replace(&attributes, ATTRIBUTES, 0o600)?;
        }
        if let Some(users) = &self.users {
            let path = self.objects().join("info/alternates");
            let mut lines = users.objects.as_os_str().as_bytes().to_vec();
            lines.push(b'\n');
            if disk.read_if_there(&path)?.as_ref() != Some(&lines) {
                disk.replace(&path, &lines, 0o600)?;
            }
        }
        Ok(())
    }

    /// Begins this program's index as a copy of the user's, so that unchanged files are not read,
    /// and returns whether it did. Its entries of files that git converts are not their bytes, and
    /// some may be marked as ignored.
    pub(super) fn begin_index(
        &self,
        surroundings: &GitEnvironment,
        from_scratch: bool,
    ) -> Result<bool, SnapshotError> {
        let disk = &surroundings.disk;
        let index = self.index();
        // A process that was killed while writing left it; no other one is here.
        disk.remove_file(&self.folder.join("tree.index.lock"))?;
        if !from_scratch && disk.exists(&index)? {
            return Ok(false);
        }
        disk.remove_file(&index)?;
        // Earlier versions kept in one what git would have committed, and in the other what the user had marked.
        for name in ["index", "bytes.index"] {
            disk.remove_file(&self.folder.join(name))?;
        }
        let Some(users) = &self.users else {
            return Ok(true);
        };
        if let Some(bytes) = disk.read_if_there(&users.index)? {
            disk.replace(&index, &bytes, 0o600)?;
            // An index that borrows from a shared one, which exists only next to the user's, is
            // made whole.
            let beside = disk.list_dir(&users.git_dir)?;
            let is_shared = |name: &OsStr| name.as_bytes().starts_with(b"sharedindex.");
            if beside.iter().any(|entry| is_shared(&entry.name)) {
                let git = self.of_tree(surroundings);
                git.run(&["update-index", "--no-split-index"])?;
            }
        }
        Ok(true)
    }

    /// Git that reads and writes the files of the tree as bytes: nothing that the tree or the user's
    /// settings say of filters, ends of lines or encodings holds, and nothing of it is run.
    pub(super) fn of_files<'s>(&self, surroundings: &'s GitEnvironment) -> Git<'s> {
        let mut git = self.of_tree(surroundings);
        git.variables.retain(|(name, _)| *name != "GIT_DIR");
        let git = git.with("GIT_DIR", self.bare());
        match self.shared("config") {
            // Names in small letters, links, permissions and what is ignored are as the user has it.
            Some(config) => git.with_settings_of(&config),
            None => git,
        }
    }

    /// The option by which what the user's repository ignores is ignored.
    pub(super) fn excluded(&self, disk: &Disk) -> Result<Option<String>, DiskError> {
        let Some(path) = self.shared("info/exclude") else {
            return Ok(None);
        };
        let option = disk
            .exists(&path)?
            .then(|| path.to_str().map(str::to_owned));
        Ok(option
            .flatten()
            .map(|path| format!("--exclude-from={path}")))
    }

    /// Returns a git that knows the user's repository, and writes to this program's objects and
    /// index.
    pub(super) fn of_tree<'s>(&self, surroundings: &'s GitEnvironment) -> Git<'s> {
        let git_dir = match &self.users {
            Some(users) => users.git_dir.clone(),
            None => self.bare(),
        };
        let git = Git::in_folder(surroundings, &self.tree)
            .with("GIT_DIR", git_dir)
            .with("GIT_WORK_TREE", &self.tree)
            .with("GIT_INDEX_FILE", self.index())
            .with("GIT_OBJECT_DIRECTORY", self.objects());
        match &self.users {
            Some(users) => git.with("GIT_ALTERNATE_OBJECT_DIRECTORIES", &users.objects),
            None => git,
        }
    }

    /// Git in the bare repository alone.
    pub(super) fn of_bare<'s>(&self, surroundings: &'s GitEnvironment) -> Git<'s> {
        Git::in_folder(surroundings, &self.folder)
            .with("GIT_DIR", self.bare())
            .with("GIT_INDEX_FILE", self.index())
    }

    /// Returns the operation that the user has in progress, during which files must not change
    /// under their feet.
    pub(super) fn under_way(&self, disk: &Disk) -> Result<Option<&'static str>, DiskError> {
        let Some(users) = &self.users else {
            return Ok(None);
        };
        for (name, what) in UNDER_WAY {
            if disk.exists(&users.git_dir.join(name))? {
                return Ok(Some(what));
            }
        }
        Ok(None)
    }
}

/// Whether a path is part of our own state, which no snapshot holds and no restoring writes.
pub fn is_ours(path: &Path) -> bool {
    path.components().any(|component| {
        let name = component.as_os_str();
        name == "cal_audit" || name.as_bytes().starts_with(b".cal_")
    })
}
