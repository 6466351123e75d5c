//! [`Lease`]: sign that an agent works on a file, which warns other agents before they edit it (Seed CALC §12, phase 2).

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::{Board, BoardError};
use crate::{agent::AgentName, author::Author};

/// Lifetime of a lease that is not renewed.
pub const LEASE: SignedDuration = SignedDuration::from_mins(10);

/// That an agent works on a file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Lease {
    /// The file, absolute.
    pub path: String,
    /// The agent.
    pub by: AgentName,
    /// Its session.
    pub session_id: Option<String>,
    /// Purpose.
    pub why: Option<String>,
    /// When it was taken first.
    #[serde(with = "crate::timestamp")]
    pub since: Timestamp,
    /// Time at which it ends unless it is renewed.
    #[serde(with = "crate::timestamp")]
    pub until: Timestamp,
    /// Fencing token, which only grows: of two leases on a file, the later has the larger one. A
    /// renewal by the same session keeps it.
    pub token: u64,
    /// Person and machine, such as `ana@laptop`, if an agent on another machine has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
}

impl Lease {
    /// Whether an agent on another machine has it.
    pub fn is_foreign(&self) -> bool {
        self.machine.is_some()
    }

    /// Whether it keeps this session of this agent from the file at this time.
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

impl Board {
    /// Returns the lease that keeps this session of this agent from a file at this time.
    pub fn holder(
        &self,
        path: &str,
        agent: &AgentName,
        session_id: Option<&str>,
        now: Timestamp,
    ) -> Option<&Lease> {
        self.leases
            .iter()
            .find(|lease| lease.path == path && lease.holds_against(agent, session_id, now))
    }

    pub(super) fn leasable(
        &self,
        path: &str,
        anyway: bool,
        voice: &Author,
        now: Timestamp,
    ) -> Result<(), BoardError> {
        if !path.starts_with('/') || path.len() > 4096 {
            return Err(BoardError::NoPath {
                path: path.chars().take(200).collect(),
            });
        }
        match self.holder(path, &voice.agent, voice.session_id.as_deref(), now) {
            Some(lease) if !anyway => Err(BoardError::LeasedBy {
                path: path.to_owned(),
                by: lease.by.clone(),
                until: lease.until,
                why: lease.why.clone(),
            }),
            _ => Ok(()),
        }
    }
}
