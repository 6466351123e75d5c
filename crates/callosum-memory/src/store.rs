//! [`Store`]: writes the turns of files into the index, within a transaction that the caller commits.

use std::{collections::HashSet, iter::repeat};

use callosum_redact::secrets;
use callosum_search::push_words;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, params};
use sha2::{Digest as _, Sha256};

use super::{
    origin::Origin,
    session_files::SessionFile,
    transcript::{Change, Changes, Facts, Record},
    turn::Turn,
    turn_id::{LAST, range, session_of, turn_id},
    update::LeavesOut,
    vectors,
};

/// Numbers of turns that were written and removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub added: u64,
    pub removed: u64,
}

/// A session, as the index knows it.
#[derive(Clone, Debug)]
pub(crate) struct StoredSession {
    pub id: i64,
    pub folder: Option<String>,
}

/// Writes turns.
pub(crate) struct Store<'c> {
    pub(crate) connection: &'c Connection,
    counts: Counts,
    /// The session of the file that is being read.
    session: Option<i64>,
    /// Whether the sessions of that file are left out.
    is_excluded: bool,
    words: String,
    /// The last title as it was given, and without secrets.
    title: (Option<String>, Option<String>),
}

impl<'c> Store<'c> {
    pub(crate) fn new(connection: &'c Connection) -> Self {
        Self {
            connection,
            counts: Counts::default(),
            session: None,
            is_excluded: false,
            words: String::new(),
            title: (None, None),
        }
    }

    /// Returns the numbers of turns so far.
    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }

    /// Returns all sessions.
    pub(crate) fn sessions(&self) -> rusqlite::Result<Vec<StoredSession>> {
        let mut statement = self.connection.prepare("SELECT id, folder FROM session")?;
        let rows = statement.query_map([], |row| {
            Ok(StoredSession {
                id: row.get(0)?,
                folder: row.get(1)?,
            })
        })?;
        rows.collect()
    }

    /// Whether the index still knows a file as it was when its reading was planned: by this id, and read up to this place;
    /// `None` for a file that it does not know.
    pub(crate) fn is_as_planned(
        &self,
        file: &SessionFile,
        planned: Option<(i64, Option<u64>)>,
    ) -> rusqlite::Result<bool> {
        let sql = "SELECT id, read FROM file WHERE path = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let found = statement.query_row([file.path.to_string_lossy()], |row| {
            let (id, read): (i64, i64) = (row.get(0)?, row.get(1)?);
            Ok((id, read.unsigned_abs()))
        });
        Ok(match (found.optional()?, planned) {
            (None, None) => true,
            (Some((id, read)), Some((planned, up_to))) => {
                id == planned && up_to.is_none_or(|up_to| up_to == read)
            }
            _ => false,
        })
    }

    /// Begins to write the turns of a file: one that is known, or a new one. Returns its id.
    pub(crate) fn begin_file(
        &mut self,
        file: &SessionFile,
        known: Option<i64>,
    ) -> rusqlite::Result<i64> {
        if let Some(id) = known {
            let sql = "SELECT session, excluded FROM file WHERE id = ?1";
            let mut statement = self.connection.prepare_cached(sql)?;
            let (session, excluded): (Option<i64>, i64) =
                statement.query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
            self.session = session;
            self.is_excluded = excluded != 0;
            return Ok(id);
        }
        self.session = None;
        self.is_excluded = false;
        let sql = "INSERT OR REPLACE INTO file(client, path, device, inode, read, len, modified, tail, excluded)
             VALUES(?1, ?2, ?3, ?4, 0, 0, 0, 0, 0)";
        let id = file
            .id
            .map(|(device, inode)| (device.cast_signed(), inode.cast_signed()));
        self.connection.prepare_cached(sql)?.execute(params![
            file.client.name(),
            file.path.to_string_lossy(),
            id.map(|id| id.0),
            id.map(|id| id.1)
        ])?;
        Ok(self.connection.last_insert_rowid())
    }

    /// Notes up to which place a file was read, and the number of the bytes before it.
    pub(crate) fn end_file(
        &mut self,
        id: i64,
        read: u64,
        file: &SessionFile,
        tail: i64,
    ) -> rusqlite::Result<()> {
        let sql = "UPDATE file SET read = ?2, len = ?3, modified = ?4, tail = ?5, session = ?6, excluded = ?7 WHERE id = ?1";
        self.connection.prepare_cached(sql)?.execute(params![
            id,
            read.cast_signed(),
            file.len.cast_signed(),
            file.modified,
            tail,
            self.session,
            self.is_excluded
        ])?;
        Ok(())
    }

    /// Returns the number of the bytes before the place up to which a file was read.
    pub(crate) fn tail_of(&self, file: i64) -> rusqlite::Result<i64> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT tail FROM file WHERE id = ?1")?;
        statement.query_row([file], |row| row.get(0))
    }

    /// Writes what lines of a file did. Nothing of a session in an excluded folder is written, and what is there goes.
    pub(crate) fn apply(
        &mut self,
        file: i64,
        of: &SessionFile,
        changes: Changes,
        leaves_out: &LeavesOut<'_>,
    ) -> rusqlite::Result<()> {
        let name = self.note_facts(of, &changes.facts)?;
        let is_forgotten = name.is_some_and(|name| leaves_out.session(of.client.into(), &name));
        let folder = changes.facts.folder.as_deref();
        if is_forgotten || folder.is_some_and(|folder| leaves_out.folder(folder)) {
            self.is_excluded = true;
            self.forget_turns_of_file(file)?;
        }
        if self.is_excluded {
            return Ok(());
        }
        for change in changes.changes {
            match change {
                Change::Put(record) => self.put(file, of.client.into(), &record)?,
                Change::RewindTo(record) => self.rewind(file, of.client.into(), &record)?,
                Change::Clear => self.forget_turns_of_file(file)?,
            }
        }
        Ok(())
    }

    /// Notes what is known of the session as a whole. The file's place says which session it is, else its content, else
    /// its name. Returns the id of a session that begins.
    fn note_facts(&mut self, of: &SessionFile, facts: &Facts) -> rusqlite::Result<Option<String>> {
        let parent = of.parent().or(facts.parent.as_deref());
        let stem = || of.path.file_stem().and_then(|stem| stem.to_str());
        let mut begins = None;
        if self.session.is_none() || parent.is_some() {
            let name = parent
                .or(of.session())
                .or(facts.session.as_deref())
                .or_else(stem)
                .unwrap_or_default();
            self.session = Some(self.session_of(of.client.into(), name, "")?);
            begins = Some(name.to_owned());
        }
        // A sub-agent has no say in the folder and the title of its session.
        let (folder, title) = match parent {
            Some(_) => (None, None),
            None => (facts.folder.as_deref(), facts.title.as_deref()),
        };
        self.describe(folder, title)?;
        Ok(begins)
    }

    /// Ends the turns of a session, in a file with several.
    pub(crate) fn end_session(&mut self) {
        self.session = None;
    }

    /// Goes on with the turns of a session. `store` tells equal ids of records of several projects apart.
    pub(crate) fn begin_session(
        &mut self,
        origin: Origin,
        (name, store): (&str, &str),
        folder: Option<&str>,
        title: Option<&str>,
    ) -> rusqlite::Result<()> {
        self.session = Some(self.session_of(origin, name, store)?);
        self.describe(folder, title)
    }

    fn describe(&mut self, folder: Option<&str>, title: Option<&str>) -> rusqlite::Result<()> {
        if folder.is_none() && title.is_none() {
            return Ok(());
        }
        // Parts of a session come one after the other, each with the same title.
        if self.title.0.as_deref() != title {
            let masked = title.map(|title| secrets::mask(title).text);
            self.title = (title.map(str::to_owned), masked);
        }
        let title = self.title.1.as_deref();
        // The first folder is the one that the session is resumed in.
        let sql = "UPDATE session SET folder = coalesce(folder, ?2), title = coalesce(?3, title) WHERE id = ?1";
        self.connection
            .prepare_cached(sql)?
            .execute(params![self.session, folder, title])?;
        Ok(())
    }

    fn session_of(&self, origin: Origin, name: &str, store: &str) -> rusqlite::Result<i64> {
        let sql = "INSERT INTO session(client, name, store) VALUES(?1, ?2, ?3)
             ON CONFLICT(client, name, store) DO UPDATE SET name = name RETURNING id";
        let mut statement = self.connection.prepare_cached(sql)?;
        statement.query_row(params![origin.name(), name, store], |row| row.get(0))
    }

    /// Writes a record: a new one, or a newer version of one in the same file. A copy of one in another file is noted.
    pub(crate) fn put(
        &mut self,
        file: i64,
        origin: Origin,
        record: &Record,
    ) -> rusqlite::Result<()> {
        let number = number(origin, &record.id);
        let known: Vec<(i64, i64, String)> = {
            let sql = "SELECT id, file, text FROM turn WHERE record = ?1 ORDER BY part";
            let mut statement = self.connection.prepare_cached(sql)?;
            let rows =
                statement.query_map([number], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            rows.collect::<rusqlite::Result<_>>()?
        };
        if let Some((_, other, _)) = known.iter().find(|(_, other, _)| *other != file) {
            let sql = "INSERT OR IGNORE INTO copy(file, of) VALUES(?1, ?2)";
            self.connection
                .prepare_cached(sql)?
                .execute([file, *other])?;
            return Ok(());
        }
        for ((part, turn), known) in (0_i64..)
            .zip(&record.turns)
            .zip(known.iter().map(Some).chain(repeat(None)))
        {
            match known {
                Some((_, _, text)) if *text == turn.text => {}
                Some((id, ..)) => {
                    self.remove_from_indexes(*id)?;
                    let sql = "UPDATE turn SET text = ?2 WHERE id = ?1";
                    self.connection
                        .prepare_cached(sql)?
                        .execute(params![id, turn.text])?;
                    self.index(*id, &turn.text)?;
                    vectors::outdate(self.connection, *id)?;
                }
                None => self.add(file, number, part, turn)?,
            }
        }
        for (id, ..) in known.iter().skip(record.turns.len()) {
            self.remove(*id)?;
        }
        Ok(())
    }

    fn add(&mut self, file: i64, record: i64, part: i64, turn: &Turn) -> rusqlite::Result<()> {
        let Some(session) = self.session else {
            return Ok(());
        };
        let at = turn.at.map(Timestamp::as_millisecond);
        let sql = "UPDATE session SET next = next + 1, turns = turns + (next <= ?3), first = coalesce(min(first, ?2), first, ?2),
             last = coalesce(max(last, ?2), last, ?2) WHERE id = ?1 RETURNING next - 1";
        let place: i64 = {
            let mut statement = self.connection.prepare_cached(sql)?;
            statement.query_row(params![session, at, LAST], |row| row.get(0))?
        };
        if place > LAST {
            return Ok(());
        }
        let id = turn_id(session, place);
        let sql = "INSERT INTO turn(id, file, record, part, speaker, at, text) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        self.connection.prepare_cached(sql)?.execute(params![
            id,
            file,
            record,
            part,
            turn.speaker.number(),
            at,
            turn.text
        ])?;
        self.index(id, &turn.text)?;
        self.counts.added += 1;
        Ok(())
    }

    /// Adds a turn to the indexes of words and trigrams, and computes its vector.
    fn index(&mut self, id: i64, text: &str) -> rusqlite::Result<()> {
        self.words.clear();
        push_words(text, &mut self.words);
        let sql = "INSERT INTO words(rowid, body) VALUES(?1, ?2)";
        self.connection
            .prepare_cached(sql)?
            .execute(params![id, self.words])?;
        let sql = "INSERT INTO trigrams(rowid, body) VALUES(?1, ?2)";
        self.connection
            .prepare_cached(sql)?
            .execute(params![id, text])?;
        Ok(())
    }

    fn remove_from_indexes(&self, id: i64) -> rusqlite::Result<()> {
        self.connection
            .prepare_cached("DELETE FROM words WHERE rowid = ?1")?
            .execute([id])?;
        self.connection
            .prepare_cached("DELETE FROM trigrams WHERE rowid = ?1")?
            .execute([id])?;
        Ok(())
    }

    fn remove(&mut self, id: i64) -> rusqlite::Result<()> {
        self.remove_from_indexes(id)?;
        self.connection
            .prepare_cached("DELETE FROM turn WHERE id = ?1")?
            .execute([id])?;
        self.connection
            .prepare_cached("UPDATE session SET turns = turns - 1 WHERE id = ?1")?
            .execute([session_of(id)])?;
        self.counts.removed += 1;
        Ok(())
    }

    /// Removes a record and all after it in its file; all if it is unknown.
    fn rewind(&mut self, file: i64, origin: Origin, record: &str) -> rusqlite::Result<()> {
        let sql = "SELECT min(id) FROM turn WHERE file = ?1 AND record = ?2";
        let first: Option<i64> = {
            let mut statement = self.connection.prepare_cached(sql)?;
            let first =
                statement.query_row(params![file, number(origin, record)], |row| row.get(0));
            first.optional()?.flatten()
        };
        let ids = self.ids(
            "SELECT id FROM turn WHERE file = ?1 AND id >= ?2",
            file,
            first.unwrap_or(0),
        )?;
        ids.into_iter().try_for_each(|id| self.remove(id))
    }

    fn ids(&self, sql: &str, of: i64, from: i64) -> rusqlite::Result<Vec<i64>> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map([of, from], |row| row.get(0))?;
        rows.collect()
    }

    /// Removes the turns of a file.
    fn forget_turns_of_file(&mut self, file: i64) -> rusqlite::Result<()> {
        let ids = self.ids("SELECT id FROM turn WHERE file = ?1 AND id >= ?2", file, 0)?;
        ids.into_iter().try_for_each(|id| self.remove(id))
    }

    /// Removes the turns of a session.
    pub(crate) fn forget_turns_of_session(&mut self, session: i64) -> rusqlite::Result<()> {
        let (first, last) = range(session);
        let ids = self.ids(
            "SELECT id FROM turn WHERE id BETWEEN ?1 AND ?2",
            first,
            last,
        )?;
        ids.into_iter().try_for_each(|id| self.remove(id))?;
        self.connection
            .execute("DELETE FROM vectors WHERE session = ?1", [session])?;
        Ok(())
    }

    /// Removes a session and its turns. Its files stay known, so that they are not read again.
    pub(crate) fn forget_session(&mut self, id: i64) -> rusqlite::Result<()> {
        self.forget_turns_of_session(id)?;
        self.connection
            .execute("UPDATE file SET excluded = 1 WHERE session = ?1", [id])?;
        Ok(())
    }

    /// Removes a session and its turns, if there are any.
    pub(crate) fn forget_session_named(
        &mut self,
        origin: Origin,
        name: &str,
    ) -> rusqlite::Result<()> {
        let ids: Vec<i64> = {
            let sql = "SELECT id FROM session WHERE client = ?1 AND name = ?2";
            let mut statement = self.connection.prepare_cached(sql)?;
            let rows = statement.query_map([origin.name(), name], |row| row.get(0))?;
            rows.collect::<rusqlite::Result<_>>()?
        };
        ids.into_iter().try_for_each(|id| self.forget_session(id))
    }

    /// Removes the turns of a file whose sessions are not among these.
    pub(crate) fn keep_sessions(
        &mut self,
        file: i64,
        names: &HashSet<String>,
    ) -> rusqlite::Result<()> {
        let known: Vec<(i64, String)> = {
            let sql = "SELECT id, name FROM session WHERE id IN (SELECT id >> 20 FROM turn WHERE file = ?1)";
            let mut statement = self.connection.prepare_cached(sql)?;
            let rows = statement.query_map([file], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect::<rusqlite::Result<_>>()?
        };
        let gone = known.into_iter().filter(|(_, name)| !names.contains(name));
        gone.into_iter()
            .try_for_each(|(id, _)| self.forget_turns_of_session(id))
    }

    /// Removes a file and its turns. Returns the files that have copies of them, which now are the only ones.
    pub(crate) fn forget_file(&mut self, id: i64) -> rusqlite::Result<Vec<i64>> {
        self.forget_turns_of_file(id)?;
        let copies = self.ids("SELECT file FROM copy WHERE of = ?1 AND file >= ?2", id, 0)?;
        self.connection
            .execute("DELETE FROM copy WHERE of = ?1 OR file = ?1", [id])?;
        self.connection
            .execute("DELETE FROM file WHERE id = ?1", [id])?;
        Ok(copies)
    }
}

/// Returns the number of a record among those of all origins.
fn number(origin: Origin, record: &str) -> i64 {
    hash(&[origin.name().as_bytes(), b"\0", record.as_bytes()])
}

/// Returns a number for bytes: the first eight bytes of their SHA-256.
pub(crate) fn hash(parts: &[&[u8]]) -> i64 {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part);
    }
    let digest = hasher.finalize();
    let mut first = [0; 8];
    first.copy_from_slice(&digest[..8]);
    i64::from_be_bytes(first)
}
