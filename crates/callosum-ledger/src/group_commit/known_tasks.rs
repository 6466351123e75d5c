//! [`KnownTasks`]: tasks that have an entry and ids that are taken, as far as this process knows.

use std::{collections::HashSet, sync::Arc};

use callosum_host::{Disk, Ids};
use jiff::{Timestamp, civil::Date};

use super::request::Request;
use crate::{
    entry::Entry,
    event::{AuditEvent, Event, Spawn},
    journal::{Archived, Batch, StoredEntry, day_of},
    paths::LedgerPaths,
    reader::{ReadError, stored_among},
    reconcile::News,
    task_id::TaskId,
    write_error::WriteError,
};

/// A process's memory of tasks between two groups.
#[derive(Default)]
pub(super) struct KnownTasks {
    /// Ids that this process reserved and that have no entry yet.
    reserved: HashSet<TaskId>,
    /// Ids that have an entry, as far as this process saw them stored or looked them up.
    seen: HashSet<TaskId>,
    /// Day whose highest id was last looked up in the ledgers.
    asked_of: Option<Date>,
}

impl KnownTasks {
    /// Reserves an id.
    ///
    /// The journal has the last one, and a watermark repeats it: before the first of a day, the
    /// ledgers are searched as well.
    pub(super) fn reserve(
        &mut self,
        batch: &mut Batch,
        ids: &Ids,
        spawn: &Spawn,
        at: Timestamp,
        highest_of: impl Fn(Date) -> u16,
    ) -> TaskId {
        let day = batch.day_of_ids(day_of(at));
        if self.asked_of != Some(day) {
            let highest = highest_of(day);
            if let Some(id) = TaskId::dated(day, highest).filter(|_| highest > 0) {
                batch.note_id(&id);
            }
            self.asked_of = Some(day);
        }
        let id = batch.next_id(day_of(at)).unwrap_or_else(|| {
            let uuid = ids.uuid_v4().parse();
            uuid.expect("a UUID of version 4 is a task id")
        });
        let event = AuditEvent {
            event: Event::Spawn,
            task_id: Some(id.clone()),
            executor: Some(spawn.executor.clone()),
            hash: None,
            status: Some("spawned".to_owned()),
            details: spawn.details.clone(),
        };
        batch.push(&event, at, None);
        self.reserved.insert(id.clone());
        id
    }

    /// Looks up which of the linked tasks, and of the tasks whose ids came from elsewhere, have an
    /// entry that this process did not see yet.
    pub(super) fn look_up(
        &mut self,
        disk: &Disk,
        paths: &LedgerPaths,
        archives: &[Archived],
        requests: &[Request],
    ) -> Result<(), Arc<ReadError>> {
        let mut unseen = HashSet::new();
        for entry in requests.iter().filter_map(Request::entry) {
            if !self.reserved.contains(&entry.task_id) {
                unseen.insert(entry.task_id.clone());
            }
            unseen.extend(entry.linked_tasks.iter().cloned());
        }
        unseen.retain(|id| !self.seen.contains(id));
        if !unseen.is_empty() {
            let stored = stored_among(disk, paths, archives, unseen.into_iter().collect());
            self.seen.extend(stored.map_err(Arc::new)?);
        }
        Ok(())
    }

    /// Checks what only the ledger knows: that links have entries and the task has none.
    pub(super) fn check(
        &self,
        entry: &Entry,
        not_read: Option<&Arc<ReadError>>,
    ) -> Result<(), WriteError> {
        if self.seen.contains(&entry.task_id) {
            return Err(WriteError::Taken {
                task_id: entry.task_id.clone(),
            });
        }
        let unknown: Vec<_> = entry
            .linked_tasks
            .iter()
            .filter(|id| !self.seen.contains(*id))
            .cloned()
            .collect();
        let is_settled = unknown.is_empty() && self.reserved.contains(&entry.task_id);
        match not_read {
            Some(error) if !is_settled => Err(WriteError::Read(Arc::clone(error))),
            _ if unknown.is_empty() => Ok(()),
            _ => Err(WriteError::UnknownLinks { ids: unknown }),
        }
    }

    /// Remembers entries that other processes stored. Returns whether earlier lookups no longer
    /// count.
    pub(super) fn take_news(&mut self, news: &News) -> bool {
        match news {
            News::Since(entries) => {
                let ids = entries.iter().filter_map(StoredEntry::task_id);
                self.seen.extend(ids);
                false
            }
            News::All => {
                self.seen.clear();
                // Their entries may be among those that were not looked at.
                self.reserved.clear();
                true
            }
        }
    }

    /// Whether this process gave out the id, and it has no entry yet.
    pub(super) fn is_reserved(&self, id: &TaskId) -> bool {
        self.reserved.contains(id)
    }

    /// An entry of the task is in the group that is being written.
    pub(super) fn note_stored(&mut self, id: &TaskId) {
        self.seen.insert(id.clone());
    }

    /// That entry is on disk.
    pub(super) fn note_written(&mut self, id: &TaskId) {
        self.reserved.remove(id);
    }

    /// That entry was not written after all.
    pub(super) fn forget(&mut self, id: &TaskId) {
        self.seen.remove(id);
    }
}
