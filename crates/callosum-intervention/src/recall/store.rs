//! [`RecallDb`]: the file with the errors of every project on this machine.
//!
//! A hook opens it for one record and closes it again, so opening does nothing but set what the connection needs and read
//! the version. Two processes may write at once: each write is one `BEGIN IMMEDIATE` transaction, and SQLite's log
//! (`WAL`, `synchronous=NORMAL`) keeps what was committed when a process is killed. A power failure may lose the last
//! commits, never the file.

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use callosum_host::{Disk, DiskError};
use jiff::Timestamp;
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};

use super::{
    index,
    schema::{FROM_VERSION_1, TABLES, VERSION},
};

/// Connections that are kept open at most (Seed CAKE §3, `max_connections`).
const MOST_CONNECTIONS: usize = 5;

/// Longest wait of one try for another process that writes.
const PATIENCE: Duration = Duration::from_millis(250);

/// Tries of a write that finds the file locked (Seed CAKE §3).
const TRIES: u32 = 3;

/// Errors that are removed at once when the disk is full.
const ROTATED: u32 = 500;

/// Errors whose keys are removed in one transaction on a full disk. Small ones need little of the log.
const ROTATED_KEYS: usize = 25;

/// The reason that the database cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RecallError {
    /// SQLite refused.
    #[error("cannot use the recall database `{}`", path.display())]
    Database {
        /// Its file.
        path: PathBuf,
        /// The error of SQLite.
        source: rusqlite::Error,
    },
    /// A newer Callosum wrote it.
    #[error("the recall database `{}` has version {found}; this program knows {VERSION}", path.display())]
    Newer {
        /// Its file.
        path: PathBuf,
        /// Its version.
        found: i64,
    },
    /// Its folder cannot be created, or a corrupt file cannot be set aside.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// The state in which the database was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Condition {
    /// The file is read and written.
    #[default]
    Sound,
    /// The file was corrupt. It is kept under this name, and a new one was created.
    SetAside(PathBuf),
    /// Nothing can be written beside the file: what is recorded is lost when the process ends.
    InMemory,
}

/// The recall database.
#[derive(Debug)]
pub struct RecallDb {
    path: PathBuf,
    condition: Condition,
    ttl: jiff::SignedDuration,
    idle: Mutex<Vec<Connection>>,
}

impl RecallDb {
    /// Opens the file, and creates it with its folder if it is missing.
    ///
    /// A corrupt file is renamed to `NAME.corrupt-TIME` and replaced. If nothing can be written, the database is in memory.
    /// `ttl_hours` is how long an error is listed after it was seen last. Costs about 0.3 ms for any number of errors.
    ///
    /// # Errors
    /// If the file is of a newer version, or locked for longer than three tries.
    pub fn open(
        disk: &Disk,
        path: &Path,
        ttl_hours: u32,
        now: Timestamp,
    ) -> Result<Self, RecallError> {
        let mut database = Self {
            path: path.to_owned(),
            condition: Condition::Sound,
            ttl: jiff::SignedDuration::from_hours(ttl_hours.into()),
            idle: Mutex::new(Vec::new()),
        };
        if let Some(folder) = path.parent()
            && disk.create_private_dir(folder).is_err()
            && !disk.exists(path).unwrap_or(false)
        {
            return database.in_memory();
        }
        let connection = match database.connect_and_prepare() {
            Ok(connection) => connection,
            Err(error) if is_corrupt(&error) => {
                let stamp = now.strftime("%Y%m%dT%H%M%SZ");
                let mut name = path.file_name().unwrap_or_default().to_owned();
                name.push(format!(".corrupt-{stamp}"));
                let aside = path.with_file_name(name);
                if disk.rename(path, &aside).is_err() {
                    return database.in_memory();
                }
                // The log and its index belong to the file that is gone.
                for end in ["-wal", "-shm"] {
                    let mut beside = path.as_os_str().to_owned();
                    beside.push(end);
                    disk.remove_file(Path::new(&beside))?;
                }
                database.condition = Condition::SetAside(aside);
                database.connect_and_prepare()?
            }
            Err(error) if is_unwritable(&error) => return database.in_memory(),
            Err(error) => return Err(error),
        };
        database.put_back(connection);
        Ok(database)
    }

    /// Returns the state in which the file was found.
    pub fn condition(&self) -> &Condition {
        &self.condition
    }

    /// Returns the time at which an error that is seen now expires.
    pub(super) fn expiry(&self, now: Timestamp) -> Timestamp {
        now.checked_add(self.ttl).unwrap_or(Timestamp::MAX)
    }

    /// Runs a query.
    pub(crate) fn read<T>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, RecallError> {
        let connection = self.take()?;
        let result = query(&connection).map_err(|source| self.failed(source));
        self.put_back(connection);
        result
    }

    /// Runs a transaction that writes. One that finds the file locked is tried again, and one that finds the disk full
    /// once more after the oldest errors have been removed.
    pub(crate) fn write<T>(
        &self,
        mut change: impl FnMut(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, RecallError> {
        let mut connection = self.take()?;
        let mut tries = 0;
        let mut has_rotated = false;
        let result = loop {
            let done = connection
                .transaction_with_behavior(TransactionBehavior::Immediate)
                .and_then(|transaction| {
                    let value = change(&transaction)?;
                    transaction.commit()?;
                    Ok(value)
                });
            match done {
                Err(error) if is_code(&error, ErrorCode::DatabaseBusy) && tries + 1 < TRIES => {
                    tries += 1;
                }
                Err(error) if is_code(&error, ErrorCode::DiskFull) && !has_rotated => {
                    has_rotated = true;
                    if let Err(error) = rotate(&mut connection) {
                        break Err(error);
                    }
                }
                other => break other,
            }
        };
        self.put_back(connection);
        result.map_err(|source| self.failed(source))
    }

    fn in_memory(mut self) -> Result<Self, RecallError> {
        self.condition = Condition::InMemory;
        let connection = Connection::open_in_memory().and_then(|connection| {
            connection.execute_batch(TABLES)?;
            Ok(connection)
        });
        let connection = connection.map_err(|source| self.failed(source))?;
        self.put_back(connection);
        Ok(self)
    }

    fn take(&self) -> Result<Connection, RecallError> {
        let idle = self
            .idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        match idle {
            Some(connection) => Ok(connection),
            None => self.connect(),
        }
    }

    fn put_back(&self, connection: Connection) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MOST_CONNECTIONS {
            idle.push(connection);
        }
    }

    fn connect(&self) -> Result<Connection, RecallError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.path, flags);
        let connection = connection.and_then(|connection| {
            connection.busy_timeout(PATIENCE)?;
            connection.execute_batch("PRAGMA synchronous=NORMAL; PRAGMA temp_store=MEMORY;")?;
            Ok(connection)
        });
        connection.map_err(|source| self.failed(source))
    }

    fn connect_and_prepare(&self) -> Result<Connection, RecallError> {
        let mut connection = self.connect()?;
        let version = version(&connection).map_err(|source| self.failed(source))?;
        if version > VERSION {
            return Err(RecallError::Newer {
                path: self.path.clone(),
                found: version,
            });
        }
        if version < VERSION {
            prepare(&mut connection).map_err(|source| self.failed(source))?;
        }
        Ok(connection)
    }

    fn failed(&self, source: rusqlite::Error) -> RecallError {
        RecallError::Database {
            path: self.path.clone(),
            source,
        }
    }
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// Creates the tables or upgrades a file of version 1, unless another process does so first.
fn prepare(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.query_row("PRAGMA journal_mode=WAL", [], |_| Ok(()))?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    match version(&transaction)? {
        0 => transaction.execute_batch(TABLES)?,
        1 => {
            transaction.execute_batch(FROM_VERSION_1)?;
            index::rebuild(&transaction)?;
        }
        _ => return Ok(()),
    }
    transaction.execute_batch(&format!("PRAGMA user_version={VERSION}"))?;
    transaction.commit()
}

/// Removes the oldest errors, so that their pages are used again (Seed CAKE §3, "rotate oldest entries").
///
/// The rows go first, by themselves: their keys are on many more pages, and each page that changes takes space in the log
/// before it frees any. A key without a row is never a result, so the second step may fail.
fn rotate(connection: &mut Connection) -> rusqlite::Result<()> {
    // Pages in the log are on the full disk twice.
    let truncate = |connection: &Connection| {
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
    };
    truncate(connection)?;
    let oldest: Vec<(i64, String)> = connection
        .prepare("SELECT id, normalized FROM error_memory ORDER BY expires_at LIMIT ?1")?
        .query_map([ROTATED], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for (id, _) in &oldest {
        transaction.execute("DELETE FROM error_memory WHERE id = ?1", [id])?;
    }
    transaction.commit()?;
    for some in oldest.chunks(ROTATED_KEYS) {
        match remove_keys(connection, some) {
            Err(error) if is_code(&error, ErrorCode::DiskFull) => return Ok(()),
            other => other?,
        }
        truncate(connection)?;
    }
    Ok(())
}

/// Removes the keys of some errors in one transaction.
fn remove_keys(connection: &mut Connection, errors: &[(i64, String)]) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for (id, normalized) in errors {
        index::remove(&transaction, *id, normalized)?;
    }
    transaction.commit()
}

fn is_code(error: &rusqlite::Error, code: ErrorCode) -> bool {
    error.sqlite_error_code() == Some(code)
}

/// Returns whether the file is damaged, or is no database at all.
fn is_corrupt(error: &RecallError) -> bool {
    let RecallError::Database { source, .. } = error else {
        return false;
    };
    [ErrorCode::DatabaseCorrupt, ErrorCode::NotADatabase]
        .iter()
        .any(|code| is_code(source, *code))
}

/// Returns whether the file can be read at most.
fn is_unwritable(error: &RecallError) -> bool {
    let RecallError::Database { source, .. } = error else {
        return false;
    };
    [
        ErrorCode::CannotOpen,
        ErrorCode::ReadOnly,
        ErrorCode::PermissionDenied,
        ErrorCode::DiskFull,
        ErrorCode::SystemIoFailure,
    ]
    .iter()
    .any(|code| is_code(source, *code))
}
