//! [`Registry`]: the file `registry.json`, read tolerantly and rewritten with care.
//!
//! The file is kept as it was read: entries are edited in place, so that the order of keys and the
//! data of other programs survive. An invalid entry is reported and left alone; a file that is no
//! JSON is an error, and is never overwritten.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use callosum_host::{Disk, DiskError, disk::OpenHow};
use callosum_json::canonical::CanonicalError;
use serde_json::{Map, Value, json};

use super::entry::{EntryFault, read_entry, write_entry};
use super::executor::Executor;
use crate::json::read_value;

/// Largest registry that is read, in bytes: some thousands of executors.
pub const LARGEST_REGISTRY: usize = 4 * 1024 * 1024;

/// All executors that a project knows.
#[derive(Clone, Debug, PartialEq)]
pub struct Registry {
    document: Map<String, Value>,
    executors: Vec<Executor>,
    problems: Vec<Problem>,
}

/// An entry that cannot be used, and why. It stays in the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("entry {} of the registry{}: {fault}", index + 1, named(id.as_deref()))]
pub struct Problem {
    /// Index of the entry, from 0.
    pub index: usize,
    /// Its id, if it has one that is fit to be shown.
    pub id: Option<String>,
    /// The problem.
    pub fault: EntryFault,
}

fn named(id: Option<&str>) -> String {
    id.map(|id| format!(" (`{id}`)")).unwrap_or_default()
}

/// Reason why a registry could not be read.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The disk failed.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The file is larger than [`LARGEST_REGISTRY`].
    #[error("the registry `{}` is larger than {LARGEST_REGISTRY} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// The file is not JSON, has a duplicate key, or holds an impossible number.
    #[error("the registry `{}` is not valid JSON: {fault}", path.display())]
    NotJson {
        /// The file.
        path: PathBuf,
        /// The fault, with its place.
        fault: CanonicalError,
    },
    /// The file is JSON, but not a registry.
    #[error("`{}` is not a registry: it must be an object with an array `executors`", path.display())]
    NotARegistry {
        /// The file.
        path: PathBuf,
    },
}

/// Reason why a registry could not be written; the file is unchanged.
#[derive(Debug, thiserror::Error)]
#[error("cannot save the registry")]
pub struct SaveError {
    /// The disk's reason.
    #[from]
    pub source: DiskError,
}

impl Registry {
    /// Creates a registry with the embedded executor and no other.
    pub fn initial() -> Self {
        let mut registry = Self {
            document: Map::from_iter([("executors".to_owned(), json!([]))]),
            executors: Vec::new(),
            problems: Vec::new(),
        };
        registry.put(&Executor::embedded());
        registry
    }

    /// Reads a registry; `None` if there is no file. Of a file that is too large, it reads only
    /// enough to detect that.
    pub fn load(disk: &Disk, path: &Path) -> Result<Option<Self>, LoadError> {
        let Some(file) = disk.open_if_there(path, OpenHow::READ)? else {
            return Ok(None);
        };
        let bytes = file.read_range(0, LARGEST_REGISTRY + 1)?;
        if bytes.len() > LARGEST_REGISTRY {
            return Err(LoadError::TooLarge {
                path: path.to_owned(),
            });
        }
        let document = read_value(&bytes).map_err(|fault| LoadError::NotJson {
            path: path.to_owned(),
            fault,
        })?;
        Self::from_document(document)
            .map(Some)
            .ok_or_else(|| LoadError::NotARegistry {
                path: path.to_owned(),
            })
    }

    fn from_document(document: Value) -> Option<Self> {
        let Value::Object(document) = document else {
            return None;
        };
        document.get("executors")?.as_array()?;
        let mut registry = Self {
            document,
            executors: Vec::new(),
            problems: Vec::new(),
        };
        registry.read_entries();
        Some(registry)
    }

    /// Writes the registry, replacing the file as a whole.
    ///
    /// Two writers at once: the later one wins. Hold the project's lock if that matters.
    pub fn save(&self, disk: &Disk, path: &Path) -> Result<(), SaveError> {
        Ok(disk.replace(path, &self.to_bytes(), 0o644)?)
    }

    /// The file's bytes: JSON, indented by two blanks, with a line end.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes =
            serde_json::to_vec_pretty(&self.document).expect("a JSON value can be written");
        bytes.push(b'\n');
        bytes
    }

    /// The executors that make sense, in the order of the file.
    pub fn executors(&self) -> &[Executor] {
        &self.executors
    }

    /// The entries that make none.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The executor of this name.
    pub fn get(&self, id: &str) -> Option<&Executor> {
        self.executors.iter().find(|executor| executor.id == id)
    }

    /// Adds an executor, or replaces the one of the same id in its place: the entry that is in use,
    /// or the first of its name if none is valid.
    ///
    /// If its command is new, other entries of the name are removed, since the name now belongs to
    /// it. A new status of the same executor leaves them alone.
    pub fn put(&mut self, executor: &Executor) {
        let known = self.get(&executor.id).map(Executor::fingerprint);
        let settles = known != Some(executor.fingerprint());
        let entries = self.entries_mut();
        let named = |entry: &Value| id_of(entry) == Some(&executor.id);
        let place = entries
            .iter()
            .position(|entry| named(entry) && read_entry(entry).is_ok())
            .or_else(|| entries.iter().position(named));
        if let Some(place) = place {
            write_entry(executor, &mut entries[place]);
            let mut places = 0..;
            entries.retain(|entry| places.next() == Some(place) || !(settles && named(entry)));
        } else {
            let mut entry = json!({});
            write_entry(executor, &mut entry);
            entries.push(entry);
        }
        self.read_entries();
    }

    /// Removes an executor, with every entry of its name. Returns whether there was one.
    pub fn remove(&mut self, id: &str) -> bool {
        let entries = self.entries_mut();
        let before = entries.len();
        entries.retain(|entry| id_of(entry) != Some(id));
        let removed = entries.len() < before;
        self.read_entries();
        removed
    }

    /// Updates the data that are derived from the document.
    fn read_entries(&mut self) {
        self.executors.clear();
        self.problems.clear();
        // A set, since a file of 50,000 entries took seconds when each was compared with all before it.
        let mut known = HashSet::new();
        let entries = self.document.get("executors").and_then(Value::as_array);
        for (index, entry) in entries.into_iter().flatten().enumerate() {
            let read = read_entry(entry).and_then(|executor| {
                if known.insert(executor.id.clone()) {
                    Ok(executor)
                } else {
                    Err(EntryFault::Duplicate)
                }
            });
            match read {
                Ok(executor) => self.executors.push(executor),
                Err(fault) => self.problems.push(Problem {
                    index,
                    id: id_of(entry)
                        .filter(|id| Executor::check_id(id).is_ok())
                        .map(str::to_owned),
                    fault,
                }),
            }
        }
    }

    fn entries_mut(&mut self) -> &mut Vec<Value> {
        self.document
            .get_mut("executors")
            .and_then(Value::as_array_mut)
            .expect("a registry is only made with an array of executors")
    }
}

fn id_of(entry: &Value) -> Option<&str> {
    entry.get("id").and_then(Value::as_str)
}
