//! Past sessions that a search found.

use serde::{Deserialize, Serialize};

use crate::{command::Command, visit::Visit};

/// `memory status --json`, as far as it is needed.
#[derive(Deserialize)]
struct MemoryStatus {
    on: bool,
}

/// `find --sessions --json`, as far as it is shown.
#[derive(Deserialize)]
struct SessionsFound {
    sessions: Vec<PastSession>,
}

/// A session that was found.
#[derive(Deserialize, Serialize)]
pub(super) struct PastSession {
    pub(super) agent: String,
    pub(super) session: String,
    pub(super) title: Option<String>,
    pub(super) last: Option<String>,
    pub(super) verified: String,
    resume: Vec<String>,
    pub(super) turns: Vec<PastTurn>,
}

/// A turn of a session.
#[derive(Deserialize, Serialize)]
pub(super) struct PastTurn {
    pub(super) speaker: String,
    pub(super) text: String,
}

impl PastSession {
    /// The command that resumes it, in the project's folder.
    pub(super) fn resume_line(&self) -> String {
        let words = self.resume.iter().map(String::as_str);
        shlex::try_join(words).unwrap_or_default()
    }

    pub(super) fn tone(&self) -> &'static str {
        match self.verified.as_str() {
            "verified" => "ok",
            "partly verified" => "wait",
            "refuted" => "bad",
            _ => "idle",
        }
    }
}

/// Returns the past sessions that a search finds; `None` if the memory is off.
pub(super) fn find(visit: &Visit, words: &str) -> Option<Vec<PastSession>> {
    let status = visit.ask_or_report::<MemoryStatus>(&Command::new(&["memory", "status"]))?;
    if !status.on {
        return None;
    }
    let command = Command::new(&["find", "--sessions", "--limit", "5"]).values([words]);
    let found = visit.ask_or_report::<SessionsFound>(&command)?;
    Some(found.sessions)
}
