//! [`LocatedEntry`]: an entry with its [`EntryLocation`].

use std::path::PathBuf;

use crate::entry::Entry;

/// Location of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryLocation {
    /// The ledger file.
    pub path: PathBuf,
    /// Whether that is an archive.
    pub is_archived: bool,
    /// Offset of the entry in the file, in bytes.
    pub offset: u64,
    /// Length in bytes.
    pub length: u64,
}

/// An entry and its location.
#[derive(Clone, Debug, PartialEq)]
pub struct LocatedEntry {
    /// The entry.
    pub entry: Entry,
    /// Its location.
    pub place: EntryLocation,
}
