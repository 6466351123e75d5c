//! `callosum serve status`: services of the daemon, and their addresses.

use callosum_daemon::{Serving, SinkStatus};
use schemars::JsonSchema;
use serde::Serialize;

/// `callosum serve status --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ServeStatusOutput {
    /// Services of the daemon; null if none answers.
    pub serving: Option<Serving>,
    /// The last event of the log, as the daemon has seen it.
    pub last_seq: Option<u64>,
    /// Number of subscribers.
    pub subscribers: Option<u64>,
    /// When the folder of the log was found removed while it was served, upon which another log has begun there; null
    /// where it was not.
    pub replaced: Option<String>,
    /// Reason why the current user configuration is invalid, so the last valid routes stay in use;
    /// null if it is valid.
    pub configuration_fault: Option<String>,
    /// Sinks that events are passed on to.
    pub sinks: Vec<SinkStatus>,
    /// Process id of a daemon that is running but does not answer, 0 if it is unknown; null if
    /// there is none.
    pub silent: Option<u32>,
}
