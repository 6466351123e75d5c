//! [`FileStamp`]: fingerprint of the bridge's files that needs no reading of them.

use std::{path::PathBuf, time::SystemTime};

use callosum_host::{DiskError, disk::FileId};

use super::Bridge;

/// Names, sizes and times of all files that others may write to. If two stamps are equal, no one
/// wrote anything between them, as far as the file system's time resolution shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileStamp(Vec<Seen>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    path: PathBuf,
    bytes: u64,
    modified: SystemTime,
    id: Option<FileId>,
}

impl Bridge {
    /// Looks at the file, at those that were exchanged away, and into the folder of additions. Costs a listing of
    /// each folder and a look at each file; nothing is locked, read or written.
    pub fn glimpse(&self) -> Result<FileStamp, DiskError> {
        let mut seen = Vec::new();
        for path in self.watched()? {
            if let Some(stat) = self.disk.stat(&path)? {
                seen.push(Seen {
                    path,
                    bytes: stat.len,
                    modified: stat.modified,
                    id: stat.id,
                });
            }
        }
        Ok(FileStamp(seen))
    }
}
