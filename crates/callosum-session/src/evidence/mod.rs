//! Evidence of a claim: places in the tree, and whether their quotes are still there.
//!
//! Start with [`Evidence`], one cited place, and [`Tree::stand`], which returns its current status.
//! Stricter than [`callosum_citation::verify`], whose grammar and comparison it uses: a
//! quote that occurs twice confirms nothing here, because once the lines have moved the intended
//! place is unknown.

mod place;
mod record;
mod standing;
#[cfg(test)]
mod tests;
mod tree;

pub use self::{
    place::{Evidence, ROOT_PREFIX, Relative},
    standing::EvidenceStatus,
    tree::{QuoteError, Tree},
};
