//! [`Index`]: the words of each passage, in an SQLite file that can be thrown away.
//!
//! It holds nothing that cannot be rebuilt: the words of files, and documents that are stored
//! elsewhere. A file of another version, or a damaged one, is rebuilt. Two processes may use one at
//! once; a writer waits for the other.

use std::{
    collections::{HashMap, HashSet},
    convert::Infallible,
    path::{Path, PathBuf},
    time::Duration,
};

use callosum_host::{Disk, DiskError, process::Cancel};
use rusqlite::{
    Connection, ErrorCode, OpenFlags, OptionalExtension as _, Transaction, TransactionBehavior,
    backup::Backup, params,
};

use super::{
    embedding::{Model, ModelError},
    passage::Passage,
    words::{push_words, simple_words, words},
};

/// Version of the tables and of the text splitting, to increase with each change; an index of
/// another version is rebuilt.
const VERSION: i64 = 5;

/// Longest wait for another process that writes.
const PATIENCE: Duration = Duration::from_secs(20);

/// So many pages are copied at once.
const PAGES: i32 = 1000;

const TABLES: &str = "
CREATE TABLE source(
  id INTEGER PRIMARY KEY, collection TEXT NOT NULL, place TEXT NOT NULL, stamp TEXT NOT NULL, text TEXT,
  UNIQUE(collection, place));
CREATE TABLE passage(
  id INTEGER PRIMARY KEY, source INTEGER NOT NULL, name TEXT NOT NULL, container TEXT, kind TEXT NOT NULL,
  first INTEGER NOT NULL, last INTEGER NOT NULL, public INTEGER NOT NULL);
CREATE INDEX passage_of_source ON passage(source);
CREATE INDEX passage_by_name ON passage(name COLLATE NOCASE);
CREATE VIRTUAL TABLE words USING fts5(
  name, place, body, content='', contentless_delete=1, tokenize=\"porter unicode61 tokenchars '_'\");
INSERT INTO words(words, rank) VALUES('hashsize', 16777216);
CREATE TABLE direction(passage INTEGER PRIMARY KEY, numbers BLOB NOT NULL);
CREATE TABLE model(stamp TEXT NOT NULL);
";

/// The reason why the index cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// SQLite refused.
    #[error("cannot use the search index `{}`", path.display())]
    Database {
        /// Its file.
        path: PathBuf,
        /// The error of SQLite.
        source: rusqlite::Error,
    },
    /// Its folder cannot be made, or a damaged file not be removed.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The caller cancelled; the index is in line with what was read before.
    #[error("the search was canceled")]
    Cancelled,
    /// The model's vectors cannot be read.
    #[error(transparent)]
    Model(#[from] ModelError),
}

/// An open index.
#[derive(Debug)]
pub struct Index {
    pub(super) connection: Connection,
    pub(super) model: Option<Model>,
    pub(super) path: PathBuf,
    pub(super) cancel: Option<Cancel>,
}

/// A text that is found in addition to the files of a tree: an answer, a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Its key in its collection.
    pub place: String,
    /// Changes when the text does.
    pub stamp: String,
    /// Its subject, in a few words; it is found by them too.
    pub title: String,
    /// The text, in Markdown or plain.
    pub text: String,
}

/// Whether an index goes on to take documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexProgress {
    /// The next one is taken.
    More,
    /// No further one is: the index cannot be written, or the caller cancelled.
    Ended,
}

impl IndexProgress {
    fn after(refused: Option<&rusqlite::Error>) -> Self {
        match refused {
            Some(_) => Self::Ended,
            None => Self::More,
        }
    }
}

/// Something to be indexed, cut already.
pub(super) struct Cut {
    pub(super) place: String,
    pub(super) stamp: String,
    pub(super) title: String,
    /// Stored if the text exists nowhere else.
    pub(super) text: Option<String>,
    pub(super) passages: Vec<Piece>,
}

/// A passage, and what it is found by.
pub(super) struct Piece {
    pub(super) passage: Passage,
    /// The words of its own lines.
    pub(super) body: String,
    /// The direction of their meaning; empty if unknown.
    pub(super) direction: Vec<u8>,
}

impl Index {
    /// Opens the index in the file `path`, or makes one there, in a private folder.
    pub fn open(disk: &Disk, path: &Path) -> Result<Self, IndexError> {
        if let Some(folder) = path.parent() {
            disk.create_private_dir(folder)?;
        }
        match Self::open_as_it_is(path) {
            Ok(Some(index)) => Ok(index),
            Ok(None) => Self::anew(disk, path),
            Err(error) if is_damage(&error) => Self::anew(disk, path),
            Err(source) => Err(failed(path, source)),
        }
    }

    /// Opens a copy of the index in the file `path`, in memory, for a place that cannot be written.
    /// Nothing on the disk changes, and updates of the copy are lost with it. A damaged or missing
    /// index is an empty one.
    pub fn in_memory(path: &Path) -> Result<Self, IndexError> {
        let empty = || Self::prepared(Connection::open_in_memory()?, path);
        let made = match copied(path).and_then(|connection| Self::prepared(connection, path)) {
            Ok(Some(index)) => Ok(Some(index)),
            Ok(None) | Err(_) => empty(),
        };
        let made = made.map_err(|source| failed(path, source))?;
        made.ok_or_else(|| failed(path, rusqlite::Error::InvalidQuery))
    }

    /// Throws away what is there and makes an empty index.
    pub fn anew(disk: &Disk, path: &Path) -> Result<Self, IndexError> {
        for ending in ["", "-wal", "-shm", "-journal"] {
            let mut name = path.as_os_str().to_owned();
            name.push(ending);
            disk.remove_file(Path::new(&name))?;
        }
        match Self::open_as_it_is(path) {
            Ok(Some(index)) => Ok(index),
            Ok(None) => Err(failed(path, rusqlite::Error::InvalidQuery)),
            Err(source) => Err(failed(path, source)),
        }
    }

    /// Opens the index; `None` if it is of another version.
    fn open_as_it_is(path: &Path) -> rusqlite::Result<Option<Self>> {
        let connection = Connection::open(path)?;
        connection.busy_timeout(PATIENCE)?;
        // The index can be rebuilt after a power loss, so writes are not synced.
        connection.execute_batch("PRAGMA synchronous=OFF;")?;
        match connection.execute_batch("PRAGMA journal_mode=WAL;") {
            // A change of mode is not waited for. The process that changes it does so for the file,
            // and so for this one too.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {}
            changed => changed?,
        }
        Self::prepared(connection, path)
    }

    /// Prepares a connection; `None` if the index is of another version.
    fn prepared(mut connection: Connection, path: &Path) -> rusqlite::Result<Option<Self>> {
        let version = |connection: &Connection| {
            connection.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0))
        };
        if version(&connection)? == 0 {
            let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            // Another process may have created the tables since.
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
            path: path.to_owned(),
            cancel: None,
        }))
    }

    /// Ends updates and searches with [`IndexError::Cancelled`] once `cancel` is requested.
    #[must_use]
    pub fn with_cancel(mut self, cancel: Cancel) -> Self {
        self.cancel = Some(cancel);
        self
    }

    /// Fails if the caller cancelled.
    pub(super) fn check_cancel(&self) -> Result<(), IndexError> {
        if is_cancelled(self.cancel.as_ref()) {
            return Err(IndexError::Cancelled);
        }
        Ok(())
    }

    /// Uses a model from here on, or none.
    ///
    /// Where it is another than the last one, what that one made of the texts goes, and every text is
    /// read again by the next update.
    pub fn with_model(mut self, model: Option<Model>) -> Result<Self, IndexError> {
        let stamp = model.as_ref().map(|model| model.stamp().to_owned());
        let path = &self.path;
        let known = self.tell(|connection| {
            let sql = "SELECT stamp FROM model";
            connection.query_row(sql, [], |row| row.get(0)).optional()
        })?;
        if known != stamp {
            let changed = change_model(&mut self.connection, stamp.as_deref());
            changed.map_err(|source| failed(path, source))?;
        }
        self.model = model;
        Ok(self)
    }

    /// Returns the places of a collection, each with its stamp.
    pub fn known(&self, collection: &str) -> Result<HashMap<String, String>, IndexError> {
        self.tell(|connection| {
            let mut statement =
                connection.prepare("SELECT place, stamp FROM source WHERE collection = ?1")?;
            let rows = statement.query_map([collection], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect()
        })
    }

    /// Returns the place, the stamp and the bytes of each text that a collection keeps. Does not read the texts.
    pub fn sizes(&self, collection: &str) -> Result<Vec<(String, String, u64)>, IndexError> {
        self.tell(|connection| {
            let sql =
                "SELECT place, stamp, coalesce(octet_length(text), 0) FROM source WHERE collection = ?1";
            let mut statement = connection.prepare(sql)?;
            let rows = statement.query_map([collection], |row| {
                let bytes: i64 = row.get(2)?;
                Ok((row.get(0)?, row.get(1)?, bytes.unsigned_abs()))
            })?;
            rows.collect()
        })
    }

    /// Brings a collection of documents in line: those that are new or have another stamp are
    /// read, those whose place is not in `kept` go.
    ///
    /// `documents` need not hold what [`known`](Self::known) says is there with the same stamp, as
    /// long as `keeps` says so of its place. Says how many were read.
    pub fn update_documents(
        &mut self,
        collection: &str,
        documents: impl IntoIterator<Item = Document>,
        keeps: impl Fn(&str) -> bool,
    ) -> Result<usize, IndexError> {
        let each = |add: &mut dyn FnMut(Document) -> IndexProgress| {
            for document in documents {
                if add(document) == IndexProgress::Ended {
                    break;
                }
            }
            Ok::<(), Infallible>(())
        };
        match self.stream_documents(collection, each, keeps)? {
            Ok(count) => Ok(count),
            Err(never) => match never {},
        }
    }

    /// Does the same for documents that `each` passes on one after the other, one of them in memory
    /// at a time. An error of `each` leaves the collection as it was, as a cancel does: all is
    /// written in one step.
    pub fn stream_documents<E>(
        &mut self,
        collection: &str,
        each: impl FnOnce(&mut dyn FnMut(Document) -> IndexProgress) -> Result<(), E>,
        keeps: impl Fn(&str) -> bool,
    ) -> Result<Result<usize, E>, IndexError> {
        let known = self.known(collection)?;
        let mut there: HashSet<String> = HashSet::new();
        let mut count = 0;
        let (model, cancel, path) = (self.model.as_ref(), self.cancel.as_ref(), &self.path);
        let fail = |source| failed(path, source);
        let connection = &self.connection;
        let begin = || Transaction::new_unchecked(connection, TransactionBehavior::Immediate);
        // Begun by the first document that changed: a search waits for no lock if nothing changed.
        let mut change: Option<Transaction<'_>> = None;
        let mut refused = None;
        let read = each(&mut |document| {
            there.insert(document.place.clone());
            if refused.is_some() || known.get(&document.place) == Some(&document.stamp) {
                return IndexProgress::after(refused.as_ref());
            }
            count += 1;
            let cut = vec![cut(document, model)];
            let written = match &change {
                Some(change) => write(change, collection, cut, &[], cancel),
                None => begin().and_then(|begun| {
                    write(&begun, collection, cut, &[], cancel)?;
                    change = Some(begun);
                    Ok(())
                }),
            };
            refused = written.err();
            IndexProgress::after(refused.as_ref())
        });
        if let Some(source) = refused {
            return Err(fail(source));
        }
        if let Err(error) = read {
            return Ok(Err(error));
        }
        let is_gone = |place: &&String| !there.contains(place.as_str()) && !keeps(place);
        let gone: Vec<String> = known.keys().filter(is_gone).cloned().collect();
        if change.is_none() && !gone.is_empty() {
            change = Some(begin().map_err(fail)?);
        }
        if let Some(change) = change {
            write(&change, collection, Vec::new(), &gone, cancel).map_err(fail)?;
            change.commit().map_err(fail)?;
        }
        Ok(Ok(count))
    }

    /// Replaces sources, and removes others, in one step.
    pub(super) fn put(
        &mut self,
        collection: &str,
        changed: Vec<Cut>,
        gone: &[String],
    ) -> Result<(), IndexError> {
        if changed.is_empty() && gone.is_empty() {
            return Ok(());
        }
        let cancel = self.cancel.as_ref();
        let done = put(&mut self.connection, collection, changed, gone, cancel);
        done.map_err(|source| failed(&self.path, source))
    }

    pub(super) fn tell<T>(
        &self,
        ask: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, IndexError> {
        self.check_cancel()?;
        ask(&self.connection).map_err(|source| failed(&self.path, source))
    }
}

pub(super) fn is_cancelled(cancel: Option<&Cancel>) -> bool {
    cancel.is_some_and(Cancel::is_cancelled)
}

pub(super) fn failed(path: &Path, source: rusqlite::Error) -> IndexError {
    if source.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) {
        return IndexError::Cancelled;
    }
    IndexError::Database {
        path: path.to_owned(),
        source,
    }
}

impl IndexError {
    /// Whether the file is damaged, so that rebuilding the index helps.
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Database { source, .. } => is_damage(source),
            Self::Disk(_) | Self::Cancelled | Self::Model(_) => false,
        }
    }

    /// Whether the index cannot be written in its place, so that a [copy in
    /// memory](Index::in_memory) would help.
    pub fn is_unwritable(&self) -> bool {
        match self {
            Self::Database { source, .. } => matches!(
                source.sqlite_error_code(),
                Some(
                    ErrorCode::CannotOpen
                        | ErrorCode::ReadOnly
                        | ErrorCode::PermissionDenied
                        | ErrorCode::DiskFull
                )
            ),
            Self::Disk(error) => error.is_read_only() || error.is_denied() || error.is_full(),
            Self::Cancelled | Self::Model(_) => false,
        }
    }
}

/// Returns a copy of the index in memory. Reads it as immutable: next to a file in a read-only
/// place, SQLite cannot create the files that concurrent readers need.
fn copied(path: &Path) -> rusqlite::Result<Connection> {
    let name = path.to_str();
    let name = name.ok_or_else(|| rusqlite::Error::InvalidPath(path.to_owned()))?;
    let name = name
        .replace('%', "%25")
        .replace('?', "%3f")
        .replace('#', "%23");
    let kept = Connection::open_with_flags(
        format!("file:{name}?immutable=1"),
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI,
    )?;
    let mut copy = Connection::open_in_memory()?;
    Backup::new(&kept, &mut copy)?.run_to_completion(PAGES, Duration::ZERO, None)?;
    Ok(copy)
}

fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::SchemaChanged)
    ) || matches!(error, rusqlite::Error::SqliteFailure(_, Some(words)) if words.contains("no such"))
}

/// Removes the directions of the old model, and, if there is a new one, all stamps, so that every
/// text is read again.
fn change_model(connection: &mut Connection, stamp: Option<&str>) -> rusqlite::Result<()> {
    let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    change.execute_batch("DELETE FROM direction; DELETE FROM model;")?;
    if let Some(stamp) = stamp {
        change.execute("INSERT INTO model(stamp) VALUES(?1)", [stamp])?;
        change.execute_batch("UPDATE source SET stamp = '';")?;
    }
    change.commit()
}

fn cut(document: Document, model: Option<&Model>) -> Cut {
    let mut passages = super::passage::passages(".md", &document.text, None);
    for passage in &mut passages {
        if passage.name.is_empty() {
            passage.name.clone_from(&document.title);
        } else if passage.container.is_none() {
            passage.container = Some(document.title.clone());
        }
    }
    let lines: Vec<&str> = document.text.lines().collect();
    Cut {
        passages: pieces(passages, &lines, model),
        place: document.place,
        stamp: document.stamp,
        title: document.title,
        text: Some(document.text),
    }
}

/// Gives each passage of a text what it is found by.
pub(super) fn pieces(passages: Vec<Passage>, lines: &[&str], model: Option<&Model>) -> Vec<Piece> {
    let mut seen = HashMap::new();
    let piece = |passage: Passage| {
        let mut body = String::new();
        for line in own_lines(lines, &passage) {
            push_words(line, &mut body);
        }
        let direction = model.map(|model| {
            let within = passage.container.as_deref().unwrap_or_default();
            let names = [passage.name.as_str(), within].into_iter();
            let all: Vec<String> = names
                .chain(own_lines(lines, &passage))
                .flat_map(simple_words)
                .collect();
            model.direction(all.iter().map(String::as_str), &mut seen)
        });
        Piece {
            passage,
            body,
            direction: direction.unwrap_or_default(),
        }
    };
    passages.into_iter().map(piece).collect()
}

/// The lines that are a passage's own.
fn own_lines<'t>(lines: &'t [&'t str], passage: &'t Passage) -> impl Iterator<Item = &'t str> {
    passage.own.iter().flat_map(|(first, last)| {
        let last = (*last as usize).min(lines.len());
        lines[(*first as usize - 1).min(last)..last].iter().copied()
    })
}

/// Replaces sources, and removes others, in one step. Writes nothing if the caller cancels before the end: what was cut
/// after that may be incomplete.
pub(super) fn put(
    connection: &mut Connection,
    collection: &str,
    changed: Vec<Cut>,
    gone: &[String],
    cancel: Option<&Cancel>,
) -> rusqlite::Result<()> {
    let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    write(&change, collection, changed, gone, cancel)?;
    change.commit()
}

/// Writes within a transaction that the caller commits.
fn write(
    change: &Connection,
    collection: &str,
    changed: Vec<Cut>,
    gone: &[String],
    cancel: Option<&Cancel>,
) -> rusqlite::Result<()> {
    let go_on = || {
        if is_cancelled(cancel) {
            let interrupted = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_INTERRUPT);
            return Err(rusqlite::Error::SqliteFailure(interrupted, None));
        }
        Ok(())
    };
    {
        let mut known =
            change.prepare_cached("SELECT id FROM source WHERE collection = ?1 AND place = ?2")?;
        let mut forget_words = change.prepare_cached(
            "DELETE FROM words WHERE rowid IN (SELECT id FROM passage WHERE source = ?1)",
        )?;
        let mut forget_directions = change.prepare_cached(
            "DELETE FROM direction WHERE passage IN (SELECT id FROM passage WHERE source = ?1)",
        )?;
        let mut forget_passages = change.prepare_cached("DELETE FROM passage WHERE source = ?1")?;
        let mut forget = change.prepare_cached("DELETE FROM source WHERE id = ?1")?;
        let mut add_source = change.prepare_cached(
            "INSERT INTO source(collection, place, stamp, text) VALUES(?1, ?2, ?3, ?4)",
        )?;
        let mut add_passage = change.prepare_cached(
            "INSERT INTO passage(source, name, container, kind, first, last, public) \
             VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?;
        let mut add_words = change
            .prepare_cached("INSERT INTO words(rowid, name, place, body) VALUES(?1, ?2, ?3, ?4)")?;
        let mut add_direction =
            change.prepare_cached("INSERT INTO direction(passage, numbers) VALUES(?1, ?2)")?;
        let mut leave = |place: &str| -> rusqlite::Result<()> {
            let id = known.query_row(params![collection, place], |row| row.get::<_, i64>(0));
            let Some(id) = id.optional()? else {
                return Ok(());
            };
            for statement in [
                &mut forget_words,
                &mut forget_directions,
                &mut forget_passages,
                &mut forget,
            ] {
                statement.execute([id])?;
            }
            Ok(())
        };
        for place in gone {
            go_on()?;
            leave(place)?;
        }
        for source in changed {
            go_on()?;
            leave(&source.place)?;
            add_source.execute(params![collection, source.place, source.stamp, source.text])?;
            let id = change.last_insert_rowid();
            let place_words = spaced(&format!("{} {}", source.place, source.title));
            for piece in source.passages {
                let passage = piece.passage;
                add_passage.execute(params![
                    id,
                    passage.name,
                    passage.container,
                    passage.kind.as_str(),
                    passage.first,
                    passage.last,
                    passage.public
                ])?;
                let within = passage.container.as_deref().unwrap_or_default();
                let name_words = spaced(&format!("{} {within}", passage.name));
                let id = change.last_insert_rowid();
                add_words.execute(params![id, name_words, place_words, piece.body])?;
                if !piece.direction.is_empty() {
                    add_direction.execute(params![id, piece.direction])?;
                }
            }
        }
    }
    go_on()
}

fn spaced(text: &str) -> String {
    words(text).collect::<Vec<_>>().join(" ")
}
