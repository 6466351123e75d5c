//! `callosum executor runs`: the detached delegations of a project.

use std::thread;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::context::Context;
use crate::delegate::{RunState, Runs, Ticket};
use crate::{CommandError, Exit};

/// Interval at which a run that is waited for is checked.
const EACH: Duration = Duration::from_millis(100);

/// Time that a canceled run may take to end.
const ENDS_WITHIN: Duration = Duration::from_secs(30);

/// `callosum executor runs --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct RunsOutput {
    /// The runs, the last one first.
    pub runs: Vec<RunOutput>,
}

/// A detached run.
#[derive(Debug, JsonSchema, Serialize)]
pub struct RunOutput {
    /// Its id.
    pub run: String,
    /// `starting`, `running`, `succeeded`, `failed`, `cancelled`, or `killed` if its process ended without a result.
    pub state: String,
    /// When it was ordered.
    pub created_at: String,
    /// The executor that was named; null if none was.
    pub executor: Option<String>,
    /// The beginning of the prompt, its secrets masked.
    pub prompt: String,
}

impl RunOutput {
    fn new(ticket: &Ticket, state: RunState) -> Self {
        Self {
            run: ticket.run.clone(),
            state: state.as_str().to_owned(),
            created_at: ticket.created_at.to_string(),
            executor: ticket.executor.clone(),
            prompt: ticket.prompt.clone(),
        }
    }
}

/// Returns the runs with their states.
pub fn listed(context: &Context) -> Result<RunsOutput, CommandError> {
    let all = Runs::new(context);
    let mut runs = Vec::new();
    for ticket in all.all()? {
        let state = all.state(&ticket)?;
        runs.push(RunOutput::new(&ticket, state));
    }
    Ok(RunsOutput { runs })
}

/// Waits until a run is over, at most for `timeout`; fails if it is not by then.
pub fn wait(context: &Context, run: &str, timeout: Option<Duration>) -> Result<(), CommandError> {
    let began = Instant::now();
    loop {
        let runs = Runs::new(context);
        let ticket = runs.ticket(run)?;
        let state = runs.state(&ticket)?;
        if state.is_over() {
            return Ok(());
        }
        if context.cancel.is_cancelled() {
            return Err(CommandError::new(Exit::Interrupted, "interrupted"));
        }
        if timeout.is_some_and(|timeout| began.elapsed() >= timeout) {
            return Err(unfinished(run, state));
        }
        thread::sleep(EACH);
    }
}

/// Asks a run to end and waits until it has; a run that is over stays as it is.
pub fn cancel(context: &Context, run: &str) -> Result<RunOutput, CommandError> {
    let runs = Runs::new(context);
    let ticket = runs.ticket(run)?;
    if !runs.state(&ticket)?.is_over() {
        runs.ask_to_end(run)?;
        wait(context, run, Some(ENDS_WITHIN))?;
    }
    let state = Runs::new(context).state(&ticket)?;
    Ok(RunOutput::new(&ticket, state))
}

/// Returns the result of a run as `delegate --json` prints it; fails if there is none.
pub fn fetched(context: &Context, run: &str) -> Result<Value, CommandError> {
    let runs = Runs::new(context);
    let ticket = runs.ticket(run)?;
    let state = runs.state(&ticket)?;
    if let Some(output) = runs.output(run)? {
        return Ok(output);
    }
    if state.is_over() {
        let what = format!("the run `{run}` was killed: its process ended without a result");
        return Err(CommandError::new(Exit::No, what).hint("callosum ledger query"));
    }
    Err(unfinished(run, state))
}

fn unfinished(run: &str, state: RunState) -> CommandError {
    let what = format!(
        "the run `{run}` has no result yet: it is {}",
        state.as_str()
    );
    CommandError::new(Exit::Waiting, what).hint(format!("callosum executor runs wait {run}"))
}

/// Returns the summaries of a result, each under the name of its task if there are several.
pub fn text(output: &Value) -> String {
    let summary = |task: &Value| {
        task["summary"]
            .as_str()
            .map(|it| format!("{}\n", it.trim_end()))
    };
    let Some(tasks) = output["tasks"].as_array() else {
        return summary(output).unwrap_or_default();
    };
    let named = tasks.iter().filter_map(|task| {
        let name = task["id"].as_str().unwrap_or_default();
        Some(format!("== {name}\n{}", summary(task)?))
    });
    named.collect()
}

/// Returns the first failure in a result.
pub fn failure(output: &Value) -> Option<CommandError> {
    let tasks = output["tasks"].as_array().into_iter().flatten();
    let all = std::iter::once(output).chain(tasks);
    let error = all.map(|one| &one["error"]).find(|it| !it.is_null())?;
    let message = error["message"].as_str().unwrap_or("the run failed");
    let failed = CommandError::new(Exit::No, message);
    Some(match error["hint"].as_str() {
        Some(hint) => failed.hint(hint),
        None => failed,
    })
}
