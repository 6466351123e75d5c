//! Alignment of ledger file and hashlog with the journal.
//!
//! Start with [`align`]. It runs on opening, and before each write, to catch up with other
//! processes; if nothing happened it costs a look at three files. [`external_changes`] defines what
//! is refused, and why.
//!
//! The journal is the truth. A crash can leave it with a torn end that was never acknowledged, and
//! the two views at an earlier state or torn. All that is repaired, and the bytes that are cut off
//! go to the quarantine. No crash can leave, for example, an entry that is missing from the
//! journal: a program or person wrote it. Then nothing is touched and the error says what differs.

mod archives;
mod external_changes;
mod procedure;
mod rebuilding;
mod replacement;

pub(crate) use self::{
    external_changes::refuse_other_version,
    procedure::{Aligned, News, align, new_views},
    rebuilding::{Rebuilding, rebuild_archives},
    replacement::{Replacement, put},
};
