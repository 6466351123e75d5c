//! [`FileInventory`]: contents of journal, ledger file, hashlog and the folder of archives at one
//! moment without a writer.
//!
//! It is taken with the audit lock held and examined without it. Its contents stay in place: the
//! journal and the hashlog only grow, the ledger file grows over its tail, which is kept here, and
//! a file that is archived later is open.

use std::{ffi::OsString, path::Path};

use callosum_host::{Disk, DiskError, DiskFile, LockError, OpenHow};

use crate::{
    hashlog::{HashlogLine, ReadRange},
    journal::{DayFile, stock_of_days},
    lines::Lines,
    locks,
    paths::LedgerPaths,
};
use callosum_json::Checksum;

/// The files at one moment.
#[derive(Debug)]
pub(crate) struct FileInventory {
    /// The journal's files and their sizes.
    pub(crate) days: Vec<(DayFile, u64)>,
    pub(crate) ledger: Option<StockFile>,
    pub(crate) hashlog: Option<StockFile>,
    /// The names in the folder of archives.
    pub(crate) history: Vec<OsString>,
}

impl FileInventory {
    /// Takes stock, with the audit lock held for that moment where the project can be written.
    pub(crate) fn take(disk: &Disk, paths: &LedgerPaths) -> Result<Self, LockError> {
        let _still = locks::take_stock(disk, paths)?;
        Ok(Self {
            days: stock_of_days(disk, &paths.audit)?,
            ledger: StockFile::take(disk, &paths.ledger)?,
            hashlog: StockFile::take(disk, &paths.hashlog)?,
            history: disk
                .list_dir(&paths.history)?
                .into_iter()
                .map(|entry| entry.name)
                .collect(),
        })
    }
}

/// More than the tail of a ledger takes.
const END: u64 = 64;

/// A file as it was when stock was taken.
#[derive(Debug)]
pub(crate) struct StockFile {
    file: DiskFile,
    len: u64,
    /// Its last bytes, which the next append may overwrite.
    end: Vec<u8>,
}

impl StockFile {
    fn take(disk: &Disk, path: &Path) -> Result<Option<Self>, DiskError> {
        let Some(file) = disk.open_if_there(path, OpenHow::READ)? else {
            return Ok(None);
        };
        Self::new(file).map(Some)
    }

    /// Opens a snapshot of a file that no process is writing to.
    pub(crate) fn new(file: DiskFile) -> Result<Self, DiskError> {
        let len = file.size()?;
        let from = len.saturating_sub(END);
        Ok(Self {
            end: file.read_range(from, (len - from) as usize)?,
            len,
            file,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    /// The file, whose last bytes may be others by now.
    pub(crate) fn file(&self) -> &DiskFile {
        &self.file
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Returns the hash that the first line of a hashlog follows; `None` if it has no such line.
    pub(crate) fn follows(&self) -> Result<Option<Checksum>, DiskError> {
        let mut lines = Lines::new(&self.file, 0, self.len);
        let first = lines.next()?;
        Ok(first.and_then(|line| HashlogLine::read(line.bytes).map(|line| line.prev)))
    }

    /// Its last bytes.
    pub(crate) fn end(&self) -> &[u8] {
        &self.end
    }

    pub(crate) fn read_all(&self) -> Result<Vec<u8>, DiskError> {
        self.read_range(0, self.len as usize)
    }
}

impl ReadRange for StockFile {
    fn size(&self) -> Result<u64, DiskError> {
        Ok(self.len)
    }

    fn read_range(&self, offset: u64, len: usize) -> Result<Vec<u8>, DiskError> {
        let until = offset.saturating_add(len as u64).min(self.len);
        if offset >= until {
            return Ok(Vec::new());
        }
        let end_from = self.len - self.end.len() as u64;
        let body = end_from.clamp(offset, until) - offset;
        let mut bytes = self.file.read_range(offset, body as usize)?;
        if until > end_from && bytes.len() as u64 == body {
            let from = offset.max(end_from) - end_from;
            bytes.extend_from_slice(&self.end[from as usize..(until - end_from) as usize]);
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_what_it_was_though_its_end_was_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let path = folder.path().join("ledger");
        for len in [0, 10, 64, 200] {
            let was: Vec<u8> = (0..len).map(|at| at as u8).collect();
            disk.replace(&path, &was, 0o600).unwrap();
            let stock = StockFile::take(&disk, &path).unwrap().unwrap();
            let file = disk.open(&path, OpenHow::READ_WRITE).unwrap();
            file.write_at(&[255; 90], (len as u64).saturating_sub(20))
                .unwrap();
            for offset in 0..len + 3 {
                for part in [0, 1, 63, 65, 300] {
                    let from = offset.min(len);
                    let until = (offset + part).min(len);
                    assert_eq!(
                        stock.read_range(offset as u64, part).unwrap(),
                        &was[from..until]
                    );
                }
            }
        }
    }
}
