//! The locks between processes, as types: holding one is the proof that it is held.
//!
//! There is one order, ledger before task before audit journal (Seed CAL §5.3). The types keep the
//! most of it: a task's lock is only reached through the ledger's, and nothing leads from the audit
//! lock to another. That tasks come before the audit journal is for the one who holds the ledger
//! to keep. Readers take no lock. A lock whose holder died is free.

use std::{path::PathBuf, time::Duration};

use callosum_host::{Disk, DiskError, FileLock, LockError};

use crate::{paths::LedgerPaths, task_id::TaskId};

/// Seed CAL §5.3: global lock.
const LEDGER_TIMEOUT: Duration = Duration::from_millis(1500);
/// Seed CAL §5.3: task lock.
const TASK_TIMEOUT: Duration = Duration::from_millis(500);
/// Seed CAL §5.3: audit lock.
const AUDIT_TIMEOUT: Duration = Duration::from_millis(2500);

/// The right to write the ledger, and the first lock in the order.
#[derive(Debug)]
pub struct ExclusiveLedger<'a> {
    disk: &'a Disk,
    folder: PathBuf,
    _lock: FileLock,
}

/// The right to write what belongs to one task; only together with the ledger's.
#[derive(Debug)]
pub struct ExclusiveTask<'a> {
    disk: &'a Disk,
    lock: Option<FileLock>,
}

/// The right to append to the audit journal, or to take stock of it undisturbed; the last lock.
#[derive(Debug)]
pub struct ExclusiveAudit {
    _lock: FileLock,
}

impl<'a> ExclusiveLedger<'a> {
    /// Waits up to 1.5 s for the ledger's lock.
    pub fn acquire(disk: &'a Disk, paths: &LedgerPaths) -> Result<Self, LockError> {
        let lock = FileLock::acquire(disk, &ledger_lock(paths), LEDGER_TIMEOUT)?;
        Ok(Self {
            disk,
            folder: paths.locks.clone(),
            _lock: lock,
        })
    }

    /// Waits up to 0.5 s for a task's lock.
    pub fn lock_task(&self, task_id: &TaskId) -> Result<ExclusiveTask<'_>, LockError> {
        let path = self.folder.join(format!("cal_task_{task_id}"));
        let lock = FileLock::acquire(self.disk, &path, TASK_TIMEOUT)?;
        Ok(ExclusiveTask {
            disk: self.disk,
            lock: Some(lock),
        })
    }

    /// Waits up to 2.5 s for the audit journal's lock.
    pub fn lock_audit(&self) -> Result<ExclusiveAudit, LockError> {
        ExclusiveAudit::acquire_in(self.disk, &self.folder)
    }
}

impl ExclusiveAudit {
    /// Waits up to 2.5 s for the lock, to take stock; what writes comes by way of the ledger's.
    pub fn acquire(disk: &Disk, paths: &LedgerPaths) -> Result<Self, LockError> {
        Self::acquire_in(disk, &paths.locks)
    }

    fn acquire_in(disk: &Disk, folder: &std::path::Path) -> Result<Self, LockError> {
        let lock = FileLock::acquire(disk, &folder.join("cal_audit"), AUDIT_TIMEOUT)?;
        Ok(Self { _lock: lock })
    }
}

impl Drop for ExclusiveTask<'_> {
    fn drop(&mut self) {
        if let Some(lock) = self.lock.take() {
            // Nobody can be waiting for it without the ledger's lock, which is held here: so the
            // file can go. One that stays behind is an unlocked file and does no harm.
            drop(self.disk.remove_file(lock.path()));
        }
    }
}

/// Takes the audit lock, to look at files that nobody writes meanwhile.
///
/// `None` where the project cannot be written, so that nobody can be writing it either, as far as
/// this user can tell.
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

#[cfg(test)]
mod tests {
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
        assert_eq!(left, ["cal_audit", "cal_mutex"]);
    }

    /// CAL-MSP-2, REQ-MSP-001: a held ledger lock is a timeout, not a wait without end.
    #[test]
    fn a_ledger_that_stays_locked_times_out() {
        let (_folder, disk, paths) = project();
        let _held = ExclusiveLedger::acquire(&disk, &paths).unwrap();
        let refused = ExclusiveLedger::acquire(&disk, &paths).unwrap_err();
        assert!(matches!(refused, LockError::Timeout { waited, .. } if waited >= LEDGER_TIMEOUT));
    }
}
