//! Checkpoints: signed statements of what the journal was, kept outside the project.
//!
//! Start with [`TrustStore`], the machine's side of a project: [`TrustStore::make`] signs how the
//! journal stands, [`TrustStore::read`] gives what was signed, for [`verify`](crate::verify()) to
//! hold against what there is. The leaf `i` of the tree is the journal's line `i + 1` without its
//! line feed, so every record is covered, and with a commit's its whole entry.
//!
//! What is deliberately not here: where the machine's folder is, when a checkpoint is due, and
//! what to do about a journal that is not what was signed.
//!
//! The format: `docs/formats/checkpoint.md`; what it is good for: `docs/design/tamper-evidence.md`.

mod create;
mod format;
mod hash_progress;
mod key_ring;
mod machine_key;
mod store;
#[cfg(test)]
mod tests;
mod trust_store;

pub(crate) use self::{
    create::days_at_rest,
    hash_progress::JournalWalk,
    trust_store::{LastSigned, begin_of_journal, last_signed},
};
pub use self::{
    create::{CheckpointError, Made},
    format::{Checkpoint, InvalidCheckpoint},
    key_ring::KeyError,
    machine_key::MachineKey,
    store::{KeptCheckpoints, SignedBy, StoredCheckpoint},
    trust_store::{Begin, TrustStore},
};
