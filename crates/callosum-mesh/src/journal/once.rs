//! Events that are handed in under an id of their author's: the same one twice is one event.

use std::{fmt::Write as _, path::PathBuf};

use callosum_host::DiskError;
use sha2::{Digest as _, Sha256};

use super::{Cursor, Journal, JournalError, Turn, files::MODE};
use crate::{
    agent::AgentName,
    event::{Draft, Event},
};

/// The folder with a file for each id.
const KEYS: &str = "keys";

/// So many ids are remembered, the latest; it is looked at after every so many of them.
const MOST: usize = 4096;

/// The pause between two looks, in events.
const LOOK_AFTER: u64 = 256;

impl Turn<'_> {
    /// Appends an event, unless its author handed one in under the same id before: that is given back
    /// then. Whether it is new.
    ///
    /// Holds for an author's latest 4,096 ids, and as long as the log has the event. The place of the event is
    /// written down before the event is, so that no end of this process makes two of one.
    pub fn append_once(&mut self, draft: Draft) -> Result<(Event, bool), JournalError> {
        if let Some(id) = draft.id.clone() {
            if let Some(known) = self.journal().known(&draft.source, &id)? {
                return Ok((known, false));
            }
            let next = self.cursor().seq + 1;
            let journal = self.journal();
            let path = journal.key(&draft.source, &id);
            let folder = journal.folder.join(KEYS);
            journal.disk.create_private_dir(&folder)?;
            let place = next.to_string();
            journal
                .disk
                .replace_unsynced(&path, place.as_bytes(), MODE)?;
            if next.is_multiple_of(LOOK_AFTER) {
                journal.forget_keys()?;
            }
        }
        let mut events = self.append(vec![draft])?;
        Ok((events.remove(0), true))
    }
}

impl Journal {
    /// The event that its author handed in under this id, where it did and the log still has it.
    pub fn known(&self, source: &AgentName, id: &str) -> Result<Option<Event>, JournalError> {
        let bytes = self.disk.read_if_there(&self.key(source, id))?;
        let place = bytes.and_then(|bytes| String::from_utf8(bytes).ok()?.parse::<u64>().ok());
        let Some(place) = place.filter(|place| *place > 0) else {
            return Ok(None);
        };
        let mut reader = self.read_after(&Cursor {
            origin: Some(self.origin.clone()),
            seq: place - 1,
        });
        let batch = reader.next_batch(1)?;
        // Another event stands there where a process ended between the two.
        let found = batch.events.into_iter().next();
        Ok(found.filter(|event| event.seq == place && event.source == *source && event.id == id))
    }

    fn key(&self, source: &AgentName, id: &str) -> PathBuf {
        let hash = Sha256::digest(format!("{source}\n{id}"));
        let mut name = String::new();
        for byte in &hash[..16] {
            let _ = write!(name, "{byte:02x}");
        }
        self.folder.join(KEYS).join(name)
    }

    /// Forgets the ids that were written down first, past the limit.
    fn forget_keys(&self) -> Result<(), DiskError> {
        let folder = self.folder.join(KEYS);
        let mut keys = Vec::new();
        for entry in self.disk.list_dir(&folder)? {
            let path = folder.join(&entry.name);
            let modified = self.disk.stat(&path)?.map(|stat| stat.modified);
            keys.push((modified, path));
        }
        keys.sort();
        let surplus = keys.len().saturating_sub(MOST);
        for (_, path) in &keys[..surplus] {
            self.disk.remove_file(path)?;
        }
        Ok(())
    }
}
