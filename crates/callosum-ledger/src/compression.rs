//! Compressing archives, once they are no longer written to.
//!
//! It is done after a rotation, without the ledger's lock, for an archive never changes. Nothing is
//! recorded of it: what an archive says stays the same, and whoever reads it does not care. A crash
//! in between leaves an archive that is not compressed, or both files, of which the plain one is
//! read; the next time the rest is done.

use std::path::Path;

use callosum_host::{Disk, DiskError, DiskFile, OpenHow};

use crate::{
    archive_name::ArchiveName,
    hashlog::ReadRange as _,
    ledger::Ledger,
    open_ledger::{OpenLedger, compressed, is_corrupt},
    paths::LedgerPaths,
    reader::{ReadError, told_names},
};

/// What becomes of archives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// They stay as they were written.
    #[default]
    None,
    /// They are compressed, in a form that `zcat` reads.
    Gzip,
}

/// So many bytes are compared at once.
const PIECE: u64 = 1024 * 1024;

impl Ledger {
    /// Compresses the archives that the journal tells of and that are not yet, and says how many
    /// those were.
    ///
    /// Holds no lock. Each is read back and compared before the plain one is removed: costs
    /// compressing and inflating each, seconds for one of 250 MB.
    pub fn compress_archives(disk: &Disk, paths: &LedgerPaths) -> Result<usize, ReadError> {
        let mut count = 0;
        for name in told_names(disk, paths)? {
            if disk.exists(&paths.archive(&name))? {
                compress(disk, paths, &name)?;
                count += 1;
            }
        }
        Ok(count)
    }
}

fn compress(disk: &Disk, paths: &LedgerPaths, name: &ArchiveName) -> Result<(), DiskError> {
    let (plain, path) = (paths.archive(name), paths.compressed_archive(name));
    let Some(file) = disk.open_if_there(&plain, OpenHow::READ)? else {
        return Ok(());
    };
    let mode = file.mode()?.unwrap_or(0o644);
    if !disk.exists(&path)? {
        disk.create(&path, &compressed(&file)?, mode)?;
    }
    if !is_same(disk, &file, &path)? {
        // Somebody else's, or damaged since.
        disk.replace(&path, &compressed(&file)?, mode)?;
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
