//! [`Reuse`]: whether a request was answered before, over the very same tree.
//!
//! The ledger has the answers. The machine's home records which entry answers which request, one
//! small file for each. So only what this machine asked itself is used again, no matter which
//! ledger a cloned repository brings, and looking needs no search through the ledger. A file that
//! is lost costs another request. Next to it is a lock while an answer is being made, so that a run
//! that asks the same waits for it: [`ReuseLock`].

use std::path::PathBuf;

use callosum_executor::registry::Executor;
use callosum_host::{Disk, DiskError, FileLock, LockFile};
use callosum_json::Checksum;
use callosum_ledger::{Entry, ReadError, Reader, TaskId};
use serde_json::json;

use crate::{
    task::{Task, kind_name},
    tree_fingerprint::TreeFingerprint,
};

/// The key of an entry's metadata that has the request's hash.
pub(super) const REQUEST_KEY: &str = "request_sha256";

/// The key of an entry's metadata that has the tree's hash.
pub(super) const TREE_KEY: &str = "tree_sha256";

/// Answers that may be used again, over one tree.
#[derive(Clone, Debug)]
pub struct Reuse {
    /// Folder of the files that record which entry answers which request.
    pub folder: PathBuf,
    /// The tree that is asked about.
    pub tree: TreeFingerprint,
    /// Whether answers are looked for, and not only kept for later.
    pub is_looked_for: bool,
}

impl Reuse {
    /// Returns the key of a request: equal if the executor would be asked the same, about the same.
    pub(super) fn key(&self, task: &Task, executor: &Executor, linked: &[TaskId]) -> Checksum {
        let request = json!({
            "program": env!("CARGO_PKG_VERSION"),
            "prompt": task.prompt,
            "kind": kind_name(task.kind_for(&executor.id)),
            "paths": task.paths,
            "executor": executor.id,
            "executor_version": executor.version,
            "executor_entry": executor.fingerprint(),
            "linked_tasks": linked,
            "tree": self.tree.content,
        });
        Checksum::of(request.to_string().as_bytes())
    }

    /// The entry that answers a request, where the ledger still has it as it was.
    pub(super) fn find(
        &self,
        disk: &Disk,
        key: &Checksum,
        ledger: &Reader,
    ) -> Result<Option<Entry>, ReadError> {
        if !self.is_looked_for {
            return Ok(None);
        }
        let hint = disk.read_if_there(&self.path(key))?;
        let id = hint.and_then(|hint| String::from_utf8(hint).ok()?.trim_end().parse().ok());
        let Some(id): Option<TaskId> = id else {
            return Ok(None);
        };
        let found = ledger.find(&id)?.map(|found| found.entry);
        Ok(found.filter(|entry| {
            let recorded = entry.metadata.get(REQUEST_KEY).and_then(|key| key.as_str());
            recorded == Some(key.to_string().as_str())
        }))
    }

    /// Takes the turn to have a request answered; `None` if another run has it.
    pub(super) fn take_turn(
        &self,
        disk: &Disk,
        key: &Checksum,
    ) -> Result<Option<ReuseLock>, DiskError> {
        disk.create_private_dir(&self.folder)?;
        let path = self.folder.join(format!("{key}.asked"));
        let lock = LockFile::private().try_acquire(disk, &path)?;
        Ok(lock.map(|lock| ReuseLock {
            disk: disk.clone(),
            path,
            _lock: lock,
        }))
    }

    /// Remembers which entry answers a request.
    pub(super) fn remember(
        &self,
        disk: &Disk,
        key: &Checksum,
        id: &TaskId,
    ) -> Result<(), DiskError> {
        disk.create_private_dir(&self.folder)?;
        // Only a hint: a lost file costs another request.
        disk.replace_unsynced(&self.path(key), format!("{id}\n").as_bytes(), 0o600)
    }

    fn path(&self, key: &Checksum) -> PathBuf {
        self.folder.join(key.to_string())
    }
}

/// The turn of a run that has a request answered, until it is dropped or the run has died.
#[derive(Debug)]
pub(super) struct ReuseLock {
    disk: Disk,
    path: PathBuf,
    _lock: FileLock,
}

impl Drop for ReuseLock {
    fn drop(&mut self) {
        // While it is locked: who waits finds that the file is gone, and locks the next. One that stays is
        // taken by the next run that asks the same.
        drop(self.disk.remove_file(&self.path));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// REQ-GOV-004: one run has the turn, and gives it up when it is done; a killed run's turn is
    /// free.
    #[test]
    fn a_request_is_one_runs_turn_until_that_is_over() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let reuse = Reuse {
            folder: folder.path().join("reuse"),
            tree: TreeFingerprint::read(&disk, folder.path()).unwrap(),
            is_looked_for: true,
        };
        let (key, other) = (Checksum::of(b"a"), Checksum::of(b"b"));
        let take = |key| reuse.take_turn(&disk, key).unwrap();
        let turn = take(&key);
        assert!(turn.is_some());
        assert!(take(&key).is_none());
        assert!(take(&other).is_some());
        drop(turn);
        let left = reuse.folder.join(format!("{key}.asked"));
        assert_eq!(disk.stat(&left).unwrap(), None);
        disk.create(&left, b"", 0o600).unwrap();
        assert!(take(&key).is_some());
    }
}
