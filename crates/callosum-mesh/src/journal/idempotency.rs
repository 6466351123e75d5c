//! Idempotency keys: an event that its author submits twice under the same id is one event.
//!
//! Start with [`LogWriter::append_lists`]. [`Key`] is the record of an id: the place of its event,
//! and a hash of its contents. The hash distinguishes a repeated event from another one under the
//! same id.

use std::{collections::HashMap, fmt::Write as _};

use callosum_host::DiskError;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::{Cursor, Journal, JournalError, LogWriter, files::MODE};
use crate::event::{Draft, Event, masked};

/// The folder with a file for each id.
const KEYS: &str = "keys";

/// So many ids are remembered, the latest.
const MOST: usize = 4096;

/// With each id whose name begins so, one in 256, it is looked at how many there are.
const LOOK_AT: &str = "00";

/// Idempotency key of an event, with a hash of its contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// A hash of both, which is the name of its file.
    name: String,
    /// Hash of the event's topic and payload, with secrets masked.
    body: String,
}

impl Key {
    /// Returns the key of a submitted event. `None` if its author names no id.
    pub(crate) fn of(draft: &Draft) -> Option<Self> {
        let id = draft.id.as_ref()?;
        let mut body = draft.topic.to_string();
        write_sorted(&Value::Object(masked(draft.payload.clone())), &mut body);
        Some(Self {
            name: hash(&format!("{}\n{id}", draft.source)),
            body: hash(&body),
        })
    }

    /// Returns the unique name of the id, which does not depend on the contents.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

/// Submitted event, as it is in the log.
#[derive(Clone, Debug, PartialEq)]
pub struct Once {
    /// The event.
    pub event: Event,
    /// Whether it was appended by this; else it stood there already, under the same id by the same author.
    pub is_new: bool,
}

/// Place of an event of a list.
enum Lookup {
    Known(Box<Event>),
    /// Its index among the events to append, and whether it is the first with this id.
    At(usize, bool),
}

impl LogWriter<'_> {
    /// Appends lists of events in one write, each list all or none. Events that their authors
    /// submitted under the same id before are not appended again, but returned as they are in the
    /// log.
    ///
    /// A list is rejected by itself if another event has the id of one of its events. Holds for the
    /// latest 4,096 ids, and as long as the log has the event. The place of an event is written
    /// before the event is, so that a crash of this process never duplicates one.
    pub fn append_lists(
        &mut self,
        lists: Vec<Vec<Draft>>,
    ) -> Result<Vec<Result<Vec<Once>, JournalError>>, JournalError> {
        let mut planned: Vec<(Draft, Option<Key>)> = Vec::new();
        let mut places = HashMap::new();
        let mut found = Vec::with_capacity(lists.len());
        for list in lists {
            let before = planned.len();
            let list = self.find(list, &mut planned, &mut places);
            if list.is_err() {
                planned.truncate(before);
                places.retain(|_, at| *at < before);
            }
            found.push(list);
        }
        let events = self.append_keyed(planned)?;
        let once = |found: Lookup| match found {
            Lookup::Known(event) => Once {
                event: *event,
                is_new: false,
            },
            Lookup::At(at, is_new) => Once {
                event: events[at].clone(),
                is_new,
            },
        };
        let lists = found.into_iter();
        let lists = lists.map(|list| Ok(list?.into_iter().map(once).collect()));
        Ok(lists.collect())
    }

    fn find(
        &mut self,
        list: Vec<Draft>,
        planned: &mut Vec<(Draft, Option<Key>)>,
        places: &mut HashMap<String, usize>,
    ) -> Result<Vec<Lookup>, JournalError> {
        let mut found = Vec::with_capacity(list.len());
        for draft in list {
            let key = Key::of(&draft);
            let Some(known) = &key else {
                found.push(Lookup::At(planned.len(), true));
                planned.push((draft, key));
                continue;
            };
            if let Some(at) = places.get(&known.name) {
                if planned[*at].1.as_ref() != Some(known) {
                    return Err(reused(&draft, None));
                }
                found.push(Lookup::At(*at, false));
            } else if let Some(event) = self.handed_in(&draft)? {
                found.push(Lookup::Known(Box::new(event)));
            } else {
                places.insert(known.name.clone(), planned.len());
                found.push(Lookup::At(planned.len(), true));
                planned.push((draft, key));
            }
        }
        Ok(found)
    }

    /// Returns the event that is in the log under the id that its author names, if there is one.
    /// The requested durability applies to that one: it is synced with this turn.
    pub(crate) fn handed_in(&mut self, draft: &Draft) -> Result<Option<Event>, JournalError> {
        let known = self.journal().handed_in(draft)?;
        if known.is_some() {
            self.count_as_used();
        }
        Ok(known)
    }

    /// Appends these events, and writes down before where those will stand that have a key.
    pub(crate) fn append_keyed(
        &mut self,
        planned: Vec<(Draft, Option<Key>)>,
    ) -> Result<Vec<Event>, JournalError> {
        let next = self.cursor().seq + 1;
        let journal = self.journal();
        for ((_, key), place) in planned.iter().zip(next..) {
            let Some(key) = key else { continue };
            let folder = journal.folder.join(KEYS);
            journal.disk.create_private_dir(&folder)?;
            let text = format!("{place} {}", key.body);
            let path = folder.join(&key.name);
            journal
                .disk
                .replace_unsynced(&path, text.as_bytes(), MODE)?;
            if key.name.starts_with(LOOK_AT) {
                journal.forget_keys()?;
            }
        }
        self.append(planned.into_iter().map(|(draft, _)| draft).collect())
    }
}

impl Journal {
    /// Returns the event that its author submitted under the id of this one, if the log still has
    /// it.
    ///
    /// Fails if that one has other contents. Time and session are not compared: an author may
    /// submit an event again later, and from another session.
    pub fn handed_in(&self, draft: &Draft) -> Result<Option<Event>, JournalError> {
        let (Some(id), Some(key)) = (&draft.id, Key::of(draft)) else {
            return Ok(None);
        };
        let path = self.folder.join(KEYS).join(&key.name);
        let bytes = self.disk.read_if_there(&path)?.unwrap_or_default();
        let text = String::from_utf8(bytes).unwrap_or_default();
        let mut words = text.split_whitespace();
        let place = words.next().and_then(|place| place.parse::<u64>().ok());
        let Some(place) = place.filter(|place| *place > 0) else {
            return Ok(None);
        };
        let mut reader = self.read_after(&Cursor {
            origin: Some(self.origin.clone()),
            seq: place - 1,
        });
        let batch = reader.next_batch(1)?;
        // Another event is there if a process ended between the two writes.
        let found = batch.events.into_iter().next();
        let found = found
            .filter(|event| event.seq == place && event.source == draft.source && event.id == *id);
        match (found, words.next()) {
            // Where no hash of what it says was kept, any is the same.
            (Some(_), Some(body)) if body != key.body => Err(reused(draft, Some(place))),
            (found, _) => Ok(found),
        }
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

/// Returns the error that another event has this id, with its place.
pub(crate) fn reused(draft: &Draft, seq: Option<u64>) -> JournalError {
    JournalError::Reused {
        agent: draft.source.clone(),
        id: draft.id.clone().unwrap_or_default(),
        seq,
    }
}

/// A short name for a text.
fn hash(text: &str) -> String {
    let hash = Sha256::digest(text);
    hash[..16].iter().fold(String::new(), |mut name, byte| {
        let _ = write!(name, "{byte:02x}");
        name
    })
}

/// Writes a value in a form that does not depend on the order of keys.
fn write_sorted(value: &Value, to: &mut String) {
    match value {
        Value::Object(members) => {
            let mut keys: Vec<&String> = members.keys().collect();
            keys.sort();
            to.push('{');
            for key in keys {
                let _ = write!(to, "{}:", Value::from(key.as_str()));
                write_sorted(&members[key], to);
                to.push(',');
            }
            to.push('}');
        }
        Value::Array(items) => {
            to.push('[');
            for item in items {
                write_sorted(item, to);
                to.push(',');
            }
            to.push(']');
        }
        plain => {
            let _ = write!(to, "{plain}");
        }
    }
}
