//! [`LogWriter`]: the right to append, held by one process at a time.

use std::sync::Arc;

use callosum_host::{DiskError, DiskFile, FileLock, OpenHow, disk::FileId};
use jiff::Timestamp;

use super::{
    Cursor, Journal, JournalError, LogEnd, Reader,
    files::{MODE, Segment, last_seq},
    open::TipFile,
    sequence_mark,
};
use crate::{
    board_snapshot,
    event::{Draft, Event, Stamp},
};

/// Most bytes of an event as it is written. This is more than the limit of a submitted event, since
/// escapes take more room than the characters they encode.
const LONGEST_LINE: usize = 512 * 1024;

/// Characters of an id that we give an event.
const LONGEST_ID: usize = 36;

/// Meaning of an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Durability {
    /// It reached the subscribers, and is not stored.
    Ephemeral,
    /// It is in the log, and survives the end of every process of ours, but not a loss of power.
    Logged,
    /// It is in the log, and the system has confirmed that it is on disk.
    Synced,
}

impl Durability {
    /// All, the weakest first.
    pub const ALL: [Self; 3] = [Self::Ephemeral, Self::Logged, Self::Synced];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ephemeral => "ephemeral",
            Self::Logged => "logged",
            Self::Synced => "synced",
        }
    }
}

/// The end of the log, as this process knows it.
#[derive(Debug)]
pub(super) struct Head {
    file: Arc<DiskFile>,
    /// Identity of the file, which differs from one that replaces it.
    id: Option<FileId>,
    segment: Segment,
    /// Bytes of the file.
    len: u64,
    /// The `seq` of the next event.
    next: u64,
    /// Whether that is not the one after the last that is there, since the log was cut.
    is_ahead: bool,
    /// File with the number that was used last.
    mark: Arc<DiskFile>,
}

/// The right to append to the log. Given back when it is dropped or ended.
#[derive(Debug)]
pub struct LogWriter<'a> {
    journal: &'a mut Journal,
    lock: FileLock,
    /// Appended in this turn.
    is_used: bool,
    /// Number that was used last, if that is not written down yet.
    unmarked: Option<u64>,
}

impl<'a> LogWriter<'a> {
    pub(super) fn begin(journal: &'a mut Journal, lock: FileLock) -> Result<Self, JournalError> {
        let mut turn = Self {
            journal,
            lock,
            is_used: false,
            unmarked: None,
        };
        turn.catch_up()?;
        Ok(turn)
    }

    /// Finds the end of the log, where others have appended since the last turn.
    fn catch_up(&mut self) -> Result<(), JournalError> {
        let journal = &mut *self.journal;
        let events = journal.events();
        if let Some(head) = &journal.head {
            if is_still(journal, head)? && !is_followed(journal, head)? {
                return Ok(());
            }
            journal.head = None;
        }
        // What was opened may have been removed since, and another log begun in its place.
        if !journal.is_own()? {
            return Err(JournalError::Replaced {
                path: journal.folder.clone(),
            });
        }
        let segments = Segment::list(&journal.disk, &events)?;
        let segment = segments.last().cloned();
        let segment = segment.unwrap_or_else(|| Segment::new(&events, 1));
        let file = begun(journal, &segment)?;
        let (last, is_whole) = last_seq(&file)?;
        let mut len = file.size()?;
        if !is_whole {
            // What was torn was never acknowledged. It stays where it is, as a line that is none.
            file.write_at(b"\n", len)?;
            len += 1;
        }
        let (mark, handed_out) = sequence_mark::open(journal)?;
        let following = last.map_or(segment.first, |last| last + 1);
        let next = following.max(handed_out + 1);
        journal.head = Some(Head {
            next,
            is_ahead: next != following,
            mark: Arc::new(mark),
            id: file.id()?,
            file: Arc::new(file),
            segment,
            len,
        });
        Ok(())
    }

    /// The log.
    pub(crate) fn journal(&self) -> &Journal {
        self.journal
    }

    /// The event that a draft would be at this place. Nothing is appended.
    pub(crate) fn would_be(&self, draft: Draft, seq: u64) -> Event {
        let journal = &*self.journal;
        draft.stamped(Stamp {
            origin: &journal.origin,
            seq,
            id: String::new(),
            machine: &journal.machine,
            now: journal.clock.now(),
        })
    }

    /// The log's own id.
    pub fn origin(&self) -> &str {
        &self.journal.origin
    }

    /// The time of day, as the log's clock tells it.
    pub fn now(&self) -> Timestamp {
        self.journal.clock.now()
    }

    /// The end of the log.
    pub fn cursor(&self) -> Cursor {
        let next = self.journal.head.as_ref().map_or(1, |head| head.next);
        Cursor {
            origin: Some(self.journal.origin.clone()),
            seq: next - 1,
        }
    }

    /// Returns the end of the log in this turn, in which no one else appends. `before` is an
    /// earlier end of the same log. Costs nothing, since the turn knows its end.
    pub fn tip_after(&self, before: &LogEnd) -> LogEnd {
        let head = self.journal.head.as_ref();
        before.with_last(head.map(|head| TipFile {
            first: head.segment.first,
            bytes: head.len,
            id: head.id,
        }))
    }

    /// Begins to read after `cursor`, in a turn in which no one else appends.
    pub fn read_after(&self, cursor: &Cursor) -> Reader {
        self.journal.read_after(cursor)
    }

    /// Has the system set room aside for these events, so that no full disk keeps them from being appended in this turn.
    /// Nothing is appended.
    pub(crate) fn make_room(&self, drafts: Vec<Draft>) -> Result<(), JournalError> {
        let head = self.journal.head.as_ref();
        let head = head.expect("a turn knows the log's end");
        let longest_id = "0".repeat(LONGEST_ID);
        let mut bytes = 0;
        for draft in drafts {
            let event = Event {
                id: longest_id.clone(),
                ..self.would_be(draft, u64::MAX)
            };
            let line = serde_json::to_vec(&event).expect("an event can be written as JSON");
            bytes += line.len() as u64 + 1;
        }
        if bytes > 0 {
            head.file.reserve(head.len, bytes)?;
        }
        Ok(())
    }

    /// Appends these events, all or none, and assigns each a place. Their secrets are masked.
    ///
    /// They survive the end of this process once this has returned, and a loss of power once
    /// [`LogWriter::end`] with [`Durability::Synced`] has returned. One write for any number of
    /// events.
    pub fn append(&mut self, drafts: Vec<Draft>) -> Result<Vec<Event>, JournalError> {
        if drafts.is_empty() {
            return Ok(Vec::new());
        }
        self.rotate()?;
        let journal = &mut *self.journal;
        let head = journal.head.as_mut().expect("a turn knows the log's end");
        let now = journal.clock.now();
        let mut lines = Vec::new();
        let mut events = Vec::with_capacity(drafts.len());
        for (seq, draft) in (head.next..).zip(drafts) {
            let event = draft.stamped(Stamp {
                origin: &journal.origin,
                seq,
                id: journal.ids.uuid_v4(),
                machine: &journal.machine,
                now,
            });
            let start = lines.len();
            serde_json::to_writer(&mut lines, &event).expect("an event can be written as JSON");
            let bytes = lines.len() - start;
            if bytes > LONGEST_LINE {
                return Err(JournalError::TooLong {
                    bytes,
                    most: LONGEST_LINE,
                });
            }
            lines.push(b'\n');
            events.push(event);
        }
        if let Err(error) = head.file.write_at(&lines, head.len) {
            // Any part of it that is there is cut off. If that fails as well, the next turn finds a
            // torn line, or whole ones that were never acknowledged.
            drop(head.file.set_len(head.len));
            journal.head = None;
            return Err(error.into());
        }
        head.len += lines.len() as u64;
        head.next += events.len() as u64;
        head.is_ahead = false;
        self.unmarked = Some(head.next - 1);
        self.is_used = true;
        Ok(events)
    }

    /// Counts the turn as one with an append, so that its end syncs the log.
    pub(super) fn count_as_used(&mut self) {
        self.is_used = true;
    }

    /// Begins a new file where the last has reached its size, and removes the oldest past the limit.
    fn rotate(&mut self) -> Result<(), JournalError> {
        let journal = &mut *self.journal;
        let head = journal.head.as_ref().expect("a turn knows the log's end");
        // Who reads looks for the file that is named for the number after the last: not before there is an event
        // of the new number.
        if head.len < journal.retention.file_bytes
            || head.next == head.segment.first
            || head.is_ahead
        {
            return Ok(());
        }
        // The new file's name gives the next number, and the mark is opened again.
        if let Some(seq) = self.unmarked.take() {
            sequence_mark::write(&head.mark, &journal.origin, seq)?;
        }
        // What is synced after this is synced in the new file alone.
        head.file.sync_data()?;
        let segment = Segment::new(&journal.events(), head.next);
        let file = begun(journal, &segment)?;
        let (mark, _) = sequence_mark::open(journal)?;
        journal.head = Some(Head {
            next: segment.first,
            is_ahead: false,
            mark: Arc::new(mark),
            id: file.id()?,
            file: Arc::new(file),
            segment,
            len: 0,
        });
        prune(journal)?;
        Ok(())
    }

    /// Gives the right back, and then does what `durability` asks for: nothing, or one sync of the log for all that was
    /// appended in the turn.
    ///
    /// Others append while the disk is waited for.
    pub fn end(self, durability: Durability) -> Result<(), JournalError> {
        let Self {
            journal,
            lock,
            is_used,
            unmarked,
        } = self;
        if let (Some(seq), Some(head)) = (unmarked, &journal.head)
            && let Err(error) = sequence_mark::write(&head.mark, &journal.origin, seq)
        {
            // The events are complete, but not acknowledged.
            journal.head = None;
            return Err(error.into());
        }
        drop(lock);
        if durability == Durability::Synced
            && is_used
            && let Some(head) = &journal.head
        {
            let synced = head.file.sync_data();
            if let Err(error) = synced {
                journal.head = None;
                return Err(JournalError::Unsynced(error));
            }
        }
        Ok(())
    }

    /// Does what an acknowledgement waits for. The caller decides when to return the right to
    /// append, and when and in which thread to wait for the disk.
    ///
    /// The events are in the log when this returns. No one else appends until [`Rest::end`], and
    /// this process must not begin another turn before.
    pub fn answered(self) -> Rest {
        let head = self.journal.head.as_ref();
        let unmarked = self.unmarked.zip(head);
        Rest {
            unsynced: head
                .filter(|_| self.is_used)
                .map(|head| Unsynced(Arc::clone(&head.file))),
            unmarked: unmarked.map(|(seq, head)| (Arc::clone(&head.mark), seq)),
            origin: self.journal.origin.clone(),
            lock: self.lock,
        }
    }
}

/// Remainder of a turn, after the acknowledgements.
#[derive(Debug)]
pub struct Rest {
    lock: FileLock,
    origin: String,
    unmarked: Option<(Arc<DiskFile>, u64)>,
    unsynced: Option<Unsynced>,
}

impl Rest {
    /// The log's own id.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Returns what may not be on disk yet. `None` if nothing was appended.
    pub fn unsynced(&self) -> Option<Unsynced> {
        self.unsynced.clone()
    }

    /// Writes down the number that was used last, and returns the right to append.
    ///
    /// After a failure [`Journal::forget_end`] makes the next turn look at the files. The events
    /// are in the log in any case.
    pub fn end(self) -> Result<(), JournalError> {
        let marked = match &self.unmarked {
            Some((mark, seq)) => sequence_mark::write(mark, &self.origin, *seq),
            None => Ok(()),
        };
        drop(self.lock);
        Ok(marked?)
    }
}

/// Events of turns that have ended, which may not be on disk yet. One sync is enough for all that
/// was appended to the log before it began.
#[derive(Clone, Debug)]
pub struct Unsynced(Arc<DiskFile>);

impl Unsynced {
    /// Whether a sync of one does for the other.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Waits until the disk has it. Any thread may call this.
    ///
    /// After a failure [`Journal::forget_end`] makes the next turn look at the files.
    pub fn sync(&self) -> Result<(), JournalError> {
        self.0.sync_data().map_err(JournalError::Unsynced)
    }
}

/// Whether the open file is still the one under its name, and has not grown: others may have
/// appended to it, removed it, or put another in its place.
fn is_still(journal: &Journal, head: &Head) -> Result<bool, DiskError> {
    let stat = journal.disk.stat(&head.segment.path)?;
    Ok(stat.is_some_and(|stat| stat.id == head.id && stat.len == head.len))
}

/// Whether another file was begun after this one, as is done only when it has its size.
fn is_followed(journal: &Journal, head: &Head) -> Result<bool, DiskError> {
    if head.len < journal.retention.file_bytes || head.next == head.segment.first {
        return Ok(false);
    }
    let following = Segment::new(&journal.events(), head.next);
    journal.disk.exists(&following.path)
}

/// Opens the file that is appended to; one that is new has its name on disk before anything is in it.
fn begun(journal: &Journal, segment: &Segment) -> Result<DiskFile, DiskError> {
    let is_new = !journal.disk.exists(&segment.path)?;
    let how = OpenHow::READ_WRITE_CREATE.with_mode(MODE);
    let file = journal.disk.open(&segment.path, how)?;
    if is_new {
        journal.disk.sync_dir(&journal.events())?;
    }
    Ok(file)
}

/// Removes the oldest files past the limit, but none with events that a board follows from and is not kept with.
fn prune(journal: &Journal) -> Result<(), DiskError> {
    let segments = Segment::list(&journal.disk, &journal.events())?;
    let mut total = 0;
    let kept = segments.iter().rev().skip(1).position(|segment| {
        let stat = journal.disk.stat(&segment.path);
        total += stat.ok().flatten().map_or(0, |stat| stat.len);
        total > journal.retention.total_bytes
    });
    let Some(kept) = kept else {
        return Ok(());
    };
    let gone = segments.len() - 1 - kept;
    let is_remembered = journal
        .disk
        .exists(&journal.folder.join(board_snapshot::BOARD))?;
    let reach = match board_snapshot::reach(&journal.disk, &journal.folder, &journal.origin)? {
        Some(reach) => reach,
        None if is_remembered => 0,
        // No process has asked for a board yet.
        None => u64::MAX,
    };
    for (segment, following) in segments[..gone].iter().zip(&segments[1..]) {
        if following.first - 1 > reach {
            break;
        }
        journal.disk.remove_file(&segment.path)?;
    }
    Ok(())
}
