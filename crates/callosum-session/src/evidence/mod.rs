//! What a claim leans on: places in the tree, and whether their quotes still stand there.
//!
//! Start with [`Evidence`], one cited place, and [`Tree::stand`], which says how it stands now.
//! Stricter than [`callosum_evidence::citation::verify`], whose grammar and comparison it uses: a quote
//! that stands twice confirms nothing here, because nobody could say which place was meant once the
//! lines have moved.

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
