//! Session files between two projects: what one offers, and what the other takes of it.
//!
//! Start with [`Part`], the name of one file for others, and [`Session::offer`], the list of what a
//! project has. The other side has the [`Received`] contents merged by [`LockedSession::pull`], by the
//! rules of [`merge`](crate::merge): `base` finds the common ancestor of both versions, and
//! [`Pulled`] lists what changed.
//!
//! Deliberately not here: how an offer travels. A name from elsewhere is never a path: it is
//! parsed as a [`Part`], or the whole offer is refused.
//!
//! [`Session::offer`]: crate::Session::offer
//! [`LockedSession::pull`]: crate::LockedSession::pull

mod base;
mod offer;
mod part;
mod plan;
mod pull;

pub use self::{
    offer::{INDEX, LARGEST_PART, LeftOut, MOST_PARTS, Offer, OfferError, OfferedPart},
    part::Part,
    plan::Received,
    pull::{BeadChange, Named, NewDecision, NewRecords, Pulled},
};

/// Phase of the record of a sync, which does not cross to other projects.
pub(crate) const PHASE: &str = "sync";

#[cfg(test)]
mod tests;
