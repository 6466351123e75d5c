//! Finding passages again, by words, names and text as it stands.
//!
//! Start with [`Index`], which keeps the words of a tree's [`passages`] and of documents beside it,
//! and [`Search`], which is what is looked for. A [`Found`] passage is whole: a declaration with its
//! documentation, a section of a document.
//!
//! A [`Model`], where there is one, adds what words mean; a [`Proposal`] what another program found.
//!
//! What is deliberately not here: what the documents are, where the index lies, and where a model
//! comes from.

mod ask;
mod index;
mod meaning;
mod passage;
mod phrase;
mod proposal;
mod rank;
mod row;
mod score;
mod search;
mod together;
mod tree;
mod words;
mod worth;

#[cfg(test)]
mod name_tests;
#[cfg(test)]
mod tests;

pub use self::{
    ask::{Ask, Unit},
    index::{Document, Index, IndexError, Taken},
    meaning::{Model, ModelError},
    passage::{Passage, PassageKind, passages},
    phrase::Phrase,
    proposal::Proposal,
    search::{By, Found, Search},
    together::Together,
    tree::{TREE, Updated},
};
