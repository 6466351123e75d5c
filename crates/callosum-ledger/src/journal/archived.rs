//! [`Archived`]: an archived ledger, as a rotation recorded it or the journal began with it.

use serde::{Deserialize, Serialize};

use callosum_json::Checksum;

use crate::archive_name::ArchiveName;

/// An archived ledger, as the journal describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Archived {
    /// The archive's file name.
    pub(crate) archive: ArchiveName,
    /// The size of its ledger file.
    pub(crate) bytes: u64,
    /// Number of its entries.
    pub(crate) entries: u64,
    /// The hash of the last line of its hashlog, and so of every entry in it.
    pub(crate) hashlog: Checksum,
    /// Hash that the first line of its hashlog follows. A record of a rotation lacks it: the ledger
    /// was begun with it.
    pub(crate) follows: Checksum,
    /// Whether it was there before the journal, which then has none of its entries.
    #[serde(default)]
    pub(crate) is_adopted: bool,
}
