//! Arguments and output of `callosum executor run`.
//!
//! The use case is [`callosum_app::executor::scout`].

use std::io;
use std::io::{Read as _, Write as _};
use std::time::Instant;

use crate::ui::unprinted;
use callosum_app::executor::scout::{LONGEST_REQUEST, PROGRESS_PAUSE};
use callosum_app::{CommandError, Exit};
use callosum_config::Environment;
use callosum_executor::transport::WorkerContext;
use callosum_executor::worker::{self, JobError};
use callosum_host::Disk;
use callosum_host::process::{end_with_parent, replace};
use callosum_model::LlamaCommand;
use callosum_scout::Progress;
use clap::{Args, ValueEnum};
use serde_json::Value;

/// Answer one request on standard input as an embedded executor
#[derive(Args, Debug)]
#[command(hide = true)]
pub(crate) struct RunArgs {
    /// Embedded executor to run
    #[arg(value_enum)]
    executor: Embedded,
}

/// The embedded executor to start.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Embedded {
    /// Reads the repository itself
    Scout,
    /// Asks a model server
    Http,
    /// Calls a tool of an MCP server
    Mcp,
    /// Asks a coding agent over the Agent Client Protocol
    Acp,
    /// Becomes the server of a model file
    LlamaServer,
}

pub(crate) fn run(environment: &Environment, args: &RunArgs) -> Result<(), CommandError> {
    // A controller that is killed cannot end what it started.
    end_with_parent().map_err(|error| {
        CommandError::because(
            Exit::Environment,
            "cannot end together with the parent process",
            &error,
        )
    })?;
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .take(LONGEST_REQUEST)
        .read_to_end(&mut bytes)
        .map_err(|error| {
            CommandError::because(Exit::Environment, "cannot read the request", &error)
        })?;
    match args.executor {
        Embedded::Scout => explore(&bytes),
        Embedded::LlamaServer => become_server(&bytes),
        Embedded::Http | Embedded::Mcp | Embedded::Acp => speak(environment, &bytes),
    }
}

fn speak(environment: &Environment, job: &[u8]) -> Result<(), CommandError> {
    let environment: Vec<_> = environment
        .iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let means = WorkerContext {
        disk: &Disk::real(),
        environment: &environment,
    };
    worker::speak(job, &means, &mut io::stdout()).map_err(|error| match error {
        JobError::Unreadable(error) => {
            CommandError::because(Exit::Usage, "cannot read the job on standard input", &error)
        }
        JobError::Unheard(error) => unprinted(error),
    })
}

/// Becomes the server: the wish to end with the parent stays with the process.
fn become_server(bytes: &[u8]) -> Result<(), CommandError> {
    let command: LlamaCommand = serde_json::from_slice(bytes).map_err(|error| {
        CommandError::because(
            Exit::Usage,
            "cannot read the command on standard input",
            &error,
        )
    })?;
    let error = replace(command.program.as_os_str(), command.arguments());
    let what = format!("cannot run `{}`", command.program.display());
    Err(CommandError::because(Exit::Environment, what, &error))
}

fn explore(bytes: &[u8]) -> Result<(), CommandError> {
    let request: Value = serde_json::from_slice(bytes).map_err(|error| {
        CommandError::because(
            Exit::Usage,
            "the request on standard input is not JSON",
            &error,
        )
    })?;
    let here = std::env::current_dir().map_err(|error| {
        CommandError::because(Exit::Environment, "cannot read the current folder", &error)
    })?;
    let mut last: Option<(Instant, Progress)> = None;
    let mut tell = |progress: Progress| {
        let is_news = last.is_none_or(|(at, before)| {
            before.phase != progress.phase || at.elapsed() >= PROGRESS_PAUSE
        });
        if is_news && let Ok(line) = serde_json::to_string(&progress) {
            last = Some((Instant::now(), progress));
            // Who started us may have stopped listening; the answer is still worth giving.
            drop(writeln!(io::stderr().lock(), "{line}"));
        }
    };
    let answer = callosum_scout::answer(&Disk::real(), &here, &request, &mut tell);
    let mut line = serde_json::to_vec(&answer).map_err(CommandError::internal)?;
    line.push(b'\n');
    let mut stdout = io::stdout().lock();
    stdout
        .write_all(&line)
        .and_then(|()| stdout.flush())
        .map_err(unprinted)
}
