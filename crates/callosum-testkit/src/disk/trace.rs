//! [`Trace`]: every change that a workload made, in order, with the reports of durability that it
//! received.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Id of a file, independent of its names.
pub type Inode = usize;

/// Target of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Node {
    File(Inode),
    Folder,
}

/// The names of a disk.
pub(super) type Names = BTreeMap<PathBuf, Node>;

/// A change of a disk, a promise that it gave, or a report to the workload.
#[derive(Clone, Debug)]
pub enum Step {
    /// Bytes were written.
    Write {
        /// The file.
        file: Inode,
        /// Offset of the write.
        offset: u64,
        /// Bytes written.
        bytes: Arc<Vec<u8>>,
    },
    /// The size was set.
    SetLen {
        /// The file.
        file: Inode,
        /// To how many bytes.
        len: u64,
    },
    /// The content of a file was made durable.
    SyncFile {
        /// The file.
        file: Inode,
    },
    /// Making the content of a file durable failed, and the data that was not yet durable never
    /// will be: the system takes its pages for written.
    FailedSync {
        /// The file.
        file: Inode,
    },
    /// A name was given or taken.
    Name(NameChange),
    /// The names in a folder were made durable.
    SyncFolder {
        /// The folder.
        path: PathBuf,
    },
    /// The workload received a report, for example that an entry is stored.
    Told {
        /// Number of such steps before.
        number: usize,
    },
}

/// A name that is given or taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameChange {
    /// A file was created, or an existing one given a further name.
    File {
        /// The name.
        path: PathBuf,
        /// The file.
        file: Inode,
    },
    /// A folder was created.
    Folder {
        /// The name.
        path: PathBuf,
    },
    /// A file got another name, and what had that name lost it.
    Rename {
        /// The old name.
        from: PathBuf,
        /// The new name.
        to: PathBuf,
    },
    /// A name was taken away.
    Remove {
        /// The name.
        path: PathBuf,
    },
}

impl NameChange {
    /// The folders whose sync makes it durable; a rename between two needs both.
    pub(super) fn folders(&self) -> Vec<&Path> {
        fn folder(path: &Path) -> &Path {
            path.parent().unwrap_or(path)
        }
        match self {
            Self::File { path, .. } | Self::Folder { path } | Self::Remove { path } => {
                vec![folder(path)]
            }
            Self::Rename { from, to } if folder(from) == folder(to) => vec![folder(from)],
            Self::Rename { from, to } => vec![folder(from), folder(to)],
        }
    }

    pub(super) fn apply(&self, names: &mut Names) {
        match self {
            Self::File { path, file } => {
                names.insert(path.clone(), Node::File(*file));
            }
            Self::Folder { path } => {
                names.insert(path.clone(), Node::Folder);
            }
            Self::Rename { from, to } => {
                if let Some(node) = names.remove(from) {
                    names.insert(to.clone(), node);
                }
            }
            Self::Remove { path } => {
                names.remove(path);
            }
        }
    }
}

/// Everything that happened on a disk since it was mounted.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// The files that were there at first, by their ids; all of it durable.
    pub(super) first_files: Vec<Arc<Vec<u8>>>,
    /// The names that were there at first.
    pub(super) first_names: Names,
    /// The steps, in order.
    pub steps: Vec<Step>,
}

impl Trace {
    /// Counts the successful syncs of files.
    pub fn file_syncs(&self) -> usize {
        let is_sync = |step: &&Step| matches!(step, Step::SyncFile { .. });
        self.steps.iter().filter(is_sync).count()
    }

    /// Counts the failed syncs of files.
    pub fn failed_syncs(&self) -> usize {
        let is_failed = |step: &&Step| matches!(step, Step::FailedSync { .. });
        self.steps.iter().filter(is_failed).count()
    }
}
