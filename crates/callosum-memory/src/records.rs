//! [`Memory::write_records`]: records of ours in the index, beside the sessions of clients.
//!
//! The caller reads a store, such as the ledger of a project, and says what changed in it; it also keeps a text of its own, the
//! stamp, by which it sees the next time whether anything did. Each record is a session. Deliberately not here: what a store
//! is, and how it is read.

use std::collections::HashSet;

use rusqlite::{OptionalExtension as _, Transaction, TransactionBehavior, params};

use super::{
    memory::{Memory, MemoryError, failed},
    origin::{Origin, RecordKind},
    store::Store,
    transcript,
    turn::Turn,
    update::{LeavesOut, MemoryScope, UpdateReport},
};

/// A record of ours, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its kind.
    pub kind: RecordKind,
    /// Its id, unique among the records of its kind in a store.
    pub id: String,
    /// Name of the part, unless it is the record itself. A part is added to a record that the index has.
    pub part: &'static str,
    /// The project's folder, if it is known.
    pub folder: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// Its turns, or those of the part.
    pub turns: Vec<Turn>,
}

/// Writes the records of a store.
pub struct RecordWriter<'m> {
    store: Store<'m>,
    name: &'m str,
    path: &'m std::path::Path,
    id: i64,
    leaves_out: LeavesOut<'m>,
}

impl RecordWriter<'_> {
    /// Writes a record, or a newer version of one. Nothing is written of one that is left out.
    ///
    /// # Errors
    /// The index cannot be written.
    pub fn put(&mut self, record: Record) -> Result<(), MemoryError> {
        let origin = Origin::Record(record.kind);
        let folder = record.folder.as_deref();
        if folder.is_some_and(|folder| self.leaves_out.folder(folder))
            || self.leaves_out.session(origin, &record.id)
        {
            return Ok(());
        }
        if !record.part.is_empty() {
            let is_known = self.store.has_record(origin, (&record.id, self.name));
            if !is_known.map_err(|source| failed(self.path, source))? {
                return Ok(());
            }
        }
        let Record {
            id,
            part,
            turns,
            title,
            ..
        } = &record;
        // Projects have records with equal ids.
        let number = format!("{}\0{id}\0{part}", self.name);
        let written = self
            .store
            .begin_session(origin, (id, self.name), folder, title.as_deref())
            .and_then(|()| {
                let record = transcript::Record {
                    id: number,
                    turns: turns.clone(),
                };
                self.store.put(self.id, origin, &record)
            });
        self.store.end_session();
        written.map_err(|source| failed(self.path, source))
    }

    /// Removes a record.
    ///
    /// # Errors
    /// The index cannot be written.
    pub fn remove(&mut self, kind: RecordKind, id: &str) -> Result<(), MemoryError> {
        self.store
            .forget_record(kind.into(), (id, self.name))
            .map_err(|source| failed(self.path, source))
    }

    /// Removes the records of the store whose ids are not among these.
    ///
    /// # Errors
    /// The index cannot be written.
    pub fn keep(&mut self, ids: &HashSet<String>) -> Result<(), MemoryError> {
        self.store
            .keep_sessions(self.id, ids)
            .map_err(|source| failed(self.path, source))
    }
}

impl Memory {
    /// Returns the stores of records that the index knows, each with the stamp that was noted last. An empty one says that
    /// all of the store is to be read.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn record_stores(&self) -> Result<Vec<(String, String)>, MemoryError> {
        self.read(|connection| {
            let sql = "SELECT path, stamp FROM file WHERE stamp IS NOT NULL ORDER BY path";
            let mut statement = connection.prepare(sql)?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect()
        })
    }

    /// Lets `work` write the records of a store, and notes the stamp that it returns. If it fails, nothing is written.
    ///
    /// # Errors
    /// `work` fails, or the index cannot be written.
    pub fn write_records<E: From<MemoryError>>(
        &mut self,
        scope: &MemoryScope,
        name: &str,
        work: impl FnOnce(&mut RecordWriter<'_>) -> Result<String, E>,
    ) -> Result<UpdateReport, E> {
        let fail = |source| E::from(failed(&self.path, source));
        let change = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
            .map_err(fail)?;
        let store = Store::new(&self.connection);
        let id = store.begin_store(name).map_err(fail)?;
        let mut writer = RecordWriter {
            store,
            name,
            path: &self.path,
            id,
            leaves_out: LeavesOut(scope),
        };
        let stamp = work(&mut writer)?;
        writer.store.end_store(id, &stamp).map_err(fail)?;
        let counts = writer.store.counts();
        change.commit().map_err(fail)?;
        if counts.added + counts.removed > 0 {
            self.complete_vectors()?;
        }
        Ok(UpdateReport {
            added: counts.added,
            removed: counts.removed,
            ..UpdateReport::default()
        })
    }

    /// Removes a store of records with all that is in the index of it. Returns the number of turns that went.
    ///
    /// # Errors
    /// The index cannot be written.
    pub fn forget_records(&mut self, name: &str) -> Result<u64, MemoryError> {
        let work = || {
            let change =
                Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
            let mut store = Store::new(&self.connection);
            let id = store.begin_store(name)?;
            store.forget_file(id)?;
            let removed = store.counts().removed;
            change.commit()?;
            Ok(removed)
        };
        work().map_err(|source| failed(&self.path, source))
    }
}

impl Store<'_> {
    /// Whether a record has turns.
    fn has_record(&self, origin: Origin, (name, store): (&str, &str)) -> rusqlite::Result<bool> {
        let sql = "SELECT EXISTS(SELECT 1 FROM session WHERE client = ?1 AND name = ?2 AND store = ?3 AND turns > 0)";
        let mut statement = self.connection.prepare_cached(sql)?;
        statement.query_row([origin.name(), name, store], |row| row.get(0))
    }

    /// Removes the turns of the session of a record.
    fn forget_record(
        &mut self,
        origin: Origin,
        (name, store): (&str, &str),
    ) -> rusqlite::Result<()> {
        let sql = "SELECT id FROM session WHERE client = ?1 AND name = ?2 AND store = ?3";
        let id = self
            .connection
            .query_row(sql, [origin.name(), name, store], |row| row.get(0));
        match id.optional()? {
            Some(id) => self.forget_turns_of_session(id),
            None => Ok(()),
        }
    }

    /// Returns the id of a store of records. Makes it if it is new.
    fn begin_store(&self, name: &str) -> rusqlite::Result<i64> {
        let sql = "INSERT INTO file(client, path, read, len, modified, tail, excluded, stamp) VALUES('', ?1, 0, 0, 0, 0, 0, '')
             ON CONFLICT(path) DO UPDATE SET path = path RETURNING id";
        self.connection.query_row(sql, [name], |row| row.get(0))
    }

    /// Notes up to where a store was read.
    fn end_store(&self, id: i64, stamp: &str) -> rusqlite::Result<()> {
        let sql = "UPDATE file SET stamp = ?2 WHERE id = ?1";
        self.connection.execute(sql, params![id, stamp])?;
        Ok(())
    }
}
