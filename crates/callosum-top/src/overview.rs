//! [`Overview`]: what there is to show, as plain values. Texts are as they came from elsewhere.

/// Everything at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overview {
    /// When it was gathered.
    pub at: String,
    /// The project's folder.
    pub project: String,
    /// The agents of this machine.
    pub agents: Vec<Agent>,
    /// Items that wait for a person, oldest first.
    pub waiting: Vec<WaitingItem>,
    /// Number of items that wait, those that are left out included.
    pub waiting_total: u64,
    /// Number of tasks by status.
    pub counts: Counts,
    /// Tasks that are not over.
    pub tasks: Vec<Task>,
    /// Number of tasks that are not over, those that are left out included.
    pub tasks_total: u64,
    /// The last decisions of the guard, newest first.
    pub guard: Vec<Decision>,
    /// Parts that could not be read, each with the reason.
    pub faults: Vec<String>,
}

/// A command that acts on an item.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// Its effect in a word, such as `approve`, `deny`, `allow-once` or `message`.
    pub name: String,
    /// The arguments, without the program's name. Those of `message` end with `-`, which the text replaces.
    pub argv: Vec<String>,
}

/// An agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agent {
    /// Name by which messages address it.
    pub name: String,
    /// Pane that it runs in.
    pub pane: Option<String>,
    /// State, such as `WORKING`.
    pub state: String,
    /// More about the state.
    pub detail: Option<String>,
    /// Evidence for the state, a line for each.
    pub evidence: Vec<String>,
    /// Seconds since the state began.
    pub age_seconds: Option<u64>,
    /// Session id.
    pub session_id: Option<String>,
    /// Name of the project's folder.
    pub project: Option<String>,
    /// The folder that it works in.
    pub folder: Option<String>,
    /// The last prompt.
    pub last_prompt: Option<String>,
    /// When the limit of its account ends.
    pub resets_at: Option<String>,
    /// Id and prompt of the task that it works on.
    pub task: Option<(String, String)>,
    /// Fill level of its context, such as `45 % of 200000`.
    pub budget: Option<String>,
    /// Level of that: `green`, `yellow`, `orange` or `red`.
    pub zone: Option<String>,
    /// Commands that act on it.
    pub commands: Vec<Command>,
}

/// An item that waits for a person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaitingItem {
    /// Kind, such as `plan_call`.
    pub kind: String,
    /// Id among its kind.
    pub id: String,
    /// Summary.
    pub title: String,
    /// More about it.
    pub detail: Option<String>,
    /// Agent that it concerns.
    pub agent: Option<String>,
    /// Since when it waits.
    pub since: String,
    /// Seconds since then.
    pub age_seconds: u64,
    /// Commands that resolve it.
    pub commands: Vec<Command>,
}

/// Number of tasks by status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Tasks that no agent works on.
    pub pending: u64,
    /// Tasks that an agent works on.
    pub in_progress: u64,
    /// Tasks that are done.
    pub complete: u64,
    /// Tasks that were canceled.
    pub canceled: u64,
}

/// A task that is not over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Task {
    /// Its id.
    pub id: String,
    /// `pending` or `in_progress`.
    pub status: String,
    /// Priority: the smallest number comes first.
    pub priority: i64,
    /// Prompt.
    pub prompt: String,
    /// Agent that it is assigned to.
    pub assigned_to: Option<String>,
    /// Agent that works on it.
    pub claimed_by: Option<String>,
    /// When the claim ends.
    pub claimed_until: Option<String>,
    /// Author.
    pub created_by: String,
    /// When it was created.
    pub created_at: String,
    /// Seconds since then.
    pub age_seconds: u64,
    /// The folder that it is about.
    pub folder: Option<String>,
    /// Tasks that are to be complete before.
    pub blocked_by: Vec<String>,
    /// Commands that act on it.
    pub commands: Vec<Command>,
}

/// A decision of the guard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// Its id.
    pub id: String,
    /// When.
    pub at: String,
    /// Seconds since then.
    pub age_seconds: u64,
    /// Client that was to run it.
    pub agent: Option<String>,
    /// Verdict, such as `asked` or `blocked`.
    pub verdict: String,
    /// The command.
    pub command: Option<String>,
    /// Files that were to be written.
    pub paths: Vec<String>,
    /// The rule that decided.
    pub rule: Option<String>,
    /// The reason.
    pub reason: Option<String>,
    /// The alternative that the refusal named.
    pub alternative: Option<String>,
    /// Commands that act on it.
    pub commands: Vec<Command>,
}
