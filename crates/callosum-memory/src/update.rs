//! [`Memory::update`]: brings the index in line with the clients' files, reading only what was added.
//!
//! A file is known by its path and its device and inode. If it only grew, reading goes on where it ended: the bytes before
//! that place are compared first. A file that moved keeps its turns, one that is gone loses them, and one that changed
//! otherwise is read again.

use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
};

use callosum_host::{Disk, DiskFile, OpenHow};
use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use super::{
    client::Client,
    memory::{Memory, MemoryError, failed},
    origin::Origin,
    session_files::{ClientFolder, Layout, SessionFile, list},
    store::{Store, hash},
    transcript::{Changes, opencode, read_line, read_whole},
    vectors,
};

/// Bytes that are read at once.
const CHUNK: usize = 1 << 20;

/// Longest line that is read, in bytes (32 MiB). A longer one is skipped.
const LONGEST_LINE: usize = 32 << 20;

/// Largest file of one JSON object that is read (64 MiB).
const LARGEST_WHOLE: u64 = 64 << 20;

/// Bytes before a place that are compared before reading goes on there.
const TAIL: usize = 256;

/// Longest note of a project's folder, in bytes.
const LONGEST_NOTE: u64 = 4096;

/// Turns between two commits, so that an update that is stopped goes on near where it was.
const TURNS_OF_COMMIT: u64 = 20_000;

/// The scope of an index: which files are read, and which sessions are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryScope {
    /// The clients' own folders.
    pub folders: Vec<ClientFolder>,
    /// Folders whose sessions are left out, with those in folders inside.
    pub excluded: Vec<PathBuf>,
    /// Sessions that are left out, by their origin and id.
    pub forgotten: Vec<(Origin, String)>,
}

/// Result of an update.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UpdateReport {
    /// Files that were read, in part or as a whole.
    pub read: u64,
    /// Turns that were added.
    pub added: u64,
    /// Turns that were removed.
    pub removed: u64,
    /// Files that could not be read.
    pub unreadable: u64,
}

/// Progress of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpdateProgress {
    /// Bytes that were read so far.
    pub bytes: u64,
    /// Bytes that are to be read.
    pub of: u64,
    /// Turns that were added so far.
    pub turns: u64,
}

/// A file as the index knows it.
struct Known {
    id: i64,
    path: String,
    /// Device and inode.
    file: Option<(i64, i64)>,
    read: u64,
    len: u64,
    modified: i64,
}

/// The part of a file that is to be read.
enum Task {
    /// From this place on; the file is known.
    From(i64, u64),
    /// All of it. What the index has of the known file goes.
    All(Option<i64>),
}

impl Memory {
    /// Brings the index in line with the clients' files, and calls `progress` now and then, until that returns `false`.
    ///
    /// Costs a look at each file, and reading what was added. Memory is bounded by the longest line.
    ///
    /// # Errors
    /// The index cannot be written. A file that cannot be read is counted and left for the next update.
    pub fn update(
        &mut self,
        disk: &Disk,
        scope: &MemoryScope,
        progress: &mut dyn FnMut(UpdateProgress) -> bool,
    ) -> Result<UpdateReport, MemoryError> {
        let path = self.path.clone();
        let fail = |source| failed(&path, source);
        let mut report = UpdateReport::default();
        self.exclude(&scope.excluded, &mut report)?;
        self.forget(&scope.forgotten, &mut report)?;
        let files = list(disk, &scope.folders);
        let known = known(&self.connection).map_err(fail)?;
        let tasks = self.tasks(&files, &known, scope, &mut report)?;
        let of = tasks
            .iter()
            .map(|(file, task)| match task {
                Task::From(_, read) => file.len.saturating_sub(*read),
                Task::All(_) => file.len,
            })
            .sum();
        let mut done = UpdateProgress {
            bytes: 0,
            of,
            turns: 0,
        };
        let begin = || Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate);
        let mut store = Store::new(&self.connection);
        let mut change = None;
        let mut committed = 0;
        let mut goes_on = true;
        for (file, task) in tasks {
            if !goes_on {
                break;
            }
            if change.is_none() {
                change = Some(begin().map_err(fail)?);
            }
            let mut each = |bytes: u64, turns: u64| {
                done.bytes += bytes;
                done.turns = turns;
                goes_on &= progress(done);
                goes_on
            };
            let read = read_file(disk, file, &task, scope, &mut store, &mut each);
            if read.map_err(fail)? {
                report.read += 1;
            } else {
                report.unreadable += 1;
            }
            let counts = store.counts();
            let changed = counts.added + counts.removed;
            if changed - committed >= TURNS_OF_COMMIT
                && let Some(change) = change.take()
            {
                change.commit().map_err(fail)?;
                committed = changed;
            }
        }
        let counts = store.counts();
        report.added += counts.added;
        report.removed += counts.removed;
        if let Some(change) = change {
            change.commit().map_err(fail)?;
        }
        if !goes_on {
            return Err(MemoryError::Interrupted);
        }
        self.complete_vectors()?;
        Ok(report)
    }

    /// Removes the turns of sessions that the person had forgotten.
    fn forget(
        &mut self,
        forgotten: &[(Origin, String)],
        report: &mut UpdateReport,
    ) -> Result<(), MemoryError> {
        let work = || {
            let sql = "SELECT EXISTS(SELECT 1 FROM session WHERE client = ?1 AND name = ?2 AND turns > 0)";
            let mut has_turns = self.connection.prepare_cached(sql)?;
            let mut left = Vec::new();
            for (origin, name) in forgotten {
                if has_turns.query_row([origin.name(), name], |row| row.get(0))? {
                    left.push((origin, name));
                }
            }
            if left.is_empty() {
                return Ok(0);
            }
            let change =
                Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
            let mut store = Store::new(&self.connection);
            for (origin, name) in left {
                store.forget_session_named(*origin, name)?;
            }
            let counts = store.counts();
            change.commit()?;
            Ok(counts.removed)
        };
        report.removed += work().map_err(|source| failed(&self.path, source))?;
        Ok(())
    }

    /// Compares the files with those that are known, and removes the turns of files that are gone.
    fn tasks<'f>(
        &mut self,
        files: &'f [SessionFile],
        known: &[Known],
        scope: &MemoryScope,
        report: &mut UpdateReport,
    ) -> Result<Vec<(&'f SessionFile, Task)>, MemoryError> {
        let path = self.path.clone();
        let fail = |source| failed(&path, source);
        let by_path: HashMap<&str, &Known> = known
            .iter()
            .map(|known| (known.path.as_str(), known))
            .collect();
        let by_file: HashMap<(i64, i64), &Known> = known
            .iter()
            .filter_map(|known| Some((known.file?, known)))
            .collect();
        let listed: HashSet<&str> = files.iter().filter_map(|file| file.path.to_str()).collect();
        let mut there: HashSet<i64> = HashSet::new();
        let mut tasks = Vec::new();
        let mut moved = Vec::new();
        for file in files {
            // A path that is no text is not read: it could not be shown either.
            let Some(name) = file.path.to_str() else {
                continue;
            };
            let id = file
                .id
                .map(|(device, inode)| (device.cast_signed(), inode.cast_signed()));
            let here = by_path.get(name).copied();
            let elsewhere = || {
                let found = by_file.get(&id?).copied()?;
                (!listed.contains(found.path.as_str())).then_some(found)
            };
            let found = here.or_else(elsewhere);
            let Some(found) = found else {
                tasks.push((file, Task::All(None)));
                continue;
            };
            there.insert(found.id);
            if here.is_none() {
                moved.push((found.id, name));
            }
            let is_same = found.file.is_none() || id.is_none() || found.file == id;
            let is_unchanged = is_same && found.len == file.len && found.modified == file.modified;
            match file.layout {
                _ if is_unchanged && file.layout != Layout::Database => {}
                Layout::Lines if is_same && file.len >= found.read => {
                    tasks.push((file, Task::From(found.id, found.read)));
                }
                // Its changes are in a second file.
                Layout::Database => tasks.push((file, Task::From(found.id, found.read))),
                Layout::Lines | Layout::Whole => tasks.push((file, Task::All(Some(found.id)))),
            }
        }
        let readable = |known: &&Known| {
            scope
                .folders
                .iter()
                .any(|folder| Path::new(&known.path).starts_with(&folder.path))
        };
        let gone: Vec<i64> = known
            .iter()
            .filter(|known| !there.contains(&known.id))
            .filter(readable)
            .map(|known| known.id)
            .collect();
        if gone.is_empty() && moved.is_empty() {
            return Ok(tasks);
        }
        let change = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
            .map_err(fail)?;
        for (id, name) in moved {
            change
                .execute("UPDATE file SET path = ?2 WHERE id = ?1", params![id, name])
                .map_err(fail)?;
        }
        let mut again = HashSet::new();
        let mut store = Store::new(&change);
        for id in gone {
            again.extend(store.forget_file(id).map_err(fail)?);
        }
        report.removed += store.counts().removed;
        change.commit().map_err(fail)?;
        // A file with copies of what is gone now has the only version.
        for file in files {
            let found = file.path.to_str().and_then(|name| by_path.get(name));
            if let Some(found) = found.filter(|found| again.contains(&found.id)) {
                tasks.retain(|(other, _)| other.path != file.path);
                tasks.push((file, Task::All(Some(found.id))));
            }
        }
        Ok(tasks)
    }

    /// Computes the vectors of turns that have none, if there is a model.
    pub(crate) fn complete_vectors(&self) -> Result<(), MemoryError> {
        let Some(model) = &self.model else {
            return Ok(());
        };
        let work = || {
            let sql = "SELECT EXISTS(SELECT 1 FROM session LEFT JOIN vectors ON vectors.session = session.id
                 WHERE session.next > coalesce(vectors.turns, 0))";
            if !self
                .connection
                .query_row(sql, [], |row| row.get::<_, bool>(0))?
            {
                return Ok(());
            }
            let change =
                Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
            vectors::complete(&self.connection, model)?;
            change.commit()
        };
        work().map_err(|source| failed(&self.path, source))
    }

    /// Forgets sessions in folders that are newly excluded, and has files read again that were excluded by others.
    fn exclude(
        &mut self,
        excluded: &[PathBuf],
        report: &mut UpdateReport,
    ) -> Result<(), MemoryError> {
        let path = self.path.clone();
        let fail = |source| failed(&path, source);
        let before: Vec<String> = self.read(|connection| {
            let mut statement =
                connection.prepare("SELECT folder FROM excluded ORDER BY folder")?;
            statement.query_map([], |row| row.get(0))?.collect()
        })?;
        let mut now: Vec<String> = excluded
            .iter()
            .map(|folder| folder.to_string_lossy().into_owned())
            .collect();
        now.sort_unstable();
        now.dedup();
        if before == now {
            return Ok(());
        }
        let change = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
            .map_err(fail)?;
        let work = || {
            change.execute("DELETE FROM excluded", [])?;
            for folder in &now {
                change.execute("INSERT INTO excluded(folder) VALUES(?1)", [folder])?;
            }
            // Read again, since they may be excluded no more.
            change.execute("DELETE FROM file WHERE excluded = 1", [])?;
            change.execute("UPDATE file SET stamp = '' WHERE stamp IS NOT NULL", [])?;
            let mut store = Store::new(&change);
            for session in store.sessions()? {
                if session
                    .folder
                    .as_deref()
                    .is_some_and(|folder| is_within(folder, excluded))
                {
                    store.forget_session(session.id)?;
                }
            }
            Ok(store.counts())
        };
        report.removed += work().map_err(fail)?.removed;
        change.commit().map_err(fail)
    }
}

/// Decides which sessions are left out.
pub(crate) struct LeavesOut<'s>(pub(crate) &'s MemoryScope);

impl LeavesOut<'_> {
    /// Whether sessions in this folder are left out.
    pub(crate) fn folder(&self, folder: &str) -> bool {
        is_within(folder, &self.0.excluded)
    }

    /// Whether this session is left out.
    pub(crate) fn session(&self, origin: Origin, name: &str) -> bool {
        let mut forgotten = self.0.forgotten.iter();
        forgotten.any(|(of, session)| *of == origin && session == name)
    }
}

/// Whether a session's folder is in one of these.
fn is_within(folder: &str, excluded: &[PathBuf]) -> bool {
    excluded
        .iter()
        .any(|outer| Path::new(folder).starts_with(outer))
}

fn known(connection: &Connection) -> rusqlite::Result<Vec<Known>> {
    let sql = "SELECT id, path, device, inode, read, len, modified FROM file WHERE stamp IS NULL";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |row| {
        let device: Option<i64> = row.get(2)?;
        Ok(Known {
            id: row.get(0)?,
            path: row.get(1)?,
            file: device.zip(row.get(3)?),
            read: row.get::<_, i64>(4)?.unsigned_abs(),
            len: row.get::<_, i64>(5)?.unsigned_abs(),
            modified: row.get(6)?,
        })
    })?;
    rows.collect()
}

/// Reads a file as its task says; whether it could be read.
fn read_file(
    disk: &Disk,
    file: &SessionFile,
    task: &Task,
    scope: &MemoryScope,
    store: &mut Store<'_>,
    progress: &mut dyn FnMut(u64, u64) -> bool,
) -> rusqlite::Result<bool> {
    let leaves_out = LeavesOut(scope);
    // Another process may have read the file since this one planned to. The next update sees what is left.
    let planned = match task {
        Task::From(id, read) => Some((*id, Some(*read))),
        Task::All(known) => known.map(|id| (id, None)),
    };
    if !store.is_as_planned(file, planned)? {
        return Ok(true);
    }
    if file.layout == Layout::Database {
        let (known, read) = match task {
            Task::From(id, read) => (Some(*id), *read),
            Task::All(known) => (*known, 0),
        };
        let id = store.begin_file(file, known)?;
        let newest = opencode::read(file, id, read, &leaves_out, store)?;
        store.end_file(id, newest.unwrap_or(read), file, 0)?;
        progress(file.len, store.counts().added);
        return Ok(newest.is_some());
    }
    let Ok(open) = disk.open(&file.path, OpenHow::READ) else {
        return Ok(false);
    };
    let (id, mut at) = match task {
        Task::From(id, read) if tail(&open, *read) == store.tail_of(*id)? => {
            (store.begin_file(file, Some(*id))?, *read)
        }
        Task::From(id, _) | Task::All(Some(id)) => {
            store.forget_file(*id)?;
            (store.begin_file(file, None)?, 0)
        }
        Task::All(None) => (store.begin_file(file, None)?, 0),
    };
    let noted = noted_folder(disk, file);
    if file.layout == Layout::Whole {
        if file.len > LARGEST_WHOLE {
            return Ok(false);
        }
        let Ok(bytes) = open.read_from(0) else {
            return Ok(false);
        };
        let mut changes = Changes::default();
        changes.facts.folder.clone_from(&noted);
        read_whole(file.client, &bytes, &mut changes);
        store.apply(id, file, changes, &leaves_out)?;
        store.end_file(id, bytes.len() as u64, file, 0)?;
        progress(bytes.len() as u64, store.counts().added);
        return Ok(true);
    }
    let mut rest: Vec<u8> = Vec::new();
    let mut buffer = vec![0; CHUNK];
    let mut skipping = false;
    let mut is_readable = true;
    loop {
        let Ok(count) = open.read_at(&mut buffer, at + rest.len() as u64) else {
            is_readable = false;
            break;
        };
        if count == 0 {
            break;
        }
        rest.extend_from_slice(&buffer[..count]);
        let whole = rest
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |end| end + 1);
        let mut changes = Changes::default();
        changes.facts.folder.clone_from(&noted);
        if let Some(lines) = rest[..whole].strip_suffix(b"\n") {
            for line in lines.split(|byte| *byte == b'\n') {
                if !skipping {
                    read_line(file.client, line, &mut changes);
                }
                skipping = false;
            }
        }
        store.apply(id, file, changes, &leaves_out)?;
        rest.drain(..whole);
        at += whole as u64;
        if rest.len() > LONGEST_LINE {
            at += rest.len() as u64;
            rest.clear();
            skipping = true;
        }
        if !progress(count as u64, store.counts().added) {
            break;
        }
    }
    store.end_file(id, at, file, tail(&open, at))?;
    Ok(is_readable)
}

/// Returns the folder of a session of Gemini CLI, whose files do not name it: a note next to them does.
fn noted_folder(disk: &Disk, file: &SessionFile) -> Option<String> {
    if file.client != Client::Gemini {
        return None;
    }
    let chats = file
        .path
        .ancestors()
        .find(|folder| folder.ends_with("chats"))?;
    let note = chats.parent()?.join(".project_root");
    let bytes = disk.read_at_most(&note, LONGEST_NOTE).ok()?;
    let folder = String::from_utf8(bytes).ok()?;
    let folder = folder.trim();
    (!folder.is_empty()).then(|| folder.to_owned())
}

/// Returns a number for the bytes before a place.
fn tail(file: &DiskFile, end: u64) -> i64 {
    let begin = end.saturating_sub(TAIL as u64);
    let bytes = file.read_range(begin, (end - begin) as usize);
    bytes.map_or(-1, |bytes| hash(&[&bytes]))
}
