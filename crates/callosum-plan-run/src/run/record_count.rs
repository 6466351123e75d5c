//! [`RunTally`]: number of records of a run that were on disk, kept by the machine that wrote them.
//!
//! Seals show that a record in between is gone, but not that the last ones are: a journal may be
//! cut off behind any record, for example if a user restores an older copy of the project. The
//! calls whose answers were cut off would be made again.

use std::path::PathBuf;

use callosum_host::{Disk, DiskError};

/// Permission bits of the file.
const MODE: u32 = 0o600;

/// A file that has the number, next to the machine's other files of the run.
#[derive(Clone, Debug)]
pub struct RunTally {
    disk: Disk,
    file: PathBuf,
}

impl RunTally {
    /// Reads and creates nothing.
    pub fn new(disk: Disk, file: PathBuf) -> Self {
        Self { disk, file }
    }

    /// Returns at least how many there were; 0 where that is not known, as after a power loss, which may empty the file.
    pub fn read(&self) -> u64 {
        let bytes = self.disk.read_if_there(&self.file).ok().flatten();
        let number = bytes.and_then(|bytes| str::from_utf8(&bytes).ok()?.trim_end().parse().ok());
        number.unwrap_or(0)
    }

    /// Keeps it, for everybody who reads it after this, also where the process is killed. Does not wait for the disk: the records
    /// are there before, so that less than they are is lost at most.
    pub fn keep(&self, count: u64) -> Result<(), DiskError> {
        let text = format!("{count}\n");
        self.disk
            .replace_unsynced(&self.file, text.as_bytes(), MODE)
    }

    /// Forgets it.
    pub fn remove(&self) -> Result<(), DiskError> {
        self.disk.remove_file(&self.file).map(drop)
    }
}
