//! The output types of `callosum top --json`: [`OverviewOutput`] and its parts.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;
use crate::mesh::panes::EvidenceOutput;

/// `callosum top --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct OverviewOutput {
    /// When it was gathered, in UTC.
    pub at: String,
    /// The folder that keeps the project's state.
    pub project: String,
    /// The agents on this machine, those in tmux first.
    pub agents: Vec<AgentOutput>,
    /// Items that wait for a person, oldest first; at most 200.
    pub waiting: Vec<WaitingItemOutput>,
    /// Number of items that wait for a person.
    pub waiting_total: u64,
    /// Number of mesh tasks by status.
    pub task_counts: TaskCountsOutput,
    /// Mesh tasks that are not over: those in progress first, then the most urgent; at most 200.
    pub tasks: Vec<TaskSummaryOutput>,
    /// Number of mesh tasks that are not over.
    pub tasks_total: u64,
    /// The last decisions of the guard about this tree, apart from `allowed`, newest first; at most 50, from the last
    /// 4 MiB of each journal.
    pub guard: Vec<DecisionOutput>,
    /// Parts that could not be read, each with the reason.
    pub faults: Vec<String>,
}

/// A command that acts on an item.
#[derive(Clone, Debug, JsonSchema, PartialEq, Eq, Serialize)]
pub struct OverviewCommandOutput {
    /// Its effect: `approve`, `deny`, `allow-once`, `message`, `retry`, `drop`, `resolve`, `keep`, `cancel`, `resume`,
    /// `explain` or `show`.
    pub name: String,
    /// Arguments for `callosum`, without the program's name.
    pub argv: Vec<String>,
}

/// An agent on this machine.
#[derive(Debug, JsonSchema, Serialize)]
pub struct AgentOutput {
    /// Name in the mesh, as messages address it: `claude-code`, `codex` or `gemini-cli`; with `@SESSION` if the session is
    /// known.
    pub name: String,
    /// `claude`, `codex`, `gemini`, or the name in the mesh of any other agent.
    pub client: String,
    /// Pane that it runs in: `%3` in the default tmux server, `pid:4711` outside tmux; null if only the mesh knows it.
    pub pane: Option<String>,
    /// Process id of the client.
    pub pid: Option<u32>,
    /// `WORKING`, `BLOCKED_ON_APPROVAL`, `TASK_COMPLETE`, `TRULY_IDLE`, `STUCK_ON_ERROR`, `USAGE_LIMITED`,
    /// `CONTEXT_EXHAUSTED`, `SESSION_ENDED` or `UNKNOWN`.
    pub state: String,
    /// More about the state.
    pub detail: Option<String>,
    /// Evidence for the state.
    pub evidence: Vec<EvidenceOutput>,
    /// Since when it is in this state, in UTC; null if that is unknown.
    pub since: Option<String>,
    /// Seconds since then.
    pub age_seconds: Option<u64>,
    /// Session id, if the client or a hook has named it.
    pub session_id: Option<String>,
    /// Name of the project's folder.
    pub project: Option<String>,
    /// The folder that it works in.
    pub folder: Option<String>,
    /// The last prompt that a hook saw: one line, secrets masked, cut.
    pub last_prompt: Option<String>,
    /// When the limit of its account ends, in UTC.
    pub resets_at: Option<String>,
    /// The mesh task that it has claimed; null if it has none.
    pub task: Option<AgentTaskOutput>,
    /// Fill level of its context; null if it is unknown.
    pub budget: Option<BudgetShareOutput>,
    /// Commands that act on it.
    pub commands: Vec<OverviewCommandOutput>,
}

/// The task that an agent works on.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct AgentTaskOutput {
    /// Its id.
    pub id: String,
    /// The beginning of its prompt.
    pub prompt: String,
}

/// Fill level of a context.
#[derive(Clone, Copy, Debug, JsonSchema, PartialEq, Eq, Serialize)]
pub struct BudgetShareOutput {
    /// Tokens that the next request begins with.
    pub used: u64,
    /// Tokens that the model takes; null if the client does not say.
    pub window: Option<u64>,
    /// The share of the window that is in use, in percent, cut.
    pub percent: Option<u64>,
    /// `green`, `yellow`, `orange` or `red`; for an unknown window, as for one of 200,000 tokens.
    pub zone: &'static str,
}

/// An item that waits for a person.
#[derive(Debug, JsonSchema, Serialize)]
pub struct WaitingItemOutput {
    /// `plan_call`, `agent_blocked`, `dead_letter`, `mesh_conflict` or `guard_asked`.
    pub kind: &'static str,
    /// Id of the item: run and key of a call, pane or name of an agent, message, conflict or decision.
    pub id: String,
    /// Summary.
    pub title: String,
    /// More about it, such as the reason.
    pub detail: Option<String>,
    /// Agent that it concerns.
    pub agent: Option<String>,
    /// Since when it waits, in UTC.
    pub since: String,
    /// Seconds since then.
    pub age_seconds: u64,
    /// Commands that resolve it, the most direct first.
    pub commands: Vec<OverviewCommandOutput>,
}

/// Number of mesh tasks by status.
#[derive(Clone, Copy, Debug, Default, JsonSchema, PartialEq, Eq, Serialize)]
pub struct TaskCountsOutput {
    /// Tasks that no agent works on.
    pub pending: u64,
    /// Tasks that an agent works on.
    pub in_progress: u64,
    /// Tasks that are done.
    pub complete: u64,
    /// Tasks that were canceled.
    pub cancelled: u64,
}

/// A mesh task that is not over.
#[derive(Debug, JsonSchema, Serialize)]
pub struct TaskSummaryOutput {
    /// Its id.
    pub id: String,
    /// `pending` or `in_progress`.
    pub status: &'static str,
    /// Priority: the smallest number comes first.
    pub priority: i64,
    /// The beginning of its prompt.
    pub prompt: String,
    /// Agent that it is assigned to; null if any agent may claim it.
    pub assigned_to: Option<String>,
    /// Agent that works on it.
    pub claimed_by: Option<String>,
    /// Session that works on it.
    pub claimed_session: Option<String>,
    /// When the claim ends, in UTC.
    pub claimed_until: Option<String>,
    /// Author.
    pub created_by: String,
    /// When it was created, in UTC.
    pub created_at: String,
    /// Seconds since then.
    pub age_seconds: u64,
    /// The folder that it is about.
    pub folder: Option<String>,
    /// Tasks that are to be complete before; at most 20.
    pub blocked_by: Vec<String>,
    /// Commands that act on it.
    pub commands: Vec<OverviewCommandOutput>,
}

/// A decision of the guard, or what a person changed about them.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct DecisionOutput {
    /// Id of the record: the journal (`project`, `machine` or `buffer`) and its number there.
    pub id: String,
    /// When, in UTC.
    pub at: String,
    /// Seconds since then.
    pub age_seconds: u64,
    /// Client that was to run it; null for a person's change.
    pub agent: Option<String>,
    /// Its session.
    pub session_id: Option<String>,
    /// `asked`, `blocked`, `permitted`, `revoked`, `auto-allow` or `rule-level`.
    pub verdict: String,
    /// The command, secrets masked, or the pattern that was permitted.
    pub command: Option<String>,
    /// Files that were to be written; at most 20.
    pub paths: Vec<String>,
    /// The rule that decided.
    pub rule: Option<String>,
    /// The reason.
    pub reason: Option<String>,
    /// The alternative that the refusal named.
    pub alternative: Option<String>,
    /// Commands that act on it.
    pub commands: Vec<OverviewCommandOutput>,
    /// When, for an order of two of them.
    #[serde(skip)]
    pub(super) time: Timestamp,
}

impl OverviewOutput {
    pub(super) fn empty(context: &Context, now: Timestamp) -> Self {
        Self {
            at: now.to_string(),
            project: context.state().display().to_string(),
            agents: Vec::new(),
            waiting: Vec::new(),
            waiting_total: 0,
            task_counts: TaskCountsOutput::default(),
            tasks: Vec::new(),
            tasks_total: 0,
            guard: Vec::new(),
            faults: Vec::new(),
        }
    }
}
