//! [`StartMark`]: record that the executor of a plan's call was about to be started. This machine keeps it next to
//! its other files of the run.
//!
//! The journal has it, too, in the project. But its last records can be cut off or changed there,
//! for example if the project is restored from an older copy. Then an executor that was at work
//! would be asked again.

use std::path::PathBuf;

use callosum_host::{Disk, DiskError};

/// Permission bits of the file.
const MODE: u32 = 0o600;

/// Content of the file for an executor that changes nothing.
const CHANGES_NOTHING: &[u8] = b"changes nothing\n";

/// Content of the file for any other executor.
const MAY_CHANGE: &[u8] = b"may change\n";

/// A file for one call.
#[derive(Clone, Debug)]
pub struct StartMark {
    disk: Disk,
    file: PathBuf,
}

impl StartMark {
    /// Reads and creates nothing; the file's folder must be there by [`keep`](Self::keep).
    pub fn new(disk: Disk, file: PathBuf) -> Self {
        Self { disk, file }
    }

    /// Keeps it, for everybody who reads it after this, also where the process is killed. Does not wait for the disk.
    pub fn keep(&self, may_change: bool) -> Result<(), DiskError> {
        let text = if may_change {
            MAY_CHANGE
        } else {
            CHANGES_NOTHING
        };
        self.disk.replace_unsynced(&self.file, text, MODE)
    }

    /// Returns whether the executor might change something; `None` where none was about to be started. One that can't be
    /// read is of an executor that might.
    pub fn read(&self) -> Option<bool> {
        match self.disk.read_if_there(&self.file) {
            Ok(bytes) => bytes.map(|bytes| bytes != CHANGES_NOTHING),
            Err(_) => Some(true),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_may_have_changed_something() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let file = folder.path().join("a.start");
        let mark = StartMark::new(disk.clone(), file.clone());
        assert_eq!(mark.read(), None);
        for may_change in [false, true] {
            mark.keep(may_change).unwrap();
            assert_eq!(mark.read(), Some(may_change));
        }
        disk.replace_unsynced(&file, b"", MODE).unwrap();
        assert_eq!(mark.read(), Some(true));
    }
}
