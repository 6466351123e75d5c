//! [`DiskFile`]: an open file that knows its path.

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

use super::{
    file_system::{FileHandle, FileId},
    handle::{DiskError, Operation, uninterrupted},
};

/// An open file; every error that it gives names its path.
pub struct DiskFile {
    handle: Box<dyn FileHandle>,
    path: PathBuf,
}

impl DiskFile {
    pub(super) fn new(handle: Box<dyn FileHandle>, path: PathBuf) -> Self {
        Self { handle, path }
    }

    /// The path that it was opened by.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Size in bytes.
    pub fn size(&self) -> Result<u64, DiskError> {
        uninterrupted(|| self.handle.size()).map_err(self.failed(Operation::Stat))
    }

    /// The permission bits; `None` where the file system has none.
    pub fn mode(&self) -> Result<Option<u32>, DiskError> {
        uninterrupted(|| self.handle.mode()).map_err(self.failed(Operation::Stat))
    }

    /// Sets the permission bits.
    pub fn set_mode(&self, mode: u32) -> Result<(), DiskError> {
        uninterrupted(|| self.handle.set_mode(mode)).map_err(self.failed(Operation::Write))
    }

    /// Returns the identity of the file; `None` if the file system cannot tell.
    pub fn id(&self) -> Result<Option<FileId>, DiskError> {
        uninterrupted(|| self.handle.id()).map_err(self.failed(Operation::Stat))
    }

    /// Reads from `offset` until `buffer` is full or the file ends; returns how many bytes.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize, DiskError> {
        let mut filled = 0;
        while filled < buffer.len() {
            let at = offset + filled as u64;
            let read = uninterrupted(|| self.handle.read_at(&mut buffer[filled..], at));
            match read.map_err(self.failed(Operation::Read))? {
                0 => break,
                count => filled += count,
            }
        }
        Ok(filled)
    }

    /// Reads `len` bytes from `offset`; fewer if the file ends before. Fails if there is no memory
    /// for them.
    pub fn read_range(&self, offset: u64, len: usize) -> Result<Vec<u8>, DiskError> {
        let mut buffer = Vec::new();
        // Nothing is read of a file that claims to be larger than the memory, and the process
        // continues.
        let room = buffer.try_reserve_exact(len);
        room.map_err(|_| self.failed(Operation::Read)(io::ErrorKind::OutOfMemory.into()))?;
        buffer.resize(len, 0);
        let filled = self.read_at(&mut buffer, offset)?;
        buffer.truncate(filled);
        Ok(buffer)
    }

    /// Reads everything from `offset` to the end.
    pub fn read_from(&self, offset: u64) -> Result<Vec<u8>, DiskError> {
        let mut bytes = self.read_range(offset, self.size()?.saturating_sub(offset) as usize)?;
        // The file may have grown since; files under /proc report a size of zero.
        loop {
            let more = self.read_range(offset + bytes.len() as u64, 8 * 1024)?;
            if more.is_empty() {
                return Ok(bytes);
            }
            bytes.extend(more);
        }
    }

    /// Reads the whole file.
    pub fn read_all(&self) -> Result<Vec<u8>, DiskError> {
        self.read_from(0)
    }

    /// Writes all of `bytes` at `offset`. After an error any prefix may have been written.
    pub fn write_at(&self, bytes: &[u8], offset: u64) -> Result<(), DiskError> {
        let mut written = 0;
        while written < bytes.len() {
            let at = offset + written as u64;
            let count = uninterrupted(|| self.handle.write_at(&bytes[written..], at))
                .map_err(self.failed(Operation::Write))?;
            if count == 0 {
                return Err(self.failed(Operation::Write)(
                    io::ErrorKind::WriteZero.into(),
                ));
            }
            written += count;
        }
        Ok(())
    }

    /// Cuts or extends (with zeros) to `len` bytes.
    pub fn set_len(&self, len: u64) -> Result<(), DiskError> {
        uninterrupted(|| self.handle.set_len(len)).map_err(self.failed(Operation::Write))
    }

    /// Reserves disk space for these bytes, past the end as well: then writing them meets no full
    /// disk. The size stays as it is. Does nothing if the file system cannot.
    pub fn reserve(&self, offset: u64, bytes: u64) -> Result<(), DiskError> {
        uninterrupted(|| self.handle.reserve(offset, bytes)).map_err(self.failed(Operation::Write))
    }

    /// Makes the content durable (`fdatasync`). The name is not: see [`super::Disk::sync_dir`].
    pub fn sync_data(&self) -> Result<(), DiskError> {
        uninterrupted(|| self.handle.sync_data()).map_err(self.failed(Operation::Sync))
    }

    /// Makes the content and all metadata durable (`fsync`).
    pub fn sync_all(&self) -> Result<(), DiskError> {
        uninterrupted(|| self.handle.sync_all()).map_err(self.failed(Operation::Sync))
    }

    /// Rewrites the whole content in place, so that the next sync makes it durable.
    ///
    /// For use after a failed sync: the system may then take for written what never reached the
    /// disk, and no later sync, of any process, would write it. Costs reading and writing the file,
    /// 1 MiB at a time; concurrent readers see no difference.
    pub fn write_again(&self) -> Result<(), DiskError> {
        const AT_ONCE: usize = 1 << 20;
        let mut offset = 0;
        loop {
            let bytes = self.read_range(offset, AT_ONCE)?;
            if bytes.is_empty() {
                return Ok(());
            }
            self.write_at(&bytes, offset)?;
            offset += bytes.len() as u64;
        }
    }

    /// Whether a process has it open for writing, even after its name was removed; `None` if the
    /// system cannot tell. For a file that is open for reading only. Costs three system calls.
    pub fn is_being_written(&self) -> Result<Option<bool>, DiskError> {
        uninterrupted(|| self.handle.is_being_written()).map_err(self.failed(Operation::Stat))
    }

    /// Takes the advisory exclusive lock; `false` if another process holds it.
    pub fn try_lock(&self) -> Result<bool, DiskError> {
        uninterrupted(|| self.handle.try_lock()).map_err(self.failed(Operation::Lock))
    }

    /// Gives the advisory lock back. Dropping the file does the same.
    pub fn unlock(&self) -> Result<(), DiskError> {
        uninterrupted(|| self.handle.unlock()).map_err(self.failed(Operation::Lock))
    }

    fn failed(&self, operation: Operation) -> impl FnOnce(io::Error) -> DiskError {
        DiskError::on(operation, &self.path)
    }
}

impl fmt::Debug for DiskFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DiskFile")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}
