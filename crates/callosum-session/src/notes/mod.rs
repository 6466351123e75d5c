//! `NOTES.md`, the agent's working memory, as a document that keeps every byte it is not asked to
//! change.
//!
//! Start with [`Notes`]. `outline` finds headings and what hides them, `decision` reads the Decision
//! Log, `label` the words in bold that its lines begin with, `moment` the times that people write, `edit` makes the few changes that a session makes, and `section` knows where they belong; `merge` brings two branches' documents together, of which `piece` makes what it goes by and `order` says which piece is which, `fault` names what was not understood, and `stray` what is written like a decision and is none. People and older scripts write this file
//! too, in any way they like; what is not understood is named with its line and left as it is.

mod decision;
mod document;
mod edit;
mod evidence_change;
mod fault;
mod field_label;
pub(crate) mod merge;
mod misplaced;
mod moment;
mod order;
mod outline;
mod section;
mod sections;

pub use self::{
    decision::Decision,
    document::{Active, Identifier, LARGEST_NOTES, Notes, TEMPLATE},
    edit::Field,
    evidence_change::EvidenceChange,
    fault::NotesFinding,
};
pub(crate) use self::{
    decision::{MARKS, is_time},
    outline::whole_lines,
};
