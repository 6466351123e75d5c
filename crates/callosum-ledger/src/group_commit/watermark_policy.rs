//! [`Mark`]: when the watermark is set, and what must be on disk before.

use std::path::PathBuf;

use callosum_host::{Disk, DiskError, DiskFile, OpenHow, disk::Operation};

use crate::{
    hashlog, journal::path_of_day, open_files::OpenFiles, paths::LedgerPaths, position::Position,
    watermark,
};

/// Bytes of journal after which the watermark is set again, so an opening reads at most this much.
const MARK_AFTER: u64 = 1024 * 1024;

/// Bytes since the watermark was set.
#[derive(Default)]
pub(super) struct Mark {
    /// Bytes of journal since.
    unmarked: u64,
    /// Whether a sync failed on the way to one.
    has_failed: bool,
}

impl Mark {
    /// Counts bytes by which the journal has grown.
    pub(super) fn grown(&mut self, bytes: u64) {
        self.unmarked += bytes;
    }

    /// Whether it is time for another one.
    pub(super) fn is_due(&self) -> bool {
        self.unmarked >= MARK_AFTER
    }

    /// Syncs everything and sets the watermark. It is a convenience: if it fails, the next opening
    /// reads more.
    ///
    /// After a failed sync it is not tried again here, and data that may be lost is written again:
    /// the watermark of another process must not vouch for it unseen.
    pub(super) fn set(
        &mut self,
        disk: &Disk,
        paths: &LedgerPaths,
        files: &mut OpenFiles,
        position: &mut Position,
    ) {
        if self.has_failed {
            return;
        }
        match sync_all(disk, paths, files, position)
            .and_then(|()| watermark::write(disk, paths, position))
        {
            Ok(()) => self.unmarked = 0,
            Err(error) if error.operation == Operation::Sync => {
                self.has_failed = true;
                for path in marked(paths, position) {
                    let file = files.writable(disk, &path, OpenHow::READ_WRITE);
                    // What cannot be written either is found out by the next group or opening.
                    drop(file.and_then(DiskFile::write_again));
                }
            }
            Err(_) => {}
        }
        if let Some(view) = &position.view {
            // It is derived: without it, a lookup reads more.
            drop(hashlog::refresh(
                disk,
                &paths.hashlog,
                &paths.index(),
                view.hashlog_end,
            ));
        }
    }
}

/// The files that a watermark vouches for, the journal's last day first.
fn marked(paths: &LedgerPaths, position: &Position) -> Vec<PathBuf> {
    let journal = position.day.map(|day| path_of_day(&paths.audit, day));
    journal
        .into_iter()
        .chain([paths.ledger.clone(), paths.hashlog.clone()])
        .collect()
}

fn sync_all(
    disk: &Disk,
    paths: &LedgerPaths,
    files: &mut OpenFiles,
    position: &mut Position,
) -> Result<(), DiskError> {
    for path in marked(paths, position) {
        let file = files.writable(disk, &path, OpenHow::READ_WRITE)?;
        file.sync_data()?;
    }
    if !position.has_durable_name() {
        disk.sync_dir(&paths.audit)?;
    }
    position.synced = position.seq;
    Ok(())
}
