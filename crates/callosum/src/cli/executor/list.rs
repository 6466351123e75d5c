//! `callosum executor list`: the registry, with what the configuration says of each.

use callosum_agents::{registry::Executor, runner::Surroundings};
use callosum_evidence::terminal::on_one_line;
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    cli::{choice::Choice, context::Context, roster::Roster},
    ui::{CommandError, Table},
};

/// List the registered executors
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum executor list
  $ callosum executor list --json")]
pub(crate) struct ListArgs {}

/// `callosum executor list --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct ListOutput {
    /// The executors, in the order of the registry.
    pub(crate) executors: Vec<ExecutorOutput>,
    /// Executor for tasks that name none; null if no executor is available.
    pub(crate) next_executor: Option<String>,
    /// Why that one and no other, in words.
    pub(crate) next_reason: Option<String>,
}

/// One executor.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct ExecutorOutput {
    /// Its name.
    pub(crate) id: String,
    /// `cli`, `http` or `mcp`.
    pub(crate) r#type: String,
    /// Its own version.
    pub(crate) version: String,
    /// `active` or `inactive`: what its last handshake found.
    pub(crate) status: String,
    /// Whether it may be given tasks (`.calrc`).
    pub(crate) enabled: bool,
    /// Its place in the order of preference, lowest first (`.calrc`).
    pub(crate) priority: u64,
    /// Whether this machine may run it: it was registered or trusted here, or is our own.
    pub(crate) trusted: bool,
    /// How it is started.
    pub(crate) command_template: String,
    /// How it is reached, on one line: its command, and for a server where that is.
    pub(crate) way: String,
    /// When it last answered a handshake or health check.
    pub(crate) last_validated: Option<String>,
    /// How far it is confined when it runs here.
    pub(crate) confinement: ConfinementOutput,
    /// What it may read beyond the project and the system.
    pub(crate) readable: Vec<String>,
    /// What it may write beyond its temporary folder.
    pub(crate) writable: Vec<String>,
    /// The hosts that it may connect to.
    pub(crate) network: Vec<String>,
}

/// How far an executor is confined.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct ConfinementOutput {
    /// `required`, `best-effort` or `off`: what its entry asks for.
    pub(crate) policy: String,
    /// `full`, `partial` or `none`; `refused` where it does not run here, `unknown` where that cannot
    /// be tried, because the machine's home cannot be written.
    pub(crate) level: String,
    /// What this system lacks.
    pub(crate) missing: Vec<String>,
}

impl ConfinementOutput {
    fn of(executor: &Executor, surroundings: Option<&Surroundings>) -> Self {
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
    pub(super) fn of(
        executor: &Executor,
        roster: &Roster<'_>,
        surroundings: Option<&Surroundings>,
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

pub(super) fn run(context: &Context) -> Result<(), CommandError> {
    let roster = Roster::load(context)?;
    // A list is there to be read also where nothing can be run.
    let surroundings = context.surroundings().ok();
    let executors: Vec<ExecutorOutput> = roster
        .registry()
        .executors()
        .iter()
        .map(|executor| ExecutorOutput::of(executor, &roster, surroundings.as_ref()))
        .collect();
    let choice = roster.choice();
    if context.ui.json {
        let (next_executor, next_reason) = choice.next().map(|next| (next.id, next.why)).unzip();
        return context.ui.json_data(&ListOutput {
            executors,
            next_executor,
            next_reason,
        });
    }
    let mut table = Table::new(&[
        "id", "type", "status", "enabled", "priority", "version", "confined", "command",
    ]);
    for executor in executors {
        let enabled = if executor.enabled { "yes" } else { "no" };
        let command = on_one_line(&executor.way);
        table.row([
            executor.id,
            executor.r#type,
            if executor.trusted {
                executor.status
            } else {
                "not trusted".to_owned()
            },
            enabled.to_owned(),
            executor.priority.to_string(),
            executor.version,
            executor.confinement.level,
            command,
        ]);
    }
    context.ui.data(&table.render())?;
    context.report.say(&next_line(&choice));
    Ok(())
}

/// Says who takes tasks that name nobody, and why.
pub(super) fn next_line(choice: &Choice) -> String {
    match choice.next() {
        Some(next) => format!(
            "tasks that name no executor go to {}: {}",
            next.id, next.why
        ),
        None => "tasks that name no executor fail: no executor is active, trusted and enabled"
            .to_owned(),
    }
}
