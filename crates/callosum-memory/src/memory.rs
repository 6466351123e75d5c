//! [`Memory`]: the turns of past sessions, in an SQLite file that can be thrown away.
//!
//! It holds nothing that cannot be read again from the clients' own files. A file of another version, or a damaged one, is
//! made again. Two processes may use one at once; a writer waits for the other.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

use callosum_host::{Disk, DiskError};
use callosum_search::Model;
use jiff::Timestamp;
use rusqlite::{Connection, ErrorCode, OptionalExtension as _, TransactionBehavior};

use super::{
    calls,
    origin::Origin,
    turn::{Speaker, Turn},
    vectors::VectorCache,
};

/// Version of the tables and of the readers, to increase with each change; a file of another version is made again.
const VERSION: i64 = 3;

/// Longest wait for another process that writes.
const PATIENCE: Duration = Duration::from_secs(20);

/// Longest wait of a reader that a session's start waits for.
const PATIENCE_TO_READ: Duration = Duration::from_millis(50);

const TABLES: &str = "
CREATE TABLE file(
  id INTEGER PRIMARY KEY, client TEXT NOT NULL, path TEXT NOT NULL UNIQUE, device INTEGER, inode INTEGER,
  read INTEGER NOT NULL, len INTEGER NOT NULL, modified INTEGER NOT NULL, tail INTEGER NOT NULL, session INTEGER,
  excluded INTEGER NOT NULL, stamp TEXT);
CREATE TABLE session(
  id INTEGER PRIMARY KEY, client TEXT NOT NULL, name TEXT NOT NULL, store TEXT NOT NULL, folder TEXT, title TEXT,
  first INTEGER, last INTEGER, next INTEGER NOT NULL DEFAULT 0, turns INTEGER NOT NULL DEFAULT 0,
  UNIQUE(client, name, store));
CREATE TABLE turn(
  id INTEGER PRIMARY KEY, file INTEGER NOT NULL, record INTEGER NOT NULL, part INTEGER NOT NULL, speaker INTEGER NOT NULL,
  at INTEGER, text TEXT NOT NULL);
CREATE INDEX turn_by_record ON turn(record, part);
CREATE INDEX turn_of_file ON turn(file);
CREATE TABLE copy(file INTEGER NOT NULL, of INTEGER NOT NULL, PRIMARY KEY(file, of)) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5(
  body, content='', contentless_delete=1, detail=none, tokenize=\"porter unicode61 tokenchars '_'\");
INSERT INTO words(words, rank) VALUES('hashsize', 16777216);
CREATE VIRTUAL TABLE trigrams USING fts5(body, content='', contentless_delete=1, detail=none, tokenize='trigram');
INSERT INTO trigrams(trigrams, rank) VALUES('hashsize', 16777216);
CREATE TABLE vectors(session INTEGER PRIMARY KEY, turns INTEGER NOT NULL, numbers BLOB NOT NULL);
CREATE TABLE rarity(word TEXT PRIMARY KEY, turns INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE counted(turns INTEGER NOT NULL);
CREATE TABLE model(stamp TEXT NOT NULL, width INTEGER NOT NULL);
CREATE TABLE excluded(folder TEXT PRIMARY KEY);
";

/// The reason why the index of past sessions cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// SQLite refused.
    #[error("cannot use the index of past sessions `{}`", path.display())]
    Database {
        /// Its file.
        path: PathBuf,
        /// The error of SQLite.
        source: rusqlite::Error,
    },
    /// Its folder cannot be made, or a damaged file not be removed.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The caller stopped an update. What was read before is in the index, and the next update goes on from there.
    #[error("the update was interrupted")]
    Interrupted,
    /// The model's vectors cannot be read.
    #[error(transparent)]
    Model(#[from] callosum_search::ModelError),
}

/// The open index of past sessions.
#[derive(Debug)]
pub struct Memory {
    pub(crate) connection: Connection,
    pub(crate) model: Option<Model>,
    /// All vectors, if the caller has many queries.
    pub(crate) cache: RefCell<Option<VectorCache>>,
    pub(crate) path: PathBuf,
}

/// Sizes of an index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Files of clients.
    pub files: u64,
    /// Sessions.
    pub sessions: u64,
    /// Turns.
    pub turns: u64,
    /// Bytes of the index on the disk.
    pub bytes: u64,
}

/// A turn with its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTurn {
    /// The session's origin.
    pub origin: Origin,
    /// The session's id.
    pub session: String,
    /// The folder that the session ran in, if it is known.
    pub folder: Option<String>,
    /// The session's title, if it has one.
    pub title: Option<String>,
    /// The turn.
    pub turn: Turn,
}

impl Memory {
    /// Opens the index in the file `path`, or makes one there, in a private folder. A damaged one is made again.
    ///
    /// # Errors
    /// The folder cannot be made, or SQLite cannot use the file.
    pub fn open(disk: &Disk, path: &Path) -> Result<Self, MemoryError> {
        if let Some(folder) = path.parent() {
            disk.create_private_dir(folder)?;
        }
        // SQLite would make a file that others may read.
        disk.create(path, b"", 0o600)?;
        match Self::open_as_it_is(path) {
            Ok(Some(memory)) => Ok(memory),
            Ok(None) => Self::rebuild(disk, path),
            Err(error) if is_damage(&error) => Self::rebuild(disk, path),
            Err(source) => Err(failed(path, source)),
        }
    }

    /// Removes the index and makes an empty one.
    ///
    /// # Errors
    /// The file cannot be removed or made.
    pub fn rebuild(disk: &Disk, path: &Path) -> Result<Self, MemoryError> {
        remove(disk, path)?;
        disk.create(path, b"", 0o600)?;
        match Self::open_as_it_is(path) {
            Ok(Some(memory)) => Ok(memory),
            Ok(None) => Err(failed(path, rusqlite::Error::InvalidQuery)),
            Err(source) => Err(failed(path, source)),
        }
    }

    /// Opens the index; `None` if it is of another version.
    fn open_as_it_is(path: &Path) -> rusqlite::Result<Option<Self>> {
        let mut connection = Connection::open(path)?;
        connection.busy_timeout(PATIENCE)?;
        // All of it can be read again after a power loss, so writes are not synced. Pages in memory are bounded.
        connection.execute_batch(
            "PRAGMA synchronous=OFF; PRAGMA cache_size=-32768; PRAGMA mmap_size=1073741824;",
        )?;
        match connection.execute_batch("PRAGMA journal_mode=WAL;") {
            // Another process is changing the mode, which is a mode of the file.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {}
            changed => changed?,
        }
        let version = |connection: &Connection| {
            connection.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0))
        };
        if version(&connection)? == 0 {
            let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            // Another process may have made the tables since.
            if version(&change)? == 0 {
                change.execute_batch(TABLES)?;
                change.pragma_update(None, "user_version", VERSION)?;
            }
            change.commit()?;
        }
        let is_ours = version(&connection)? == VERSION;
        Ok(is_ours.then(|| Self {
            connection,
            model: None,
            cache: RefCell::default(),
            path: path.to_owned(),
        }))
    }

    /// Makes an index of a connection that only reads; `None` if it is of another version.
    pub(crate) fn of_reader(connection: Connection, path: &Path) -> rusqlite::Result<Option<Self>> {
        connection.busy_timeout(PATIENCE_TO_READ)?;
        connection.execute_batch("PRAGMA query_only=1; PRAGMA mmap_size=1073741824;")?;
        let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        Ok((version == VERSION).then(|| Self {
            connection,
            model: None,
            cache: RefCell::default(),
            path: path.to_owned(),
        }))
    }

    /// Uses a model of word vectors from here on, or none.
    ///
    /// If it is another than the last one, all vectors go, and the next update computes them again.
    ///
    /// # Errors
    /// The index cannot be written.
    pub fn with_model(mut self, model: Option<Model>) -> Result<Self, MemoryError> {
        let stamp = model.as_ref().map(|model| {
            (
                model.stamp().to_owned(),
                i64::try_from(model.width()).unwrap_or(0),
            )
        });
        let known = self
            .connection
            .query_row("SELECT stamp, width FROM model", [], |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?))
            });
        let path = self.path.clone();
        let known = known.optional().map_err(|source| failed(&path, source))?;
        if known != stamp {
            let changed = change_model(&mut self.connection, stamp.as_ref());
            changed.map_err(|source| failed(&path, source))?;
        }
        self.model = model;
        Ok(self)
    }

    /// Keeps all vectors in memory, for a process that answers many queries. They are read again when the index changes.
    #[must_use]
    pub fn with_vectors_in_memory(self) -> Self {
        let cache = RefCell::new(Some(VectorCache::default()));
        Self { cache, ..self }
    }

    /// Returns the numbers of files, sessions and turns, and the size on the disk. Costs a pass over the sessions.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn sizes(&self) -> Result<Sizes, MemoryError> {
        let count = |what: &str| {
            let sql = format!("SELECT {what}");
            let count = self
                .connection
                .query_row(&sql, [], |row| row.get::<_, i64>(0));
            count
                .map(i64::unsigned_abs)
                .map_err(|source| failed(&self.path, source))
        };
        let pages = |pragma: &str| {
            let number = self
                .connection
                .pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
            number
                .map(i64::unsigned_abs)
                .map_err(|source| failed(&self.path, source))
        };
        Ok(Sizes {
            files: count("count(*) FROM file WHERE excluded = 0 AND stamp IS NULL")?,
            sessions: count("count(*) FROM session WHERE turns > 0")?,
            turns: count("coalesce(sum(turns), 0) FROM session")?,
            bytes: pages("page_count")? * pages("page_size")?,
        })
    }

    /// Whether a model of word vectors is used.
    pub fn has_model(&self) -> bool {
        self.model.is_some()
    }

    /// Returns the numbers of sessions and turns of each origin. Costs a pass over the sessions.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn by_origin(&self) -> Result<BTreeMap<Origin, (u64, u64)>, MemoryError> {
        self.read(|connection| {
            let sql =
                "SELECT client, count(*), sum(turns) FROM session WHERE turns > 0 GROUP BY client";
            let mut statement = connection.prepare(sql)?;
            let rows = statement.query_map([], |row| {
                let client: String = row.get(0)?;
                let (sessions, turns): (i64, i64) = (row.get(1)?, row.get(2)?);
                let counts = (sessions.unsigned_abs(), turns.unsigned_abs());
                Ok(Origin::of(&client).map(|origin| (origin, counts)))
            })?;
            rows.filter_map(Result::transpose).collect()
        })
    }

    /// Returns the origins that have a session of this id in the index.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn origins_of(&self, session: &str) -> Result<Vec<Origin>, MemoryError> {
        self.read(|connection| {
            let sql = "SELECT DISTINCT client FROM session WHERE name = ?1 AND turns > 0";
            let mut statement = connection.prepare(sql)?;
            let rows = statement.query_map([session], |row| row.get::<_, String>(0))?;
            let origins = rows.map(|client| Ok(Origin::of(&client?)));
            origins.filter_map(Result::transpose).collect()
        })
    }

    /// Returns the sessions with a tool call that contains a text, the latest first, at most `most`.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn sessions_with_call(
        &self,
        text: &str,
        most: usize,
    ) -> Result<Vec<(Origin, String)>, MemoryError> {
        self.read(|connection| calls::sessions(connection, text, most))
    }

    /// Calls `each` with every turn, session by session, until it returns `false`.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn each_turn(&self, each: &mut dyn FnMut(StoredTurn) -> bool) -> Result<(), MemoryError> {
        self.read(|connection| {
            let sql = "SELECT client, name, folder, title, speaker, at, text FROM turn JOIN session ON session.id = turn.id >> 20
                 ORDER BY session.first, session.id, turn.at, turn.id";
            let mut statement = connection.prepare(sql)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let client: String = row.get(0)?;
                let Some(origin) = Origin::of(&client) else {
                    continue;
                };
                let at: Option<i64> = row.get(5)?;
                let turn = Turn {
                    speaker: Speaker::of_number(row.get(4)?),
                    at: at.and_then(|at| Timestamp::from_millisecond(at).ok()),
                    text: row.get(6)?,
                };
                let stored = StoredTurn {
                    origin,
                    session: row.get(1)?,
                    folder: row.get(2)?,
                    title: row.get(3)?,
                    turn,
                };
                if !each(stored) {
                    break;
                }
            }
            Ok(())
        })
    }

    pub(crate) fn read<T>(
        &self,
        ask: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, MemoryError> {
        ask(&self.connection).map_err(|source| failed(&self.path, source))
    }
}

/// Removes the index in the file `path`; says whether there was one.
///
/// # Errors
/// The file cannot be removed.
pub fn remove(disk: &Disk, path: &Path) -> Result<bool, DiskError> {
    let mut was_there = false;
    for ending in ["-wal", "-shm", "-journal", ""] {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        was_there |= disk.remove_file(Path::new(&name))?;
    }
    Ok(was_there)
}

impl MemoryError {
    /// Whether the file is damaged, so that making it again helps.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Database { source, .. } if is_damage(source))
    }
}

pub(crate) fn failed(path: &Path, source: rusqlite::Error) -> MemoryError {
    MemoryError::Database {
        path: path.to_owned(),
        source,
    }
}

fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::SchemaChanged)
    ) || matches!(error, rusqlite::Error::SqliteFailure(_, Some(words)) if words.contains("no such"))
}

/// Removes the vectors of the old model.
fn change_model(
    connection: &mut Connection,
    model: Option<&(String, i64)>,
) -> rusqlite::Result<()> {
    let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    change.execute_batch(
        "DELETE FROM vectors; DELETE FROM rarity; DELETE FROM counted; DELETE FROM model;",
    )?;
    if let Some((stamp, width)) = model {
        change.execute(
            "INSERT INTO model(stamp, width) VALUES(?1, ?2)",
            (stamp, width),
        )?;
    }
    change.commit()
}
