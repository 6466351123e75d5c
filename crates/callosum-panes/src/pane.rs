//! [`Pane`]: an agent in a terminal, as people and programs get it.

use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    program::Program,
    state::{Assessment, Considered, Evidence, State},
};

/// An agent in a terminal: the keys of Seed CALC §4 (layer 4), and ours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pane {
    /// Name of the pane: `%3` in the default tmux server, `work:%3` in another, `pid:4711` outside tmux.
    pub pane: String,
    /// Its terminal, such as `/dev/pts/3`.
    pub tty: Option<String>,
    /// Process id of the client.
    pub pid: u32,
    /// The session's id, if the client or a hook has named it.
    pub session_id: Option<String>,
    /// Name of the project's folder.
    pub project: Option<String>,
    /// The folder that the client works in.
    pub cwd: Option<PathBuf>,
    /// The last prompt that a hook saw: one line, secrets masked, cut.
    pub last_prompt: Option<String>,
    /// `active` while the client runs, else `inactive`.
    pub status: String,
    /// The nearest of the seed's six states.
    pub activity_state: State,
    /// Quarter of the window: `top-left`, `top-right`, `bottom-left`, `bottom-right`. Only in tmux.
    pub quadrant: Option<String>,
    /// When the screen or an event last changed.
    pub last_active: Timestamp,
    /// `claude`, `codex` or `gemini`.
    pub agent: String,
    /// `claude-code`, `codex-cli` or `gemini-cli`.
    pub runtime: String,
    /// The state.
    pub state: State,
    /// More about the state.
    pub detail: Option<String>,
    /// Since when.
    pub since: Timestamp,
    /// When the account's limit ends.
    pub resets_at: Option<Timestamp>,
    /// The same in the client's words.
    pub resets: Option<String>,
    /// Whether a person has typed something and not sent it.
    pub has_draft: bool,
    /// Evidence for the state.
    pub evidence: Vec<Evidence>,
    /// Every signal and rule that was looked at. Left out of the registry.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub considered: Vec<Considered>,
}

impl Pane {
    /// Returns the agent's name in the mesh.
    pub fn mesh_agent(&self) -> Option<&'static str> {
        let program = Program::ALL
            .into_iter()
            .find(|program| program.short() == self.agent);
        program.map(Program::agent)
    }

    /// Takes over what an assessment says.
    pub(crate) fn set(&mut self, assessment: &Assessment, since: Timestamp) {
        self.state = assessment.state;
        self.activity_state = assessment.state.of_six();
        let is_active = assessment.state != State::SessionEnded;
        let status = if is_active { "active" } else { "inactive" };
        status.clone_into(&mut self.status);
        self.detail.clone_from(&assessment.detail);
        self.resets_at = assessment.resets_at;
        self.resets.clone_from(&assessment.resets);
        self.evidence.clone_from(&assessment.evidence);
        self.considered.clone_from(&assessment.considered);
        self.since = since;
    }
}
