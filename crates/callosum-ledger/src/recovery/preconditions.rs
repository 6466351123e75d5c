//! [`Preconditions`]: state that must not change between reading a project's files and replacing them.

use callosum_host::{Disk, DiskError, disk::FileStat};

use crate::{
    journal::{DayFile, stock_of_days},
    paths::LedgerPaths,
};

/// Tries to write everything before the lock is taken. After these the lock is held, because
/// another process writes all the time.
pub(super) const TRIES_WITHOUT_LOCK: usize = 2;

/// The journal, the ledger file and the hashlog as they stand at a moment.
#[derive(PartialEq, Eq)]
pub(super) struct Preconditions {
    /// The journal's files and their sizes.
    pub(super) days: Vec<(DayFile, u64)>,
    last_day: Option<FileStat>,
    ledger: Option<FileStat>,
    hashlog: Option<FileStat>,
}

impl Preconditions {
    pub(super) fn now(disk: &Disk, paths: &LedgerPaths) -> Result<Self, DiskError> {
        let days = stock_of_days(disk, &paths.audit)?;
        let last_day = match days.last() {
            Some((last, _)) => disk.stat(&last.path)?,
            None => None,
        };
        Ok(Self {
            days,
            last_day,
            ledger: disk.stat(&paths.ledger)?,
            hashlog: disk.stat(&paths.hashlog)?,
        })
    }
}
