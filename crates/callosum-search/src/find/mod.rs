//! Finding passages again, by words, names and text as it stands.
//!
//! Start with [`Index`], which keeps the words of a tree's [`passages`] and of documents beside it,
//! and [`Search`], which is what is looked for. A [`Found`] passage is whole: a declaration with its
//! documentation, a section of a document.
//!
//! What is deliberately not here: what the documents are, where the index lies, and meaning beyond
//! words; a list by meaning would be one more to fuse.

mod ask;
mod index;
mod passage;
mod phrase;
mod rank;
mod search;
mod tree;
mod words;

#[cfg(test)]
mod tests;

pub use self::{
    ask::{Ask, Unit},
    index::{Document, Index, IndexError},
    passage::{Passage, PassageKind, passages},
    phrase::Phrase,
    search::{By, Found, Search},
    tree::{TREE, Updated},
};
