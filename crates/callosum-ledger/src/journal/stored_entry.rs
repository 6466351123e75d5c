//! [`StoredEntry`]: an entry of the ledger as the journal carries it, owned or borrowed.

use serde::Deserialize;

use callosum_json::Checksum;

use crate::{entry::Entry, task_id::TaskId};

/// An entry as a commit's record carries it.
pub(crate) struct StoredEntry {
    pub(crate) json: String,
    pub(crate) checksum: Checksum,
}

/// A stored entry, borrowed from the record that is being read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntryRef<'a> {
    pub(crate) json: &'a str,
    pub(crate) checksum: Checksum,
}

impl EntryRef<'_> {
    /// Returns the task of the entry, if it has one.
    pub(crate) fn task_id(&self) -> Option<TaskId> {
        #[derive(Deserialize)]
        struct Named {
            task_id: TaskId,
        }
        let named: Named = serde_json::from_str(self.json).ok()?;
        Some(named.task_id)
    }
}

impl StoredEntry {
    /// Copies an entry that is in canonical form.
    pub(crate) fn from_entry(entry: &Entry) -> Self {
        Self {
            json: entry.as_json().to_owned(),
            checksum: entry.checksum,
        }
    }

    /// Returns a view of the entry that copies nothing.
    pub(crate) fn borrowed(&self) -> EntryRef<'_> {
        EntryRef {
            json: &self.json,
            checksum: self.checksum,
        }
    }

    /// Returns the task of the entry, if it has one.
    pub(crate) fn task_id(&self) -> Option<TaskId> {
        self.borrowed().task_id()
    }
}
