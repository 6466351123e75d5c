//! The audit journal: the source of truth, one JSON object a line, one file a day.
//!
//! A record's number and the hash of the record before it make it a link of a chain that runs
//! through all day files. A commit's record carries the entry, so the ledger file and the hashlog
//! can be rebuilt from the journal alone.
//!
//! Each record also names the last record that was known to be on disk when it was written
//! (`synced`). So a reader can tell the end of a crashed write, which was never acknowledged, from
//! damage to acknowledged records: no crash can have torn a record that a later one calls synced.
//!
//! The format in full: `docs/formats/audit-journal.md`.

mod append;
mod archived;
mod day;
mod record;
mod scan;
mod stored_entry;
#[cfg(test)]
mod tests;

pub use self::scan::JournalError;
pub(crate) use self::{
    append::{Batch, day_of, is_unwritable},
    archived::Archived,
    day::{DayFile, day_files, day_of_path, path_of_day},
    record::{Begins, JOURNAL_FORMAT, Record, RecordFault},
    scan::{
        Followed, IgnoreEntries, Passed, RecordPlace, ScanVisitor, Torn, Until, follow,
        follow_segments, stock_of_days, walk, walk_alone, walk_days,
    },
    stored_entry::{EntryRef, StoredEntry},
};
