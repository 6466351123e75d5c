//! `callosum ledger prove`: writes a file that proves an entry to someone who has nothing else.

use callosum_ledger::proof::{Checked, Proof, ProveError};
use schemars::JsonSchema;
use serde::Serialize;

use crate::ledger::check_proof::CheckProofOutput;
use crate::{CommandError, Exit, auto_checkpoint, disk_errors};

/// `callosum ledger prove --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ProveOutput {
    /// The proof, as `callosum ledger check-proof` reads it.
    pub proof: String,
    /// The result of checking it.
    #[serde(flatten)]
    pub check: CheckProofOutput,
}

impl ProveOutput {
    /// Returns what is printed about a proof that was checked.
    pub fn of(proof: &Proof, checked: &Checked) -> Self {
        Self {
            proof: proof.to_string(),
            check: CheckProofOutput::of(proof, checked),
        }
    }
}

/// Explains why there is no proof.
pub fn unproved(error: &ProveError) -> CommandError {
    let explained = |exit| CommandError::because(exit, "cannot prove the entry", error);
    match error {
        ProveError::Disk(error) => disk_errors::disk_failed(error),
        ProveError::Key(error) => auto_checkpoint::unkeyed(error),
        ProveError::Lock(_) => explained(Exit::Environment),
        ProveError::NoEntry { .. } => explained(Exit::No).hint("callosum ledger query"),
        ProveError::NotSigned { .. } => explained(Exit::No).hint("callosum audit checkpoint"),
        ProveError::Foreign { .. } | ProveError::Inconsistent { .. } => {
            explained(Exit::No).hint("callosum audit verify")
        }
    }
}
