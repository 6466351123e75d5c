//! Files that somebody puts into `bridge.d/`: additions that nobody can overwrite, taken in and
//! removed.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use callosum_host::{Disk, DiskError, disk::EntryKind};

/// Most files that are looked at.
const MOST: usize = 1000;

/// So deep folders are looked into: one for each agent.
const DEEPEST: usize = 2;

/// A file that is no JSON may still be written for so long after its last change.
pub(super) const STILL_WRITTEN: Duration = Duration::from_secs(1);

/// The files, by name: `*.json` in the folder and in those one below it. Hidden ones are passed
/// over: that is how somebody writes one who wants to rename it into its place.
pub(super) fn found(disk: &Disk, folder: &Path) -> Result<Vec<PathBuf>, DiskError> {
    let mut files = Vec::new();
    look(disk, folder, DEEPEST, &mut files)?;
    files.sort();
    Ok(files)
}

fn look(
    disk: &Disk,
    folder: &Path,
    left: usize,
    files: &mut Vec<PathBuf>,
) -> Result<(), DiskError> {
    for entry in disk.list_dir(folder)? {
        let path = folder.join(&entry.name);
        let is_hidden = entry.name.as_encoded_bytes().starts_with(b".");
        let is_json = path.extension().is_some_and(|end| end == "json");
        match entry.kind {
            _ if is_hidden || files.len() >= MOST => {}
            EntryKind::File if is_json => files.push(path),
            EntryKind::Folder if left > 1 => look(disk, &path, left - 1, files)?,
            _ => {}
        }
    }
    Ok(())
}
