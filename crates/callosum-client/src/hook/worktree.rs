//! The trees of a repository: the main one, and those that `git worktree add` has made of it.

use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use callosum_host::{Disk, OpenHow, disk::EntryKind};

use callosum_config::is_repository;

/// The longest of git's one-line files that is read, in bytes.
const LONGEST_LINE: usize = 8 * 1024;

/// So many trees of one repository are known.
const MOST: usize = 32;

/// The repository's own folder, seen from a folder in its tree.
pub(super) fn git_dir(disk: &Disk, cwd: &Path) -> Option<PathBuf> {
    for folder in cwd.ancestors() {
        let git = folder.join(".git");
        match disk.stat(&git).ok().flatten().map(|found| found.kind) {
            Some(EntryKind::Folder) if is_repository(disk, &git).unwrap_or(true) => {
                return Some(git);
            }
            Some(EntryKind::File) => {
                let file = disk.open(&git, OpenHow::READ).ok()?;
                let line = file.read_range(0, LONGEST_LINE).ok()?;
                let path = line.strip_prefix(b"gitdir: ")?.trim_ascii_end();
                let path = folder.join(std::ffi::OsStr::from_bytes(path));
                return Some(real(disk, &path));
            }
            Some(EntryKind::Link | EntryKind::Other) => return Some(real(disk, &git)),
            // Git takes a folder without a `HEAD` for no repository, and looks further up.
            Some(EntryKind::Folder) | None => {}
        }
    }
    None
}

/// The tree of git's that a folder is in.
pub(crate) fn top(disk: &Disk, folder: &Path) -> Option<PathBuf> {
    let mut folders = folder.ancestors();
    let top = folders.find(|folder| is_repository(disk, &folder.join(".git")).unwrap_or(false));
    top.map(Path::to_owned)
}

/// Whether a repository's folder is that of a linked worktree.
pub(super) fn is_linked(git_dir: &Path) -> bool {
    let parent = git_dir.parent().and_then(Path::file_name);
    parent.is_some_and(|parent| parent == "worktrees")
}

/// The folder that all trees of a repository share, from that of one of them.
pub(super) fn shared(git_dir: &Path) -> &Path {
    match git_dir.ancestors().nth(2) {
        Some(shared) if is_linked(git_dir) => shared,
        _ => git_dir,
    }
}

/// Returns the trees of the repository that a folder is in, the main one first: those whose own
/// files name the repository.
pub(crate) fn trees(disk: &Disk, folder: &Path) -> Vec<PathBuf> {
    let Some(git) = git_dir(disk, folder) else {
        return Vec::new();
    };
    let shared = shared(&git);
    let linked = shared.join("worktrees");
    let listed = disk.list_dir(&linked).unwrap_or_default();
    if listed.is_empty() {
        return Vec::new();
    }
    let trees = listed.iter().take(MOST).filter_map(|entry| {
        let own = linked.join(&entry.name);
        let file = disk.open(&own.join("gitdir"), OpenHow::READ).ok()?;
        let line = file.read_range(0, LONGEST_LINE).ok()?;
        let top = Path::new(OsStr::from_bytes(line.trim_ascii_end())).parent()?;
        (git_dir(disk, top)? == own).then(|| real(disk, top))
    });
    let main = shared.parent().filter(|_| shared.ends_with(".git"));
    let main = main.map(Path::to_owned);
    main.into_iter().chain(trees).collect()
}

/// A path with its links resolved, as far as it is there.
pub(super) fn real(disk: &Disk, path: &Path) -> PathBuf {
    disk.canonicalize(path).unwrap_or_else(|_| path.to_owned())
}
