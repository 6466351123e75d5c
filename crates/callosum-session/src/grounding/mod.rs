//! Grounding: the claims since the last hand-off that the current tree confirms.
//!
//! Start with [`Grounding`]; [`Tally`] only counts. A marker in a record is not believed: the cited
//! file is opened and searched for the quote. All counting uses integers.

mod claim;
mod claim_records;
mod manual_marks;
mod ratio;
mod record_summary;
mod report;
mod revisions;
mod same_time;
mod tally;

pub use self::{
    claim::{Claim, ClaimKind, claims},
    claim_records::ClaimRecords,
    manual_marks::Marked,
    ratio::{Threshold, ThresholdError, shown_ratio},
    report::{Grounded, Grounding, lacking_time},
    revisions::Revised,
    tally::Tally,
};
pub(crate) use self::{
    claim::{claim_of, revision_of, time_of},
    record_summary::Brief,
};
