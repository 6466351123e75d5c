//! Recovery: the old context's state for a new one, under a budget that is never exceeded.
//!
//! Start with [`Recollection`], the state that can be shown. [`at_start`] is for a new session,
//! [`level_1`] shows the current state, [`level_2`] the last decisions and [`DecisionHit`] the
//! decisions on a topic; level 3 is the whole of `NOTES.md`. Records are shown whole or not at all,
//! and the same state gives the same bytes.

mod current_state;
mod levels;
mod query;
mod ranking;
mod start;

pub use self::{
    current_state::{Recollected, Recollection, Trust},
    levels::{level_1, level_2},
    query::DecisionHit,
    start::at_start,
};
