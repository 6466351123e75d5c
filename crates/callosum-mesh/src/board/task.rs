//! [`Task`]: work that one agent leaves for another (Seed CALC §4, layer 3, and §6, pattern 2).

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::OutputReceipt;
use crate::{agent::AgentName, author::Author};

/// Progress of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// No agent works on it.
    #[default]
    Pending,
    /// An agent has claimed it.
    InProgress,
    /// It is done.
    Complete,
    /// It was canceled. The seed has no such status, and the bridge file omits these tasks.
    Cancelled,
}

impl Status {
    /// Its name in the bridge file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Complete => "complete",
            Self::Cancelled => "cancelled",
        }
    }

    /// Reads a status as people write it: `Done`, `in progress` or `to-do` as well as the names themselves.
    pub fn read(text: &str) -> Option<Self> {
        let letters = text.chars().filter(|c| !matches!(c, ' ' | '-' | '_'));
        let word: String = letters.flat_map(char::to_lowercase).collect();
        Some(match word.as_str() {
            "pending" | "todo" | "open" | "new" | "queued" | "notstarted" => Self::Pending,
            "inprogress" | "wip" | "doing" | "started" => Self::InProgress,
            "complete" | "completed" | "done" | "finished" => Self::Complete,
            _ => return None,
        })
    }

    /// Whether nothing is to be done for it any more.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Complete | Self::Cancelled)
    }
}

/// Claim of an agent on a task.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The agent.
    pub by: AgentName,
    /// Its session.
    pub session_id: Option<String>,
    /// When it was claimed.
    #[serde(with = "crate::timestamp")]
    pub since: Timestamp,
    /// Time at which the task goes back to the queue, unless the same agent renews the claim
    /// before.
    #[serde(with = "crate::timestamp")]
    pub until: Timestamp,
    /// Fencing token, which only grows: of two claims of a task, the later has the larger one. A
    /// renewal by the same session keeps it.
    pub token: u64,
    /// Person and machine, such as `ana@laptop`, if an agent on another machine has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
}

impl Claim {
    /// Whether an agent on another machine has it.
    pub fn is_foreign(&self) -> bool {
        self.machine.is_some()
    }

    /// Whether it keeps this author from the task at this time: an author is kept out if it is
    /// another agent, or another session of the same one if both sessions are known.
    pub fn holds_against(&self, voice: &Author, now: Timestamp) -> bool {
        let is_own_session = match (&self.session_id, &voice.session_id) {
            (Some(own), Some(session_id)) => own == session_id,
            _ => true,
        };
        self.until > now && !(self.by == voice.agent && is_own_session)
    }

    /// Whether one of its agent's sessions holds it and this is none: who cannot say which session they are may finish what
    /// it has begun, but does not take it over.
    pub fn is_of_session_only(&self, voice: &Author, now: Timestamp) -> bool {
        self.until > now && self.session_id.is_some() && voice.session_id.is_none()
    }
}

/// Last change of a key of a task: of two by different logs, the later counts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Time, by the clock of its machine.
    #[serde(with = "crate::timestamp")]
    pub at: Timestamp,
    /// The log that it was written to first.
    pub origin: String,
}

/// Work that one agent leaves for another.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// Unique id.
    pub id: String,
    /// Agent to do it. Any agent if there is none.
    pub assigned_to: Option<AgentName>,
    /// Progress.
    pub status: Status,
    /// Priority. Smaller numbers come first, as the seed's example has 1.
    pub priority: i64,
    /// Work to do.
    pub prompt: String,
    /// File for the result.
    pub output_file: Option<String>,
    /// Creator.
    pub created_by: AgentName,
    /// The session that left it, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_in: Option<String>,
    /// When.
    #[serde(with = "crate::timestamp")]
    pub created_at: Timestamp,
    /// When it was done.
    pub completed_at: Option<String>,
    /// Agent that completed it, if known.
    pub completed_by: Option<AgentName>,
    /// Tasks that are to be complete before it is begun.
    pub needs: Vec<String>,
    /// The folder that it is about.
    pub cwd: Option<String>,
    /// Claim of the agent that works on it.
    pub claim: Option<Claim>,
    /// When it went back to the queue, where it did.
    pub queued_at: Option<String>,
    /// Result of the work.
    pub result: Option<String>,
    /// The receipt for its output file, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<OutputReceipt>,
    /// Other keys that its author wrote.
    pub other: Map<String, Value>,
    /// The last event that changed it.
    pub rev: u64,
    /// Person and machine that left it, if it came from another machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// Whether other machines see it, so that the fleet's server decides about claims.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_shared: bool,
    /// The last change of each key that was changed, so that machines agree which of two counts.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub changes: BTreeMap<String, Change>,
    /// The highest fencing token that the fleet's server gave for it; 0 before the first.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub fence: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(fence: &u64) -> bool {
    *fence == 0
}

impl Task {
    /// Returns the fencing token that an event about its claim carries; `None` for a task of this machine.
    pub fn claim_fence(&self) -> Option<u64> {
        let is_fenced = self.is_shared && self.fence > 0;
        is_fenced.then_some(self.claim.as_ref()?.token)
    }

    /// Keeps of some changed keys those that no other log has changed later, and notes the change.
    pub(super) fn latest(
        &mut self,
        mut set: Map<String, Value>,
        change: &Change,
    ) -> Map<String, Value> {
        set.retain(|key, _| {
            let known = self.changes.get(key);
            let is_later =
                known.is_none_or(|known| known.origin == change.origin || known < change);
            if is_later {
                self.changes.insert(key.clone(), change.clone());
            }
            is_later
        });
        set
    }

    /// Whether an event with this fencing token counts: no machine has taken the task over since.
    pub(super) fn accepts(&self, fence: Option<u64>) -> bool {
        fence.unwrap_or(0) >= self.fence
    }

    /// Returns its status at this time: an expired claim counts as pending.
    pub fn status_at(&self, now: Timestamp) -> Status {
        match self.status {
            Status::InProgress if self.claim_at(now).is_none() => Status::Pending,
            status => status,
        }
    }

    /// Returns the claim that is valid at this time.
    pub fn claim_at(&self, now: Timestamp) -> Option<&Claim> {
        let claim = self.claim.as_ref();
        claim.filter(|claim| self.status == Status::InProgress && claim.until > now)
    }

    /// Returns the value of a key of the bridge file.
    pub fn value(&self, key: &str) -> Value {
        match key {
            "id" => self.id.clone().into(),
            "assigned_to" => self.assigned_to.as_ref().map(AgentName::as_str).into(),
            "status" => self.status.as_str().into(),
            "priority" => self.priority.into(),
            "prompt" => self.prompt.clone().into(),
            "output_file" => self.output_file.clone().into(),
            "created_by" => self.created_by.as_str().into(),
            "created_at" => self.created_at.to_string().into(),
            "completed_at" => self.completed_at.clone().into(),
            "needs" => self.needs.clone().into(),
            "result" => self.result.clone().into(),
            _ => self.other.get(key).cloned().unwrap_or_default(),
        }
    }
}
