//! Advisory locks between processes, held by an open file.
//!
//! A lock whose holder died is free again, because the system closes its file. What the lock
//! protects, and in which order locks are taken, is the business of whoever defines them.

use std::{
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use crate::disk::{Disk, DiskError, DiskFile, OpenHow};

/// The first pause of a process that waits; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_micros(200);

/// The longest pause between two tries.
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// An exclusive lock, given back when it is dropped.
#[derive(Debug)]
pub struct FileLock {
    file: DiskFile,
}

impl FileLock {
    /// Waits up to `timeout` for the lock on `path`, creating the file where it is missing.
    ///
    /// The pauses between tries grow exponentially from 0.2 ms to 50 ms, with up to a fifth of
    /// jitter so that waiting processes do not knock in step.
    pub fn acquire(disk: &Disk, path: &Path, timeout: Duration) -> Result<Self, LockError> {
        let file = disk.open(path, OpenHow::READ_WRITE_CREATE)?;
        let started = Instant::now();
        let mut pause = FIRST_PAUSE;
        while !file.try_lock()? {
            let waited = started.elapsed();
            if waited >= timeout {
                return Err(LockError::Timeout {
                    path: path.to_owned(),
                    waited,
                });
            }
            let jittered = pause.mul_f64(1.0 + 0.2 * fastrand::f64());
            thread::sleep(jittered.min(timeout.saturating_sub(waited)));
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        Ok(Self { file })
    }

    /// Takes the lock only if nobody holds it.
    pub fn try_acquire(disk: &Disk, path: &Path) -> Result<Option<Self>, DiskError> {
        let file = disk.open(path, OpenHow::READ_WRITE_CREATE)?;
        Ok(if file.try_lock()? {
            Some(Self { file })
        } else {
            None
        })
    }

    /// The lock's file.
    pub fn path(&self) -> &Path {
        self.file.path()
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // Closing alone is not enough: a child that is just being started holds a copy of every
        // open file until it becomes its program, and the lock would live as long as that copy.
        drop(self.file.unlock());
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
}
