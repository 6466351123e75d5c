//! [`LocatedEntry`]: an entry, and the [`EntryLocation`] where it stands.

use std::path::PathBuf;

use crate::entry::Entry;

/// Where an entry was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryLocation {
    /// The ledger file.
    pub path: PathBuf,
    /// Whether that is an archive.
    pub is_archived: bool,
    /// Where in it the entry begins, in bytes.
    pub offset: u64,
    /// How many bytes it has.
    pub length: u64,
}

/// An entry, and where it was found.
#[derive(Clone, Debug, PartialEq)]
pub struct LocatedEntry {
    /// The entry.
    pub entry: Entry,
    /// Where it stands.
    pub place: EntryLocation,
}
