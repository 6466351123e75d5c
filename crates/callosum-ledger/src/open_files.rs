//! [`OpenFiles`]: the files that every group writes, kept open from one group to the next.
//!
//! Deliberately not here: trust that a file is still the one that its path names. The holder of the
//! ledger's lock looks at each path before anything is written. A file that was replaced since then
//! is opened again, by the same rules as the first time.

use std::path::Path;

use callosum_host::{
    Disk, DiskError, DiskFile, OpenHow,
    disk::{EntryKind, FileId},
};

/// Open files by their paths: the journal's day file, the ledger file and the hashlog.
#[derive(Debug, Default)]
pub(crate) struct OpenFiles {
    files: Vec<OpenFile>,
}

#[derive(Debug)]
struct OpenFile {
    file: DiskFile,
    /// `None` where the file system has no such thing: then it is opened for each group.
    id: Option<FileId>,
}

/// More are never needed at once; the day file of a day that ended is the one that goes.
const MOST: usize = 3;

impl OpenFiles {
    /// Closes all of them.
    pub(crate) fn close(&mut self) {
        self.files.clear();
    }

    /// Whether a regular file of this size is at `path`, and is the open one if one is open.
    pub(crate) fn still_has(
        &mut self,
        disk: &Disk,
        path: &Path,
        len: u64,
    ) -> Result<bool, DiskError> {
        self.files
            .retain(|open| open.id.is_some() || open.file.path() != path);
        let opened = self.files.iter().find(|open| open.file.path() == path);
        Ok(disk.stat(path)?.is_some_and(|found| {
            found.kind == EntryKind::File
                && found.len == len
                && opened.is_none_or(|open| open.id == found.id)
        }))
    }

    /// The file at `path`, open for writing.
    pub(crate) fn writable(
        &mut self,
        disk: &Disk,
        path: &Path,
        how: OpenHow,
    ) -> Result<&DiskFile, DiskError> {
        let found = self.files.iter().position(|open| open.file.path() == path);
        let index = match found {
            Some(index) => index,
            None => self.open(disk, path, how)?,
        };
        Ok(&self.files[index].file)
    }

    fn open(&mut self, disk: &Disk, path: &Path, how: OpenHow) -> Result<usize, DiskError> {
        let file = disk.open(path, how)?;
        let id = file.id()?;
        if self.files.len() == MOST {
            self.files.remove(0);
        }
        self.files.push(OpenFile { file, id });
        Ok(self.files.len() - 1)
    }
}
