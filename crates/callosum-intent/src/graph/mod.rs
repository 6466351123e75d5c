//! Intents, their states, and the relations between them (Seed CCOS §1).
//!
//! Start with [`Graph`], which is built from nothing but [`Change`]s: replaying the same changes gives the same graph.
//! [`Graph::apply`] refuses a change that does not fit, so no sequence of changes makes a cycle. [`status`] has the table of
//! transitions, [`conflict`] finds intents that get in each other's way, and [`formulation`] reads an intent from a sentence.

mod apply;
mod change;
pub mod conflict;
mod edge;
pub mod formulation;
mod id;
mod intent;
mod link;
mod query;
pub mod status;

pub use self::{
    apply::{ChangeError, Cycle, Graph, StatusRecord},
    change::{Archived, Change, Created, Reactivated, RelationRecord, StatusChanged},
    conflict::{Conflict, ConflictKind},
    edge::{Edge, InvalidWeight, NewRelation, Relation, Weight},
    formulation::formulate,
    id::{IntentId, InvalidIntentId},
    intent::{
        Formulation, Intent, InvalidIntent, LONGEST_GOAL, LONGEST_NAME, LONGEST_REQUEST,
        LONGEST_TERM, MOST_TERMS, NewIntent, Priority, Provenance, Terms, Trigger,
    },
    link::{InvalidLink, LONGEST_LINK, Link, LinkKind, LinkRecord},
    query::{FindError, TreeRow},
    status::{IllegalTransition, Status},
};

#[cfg(test)]
mod tests;
