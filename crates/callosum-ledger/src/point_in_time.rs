//! The ledger as it stood at a time, from the journal alone.

use std::path::{Path, PathBuf};

use callosum_host::{Disk, DiskError, DiskFile, OpenHow};
use jiff::{Timestamp, civil::Date};

use crate::{
    entry::{Entry, EntryError, checksum_at_head, is_sealed},
    error_code::ErrorCode,
    inventory::FileInventory,
    journal::{Begins, EntryRef, Record, RecordPlace, ScanVisitor, Until, path_of_day, walk_days},
    open_error::OpenError,
    paths::LedgerPaths,
    position::{Position, View},
};

/// The ledger as it stood at a time. Its entries stay in the journal until they are asked for.
#[derive(Debug)]
pub struct Past {
    /// Number of archives.
    pub archives: u64,
    /// Number of entries in archives that are older than the journal, which does not have these
    /// entries.
    pub adopted_entries: u64,
    /// Number of records in the journal.
    pub records: u64,
    disk: Disk,
    audit: PathBuf,
    view: View,
    /// Positions of the entries of the ledger that was active then, in the order of commits.
    active: Vec<RecordPlace>,
    /// The same of the archives.
    archived: Vec<RecordPlace>,
}

/// Error of reconstructing an earlier state.
#[derive(Debug, thiserror::Error)]
pub enum PastError {
    /// The journal, or the lock that keeps it unchanged during the read, was not available.
    #[error(transparent)]
    Journal(#[from] OpenError),
    /// There was no ledger yet.
    #[error("no ledger existed at {time}")]
    NotYet {
        /// The time that was asked for.
        time: Timestamp,
    },
    /// An entry in the journal violates the schema.
    #[error("cannot read entry {number} of the audit journal")]
    Entry {
        /// The entry's number among all that were committed by then, from 1.
        number: usize,
        /// Cause of the failure.
        source: EntryError,
    },
}

impl PastError {
    /// Returns the seed's code for it, if there is one.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Journal(error) => error.code(),
            Self::NotYet { .. } => None,
            Self::Entry { .. } => Some(ErrorCode::ChecksumMismatch),
        }
    }
}

/// Rebuilds the ledger as of `time`: with every record up to, not including, the first that is
/// later.
///
/// Reads the journal from its beginning, checks every record's place in the chain and every entry's
/// checksum, and changes nothing. Holds a few bytes for each entry. Takes the audit lock for a
/// moment, if the project is writable, and reads the state of that moment.
pub fn past(disk: &Disk, paths: &LedgerPaths, time: Timestamp) -> Result<Past, PastError> {
    let stock = FileInventory::take(disk, paths).map_err(OpenError::from)?;
    let mut places = Places::default();
    let (start, until) = (Position::start(), Until::Time(time));
    let followed = walk_days(disk, paths, &stock.days, &start, until, &mut places);
    let followed = followed.map_err(OpenError::from)?;
    let Some(view) = followed.position.view else {
        return Err(PastError::NotYet { time });
    };
    if let Some((number, source)) = places.wrong {
        return Err(PastError::Entry { number, source });
    }
    let archives = &followed.position.archives;
    let adopted = archives.iter().filter(|archived| archived.is_adopted);
    Ok(Past {
        adopted_entries: adopted.map(|archived| archived.entries).sum(),
        archives: archives.len() as u64,
        records: followed.position.seq,
        disk: disk.clone(),
        audit: paths.audit.clone(),
        view,
        active: places.active,
        archived: places.archived,
    })
}

impl Past {
    /// Counts the entries of the ledger that was active then.
    pub fn active(&self) -> usize {
        self.active.len()
    }

    /// Counts the entries that were archived by then.
    pub fn archived(&self) -> usize {
        self.archived.len()
    }

    /// All entries of then, those of the archives too, newest first; each is read as it is asked
    /// for.
    pub fn newest_first(&self) -> impl Iterator<Item = Result<Entry, PastError>> {
        let count = self.active.len() + self.archived.len();
        let places = self.archived.iter().chain(&self.active).rev();
        let mut file = None;
        places.enumerate().map(move |(index, place)| {
            let number = count - index;
            let stored = self.read(place, &mut file, number)?;
            Entry::read(stored.as_bytes()).map_err(|source| PastError::Entry { number, source })
        })
    }

    /// Writes the ledger file that was active then. Returns `false`, and writes nothing, if the
    /// path is taken.
    pub fn write_ledger(&self, path: &Path) -> Result<bool, PastError> {
        if self.disk.exists(path).map_err(failed)? {
            return Ok(false);
        }
        let mut new = self.disk.new_file(path, 0o644).map_err(failed)?;
        let mut view = self.view.clone();
        let mut bytes = view.begun.head.clone().into_bytes();
        let (mut line, mut file) = (Vec::new(), None);
        for (index, place) in self.active.iter().enumerate() {
            let number = self.archived.len() + index + 1;
            let json = self.read(place, &mut file, number)?;
            if let Some(checksum) = checksum_at_head(json.as_bytes()) {
                let json = &json;
                view.push(EntryRef { json, checksum }, &mut bytes, &mut line);
            }
            new.push(&bytes).map_err(failed)?;
            bytes.clear();
            line.clear();
        }
        bytes.extend_from_slice(view.begun.tail.as_bytes());
        new.push(&bytes).map_err(failed)?;
        new.create().map_err(failed)
    }

    /// The text of an entry, from its record.
    fn read(
        &self,
        place: &RecordPlace,
        open: &mut Option<(Date, DiskFile)>,
        number: usize,
    ) -> Result<String, PastError> {
        let file = if let Some((day, file)) = open.take()
            && day == place.day
        {
            file
        } else {
            let path = path_of_day(&self.audit, place.day);
            self.disk.open(&path, OpenHow::READ).map_err(failed)?
        };
        let line = file.read_range(place.offset, place.len as usize);
        let line = line.map_err(failed)?;
        *open = Some((place.day, file));
        let record = Record::read(&line).ok();
        match record.and_then(|record| record.entry.map(str::to_owned)) {
            Some(entry) => Ok(entry),
            None => Err(PastError::Entry {
                number,
                source: EntryError::Schema {
                    reason: "its record changed during the read".to_owned(),
                },
            }),
        }
    }
}

fn failed(error: DiskError) -> PastError {
    PastError::Journal(error.into())
}

/// Positions of the entries in the journal.
#[derive(Default)]
struct Places {
    active: Vec<RecordPlace>,
    archived: Vec<RecordPlace>,
    /// Number of the first entry that does not match its checksum, and the error.
    wrong: Option<(usize, EntryError)>,
}

impl ScanVisitor for Places {
    fn begins(&mut self, _before: Option<&View>, begins: &Begins) -> Result<(), DiskError> {
        if begins.archived.is_some() {
            self.archived.append(&mut self.active);
        }
        self.active.clear();
        Ok(())
    }

    fn stores(&mut self, entry: EntryRef<'_>, at: RecordPlace) -> Result<(), DiskError> {
        self.active.push(at);
        if !is_sealed(entry.json.as_bytes()) && self.wrong.is_none() {
            let read = Entry::read(entry.json.as_bytes());
            if let Err(error) = read.and_then(|entry| entry.check()) {
                let number = self.archived.len() + self.active.len();
                self.wrong = Some((number, error));
            }
        }
        Ok(())
    }
}
