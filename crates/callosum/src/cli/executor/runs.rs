//! `callosum executor runs`: the detached delegations of a project.

use std::{
    thread,
    time::{Duration, Instant},
};

use clap::{Args, Subcommand};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::{
    cli::{
        context::Context,
        delegate::{RunState, Runs, Ticket},
        time_span::time_span,
    },
    ui::{CommandError, Exit, Table, shown_time},
};

/// How often a run that is waited for is looked at.
const EACH: Duration = Duration::from_millis(100);

/// How long a run may take to end that was cancelled.
const ENDS_WITHIN: Duration = Duration::from_secs(30);

/// List, wait for, fetch or cancel detached delegations
///
/// `callosum delegate --detach` starts a run. The result of a run is kept for 7 days.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum executor runs
  $ callosum executor runs wait 550e8400-e29b-41d4-a716-446655440000 --timeout 10m
  $ callosum executor runs fetch 550e8400-e29b-41d4-a716-446655440000 --json
  $ callosum executor runs cancel 550e8400-e29b-41d4-a716-446655440000")]
pub(crate) struct RunsArgs {
    #[command(subcommand)]
    verb: Option<RunsVerb>,
}

#[derive(Debug, Subcommand)]
enum RunsVerb {
    /// List runs, newest first
    #[command(after_long_help = "Examples:\n  $ callosum executor runs list")]
    List,
    /// Wait for a run to end, then print its result
    #[command(
        after_long_help = "Examples:\n  $ callosum executor runs wait 550e8400-e29b-41d4-a716-446655440000 --timeout 10m"
    )]
    Wait {
        /// Id of the run
        run: String,
        /// Stop waiting after this time (30s, 10m, 2h); the run continues
        #[arg(long, value_name = "DURATION", value_parser = time_span)]
        timeout: Option<Duration>,
    },
    /// Print the result of a run as `delegate` would
    ///
    /// Exits with 5 if the run has no result yet.
    #[command(
        after_long_help = "Examples:\n  $ callosum executor runs fetch 550e8400-e29b-41d4-a716-446655440000"
    )]
    Fetch {
        /// Id of the run
        run: String,
    },
    /// Cancel a run
    ///
    /// Answers that arrived before are in the ledger.
    #[command(
        after_long_help = "Examples:\n  $ callosum executor runs cancel 550e8400-e29b-41d4-a716-446655440000"
    )]
    Cancel {
        /// Id of the run
        run: String,
    },
}

/// `callosum executor runs --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct RunsOutput {
    /// The runs, the last one first.
    pub(crate) runs: Vec<RunOutput>,
}

/// A detached run.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct RunOutput {
    /// Its id.
    pub(crate) run: String,
    /// `starting`, `running`, `succeeded`, `failed`, `cancelled`, or `killed` if its process ended without a result.
    pub(crate) state: String,
    /// When it was ordered.
    pub(crate) created_at: String,
    /// The executor that was named; null if none was.
    pub(crate) executor: Option<String>,
    /// The beginning of the prompt, its secrets masked.
    pub(crate) prompt: String,
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

pub(super) fn run(context: &Context, args: &RunsArgs) -> Result<(), CommandError> {
    match &args.verb {
        None | Some(RunsVerb::List) => list(context),
        Some(RunsVerb::Wait { run, timeout }) => {
            wait(context, run, *timeout)?;
            print(context, run)
        }
        Some(RunsVerb::Fetch { run }) => print(context, run),
        Some(RunsVerb::Cancel { run }) => {
            let output = cancel(context, run)?;
            if context.ui.json {
                return context.ui.json_data(&output);
            }
            context
                .report
                .say(&format!("{}: {}", output.run, output.state));
            Ok(())
        }
    }
}

fn list(context: &Context) -> Result<(), CommandError> {
    let output = listed(context)?;
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    if output.runs.is_empty() {
        context.report.say("no detached runs");
        return Ok(());
    }
    let mut table = Table::new(&["run", "state", "created", "executor", "prompt"]);
    for run in output.runs {
        let executor = run.executor.unwrap_or_else(|| "-".to_owned());
        let created = shown_time(&run.created_at);
        table.row([run.run, run.state, created, executor, run.prompt]);
    }
    context.ui.foreign(&table.render())
}

/// Returns the runs with their states.
pub(crate) fn listed(context: &Context) -> Result<RunsOutput, CommandError> {
    let all = Runs::new(context);
    let mut runs = Vec::new();
    for ticket in all.all()? {
        let state = all.state(&ticket)?;
        runs.push(RunOutput::new(&ticket, state));
    }
    Ok(RunsOutput { runs })
}

/// Waits until a run is over, at most for `timeout`; fails if it is not by then.
pub(crate) fn wait(
    context: &Context,
    run: &str,
    timeout: Option<Duration>,
) -> Result<(), CommandError> {
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
pub(crate) fn cancel(context: &Context, run: &str) -> Result<RunOutput, CommandError> {
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
pub(crate) fn fetched(context: &Context, run: &str) -> Result<Value, CommandError> {
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

/// Prints the result of a run, and fails as the delegation did.
fn print(context: &Context, run: &str) -> Result<(), CommandError> {
    let output = fetched(context, run)?;
    if context.ui.json {
        context.ui.json_data(&output)?;
    } else {
        context.ui.foreign(&text(&output))?;
    }
    failure(&output).map_or(Ok(()), Err)
}

/// Returns the summaries of a result, each under the name of its task if there are several.
pub(crate) fn text(output: &Value) -> String {
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
pub(crate) fn failure(output: &Value) -> Option<CommandError> {
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
