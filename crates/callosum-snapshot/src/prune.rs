//! Letting snapshots go: what is too old, and the oldest of what is too much.

use std::time::Duration;

use callosum_host::DiskError;

use super::{
    metadata::Snapshot,
    retention::Retention,
    store::{PATIENCE, SnapshotError, Store},
};

/// Snapshots that were removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// The ids of the snapshots.
    pub removed: Vec<String>,
    /// Bytes that all of the tree's snapshots take now.
    pub bytes: u64,
}

impl Store {
    /// Does what [`clean`](Self::clean) does, if anything is to go; otherwise only looks at sizes
    /// and times, so that it can follow each snapshot. Waits for no other process.
    pub fn keep_within(&self, retention: &Retention) -> Result<Cleaned, SnapshotError> {
        let disk = &self.surroundings.disk;
        if !disk.exists(&self.repository.bare())? {
            return Ok(Cleaned::default());
        }
        let all = self.list()?;
        let bytes = self.bytes()?;
        let is_old = !retention
            .too_old(&all, self.surroundings.clock.now())
            .is_empty();
        if is_old || retention.next_to_go(&all, bytes).is_some() {
            return self.clean_after(retention, Duration::ZERO);
        }
        Ok(Cleaned {
            removed: Vec::new(),
            bytes,
        })
    }

    /// Lets go what is too old, and the oldest of what is too much. Pinned ones stay.
    pub fn clean(&self, retention: &Retention) -> Result<Cleaned, SnapshotError> {
        self.clean_after(retention, PATIENCE)
    }

    /// Removes the links of snapshots to errors that are resolved, so that they are kept no longer than others.
    ///
    /// `is_resolved` gets a snapshot and the signature of an error. Returns how many links were removed. Locks nothing
    /// and writes nothing if there are none.
    pub fn unlink_errors(
        &self,
        mut is_resolved: impl FnMut(&Snapshot, &str) -> bool,
    ) -> Result<usize, SnapshotError> {
        let mut changed = Vec::new();
        let mut removed = 0;
        for snapshot in self.list()? {
            let mut left = snapshot.clone();
            left.linked_errors
                .retain(|error| !is_resolved(&snapshot, error));
            let count = snapshot.linked_errors.len() - left.linked_errors.len();
            if count > 0 {
                removed += count;
                changed.push(left);
            }
        }
        if changed.is_empty() {
            return Ok(0);
        }
        let _locks = self.lock(PATIENCE)?;
        let disk = &self.surroundings.disk;
        for snapshot in changed {
            // A snapshot that was removed since then stays removed.
            if disk.exists(&self.note(&snapshot.snapshot_id))? {
                self.write_note(&snapshot)?;
            }
        }
        Ok(removed)
    }

    fn clean_after(
        &self,
        retention: &Retention,
        patience: Duration,
    ) -> Result<Cleaned, SnapshotError> {
        let disk = &self.surroundings.disk;
        if !disk.exists(&self.repository.bare())? {
            return Ok(Cleaned::default());
        }
        let _locks = self.lock(patience)?;
        // Unfinished files of killed processes: a process that writes holds the lock.
        disk.sweep_new_files(&self.notes(), |_| true)?;
        let mut all = self.list()?;
        let mut cleaned = Cleaned::default();
        let old = retention.too_old(&all, self.surroundings.clock.now());
        for id in &old {
            self.forget(id)?;
        }
        all.retain(|snapshot| !old.contains(&snapshot.snapshot_id));
        cleaned.removed.extend(old);
        self.prune()?;
        loop {
            cleaned.bytes = self.bytes()?;
            let Some(next) = retention.next_to_go(&all, cleaned.bytes) else {
                return Ok(cleaned);
            };
            let id = next.snapshot_id.clone();
            self.forget(&id)?;
            all.retain(|snapshot| snapshot.snapshot_id != id);
            cleaned.removed.push(id);
            if all.iter().all(Snapshot::is_pinned) {
                // The index borrows from what is left of them, and can be rebuilt from scratch.
                disk.remove_file(&self.repository.index())?;
            }
            self.prune()?;
        }
    }

    fn prune(&self) -> Result<(), SnapshotError> {
        let git = self.repository.of_bare(&self.surroundings);
        git.run(&["prune", "--expire=now"])?;
        Ok(())
    }

    fn forget(&self, id: &str) -> Result<(), DiskError> {
        let disk = &self.surroundings.disk;
        disk.remove_file(&self.reference(id))?;
        disk.remove_file(&self.note(id))?;
        Ok(())
    }

    /// Bytes of our objects, and of what is known of the snapshots.
    fn bytes(&self) -> Result<u64, DiskError> {
        let disk = &self.surroundings.disk;
        let mut bytes = 0;
        let notes = self.notes();
        for note in disk.list_dir(&notes)? {
            let found = disk.stat(&notes.join(note.name))?;
            bytes += found.map_or(0, |found| found.len);
        }
        let objects = self.repository.objects();
        for folder in disk.list_dir(&objects)? {
            let folder_path = objects.join(&folder.name);
            for entry in disk.list_dir(&folder_path)? {
                let found = disk.stat(&folder_path.join(entry.name))?;
                bytes += found.map_or(0, |found| found.len);
            }
        }
        Ok(bytes)
    }
}
