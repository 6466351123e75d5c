//! [`Journal`]: the log of one machine, opened.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use callosum_host::{
    Clock, Disk, DiskError, Ids, LockError, LockFile,
    disk::{EntryKind, FileId},
};
use jiff::Timestamp;

use super::{
    Cursor, Reader,
    files::{MODE, Segment},
    writer::{Durability, Head, LogWriter},
};
use crate::{
    agent::AgentName,
    event::{Draft, Event, Stamp},
};

/// The file with the log's own id.
const ORIGIN: &str = "origin";

/// The folder of the log's files.
const EVENTS: &str = "events";

/// The lock that is held to append.
const LOCK: &str = "events.lock";

/// Longest wait for other processes that append.
const PATIENCE: Duration = Duration::from_secs(5);

/// Amount of the log that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Bytes after which a new file is begun.
    pub file_bytes: u64,
    /// Bytes of all files, past which the oldest are removed whole; the one that is appended to is always kept.
    pub total_bytes: u64,
}

impl Default for Retention {
    /// Files of 16 MiB, 256 MiB of them: about 600,000 events of 400 bytes.
    fn default() -> Self {
        Self {
            file_bytes: 16 * 1024 * 1024,
            total_bytes: 256 * 1024 * 1024,
        }
    }
}

/// The event log of this machine.
///
/// Cheap to open: only the log's own id is read. A process keeps the end of the log from one turn
/// to the next, so a turn after one of its own reads nothing.
#[derive(Debug)]
pub struct Journal {
    pub(super) disk: Disk,
    pub(super) clock: Clock,
    pub(super) ids: Ids,
    pub(super) folder: PathBuf,
    pub(super) origin: String,
    pub(super) machine: String,
    pub(super) retention: Retention,
    pub(super) head: Option<Head>,
    lock: LockFile,
    /// Time left to wait for others, in all turns together. If there is no such limit, each turn
    /// may wait as long as by default.
    left: Option<Duration>,
}

impl Journal {
    /// Opens the log in `folder`, which is created if it is missing. Its events name this machine
    /// `machine`.
    ///
    /// The log has an id of its own, made once: if the folder is removed, another log begins, and
    /// readers of the old one get a notice.
    pub fn open(
        disk: &Disk,
        clock: &Clock,
        ids: &Ids,
        folder: &Path,
        machine: &str,
    ) -> Result<Self, JournalError> {
        // One by one: the folders above a private one may belong to others.
        disk.create_private_dir(folder)?;
        disk.create_private_dir(&folder.join(EVENTS))?;
        let origin = own_id(disk, ids, folder)?;
        Ok(Self {
            disk: disk.clone(),
            clock: clock.clone(),
            ids: ids.clone(),
            folder: folder.to_owned(),
            origin,
            machine: machine.to_owned(),
            retention: Retention::default(),
            head: None,
            lock: LockFile::private(),
            left: None,
        })
    }

    /// The same, keeping another amount.
    #[must_use]
    pub fn with_retention(self, retention: Retention) -> Self {
        Self { retention, ..self }
    }

    /// The disk that it is on.
    pub(crate) fn disk(&self) -> &Disk {
        &self.disk
    }

    /// The same, which waits for others no longer than this in all of its turns together.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self {
            left: Some(patience),
            ..self
        }
    }

    /// The log's own id.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The time of day, as the log's clock tells it.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Returns a new unique id.
    pub fn new_id(&self) -> String {
        self.ids.uuid_v4()
    }

    /// The folder with the log's files.
    pub fn events(&self) -> PathBuf {
        self.folder.join(EVENTS)
    }

    /// Waits for the right to append, up to five seconds, or for what is left of
    /// [`Journal::with_patience`].
    ///
    /// During the turn no other process appends: what is read in a turn is still true when it ends.
    pub fn turn(&mut self) -> Result<LogWriter<'_>, JournalError> {
        let begun = Instant::now();
        let patience = self.left.unwrap_or(PATIENCE);
        let lock = self.lock.clone();
        let lock = lock.acquire(&self.disk, &self.folder.join(LOCK), patience);
        if let Some(left) = &mut self.left {
            *left = left.saturating_sub(begun.elapsed());
        }
        LogWriter::begin(self, lock?)
    }

    /// Syncs what any process has appended, so that it survives a loss of power.
    pub fn sync(&mut self) -> Result<(), JournalError> {
        let mut turn = self.turn()?;
        turn.count_as_used();
        turn.end(Durability::Synced)
    }

    /// The file that is locked by who appends.
    pub fn lock_path(&self) -> PathBuf {
        self.folder.join(LOCK)
    }

    /// Returns the right to append, if no one else has it just now.
    pub fn try_turn(&mut self) -> Result<Option<LogWriter<'_>>, JournalError> {
        let lock = self.lock.clone();
        match lock.try_acquire(&self.disk, &self.folder.join(LOCK))? {
            Some(lock) => LogWriter::begin(self, lock).map(Some),
            None => Ok(None),
        }
    }

    /// Makes the next turn look for the end of the log again, as after a sync that failed.
    pub fn forget_end(&mut self) {
        self.head = None;
    }

    /// These as events that are kept nowhere: their `seq` is 0, and their secrets are masked all the
    /// same.
    pub fn ephemeral(&self, drafts: Vec<Draft>) -> Vec<Event> {
        let now = self.clock.now();
        let stamped = drafts.into_iter().map(|draft| {
            draft.stamped(Stamp {
                origin: &self.origin,
                seq: 0,
                id: self.ids.uuid_v4(),
                machine: &self.machine,
                now,
            })
        });
        stamped.collect()
    }

    /// Returns the end of the log, which changes with each append.
    ///
    /// Costs a listing of the folder, and no lock. A caller that polls it sees what others append.
    pub fn tip(&self) -> Result<LogEnd, JournalError> {
        let last = Segment::list(&self.disk, &self.events())?.pop();
        let last = match last {
            Some(segment) => self.disk.stat(&segment.path)?.map(|stat| TipFile {
                first: segment.first,
                bytes: stat.len,
                id: stat.id,
            }),
            None => None,
        };
        let origin = self.disk.stat(&self.folder.join(ORIGIN))?;
        Ok(LogEnd {
            origin: origin.and_then(|stat| stat.id),
            last,
        })
    }

    /// Whether the log that `tip` was taken of is still the one in this folder. One look at one
    /// file.
    pub fn is_in_place(&self, tip: &LogEnd) -> Result<bool, JournalError> {
        let origin = self.disk.stat(&self.folder.join(ORIGIN))?;
        Ok(origin.is_some_and(|stat| stat.id == tip.origin))
    }

    /// Whether the log in the folder has the id that it had when it was opened. One read of one small file.
    pub fn is_own(&self) -> Result<bool, JournalError> {
        let bytes = self.disk.read_if_there(&self.folder.join(ORIGIN))?;
        Ok(bytes.is_some_and(|bytes| bytes.trim_ascii() == self.origin.as_bytes()))
    }

    /// Begins to read after `cursor`.
    pub fn read_after(&self, cursor: &Cursor) -> Reader {
        Reader::begin(&self.disk, &self.events(), &self.origin, cursor)
    }

    /// Returns the bytes and the number of the log's files.
    pub fn size(&self) -> Result<(u64, usize), JournalError> {
        let segments = Segment::list(&self.disk, &self.events())?;
        let mut bytes = 0;
        for segment in &segments {
            bytes += self.disk.stat(&segment.path)?.map_or(0, |stat| stat.len);
        }
        Ok((bytes, segments.len()))
    }
}

/// The end of the log, to be held against another: where they are equal, nothing was appended between.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogEnd {
    /// The file with the log's id.
    origin: Option<FileId>,
    last: Option<TipFile>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TipFile {
    pub(super) first: u64,
    pub(super) bytes: u64,
    pub(super) id: Option<FileId>,
}

impl LogEnd {
    /// The `seq` of the first event in the last file.
    pub(crate) fn first(&self) -> Option<u64> {
        self.last.as_ref().map(|last| last.first)
    }

    /// The same log, which ends so by now.
    pub(super) fn with_last(&self, last: Option<TipFile>) -> Self {
        Self {
            origin: self.origin,
            last,
        }
    }

    /// The same log without anything in it: unequal to every tip of it that has something.
    #[must_use]
    pub fn without_content(self) -> Self {
        Self { last: None, ..self }
    }
}

/// Most bytes of the file with the log's id.
const LONGEST_ORIGIN: u64 = 4 * 1024;

/// Most times that a file with the log's id may be removed between two looks at it.
const MOST_REMOVED: usize = 16;

/// Returns the log's id, and makes one if there is none yet. Of two processes that make one, one wins.
fn own_id(disk: &Disk, ids: &Ids, folder: &Path) -> Result<String, JournalError> {
    let path = folder.join(ORIGIN);
    for _ in 0..MOST_REMOVED {
        if let Some(id) = read_id(disk, &path)? {
            return Ok(id);
        }
        let id = format!("{}\n", ids.uuid_v4());
        if disk.create(&path, id.as_bytes(), MODE)? {
            continue;
        }
        // The name is taken and leads to no file: to look again would never end.
        let found = disk.stat(&path)?;
        if found.is_some_and(|found| found.kind == EntryKind::Link)
            && read_id(disk, &path)?.is_none()
        {
            return Err(JournalError::LostOrigin { path });
        }
    }
    Err(JournalError::NoOrigin { path })
}

/// Reads the log's id; `None` if there is no file.
fn read_id(disk: &Disk, path: &Path) -> Result<Option<String>, JournalError> {
    let bytes = match disk.read_at_most(path, LONGEST_ORIGIN) {
        Ok(bytes) => bytes,
        Err(error) if error.is_absent() => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let text = String::from_utf8_lossy(&bytes);
    let id = text.trim();
    let is_id = !id.is_empty()
        && id.len() <= 64
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if is_id {
        Ok(Some(id.to_owned()))
    } else {
        let path = path.to_owned();
        Err(JournalError::NoOrigin { path })
    }
}

/// Error of reading the log or appending to it.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// A file cannot be read or written.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// Others appended for as long as it was waited.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The file with the log's id holds something else.
    #[error("{} does not contain the id of the log", .path.display())]
    NoOrigin {
        /// The file.
        path: PathBuf,
    },
    /// The file with the log's id is a symbolic link to a missing file.
    #[error("{} is a symbolic link to a missing file: it must contain the id of the log", .path.display())]
    LostOrigin {
        /// The link.
        path: PathBuf,
    },
    /// An event is longer than one may be.
    #[error("an event has {bytes} bytes (limit: {most})")]
    TooLong {
        /// Its bytes as they would be written.
        bytes: usize,
        /// Most that may be.
        most: usize,
    },
    /// The log that was opened is no longer in its folder.
    #[error("the log in {} was removed while it was open, and another one may exist now", .path.display())]
    Replaced {
        /// Its folder.
        path: PathBuf,
    },
    /// An author names an event by the id of another.
    #[error("`{id}` is already the id of another event of {agent}{} with different content: use \
        another id", .seq.map(|seq| format!(" (number {seq})")).unwrap_or_default())]
    Reused {
        /// The author.
        agent: AgentName,
        /// The id.
        id: String,
        /// Number of that event in the log. `None` if both were submitted at once.
        seq: Option<u64>,
    },
    /// The events may not be on disk, since the system reported an error.
    #[error("events were written, but may not survive a power loss")]
    Unsynced(#[source] DiskError),
}
