//! [`ArchiveCopies`]: an archive that exists both plain and compressed, and which of the two it is.
//!
//! Compression leaves both files only if they are alike. If they differ, one was put there or
//! damaged. Each is then compared with the hash of the archive's hashlog in the journal, which
//! covers every entry and its place. A file that was not compared is never removed, and the file
//! that is not the archive goes to the quarantine.

use std::path::Path;

use callosum_host::{Disk, DiskError, DiskFile, OpenHow};

use crate::{
    archive_files,
    archive_import::lines_over,
    archive_name::ArchiveName,
    hashlog::ReadRange as _,
    journal::Archived,
    open_ledger::{OpenLedger, is_corrupt},
    paths::LedgerPaths,
    quarantine,
    repair::{Repair, RepairKind},
};

/// Number of bytes compared at once.
const PIECE: u64 = 1024 * 1024;

/// Result of comparing the two files of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArchiveCopies {
    /// They say the same.
    Alike,
    /// They do not, and the plain one is the archive.
    Plain,
    /// They do not, and the compressed one is the archive.
    Compressed,
    /// They differ, and neither is the archive that the journal lists.
    Neither,
}

/// Whether an archive's files are both there.
pub(crate) fn are_there(
    disk: &Disk,
    paths: &LedgerPaths,
    name: &ArchiveName,
) -> Result<bool, DiskError> {
    Ok(archive_files::is_file(disk, &paths.archive(name))?
        && archive_files::is_file(disk, &paths.compressed_archive(name))?)
}

/// Compares an archive's two files; `None` if only one exists, or none.
///
/// Costs the reading of both, and holds one of them in memory if they differ.
pub(crate) fn compare(
    disk: &Disk,
    paths: &LedgerPaths,
    archived: &Archived,
) -> Result<Option<ArchiveCopies>, DiskError> {
    if !are_there(disk, paths, &archived.archive)? {
        return Ok(None);
    }
    let plain = disk.open(&paths.archive(&archived.archive), OpenHow::READ)?;
    let path = paths.compressed_archive(&archived.archive);
    Ok(Some(if is_same(disk, &plain, &path)? {
        ArchiveCopies::Alike
    } else if is_archive(Ok(OpenLedger::Plain(plain)), archived)? {
        ArchiveCopies::Plain
    } else if is_archive(OpenLedger::open(disk, &path), archived)? {
        ArchiveCopies::Compressed
    } else {
        ArchiveCopies::Neither
    }))
}

/// Sets aside the one of two different files that is not the archive, and reports it; leaves both
/// if neither is.
pub(crate) fn part(
    disk: &Disk,
    paths: &LedgerPaths,
    archived: &Archived,
    unlike: ArchiveCopies,
) -> Result<Option<Repair>, DiskError> {
    let path = match unlike {
        ArchiveCopies::Plain => paths.compressed_archive(&archived.archive),
        ArchiveCopies::Compressed => paths.archive(&archived.archive),
        ArchiveCopies::Alike | ArchiveCopies::Neither => return Ok(None),
    };
    let kept = quarantine::keep_file(disk, paths, &disk.open(&path, OpenHow::READ)?)?;
    disk.remove_file(&path)?;
    disk.sync_dir(&paths.history)?;
    Ok(Some(Repair {
        path,
        what: RepairKind::SetAside,
        kept: Some(kept),
    }))
}

/// Whether a ledger has the archived entries, at their positions.
fn is_archive(
    opened: Result<OpenLedger, DiskError>,
    archived: &Archived,
) -> Result<bool, DiskError> {
    let bytes = opened.and_then(|ledger| {
        // One of another size need not be read for that.
        let is_of_size = ledger.size()? == archived.bytes;
        is_of_size.then(|| ledger.read_all()).transpose()
    });
    match bytes {
        Err(error) if is_corrupt(&error) => Ok(false),
        bytes => Ok(bytes?.is_some_and(|bytes| lines_over(&bytes, archived).is_some())),
    }
}

/// Whether a compressed ledger is what the plain one is.
pub(crate) fn is_same(disk: &Disk, plain: &DiskFile, path: &Path) -> Result<bool, DiskError> {
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
