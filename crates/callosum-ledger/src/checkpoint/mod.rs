//! Checkpoints: signed statements of the journal's contents, kept outside the project.
//!
//! Start with [`TrustStore`], the machine's side of a project. [`TrustStore::make`] signs the
//! current state of the journal. [`TrustStore::read`] returns what was signed, which
//! [`verify`](crate::verify()) compares with the files. The leaf `i` of the tree is the journal's
//! line `i + 1` without its line feed, so every record is covered, and with a commit's its whole
//! entry.
//!
//! Deliberately not here: the location of the machine's folder, the schedule of checkpoints, and
//! the reaction to a journal that differs from what was signed.
//!
//! The format: `docs/formats/checkpoint.md`; its purpose: `docs/design/tamper-evidence.md`.

mod checkpoint_error;
mod create;
mod format;
mod hash_progress;
mod key_ring;
mod machine_key;
mod store;
#[cfg(test)]
mod tests;
mod trust_store;

pub use self::{
    checkpoint_error::CheckpointError,
    create::Made,
    format::{Checkpoint, InvalidCheckpoint},
    key_ring::KeyError,
    machine_key::MachineKey,
    store::{KeptCheckpoints, SignedBy, StoredCheckpoint},
    trust_store::{Begin, TrustStore},
};
pub(crate) use self::{
    create::days_at_rest,
    hash_progress::JournalWalk,
    trust_store::{LastSigned, begin_of_journal, last_signed},
};
