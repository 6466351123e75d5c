//! Grounding: which of the claims since the last hand-off stand on what the tree says now.
//!
//! Start with [`Grounding`]; [`Tally`] only counts. A marker in a record is not believed: the cited file is opened and the
//! quote looked for. All counting is of whole numbers.

mod brief;
mod claim;
mod marked;
mod ratio;
mod report;
mod revised;
mod same_time;
mod tally;

pub(crate) use self::{
    brief::Brief,
    claim::{claim_of, comparable, revision_of, says_the_same, time_of},
};
pub use self::{
    claim::{Claim, ClaimKind, claims},
    marked::Marked,
    ratio::{Threshold, ThresholdError, shown_ratio},
    report::{Grounded, Grounding, lacking_time},
    revised::Revised,
    tally::Tally,
};
