//! Arguments and output of `callosum executor runs`.
//!
//! The use case is [`callosum_app::executor::runs`].

use std::time::Duration;

use callosum_app::CommandError;
use callosum_app::executor::runs::{cancel, failure, fetched, listed, text, wait};
use callosum_app::time_span::time_span;
use clap::{Args, Subcommand};

use crate::cli::context::Context;
use crate::ui::{Table, shown_time};

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
