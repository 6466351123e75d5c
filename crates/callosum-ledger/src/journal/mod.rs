//! The audit journal: the log of truth, one JSON object a line, one file a day.
//!
//! A record's number and the hash of the record before it make it a link of a chain that runs
//! through all day files. A commit's record carries the entry, so the ledger file and the hashlog
//! can be rebuilt from the journal alone.
//!
//! A record also says which record was last known to be on disk when it was written (`synced`).
//! So a reader can tell the end of a crashed write, which nobody was promised, from damage to
//! what was: nothing that a later record calls synced can have been torn by a crash.
//!
//! The format in full: `docs/formats/audit-journal.md`.

mod append;
mod day;
mod record;
mod scan;
#[cfg(test)]
mod tests;

pub use self::scan::JournalError;
pub(crate) use self::{
    append::{Batch, day_of},
    day::{DayFile, day_files, day_of_path, path_of_day},
    record::{Archived, Begins, JOURNAL_FORMAT, Record, RecordFault},
    scan::{
        Followed, IgnoreEntries, Passed, RecordPlace, ScanVisitor, StoredEntry, ToldEntry, Torn,
        Until, follow, follow_segments, stock_of_days, walk, walk_alone, walk_days,
    },
};
