//! The system calls that the workspace needs, one method each.
//!
//! Deliberately nothing clever: an implementation of [`FileSystem`] for a test must be able to tell
//! the effect of every single call.

use std::{io, path::Path, time::SystemTime};

use super::ownership::Ownership;

/// Options for opening a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenHow {
    /// Whether bytes may be read, written, or both.
    pub access: Access,
    /// Treatment of an existing or missing file.
    pub create: Create,
    /// Permission bits of a file that is created (before the umask).
    pub mode: u32,
}

impl OpenHow {
    /// An existing file, to read.
    pub const READ: Self = Self {
        access: Access::Read,
        create: Create::Never,
        mode: 0,
    };
    /// An existing file, to read and write.
    pub const READ_WRITE: Self = Self {
        access: Access::ReadWrite,
        create: Create::Never,
        mode: 0,
    };
    /// A file to read and write, created if it is missing.
    pub const READ_WRITE_CREATE: Self = Self {
        access: Access::ReadWrite,
        create: Create::IfMissing,
        mode: 0o644,
    };
    /// A file that must not be there yet.
    pub const CREATE_NEW: Self = Self {
        access: Access::ReadWrite,
        create: Create::New,
        mode: 0o644,
    };

    /// The same, with other permission bits for a file that is created.
    #[must_use]
    pub const fn with_mode(self, mode: u32) -> Self {
        Self { mode, ..self }
    }
}

/// Whether an open file may be read or also written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reading only.
    Read,
    /// Reading and writing.
    ReadWrite,
}

/// Treatment of a missing or existing file on opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Create {
    /// A missing file is an error.
    Never,
    /// A missing file is created.
    IfMissing,
    /// An existing file is an error.
    New,
}

/// Kind of the entry with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link, not followed.
    Link,
    /// A pipe, socket or device.
    Other,
}

/// Facts about a path that need no opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStat {
    /// Kind of the entry.
    pub kind: EntryKind,
    /// Size in bytes; for a folder, the file system's own value.
    pub len: u64,
    /// Time of the last change to the content.
    pub modified: SystemTime,
    /// Identity of the file, independent of its name; `None` if the file system cannot tell.
    pub id: Option<FileId>,
    /// Number of names; for a folder, the file system's own value.
    pub names: u64,
}

/// Identity that distinguishes a file from all others that exist at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileId {
    /// The device that it is on.
    pub device: u64,
    /// Its number there; another file gets it once this one is gone and no process has it open.
    pub inode: u64,
}

/// One name in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedEntry {
    /// The name, without its folder.
    pub name: std::ffi::OsString,
    /// Kind, links not followed.
    pub kind: EntryKind,
}

/// A file system, one method a system call.
pub trait FileSystem: Send + Sync {
    /// Opens a regular file, without waiting; one that may be written is never reached through a
    /// link under its own name.
    fn open(&self, path: &Path, how: OpenHow) -> io::Result<Box<dyn FileHandle>>;
    /// Creates one folder; its parent must be there.
    fn create_dir(&self, path: &Path) -> io::Result<()>;
    /// Creates one folder that only its owner may enter; its parent must be there. A file system
    /// without permissions makes no difference.
    fn create_private_dir(&self, path: &Path) -> io::Result<()> {
        self.create_dir(path)
    }
    /// Gives a file another name, replacing what stood there.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Gives a file a second name; fails if that name is taken.
    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Lets two files have one another's names, in one step.
    ///
    /// Not every file system can, and not every implementation for a test.
    fn exchange(&self, _one: &Path, _other: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
    /// Takes a file's name away.
    fn remove_file(&self, path: &Path) -> io::Result<()>;
    /// Removes an empty folder.
    fn remove_dir(&self, path: &Path) -> io::Result<()>;
    /// Makes the names in a folder durable.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
    /// Looks at a path; a link is described itself, not followed.
    fn stat(&self, path: &Path) -> io::Result<FileStat>;
    /// Lists a folder, in no particular order.
    fn list_dir(&self, path: &Path) -> io::Result<Vec<ListedEntry>>;
    /// The path with every link resolved.
    fn canonicalize(&self, path: &Path) -> io::Result<std::path::PathBuf>;
    /// Returns the owner of a path, links not followed; `None` if the file system has no owners.
    fn ownership(&self, _: &Path) -> io::Result<Option<Ownership>> {
        Ok(None)
    }
    /// Returns the target of a link, which may not exist. A file system without links has none to
    /// read.
    fn read_link(&self, _: &Path) -> io::Result<std::path::PathBuf> {
        Err(io::ErrorKind::Unsupported.into())
    }
    /// Makes a symbolic link to `_target`; fails if its name is taken.
    fn make_link(&self, _target: &Path, _path: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// An open file, one method a system call.
pub trait FileHandle: Send + Sync {
    /// Reads at most `buffer.len()` bytes from `offset`; 0 at the end of the file.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Writes at most `bytes.len()` bytes at `offset`.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize>;
    /// Size in bytes.
    fn size(&self) -> io::Result<u64>;
    /// The permission bits; `None` where the file system has none.
    fn mode(&self) -> io::Result<Option<u32>> {
        Ok(None)
    }
    /// Sets the permission bits; a file system without any does nothing.
    fn set_mode(&self, _mode: u32) -> io::Result<()> {
        Ok(())
    }
    /// Returns the identity of the file, even after its name was removed; `None` if the file system
    /// cannot tell.
    fn id(&self) -> io::Result<Option<FileId>> {
        Ok(None)
    }
    /// Cuts or extends (with zeros) to `len` bytes.
    fn set_len(&self, len: u64) -> io::Result<()>;
    /// Reserves disk space for this many bytes from `offset` on, past the end as well; the size
    /// stays. A file system that cannot does nothing.
    fn reserve(&self, _offset: u64, _bytes: u64) -> io::Result<()> {
        Ok(())
    }
    /// Makes the content, and the size needed to read it, durable.
    fn sync_data(&self) -> io::Result<()>;
    /// Makes the content and all metadata durable.
    fn sync_all(&self) -> io::Result<()>;
    /// Whether a process has it open for writing; `None` if the system cannot tell.
    fn is_being_written(&self) -> io::Result<Option<bool>> {
        Ok(None)
    }
    /// Takes the advisory exclusive lock; `Ok(false)` if another process holds it.
    fn try_lock(&self) -> io::Result<bool>;
    /// Gives the advisory lock back. Closing the file does the same.
    fn unlock(&self) -> io::Result<()>;
}
