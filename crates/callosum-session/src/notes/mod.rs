//! `NOTES.md`, the agent's working memory, as a document that keeps every byte it is not asked to
//! change.
//!
//! Start with [`Notes`]. `outline` finds headings and what hides them, `decision` reads the
//! Decision Log, `field_label` the words in bold that its lines begin with, `moment` the times that
//! people write. `edit` makes the few changes that a session makes, and `section` finds their
//! places. `merge` merges the documents of two branches: `sections` splits them into elements, and
//! `order` matches these. `fault` reports what was not understood, and `misplaced` text that is
//! written like a decision and is none. People and older scripts write this file too, in any way
//! they like; what is not understood is reported with its line and left as it is.

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
