//! Proofs for third parties: that one record is in the journal, and who signed that.
//!
//! Start with [`prove`], and with [`Proof::check`] at the other end, which needs nothing but the
//! proof's bytes. The form is c2sp.org/tlog-proof; our own content is the record and the public
//! key.
//!
//! Deliberately not here: whom to believe. A proof without a key that is known from elsewhere shows
//! that the holder of the key in it signed it, and no more.
//!
//! The format: `docs/formats/proof.md`.

mod build;
mod check;
mod format;
#[cfg(test)]
mod tests;

pub use self::{
    build::{ProveError, prove},
    check::{Checked, ProofError},
    format::{InvalidProof, Proof},
};
