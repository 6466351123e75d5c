//! What stands where something of ours should: it is set aside under another name, so that what follows from the log can be
//! made anew. Nothing of it is removed.

use std::path::{Path, PathBuf};

use callosum_host::{Disk, DiskError, disk::EntryKind};

/// Stands in the name of what was set aside, before a number.
const MARK: &str = ".displaced-";

/// Sets aside what stands there, and gives its new path.
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

/// Whether something stands there that is neither a folder nor leads to one.
pub(crate) fn is_no_folder(disk: &Disk, path: &Path) -> Result<bool, DiskError> {
    let kind = disk.stat(path)?.map(|found| found.kind);
    Ok(matches!(kind, Some(EntryKind::File | EntryKind::Other)))
}

/// Whether a link stands there that leads to no folder: nowhere, as while a disk is not mounted, to itself, or to a file. It is
/// somebody's, and left alone.
pub(crate) fn is_lost_link(disk: &Disk, path: &Path) -> Result<bool, DiskError> {
    let found = disk.stat(path)?;
    if found.is_none_or(|found| found.kind != EntryKind::Link) {
        return Ok(false);
    }
    let real = disk.canonicalize(path).ok();
    let found = real.and_then(|real| disk.stat(&real).ok().flatten());
    Ok(found.is_none_or(|found| found.kind != EntryKind::Folder))
}

/// Whether a folder stands there, where a file should.
pub(crate) fn is_folder(disk: &Disk, path: &Path) -> Result<bool, DiskError> {
    let kind = disk.stat(path)?.map(|found| found.kind);
    Ok(kind == Some(EntryKind::Folder))
}

/// What was set aside in a folder, by name.
pub(crate) fn displaced_in(disk: &Disk, folder: &Path) -> Result<Vec<PathBuf>, DiskError> {
    let entries = disk.list_dir(folder)?.into_iter();
    let displaced = entries.filter(|entry| entry.name.to_string_lossy().contains(MARK));
    let mut displaced: Vec<PathBuf> = displaced.map(|entry| folder.join(entry.name)).collect();
    displaced.sort();
    Ok(displaced)
}
