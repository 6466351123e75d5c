//! `callosum executor list`: the registry, with what the configuration says of each.

use callosum_executor::registry::Executor;
use callosum_executor::runner::ExecutionEnvironment;
use schemars::JsonSchema;
use serde::Serialize;

use crate::executor_pool::Roster;
use crate::executor_selection::Choice;

/// `callosum executor list --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ListOutput {
    /// The executors, in the order of the registry.
    pub executors: Vec<ExecutorOutput>,
    /// Executor for tasks that name none; null if no executor is available.
    pub next_executor: Option<String>,
    /// Reason for that choice.
    pub next_reason: Option<String>,
}

/// One executor.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ExecutorOutput {
    /// Its name.
    pub id: String,
    /// `cli`, `http` or `mcp`.
    pub r#type: String,
    /// Its own version.
    pub version: String,
    /// `active` or `inactive`: what its last handshake found.
    pub status: String,
    /// Whether it may be given tasks (`.calrc`).
    pub enabled: bool,
    /// Its place in the order of preference, lowest first (`.calrc`).
    pub priority: u64,
    /// Whether this machine may run it: it was registered or trusted here, or is our own.
    pub trusted: bool,
    /// Command that starts it.
    pub command_template: String,
    /// How to reach it, on one line: its command, and for a server its address.
    pub way: String,
    /// When it last answered a handshake or health check.
    pub last_validated: Option<String>,
    /// Confinement of its runs on this machine.
    pub confinement: ConfinementOutput,
    /// Paths that it may read beyond the project and the system.
    pub readable: Vec<String>,
    /// Paths that it may write beyond its temporary folder.
    pub writable: Vec<String>,
    /// The hosts that it may connect to.
    pub network: Vec<String>,
}

/// Confinement of an executor.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ConfinementOutput {
    /// `required`, `best-effort` or `off`: what its entry asks for.
    pub policy: String,
    /// `full`, `partial` or `none`; `refused` where it does not run here, `unknown` where that cannot
    /// be tried, because the machine's home cannot be written.
    pub level: String,
    /// Parts that this system lacks.
    pub missing: Vec<String>,
}

impl ConfinementOutput {
    fn of(executor: &Executor, surroundings: Option<&ExecutionEnvironment>) -> Self {
        let policy = executor.confinement.unwrap_or_default();
        let reached = surroundings.and_then(|surroundings| {
            let confiner = surroundings.confiner.as_ref()?;
            Some(confiner.reach(executor, &surroundings.environment, &surroundings.disk))
        });
        let (level, missing) = match reached {
            Some(Ok(reached)) => (reached.level.as_str(), reached.missing),
            Some(Err(refused)) => ("refused", refused.missing),
            None => ("unknown", Vec::new()),
        };
        Self {
            policy: policy.to_string(),
            level: level.to_owned(),
            missing,
        }
    }
}

impl ExecutorOutput {
    /// Returns what is printed about an executor.
    pub fn of(
        executor: &Executor,
        roster: &Roster<'_>,
        surroundings: Option<&ExecutionEnvironment>,
    ) -> Self {
        let preference = roster.preference(&executor.id);
        Self {
            id: executor.id.clone(),
            r#type: executor.kind.to_string(),
            version: executor.version.clone(),
            status: executor.status.to_string(),
            enabled: preference.enabled.value,
            priority: preference.priority.value,
            trusted: roster.is_trusted(executor),
            command_template: executor.command_template.clone(),
            way: executor.way(),
            last_validated: executor.last_validated.clone(),
            confinement: ConfinementOutput::of(executor, surroundings),
            readable: executor.readable.clone(),
            writable: executor.writable.clone(),
            network: executor.network.clone(),
        }
    }
}

/// Returns a line about the executor that gets tasks that name none, with the reason.
pub fn next_line(choice: &Choice) -> String {
    match choice.next() {
        Some(next) => format!(
            "tasks that name no executor go to {}: {}",
            next.id, next.why
        ),
        None => "tasks that name no executor fail: no executor is active, trusted and enabled"
            .to_owned(),
    }
}
