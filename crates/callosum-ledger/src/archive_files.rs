//! Files of archives in their folder: their names, and whether they are in place.
//!
//! Start with [`names`]. An archived ledger is one file, plain or compressed, and has a hashlog next
//! to it. Only names and kinds of files are looked at here, not contents.

use std::path::{Path, PathBuf};

use callosum_host::{Disk, DiskError, disk::EntryKind};

use crate::{archive_name::ArchiveName, paths::LedgerPaths};

/// Lists the names of the archives in a folder, the earliest first, each once whether it is
/// compressed or not.
pub(crate) fn names(disk: &Disk, history: &Path) -> Result<Vec<ArchiveName>, DiskError> {
    let mut names: Vec<ArchiveName> = disk
        .list_dir(history)?
        .into_iter()
        .filter(|entry| entry.kind == EntryKind::File)
        .filter_map(|entry| {
            let name = entry.name.to_str()?;
            name.strip_suffix(".gz").unwrap_or(name).parse().ok()
        })
        .collect();
    names.sort_unstable();
    names.dedup();
    Ok(names)
}

/// Whether an archived ledger is in its place, compressed or not.
pub(crate) fn is_kept(
    disk: &Disk,
    paths: &LedgerPaths,
    name: &ArchiveName,
) -> Result<bool, DiskError> {
    Ok(is_file(disk, &paths.archive(name))? || is_file(disk, &paths.compressed_archive(name))?)
}

/// Returns the path for reading an archived ledger: the compressed one if the plain one is gone.
pub(crate) fn place_of(
    disk: &Disk,
    paths: &LedgerPaths,
    name: &ArchiveName,
) -> Result<PathBuf, DiskError> {
    let (plain, compressed) = (paths.archive(name), paths.compressed_archive(name));
    let is_compressed = !disk.exists(&plain)? && disk.exists(&compressed)?;
    Ok(if is_compressed { compressed } else { plain })
}

/// Whether an archive and its hashlog are there.
pub(crate) fn is_whole(
    disk: &Disk,
    paths: &LedgerPaths,
    name: &ArchiveName,
) -> Result<bool, DiskError> {
    Ok(is_kept(disk, paths, name)? && is_file(disk, &paths.archived_hashlog(name))?)
}

/// Returns the path of an archive or its hashlog at which there is something other than a file.
pub(crate) fn in_the_way(
    disk: &Disk,
    paths: &LedgerPaths,
    name: &ArchiveName,
) -> Result<Option<PathBuf>, DiskError> {
    for path in [paths.archive(name), paths.archived_hashlog(name)] {
        if disk.exists(&path)? && !is_file(disk, &path)? {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// Whether a file, and nothing else, is at the path.
pub(crate) fn is_file(disk: &Disk, path: &Path) -> Result<bool, DiskError> {
    let stat = disk.stat(path)?;
    Ok(stat.is_some_and(|stat| stat.kind == EntryKind::File))
}
