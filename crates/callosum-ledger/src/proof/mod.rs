//! Proofs that leave the house: one record, that it is in the journal, and who signed that.
//!
//! Start with [`prove`], and with [`Proof::check`] at the other end, which needs nothing but the
//! proof's bytes. The form is c2sp.org/tlog-proof; what it carries of ours is the record and the
//! public key.
//!
//! What is deliberately not here: whom to believe. A proof without a key that is known from
//! elsewhere shows that whoever holds the key in it signed it, and no more.
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
