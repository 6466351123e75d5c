//! [`LedgerPaths`]: path of each file of a project's ledger.

use std::path::{Path, PathBuf};

use crate::archive_name::ArchiveName;

/// The places of everything that this crate reads or writes in a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerPaths {
    /// The project's root folder.
    pub root: PathBuf,
    /// The active ledger.
    pub ledger: PathBuf,
    /// The index of, and chain over, the active ledger's entries.
    pub hashlog: PathBuf,
    /// The folder of archived ledgers.
    pub history: PathBuf,
    /// The folder of the audit journal's day files.
    pub audit: PathBuf,
    /// The folder of lock files and of the watermark.
    pub locks: PathBuf,
    /// The folder of whole answers, by hash.
    pub answers: PathBuf,
    /// The folder of bytes that were found torn, and of ledgers that were replaced.
    pub quarantine: PathBuf,
    /// The folder of backups.
    pub backups: PathBuf,
    /// The file, outside of the project, that keeps events while the journal cannot be written;
    /// `None` if they stay in memory only.
    pub audit_buffer: Option<PathBuf>,
}

impl LedgerPaths {
    /// The seed's places in the project at `root` (Seed CAL §14.3). Without an audit buffer, which
    /// is the machine's.
    pub fn in_root(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        Self {
            ledger: root.join(".cal_memory.json"),
            hashlog: root.join(".cal_hashlog"),
            history: root.join(".cal_memory_history"),
            audit: root.join("cal_audit"),
            locks: root.join(".cal_lock"),
            answers: root.join(".cal_answers"),
            quarantine: root.join(".cal_quarantine"),
            backups: root.join(".cal_backup"),
            audit_buffer: None,
            root,
        }
    }

    /// Returns the path of the stored position before which opening need not read.
    pub fn watermark(&self) -> PathBuf {
        self.locks.join("watermark")
    }

    /// Returns the path of an archived ledger that is not compressed.
    pub(crate) fn archive(&self, name: &ArchiveName) -> PathBuf {
        self.history.join(name.ledger())
    }

    /// Returns the path of an archived ledger that is compressed.
    pub(crate) fn compressed_archive(&self, name: &ArchiveName) -> PathBuf {
        self.history.join(name.compressed())
    }

    /// Returns the path of the hashlog of an archived ledger.
    pub(crate) fn archived_hashlog(&self, name: &ArchiveName) -> PathBuf {
        self.history.join(name.hashlog())
    }

    /// The index of an archived ledger's hashlog.
    pub(crate) fn archived_index(&self, name: &ArchiveName) -> PathBuf {
        self.history.join(name.index())
    }

    /// The index of the active ledger's hashlog.
    pub(crate) fn index(&self) -> PathBuf {
        self.locks.join("index")
    }

    /// Returns `path` relative to the root if it is below it, else unchanged.
    pub(crate) fn shown<'a>(&self, path: &'a Path) -> &'a Path {
        path.strip_prefix(&self.root).unwrap_or(path)
    }
}
