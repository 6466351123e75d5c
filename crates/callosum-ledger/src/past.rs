//! The ledger as it stood at a time, from the journal alone.

use callosum_host::Disk;
use jiff::Timestamp;

use crate::{
    align::{Expected, OpenError},
    entry::{Entry, EntryError},
    error_code::ErrorCode,
    journal::{StoredEntry, Until, follow_segments},
    locks,
    paths::LedgerPaths,
};

/// The ledger as it stood at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Past {
    /// The bytes of the ledger file that was active then.
    pub ledger: Vec<u8>,
    /// Its entries, in the order in which they were committed.
    pub entries: Vec<Entry>,
    /// The entries that were archived by then, in the order in which they were committed.
    pub archived: Vec<Entry>,
    /// How many archives there were.
    pub archives: u64,
    /// How many records the journal had.
    pub records: u64,
}

/// Why the past cannot be told.
#[derive(Debug, thiserror::Error)]
pub enum PastError {
    /// The journal, or the lock that keeps it still meanwhile, could not be had.
    #[error(transparent)]
    Journal(#[from] OpenError),
    /// There was no ledger yet.
    #[error("there was no ledger at {time}")]
    NotYet {
        /// The time that was asked for.
        time: Timestamp,
    },
    /// An entry in the journal is not what the schema says.
    #[error("entry {number} in the audit journal cannot be read")]
    Entry {
        /// The entry's number among all that were committed by then, from 1.
        number: usize,
        /// Why.
        source: EntryError,
    },
}

impl PastError {
    /// The seed's code for it, where there is one.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Journal(error) => error.code(),
            Self::NotYet { .. } => None,
            Self::Entry { .. } => Some(ErrorCode::ChecksumMismatch),
        }
    }
}

/// Rebuilds the ledger as it stood at `time`: with every record up to, not including, the first
/// that is later.
///
/// Reads the journal from its beginning, checks every record's place in the chain and every entry's
/// checksum, and changes nothing. Takes the audit lock meanwhile where the project can be written.
pub fn past(disk: &Disk, paths: &LedgerPaths, time: Timestamp) -> Result<Past, PastError> {
    let _still = locks::take_stock(disk, paths).map_err(OpenError::from)?;
    let mut archived = Ok(Vec::new());
    let followed = follow_segments(disk, paths, Until::Time(time), |passed| {
        if let Ok(entries) = &mut archived
            && let Err(error) = read_into(entries, passed.entries)
        {
            archived = Err(error);
        }
        Ok(())
    });
    let followed = followed.map_err(OpenError::from)?;
    let Some(view) = &followed.position.view else {
        return Err(PastError::NotYet { time });
    };
    let mut entries = archived?;
    let count = entries.len();
    read_into(&mut entries, &followed.entries)?;
    let active = entries.split_off(count);
    let expected = Expected::after(view, &followed.entries);
    let begun = &view.begun;
    let ledger = [
        begun.head.as_bytes(),
        &expected.ledger,
        begun.tail.as_bytes(),
    ];
    Ok(Past {
        ledger: ledger.concat(),
        entries: active,
        archived: entries,
        archives: followed.archived.len() as u64,
        records: followed.position.seq,
    })
}

/// Reads entries of the journal, each of which must be what its checksum says.
fn read_into(entries: &mut Vec<Entry>, stored: &[StoredEntry]) -> Result<(), PastError> {
    for stored in stored {
        let read = Entry::read(stored.json.as_bytes());
        let checked = read.and_then(|entry| entry.check().map(|()| entry));
        entries.push(checked.map_err(|source| PastError::Entry {
            number: entries.len() + 1,
            source,
        })?);
    }
    Ok(())
}
