//! `callosum ledger backup`: a copy of the ledger that was read back.

use schemars::JsonSchema;
use serde::Serialize;

/// `callosum ledger backup --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct BackupOutput {
    /// The copy.
    pub path: String,
    /// Entries in it.
    pub entries: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its SHA-256.
    pub sha256: String,
}
