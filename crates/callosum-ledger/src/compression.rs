//! Compression of archives that are no longer written to.
//!
//! It runs after a rotation, without the ledger's lock, because an archive never changes. No record
//! mentions it: an archive's contents stay the same, and readers handle both forms. A crash in
//! between leaves an archive that is not compressed, or both files. Readers then use the plain one,
//! the next opening removes the other, and the next run compresses again. If the two differ, no
//! crash left them so: [`duplicate_archive`] determines which of them is the archive.

use std::path::{Path, PathBuf};

use callosum_host::{Disk, DiskError, DiskFile, FileLock, OpenHow, disk::NewFile};

use crate::{
    duplicate_archive::{self, ArchiveCopies},
    journal::Archived,
    open_ledger::compress,
    paths::LedgerPaths,
    reader::{ReadError, recorded_archives},
    repair::Repair,
};

/// Compresses the archives that the journal lists and that are still plain; see
/// [`Ledger::compress_archives`].
///
/// [`Ledger::compress_archives`]: crate::Ledger::compress_archives
pub(crate) fn compress_archives(disk: &Disk, paths: &LedgerPaths) -> Result<usize, ReadError> {
    let Some(_lock) = FileLock::try_acquire(disk, &lock_of(paths))? else {
        // The process that holds the lock compresses these as well.
        return Ok(0);
    };
    let mut count = 0;
    for archived in recorded_archives(disk, paths)? {
        if compress_one(disk, paths, &archived)? {
            count += 1;
        }
    }
    Ok(count)
}

/// Removes the leftovers of a process that was killed between two steps of compressing: the archive
/// as it was written is still there. If the two files differ, the one that is not the archive is
/// moved to the quarantine, and this is reported. Costs a look at each archive's two names, and the
/// reading of both files if both exist.
pub(crate) fn tidy(
    disk: &Disk,
    paths: &LedgerPaths,
    archives: &[Archived],
) -> Result<Vec<Repair>, DiskError> {
    let mut repairs = Vec::new();
    let mut lock = None;
    for archived in archives {
        if !duplicate_archive::are_there(disk, paths, &archived.archive)? {
            continue;
        }
        if lock.is_none() {
            lock = FileLock::try_acquire(disk, &lock_of(paths))?;
        }
        if lock.is_none() {
            break;
        }
        // The previous holder of the lock may have compressed this one.
        match duplicate_archive::compare(disk, paths, archived)? {
            Some(ArchiveCopies::Alike) => {
                disk.remove_file(&paths.compressed_archive(&archived.archive))?;
                disk.sync_dir(&paths.history)?;
            }
            Some(unlike) => repairs.extend(duplicate_archive::part(disk, paths, archived, unlike)?),
            None => {}
        }
    }
    Ok(repairs)
}

/// Returns the path of the lock that a compressing process holds.
fn lock_of(paths: &LedgerPaths) -> PathBuf {
    paths.locks.join("cal_compress")
}

/// Writes what a ledger is compressed, without its name.
fn compressed(disk: &Disk, ledger: &DiskFile, path: &Path) -> Result<NewFile, DiskError> {
    let mut new = disk.new_file(path, ledger.mode()?.unwrap_or(0o644))?;
    compress(ledger, |piece| new.push(piece))?;
    Ok(new)
}

/// Compresses an archive, and returns whether a plain one existed.
fn compress_one(disk: &Disk, paths: &LedgerPaths, archived: &Archived) -> Result<bool, DiskError> {
    let name = &archived.archive;
    let (plain, path) = (paths.archive(name), paths.compressed_archive(name));
    if let Some(unlike) = duplicate_archive::compare(disk, paths, archived)?
        && unlike != ArchiveCopies::Alike
    {
        duplicate_archive::part(disk, paths, archived, unlike)?;
        if unlike != ArchiveCopies::Plain {
            return Ok(false);
        }
    }
    let Some(file) = disk.open_if_there(&plain, OpenHow::READ)? else {
        return Ok(false);
    };
    if !disk.exists(&path)? {
        compressed(disk, &file, &path)?.create()?;
    }
    if !duplicate_archive::is_same(disk, &file, &path)? {
        // Another program has replaced the file since.
        return Ok(false);
    }
    // Its name may be of a process that was killed before it was durable.
    disk.sync_dir(&paths.history)?;
    disk.remove_file(&plain)?;
    disk.sync_dir(&paths.history)?;
    Ok(true)
}
