//! [`ObservedDisk`]: a file system that reports each file before it is opened.
//!
//! For conditions that must hold, or events that happen, in the middle of an operation.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use callosum_host::{
    Disk, OpenHow,
    disk::{FileHandle, FileStat, FileSystem, ListedEntry},
};

/// A file system in front of another one, to which it passes every call on.
pub struct ObservedDisk {
    below: Box<dyn FileSystem>,
    before_opening: Box<dyn Fn(&Path) + Send + Sync>,
}

impl ObservedDisk {
    /// A disk on which `before_opening` is run before each file is opened, with its path.
    pub fn disk(
        below: impl FileSystem + 'static,
        before_opening: impl Fn(&Path) + Send + Sync + 'static,
    ) -> Disk {
        Disk::with(Arc::new(Self {
            below: Box::new(below),
            before_opening: Box::new(before_opening),
        }))
    }
}

impl FileSystem for ObservedDisk {
    fn open(&self, path: &Path, how: OpenHow) -> io::Result<Box<dyn FileHandle>> {
        (self.before_opening)(path);
        self.below.open(path, how)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.below.create_dir(path)
    }

    fn create_private_dir(&self, path: &Path) -> io::Result<()> {
        self.below.create_private_dir(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.below.rename(from, to)
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.below.hard_link(from, to)
    }

    fn exchange(&self, one: &Path, other: &Path) -> io::Result<()> {
        self.below.exchange(one, other)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.below.remove_file(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.below.remove_dir(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.below.sync_dir(path)
    }

    fn stat(&self, path: &Path) -> io::Result<FileStat> {
        self.below.stat(path)
    }

    fn list_dir(&self, path: &Path) -> io::Result<Vec<ListedEntry>> {
        self.below.list_dir(path)
    }

    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        self.below.canonicalize(path)
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        self.below.read_link(path)
    }

    fn make_link(&self, target: &Path, path: &Path) -> io::Result<()> {
        self.below.make_link(target, path)
    }
}
