//! `callosum constitution sign`: has this machine's key stand for a constitution.

use schemars::JsonSchema;
use serde::Serialize;

/// Permission bits of a signature.
pub const MODE: u32 = 0o644;

/// `callosum constitution sign --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct SignedOutput {
    /// The file that was signed.
    pub file: String,
    /// Path of the signature.
    pub signature: String,
    /// The version that was signed.
    pub version: u64,
    /// Hash of the constitution in the journal.
    pub hash: String,
}
