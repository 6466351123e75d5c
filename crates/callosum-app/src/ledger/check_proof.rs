//! `callosum ledger check-proof`: whether a proof holds, from its bytes alone.

use callosum_ledger::proof::{Checked, Proof};
use schemars::JsonSchema;
use serde::Serialize;

/// Proofs are small but for the entry in them; so much is read of one.
pub const MOST: u64 = 16 * 1024 * 1024;

/// `callosum ledger check-proof --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct CheckProofOutput {
    /// Whether the proof holds.
    pub valid: bool,
    /// Reason why it is not valid.
    pub reason: Option<String>,
    /// The task whose entry it shows.
    pub task_id: Option<String>,
    /// The entry's checksum, which is right.
    pub checksum: Option<String>,
    /// The number of the record that stored it.
    pub seq: Option<u64>,
    /// The log, as the checkpoint names it.
    pub origin: Option<String>,
    /// Number of signed records.
    pub size: Option<u64>,
    /// The key that signed.
    pub key: Option<String>,
    /// Whether that is the key that was asked for, rather than one that the proof brought along.
    pub key_known: bool,
}

impl CheckProofOutput {
    /// Returns what is printed about a checked proof.
    pub fn of(proof: &Proof, checked: &Checked) -> Self {
        Self {
            valid: true,
            reason: None,
            task_id: Some(checked.entry.task_id.to_string()),
            checksum: Some(checked.entry.checksum.to_string()),
            seq: Some(checked.seq),
            origin: Some(proof.checkpoint.origin.clone()),
            size: Some(proof.checkpoint.size),
            key: Some(checked.key.to_string()),
            key_known: checked.is_key_known,
        }
    }

    /// Returns the output for an invalid proof.
    pub fn refused(reason: String) -> Self {
        Self {
            valid: false,
            reason: Some(reason),
            task_id: None,
            checksum: None,
            seq: None,
            origin: None,
            size: None,
            key: None,
            key_known: false,
        }
    }
}
