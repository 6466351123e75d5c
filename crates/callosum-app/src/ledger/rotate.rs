//! `callosum ledger rotate`: the ledger archived at once.

use schemars::JsonSchema;
use serde::Serialize;

/// `callosum ledger rotate --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct RotateOutput {
    /// The archive; `null` where the ledger had no entries.
    pub archive: Option<String>,
    /// Entries in it.
    pub entries: u64,
    /// Its size in bytes.
    pub bytes: u64,
}
