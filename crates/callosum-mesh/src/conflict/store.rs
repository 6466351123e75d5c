//! [`ConflictStore`]: conflicts and the versions of their files, a folder for each, for their user alone.
//!
//! `open/ID/` and `resolved/ID/` have a record `conflict.json` and the versions `base`, `first`, `second` and `replaced`, as
//! far as they are known. The format is in `docs/formats/conflicts.md`. One lock serializes all changes.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use callosum_host::{Disk, DiskError, FileLock, LockError};
use jiff::{SignedDuration, Timestamp};

use super::{Conflict, ConflictSide};

const OPEN: &str = "open";
const RESOLVED: &str = "resolved";
const RECORD: &str = "conflict.json";
const BASE: &str = "base";
const REPLACED: &str = "replaced";

/// Lifetime of conflicts: of open ones since they opened, of resolved ones since they were
/// resolved.
const KEPT_OPEN: SignedDuration = SignedDuration::from_hours(30 * 24);
const KEPT_RESOLVED: SignedDuration = SignedDuration::from_hours(7 * 24);

/// Error of a conflict's storage.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The disk failed.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// Another process holds the lock.
    #[error(transparent)]
    Lock(#[from] LockError),
}

/// The conflicts of a machine.
#[derive(Clone, Debug)]
pub struct ConflictStore {
    disk: Disk,
    folder: PathBuf,
}

/// Returns the beginning of the ids of all conflicts on a file, from a hash of its path.
pub fn id_of(path: &str) -> String {
    // FNV-1a: the id has to be stable and short, and resists nothing. A collision only shows one more candidate.
    let hash = path.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    format!("{hash:08x}")
}

impl ConflictStore {
    /// Returns the store in `folder`. Creates nothing.
    pub fn new(disk: &Disk, folder: &Path) -> Self {
        Self {
            disk: disk.clone(),
            folder: folder.to_owned(),
        }
    }

    /// Locks the store against other processes that change it. Waits up to `patience`.
    ///
    /// # Errors
    /// If another process holds the lock for longer, or the folder cannot be created.
    pub fn lock(&self, patience: Duration) -> Result<FileLock, StoreError> {
        self.disk.create_private_dir(&self.folder)?;
        let path = self.folder.join("lock");
        Ok(FileLock::acquire_private(&self.disk, &path, patience)?)
    }

    /// Returns the open conflicts, the oldest first. Costs one look at a folder if there are none. A damaged record is passed
    /// over.
    ///
    /// # Errors
    /// If a folder cannot be listed.
    pub fn open(&self) -> Result<Vec<Conflict>, DiskError> {
        self.listed(OPEN, "")
    }

    /// Returns the open conflicts on a file.
    ///
    /// # Errors
    /// If a folder cannot be listed.
    pub fn open_on(&self, path: &str) -> Result<Vec<Conflict>, DiskError> {
        let mut found = self.listed(OPEN, &id_of(path))?;
        found.retain(|conflict| conflict.path == path);
        Ok(found)
    }

    /// Returns the resolved conflicts, the oldest first.
    ///
    /// # Errors
    /// If a folder cannot be listed.
    pub fn resolved(&self) -> Result<Vec<Conflict>, DiskError> {
        self.listed(RESOLVED, "")
    }

    fn listed(&self, folder: &str, prefix: &str) -> Result<Vec<Conflict>, DiskError> {
        let folder = self.folder.join(folder);
        let mut found = Vec::new();
        for entry in self.disk.list_dir(&folder)? {
            let name = entry.name.to_string_lossy();
            if !name.starts_with(prefix) {
                continue;
            }
            let bytes = self.disk.read_if_there(&folder.join(&*name).join(RECORD))?;
            let read = bytes.and_then(|bytes| serde_json::from_slice::<Conflict>(&bytes).ok());
            // A record that was copied under another name is not believed.
            found.extend(read.filter(|conflict| conflict.id == name));
        }
        found.sort_by(|one, other| (one.opened_at, &one.id).cmp(&(other.opened_at, &other.id)));
        Ok(found)
    }

    /// Writes the record of an open conflict. Hold the lock.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn write(&self, conflict: &Conflict) -> Result<(), DiskError> {
        let folder = self.folder_of(conflict);
        self.disk.create_private_dir(&folder)?;
        let bytes = serde_json::to_vec_pretty(conflict).expect("plain data has a JSON form");
        self.disk
            .replace_unsynced(&folder.join(RECORD), &bytes, 0o600)
    }

    /// Keeps the version from before both edits. Hold the lock.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn keep_base(&self, conflict: &Conflict, bytes: &[u8]) -> Result<(), DiskError> {
        self.keep(conflict, BASE, bytes)
    }

    /// Keeps a side's version of the file. Hold the lock.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn keep_version(
        &self,
        conflict: &Conflict,
        place: ConflictSide,
        bytes: &[u8],
    ) -> Result<(), DiskError> {
        self.keep(conflict, place.as_str(), bytes)
    }

    /// Keeps the file as it was before a resolution wrote over it. Hold the lock.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn keep_replaced(&self, conflict: &Conflict, bytes: &[u8]) -> Result<(), DiskError> {
        self.keep(conflict, REPLACED, bytes)
    }

    fn keep(&self, conflict: &Conflict, name: &str, bytes: &[u8]) -> Result<(), DiskError> {
        let folder = self.folder_of(conflict);
        self.disk.create_private_dir(&folder)?;
        self.disk.replace_unsynced(&folder.join(name), bytes, 0o600)
    }

    /// Returns the version from before both edits, if it is kept.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn base(&self, conflict: &Conflict) -> Result<Option<Vec<u8>>, DiskError> {
        if !conflict.has_base {
            return Ok(None);
        }
        self.disk
            .read_if_there(&self.folder_of(conflict).join(BASE))
    }

    /// Returns a side's version of the file, if it is kept.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn version(
        &self,
        conflict: &Conflict,
        place: ConflictSide,
    ) -> Result<Option<Vec<u8>>, DiskError> {
        if !conflict.side(place).has_version {
            return Ok(None);
        }
        let path = self.folder_of(conflict).join(place.as_str());
        self.disk.read_if_there(&path)
    }

    /// Moves a conflict to the resolved ones; its `resolution` has to be set. Hold the lock.
    ///
    /// # Errors
    /// If the disk fails. The conflict is open then.
    pub fn resolve(&self, conflict: &Conflict) -> Result<(), DiskError> {
        let from = self.folder.join(OPEN).join(&conflict.id);
        let to = self.folder.join(RESOLVED).join(&conflict.id);
        self.disk.create_private_dir(&self.folder.join(RESOLVED))?;
        let bytes = serde_json::to_vec_pretty(conflict).expect("plain data has a JSON form");
        self.disk
            .replace_unsynced(&from.join(RECORD), &bytes, 0o600)?;
        self.disk.rename(&from, &to)
    }

    /// Returns the folder of a conflict's record and versions.
    pub fn folder_of(&self, conflict: &Conflict) -> PathBuf {
        let state = match conflict.resolution {
            Some(_) => RESOLVED,
            None => OPEN,
        };
        self.folder.join(state).join(&conflict.id)
    }

    /// Removes conflicts that are too old: open ones after 30 days, resolved ones after seven. Hold the lock.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn remove_old(&self, now: Timestamp) -> Result<(), DiskError> {
        let is_older = |since: Timestamp, kept| now.duration_since(since) > kept;
        for conflict in self.open()? {
            if is_older(conflict.opened_at, KEPT_OPEN) {
                self.disk.remove_tree(&self.folder_of(&conflict))?;
            }
        }
        for conflict in self.resolved()? {
            let at = conflict.resolution.as_ref().map(|resolution| resolution.at);
            if at.is_some_and(|at| is_older(at, KEPT_RESOLVED)) {
                self.disk.remove_tree(&self.folder_of(&conflict))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Context, Resolution, Side, propose},
        *,
    };

    fn conflict(path: &str, at: &str) -> Conflict {
        let at: Timestamp = at.parse().unwrap();
        let side = |agent: &str| Side {
            agent: agent.parse().unwrap(),
            session_id: Some(format!("{agent}-1")),
            edits: 1,
            edited_at: at,
            context: Context::default(),
            has_version: true,
            notice: None,
            notices: 0,
        };
        Conflict {
            id: format!("{}-0001", id_of(path)),
            path: path.to_owned(),
            tree: None,
            first_path: None,
            opened_at: at,
            first: side("codex"),
            second: side("claude"),
            has_base: true,
            last: ConflictSide::Second,
            dropped: None,
            proposal: propose(&Context::default(), &Context::default()),
            task: None,
            resolution: None,
        }
    }

    /// CALC-FUT-1: a conflict is found by its file, its versions are kept, and a resolved one is open no more.
    #[test]
    fn a_conflict_keeps_its_versions_until_it_is_old() {
        let folder = tempfile::tempdir().unwrap();
        let store = ConflictStore::new(&Disk::real(), &folder.path().join("conflicts"));
        assert_eq!(store.open().unwrap(), []);
        let mut one = conflict("/p/a.rs", "2026-01-02T03:04:05Z");
        let lock = store.lock(Duration::from_secs(1)).unwrap();
        store.write(&one).unwrap();
        store.keep_base(&one, b"base").unwrap();
        store
            .keep_version(&one, ConflictSide::First, b"one\xff")
            .unwrap();
        assert_eq!(store.open_on("/p/a.rs").unwrap(), [one.clone()]);
        assert_eq!(store.open_on("/p/b.rs").unwrap(), []);
        assert_eq!(store.base(&one).unwrap().unwrap(), b"base");
        let version = store.version(&one, ConflictSide::First).unwrap();
        assert_eq!(version.unwrap(), b"one\xff");
        one.resolution = Some(Resolution {
            at: "2026-01-03T00:00:00Z".parse().unwrap(),
            by: "codex".parse().unwrap(),
            how: "kept".to_owned(),
            from: None,
            reason: None,
            has_replaced: false,
        });
        store.resolve(&one).unwrap();
        assert_eq!(store.open().unwrap(), []);
        assert_eq!(store.resolved().unwrap(), [one.clone()]);
        assert_eq!(store.base(&one).unwrap().unwrap(), b"base");
        store
            .remove_old("2026-01-09T00:00:00Z".parse().unwrap())
            .unwrap();
        assert_eq!(store.resolved().unwrap().len(), 1);
        store
            .remove_old("2026-01-11T00:00:00Z".parse().unwrap())
            .unwrap();
        assert_eq!(store.resolved().unwrap(), []);
        drop(lock);
    }

    #[test]
    fn a_damaged_or_copied_record_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let store = ConflictStore::new(&Disk::real(), folder.path());
        let one = conflict("/p/a.rs", "2026-01-02T03:04:05Z");
        store.write(&one).unwrap();
        let open = folder.path().join("open");
        let disk = Disk::real();
        for (name, bytes) in [
            ("../x", disk.read(&open.join(&one.id).join(RECORD)).unwrap()),
            (
                "other",
                disk.read(&open.join(&one.id).join(RECORD)).unwrap(),
            ),
            ("torn", b"{\"id\":\"torn\"".to_vec()),
        ] {
            disk.create_private_dir(&open.join(name)).unwrap();
            let path = open.join(name).join(RECORD);
            disk.replace_unsynced(&path, &bytes, 0o600).unwrap();
        }
        assert_eq!(store.open().unwrap(), [one]);
    }
}
