//! [`PastSinceRollback`]: git's last commit, but for files that were rolled back since.
//!
//! Healing brings back what was committed and is missing. What a rollback took out is missing on
//! purpose, until another version is committed of the file.

use std::collections::BTreeMap;

use super::{
    record,
    versions::{Versions, checksum},
};
use crate::{
    heal::Past,
    merge::OpenMerge,
    transaction::{Session, SessionError},
};

/// A file that was rolled back.
struct Rolled {
    /// Its content since; `None` if it was removed.
    after: Option<Vec<u8>>,
    /// Checksum of what the last commit had when it was rolled back.
    head: Option<String>,
}

/// The project's history, in which files that were rolled back are as the rollback left them.
pub(crate) struct PastSinceRollback<'p> {
    past: &'p dyn Past,
    rolled: BTreeMap<String, Rolled>,
}

impl Session<'_> {
    /// Returns the history for healing. Costs one look at a file if nothing was rolled back.
    pub(crate) fn since_rollback<'p>(
        &self,
        past: &'p dyn Past,
    ) -> Result<PastSinceRollback<'p>, SessionError> {
        let own = self.zones.real(self.disk, &self.zones.own())?;
        let records = record::records(self.disk, &own)?;
        let mut rolled = BTreeMap::new();
        if !records.is_empty() {
            let versions = Versions::of(self.disk, self.zones)?;
            for record in records {
                for file in record.files {
                    let after = match &file.after {
                        Some(sum) => versions.content(sum)?,
                        None => None,
                    };
                    let is_known = after.is_some() == file.after.is_some();
                    if record.is_undo || !is_known {
                        rolled.remove(&file.file);
                    } else {
                        let head = file.head;
                        rolled.insert(file.file, Rolled { after, head });
                    }
                }
            }
        }
        Ok(PastSinceRollback { past, rolled })
    }
}

impl PastSinceRollback<'_> {
    /// Returns the rollback of a file, if the last commit still has what it had then.
    fn rolled(&self, name: &str, committed: Option<&[u8]>) -> Option<&Rolled> {
        let rolled = self.rolled.get(name)?;
        (committed.map(checksum) == rolled.head).then_some(rolled)
    }
}

impl Past for PastSinceRollback<'_> {
    fn file(&self, name: &str) -> Option<Vec<u8>> {
        let committed = self.past.file(name);
        match self.rolled(name, committed.as_deref()) {
            Some(rolled) => rolled.after.clone(),
            None => committed,
        }
    }

    fn files(&self, folder: &str) -> Vec<String> {
        let mut names = self.past.files(folder);
        names.retain(|name| !self.rolled.contains_key(name) || self.file(name).is_some());
        names
    }

    fn changed(&self, folder: &str) -> Vec<String> {
        self.past.changed(folder)
    }

    fn ever(&self, folder: &str) -> Option<Vec<String>> {
        self.past.ever(folder)
    }

    fn staged(&self, folder: &str) -> Vec<String> {
        self.past.staged(folder)
    }

    fn next(&self, name: &str) -> Option<Vec<u8>> {
        if self.rolled.contains_key(name) {
            return self.file(name);
        }
        self.past.next(name)
    }

    fn open_merges(&self) -> Option<Vec<OpenMerge>> {
        self.past.open_merges()
    }
}
