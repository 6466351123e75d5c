//! The recall database: errors by signature, with counts and similar ones (Seed CAKE §3).
//!
//! Start with [`RecallDb`]. [`Signature`] is the identity of an error. Fixes are in [`crate::knowledge`].

mod distance;
mod index;
mod keys;
mod query;
mod record;
mod schema;
mod signature;
mod similar;
mod store;

#[cfg(test)]
mod index_tests;
#[cfg(test)]
mod tests;

pub(crate) use self::record::cut;
pub use self::{
    query::{SentFacts, SentMessage, SentRecord},
    record::{ErrorRecord, Place, Recorded, Violation},
    signature::Signature,
    similar::{Similar, THRESHOLD, similarity},
    store::{Condition, RecallDb, RecallError},
};
