//! Bringing ledger file and hashlog in line with the journal.
//!
//! Start with [`align`]. It runs on opening, and before each write for what other processes did
//! meanwhile; where nothing happened it costs a look at three files. What is refused, and why, is in
//! [`foreign`].
//!
//! The journal is the truth. A crash can leave it with a torn end that nobody was promised, and
//! the two views at an earlier state or torn: all that is mended, and what is cut off is kept in
//! the quarantine. What no crash can leave, such as an entry that the journal does not tell of, is
//! somebody's doing: then nothing is touched and the error says what differs.

mod expected;
mod external_changes;
mod open_error;
mod procedure;
mod rebuilding;
mod repair;
mod replacement;

pub(crate) use self::{
    expected::Expected,
    external_changes::refuse_other_version,
    procedure::{Aligned, News, align, new_views},
    rebuilding::{Rebuilding, rebuild_archives},
    repair::cut_torn,
    replacement::{Replacement, put},
};
pub use self::{
    open_error::OpenError,
    repair::{Repair, RepairKind},
};
