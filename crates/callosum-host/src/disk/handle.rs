//! [`Disk`]: the handle that every other crate holds, and [`DiskError`], which names what failed.

use std::{
    fmt, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    file::DiskFile,
    file_system::{EntryKind, FileStat, FileSystem, ListedEntry, OpenHow},
    ownership::Ownership,
    real::RealFileSystem,
};

/// A handle to a file system; cheap to clone, safe to share.
#[derive(Clone)]
pub struct Disk {
    pub(super) file_system: Arc<dyn FileSystem>,
}

impl Disk {
    /// The machine's own file system.
    pub fn real() -> Self {
        Self {
            file_system: Arc::new(RealFileSystem),
        }
    }

    /// Another file system, such as one that fails on purpose.
    pub fn with(file_system: Arc<dyn FileSystem>) -> Self {
        Self { file_system }
    }

    /// Opens a file.
    pub fn open(&self, path: &Path, how: OpenHow) -> Result<DiskFile, DiskError> {
        let handle = uninterrupted(|| self.file_system.open(path, how))
            .map_err(DiskError::on(Operation::Open, path))?;
        Ok(DiskFile::new(handle, path.to_owned()))
    }

    /// Opens a file to read; `None` if there is none.
    pub fn open_if_there(&self, path: &Path, how: OpenHow) -> Result<Option<DiskFile>, DiskError> {
        absent_as_none(self.open(path, how))
    }

    /// Reads a whole file of at most 1 GiB; of a larger one nothing, and that is an error.
    pub fn read(&self, path: &Path) -> Result<Vec<u8>, DiskError> {
        self.read_at_most(path, LARGEST)
    }

    /// Reads a file of at most this many bytes. Returns an error for a larger one, and reads
    /// nothing of it.
    pub fn read_at_most(&self, path: &Path, largest: u64) -> Result<Vec<u8>, DiskError> {
        let file = self.open(path, OpenHow::READ)?;
        if file.size()? > largest {
            let message = format!("it has more than {largest} bytes");
            return Err(DiskError::on(Operation::Read, path)(io::Error::other(
                message,
            )));
        }
        file.read_all()
    }

    /// Reads a whole file; `None` if there is none.
    pub fn read_if_there(&self, path: &Path) -> Result<Option<Vec<u8>>, DiskError> {
        absent_as_none(self.read(path))
    }

    /// Whether a process has a file open for writing; `None` if the system cannot tell, or the file
    /// is missing.
    pub fn is_being_written(&self, path: &Path) -> Result<Option<bool>, DiskError> {
        match self.open_if_there(path, OpenHow::READ)? {
            Some(file) => file.is_being_written(),
            None => Ok(None),
        }
    }

    /// Looks at a path; a link is described itself, not followed. `None` if nothing is there.
    pub fn stat(&self, path: &Path) -> Result<Option<FileStat>, DiskError> {
        absent_as_none(
            uninterrupted(|| self.file_system.stat(path))
                .map_err(DiskError::on(Operation::Stat, path)),
        )
    }

    /// Returns who owns what is under a name, links not followed; `None` if nothing is there, or the file system has no
    /// owners.
    pub fn ownership(&self, path: &Path) -> Result<Option<Ownership>, DiskError> {
        let found = uninterrupted(|| self.file_system.ownership(path));
        Ok(absent_as_none(found.map_err(DiskError::on(Operation::Stat, path)))?.flatten())
    }

    /// Whether the name exists, also as a dangling link.
    pub fn exists(&self, path: &Path) -> Result<bool, DiskError> {
        Ok(self.stat(path)?.is_some())
    }

    /// Lists a folder, sorted by name; empty if there is none.
    pub fn list_dir(&self, path: &Path) -> Result<Vec<ListedEntry>, DiskError> {
        let mut entries = match uninterrupted(|| self.file_system.list_dir(path)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(DiskError::on(Operation::List, path)(error)),
        };
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    /// The path with every link resolved; everything on it must be there.
    pub fn canonicalize(&self, path: &Path) -> Result<PathBuf, DiskError> {
        uninterrupted(|| self.file_system.canonicalize(path))
            .map_err(DiskError::on(Operation::Resolve, path))
    }

    /// Returns the target of a link, as written: it may be relative, and may not exist.
    pub fn read_link(&self, path: &Path) -> Result<PathBuf, DiskError> {
        uninterrupted(|| self.file_system.read_link(path))
            .map_err(DiskError::on(Operation::Resolve, path))
    }

    /// Makes a symbolic link that holds `target`; fails if something is at `path`.
    pub fn make_link(&self, target: &Path, path: &Path) -> Result<(), DiskError> {
        uninterrupted(|| self.file_system.make_link(target, path))
            .map_err(DiskError::on(Operation::Link, path))
    }

    /// Creates a folder and its missing parents. Returns whether it was missing.
    ///
    /// Each new name is made durable in its parent before the next is created in it.
    pub fn create_dir_all(&self, path: &Path) -> Result<bool, DiskError> {
        self.create_dir_by(path, |files, path| files.create_dir(path))
    }

    /// Creates a folder that only its owner may enter, and its missing parents, which everyone may
    /// enter. Returns whether it was missing; the permissions of an existing folder stay as they
    /// are.
    pub fn create_private_dir(&self, path: &Path) -> Result<bool, DiskError> {
        self.create_dir_by(path, |files, path| files.create_private_dir(path))
    }

    fn create_dir_by(
        &self,
        path: &Path,
        create: fn(&dyn FileSystem, &Path) -> io::Result<()>,
    ) -> Result<bool, DiskError> {
        match uninterrupted(|| self.file_system.stat(path)) {
            Ok(FileStat {
                kind: EntryKind::Folder,
                ..
            }) => return Ok(false),
            // A link that leads to a folder will do; anything else fails below, with its reason.
            Ok(_) if uninterrupted(|| self.file_system.list_dir(path)).is_ok() => return Ok(false),
            // Too long, for each of its parents as well but for the last few: there may be any number of them.
            Err(error) if error.kind() == io::ErrorKind::InvalidFilename => {
                return Err(DiskError::on(Operation::CreateFolder, path)(error));
            }
            Ok(_) | Err(_) => {}
        }
        let parent = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        if let Some(parent) = parent {
            self.create_dir_all(parent)?;
        }
        match uninterrupted(|| create(&*self.file_system, path)) {
            Ok(()) => {}
            // Another process was faster; all that counts is that the folder exists.
            Err(error)
                if error.kind() == io::ErrorKind::AlreadyExists
                    && uninterrupted(|| self.file_system.list_dir(path)).is_ok() =>
            {
                return Ok(false);
            }
            Err(error) => return Err(DiskError::on(Operation::CreateFolder, path)(error)),
        }
        if let Some(parent) = parent {
            self.sync_dir(parent)?;
        }
        Ok(true)
    }

    /// Gives a file another name, replacing what stood there. Not durable before
    /// [`sync_dir`](Self::sync_dir) of both folders.
    pub fn rename(&self, from: &Path, to: &Path) -> Result<(), DiskError> {
        uninterrupted(|| self.file_system.rename(from, to))
            .map_err(DiskError::on(Operation::Rename, from))
    }

    /// Lets two files have one another's names, in one step; fails with
    /// [`DiskError::is_unsupported`] where the file system cannot.
    pub fn exchange(&self, one: &Path, other: &Path) -> Result<(), DiskError> {
        uninterrupted(|| self.file_system.exchange(one, other))
            .map_err(DiskError::on(Operation::Rename, other))
    }

    /// Gives a file a second name; fails if that name is taken.
    pub fn hard_link(&self, from: &Path, to: &Path) -> Result<(), DiskError> {
        uninterrupted(|| self.file_system.hard_link(from, to))
            .map_err(DiskError::on(Operation::Link, to))
    }

    /// Removes a file. Returns whether it existed.
    pub fn remove_file(&self, path: &Path) -> Result<bool, DiskError> {
        let removed = uninterrupted(|| self.file_system.remove_file(path))
            .map_err(DiskError::on(Operation::Remove, path));
        Ok(absent_as_none(removed)?.is_some())
    }

    /// Removes an empty folder. Returns whether it existed.
    pub fn remove_dir(&self, path: &Path) -> Result<bool, DiskError> {
        let removed = uninterrupted(|| self.file_system.remove_dir(path))
            .map_err(DiskError::on(Operation::Remove, path));
        Ok(absent_as_none(removed)?.is_some())
    }

    /// Makes the names in a folder durable.
    pub fn sync_dir(&self, path: &Path) -> Result<(), DiskError> {
        uninterrupted(|| self.file_system.sync_dir(path))
            .map_err(DiskError::on(Operation::Sync, path))
    }
}

impl fmt::Debug for Disk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Disk")
    }
}

/// Makes a call again as long as a signal interrupts it.
pub(super) fn uninterrupted<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            outcome => return outcome,
        }
    }
}

fn absent_as_none<T>(result: Result<T, DiskError>) -> Result<Option<T>, DiskError> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is_absent() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Limit in bytes for reading a whole file by its path: none of ours comes near it, and a file that
/// another program put in its place must not take all memory.
const LARGEST: u64 = 1 << 30;

/// Operation on a path that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Opening or creating a file.
    Open,
    /// Reading bytes.
    Read,
    /// Writing bytes, or changing the size.
    Write,
    /// Making content or names durable.
    Sync,
    /// Locking or unlocking.
    Lock,
    /// Looking at a path.
    Stat,
    /// Listing a folder.
    List,
    /// Creating a folder.
    CreateFolder,
    /// Renaming.
    Rename,
    /// Giving a second name.
    Link,
    /// Removing.
    Remove,
    /// Resolving links.
    Resolve,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "open",
            Self::Read => "read",
            Self::Write => "write to",
            Self::Sync => "sync",
            Self::Lock => "lock",
            Self::Stat => "look at",
            Self::List => "list",
            Self::CreateFolder => "create the folder",
            Self::Rename => "rename",
            Self::Link => "link",
            Self::Remove => "remove",
            Self::Resolve => "resolve",
        })
    }
}

/// A failed file operation: its kind, its path and the cause.
#[derive(Debug, thiserror::Error)]
#[error("cannot {operation} `{}`", path.display())]
pub struct DiskError {
    /// The operation.
    pub operation: Operation,
    /// To which path.
    pub path: PathBuf,
    /// The system's reason.
    pub source: io::Error,
}

impl DiskError {
    pub(super) fn on(operation: Operation, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self {
            operation,
            path: path.to_owned(),
            source,
        }
    }

    /// Whether the path, or a folder on the way to it, is not there.
    pub fn is_absent(&self) -> bool {
        matches!(
            self.source.kind(),
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
        )
    }

    /// Whether the name is taken.
    pub fn is_taken(&self) -> bool {
        self.source.kind() == io::ErrorKind::AlreadyExists
    }

    /// Whether the file system is mounted read-only.
    pub fn is_read_only(&self) -> bool {
        self.source.kind() == io::ErrorKind::ReadOnlyFilesystem
    }

    /// Whether the file system has no such operation.
    pub fn is_unsupported(&self) -> bool {
        self.source.kind() == io::ErrorKind::Unsupported
    }

    /// Whether this user may not do it.
    pub fn is_denied(&self) -> bool {
        self.source.kind() == io::ErrorKind::PermissionDenied
    }

    /// Whether the disk, or the quota, is full.
    pub fn is_full(&self) -> bool {
        matches!(
            self.source.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// REQ-SEC-001: who lays a huge file takes no memory with it.
    #[test]
    fn a_file_without_bounds_is_not_read_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let path = folder.path().join("settings");
        disk.replace(&path, b"few", 0o600).unwrap();
        assert_eq!(disk.read_at_most(&path, 3).unwrap(), b"few");
        let error = disk.read_at_most(&path, 2).unwrap_err();
        assert_eq!(error.source.to_string(), "it has more than 2 bytes");
        let file = disk.open(&path, OpenHow::READ_WRITE).unwrap();
        file.set_len(1 << 43).unwrap();
        let error = disk.read(&path).unwrap_err();
        assert!(error.source.to_string().contains("more than"), "{error}");
    }

    /// REQ-SEC-001: a path of any length is refused, without a call within a call for each of its folders.
    #[test]
    fn a_folder_whose_path_is_too_long_is_not_created() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let path = folder.path().join("a/".repeat(1_000_000));
        let error = disk.create_private_dir(&path).unwrap_err();
        assert_eq!(error.source.kind(), io::ErrorKind::InvalidFilename);
        assert!(!disk.exists(&folder.path().join("a")).unwrap());
        assert!(disk.create_private_dir(&folder.path().join("b/c")).unwrap());
    }
}
