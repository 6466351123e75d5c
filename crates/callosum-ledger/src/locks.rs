//! The locks between processes, as types: holding one is the proof that it is held.
//!
//! There is one order, ledger before task before audit journal (Seed CAL §5.3). The types keep the
//! most of it: a task's lock is only reached through the ledger's, and nothing leads from the audit
//! lock to another. That tasks come before the audit journal is for the one who holds the ledger
//! to keep. Readers take no lock. A lock whose holder died is free.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use callosum_host::{Disk, DiskError, FileLock, LockError, LockFile};

use crate::{paths::LedgerPaths, task_id::TaskId};

/// Seed CAL §5.3: global lock.
const LEDGER_TIMEOUT: Duration = Duration::from_millis(1500);
/// Seed CAL §5.3: task lock.
const TASK_TIMEOUT: Duration = Duration::from_millis(500);
/// Seed CAL §5.3: audit lock.
const AUDIT_TIMEOUT: Duration = Duration::from_millis(2500);

/// The lock files that a process takes for every group that it writes, kept open between them.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeptLocks {
    turn: LockFile,
    ledger: LockFile,
    audit: LockFile,
}

/// The right to write the ledger, and the first lock in the order.
#[derive(Debug)]
pub struct ExclusiveLedger<'a> {
    disk: &'a Disk,
    folder: PathBuf,
    audit: LockFile,
    _lock: FileLock,
}

/// The right to write what belongs to one task; only together with the ledger's.
#[derive(Debug)]
pub struct ExclusiveTask<'a> {
    disk: &'a Disk,
    path: PathBuf,
    _lock: FileLock,
}

/// The right to append to the audit journal, or to take stock of it undisturbed; the last lock.
#[derive(Debug)]
pub struct ExclusiveAudit {
    _lock: FileLock,
}

impl<'a> ExclusiveLedger<'a> {
    /// Waits up to 1.5 s for the ledger's lock.
    ///
    /// A waiting process holds the turn during that time, and no process tries the lock without it.
    /// So each waiting process gets ahead of one that writes all the time, once.
    pub fn acquire(disk: &'a Disk, paths: &LedgerPaths) -> Result<Self, LockError> {
        Self::acquire_kept(disk, paths, &KeptLocks::default())
    }

    /// As [`acquire`](Self::acquire), with lock files that may be open already.
    pub(crate) fn acquire_kept(
        disk: &'a Disk,
        paths: &LedgerPaths,
        kept: &KeptLocks,
    ) -> Result<Self, LockError> {
        Self::acquire_within(disk, paths, kept, LEDGER_TIMEOUT)
    }

    /// As [`acquire_kept`](Self::acquire_kept), waiting no longer than `patience`.
    pub(crate) fn acquire_within(
        disk: &'a Disk,
        paths: &LedgerPaths,
        kept: &KeptLocks,
        patience: Duration,
    ) -> Result<Self, LockError> {
        let path = ledger_lock(paths);
        let started = Instant::now();
        let timed_out = |error| match error {
            LockError::Timeout { .. } => LockError::timeout(disk, &path, started.elapsed()),
            LockError::Disk(_) => error,
        };
        let turn = kept
            .turn
            .acquire(disk, &ledger_turn(paths), patience)
            .map_err(timed_out)?;
        let left = patience.saturating_sub(started.elapsed());
        let lock = kept.ledger.acquire(disk, &path, left).map_err(timed_out)?;
        drop(turn);
        Ok(Self {
            disk,
            folder: paths.locks.clone(),
            audit: kept.audit.clone(),
            _lock: lock,
        })
    }

    /// Waits up to 0.5 s for a task's lock.
    pub fn lock_task(&self, task_id: &TaskId) -> Result<ExclusiveTask<'_>, LockError> {
        let path = self.folder.join(format!("cal_task_{task_id}"));
        let lock = FileLock::acquire(self.disk, &path, TASK_TIMEOUT)?;
        Ok(ExclusiveTask {
            disk: self.disk,
            path,
            _lock: lock,
        })
    }

    /// Waits up to 2.5 s for the audit journal's lock.
    pub fn lock_audit(&self) -> Result<ExclusiveAudit, LockError> {
        self.lock_audit_within(AUDIT_TIMEOUT)
    }

    /// Waits no longer than `patience` for the audit journal's lock.
    pub(crate) fn lock_audit_within(
        &self,
        patience: Duration,
    ) -> Result<ExclusiveAudit, LockError> {
        let lock = self
            .audit
            .acquire(self.disk, &audit_lock(&self.folder), patience)?;
        Ok(ExclusiveAudit { _lock: lock })
    }
}

impl ExclusiveAudit {
    /// Waits up to 2.5 s for the lock, to take stock; what writes comes by way of the ledger's.
    ///
    /// It is waited for in the ledger's turn, so that those who write let those who look in.
    pub fn acquire(disk: &Disk, paths: &LedgerPaths) -> Result<Self, LockError> {
        let started = Instant::now();
        let turn = FileLock::acquire(disk, &ledger_turn(paths), AUDIT_TIMEOUT)?;
        let left = AUDIT_TIMEOUT.saturating_sub(started.elapsed());
        let lock = FileLock::acquire(disk, &audit_lock(&paths.locks), left)?;
        drop(turn);
        Ok(Self { _lock: lock })
    }
}

impl Drop for ExclusiveTask<'_> {
    fn drop(&mut self) {
        // Waiting for this file takes the ledger's lock, which is held here, so no process waits
        // and the file can go. One that stays behind is an unlocked file and does no harm.
        drop(self.disk.remove_file(&self.path));
    }
}

/// Takes the audit lock, to look at files while no process writes them.
///
/// Returns `None` if the project is not writable, so that no process can be writing it either, as
/// far as this user can tell.
pub(crate) fn take_stock(
    disk: &Disk,
    paths: &LedgerPaths,
) -> Result<Option<ExclusiveAudit>, LockError> {
    match ExclusiveAudit::acquire(disk, paths) {
        Ok(lock) => Ok(Some(lock)),
        Err(LockError::Disk(error))
            if error.is_absent() || error.is_denied() || error.is_read_only() =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Whether another process holds the ledger's lock at this moment.
pub(crate) fn is_ledger_locked(disk: &Disk, paths: &LedgerPaths) -> Result<bool, DiskError> {
    Ok(FileLock::try_acquire(disk, &ledger_lock(paths))?.is_none())
}

fn ledger_lock(paths: &LedgerPaths) -> PathBuf {
    paths.locks.join("cal_mutex")
}

/// Path of the turn: a process holds it while it waits for the ledger's lock, and releases it once
/// it has the lock.
fn ledger_turn(paths: &LedgerPaths) -> PathBuf {
    paths.locks.join("cal_turn")
}

fn audit_lock(folder: &Path) -> PathBuf {
    folder.join("cal_audit")
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicBool, Ordering},
        thread,
    };

    use super::*;

    fn project() -> (tempfile::TempDir, Disk, LedgerPaths) {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let paths = LedgerPaths::in_root(folder.path());
        disk.create_dir_all(&paths.locks).unwrap();
        (folder, disk, paths)
    }

    /// CAL-MSP-2, REQ-MSP-005: ledger, then task, then audit; each is free again when dropped.
    #[test]
    fn locks_are_taken_in_one_order_and_given_back() {
        let (_folder, disk, paths) = project();
        let id: TaskId = "cal_2026_01_02_0003".parse().unwrap();
        for _ in 0..2 {
            let ledger = ExclusiveLedger::acquire(&disk, &paths).unwrap();
            let task = ledger.lock_task(&id).unwrap();
            let audit = ledger.lock_audit().unwrap();
            assert!(is_ledger_locked(&disk, &paths).unwrap());
            drop(audit);
            drop(task);
        }
        assert!(!is_ledger_locked(&disk, &paths).unwrap());
        let left: Vec<_> = disk.list_dir(&paths.locks).unwrap();
        let left: Vec<_> = left
            .iter()
            .map(|entry| entry.name.to_str().unwrap())
            .collect();
        assert_eq!(left, ["cal_audit", "cal_mutex", "cal_turn"]);
    }

    /// CAL-MSP-2, CAL-ERR-7: a process that returns at once after a turn waits until those already
    /// waiting had theirs, so that a busy process starves no other.
    #[test]
    fn a_process_that_comes_back_at_once_lets_the_one_who_waits_go_first() {
        let (_folder, disk, paths) = project();
        let had_turn = AtomicBool::new(false);
        let waiters: [fn(&Disk, &LedgerPaths, &AtomicBool); 2] = [
            |disk, paths, had_turn| {
                let _held = ExclusiveLedger::acquire(disk, paths).unwrap();
                had_turn.store(true, Ordering::SeqCst);
            },
            |disk, paths, had_turn| {
                let _held = ExclusiveAudit::acquire(disk, paths).unwrap();
                had_turn.store(true, Ordering::SeqCst);
            },
        ];
        for waiter in waiters {
            had_turn.store(false, Ordering::SeqCst);
            let kept = KeptLocks::default();
            let busy = ExclusiveLedger::acquire_kept(&disk, &paths, &kept).unwrap();
            let audit = busy.lock_audit().unwrap();
            thread::scope(|scope| {
                let waiting = scope.spawn(|| waiter(&disk, &paths, &had_turn));
                let turn = ledger_turn(&paths);
                while FileLock::try_acquire(&disk, &turn).unwrap().is_some() {
                    thread::yield_now();
                }
                assert!(!waiting.is_finished());
                drop(audit);
                drop(busy);
                let busy = ExclusiveLedger::acquire_kept(&disk, &paths, &kept).unwrap();
                let _audit = busy.lock_audit().unwrap();
                assert!(had_turn.load(Ordering::SeqCst));
            });
        }
    }

    /// CAL-MSP-2, REQ-MSP-001: a held ledger lock is a timeout, not a wait without end.
    #[test]
    fn a_ledger_that_stays_locked_times_out() {
        let (_folder, disk, paths) = project();
        let _held = ExclusiveLedger::acquire(&disk, &paths).unwrap();
        let refused = ExclusiveLedger::acquire(&disk, &paths).unwrap_err();
        assert!(matches!(refused, LockError::Timeout { waited, .. } if waited >= LEDGER_TIMEOUT));
    }

    /// CAL-MSP-2, REQ-MSP-002: the wait for a task's lock is as long as the seed says.
    #[test]
    fn a_task_that_stays_locked_times_out() {
        let (_folder, disk, paths) = project();
        let id: TaskId = "cal_2026_01_02_0003".parse().unwrap();
        let ledger = ExclusiveLedger::acquire(&disk, &paths).unwrap();
        let _held = ledger.lock_task(&id).unwrap();
        let refused = ledger.lock_task(&id).unwrap_err();
        assert_eq!(TASK_TIMEOUT, Duration::from_millis(500));
        assert!(matches!(refused, LockError::Timeout { waited, .. } if waited >= TASK_TIMEOUT));
    }
}
