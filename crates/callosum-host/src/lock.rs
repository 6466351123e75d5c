//! Advisory locks between processes, held by an open file.
//!
//! A lock whose holder died is free again, because the system closes its file. What the lock
//! protects, and in which order locks are taken, is the business of whoever defines them.

use std::{
    iter,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use crate::disk::{Disk, DiskError, DiskFile, FileId, OpenHow};

/// The first pause of a process that waits; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_micros(200);

/// The longest pause between two tries.
const LONGEST_PAUSE: Duration = Duration::from_millis(5);

/// So often a lock's file may turn out to be replaced before the lock counts all the same: there
/// are file systems on which the number of a file does not stay the same.
const MOST_REPLACED: u32 = 4;

/// Permission bits of a lock's file that is its owner's alone.
const PRIVATE: u32 = 0o600;

/// A lock's file, which stays open from one holder's turn to the next: opening it is what an
/// uncontended lock costs most.
#[derive(Clone, Debug, Default)]
pub struct LockFile {
    kept: Arc<Mutex<Option<Opened>>>,
    is_private: bool,
}

#[derive(Debug)]
struct Opened {
    file: DiskFile,
    id: Option<FileId>,
}

impl LockFile {
    /// A lock whose file only its owner may open. One that others may is made so.
    pub fn private() -> Self {
        Self {
            is_private: true,
            ..Self::default()
        }
    }

    /// Waits up to `timeout` for the lock on `path`, creating the file where it is missing.
    ///
    /// The pauses between tries grow exponentially from 0.2 ms to 5 ms, with up to a fifth of
    /// jitter so that waiting processes do not knock in step. Where the file was removed or
    /// replaced meanwhile, the one that stands there now is locked.
    pub fn acquire(
        &self,
        disk: &Disk,
        path: &Path,
        timeout: Duration,
    ) -> Result<FileLock, LockError> {
        let started = Instant::now();
        let mut pauses = pauses();
        let taken = self.take(disk, path, |file| {
            while !file.try_lock()? {
                let waited = started.elapsed();
                if waited >= timeout {
                    return Err(LockError::Timeout {
                        path: path.to_owned(),
                        waited,
                    });
                }
                let pause = pauses.next().unwrap_or(LONGEST_PAUSE);
                let jittered = pause.mul_f64(1.0 + 0.2 * fastrand::f64());
                thread::sleep(jittered.min(timeout.saturating_sub(waited)));
            }
            Ok(true)
        })?;
        Ok(taken.expect("a lock that is waited for is taken, or an error"))
    }

    /// Takes the lock on `path` only if nobody holds it.
    pub fn try_acquire(&self, disk: &Disk, path: &Path) -> Result<Option<FileLock>, DiskError> {
        self.take(disk, path, DiskFile::try_lock)
    }

    fn take<E: From<DiskError>>(
        &self,
        disk: &Disk,
        path: &Path,
        mut lock: impl FnMut(&DiskFile) -> Result<bool, E>,
    ) -> Result<Option<FileLock>, E> {
        let mut tries = 0;
        loop {
            let opened = self.open(disk, path)?;
            if !lock(&opened.file)? {
                return Ok(None);
            }
            let held = FileLock {
                opened: Some(opened),
                home: self.clone(),
            };
            tries += 1;
            if tries == MOST_REPLACED || held.stands_at(disk, path)? {
                return Ok(Some(held));
            }
            held.close();
        }
    }

    fn open(&self, disk: &Disk, path: &Path) -> Result<Opened, DiskError> {
        let kept = self
            .kept
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(kept) = kept
            && kept.file.path() == path
        {
            return Ok(kept);
        }
        let how = OpenHow::READ_WRITE_CREATE;
        let how = if self.is_private {
            how.with_mode(PRIVATE)
        } else {
            how
        };
        let file = disk.open(path, how)?;
        if self.is_private && file.mode()?.is_some_and(|mode| mode & 0o077 != 0) {
            // It guards as well as it did where that cannot be changed.
            drop(file.set_mode(PRIVATE));
        }
        let id = file.id()?;
        Ok(Opened { file, id })
    }
}

/// The pauses between tries, without end.
fn pauses() -> impl Iterator<Item = Duration> {
    iter::successors(Some(FIRST_PAUSE), |pause| {
        Some((*pause * 2).min(LONGEST_PAUSE))
    })
}

/// An exclusive lock, given back when it is dropped.
#[derive(Debug)]
pub struct FileLock {
    /// Until the lock is given back.
    opened: Option<Opened>,
    home: LockFile,
}

impl FileLock {
    /// Waits up to `timeout` for the lock on `path`, as [`LockFile::acquire`] does.
    pub fn acquire(disk: &Disk, path: &Path, timeout: Duration) -> Result<Self, LockError> {
        LockFile::default().acquire(disk, path, timeout)
    }

    /// The same, by way of a file that only its owner may open: see [`LockFile::private`].
    pub fn acquire_private(disk: &Disk, path: &Path, timeout: Duration) -> Result<Self, LockError> {
        LockFile::private().acquire(disk, path, timeout)
    }

    /// Takes the lock only if nobody holds it.
    pub fn try_acquire(disk: &Disk, path: &Path) -> Result<Option<Self>, DiskError> {
        LockFile::default().try_acquire(disk, path)
    }

    /// Whether what is locked is the file that others find, as far as the file system can say.
    pub fn stands_at(&self, disk: &Disk, path: &Path) -> Result<bool, DiskError> {
        let held = self.opened.as_ref().and_then(|opened| opened.id);
        let found = disk.stat(path)?;
        Ok(match (held, found) {
            (Some(held), Some(found)) => found.id.is_none_or(|id| id == held),
            (Some(_), None) => false,
            (None, _) => true,
        })
    }

    /// Gives the lock back and keeps nothing open.
    fn close(mut self) {
        if let Some(opened) = self.opened.take() {
            drop(opened.file.unlock());
        }
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        let Some(opened) = self.opened.take() else {
            return;
        };
        // Closing alone would not be enough: a child that is just being started holds a copy of
        // every open file until it becomes its program, and the lock would live as long as that.
        let is_free = opened.file.unlock().is_ok();
        if is_free && opened.id.is_some() {
            let mut kept = self
                .home
                .kept
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            *kept = Some(opened);
        }
    }
}

/// Why a lock was not taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Somebody else held it all the while.
    #[error("`{}` was held by another process for {} ms", path.display(), waited.as_millis())]
    Timeout {
        /// The lock's file.
        path: PathBuf,
        /// How long this process waited.
        waited: Duration,
    },
    /// Its file could not be opened or locked.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_lock_times_out_and_a_dropped_one_is_free() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let path = folder.path().join("ledger.lock");
        let held = FileLock::acquire(&disk, &path, Duration::ZERO).unwrap();
        let refused = FileLock::acquire(&disk, &path, Duration::from_millis(5)).unwrap_err();
        assert!(matches!(refused, LockError::Timeout { .. }));
        assert!(FileLock::try_acquire(&disk, &path).unwrap().is_none());
        drop(held);
        assert!(FileLock::try_acquire(&disk, &path).unwrap().is_some());
    }

    /// REQ-MSP-004: each pause is twice as long as the one before, up to the longest.
    #[test]
    fn pauses_double_up_to_the_longest() {
        let pauses: Vec<_> = pauses().take(8).collect();
        let micros = [200, 400, 800, 1600, 3200, 5000, 5000, 5000];
        assert_eq!(pauses, micros.map(Duration::from_micros));
    }

    /// CAL-SEC-1: nobody else opens the lock of what is its owner's alone, also where an earlier
    /// version made it.
    #[test]
    fn a_private_lock_is_closed_to_others_and_an_old_one_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let mode = |path: &Path| disk.open(path, OpenHow::READ).unwrap().mode().unwrap();
        let new = folder.path().join("new");
        let old = folder.path().join("old");
        drop(FileLock::acquire(&disk, &old, Duration::ZERO).unwrap());
        assert_ne!(mode(&old), Some(PRIVATE));
        for path in [&new, &old] {
            let held = FileLock::acquire_private(&disk, path, Duration::ZERO).unwrap();
            assert_eq!(mode(path), Some(PRIVATE));
            assert!(FileLock::try_acquire(&disk, path).unwrap().is_none());
            drop(held);
        }
    }

    #[test]
    fn a_kept_lock_file_that_was_removed_or_replaced_is_opened_anew() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let path = folder.path().join("ledger.lock");
        let kept = LockFile::default();
        for replaced in [false, true] {
            drop(kept.acquire(&disk, &path, Duration::ZERO).unwrap());
            disk.remove_file(&path).unwrap();
            if replaced {
                disk.create(&path, b"", 0o600).unwrap();
            }
            let held = kept.acquire(&disk, &path, Duration::ZERO).unwrap();
            assert!(FileLock::try_acquire(&disk, &path).unwrap().is_none());
            drop(held);
        }
    }

    #[test]
    fn a_lock_file_is_opened_once_and_another_handle_is_kept_out_by_it() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let path = folder.path().join("ledger.lock");
        let (one, other) = (LockFile::default(), LockFile::default());
        for _ in 0..2 {
            let held = one.acquire(&disk, &path, Duration::ZERO).unwrap();
            assert!(other.try_acquire(&disk, &path).unwrap().is_none());
            drop(held);
            assert!(other.try_acquire(&disk, &path).unwrap().is_some());
        }
    }
}
