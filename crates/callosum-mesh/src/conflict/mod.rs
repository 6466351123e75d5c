//! [`Conflict`]: one file that two agents edit at the same time (Seed CALC §12, phase 2).
//!
//! Start with [`ConflictStore`], where conflicts and the versions of their files are kept. [`propose`] decides which of the
//! two agents should own the file. A conflict opens when a hook reports an edit of a file on which another session holds a
//! lease. Nothing here reads or writes the file itself.

mod owner;
mod store;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use self::{
    owner::{Context, Proposal, propose},
    store::{ConflictStore, StoreError, id_of},
};
use crate::agent::AgentName;

/// Most notices that one side gets about a conflict. Later edits are only counted.
pub const MOST_NOTICES: u32 = 5;

/// One of the two agents in a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ConflictSide {
    /// The agent that edited the file first and held the lease.
    First,
    /// The agent that edited it while the first one held the lease.
    Second,
}

impl ConflictSide {
    /// Both places, in order.
    pub const BOTH: [Self; 2] = [Self::First, Self::Second];

    /// Returns the place of the other agent.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }

    /// Returns its name in records and as a file name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Second => "second",
        }
    }
}

/// An agent's session and what it did to the file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Side {
    /// Name of the agent.
    pub agent: AgentName,
    /// Its session, if its client named one.
    pub session_id: Option<String>,
    /// Number of edits that hooks reported.
    pub edits: u32,
    /// Time of the last edit.
    #[serde(with = "crate::timestamp")]
    pub edited_at: Timestamp,
    /// Knowledge of the file, as it was when the conflict opened.
    pub context: Context,
    /// Whether the version of the file after its last edit is kept.
    pub has_version: bool,
    /// Text about the other agent's change that this session has not seen yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
    /// Number of notices so far, [`MOST_NOTICES`] at most.
    #[serde(default)]
    pub notices: u32,
}

impl Side {
    /// Whether this is the session of an agent. A session without an id counts as its agent's.
    pub fn is(&self, agent: &AgentName, session_id: Option<&str>) -> bool {
        let is_session = match (self.session_id.as_deref(), session_id) {
            (Some(own), Some(other)) => own == other,
            _ => true,
        };
        self.agent == *agent && is_session
    }

    /// Returns its name for a text: the agent, with the session if both sides are the same agent.
    pub fn name(&self, other: &Self) -> String {
        match &self.session_id {
            Some(session) if self.agent == other.agent => format!("{}@{session}", self.agent),
            _ => self.agent.to_string(),
        }
    }
}

/// The way in which a conflict was resolved.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Resolution {
    /// Time.
    #[serde(with = "crate::timestamp")]
    pub at: Timestamp,
    /// Name of the agent or person.
    pub by: AgentName,
    /// `kept`, `merged` or `taken`.
    pub how: String,
    /// The agent whose version was taken, for `taken`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Reason, if one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether the file as it was before is kept.
    #[serde(default)]
    pub has_replaced: bool,
}

/// One file that two agents edit at the same time.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Conflict {
    /// Its id: eight digits of the file's path and four of its own.
    pub id: String,
    /// Absolute path of the file, as leases name it.
    pub path: String,
    /// The work tree that it is in, if it is in one.
    pub tree: Option<String>,
    /// Path of the first agent's file, if that is the same file in another work tree of the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_path: Option<String>,
    /// Time at which it was noticed.
    #[serde(with = "crate::timestamp")]
    pub opened_at: Timestamp,
    /// The agent that edited the file first.
    pub first: Side,
    /// The agent that edited it while the first held the lease.
    pub second: Side,
    /// Whether the version from before both edits is kept.
    pub has_base: bool,
    /// The side that edited last.
    pub last: ConflictSide,
    /// The side whose change an edit may have dropped, since it started from an older version of the file.
    pub dropped: Option<ConflictSide>,
    /// The proposed owner.
    pub proposal: Proposal,
    /// The task of the other side, if one was added.
    pub task: Option<String>,
    /// The resolution, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<Resolution>,
}

impl Conflict {
    /// Returns the side at a place.
    pub fn side(&self, place: ConflictSide) -> &Side {
        match place {
            ConflictSide::First => &self.first,
            ConflictSide::Second => &self.second,
        }
    }

    /// Returns the side at a place, to change it.
    pub fn side_mut(&mut self, place: ConflictSide) -> &mut Side {
        match place {
            ConflictSide::First => &mut self.first,
            ConflictSide::Second => &mut self.second,
        }
    }

    /// Returns the place of an agent's session; `None` if it has no part in the conflict.
    pub fn place_of(&self, agent: &AgentName, session_id: Option<&str>) -> Option<ConflictSide> {
        let mut places = ConflictSide::BOTH.into_iter();
        places.find(|place| self.side(*place).is(agent, session_id))
    }

    /// Returns the name of the side at a place for a text.
    pub fn name(&self, place: ConflictSide) -> String {
        self.side(place).name(self.side(place.other()))
    }
}
