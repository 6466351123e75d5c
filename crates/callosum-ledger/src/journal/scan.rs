//! Reading on in the journal from a known position, and telling a torn end from damage.

use std::path::{Path, PathBuf};

use callosum_host::{Disk, DiskError, DiskFile, OpenHow};
use jiff::{Timestamp, civil::Date};

use super::{
    archived::Archived,
    day::{DayFile, day_files, path_of_day},
    record::{Begins, JOURNAL_FORMAT, Record, RecordFault},
    stored_entry::{EntryRef, StoredEntry},
};
use crate::{
    entry::checksum_at_head,
    lines::Lines,
    paths::LedgerPaths,
    position::{Position, View},
};
use callosum_json::Checksum;

/// Contents of the journal from a position on.
pub(crate) struct Followed {
    /// The position after its last whole record.
    pub(crate) position: Position,
    /// The entries that were stored, in order; of the ledger that is active at the end.
    pub(crate) entries: Vec<StoredEntry>,
    /// Whether a ledger was begun on the way, so that what stood before is not the active one.
    pub(crate) began: bool,
    /// The ledgers that were archived on the way, in order.
    pub(crate) archived: Vec<Archived>,
    /// Whether the active ledger was begun by a recovery, which replaces the one before it.
    pub(crate) recovered: bool,
    /// Bytes that a crash left behind the last whole record.
    pub(crate) torn: Option<Torn>,
}

/// The end of a file that a crash cut off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Torn {
    pub(crate) path: PathBuf,
    pub(crate) offset: u64,
}

/// Reason that the journal cannot be followed.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// A file could not be read.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// A record that had been acknowledged as on disk has changed.
    #[error("the audit journal is damaged at record {seq}, byte {offset} of `{}`: {reason}", path.display())]
    Damaged {
        /// The day file.
        path: PathBuf,
        /// Offset in it of the faulty line, from 0.
        offset: u64,
        /// The record that should stand there.
        seq: u64,
        /// The defect.
        reason: String,
    },
    /// A later version wrote it.
    #[error("the audit journal has format {found}, but this program writes {supported}")]
    Newer {
        /// Its format.
        found: u32,
        /// Ours.
        supported: u32,
    },
}

/// Receiver of the journal's contents, record by record.
pub(crate) trait ScanVisitor {
    /// A ledger is begun; called before its first entry. `before` is the one that was active, which
    /// was archived if `begins` says so, and replaced otherwise.
    fn begins(&mut self, _before: Option<&View>, _begins: &Begins) -> Result<(), DiskError> {
        Ok(())
    }

    /// An entry is stored, by the record that begins at this offset of the last of the journal's
    /// files.
    fn stores(&mut self, entry: EntryRef<'_>, at: RecordPlace) -> Result<(), DiskError>;
}

/// Position of a record in the journal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordPlace {
    pub(crate) day: Date,
    pub(crate) offset: u64,
    pub(crate) len: u64,
}

/// Reads on from `from`, to the end of the last day file.
pub(crate) fn follow(
    disk: &Disk,
    paths: &LedgerPaths,
    from: &Position,
) -> Result<Followed, JournalError> {
    let days = stock_of_days(disk, &paths.audit)?;
    collect(disk, paths, &days, from, &mut |_| Ok(()))
}

/// End of the part of the journal to read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Until {
    /// At the last record.
    End,
    /// At the last record of this day.
    Day(Date),
    /// Before the first record that is later than this.
    Time(Timestamp),
}

impl Until {
    fn has_day(self, day: Date) -> bool {
        match self {
            Self::Day(last) => day <= last,
            Self::End | Self::Time(_) => true,
        }
    }
}

/// A ledger that was archived, with all that it holds.
pub(crate) struct Passed<'a> {
    /// The ledger before its first entry.
    pub(crate) begun: &'a View,
    pub(crate) entries: &'a [StoredEntry],
    pub(crate) archived: &'a Archived,
}

/// Reads the whole journal, as far as its files went when these sizes were taken, and shows each
/// ledger that was archived on the way, one at a time.
pub(crate) fn follow_segments(
    disk: &Disk,
    paths: &LedgerPaths,
    days: &[(DayFile, u64)],
    mut pass: impl FnMut(Passed<'_>) -> Result<(), DiskError>,
) -> Result<Followed, JournalError> {
    collect(disk, paths, days, &Position::start(), &mut pass)
}

/// Follows the journal and keeps the entries of the ledger that is active.
fn collect(
    disk: &Disk,
    paths: &LedgerPaths,
    days: &[(DayFile, u64)],
    from: &Position,
    pass: &mut dyn FnMut(Passed<'_>) -> Result<(), DiskError>,
) -> Result<Followed, JournalError> {
    let mut collecting = Collecting {
        entries: Vec::new(),
        pass,
    };
    let mut followed = walk_days(disk, paths, days, from, Until::End, &mut collecting)?;
    followed.entries = collecting.entries;
    Ok(followed)
}

struct Collecting<'p> {
    entries: Vec<StoredEntry>,
    pass: &'p mut dyn FnMut(Passed<'_>) -> Result<(), DiskError>,
}

impl ScanVisitor for Collecting<'_> {
    fn begins(&mut self, before: Option<&View>, begins: &Begins) -> Result<(), DiskError> {
        if let (Some(archived), Some(begun)) = (&begins.archived, before) {
            (self.pass)(Passed {
                begun,
                entries: &self.entries,
                archived,
            })?;
        }
        self.entries.clear();
        Ok(())
    }

    fn stores(&mut self, entry: EntryRef<'_>, _at: RecordPlace) -> Result<(), DiskError> {
        self.entries.push(StoredEntry {
            json: entry.json.to_owned(),
            checksum: entry.checksum,
        });
        Ok(())
    }
}

/// Reads on from `from` and passes each record to `visitor`; holds one record at a time.
///
/// The entries in the result are empty.
pub(crate) fn walk(
    disk: &Disk,
    paths: &LedgerPaths,
    from: &Position,
    until: Until,
    visitor: &mut dyn ScanVisitor,
) -> Result<Followed, JournalError> {
    let days = stock_of_days(disk, &paths.audit)?;
    walk_days(disk, paths, &days, from, until, visitor)
}

/// A visitor that ignores entries.
pub(crate) struct IgnoreEntries;

impl ScanVisitor for IgnoreEntries {
    fn stores(&mut self, _entry: EntryRef<'_>, _at: RecordPlace) -> Result<(), DiskError> {
        Ok(())
    }
}

/// Reads the whole journal, without passing on its entries.
pub(crate) fn walk_alone(disk: &Disk, paths: &LedgerPaths) -> Result<Followed, JournalError> {
    walk(
        disk,
        paths,
        &Position::start(),
        Until::End,
        &mut IgnoreEntries,
    )
}

/// The journal's files and their sizes at this moment.
pub(crate) fn stock_of_days(disk: &Disk, audit: &Path) -> Result<Vec<(DayFile, u64)>, DiskError> {
    let mut days = Vec::new();
    for day in day_files(disk, audit)? {
        let size = disk.stat(&day.path)?.map_or(0, |stat| stat.len);
        days.push((day, size));
    }
    Ok(days)
}

/// As [`walk`], within what the journal's files held when these sizes were taken.
pub(crate) fn walk_days(
    disk: &Disk,
    paths: &LedgerPaths,
    days: &[(DayFile, u64)],
    from: &Position,
    until: Until,
    visitor: &mut dyn ScanVisitor,
) -> Result<Followed, JournalError> {
    let files: Vec<_> = days
        .iter()
        .filter(|(file, _)| from.day.is_none_or(|day| file.day >= day))
        .filter(|(file, _)| until.has_day(file.day))
        .collect();
    if let Some(day) = from.day {
        let path = path_of_day(&paths.audit, day);
        let file = disk.open_if_there(&path, OpenHow::READ)?;
        let is_there = match &file {
            Some(file) => is_at(file, from)?,
            None => false,
        };
        if !is_there {
            return Err(JournalError::Damaged {
                path,
                offset: from.offset,
                seq: from.seq,
                reason: "the record no longer exists".to_owned(),
            });
        }
    }
    let mut followed = Followed {
        position: from.clone(),
        entries: Vec::new(),
        began: false,
        archived: Vec::new(),
        recovered: false,
        torn: None,
    };
    for (index, (day_file, size)) in files.iter().enumerate() {
        let file = disk.open(&day_file.path, OpenHow::READ)?;
        if followed.position.day != Some(day_file.day) {
            followed.position.day = Some(day_file.day);
            followed.position.offset = 0;
            followed.position.before_day = followed.position.seq;
        }
        let mut lines = Lines::new(&file, followed.position.offset, *size);
        while let Some(line) = lines.next()? {
            let read = if line.is_whole {
                Record::read(line.bytes).map_err(ScanFault::Record)
            } else {
                Err(ScanFault::Unfinished)
            };
            let (offset, end) = (line.offset, line.end());
            let place = RecordPlace {
                day: day_file.day,
                offset,
                len: line.bytes.len() as u64,
            };
            if let (Until::Time(last), Ok(record)) = (until, &read)
                && record.head.timestamp > last
            {
                return Ok(followed);
            }
            let taken = match read {
                Ok(record) => followed.take(&record, end, place, visitor)?,
                Err(fault) => Err(fault),
            };
            match taken {
                Ok(()) => {}
                Err(ScanFault::Newer(found)) => {
                    return Err(JournalError::Newer {
                        found,
                        supported: JOURNAL_FORMAT,
                    });
                }
                Err(fault) => {
                    let seq = followed.position.seq + 1;
                    let later = &files[index + 1..];
                    if was_promised(seq, &mut lines, later)? {
                        return Err(JournalError::Damaged {
                            path: day_file.path.clone(),
                            offset,
                            seq,
                            reason: fault.to_string(),
                        });
                    }
                    followed.torn = Some(Torn {
                        path: day_file.path.clone(),
                        offset,
                    });
                    return Ok(followed);
                }
            }
        }
    }
    Ok(followed)
}

/// Whether anything after a bad record confirms that it had been on disk.
///
/// The existence of a later day file confirms it: the one before is synced first.
fn was_promised(
    seq: u64,
    rest: &mut Lines<'_>,
    later: &[&(DayFile, u64)],
) -> Result<bool, DiskError> {
    while let Some(line) = rest.next()? {
        if Record::read(line.bytes).is_ok_and(|record| record.head.synced >= seq) {
            return Ok(true);
        }
    }
    Ok(later.iter().any(|(_, size)| *size > 0))
}

/// Reason that a line is not the journal's next record.
#[derive(Debug, thiserror::Error)]
enum ScanFault {
    #[error("the line is incomplete")]
    Unfinished,
    #[error(transparent)]
    Record(RecordFault),
    #[error("record {found} is in the place of {expected}")]
    Number { expected: u64, found: u64 },
    #[error("it follows {found}, but the record before it is {expected}")]
    Link { expected: Checksum, found: Checksum },
    #[error("{0}")]
    Content(String),
    #[error("format {0}")]
    Newer(u32),
}

impl Followed {
    /// Takes the next record in, which ends at `end` in its file.
    fn take(
        &mut self,
        record: &Record<'_>,
        end: u64,
        place: RecordPlace,
        visitor: &mut dyn ScanVisitor,
    ) -> Result<Result<(), ScanFault>, DiskError> {
        let begins = match self.check(record) {
            Ok(begins) => begins,
            Err(fault) => return Ok(Err(fault)),
        };
        if let Some(mut begins) = begins {
            if let (Some(archived), Some(begun)) = (&mut begins.archived, &self.position.view) {
                archived.follows = begun.follows;
            }
            visitor.begins(self.position.view.as_ref(), &begins)?;
            self.archived.extend(begins.archived.clone());
            self.recovered = begins.is_recovery;
            self.position.archives.extend(begins.archived.take());
            self.position.archives.append(&mut begins.adopted);
            if let Some(id) = begins.last_id.take() {
                self.position.note_id(&id);
            }
            self.position.view = Some(begins.view());
            self.began = true;
        }
        if record.stores() {
            match entry_of(record) {
                Ok(entry) => visitor.stores(entry, place)?,
                Err(fault) => return Ok(Err(fault)),
            }
        }
        self.note(record, end);
        Ok(Ok(()))
    }

    /// Checks that a record is the next one, and returns the ledger that it begins.
    fn check(&self, record: &Record<'_>) -> Result<Option<Begins>, ScanFault> {
        let position = &self.position;
        if record.head.seq != position.seq + 1 {
            return Err(ScanFault::Number {
                expected: position.seq + 1,
                found: record.head.seq,
            });
        }
        if record.prev != position.head {
            return Err(ScanFault::Link {
                expected: position.head,
                found: record.prev,
            });
        }
        let begins = record.begins().map_err(ScanFault::Content)?;
        match begins {
            Some(begins) if begins.journal > JOURNAL_FORMAT => {
                Err(ScanFault::Newer(begins.journal))
            }
            begins => Ok(begins),
        }
    }

    fn note(&mut self, record: &Record<'_>, end: u64) {
        let position = &mut self.position;
        if let Some(id) = record
            .head
            .task_id
            .as_deref()
            .and_then(|id| id.parse().ok())
        {
            position.note_id(&id);
        }
        position.seq = record.head.seq;
        position.head = record.hash;
        position.synced = position.synced.max(record.head.synced);
        position.offset = end;
    }
}

fn entry_of<'a>(record: &Record<'a>) -> Result<EntryRef<'a>, ScanFault> {
    let entry = record
        .entry
        .ok_or_else(|| ScanFault::Content("it stores an entry but contains none".to_owned()))?;
    let checksum = checksum_at_head(entry.as_bytes())
        .ok_or_else(|| ScanFault::Content("its entry is not in canonical form".to_owned()))?;
    Ok(EntryRef {
        json: entry,
        checksum,
    })
}

/// Whether the record that ends at this position is in its file.
pub(super) fn is_at(file: &DiskFile, position: &Position) -> Result<bool, DiskError> {
    let len = crate::chain::JOURNAL.end_len();
    let Some(from) = position.offset.checked_sub(len as u64) else {
        return Ok(false);
    };
    if position.offset > file.size()? {
        return Ok(false);
    }
    let end = file.read_range(from, len)?;
    Ok(end.ends_with(b"\n")
        && crate::chain::JOURNAL.stated(&end[..end.len() - 1]) == Some(position.head))
}
