//! Finding passages again, by words, names and text as it stands.
//!
//! Start with [`Index`], which keeps the words of a tree's [`passages`] and of documents beside it,
//! and [`Search`], which is what is looked for. A [`SearchHit`] passage is whole: a declaration with its
//! documentation, a section of a document.
//!
//! A [`Model`], where there is one, adds what words mean; a [`Proposal`] what another program found.
//!
//! What is deliberately not here: what the documents are, where the index lies, and where a model
//! comes from.

mod boost;
mod embedding;
mod external_hit;
mod index;
mod passage;
mod phrase;
mod proximity;
mod query;
mod rank;
mod row;
mod score;
mod search;
mod tree;
mod words;

#[cfg(test)]
mod name_tests;
#[cfg(test)]
mod tests;

pub use self::{
    embedding::{Model, ModelError},
    external_hit::Proposal,
    index::{Document, Index, IndexError, IndexProgress},
    passage::{Passage, PassageKind, passages},
    phrase::Phrase,
    proximity::Proximity,
    query::{Query, Unit},
    search::{By, Search, SearchHit},
    tree::{TREE, Updated},
};
