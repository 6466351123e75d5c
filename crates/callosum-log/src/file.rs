//! [`LogFile`]: lines at the end of a file that several processes write, and that never grows past a bound.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use callosum_host::{
    Disk, DiskError,
    disk::{EntryKind, OpenHow},
    lock::{LockError, LockFile},
};

/// How long a line waits for another process. A line that waits longer is lost, and counted.
const PATIENCE: Duration = Duration::from_millis(100);

/// Permission bits of the file: it tells what its owner does.
const PRIVATE: u32 = 0o600;

/// Why a log file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// A link, folder, pipe, socket or device has its name.
    #[error("`{}` is not a file that a log can be written to", .0.display())]
    NoFile(PathBuf),
    /// The disk refuses.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// Another process holds it for too long.
    #[error(transparent)]
    Lock(#[from] LockError),
}

/// A file that lines are appended to.
///
/// If a line would make it larger than its bound, the file is renamed to `NAME.1` first, in place of the one before: so at
/// most twice the bound is on disk. A lock on `NAME.lock` keeps the lines of two processes apart.
#[derive(Debug)]
pub struct LogFile {
    disk: Disk,
    path: PathBuf,
    most_bytes: u64,
    lock: LockFile,
    /// Lines that could not be written since the last one that could.
    lost: AtomicU64,
}

impl LogFile {
    /// Prepares a log file of at most `most_bytes`, and creates its folder. The file is created with its first line.
    ///
    /// # Errors
    /// If the folder cannot be created, or something else than a file has the name.
    pub fn new(disk: &Disk, path: &Path, most_bytes: u64) -> Result<Self, LogError> {
        if let Some(folder) = path.parent() {
            disk.create_private_dir(folder)?;
        }
        let log = Self {
            disk: disk.clone(),
            path: path.to_owned(),
            most_bytes,
            lock: LockFile::private(),
            lost: AtomicU64::new(0),
        };
        log.check()?;
        Ok(log)
    }

    /// Appends a line, which has no line break of its own.
    ///
    /// A line that cannot be written is lost and counted; the next line that can be written reports the count. The caller never
    /// gets an error.
    pub fn append(&self, line: &str) {
        let lost = self.lost.load(Ordering::Relaxed);
        let mut text = String::new();
        if lost > 0 {
            text = format!("callosum: could not write {lost} lines of this log\n");
        }
        text.push_str(line);
        text.push('\n');
        if self.try_append(text.as_bytes()).is_ok() {
            self.lost.fetch_sub(lost, Ordering::Relaxed);
        } else {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Returns how many lines were lost since the last one that was written.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    fn try_append(&self, bytes: &[u8]) -> Result<(), LogError> {
        let _turn = self
            .lock
            .acquire(&self.disk, &self.beside(".lock"), PATIENCE)?;
        self.check()?;
        let how = OpenHow::READ_WRITE_CREATE.with_mode(PRIVATE);
        let mut file = self.disk.open(&self.path, how)?;
        let mut size = file.size()?;
        if size > 0 && size + bytes.len() as u64 > self.most_bytes {
            drop(file);
            self.disk.rename(&self.path, &self.beside(".1"))?;
            file = self.disk.open(&self.path, how)?;
            size = file.size()?;
        }
        if let Err(error) = file.write_at(bytes, size) {
            // Half a line, as of a full disk, would be read as part of the next.
            file.set_len(size)?;
            return Err(error.into());
        }
        Ok(())
    }

    /// Refuses a name that is taken by something else than a file: a pipe would block, and a link lead elsewhere.
    fn check(&self) -> Result<(), LogError> {
        match self.disk.stat(&self.path)? {
            Some(found) if found.kind != EntryKind::File => {
                Err(LogError::NoFile(self.path.clone()))
            }
            _ => Ok(()),
        }
    }

    fn beside(&self, end: &str) -> PathBuf {
        let mut name: OsString = self.path.as_os_str().to_owned();
        name.push(end);
        name.into()
    }
}
