//! Recovery: what a new context is told of the old one, under a budget that is never exceeded.
//!
//! Start with [`Recollection`], what is there to be told. [`at_start`] is what a new session reads, [`level_1`] tells where
//! things stand, [`level_2`] what was decided last and [`DecisionHit`] what was decided about something; level 3 is the whole of `NOTES.md`. Records are told
//! whole or not at all, and the same state gives the same bytes.

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
