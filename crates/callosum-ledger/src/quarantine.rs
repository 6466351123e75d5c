//! Where bytes go that a repair takes out of a file: nothing is thrown away.

use std::path::{Path, PathBuf};

use callosum_host::{Disk, DiskError};

use crate::{checksum::Checksum, paths::LedgerPaths};

/// Keeps bytes that stood in `path`, durably, and says where.
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
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let hash = Checksum::of(bytes).to_string();
    let name = name.trim_start_matches('.');
    let kept = paths.quarantine.join(format!("{name}.{}", &hash[..16]));
    disk.create(&kept, bytes, 0o600)?;
    Ok(kept)
}

/// Moves a folder, with all that is in it, durably, and says where it is now.
///
/// Its name is followed by the first number that is free. It stays beside where it was where the
/// quarantine is on another file system.
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
