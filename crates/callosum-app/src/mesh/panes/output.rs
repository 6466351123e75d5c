//! The output types of `callosum mesh panes`: [`PanesOutput`] and its parts.

use callosum_panes::Pane;
use callosum_panes::state::{Considered, Evidence};
use schemars::JsonSchema;
use serde::Serialize;

/// `callosum mesh panes --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct PanesOutput {
    /// When the panes were looked at.
    pub updated_at: String,
    /// Process id of the process that looked.
    pub writer: u32,
    /// The agents, those in tmux first.
    pub panes: Vec<PaneOutput>,
    /// Places that could not be read, each with the reason.
    pub notes: Vec<String>,
}

/// An agent in a terminal.
#[derive(Debug, JsonSchema, Serialize)]
pub struct PaneOutput {
    /// Name of the pane: `%3` in the default tmux server, `work:%3` in another, `pid:4711` outside tmux.
    pub pane: String,
    /// Its terminal.
    pub tty: Option<String>,
    /// Process id of the client.
    pub pid: u32,
    /// Session id, if the client or a hook has named it.
    pub session_id: Option<String>,
    /// Name of the project's folder.
    pub project: Option<String>,
    /// The folder that the client works in.
    pub cwd: Option<String>,
    /// The last prompt that a hook saw: one line, secrets masked, cut.
    pub last_prompt: Option<String>,
    /// `active` while the client runs, else `inactive`.
    pub status: String,
    /// The nearest of six states: `SESSION_ENDED`, `CONTEXT_EXHAUSTED`, `STUCK_ON_ERROR`, `TASK_COMPLETE`, `TRULY_IDLE`, `WORKING`.
    pub activity_state: String,
    /// Quarter of the tmux window: `top-left`, `top-right`, `bottom-left` or `bottom-right`.
    pub quadrant: Option<String>,
    /// When the screen or an event last changed.
    pub last_active: String,
    /// `claude`, `codex` or `gemini`.
    pub agent: String,
    /// `claude-code`, `codex-cli` or `gemini-cli`.
    pub runtime: String,
    /// The state: one of the six, `BLOCKED_ON_APPROVAL`, `USAGE_LIMITED` or `UNKNOWN`.
    pub state: String,
    /// More about the state.
    pub detail: Option<String>,
    /// Since when.
    pub since: String,
    /// When the account's limit ends.
    pub resets_at: Option<String>,
    /// The same in the client's words.
    pub resets: Option<String>,
    /// Whether a person has typed something and not sent it.
    pub has_draft: bool,
    /// Evidence for the state.
    pub evidence: Vec<EvidenceOutput>,
    /// Every signal and rule that was looked at; empty without `--explain`.
    pub considered: Vec<ConsideredOutput>,
}

/// A reason for a state.
#[derive(Debug, JsonSchema, Serialize)]
pub struct EvidenceOutput {
    /// Source of the signal: `process`, `hook`, `registry`, `title` or `screen`.
    pub signal: String,
    /// The rule or event that applied.
    pub rule: String,
    /// The text that matched.
    pub text: String,
}

/// A signal or rule that was looked at.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ConsideredOutput {
    /// Source that was checked.
    pub signal: String,
    /// The rule or event.
    pub rule: String,
    /// The state that it means, if it applied.
    pub state: Option<String>,
    /// Reason why it did not apply, or was not believed.
    pub because: String,
}

impl PaneOutput {
    /// Returns a pane for output, with what was considered if `is_explained`.
    pub fn of(pane: &Pane, is_explained: bool) -> Self {
        let considered: &[Considered] = if is_explained { &pane.considered } else { &[] };
        Self {
            pane: pane.pane.clone(),
            tty: pane.tty.clone(),
            pid: pane.pid,
            session_id: pane.session_id.clone(),
            project: pane.project.clone(),
            cwd: pane.cwd.as_ref().map(|cwd| cwd.display().to_string()),
            last_prompt: pane.last_prompt.clone(),
            status: pane.status.clone(),
            activity_state: pane.activity_state.name().to_owned(),
            quadrant: pane.quadrant.clone(),
            last_active: pane.last_active.to_string(),
            agent: pane.agent.clone(),
            runtime: pane.runtime.clone(),
            state: pane.state.name().to_owned(),
            detail: pane.detail.clone(),
            since: pane.since.to_string(),
            resets_at: pane.resets_at.map(|time| time.to_string()),
            resets: pane.resets.clone(),
            has_draft: pane.has_draft,
            evidence: pane.evidence.iter().map(EvidenceOutput::of).collect(),
            considered: considered.iter().map(ConsideredOutput::of).collect(),
        }
    }
}

impl EvidenceOutput {
    /// Returns a reason for output.
    pub fn of(evidence: &Evidence) -> Self {
        Self {
            signal: evidence.signal.name().to_owned(),
            rule: evidence.rule.clone(),
            text: evidence.text.clone(),
        }
    }
}

impl ConsideredOutput {
    fn of(considered: &Considered) -> Self {
        Self {
            signal: considered.signal.name().to_owned(),
            rule: considered.rule.clone(),
            state: considered.state.map(|state| state.name().to_owned()),
            because: considered.because.clone(),
        }
    }
}
