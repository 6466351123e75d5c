//! Files that a process was writing when it was killed, and that never got their names.
//!
//! They are whole-file writes: views, archives, backups, copies for the quarantine. No program
//! reads them, and a long recovery may leave some as large as the ledger. The files in the folder
//! of locks, of few bytes, are removed as well.

use std::path::Path;

use callosum_host::{Disk, DiskError, disk::EntryKind};

use crate::{journal::day_of_path, paths::LedgerPaths};

/// Removes the files that killed processes left in a project, but not those of running processes.
/// Costs the listing of the project's root and of the folders next to it, except that of the
/// answers.
pub(crate) fn sweep(disk: &Disk, paths: &LedgerPaths) -> Result<(), DiskError> {
    // The root is not ours alone.
    let is_view = |name: &str| {
        [&paths.ledger, &paths.hashlog]
            .iter()
            .any(|path| path.file_name().is_some_and(|own| own == name))
    };
    let is_journal = |name: &str| day_of_path(name.as_ref()).is_some();
    disk.sweep_new_files(&paths.root, |name| is_view(name) || is_journal(name))?;
    for folder in [
        &paths.history,
        &paths.audit,
        &paths.backups,
        &paths.quarantine,
        &paths.locks,
    ] {
        sweep_own(disk, folder)?;
    }
    Ok(())
}

/// The same, among the answers too, whose folders are up to 256.
pub(crate) fn sweep_all(disk: &Disk, paths: &LedgerPaths) -> Result<(), DiskError> {
    sweep(disk, paths)?;
    if is_folder(disk, &paths.answers)? {
        for entry in disk.list_dir(&paths.answers)? {
            sweep_own(disk, &paths.answers.join(entry.name))?;
        }
    }
    Ok(())
}

/// Sweeps a folder of our own, but follows no link: the author of the repository may have put it
/// there, and it leads to a folder that is not ours.
fn sweep_own(disk: &Disk, folder: &Path) -> Result<(), DiskError> {
    if is_folder(disk, folder)? {
        disk.sweep_new_files(folder, |_| true)?;
    }
    Ok(())
}

fn is_folder(disk: &Disk, path: &Path) -> Result<bool, DiskError> {
    let stat = disk.stat(path)?;
    Ok(stat.is_some_and(|stat| stat.kind == EntryKind::Folder))
}
