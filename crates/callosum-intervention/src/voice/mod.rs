//! The voice gate: which messages may reach an agent (Seed CAKE §1).
//!
//! Start with [`Gate::check`]. It reads a message back from its text, so that it also judges messages that this program
//! did not write.
//!
//! What is deliberately not here: whether a command is safe in general. The caller's guard decides that.

mod command;
pub mod corpus;
pub mod embedding;
pub(crate) mod file;
mod forbidden;
mod gate;

pub(crate) use self::gate::{check_clause, check_message};
pub use self::{
    corpus::{Corpus, CorpusMessage, CorruptedCorpus},
    gate::{EventFacts, Gate, GateFacts, THRESHOLD, Verdict},
};
