//! Merkle trees over the records of a log, as RFC 6962 defines them.
//!
//! Start with [`Frontier`], which takes one record after the other and knows the root at each
//! size. [`prove_inclusion`] and [`prove_consistency`] need the hashes of all records, which
//! the reader of a proof does not: [`root_of_inclusion`] and [`is_consistent`] take the proof
//! alone.
//!
//! What is deliberately not here: files, signatures, and what a record is.

mod frontier;
mod path;
#[cfg(test)]
mod tests;

pub use self::{
    frontier::{Frontier, hash_leaf},
    path::{is_consistent, prove_consistency, prove_inclusion, root_of_inclusion},
};
