//! Storage for the bytes that a repair removes from a file: nothing is thrown away.

use std::path::{Path, PathBuf};

use callosum_host::{Disk, DiskError, DiskFile, OpenHow, disk::EntryKind};

use crate::{
    derived_files::{copy, hash_of, is_beginning},
    paths::LedgerPaths,
};
use callosum_json::Checksum;

/// Stores bytes of the file `path`, durably, and returns the new path.
///
/// The name is the file's own and the first digits of the bytes' SHA-256: the same bytes are kept
/// once. Only their owner may read them.
pub(crate) fn keep(
    disk: &Disk,
    paths: &LedgerPaths,
    path: &Path,
    bytes: &[u8],
) -> Result<PathBuf, DiskError> {
    disk.create_dir_all(&paths.quarantine)?;
    let place = place_of(paths, path, Checksum::of(bytes));
    let mut kept = place.clone();
    while !disk.create(&kept, bytes, 0o600)? && !holds(disk, &kept, bytes)? {
        // The file that has the name holds other bytes.
        kept = free_sibling(disk, &place)?;
    }
    Ok(kept)
}

fn holds(disk: &Disk, path: &Path, bytes: &[u8]) -> Result<bool, DiskError> {
    let stat = disk.stat(path)?;
    let is_file =
        stat.is_some_and(|stat| stat.kind == EntryKind::File && stat.len == bytes.len() as u64);
    Ok(is_file && disk.read(path)? == bytes)
}

/// Keeps a whole file, as [`keep`] does, and holds a piece of it at a time.
pub(crate) fn keep_file(
    disk: &Disk,
    paths: &LedgerPaths,
    file: &DiskFile,
) -> Result<PathBuf, DiskError> {
    disk.create_dir_all(&paths.quarantine)?;
    let len = file.size()?;
    let place = place_of(paths, file.path(), hash_of(file, len)?);
    let mut kept = place.clone();
    loop {
        if !disk.exists(&kept)? {
            let mut copied = disk.new_file(&kept, 0o600)?;
            copy(file, len, &mut copied)?;
            if copied.create()? {
                return Ok(kept);
            }
        }
        if is_copy(disk, &kept, file)? {
            return Ok(kept);
        }
        kept = free_sibling(disk, &place)?;
    }
}

/// Whether an exact copy of a file is in the quarantine.
pub(crate) fn has(disk: &Disk, paths: &LedgerPaths, file: &DiskFile) -> Result<bool, DiskError> {
    is_copy(
        disk,
        &place_of(paths, file.path(), hash_of(file, file.size()?)?),
        file,
    )
}

fn is_copy(disk: &Disk, kept: &Path, file: &DiskFile) -> Result<bool, DiskError> {
    let stat = disk.stat(kept)?;
    if !stat.is_some_and(|stat| stat.kind == EntryKind::File) {
        return Ok(false);
    }
    let kept = disk.open(kept, OpenHow::READ)?;
    Ok(kept.size()? == file.size()? && is_beginning(&kept, file)?)
}

/// The place's own name, followed by the first number that is free.
fn free_sibling(disk: &Disk, place: &Path) -> Result<PathBuf, DiskError> {
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    free_name(disk, place.parent().unwrap_or(place), &name)
}

fn place_of(paths: &LedgerPaths, path: &Path, hash: Checksum) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.trim_start_matches('.');
    let hash = hash.to_string();
    paths.quarantine.join(format!("{name}.{}", &hash[..16]))
}

/// Moves a folder, with all its contents, durably, and returns its new path.
///
/// The first free number is appended to its name. If the quarantine is on another file system, the
/// folder stays in its parent folder.
pub(crate) fn move_folder(
    disk: &Disk,
    paths: &LedgerPaths,
    folder: &Path,
) -> Result<PathBuf, DiskError> {
    disk.create_dir_all(&paths.quarantine)?;
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let parent = folder.parent().unwrap_or(&paths.root);
    let mut kept = free_name(disk, &paths.quarantine, &name)?;
    if disk.rename(folder, &kept).is_err() {
        kept = free_name(disk, parent, &name)?;
        disk.rename(folder, &kept)?;
    }
    disk.sync_dir(kept.parent().unwrap_or(parent))?;
    disk.sync_dir(parent)?;
    Ok(kept)
}

fn free_name(disk: &Disk, folder: &Path, name: &str) -> Result<PathBuf, DiskError> {
    let mut count = 1;
    loop {
        let path = folder.join(format!("{name}.{count}"));
        if !disk.exists(&path)? {
            return Ok(path);
        }
        count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAL-ERR-4: bytes that are set aside are there, even if their name was taken.
    #[test]
    fn bytes_are_kept_beside_what_has_their_name() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let paths = LedgerPaths::in_root(folder.path());
        let keep = || keep(&disk, &paths, Path::new(".cal_memory.json"), b"torn").unwrap();
        let first = keep();
        assert_eq!(keep(), first);
        disk.replace(&first, b"else", 0o600).unwrap();
        let second = keep();
        assert_eq!(disk.read(&second).unwrap(), b"torn");
        assert_eq!(disk.read(&first).unwrap(), b"else");
        disk.remove_file(&first).unwrap();
        disk.create_dir_all(&first).unwrap();
        assert_eq!(disk.read(&keep()).unwrap(), b"torn");
    }
}
