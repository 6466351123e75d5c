//! [`PlanStore`]: bytes by key; and [`MemoryStore`], one in memory.

use std::{collections::BTreeMap, sync::Mutex};

use thiserror::Error;

use crate::delegation::locked;

/// A store that failed, in its own words.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("the store of compiled plans failed: {0}")]
pub struct StoreError(pub String);

/// Bytes by key. Processes may share one: the same key always has the same bytes.
pub trait PlanStore {
    /// Returns the bytes of a key, or nothing if it has none.
    fn get(&self, pointer: &str) -> Result<Option<Vec<u8>>, StoreError>;

    /// Writes the bytes of a key, all or none.
    fn put(&self, pointer: &str, bytes: &[u8]) -> Result<(), StoreError>;
}

/// A store in memory.
#[derive(Debug, Default)]
pub struct MemoryStore(Mutex<BTreeMap<String, Vec<u8>>>);

impl MemoryStore {
    /// Removes a key, and returns whether there was one.
    pub fn remove(&self, pointer: &str) -> bool {
        locked(&self.0).remove(pointer).is_some()
    }
}

impl PlanStore for MemoryStore {
    fn get(&self, pointer: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(locked(&self.0).get(pointer).cloned())
    }

    fn put(&self, pointer: &str, bytes: &[u8]) -> Result<(), StoreError> {
        locked(&self.0).insert(pointer.to_owned(), bytes.to_vec());
        Ok(())
    }
}

impl<S: PlanStore + ?Sized> PlanStore for &S {
    fn get(&self, pointer: &str) -> Result<Option<Vec<u8>>, StoreError> {
        (**self).get(pointer)
    }

    fn put(&self, pointer: &str, bytes: &[u8]) -> Result<(), StoreError> {
        (**self).put(pointer, bytes)
    }
}
