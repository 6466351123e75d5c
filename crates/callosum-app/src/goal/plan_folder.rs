//! [`PlanFolder`]: compiled plans of a project in the machine's home, with an index by goal (L4 of CCOS-DEL-1).
//!
//! Each plan is a file that is named by its content hash. The index says which goal each is for. It needs no signature: it
//! only points, and [`reuse`](super::reuse) verifies what it points at. Format: `docs/formats/compiled-plans.md`.

use std::path::PathBuf;
use std::time::Duration;

use callosum_host::{Disk, DiskError, FileLock, LockError};
use callosum_intent::delegation::compiled::{ContentHash, PlanStore, StoreError};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::context::Context;

/// Format of the index.
const FORMAT: u32 = 1;

/// Name of the index.
const INDEX: &str = "index.json";

/// Name of the lock.
const LOCK: &str = "lock";

/// Permission bits of the files.
const MODE: u32 = 0o600;

/// Time that another process may hold the lock.
const LOCK_TIMEOUT: Duration = Duration::from_millis(1500);

/// Largest index that is read, in bytes.
const LARGEST_INDEX: u64 = 8 << 20;

/// The bounds of the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Plans at most.
    pub plans: usize,
    /// Bytes of all plans together at most.
    pub bytes: u64,
}

/// The bounds unless a test sets others.
pub const BOUNDS: Bounds = Bounds {
    plans: 200,
    bytes: 20 << 20,
};

/// The compiled plans of a project.
#[derive(Clone, Debug)]
pub struct PlanFolder {
    disk: Disk,
    machine: PathBuf,
    folder: PathBuf,
    bounds: Bounds,
}

/// A plan in the index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndexedPlan {
    /// Hash of the goal and of what the plan may do.
    pub key: String,
    /// Content hash, the name of the file.
    pub pointer: String,
    /// Signature of the file.
    pub signature: String,
    /// The goal, without secrets.
    pub goal: String,
    /// The run of the plan that was completed.
    pub run: String,
    /// Hash of the constitution that it ran under.
    pub policy: String,
    /// Hash of the capabilities that it may call.
    pub capabilities: String,
    /// Size of the file.
    pub bytes: u64,
    /// Time of the last use.
    pub used: Timestamp,
}

/// The content of the index.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Index {
    format: u32,
    plans: Vec<IndexedPlan>,
}

/// As much of the index as every format has.
#[derive(Deserialize)]
struct Versioned {
    format: u32,
}

/// A failure of the folder.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// A file could not be read or written.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// Another process holds the lock.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The plan could not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The index is not readable.
    #[error("the index `{}` is damaged", .0.display())]
    Damaged(PathBuf),
    /// A newer version wrote the index.
    #[error("a newer callosum wrote the index `{}`", .0.display())]
    Newer(PathBuf),
}

impl PlanFolder {
    /// Returns the folder of the project. Reads and creates nothing.
    pub fn of(context: &Context) -> Self {
        let homes = &context.project.homes;
        let folder = homes.compiled_plans(context.state());
        Self::new(context.disk.clone(), homes.machine.clone(), folder, BOUNDS)
    }

    fn new(disk: Disk, machine: PathBuf, folder: PathBuf, bounds: Bounds) -> Self {
        Self {
            disk,
            machine,
            folder,
            bounds,
        }
    }

    /// Returns the plans of the index. A folder that does not exist has none.
    pub fn plans(&self) -> Result<Vec<IndexedPlan>, FolderError> {
        let path = self.folder.join(INDEX);
        if !self.disk.exists(&path)? {
            return Ok(Vec::new());
        }
        let bytes = self.disk.read_at_most(&path, LARGEST_INDEX)?;
        match serde_json::from_slice(&bytes) {
            Ok(Index {
                format: FORMAT,
                plans,
            }) => Ok(plans),
            _ => match serde_json::from_slice(&bytes) {
                Ok(Versioned { format }) if format > FORMAT => Err(FolderError::Newer(path)),
                _ => Err(FolderError::Damaged(path)),
            },
        }
    }

    /// Writes a plan with `put` and adds it to the index, in place of one with the same key. Removes the plans whose last use
    /// is the longest ago until the rest is within the bounds.
    pub fn add(
        &self,
        put: impl FnOnce(&Self) -> Result<IndexedPlan, StoreError>,
    ) -> Result<(), FolderError> {
        let _lock = self.lock()?;
        // What points at nothing is of no use to anyone.
        let mut plans = match self.plans() {
            Err(FolderError::Damaged(_)) => Vec::new(),
            plans => plans?,
        };
        let added = put(self)?;
        plans.retain(|plan| plan.key != added.key);
        plans.push(added);
        // The added plan is last, and equal times leave the order as it is.
        plans.sort_by_key(|plan| plan.used);
        while plans.len() > 1 && self.exceeds(&plans) {
            plans.remove(0);
        }
        self.write(plans)?;
        self.sweep()
    }

    /// Notes that a plan is used now.
    pub fn touch(&self, pointer: &str, now: Timestamp) -> Result<(), FolderError> {
        let _lock = self.lock()?;
        let mut plans = self.plans()?;
        for plan in &mut plans {
            if plan.pointer == pointer {
                plan.used = now;
            }
        }
        self.write(plans)
    }

    /// Removes a plan.
    pub fn remove(&self, pointer: &str) -> Result<(), FolderError> {
        let _lock = self.lock()?;
        let mut plans = self.plans()?;
        plans.retain(|plan| plan.pointer != pointer);
        self.write(plans)?;
        self.sweep()
    }

    fn exceeds(&self, plans: &[IndexedPlan]) -> bool {
        let bytes = plans.iter().map(|plan| plan.bytes);
        let bytes = bytes.fold(0, u64::saturating_add);
        plans.len() > self.bounds.plans || bytes > self.bounds.bytes
    }

    fn lock(&self) -> Result<FileLock, FolderError> {
        self.disk.create_private_dir(&self.machine)?;
        self.disk.create_private_dir(&self.folder)?;
        let path = self.folder.join(LOCK);
        Ok(FileLock::acquire_private(&self.disk, &path, LOCK_TIMEOUT)?)
    }

    fn write(&self, plans: Vec<IndexedPlan>) -> Result<(), FolderError> {
        let index = Index {
            format: FORMAT,
            plans,
        };
        let mut bytes = serde_json::to_vec_pretty(&index).unwrap_or_default();
        bytes.push(b'\n');
        Ok(self.disk.replace(&self.folder.join(INDEX), &bytes, MODE)?)
    }

    /// Removes files that the index does not name.
    fn sweep(&self) -> Result<(), FolderError> {
        let plans = self.plans()?;
        self.disk.sweep_new_files(&self.folder, |_| true)?;
        for entry in self.disk.list_dir(&self.folder)? {
            let name = entry.name.to_string_lossy();
            let is_plan = name.parse::<ContentHash>().is_ok();
            if is_plan && plans.iter().all(|plan| plan.pointer != name) {
                self.disk.remove_file(&self.folder.join(&entry.name))?;
            }
        }
        Ok(())
    }

    fn file(&self, pointer: &str) -> Result<PathBuf, StoreError> {
        // A pointer is a name of a file only if it is a content hash.
        let hash = pointer.parse::<ContentHash>();
        let hash = hash.map_err(|error| StoreError(error.to_string()))?;
        Ok(self.folder.join(hash.to_string()))
    }
}

impl PlanStore for PlanFolder {
    fn get(&self, pointer: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let path = self.file(pointer)?;
        let failed = |error: DiskError| StoreError(error.to_string());
        if !self.disk.exists(&path).map_err(failed)? {
            return Ok(None);
        }
        let bytes = self.disk.read_at_most(&path, self.bounds.bytes);
        bytes.map(Some).map_err(failed)
    }

    fn put(&self, pointer: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let written = self.disk.replace(&self.file(pointer)?, bytes, MODE);
        written.map_err(|error| StoreError(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointer(number: u32) -> String {
        format!("{number:064x}")
    }

    fn plan(number: u32, bytes: u64) -> IndexedPlan {
        IndexedPlan {
            key: format!("key-{number}"),
            pointer: pointer(number),
            signature: "s".to_owned(),
            goal: "g".to_owned(),
            run: "r".to_owned(),
            policy: "p".to_owned(),
            capabilities: "c".to_owned(),
            bytes,
            used: Timestamp::from_second(i64::from(number)).unwrap(),
        }
    }

    fn add(folder: &PlanFolder, plan: &IndexedPlan) {
        folder
            .add(|folder| {
                folder.put(
                    &plan.pointer,
                    "x".repeat(usize::try_from(plan.bytes).unwrap()).as_bytes(),
                )?;
                Ok(plan.clone())
            })
            .unwrap();
    }

    fn with_bounds(plans: usize, bytes: u64) -> (tempfile::TempDir, PlanFolder) {
        let home = tempfile::tempdir().unwrap();
        let machine = home.path().join("home");
        let folder = machine.join("compiled-plans").join("p");
        let bounds = Bounds { plans, bytes };
        let folder = PlanFolder::new(Disk::real(), machine, folder, bounds);
        (home, folder)
    }

    fn numbers(folder: &PlanFolder) -> Vec<u32> {
        let all = folder.plans().unwrap();
        for plan in &all {
            assert!(folder.get(&plan.pointer).unwrap().is_some());
        }
        let files = folder.disk.list_dir(&folder.folder).unwrap();
        let is_plan = |name: &std::ffi::OsStr| name.len() == 64;
        let files = files.iter().filter(|entry| is_plan(&entry.name)).count();
        assert_eq!(files, all.len());
        let number = |plan: &IndexedPlan| u32::from_str_radix(&plan.pointer, 16).unwrap();
        let mut numbers: Vec<_> = all.iter().map(number).collect();
        numbers.sort_unstable();
        numbers
    }

    /// CCOS-DEL-1: the plan whose last use is the longest ago goes first, by number and by bytes, with its file.
    #[test]
    fn the_oldest_use_goes_first() {
        let (_home, folder) = with_bounds(3, 100);
        for number in 1..=3 {
            add(&folder, &plan(number, 10));
        }
        let later = Timestamp::from_second(100).unwrap();
        folder.touch(&pointer(1), later).unwrap();
        add(&folder, &plan(4, 10));
        assert_eq!(numbers(&folder), [1, 3, 4]);
        add(&folder, &plan(5, 85));
        assert_eq!(numbers(&folder), [1, 5]);
        folder.remove(&pointer(1)).unwrap();
        assert_eq!(numbers(&folder), [5]);
    }

    #[test]
    fn a_damaged_index_is_an_error_and_is_written_again() {
        let (_home, folder) = with_bounds(3, 100);
        assert!(folder.plans().unwrap().is_empty());
        add(&folder, &plan(1, 1));
        let index = folder.folder.join(INDEX);
        folder.disk.replace(&index, b"{half", MODE).unwrap();
        assert!(matches!(folder.plans(), Err(FolderError::Damaged(_))));
        add(&folder, &plan(2, 1));
        assert_eq!(numbers(&folder), [2]);
        folder
            .disk
            .replace(&index, b"{\"format\": 2, \"new\": 1}", MODE)
            .unwrap();
        assert!(matches!(folder.plans(), Err(FolderError::Newer(_))));
        let refused = folder.add(|_| Ok(plan(3, 1)));
        assert!(matches!(refused, Err(FolderError::Newer(_))));
    }

    #[test]
    fn a_pointer_that_is_no_content_hash_names_no_file() {
        let (_home, folder) = with_bounds(3, 100);
        for pointer in ["../lock", "index.json", ""] {
            assert!(folder.get(pointer).is_err(), "{pointer}");
            assert!(folder.put(pointer, b"x").is_err(), "{pointer}");
        }
    }

    /// CCOS-DEL-1: two processes with one folder lose no plan of one another.
    #[test]
    fn writers_at_the_same_time_lose_nothing() {
        let (_home, folder) = with_bounds(100, 10_000);
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let folder = &folder;
                scope.spawn(move || {
                    for number in 0..5 {
                        add(folder, &plan(writer * 5 + number + 1, 3));
                    }
                });
            }
        });
        assert_eq!(numbers(&folder), (1..=20).collect::<Vec<_>>());
    }
}
