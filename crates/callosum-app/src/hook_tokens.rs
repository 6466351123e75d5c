//! [`HookTokens`]: tokens that hooks added to models' contexts in this project, for `status` and `doctor -v`.

use schemars::JsonSchema;
use serde::Serialize;

/// Tokens that hooks added to the contexts of one client's models.
#[derive(Debug, JsonSchema, Serialize)]
pub struct HookTokens {
    /// The client.
    pub client: String,
    /// Its last session that something was added to, as the client names it.
    pub session_id: String,
    /// Tokens that were added in that session, estimated.
    pub session_tokens: u64,
    /// Tokens that were added today, in local time, in all its sessions of this project.
    pub today_tokens: u64,
}
