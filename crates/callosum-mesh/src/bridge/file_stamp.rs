//! [`FileStamp`]: what the files of the bridge look like, without reading them.

use std::{path::PathBuf, time::SystemTime};

use callosum_host::{DiskError, disk::FileId};

use super::Bridge;

/// The names, sizes and times of everything that somebody may write to. Where two are equal, nobody wrote anything
/// between them, as far as the file system tells times apart.
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
