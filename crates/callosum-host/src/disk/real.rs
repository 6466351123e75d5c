//! The operating system's own files.

#![expect(
    clippy::disallowed_methods,
    reason = "this is where the calls that every other place must make through `Disk` are made"
)]

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io,
    os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use super::file_system::{
    Access, Create, EntryKind, FileHandle, FileStat, FileSystem, ListedEntry, OpenHow,
};

/// The machine's own file system.
pub(super) struct RealFileSystem;

impl FileSystem for RealFileSystem {
    fn open(&self, path: &Path, how: OpenHow) -> io::Result<Box<dyn FileHandle>> {
        let mut options = OpenOptions::new();
        options.read(true).write(how.access == Access::ReadWrite);
        match how.create {
            Create::Never => {}
            Create::IfMissing => {
                options.create(true).mode(how.mode);
            }
            Create::New => {
                options.create_new(true).mode(how.mode);
            }
        }
        let file = options.open(path)?;
        // Opening a folder to read succeeds on Unix; the reads would fail without a path.
        if file.metadata()?.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        Ok(Box::new(file))
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        fs::DirBuilder::new().mode(0o755).create(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::hard_link(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    fn stat(&self, path: &Path) -> io::Result<FileStat> {
        let found = fs::symlink_metadata(path)?;
        Ok(FileStat {
            kind: kind_of(found.file_type()),
            len: found.len(),
            modified: found.modified()?,
        })
    }

    fn list_dir(&self, path: &Path) -> io::Result<Vec<ListedEntry>> {
        fs::read_dir(path)?
            .map(|entry| {
                let entry = entry?;
                Ok(ListedEntry {
                    name: entry.file_name(),
                    kind: kind_of(entry.file_type()?),
                })
            })
            .collect()
    }

    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        fs::canonicalize(path)
    }
}

impl FileHandle for File {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        FileExt::read_at(self, buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        FileExt::write_at(self, bytes, offset)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        File::set_len(self, len)
    }

    fn sync_data(&self) -> io::Result<()> {
        File::sync_data(self)
    }

    fn sync_all(&self) -> io::Result<()> {
        File::sync_all(self)
    }

    fn try_lock(&self) -> io::Result<bool> {
        match File::try_lock(self) {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn unlock(&self) -> io::Result<()> {
        File::unlock(self)
    }
}

fn kind_of(file_type: fs::FileType) -> EntryKind {
    if file_type.is_symlink() {
        EntryKind::Link
    } else if file_type.is_dir() {
        EntryKind::Folder
    } else if file_type.is_file() {
        EntryKind::File
    } else {
        EntryKind::Other
    }
}
