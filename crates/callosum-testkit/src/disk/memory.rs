//! [`MemoryDisk`]: a file system in memory that remembers every change.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use callosum_host::{
    Disk, OpenHow,
    disk::{Access, Create, EntryKind, FileHandle, FileId, FileStat, FileSystem, ListedEntry},
};

use super::{
    image::Image,
    trace::{Inode, NameChange, Names, Node, Step, Trace},
};

/// A file system in memory; cheap to clone, and clones are the same disk.
///
/// It behaves as a disk without symbolic links and with one user who may do everything. Advisory
/// locks are between its open files, as between processes.
#[derive(Clone)]
pub struct MemoryDisk(Arc<Mutex<Contents>>);

struct Contents {
    files: Vec<File>,
    names: Names,
    trace: Trace,
    reports: usize,
    /// Number of further syncs of files that succeed before one fails.
    syncs_left: Option<usize>,
}

struct File {
    bytes: Vec<u8>,
    mode: u32,
    is_locked: bool,
}

struct OpenFile {
    disk: MemoryDisk,
    id: Inode,
    access: Access,
    holds_lock: Mutex<bool>,
}

impl MemoryDisk {
    /// A disk on which this is, durably.
    pub fn with(image: &Image) -> Self {
        let mut files = Vec::new();
        let mut names = Names::new();
        let mut first_files = Vec::new();
        for (path, node) in image.nodes() {
            let node = match node {
                Some(bytes) => {
                    first_files.push(Arc::new(bytes.to_vec()));
                    files.push(File {
                        bytes: bytes.to_vec(),
                        // As of a file that only its owner may read: an image has no permissions.
                        mode: 0o600,
                        is_locked: false,
                    });
                    Node::File(files.len() - 1)
                }
                None => Node::Folder,
            };
            names.insert(path.to_owned(), node);
        }
        Self(Arc::new(Mutex::new(Contents {
            files,
            trace: Trace {
                first_files,
                first_names: names.clone(),
                steps: Vec::new(),
            },
            names,
            reports: 0,
            syncs_left: None,
        })))
    }

    /// The handle that the code under test takes.
    pub fn disk(&self) -> Disk {
        Disk::with(Arc::new(self.clone()))
    }

    /// Notes that the workload received a report, and returns its number, from 0.
    pub fn tell(&self) -> usize {
        let mut contents = self.contents();
        let number = contents.reports;
        contents.reports += 1;
        contents.trace.steps.push(Step::Told { number });
        number
    }

    /// Makes a sync of a file fail after this many more. The data that it should have made durable
    /// is still readable, but no later sync makes it durable: some systems take pages for written
    /// after any failure.
    pub fn fail_sync_after(&self, syncs: usize) {
        self.contents().syncs_left = Some(syncs);
    }

    /// Everything that happened until now.
    pub fn trace(&self) -> Trace {
        self.contents().trace.clone()
    }

    /// Returns the current contents, as a reader sees them.
    pub fn image(&self) -> Image {
        let contents = self.contents();
        let mut image = Image::default();
        for (path, node) in &contents.names {
            let bytes = match node {
                Node::File(id) => Some(Arc::new(contents.files[*id].bytes.clone())),
                Node::Folder => None,
            };
            image.put_shared(path.clone(), bytes);
        }
        image
    }

    fn contents(&self) -> MutexGuard<'_, Contents> {
        // A test that panicked holding it left it whole: each change is made in one go.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Contents {
    fn node(&self, path: &Path) -> io::Result<Node> {
        let node = self.names.get(path).copied();
        node.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn file(&self, path: &Path) -> io::Result<Inode> {
        match self.node(path)? {
            Node::File(id) => Ok(id),
            Node::Folder => Err(io::ErrorKind::IsADirectory.into()),
        }
    }

    /// The folder that a new name would stand in must be there.
    fn needs_folder_of(&self, path: &Path) -> io::Result<()> {
        match self.node(path.parent().unwrap_or(path))? {
            Node::Folder => Ok(()),
            Node::File(_) => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    fn needs_free(&self, path: &Path) -> io::Result<()> {
        self.needs_folder_of(path)?;
        if self.names.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        Ok(())
    }

    fn children<'a>(&'a self, path: &'a Path) -> impl Iterator<Item = (&'a PathBuf, &'a Node)> {
        self.names
            .iter()
            .filter(move |(name, _)| name.parent() == Some(path))
    }

    fn change(&mut self, change: NameChange) {
        change.apply(&mut self.names);
        self.trace.steps.push(Step::Name(change));
    }

    fn write(&mut self, id: Inode, bytes: &[u8], offset: u64) {
        write(&mut self.files[id].bytes, bytes, offset);
        self.trace.steps.push(Step::Write {
            file: id,
            offset,
            bytes: Arc::new(bytes.to_vec()),
        });
    }
}

/// Writes into a file's bytes; what lies between its end and `offset` becomes zeros.
pub(super) fn write(content: &mut Vec<u8>, bytes: &[u8], offset: u64) {
    let from = offset as usize;
    let to = from + bytes.len();
    if content.len() < to {
        content.resize(to, 0);
    }
    content[from..to].copy_from_slice(bytes);
}

fn id_of(file: Inode) -> FileId {
    FileId {
        device: 0,
        inode: file as u64,
    }
}

impl FileSystem for MemoryDisk {
    fn open(&self, path: &Path, how: OpenHow) -> io::Result<Box<dyn FileHandle>> {
        let mut contents = self.contents();
        let id = match (contents.file(path), how.create) {
            (Ok(_), Create::New) => return Err(io::ErrorKind::AlreadyExists.into()),
            (Ok(id), _) => id,
            (Err(error), create)
                if error.kind() == io::ErrorKind::NotFound && create != Create::Never =>
            {
                contents.needs_folder_of(path)?;
                let id = contents.files.len();
                contents.files.push(File {
                    bytes: Vec::new(),
                    mode: how.mode,
                    is_locked: false,
                });
                contents.change(NameChange::File {
                    path: path.to_owned(),
                    file: id,
                });
                id
            }
            (Err(error), _) => return Err(error),
        };
        Ok(Box::new(OpenFile {
            disk: self.clone(),
            id,
            access: how.access,
            holds_lock: Mutex::new(false),
        }))
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        let mut contents = self.contents();
        contents.needs_free(path)?;
        contents.change(NameChange::Folder {
            path: path.to_owned(),
        });
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut contents = self.contents();
        contents.file(from)?;
        contents.needs_folder_of(to)?;
        if contents.names.get(to) == Some(&Node::Folder) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        contents.change(NameChange::Rename {
            from: from.to_owned(),
            to: to.to_owned(),
        });
        Ok(())
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut contents = self.contents();
        let file = contents.file(from)?;
        contents.needs_free(to)?;
        contents.change(NameChange::File {
            path: to.to_owned(),
            file,
        });
        Ok(())
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        let mut contents = self.contents();
        contents.file(path)?;
        contents.change(NameChange::Remove {
            path: path.to_owned(),
        });
        Ok(())
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        let mut contents = self.contents();
        if contents.node(path)? != Node::Folder {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        if contents.children(path).next().is_some() {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        contents.change(NameChange::Remove {
            path: path.to_owned(),
        });
        Ok(())
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        let mut contents = self.contents();
        contents.node(path)?;
        contents.trace.steps.push(Step::SyncFolder {
            path: path.to_owned(),
        });
        Ok(())
    }

    fn stat(&self, path: &Path) -> io::Result<FileStat> {
        let contents = self.contents();
        let (kind, len, id) = match contents.node(path)? {
            Node::File(file) => {
                let len = contents.files[file].bytes.len() as u64;
                (EntryKind::File, len, Some(id_of(file)))
            }
            Node::Folder => (EntryKind::Folder, 0, None),
        };
        Ok(FileStat {
            kind,
            len,
            modified: SystemTime::UNIX_EPOCH,
            id,
            names: 1,
        })
    }

    fn list_dir(&self, path: &Path) -> io::Result<Vec<ListedEntry>> {
        let contents = self.contents();
        if contents.node(path)? != Node::Folder {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let entries = contents.children(path).map(|(path, node)| ListedEntry {
            name: path.file_name().unwrap_or_default().to_owned(),
            kind: match node {
                Node::File(_) => EntryKind::File,
                Node::Folder => EntryKind::Folder,
            },
        });
        Ok(entries.collect())
    }

    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        self.contents().node(path)?;
        Ok(path.to_owned())
    }
}

impl OpenFile {
    fn needs_write_access(&self) -> io::Result<()> {
        match self.access {
            Access::ReadWrite => Ok(()),
            Access::Read => Err(io::ErrorKind::PermissionDenied.into()),
        }
    }

    fn holds_lock(&self) -> MutexGuard<'_, bool> {
        self.holds_lock
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl FileHandle for OpenFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let contents = self.disk.contents();
        let bytes = &contents.files[self.id].bytes;
        let from = bytes.len().min(offset as usize);
        let count = buffer.len().min(bytes.len() - from);
        buffer[..count].copy_from_slice(&bytes[from..from + count]);
        Ok(count)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        self.needs_write_access()?;
        self.disk.contents().write(self.id, bytes, offset);
        Ok(bytes.len())
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.disk.contents().files[self.id].bytes.len() as u64)
    }

    fn mode(&self) -> io::Result<Option<u32>> {
        Ok(Some(self.disk.contents().files[self.id].mode))
    }

    fn set_mode(&self, mode: u32) -> io::Result<()> {
        self.disk.contents().files[self.id].mode = mode;
        Ok(())
    }

    fn id(&self) -> io::Result<Option<FileId>> {
        Ok(Some(id_of(self.id)))
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.needs_write_access()?;
        let mut contents = self.disk.contents();
        contents.files[self.id].bytes.resize(len as usize, 0);
        contents
            .trace
            .steps
            .push(Step::SetLen { file: self.id, len });
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let file = self.id;
        let mut contents = self.disk.contents();
        match &mut contents.syncs_left {
            Some(0) => {
                contents.syncs_left = None;
                contents.trace.steps.push(Step::FailedSync { file });
                return Err(io::Error::other("injected"));
            }
            Some(left) => *left -= 1,
            None => {}
        }
        contents.trace.steps.push(Step::SyncFile { file });
        Ok(())
    }

    fn sync_all(&self) -> io::Result<()> {
        self.sync_data()
    }

    fn try_lock(&self) -> io::Result<bool> {
        let mut holds = self.holds_lock();
        let mut contents = self.disk.contents();
        let file = &mut contents.files[self.id];
        if file.is_locked && !*holds {
            return Ok(false);
        }
        file.is_locked = true;
        *holds = true;
        Ok(true)
    }

    fn unlock(&self) -> io::Result<()> {
        let mut holds = self.holds_lock();
        if std::mem::take(&mut *holds) {
            self.disk.contents().files[self.id].is_locked = false;
        }
        Ok(())
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        drop(self.unlock());
    }
}
