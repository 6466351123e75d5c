//! [`Task`]: work that one agent leaves for another (Seed CALC §4, layer 3, and §6, pattern 2).

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::OutputReceipt;
use crate::{agent::AgentName, author::Author};

/// How far a task is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Nobody works on it.
    #[default]
    Pending,
    /// Somebody has claimed it.
    InProgress,
    /// It is done.
    Complete,
    /// It was taken back; not of the seed, in whose file it no longer stands.
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

/// Who works on a task.
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
    /// When it goes back to the queue, unless it is claimed anew by the same agent before.
    #[serde(with = "crate::timestamp")]
    pub until: Timestamp,
    /// A number that only grows: of two claims of a task, the later has the larger one. One that is made anew by
    /// the same session keeps it.
    pub token: u64,
}

impl Claim {
    /// Whether it keeps somebody else from the task at this time: another agent, or another session of the same
    /// one where both are known.
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

/// Work that one agent leaves for another.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// What tells it from every other.
    pub id: String,
    /// Who is to do it; anybody where nobody is named.
    pub assigned_to: Option<AgentName>,
    /// How far it is.
    pub status: Status,
    /// How urgent: the smallest number comes first, as the seed's example has 1.
    pub priority: i64,
    /// What is to be done.
    pub prompt: String,
    /// Where the result is to be written.
    pub output_file: Option<String>,
    /// Who left it.
    pub created_by: AgentName,
    /// The session that left it, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_in: Option<String>,
    /// When.
    #[serde(with = "crate::timestamp")]
    pub created_at: Timestamp,
    /// When it was done.
    pub completed_at: Option<String>,
    /// Who did it, where that is known.
    pub completed_by: Option<AgentName>,
    /// Tasks that are to be complete before it is begun.
    pub needs: Vec<String>,
    /// The folder that it is about.
    pub cwd: Option<String>,
    /// Who works on it.
    pub claim: Option<Claim>,
    /// When it went back to the queue, where it did.
    pub queued_at: Option<String>,
    /// What came of it.
    pub result: Option<String>,
    /// The receipt for its output file, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<OutputReceipt>,
    /// Keys that somebody wrote beside these.
    pub other: Map<String, Value>,
    /// The last event that changed it.
    pub rev: u64,
}

impl Task {
    /// How far it is at this time: a claim that has run out holds nothing any more.
    pub fn status_at(&self, now: Timestamp) -> Status {
        match self.status {
            Status::InProgress if self.claim_at(now).is_none() => Status::Pending,
            status => status,
        }
    }

    /// Who works on it at this time.
    pub fn claim_at(&self, now: Timestamp) -> Option<&Claim> {
        let claim = self.claim.as_ref();
        claim.filter(|claim| self.status == Status::InProgress && claim.until > now)
    }

    /// What a key of the bridge file is.
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
