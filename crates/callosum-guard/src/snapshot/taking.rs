//! [`Taken`]: the tree as it is now, or the files in it that are named, written as a tree of git's.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
    path::{Path, PathBuf},
};

use callosum_host::{DiskError, disk::EntryKind};

use super::{
    git::{Git, Surroundings},
    note::{NotCovered, TooLarge},
    repository::{Repository, is_ours},
    store::SnapshotError,
};

/// A new or changed file that is larger is left out, in bytes.
const LARGEST: u64 = 50_000_000;

/// So many names of what is not covered are kept.
const MOST_NAMES: usize = 100;

/// So many files are held where they are named; more are as good as a tree, which takes its time.
const MOST_FILES: usize = 20_000;

/// A tree that was written, and what is not in it.
pub(super) struct Taken {
    pub(super) tree: String,
    pub(super) bytes: u64,
    pub(super) not_covered: NotCovered,
}

impl Taken {
    /// Writes the tree as it is now, or `only` these files, folders and patterns of it. What stops
    /// git once may be our own index, which is begun anew.
    pub(super) fn now(
        surroundings: &Surroundings,
        repository: &Repository,
        only: &[String],
    ) -> Result<Self, SnapshotError> {
        let disk = &surroundings.disk;
        let taking = Taking {
            surroundings,
            repository,
        };
        if !only.is_empty() {
            return taking.named(only);
        }
        repository.begin_index(disk, false)?;
        if let Ok(taken) = taking.whole() {
            return Ok(taken);
        }
        repository.begin_index(disk, true)?;
        taking.whole()
    }
}

/// What is taken, and with what.
struct Taking<'s> {
    surroundings: &'s Surroundings,
    repository: &'s Repository,
}

impl Taking<'_> {
    /// What differs from our index is put into it.
    fn whole(&self) -> Result<Taken, SnapshotError> {
        let git = self.repository.of_tree(self.surroundings);
        let listed = git.run(&[
            "ls-files",
            "-z",
            "--modified",
            "--deleted",
            "--others",
            "--exclude-standard",
        ])?;
        let mut taken = Taken {
            tree: String::new(),
            bytes: 0,
            not_covered: NotCovered {
                repositories: self.submodules()?,
                ..NotCovered::default()
            },
        };
        self.add(&git, paths(&listed).collect(), &mut taken)?;
        let ignored = git.run(&[
            "ls-files",
            "-z",
            "--others",
            "--ignored",
            "--exclude-standard",
            "--directory",
        ])?;
        let ignored: Vec<PathBuf> = paths(&ignored).filter(|path| !is_ours(path)).collect();
        taken.not_covered.ignored_count = ignored.len();
        let first = ignored.iter().take(MOST_NAMES);
        taken.not_covered.ignored = first.map(|path| shown(path)).collect();
        taken.tree = git.line(&["write-tree"])?;
        Ok(taken)
    }

    /// What is named is put into an index that holds nothing else, whether it is ignored or not.
    fn named(&self, only: &[String]) -> Result<Taken, SnapshotError> {
        let disk = &self.surroundings.disk;
        let index = self.repository.folder.join("named.index");
        disk.remove_file(&index)?;
        let mut git = self.repository.of_tree(self.surroundings);
        git.variables.retain(|(name, _)| *name != "GIT_INDEX_FILE");
        let git = git.with("GIT_INDEX_FILE", &index);
        let mut arguments: Vec<String> = ["ls-files", "-z", "--others", "--"]
            .map(str::to_owned)
            .into();
        // A name may begin as git's own marks do.
        arguments.extend(only.iter().map(|path| format!("./{path}")));
        let listed = git.run(&arguments)?;
        let listed: BTreeSet<PathBuf> = paths(&listed).collect();
        if listed.len() > MOST_FILES {
            let count = listed.len();
            return Err(SnapshotError::TooMany { count });
        }
        let mut taken = Taken {
            tree: String::new(),
            bytes: 0,
            not_covered: NotCovered::default(),
        };
        self.add(&git, listed, &mut taken)?;
        taken.tree = git.line(&["write-tree"])?;
        disk.remove_file(&index)?;
        Ok(taken)
    }

    /// Puts files into an index as they are, or out of it, and counts them.
    fn add(
        &self,
        git: &Git<'_>,
        listed: BTreeSet<PathBuf>,
        taken: &mut Taken,
    ) -> Result<(), SnapshotError> {
        let disk = &self.surroundings.disk;
        let mut input = Vec::new();
        for path in listed {
            if is_ours(&path) {
                continue;
            }
            let raw = path.as_os_str().as_bytes();
            if raw.ends_with(b"/") {
                taken.not_covered.repositories.push(shown(&path));
                continue;
            }
            let found = disk.stat(&self.repository.tree.join(&path))?;
            let size = found
                .filter(|found| found.kind == EntryKind::File)
                .map_or(0, |found| found.len);
            if size > LARGEST {
                taken.not_covered.too_large.push(TooLarge {
                    path: shown(&path),
                    bytes: size,
                });
                continue;
            }
            taken.bytes += size;
            input.extend_from_slice(raw);
            input.push(0);
        }
        if !input.is_empty() {
            git.run_on(
                &["update-index", "-z", "--add", "--remove", "--stdin"],
                input,
            )?;
        }
        Ok(())
    }

    /// The submodules, as `.gitmodules` names them.
    fn submodules(&self) -> Result<Vec<String>, DiskError> {
        let path = self.repository.tree.join(".gitmodules");
        let found = self.surroundings.disk.stat(&path)?;
        if found.is_none_or(|found| found.kind != EntryKind::File) {
            return Ok(Vec::new());
        }
        let text = self.surroundings.disk.read(&path)?;
        let text = String::from_utf8_lossy(&text);
        let value = |line: &str| {
            let (key, value) = line.split_once('=')?;
            (key.trim() == "path").then(|| value.trim().to_owned())
        };
        Ok(text.lines().filter_map(value).collect())
    }
}

/// What git prints with `-z`.
pub(super) fn paths(printed: &[u8]) -> impl Iterator<Item = PathBuf> {
    printed
        .split(|byte| *byte == 0)
        .filter(|path| !path.is_empty())
        .map(|path| PathBuf::from(OsStr::from_bytes(path)))
}

pub(super) fn shown(path: &Path) -> String {
    String::from_utf8_lossy(&path.as_os_str().to_owned().into_vec()).into_owned()
}
