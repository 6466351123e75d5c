//! [`Lease`]: that an agent works on a file, so that another who is about to is told (Seed CALC §12,
//! phase 2).

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::agent::AgentName;

/// How long a lease holds that is not taken anew.
pub const LEASE: SignedDuration = SignedDuration::from_mins(10);

/// That an agent works on a file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Lease {
    /// The file, absolute.
    pub path: String,
    /// The agent.
    pub by: AgentName,
    /// Its session.
    #[serde(default)]
    pub session_id: Option<String>,
    /// What for.
    #[serde(default)]
    pub why: Option<String>,
    /// When it was taken first.
    #[serde(with = "crate::moment")]
    pub since: Timestamp,
    /// When it ends, unless it is taken anew before.
    #[serde(with = "crate::moment")]
    pub until: Timestamp,
    /// A number that only grows: of two leases on a file, the later has the larger one. One that is taken anew by
    /// the same session keeps it.
    pub token: u64,
}

impl Lease {
    /// Whether it keeps somebody else out at this time.
    pub fn holds_against(
        &self,
        agent: &AgentName,
        session_id: Option<&str>,
        now: Timestamp,
    ) -> bool {
        let is_own_session = match (&self.session_id, session_id) {
            (Some(own), Some(session_id)) => own == session_id,
            _ => true,
        };
        self.until > now && !(self.by == *agent && is_own_session)
    }
}
