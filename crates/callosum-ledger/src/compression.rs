//! Compressing archives, once they are no longer written to.
//!
//! It is done after a rotation, without the ledger's lock, for an archive never changes. Nothing is
//! recorded of it: what an archive says stays the same, and whoever reads it does not care. A crash
//! in between leaves an archive that is not compressed, or both files, of which the plain one is
//! read; the next opening removes the other, and the next time it is done anew.

use std::path::{Path, PathBuf};

use callosum_host::{Disk, DiskError, DiskFile, FileLock, OpenHow, disk::NewFile};

use crate::{
    archive_name::ArchiveName,
    hashlog::ReadRange as _,
    ledger::Ledger,
    open_ledger::{OpenLedger, compress, is_corrupt},
    paths::LedgerPaths,
    reader::{ReadError, told_names},
};

/// So many bytes are compared at once.
const PIECE: u64 = 1024 * 1024;

impl Ledger {
    /// Compresses the archives that the journal tells of and that are not yet, and says how many
    /// those were.
    ///
    /// Holds no lock that anybody waits for; does nothing where another process is at it. Each is read back and compared before the plain one is removed: costs
    /// compressing and inflating each, seconds for one of 250 MB.
    pub fn compress_archives(disk: &Disk, paths: &LedgerPaths) -> Result<usize, ReadError> {
        let Some(_lock) = FileLock::try_acquire(disk, &lock_of(paths))? else {
            // Whoever is at it does these as well.
            return Ok(0);
        };
        let mut count = 0;
        for name in told_names(disk, paths)? {
            if disk.exists(&paths.archive(&name))? {
                compress_one(disk, paths, &name)?;
                count += 1;
            }
        }
        Ok(count)
    }
}

/// Removes what a process left that was killed between two steps of compressing: the archive as it
/// was written is still there. Costs a look into the folder of archives.
pub(crate) fn tidy(disk: &Disk, paths: &LedgerPaths) -> Result<(), DiskError> {
    if unfinished(disk, paths)?.is_empty() {
        return Ok(());
    }
    let Some(_lock) = FileLock::try_acquire(disk, &lock_of(paths))? else {
        return Ok(());
    };
    for path in unfinished(disk, paths)? {
        disk.remove_file(&path)?;
    }
    disk.sync_dir(&paths.history)
}

/// Compressed archives beside which the plain one stands.
fn unfinished(disk: &Disk, paths: &LedgerPaths) -> Result<Vec<PathBuf>, DiskError> {
    let mut unfinished = Vec::new();
    for entry in disk.list_dir(&paths.history)? {
        let plain = entry
            .name
            .to_str()
            .and_then(|name| name.strip_suffix(".gz"));
        let Some(plain) = plain.and_then(|plain| plain.parse::<ArchiveName>().ok()) else {
            continue;
        };
        if disk.exists(&paths.archive(&plain))? {
            unfinished.push(paths.history.join(&entry.name));
        }
    }
    Ok(unfinished)
}

/// Held by whoever compresses.
fn lock_of(paths: &LedgerPaths) -> PathBuf {
    paths.locks.join("cal_compress")
}

/// Writes what a ledger is compressed, without its name.
fn compressed(disk: &Disk, ledger: &DiskFile, path: &Path) -> Result<NewFile, DiskError> {
    let mut new = disk.new_file(path, ledger.mode()?.unwrap_or(0o644))?;
    compress(ledger, |piece| new.push(piece))?;
    Ok(new)
}

fn compress_one(disk: &Disk, paths: &LedgerPaths, name: &ArchiveName) -> Result<(), DiskError> {
    let (plain, path) = (paths.archive(name), paths.compressed_archive(name));
    let Some(file) = disk.open_if_there(&plain, OpenHow::READ)? else {
        return Ok(());
    };
    if !disk.exists(&path)? {
        compressed(disk, &file, &path)?.create()?;
    }
    if !is_same(disk, &file, &path)? {
        // Somebody else's, or damaged since.
        compressed(disk, &file, &path)?.replace()?;
        if !is_same(disk, &file, &path)? {
            return Ok(());
        }
    }
    // Its name may be of a process that was killed before it was durable.
    disk.sync_dir(&paths.history)?;
    disk.remove_file(&plain)?;
    disk.sync_dir(&paths.history)
}

/// Whether a compressed ledger is what the plain one is.
fn is_same(disk: &Disk, plain: &DiskFile, path: &Path) -> Result<bool, DiskError> {
    let compressed = match OpenLedger::open(disk, path) {
        Err(error) if is_corrupt(&error) => return Ok(false),
        opened => opened?,
    };
    let size = plain.size()?;
    if compressed.size()? != size {
        return Ok(false);
    }
    let mut at = 0;
    while at < size {
        let len = PIECE.min(size - at) as usize;
        let found = match compressed.read_range(at, len) {
            Err(error) if is_corrupt(&error) => return Ok(false),
            found => found?,
        };
        if plain.read_range(at, len)? != found {
            return Ok(false);
        }
        at += len as u64;
    }
    Ok(true)
}
