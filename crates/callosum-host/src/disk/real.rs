//! The operating system's own files.

#![expect(
    clippy::disallowed_methods,
    reason = "this is where the calls that every other place must make through `Disk` are made"
)]

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io,
    os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{CWD, OFlags},
    io::Errno,
};

use super::{
    file_system::{
        Access, Create, EntryKind, FileHandle, FileId, FileStat, FileSystem, ListedEntry, OpenHow,
    },
    ownership::{self, Ownership},
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
        // Without waiting: opening a named pipe would otherwise wait for its other end.
        let mut flags = OFlags::NONBLOCK;
        if how.access == Access::ReadWrite {
            flags |= OFlags::NOFOLLOW;
        }
        options.custom_flags(flags.bits().cast_signed());
        let file = options.open(path).map_err(|error| {
            if Errno::from_io_error(&error) == Some(Errno::LOOP) && flags.contains(OFlags::NOFOLLOW)
            {
                return io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "it is a symbolic link, and Callosum does not write through links",
                );
            }
            error
        })?;
        let found = file.metadata()?;
        if found.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if !found.is_file() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "it is not a regular file",
            ));
        }
        // A file private to root stays root's, also in another user's folder.
        if how.create != Create::Never && how.mode & 0o077 != 0 {
            ownership::give_file(&file, &found, path);
        }
        Ok(Box::new(file))
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        fs::DirBuilder::new().mode(0o755).create(path)?;
        ownership::give_folder(path);
        Ok(())
    }

    fn create_private_dir(&self, path: &Path) -> io::Result<()> {
        fs::DirBuilder::new().mode(0o700).create(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::hard_link(from, to)
    }

    fn exchange(&self, one: &Path, other: &Path) -> io::Result<()> {
        let flags = rustix::fs::RenameFlags::EXCHANGE;
        match rustix::fs::renameat_with(CWD, one, CWD, other, flags) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                Err(io::ErrorKind::Unsupported.into())
            }
            done => Ok(done?),
        }
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        match File::open(path)?.sync_all() {
            // Some network and shared file systems keep names durable by themselves, and say that
            // a folder is nothing to be synced.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported
                ) =>
            {
                Ok(())
            }
            synced => synced,
        }
    }

    fn stat(&self, path: &Path) -> io::Result<FileStat> {
        let found = fs::symlink_metadata(path)?;
        Ok(FileStat {
            kind: kind_of(found.file_type()),
            len: found.len(),
            modified: found.modified()?,
            id: Some(id_of(&found)),
            names: found.nlink(),
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

    fn ownership(&self, path: &Path) -> io::Result<Option<Ownership>> {
        Ok(Some(Ownership::from_metadata(&fs::symlink_metadata(path)?)))
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        fs::read_link(path)
    }

    fn make_link(&self, target: &Path, path: &Path) -> io::Result<()> {
        std::os::unix::fs::symlink(target, path)
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

    fn mode(&self) -> io::Result<Option<u32>> {
        Ok(Some(self.metadata()?.permissions().mode() & 0o777))
    }

    fn set_mode(&self, mode: u32) -> io::Result<()> {
        self.set_permissions(fs::Permissions::from_mode(mode))
    }

    fn id(&self) -> io::Result<Option<FileId>> {
        Ok(Some(id_of(&self.metadata()?)))
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        File::set_len(self, len)
    }

    #[cfg(target_os = "linux")]
    fn reserve(&self, offset: u64, bytes: u64) -> io::Result<()> {
        use rustix::{fs::FallocateFlags, io::Errno};
        match rustix::fs::fallocate(self, FallocateFlags::KEEP_SIZE, offset, bytes) {
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
            done => Ok(done?),
        }
    }

    fn sync_data(&self) -> io::Result<()> {
        File::sync_data(self)
    }

    fn sync_all(&self) -> io::Result<()> {
        File::sync_all(self)
    }

    #[cfg(target_os = "linux")]
    fn is_being_written(&self) -> io::Result<Option<bool>> {
        super::open_writers::has_writers(self)
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

fn id_of(found: &fs::Metadata) -> FileId {
    FileId {
        device: found.dev(),
        inode: found.ino(),
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
