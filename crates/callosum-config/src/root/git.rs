//! Facts from git's own files about a folder: its toplevel, and the main worktree of a linked one.
//!
//! A `.git` file is content like any other: an unpacked archive may hold one that points wherever
//! its author likes. So a link to a main worktree counts only if that repository knows it: the
//! folder named must be in its `worktrees`, and point back here.

use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use callosum_host::{Disk, DiskError, OpenHow, disk::EntryKind};

use super::belief::Belief;

/// The longest of git's one-line files that is read, in bytes: a path and a little more.
const LONGEST: usize = 8 * 1024;

/// The nearest folder upwards that is the top of a worktree.
pub(super) fn toplevel(belief: &Belief<'_>, from: &Path) -> Result<Option<PathBuf>, DiskError> {
    for folder in from.ancestors() {
        if is_toplevel(belief, folder)? {
            return Ok(Some(folder.to_owned()));
        }
    }
    Ok(None)
}

/// Whether a folder is the top of a worktree that we believe in.
pub(super) fn is_toplevel(belief: &Belief<'_>, folder: &Path) -> Result<bool, DiskError> {
    let link = folder.join(".git");
    Ok(is_repository(belief.disk(), &link)? && belief.in_mark(&link)?)
}

/// Whether git takes what is under the name `.git` for a repository.
///
/// As git does, it asks a folder for a `HEAD` and for folders of objects and references. Any other folder git passes over, and looks further up. The sandbox of Codex 0.171 leaves empty folders of this name in `/tmp`
/// when it is killed.
pub fn is_repository(disk: &Disk, git: &Path) -> Result<bool, DiskError> {
    let Some(found) = disk.stat(git)? else {
        return Ok(false);
    };
    match found.kind {
        // Git looks no further up from a file, also where it leads to nothing.
        EntryKind::File => Ok(true),
        EntryKind::Folder => has_repository(disk, git),
        EntryKind::Link => match real(disk, git) {
            Some(real) if is_folder(disk, &real)? => has_repository(disk, &real),
            Some(_) => Ok(true),
            None => Ok(false),
        },
        EntryKind::Other => Ok(false),
    }
}

/// Whether a folder has what each repository has. Each hook asks this several times, so nothing is read.
fn has_repository(disk: &Disk, folder: &Path) -> Result<bool, DiskError> {
    let head = disk.stat(&folder.join("HEAD"))?;
    // An old repository's `HEAD` is a link to its branch, which may not exist yet.
    let is_head = head.is_some_and(|head| head.len > 0 || head.kind == EntryKind::Link);
    Ok(is_head
        && is_folder(disk, &folder.join("objects"))?
        && is_folder(disk, &folder.join("refs"))?)
}

/// The folder that git keeps of the worktree with this toplevel.
pub(super) fn folder(disk: &Disk, toplevel: &Path) -> Result<Option<PathBuf>, DiskError> {
    let link = toplevel.join(".git");
    if is_folder(disk, &link)? {
        return Ok(Some(link));
    }
    Ok(path_in(disk, &link, b"gitdir: ")?.and_then(|path| real(disk, &path)))
}

/// Returns the main worktree, if `toplevel` is a linked one; `None` for a main worktree, a
/// submodule, a worktree of a bare repository, and links that are not consistent.
pub(super) fn main_worktree(disk: &Disk, toplevel: &Path) -> Result<Option<PathBuf>, DiskError> {
    let link = toplevel.join(".git");
    let Some(own) = path_in(disk, &link, b"gitdir: ")?.and_then(|path| real(disk, &path)) else {
        return Ok(None);
    };
    let Some(common) =
        path_in(disk, &own.join("commondir"), b"")?.and_then(|path| real(disk, &path))
    else {
        return Ok(None);
    };
    let back = path_in(disk, &own.join("gitdir"), b"")?.and_then(|path| real(disk, &path));
    let is_known = own.parent() == Some(common.join("worktrees").as_path())
        && back.is_some()
        && back == real(disk, &link);
    let main = common.parent().filter(|_| common.ends_with(".git"));
    match main {
        Some(main) if is_known && is_folder(disk, main)? => Ok(Some(main.to_owned())),
        _ => Ok(None),
    }
}

/// The path in one of git's one-line files, seen from the file's folder; `None` where there is no
/// such file, or it says something else.
fn path_in(disk: &Disk, file: &Path, before: &[u8]) -> Result<Option<PathBuf>, DiskError> {
    if disk
        .stat(file)?
        .is_none_or(|found| found.kind != EntryKind::File)
    {
        return Ok(None);
    }
    let content = disk.open(file, OpenHow::READ)?.read_range(0, LONGEST)?;
    let path = content
        .strip_prefix(before)
        .map(<[u8]>::trim_ascii_end)
        .filter(|path| !path.is_empty() && !path.contains(&0));
    let folder = file.parent().unwrap_or(Path::new("/"));
    Ok(path.map(|path| folder.join(OsStr::from_bytes(path))))
}

/// The path with every link resolved; `None` where it leads nowhere.
fn real(disk: &Disk, path: &Path) -> Option<PathBuf> {
    disk.canonicalize(path).ok()
}

/// Whether a folder, and no link to one, is at the path.
pub(super) fn is_folder(disk: &Disk, path: &Path) -> Result<bool, DiskError> {
    let found = disk.stat(path)?;
    Ok(found.is_some_and(|found| found.kind == EntryKind::Folder))
}
