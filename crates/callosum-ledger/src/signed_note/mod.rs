//! Signed notes (c2sp.org/signed-note): a text, and who signed it, as text.
//!
//! Start with [`SigningKey::sign`] and [`SignedNote::parse`]. Ed25519 is the one algorithm. A
//! key's name is part of what it is: the same bytes under another name are another key.
//!
//! What is deliberately not here: where keys are kept, and whom to believe.

mod key;
mod note;
#[cfg(test)]
mod tests;

pub use self::{
    key::{InvalidKey, SigningKey, VerifierKey},
    note::{InvalidNote, NoteSignature, NoteStatus, SignedNote},
};
