//! Advisory locks between processes, held by an open file.
//!
//! A lock whose holder died is free again, because the system closes its file. The code that
//! defines a lock decides what it protects and in which order locks are taken.

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

/// Number of times that a lock's file may turn out to be replaced before the lock counts all the
/// same: on some file systems the number of a file does not stay the same.
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

    /// Waits up to `timeout` for the lock on `path`, creating the file if it is missing.
    ///
    /// The pauses between tries grow exponentially from 0.2 ms to 5 ms, with up to a fifth of
    /// jitter so that waiting processes do not try in step. If the file was removed or replaced in
    /// between, the current one is locked.
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
                    return Err(LockError::timeout(disk, path, waited));
                }
                let pause = pauses.next().unwrap_or(LONGEST_PAUSE);
                let jittered = pause.mul_f64(1.0 + 0.2 * fastrand::f64());
                thread::sleep(jittered.min(timeout.saturating_sub(waited)));
            }
            Ok(true)
        })?;
        Ok(taken.expect("a lock that is waited for is taken, or an error"))
    }

    /// Takes the lock on `path` only if no process holds it.
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
            // It still works as before if that cannot be changed.
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

    /// Takes the lock only if no process holds it.
    pub fn try_acquire(disk: &Disk, path: &Path) -> Result<Option<Self>, DiskError> {
        LockFile::default().try_acquire(disk, path)
    }

    /// Whether the locked file is the one that others find, as far as the file system can tell.
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

/// Reason that a lock was not taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process held it for the whole time.
    #[error("`{}` was held by {} for {} ms", path.display(), who(holder.as_ref()), waited.as_millis())]
    Timeout {
        /// The lock's file.
        path: PathBuf,
        /// Time for which this process waited.
        waited: Duration,
        /// Holder at the end; `None` if the system does not tell.
        holder: Option<Holder>,
    },
    /// Its file could not be opened or locked.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// A process that holds a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Its number.
    pub pid: u32,
    /// Its name, if it still exists.
    pub name: Option<String>,
}

impl LockError {
    /// That the lock on `path` was not to be had within this time, and who holds it now.
    pub fn timeout(disk: &Disk, path: &Path, waited: Duration) -> Self {
        Self::Timeout {
            path: path.to_owned(),
            waited,
            holder: holder(disk, path),
        }
    }
}

fn who(holder: Option<&Holder>) -> String {
    match holder {
        None => "another process".to_owned(),
        Some(Holder { pid, name: None }) => format!("process {pid}"),
        Some(Holder {
            pid,
            name: Some(name),
        }) => format!("process {pid} ({name})"),
    }
}

/// Returns the holder of the lock on a file, if the system tells (on Linux, for processes that have
/// a number here).
fn holder(disk: &Disk, path: &Path) -> Option<Holder> {
    let id = disk.stat(path).ok()??.id?;
    let read = |path: &Path| Disk::real().read(path).ok();
    let all = read(Path::new("/proc/locks"))?;
    let pid = holder_in(&String::from_utf8_lossy(&all), id)?;
    let name = read(&Path::new("/proc").join(pid.to_string()).join("comm"));
    let name = name.map(|name| {
        // What a process calls itself may hold anything.
        let name = String::from_utf8_lossy(&name);
        name.trim_end()
            .chars()
            .filter(|c| !c.is_control())
            .collect()
    });
    Some(Holder { pid, name })
}

/// Reads lines like `1: FLOCK  ADVISORY  WRITE 4711 08:01:1234 0 EOF`; who only waits has an arrow after the number.
fn holder_in(locks: &str, id: FileId) -> Option<u32> {
    locks.lines().find_map(|line| {
        let mut words = line.split_ascii_whitespace().skip(1);
        if words.next()? != "FLOCK" {
            return None;
        }
        let pid = words.nth(2)?.parse().ok().filter(|pid| *pid > 0)?;
        let mut file = words.next()?.split(':');
        let mut hexadecimal = || u32::from_str_radix(file.next()?, 16).ok();
        let device = rustix::fs::makedev(hexadecimal()?, hexadecimal()?);
        let inode: u64 = file.next()?.parse().ok()?;
        (device == id.device && inode == id.inode).then_some(pid)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_holds_a_lock_is_read_from_what_the_system_says() {
        let locks = "1: POSIX  ADVISORY  READ 11 08:01:7 128 128\n\
            2: FLOCK  ADVISORY  WRITE 0 08:01:9 0 EOF\n\
            3: FLOCK  ADVISORY  WRITE 12 08:01:7 0 EOF\n\
            3: -> FLOCK  ADVISORY  WRITE 13 08:01:8 0 EOF\n";
        let at = |inode| FileId {
            device: rustix::fs::makedev(8, 1),
            inode,
        };
        assert_eq!(holder_in(locks, at(7)), Some(12));
        assert_eq!(holder_in(locks, at(8)), None);
        assert_eq!(holder_in(locks, at(9)), None);
        assert_eq!(holder_in("", at(7)), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_timeout_names_who_holds_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let path = folder.path().join("ledger.lock");
        let _held = FileLock::acquire(&disk, &path, Duration::ZERO).unwrap();
        let refused = FileLock::acquire(&disk, &path, Duration::ZERO).unwrap_err();
        let LockError::Timeout { holder, .. } = &refused else {
            panic!("{refused}");
        };
        // There are file systems whose files have another number there.
        if let Some(holder) = holder {
            assert_eq!(holder.pid, std::process::id());
            assert!(
                refused
                    .to_string()
                    .contains(&format!("process {}", holder.pid))
            );
        }
    }

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

    /// CAL-SEC-1: no other user opens the lock of a file that is its owner's alone, even if an
    /// earlier version made it.
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
    fn a_kept_lock_file_that_was_removed_or_replaced_is_opened_again() {
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
