//! Foreign files in the place of ours: they are renamed, so that what follows from the log can be
//! built again. Nothing of them is removed.

use std::path::{Path, PathBuf};

use callosum_host::{Disk, DiskError, disk::EntryKind};

/// Part of the name of a displaced file, before a number.
const MARK: &str = ".displaced-";

/// Renames the file that is there, and returns its new path.
pub(crate) fn displace(disk: &Disk, path: &Path) -> Result<PathBuf, DiskError> {
    let mut number = 1;
    loop {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!("{MARK}{number}"));
        let free = path.with_file_name(name);
        if disk.stat(&free)?.is_none() {
            disk.rename(path, &free)?;
            return Ok(free);
        }
        number += 1;
    }
}

/// Whether the path exists and is neither a folder nor a link.
pub(crate) fn is_no_folder(disk: &Disk, path: &Path) -> Result<bool, DiskError> {
    let kind = disk.stat(path)?.map(|found| found.kind);
    Ok(matches!(kind, Some(EntryKind::File | EntryKind::Other)))
}

/// Whether the path is a link that leads to no folder: to nothing, as while a disk is not mounted,
/// to itself, or to a file. It belongs to someone, and is left alone.
pub(crate) fn is_lost_link(disk: &Disk, path: &Path) -> Result<bool, DiskError> {
    let found = disk.stat(path)?;
    if found.is_none_or(|found| found.kind != EntryKind::Link) {
        return Ok(false);
    }
    let real = disk.canonicalize(path).ok();
    let found = real.and_then(|real| disk.stat(&real).ok().flatten());
    Ok(found.is_none_or(|found| found.kind != EntryKind::Folder))
}

/// Whether a folder is in the place of a file.
pub(crate) fn is_folder(disk: &Disk, path: &Path) -> Result<bool, DiskError> {
    let kind = disk.stat(path)?.map(|found| found.kind);
    Ok(kind == Some(EntryKind::Folder))
}

/// Returns the displaced files in a folder, by name.
pub(crate) fn displaced_in(disk: &Disk, folder: &Path) -> Result<Vec<PathBuf>, DiskError> {
    let entries = disk.list_dir(folder)?.into_iter();
    let displaced = entries.filter(|entry| entry.name.to_string_lossy().contains(MARK));
    let mut displaced: Vec<PathBuf> = displaced.map(|entry| folder.join(entry.name)).collect();
    displaced.sort();
    Ok(displaced)
}
