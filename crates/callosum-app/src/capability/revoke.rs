//! `callosum capability revoke` and `restore`: what no plan on this machine may call.

use schemars::JsonSchema;
use serde::Serialize;

/// `callosum capability revoke --json`, and `restore`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct RevocationOutput {
    /// The capability.
    pub id: String,
    /// Whether it is revoked now.
    pub revoked: bool,
    /// Whether that is new.
    pub changed: bool,
}
