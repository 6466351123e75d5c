//! Arguments and output of `callosum delegate`.
//!
//! The use case is [`callosum_app::delegate`].

mod analysis;
mod render;

pub(crate) use self::analysis::AnalysisArgs;

use std::ffi::{OsStr, OsString};
use std::io;
use std::io::Read as _;
use std::path::PathBuf;
use std::time::Duration;

use callosum_app::delegate::detached::DetachedOutput;
use callosum_app::delegate::options::{DelegateOptions, LEAST_BUDGET};
use callosum_app::delegate::output::{DelegateOutput, TasksOutput};
use callosum_app::delegate::{delegate, dollars};
use callosum_app::json_error::ErrorOutput;
use callosum_app::time_span::{any_span, time_span};
use callosum_app::{CommandError, Exit};
use callosum_arbiter::{Fraction, Kind, Mode, Priority, kind_name};
use clap::{Args, Parser, ValueEnum};

use self::render::tell;
use super::context::Context;
use crate::ui::Ui;

/// Ask an executor and keep its answer
///
/// Chooses how the task runs and starts the executor. Checks the answer, and compares every
/// citation in it with the code. Commits the answer to the ledger and prints it. Standard output
/// is only the summary; progress goes to standard error.
///
/// Without --executor, the task goes to the enabled and active executor with the lowest priority
/// number in .calrc. If there is none, it goes to `scout`, which needs no model and answers one of
/// four kinds.
#[derive(Args, Debug, Default)]
#[command(after_long_help = "\
Examples:
  $ callosum delegate \"Map this repository\"
  $ callosum delegate \"What tests what?\" --kind tests --path src
  $ callosum delegate \"What does it offer?\" --kind api --json
  $ callosum delegate \"Who uses whom?\" --kind deps --section cycles
  $ callosum delegate --tasks tasks.json --priority dependency-chain

A task file:
  {\"tasks\": [{\"id\": \"map\", \"prompt\": \"Map this repository\"},
             {\"id\": \"deps\", \"prompt\": \"Who imports whom?\", \"kind\": \"deps\", \"links\": [\"map\"]}]}")]
pub(crate) struct DelegateArgs {
    /// Task or question; `-` reads it from standard input
    #[arg(required_unless_present_any = ["tasks", "work_for"])]
    prompt: Option<String>,
    /// Read tasks from FILE (JSON); `-` reads them from standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["prompt", "kind", "path", "executor", "link"])]
    tasks: Option<PathBuf>,
    /// Kind of analysis [default: your prompt alone; for `scout`: scan]
    #[arg(long, value_enum)]
    kind: Option<KindArg>,
    /// Limit the task to this file or folder (may be repeated)
    #[arg(long, value_name = "P")]
    path: Vec<PathBuf>,
    /// Executor to ask
    #[arg(long, value_name = "ID")]
    executor: Option<String>,
    /// Build on this ledger task (may be repeated)
    #[arg(long, value_name = "TASK")]
    link: Vec<String>,
    /// Run in this mode [default: chosen for each task]
    #[arg(long, value_enum, value_name = "MODE")]
    mode: Option<ModeArg>,
    /// Order of waiting tasks
    #[arg(long, value_enum, value_name = "PRIORITY")]
    priority: Option<PriorityArg>,
    /// Reject answers when fewer than this share of their citations are valid (0 to 1)
    #[arg(long, value_name = "SHARE")]
    require_citations: Option<Fraction>,
    /// Print at most about N tokens; the ledger keeps the full answer
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(LEAST_BUDGET..))]
    budget: Option<u64>,
    /// Print scout's complete answer, without the limit of 10,240 bytes
    ///
    /// The ledger keeps only the summary.
    #[arg(long, conflicts_with_all = ["budget", "tasks"])]
    all: bool,
    /// Print only this section of scout's answer; an unknown NAME lists them
    #[arg(long, value_name = "NAME", conflicts_with = "tasks")]
    section: Option<String>,
    /// Ask again even if the ledger has an answer for this tree
    #[arg(long)]
    no_cache: bool,
    /// Run in the background and print the id of the run immediately
    ///
    /// `callosum executor runs` lists runs, waits for them, and prints their results.
    #[arg(long)]
    detach: bool,
    /// Do the work of this detached run
    #[arg(long, value_name = "RUN", hide = true, conflicts_with = "detach")]
    work_for: Option<String>,
    /// On a rate limit, wait at most this long for its reset (30s, 10m, 2h)
    ///
    /// The limit covers all waits of a task together. After the reset, the task is tried again.
    #[arg(long, value_name = "DURATION", value_parser = time_span)]
    wait_limit: Option<Duration>,
    /// Ask once more if a short answer has no citations or an invalid one
    ///
    /// You pay for both answers.
    #[arg(long)]
    ask_for_citations: bool,
    /// Limit executor starts, nested ones included (0: no limit; same below)
    #[arg(long, value_name = "N", help_heading = "Budget of the tree of tasks")]
    max_spawns: Option<u64>,
    /// Start no more executors after they have used this many tokens
    #[arg(
        long,
        value_name = "TOKENS",
        help_heading = "Budget of the tree of tasks"
    )]
    max_tokens: Option<u64>,
    /// Start no more executors after they have cost this many US dollars
    #[arg(
        long,
        value_name = "DOLLARS",
        value_parser = dollars,
        help_heading = "Budget of the tree of tasks"
    )]
    max_cost: Option<f64>,
    /// Start no more executors after this time, such as 90s or 15m
    #[arg(
        long,
        value_name = "DURATION",
        value_parser = any_span,
        help_heading = "Budget of the tree of tasks"
    )]
    timeout: Option<Duration>,
}

impl DelegateArgs {
    /// Returns the same as options, without what is on standard input.
    pub(super) fn options(&self) -> DelegateOptions {
        DelegateOptions {
            prompt: self.prompt.clone(),
            tasks: self.tasks.clone(),
            stdin: None,
            kind: self.kind.map(Into::into),
            paths: self.path.clone(),
            executor: self.executor.clone(),
            links: self.link.clone(),
            mode: self.mode.map(Into::into),
            priority: self.priority.map(Into::into),
            require_citations: self.require_citations,
            budget: self.budget,
            all: self.all,
            section: self.section.clone(),
            no_cache: self.no_cache,
            wait_limit: self.wait_limit,
            ask_for_citations: self.ask_for_citations,
            max_spawns: self.max_spawns,
            max_tokens: self.max_tokens,
            max_cost: self.max_cost,
            timeout: self.timeout,
            plan_call: None,
            start_mark: None,
        }
    }
}

/// Reads standard input into the options, if the prompt or the task file is `-`.
fn read_standard_input(options: &mut DelegateOptions) -> Result<(), CommandError> {
    let is_dash = |text: Option<&OsStr>| text.is_some_and(|text| text == "-");
    if is_dash(options.prompt.as_ref().map(OsStr::new))
        || is_dash(options.tasks.as_ref().map(|file| file.as_os_str()))
    {
        let mut bytes = Vec::new();
        io::stdin()
            .lock()
            .read_to_end(&mut bytes)
            .map_err(|error| {
                CommandError::because(Exit::Environment, "cannot read standard input", &error)
            })?;
        options.stdin = Some(bytes);
    }
    Ok(())
}

/// The kinds of analysis of Seed CAL §9.4.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum KindArg {
    /// Layout, entry points and central files
    Scan,
    /// Dependencies, cycles, layers and external packages
    Deps,
    /// Tests, the code they cover, and untested code
    Tests,
    /// Public interface: names, routes and commands
    Api,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ModeArg {
    /// After the tasks that it links to
    Sequential,
    /// Immediately, in parallel with other tasks
    Concurrent,
    /// After a pause, to reduce disk load
    Staggered,
    /// When no other process writes the ledger
    Queued,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum PriorityArg {
    /// Tasks with more links first
    ContextPriority,
    /// In the given order, rotating over the active executors
    RoundRobin,
    /// Tasks with the longest chain of dependents first
    DependencyChain,
}

impl From<KindArg> for Kind {
    fn from(arg: KindArg) -> Self {
        match arg {
            KindArg::Scan => Self::Scan,
            KindArg::Deps => Self::Deps,
            KindArg::Tests => Self::Tests,
            KindArg::Api => Self::Api,
        }
    }
}

impl From<ModeArg> for Mode {
    fn from(arg: ModeArg) -> Self {
        match arg {
            ModeArg::Sequential => Self::Sequential,
            ModeArg::Concurrent => Self::Concurrent,
            ModeArg::Staggered => Self::Staggered,
            ModeArg::Queued => Self::Queued,
        }
    }
}

impl From<PriorityArg> for Priority {
    fn from(arg: PriorityArg) -> Self {
        match arg {
            PriorityArg::ContextPriority => Self::ContextPriority,
            PriorityArg::RoundRobin => Self::RoundRobin,
            PriorityArg::DependencyChain => Self::DependencyChain,
        }
    }
}

pub(super) fn run(context: &mut Context, args: &DelegateArgs) -> Result<(), CommandError> {
    if let Some(run) = &args.work_for {
        return callosum_app::delegate::detached::work(context, run, |arguments| {
            let stored = Stored::try_parse_from(arguments);
            Ok(stored.map_err(CommandError::internal)?.args.options())
        });
    }
    let mut options = args.options();
    if args.detach {
        return order(context, &mut options);
    }
    let report = read_standard_input(&mut options).and_then(|()| delegate(context, &options));
    match report {
        Ok(report) => tell(context, &options, &report),
        Err(error) => {
            refuse(context.ui, &options, &error)?;
            Err(error)
        }
    }
}

/// The arguments of a stored request.
#[derive(Debug, Parser)]
#[command(no_binary_name = true)]
struct Stored {
    #[command(flatten)]
    args: DelegateArgs,
}

/// Starts a delegation that goes on by itself, and prints the id of its run.
fn order(context: &Context, options: &mut DelegateOptions) -> Result<(), CommandError> {
    if options.tasks.is_none() {
        read_standard_input(options)?;
    }
    let run = callosum_app::delegate::detached::detach(context, options)?;
    if context.ui.json {
        return context.ui.json_data(&DetachedOutput { run });
    }
    context.ui.data(&format!("{run}\n"))?;
    context
        .report
        .hint(&format!("callosum executor runs wait {run}"));
    Ok(())
}

/// With `--json`, prints the one object that a caller waits for, even if nothing could run.
pub(super) fn refuse(
    ui: Ui,
    options: &DelegateOptions,
    error: &CommandError,
) -> Result<(), CommandError> {
    if !ui.json {
        return Ok(());
    }
    let error = ErrorOutput::of_command(error);
    if options.tasks.is_some() {
        return ui.json_data(&TasksOutput::refused(error));
    }
    let kind = kind_name(options.kind);
    ui.json_data(&DelegateOutput::refused(
        options.executor.clone(),
        kind,
        error,
    ))
}

/// Does the same if not even the arguments could be parsed.
pub(super) fn misused(
    ui: Ui,
    arguments: &[OsString],
    error: ErrorOutput,
) -> Result<(), CommandError> {
    let names_a_file = |word: &OsString| word.as_encoded_bytes().starts_with(b"--tasks");
    if arguments.iter().any(names_a_file) {
        return ui.json_data(&TasksOutput::refused(error));
    }
    ui.json_data(&DelegateOutput::refused(None, kind_name(None), error))
}
