//! [`CapturedTree`]: the tree as it is now, or the files in it that are named, written as a tree of git's.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    ffi::OsStr,
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
    path::{Path, PathBuf},
};

use callosum_host::{
    DiskError,
    disk::{EntryKind, FileStat},
};

use callosum_guard::{can_be_made_again, takes_in};

use super::{
    git::{Git, GitEnvironment},
    metadata::{NotCovered, TooLarge},
    repository::{Repository, is_ours},
    store::SnapshotError,
};

/// A new or changed file that is larger is left out, in bytes.
const LARGEST: u64 = 50_000_000;

/// So many names of what is not covered are kept.
const MOST_NAMES: usize = 100;

/// Limit on named files in a snapshot; more are as good as a tree, which takes its time.
const MOST_FILES: usize = 20_000;

/// So many files, and bytes of them, are held besides a tree that holds them not: what is named there
/// may be all that a build or an installation has made.
const MOST_BESIDES: usize = 2_000;
const LARGEST_BESIDES: u64 = 64_000_000;

/// The indexes of what is named, alone and besides a tree: each is written under another lock.
const ONLY: &str = "named.index";
const ALSO: &str = "also.index";

/// Attributes by which git converts the ends of lines, and those by which it changes other things.
const OF_ENDS: [&str; 3] = ["text", "crlf", "eol"];
const OF_CONTENT: [&str; 3] = ["ident", "filter", "working-tree-encoding"];

/// A file of `ls-files -s -t`, and the blob that git holds for it: `H 100644 BLOB STAGE\tPATH`. What is
/// only in the index has another letter.
fn file(line: &[u8]) -> Option<(PathBuf, &[u8])> {
    let rest = line.strip_prefix(b"H 100")?;
    let at = rest.iter().position(|byte| *byte == b'\t')?;
    let blob = rest[..at].split(|byte| *byte == b' ').nth(1)?;
    Some((PathBuf::from(OsStr::from_bytes(&rest[at + 1..])), blob))
}

/// Returns the path in a line of `ls-files -v` that git ignores: not to be in the tree (`S`), or to
/// stay as it is (a small letter).
fn marked(line: &[u8]) -> Option<PathBuf> {
    let (mark, rest) = line.split_first()?;
    let is_marked = *mark == b'S' || mark.is_ascii_lowercase();
    let path = rest.strip_prefix(b" ").filter(|_| is_marked)?;
    Some(PathBuf::from(OsStr::from_bytes(path)))
}

/// A tree that was written, and what is not in it.
#[derive(Default)]
pub(super) struct CapturedTree {
    pub(super) tree: String,
    pub(super) bytes: u64,
    pub(super) not_covered: NotCovered,
    /// Whether files were named and none of them exists.
    pub(super) is_missed: bool,
}

/// Contents of a snapshot: files, folders and patterns, seen from the tree's top folder.
#[derive(Clone, Copy)]
pub(super) struct Scope<'w> {
    /// These alone, if there are any, whether they are ignored or not.
    pub(super) only: &'w [String],
    /// Besides the tree these, whether they are ignored or not.
    pub(super) also: &'w [String],
}

impl CapturedTree {
    /// Writes the tree as it is now, or the part in the scope. A failure of git may come from this
    /// program's index, which is then rebuilt from scratch.
    pub(super) fn now(
        surroundings: &GitEnvironment,
        repository: &Repository,
        scope: Scope<'_>,
    ) -> Result<Self, SnapshotError> {
        let taking = Taking {
            surroundings,
            repository,
        };
        if !scope.only.is_empty() {
            let mut taken = taking.named(scope.only)?;
            taken.tell_of_names(&[".".to_owned()]);
            return Ok(taken);
        }
        let is_new = repository.begin_index(surroundings, false)?;
        let mut taken = if let Ok(taken) = taking.whole(is_new) {
            taken
        } else {
            repository.begin_index(surroundings, true)?;
            taking.whole(true)?
        };
        if !scope.also.is_empty() {
            taking.besides(scope.also, &mut taken)?;
            taken.tell_of_names(scope.also);
        }
        let lacks = &mut taken.not_covered;
        lacks.ignored_count = lacks.ignored.len();
        lacks.ignored.truncate(MOST_NAMES);
        Ok(taken)
    }

    /// Tells of what it does not hold that which these names are about.
    fn tell_of_names(&mut self, names: &[String]) {
        let lacks = &mut self.not_covered;
        let large = lacks.too_large.iter().map(|large| &large.path);
        for path in large.chain(&lacks.repositories) {
            if names.iter().any(|name| is_about(name, path)) && !lacks.named.contains(path) {
                lacks.named.push(path.clone());
            }
        }
    }
}

/// Whether a name is that of a path, of a folder above it, by a pattern as well, or of something inside of it.
fn is_about(name: &str, path: &str) -> bool {
    takes_in(name, path.trim_end_matches('/')) || Path::new(name).starts_with(path)
}

/// Sources and tools of a capture.
struct Taking<'s> {
    surroundings: &'s GitEnvironment,
    repository: &'s Repository,
}

impl Taking<'_> {
    /// Adds all differences from this program's index to it; to a new index, also files that git
    /// converts.
    fn whole(&self, is_new: bool) -> Result<CapturedTree, SnapshotError> {
        let git = self.repository.of_files(self.surroundings);
        let excluded = self.repository.excluded(&self.surroundings.disk)?;
        let standard = || {
            excluded
                .as_deref()
                .into_iter()
                .chain(["--exclude-standard"])
        };
        let converted = if is_new {
            self.unmark(&git)?;
            self.converted()?
        } else {
            BTreeSet::new()
        };
        if !converted.is_empty() {
            // Git takes for unchanged what it has looked at as it converts it.
            git.run_on(
                &["update-index", "-z", "--force-remove", "--stdin"],
                joined(&converted),
            )?;
        }
        let asked = ["ls-files", "-z", "--modified", "--deleted", "--others"];
        let listed = git.run(&asked.into_iter().chain(standard()).collect::<Vec<_>>())?;
        let mut listed: BTreeSet<PathBuf> = paths(&listed).collect();
        listed.extend(converted);
        let mut taken = CapturedTree {
            not_covered: NotCovered {
                repositories: self.submodules()?,
                ..NotCovered::default()
            },
            ..CapturedTree::default()
        };
        self.add(&git, listed, &mut taken)?;
        let asked = ["ls-files", "-z", "--others", "--ignored", "--directory"];
        let ignored = git.run(&asked.into_iter().chain(standard()).collect::<Vec<_>>())?;
        let ignored = paths(&ignored).filter(|path| !is_ours(path));
        taken.not_covered.ignored = ignored.map(|path| display_path(&path)).collect();
        taken.tree = git.line(&["write-tree"])?;
        Ok(taken)
    }

    /// Removes the marks in an index by which git ignores the state of files: those that exist are
    /// compared from then on, and the others go.
    fn unmark(&self, git: &Git<'_>) -> Result<(), SnapshotError> {
        let listed = git.run(&["ls-files", "-z", "-v"])?;
        let mut folders = BTreeMap::new();
        let mut there = BTreeSet::new();
        let mut absent = BTreeSet::new();
        for path in listed.split(|byte| *byte == 0).filter_map(marked) {
            let found = self.entry(&path, &mut folders)?;
            let known = if found.is_some() {
                &mut there
            } else {
                &mut absent
            };
            known.insert(path);
        }
        for (how, paths) in [
            ("--force-remove", &absent),
            ("--no-skip-worktree", &there),
            ("--no-assume-unchanged", &there),
        ] {
            if !paths.is_empty() {
                git.run_on(&["update-index", "-z", how, "--stdin"], joined(paths))?;
            }
        }
        Ok(())
    }

    /// The files of the user's index that git may hold otherwise than they stand in the tree.
    fn converted(&self) -> Result<BTreeSet<PathBuf>, SnapshotError> {
        if self.repository.users.is_none() {
            return Ok(BTreeSet::new());
        }
        let git = self.repository.of_tree(self.surroundings);
        let listed = git.run(&["ls-files", "-z", "-s", "-t"])?;
        let files: BTreeMap<PathBuf, &[u8]> =
            listed.split(|byte| *byte == 0).filter_map(file).collect();
        let by_setting = git.line(&["config", "--get", "core.autocrlf"]);
        let ends_by_setting =
            by_setting.is_ok_and(|value| !matches!(value.as_str(), "false" | "no" | "off" | "0"));
        let mut ends: BTreeSet<PathBuf> = if ends_by_setting {
            files.keys().cloned().collect()
        } else {
            BTreeSet::new()
        };
        let mut asked = vec!["check-attr", "-z", "--stdin"];
        asked.extend(OF_ENDS.iter().chain(&OF_CONTENT));
        let attributes = git.run_on(&asked, joined(files.keys()))?;
        let mut words = attributes.split(|byte| *byte == 0);
        let mut converted = BTreeSet::new();
        while let (Some(path), Some(name), Some(value)) = (words.next(), words.next(), words.next())
        {
            if matches!(value, b"unspecified" | b"unset") {
                continue;
            }
            let path = PathBuf::from(OsStr::from_bytes(path));
            if OF_CONTENT.iter().any(|other| other.as_bytes() == name) {
                converted.insert(path);
            } else {
                ends.insert(path);
            }
        }
        ends.retain(|path| !converted.contains(path));
        converted.extend(self.of_other_size(&git, &files, ends)?);
        Ok(converted)
    }

    /// Those whose ends of lines were converted: that takes bytes away, or adds some, so one of the
    /// size that git holds is what git holds.
    fn of_other_size(
        &self,
        git: &Git<'_>,
        files: &BTreeMap<PathBuf, &[u8]>,
        mut paths: BTreeSet<PathBuf>,
    ) -> Result<BTreeSet<PathBuf>, SnapshotError> {
        if paths.is_empty() {
            return Ok(paths);
        }
        let mut blobs = Vec::new();
        for path in &paths {
            blobs.extend_from_slice(files.get(path).copied().unwrap_or_default());
            blobs.push(b'\n');
        }
        let sizes = git.run_on(&["cat-file", "--batch-check=%(objectsize)"], blobs)?;
        let mut sizes = sizes.split(|byte| *byte == b'\n');
        let disk = &self.surroundings.disk;
        paths.retain(|path| {
            let size = sizes
                .next()
                .and_then(|size| std::str::from_utf8(size).ok()?.parse().ok());
            let found = disk
                .stat(&self.repository.tree.join(path))
                .unwrap_or_default();
            size.is_none() || found.map(|found| found.len) != size
        });
        Ok(paths)
    }

    /// Puts the named files into an index that holds nothing else, whether they are ignored or not.
    fn named(&self, only: &[String]) -> Result<CapturedTree, SnapshotError> {
        let git = self.with_empty_index(ONLY)?;
        let listed = Self::listed(&git, only)?;
        if listed.len() > MOST_FILES {
            let count = listed.len();
            return Err(SnapshotError::TooMany { count });
        }
        let mut taken = CapturedTree {
            is_missed: listed.is_empty(),
            ..CapturedTree::default()
        };
        self.add(&git, listed, &mut taken)?;
        taken.tree = git.line(&["write-tree"])?;
        self.surroundings.disk.remove_file(&self.index_at(ONLY))?;
        Ok(taken)
    }

    /// Puts named files that are not in a tree into an index that holds the tree, all files of a
    /// name or none.
    fn besides(&self, also: &[String], taken: &mut CapturedTree) -> Result<(), SnapshotError> {
        let git = self.with_empty_index(ALSO)?;
        git.run(&["read-tree", &taken.tree])?;
        let (mut files, mut bytes) = (MOST_BESIDES, LARGEST_BESIDES);
        let mut names: VecDeque<String> = also.iter().cloned().collect();
        while let Some(name) = names.pop_front() {
            let listed = Self::listed(&git, std::slice::from_ref(&name))?;
            if listed.is_empty() && self.is_of_another(&git, &name)? {
                taken.not_covered.named.push(name);
                continue;
            }
            let count = listed.len();
            let size = if count > files {
                None
            } else {
                Some(self.size(&listed)?)
            };
            let Some(size) = size.filter(|size| *size <= bytes) else {
                // Of all that git ignores, files that no build makes again come first: `.env` next
                // to `target`.
                if name == "." {
                    let ignored = taken.not_covered.ignored.iter();
                    names.extend(
                        ignored
                            .filter(|path| !can_be_made_again(path, None))
                            .cloned(),
                    );
                } else {
                    taken.not_covered.named.push(name);
                }
                continue;
            };
            files -= count;
            bytes -= size;
            let names: Vec<String> = listed.iter().map(|path| display_path(path)).collect();
            self.add(&git, listed, taken)?;
            taken.tell_of_names(&names);
            // Of a class of letters it is not known which it takes.
            let is_held =
                |path: &String| !name.contains('[') && takes_in(&name, path.trim_end_matches('/'));
            taken.not_covered.ignored.retain(|path| !is_held(path));
        }
        taken.tree = git.line(&["write-tree"])?;
        self.surroundings.disk.remove_file(&self.index_at(ALSO))?;
        Ok(())
    }

    /// Whether a file is there by this name, and an index holds none, nor could: it is in a repository of its own.
    fn is_of_another(&self, git: &Git<'_>, name: &str) -> Result<bool, SnapshotError> {
        let found = self.entry(Path::new(name), &mut BTreeMap::new())?;
        if found.is_none_or(|found| found.kind != EntryKind::File) || is_ours(Path::new(name)) {
            return Ok(false);
        }
        let held = git.run(&["ls-files", "-z", "--", &format!("./{name}")])?;
        Ok(held.is_empty())
    }

    fn index_at(&self, name: &str) -> PathBuf {
        self.repository.folder.join(name)
    }

    /// Git with an index of this name that holds nothing, for what is named.
    fn with_empty_index(&self, name: &str) -> Result<Git<'_>, SnapshotError> {
        let index = self.index_at(name);
        // A process that was killed while writing left it; no other one is here.
        let left = self.index_at(&format!("{name}.lock"));
        self.surroundings.disk.remove_file(&left)?;
        self.surroundings.disk.remove_file(&index)?;
        let mut git = self.repository.of_files(self.surroundings);
        git.variables.retain(|(name, _)| *name != "GIT_INDEX_FILE");
        Ok(git.with("GIT_INDEX_FILE", &index))
    }

    /// The files by these names that an index does not hold, ignored ones as well.
    fn listed(git: &Git<'_>, names: &[String]) -> Result<BTreeSet<PathBuf>, SnapshotError> {
        let mut arguments: Vec<String> = ["ls-files", "-z", "--others", "--"]
            .map(str::to_owned)
            .into();
        // A name may begin as git's own marks do.
        arguments.extend(names.iter().map(|name| format!("./{name}")));
        // By a pattern git takes a folder for no name of what is in it.
        let patterns = names.iter().filter(|name| name.contains(['*', '?', '[']));
        arguments.extend(patterns.map(|name| format!("./{}/*", name.trim_end_matches('/'))));
        let listed = git.run(&arguments)?;
        Ok(paths(&listed).collect())
    }

    /// The bytes of those of the files that a snapshot could hold.
    fn size(&self, listed: &BTreeSet<PathBuf>) -> Result<u64, DiskError> {
        let mut size = 0;
        for path in listed {
            let found = self
                .surroundings
                .disk
                .stat(&self.repository.tree.join(path))?;
            let file = found.filter(|found| found.kind == EntryKind::File && found.len <= LARGEST);
            size += file.map_or(0, |file| file.len);
        }
        Ok(size)
    }

    /// Puts files into an index as they are, or out of it, and counts them.
    fn add(
        &self,
        git: &Git<'_>,
        listed: BTreeSet<PathBuf>,
        taken: &mut CapturedTree,
    ) -> Result<(), SnapshotError> {
        let mut added = BTreeSet::new();
        let mut removed = BTreeSet::new();
        let mut folders = BTreeMap::new();
        for path in listed {
            if is_ours(&path) {
                continue;
            }
            let raw = path.as_os_str().as_bytes();
            if raw.ends_with(b"/") {
                let name = display_path(&path);
                if !taken.not_covered.repositories.contains(&name) {
                    taken.not_covered.repositories.push(name);
                }
                continue;
            }
            let found = self.entry(&path, &mut folders)?;
            // Something else is where a file was: a folder, whose files are listed, or a pipe.
            let Some(found) =
                found.filter(|found| matches!(found.kind, EntryKind::File | EntryKind::Link))
            else {
                removed.insert(path);
                continue;
            };
            let size = match found.kind {
                EntryKind::File => found.len,
                _ => 0,
            };
            if size > LARGEST {
                let large = TooLarge {
                    path: display_path(&path),
                    bytes: size,
                };
                if !taken.not_covered.too_large.contains(&large) {
                    taken.not_covered.too_large.push(large);
                }
                continue;
            }
            taken.bytes += size;
            added.insert(path);
        }
        // First what goes: a folder may have become a file, and a file a folder.
        for (how, paths) in [
            (&["--force-remove"][..], removed),
            (&["--add", "--remove", "--replace"], added),
        ] {
            if !paths.is_empty() {
                let begun = ["update-index", "-z"].into_iter();
                let arguments: Vec<&str> = begun
                    .chain(how.iter().copied())
                    .chain(["--stdin"])
                    .collect();
                git.run_on(&arguments, joined(&paths))?;
            }
        }
        Ok(())
    }

    /// Returns the entry at a path of the tree, if it is not behind a link or a file on the way to
    /// it. `folders` has what is known of those on the way.
    fn entry(
        &self,
        path: &Path,
        folders: &mut BTreeMap<PathBuf, bool>,
    ) -> Result<Option<FileStat>, DiskError> {
        let disk = &self.surroundings.disk;
        let tree = &self.repository.tree;
        let above: Vec<&Path> = path.ancestors().skip(1).collect();
        for folder in above.into_iter().rev() {
            let is_folder = if let Some(known) = folders.get(folder) {
                *known
            } else {
                let found = disk.stat(&tree.join(folder))?;
                let is_top = folder.as_os_str().is_empty();
                let is_folder =
                    is_top || found.is_some_and(|found| found.kind == EntryKind::Folder);
                folders.insert(folder.to_owned(), is_folder);
                is_folder
            };
            if !is_folder {
                return Ok(None);
            }
        }
        disk.stat(&tree.join(path))
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

/// Paths as git reads them with `-z`.
fn joined<'p>(paths: impl IntoIterator<Item = &'p PathBuf>) -> Vec<u8> {
    let mut input = Vec::new();
    for path in paths {
        input.extend_from_slice(path.as_os_str().as_bytes());
        input.push(0);
    }
    input
}

/// Splits the output of git with `-z`.
pub(super) fn paths(printed: &[u8]) -> impl Iterator<Item = PathBuf> {
    printed
        .split(|byte| *byte == 0)
        .filter(|path| !path.is_empty())
        .map(|path| PathBuf::from(OsStr::from_bytes(path)))
}

pub(super) fn display_path(path: &Path) -> String {
    String::from_utf8_lossy(&path.as_os_str().to_owned().into_vec()).into_owned()
}
