//! The passage index: finds passages of a project's files and documents by words, names and
//! literal text.
//!
//! Start with [`Index`], which keeps the words of a tree's [`passages`] and of additional
//! documents, and [`Search`], the query. A [`SearchHit`] passage is whole: a declaration with its
//! documentation, a section of a document.
//!
//! A [`Model`], if there is one, adds the meaning of words; a [`Proposal`] is a hit of another
//! program.
//!
//! Deliberately not here: the content of the documents, the path of the index, and the source of a
//! model.

#![forbid(unsafe_code)]

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
    words::{push_words, simple_words, words},
};
