//! `callosum delegate`: the main job, from a prompt or a task file to summaries in the ledger.
//!
//! This file has the arguments and the way through; [`submission`] turns arguments into tasks,
//! [`progress`] shows what happens, [`report`] is what comes out, [`telling`] what a person is told of it
//! and [`handed`] what an agent is that asks by another way.

mod advice;
mod analysis;
mod detached;
mod handed;
mod inference;
mod options;
mod planned;
mod progress;
mod report;
mod run_store;
mod submission;
mod telling;
mod whole;

use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    io::{self, Read as _},
    path::PathBuf,
    time::Duration,
};

use callosum_agents::registry::{EMBEDDED_ID, Status};
use callosum_arbiter::{
    Kind, Limits, Mode, Priority, RecoveryPolicy, Share, Submission,
    budget::{Bounds, Budget, BudgetError, Money, TOKEN_VARIABLE},
    delegation::{self, Means, Report, Reuse, Rules},
    kind_name,
    priority::assign_executors,
    tree_print::TreePrint,
};
use callosum_ledger::{Answers, AuditEvent, Event, Ledger};
use clap::{Args, Parser, ValueEnum};

pub(crate) use self::{
    analysis::AnalysisArgs,
    detached::DetachedOutput,
    handed::{Wanted, handed},
    planned::planned,
};
use self::{
    options::{DelegateOptions, LEAST_BUDGET},
    progress::Shown,
    submission::Asking,
    telling::tell,
};
pub(super) use self::{
    report::{DelegateOutput, TasksOutput},
    run_store::{RunState, Runs, Ticket},
};
use super::{
    context::Context,
    failure::ErrorOutput,
    roster::Roster,
    store,
    time_span::{any_span, time_span},
    witness,
};
use crate::ui::{CommandError, Exit, Ui, shell_word};

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
    require_citations: Option<Share>,
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

/// Why an executor is inactive that a run found so.
pub(super) const UNWELL: &str = "it did not pass its health check";

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
        return detached::work(context, run, |arguments| {
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
    let run = detached::detach(context, options)?;
    if context.ui.json {
        return context.ui.json_data(&DetachedOutput { run });
    }
    context.ui.data(&format!("{run}\n"))?;
    context
        .report
        .hint(&format!("callosum executor runs wait {run}"));
    Ok(())
}

/// With `--json`, prints the one object that a caller waits for, also where nothing could run.
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

/// The same where not even the arguments were understood.
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

/// The whole flow of Seed CAL §2.3.
fn delegate(context: &Context, options: &DelegateOptions) -> Result<Report, CommandError> {
    whole::check_section(options)?;
    let reader = store::reader(context)?;
    // What is refused before there is a ledger begins none.
    let record_refused = |error: &CommandError| {
        if reader.version().is_some() {
            record_refusal(context, error);
        }
    };
    let submission = submission::read(context, options, &reader).inspect_err(record_refused)?;
    let roster = Roster::load(context)?;
    let executors = assigned(options, &submission, &roster).inspect_err(record_refused)?;
    whole::check_executors(options, &executors)?;
    note_prompt_is_ignored(context, options, &executors);
    tell_without_login(context, &roster, &submission);
    let ledger = store::open(context)?;
    let budget = budget(context, options)?;
    let mut surroundings = context.surroundings()?;
    surroundings.client_wait = surroundings
        .client_wait
        .max(options.wait_limit.unwrap_or_default());
    let token = (TOKEN_VARIABLE.into(), budget.token().into());
    surroundings
        .environment
        .retain(|(name, _)| name != TOKEN_VARIABLE);
    surroundings.environment.push(token);
    let circuits = context.circuits();
    let fallbacks = roster.choice().all();
    let means = Means {
        ledger: &ledger,
        answers: &Answers::new(context.disk.clone(), &context.ledger_paths()),
        registry: roster.registry(),
        surroundings: &surroundings,
        tree: context.tree(),
        clock: &context.clock,
        cancel: &context.cancel,
        provenance: context.provenance(),
        reuse: reuse(context, options),
        budget: &budget,
        circuits: &circuits,
        fallbacks: &fallbacks,
        start_mark: options.start_mark.clone(),
        caps: context.project.settings.caps(),
        slots: (!budget.is_nested()).then(|| context.slots()),
    };
    let rules = Rules {
        limits: limits(context, options),
        io_threshold: context.project.settings.io_threshold(),
        memory_limit: context.project.settings.memory_limit(),
        strict_summary: context.project.settings.strict_summary(),
        require_citations: options
            .require_citations
            .or(context.project.settings.require_citations()),
        asks_once: options.plan_call.is_some(),
        asks_for_citations: options.ask_for_citations,
        wait_limit: options.wait_limit.unwrap_or_default(),
    };
    let shown = Shown::start(context, &submission);
    let ran = witness::during(context, &ledger, || {
        delegation::run(submission, &executors, &means, rules, &shown)
    });
    let report = ran.map_err(|error| CommandError::from_error(Exit::Environment, &error))?;
    drop(shown);
    for rotated in ledger.rotations() {
        context
            .report
            .say(&format!("archived the ledger: {rotated}"));
    }
    if !ledger.rotations().is_empty() {
        store::compress_archives(context);
    }
    if let Some(error) = ledger.not_rotated() {
        let why = store::unwritten(&error).one_line();
        let what = format!("the ledger has reached its maximum size but was not archived: {why}");
        context.report.warn(&what, Some("callosum doctor"));
    }
    // What came of the tasks is told, whatever comes of the registry.
    if let Err(error) = deactivate(context, &report, &ledger) {
        context.report.error(&error);
    }
    if let Some(error) = &report.unrecorded {
        context.report.warn(
            &store::unwritten(error).one_line(),
            Some("callosum audit verify"),
        );
    }
    Ok(report)
}

/// Says that scout does not interpret the prompt, and names the command that answers it.
fn note_prompt_is_ignored(context: &Context, options: &DelegateOptions, executors: &[String]) {
    let is_typed = options.plan_call.is_none() && !context.is_asked_by_tool();
    let Some(prompt) = options.prompt.as_deref().filter(|_| is_typed) else {
        return;
    };
    if options.kind.is_some() || executors != [EMBEDDED_ID] {
        return;
    }
    let command = match inference::kind_of(prompt) {
        // The scan that it gets is what it asks for.
        Some(Kind::Scan) => return,
        Some(Kind::Deps) => "deps",
        Some(Kind::Tests) => "tests",
        Some(Kind::Api) => "api",
        None => {
            let what = "scout does not interpret prompts: this one gets a scan of the repository";
            context
                .report
                .note(what, Some("callosum delegate --executor ID \"…\""));
            return;
        }
    };
    let what =
        format!("scout does not interpret prompts: this one gets a scan; `{command}` answers it");
    let paths = options.paths.iter();
    let paths = paths.map(|path| shell_word(&path.display().to_string()));
    let words: Vec<String> = [format!("callosum {command}")]
        .into_iter()
        .chain(paths)
        .collect();
    context.report.note(&what, Some(&words.join(" ")));
}

/// A bound is kept in seconds, and 0 is none: a part of a second counts as a whole one.
fn whole_seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

/// How much at once, and how often again.
fn limits(context: &Context, options: &DelegateOptions) -> Limits {
    // Two runs that fail together must not try again together.
    let seed = context.clock.now().as_millisecond().cast_unsigned();
    let limits = context.project.settings.limits(seed);
    if options.plan_call.is_none() {
        return limits;
    }
    // One call of a plan is one try, whatever it may have done: more are its step's to ask for.
    let recovery = RecoveryPolicy {
        retry_max: 0,
        ..limits.recovery
    };
    Limits { recovery, ..limits }
}

/// What may be started: the bounds of the command line or of `.calrc`, below those of the run that
/// this one is a part of.
fn budget(context: &Context, options: &DelegateOptions) -> Result<Budget, CommandError> {
    let set = context.project.settings.bounds();
    // As in `.calrc`, 0 sets no bound: it lifts the one that is set there.
    let bound =
        |told: Option<u64>, set| told.map_or(set, |most| Some(most).filter(|most| *most > 0));
    let cost = options.max_cost.map(Money::of_dollars);
    let bounds = Bounds {
        spawns: bound(options.max_spawns, set.spawns),
        tokens: bound(options.max_tokens, set.tokens),
        cost: cost.map_or(set.cost, |most| Some(most).filter(|most| *most > Money(0))),
        seconds: bound(options.timeout.map(whole_seconds), set.seconds),
    };
    context
        .project
        .homes
        .create_machine(&context.disk)
        .map_err(|error| store::disk_failed(&error))?;
    Budget::begin(
        context.disk.clone(),
        context.project.homes.machine.join("budgets"),
        (context.clock.clone(), &context.ids),
        context
            .environment
            .get(TOKEN_VARIABLE)
            .map(|token| token.to_string_lossy())
            .as_deref(),
        bounds,
        context.project.settings.max_depth(),
    )
    .map_err(|error| {
        let exit = match error {
            BudgetError::TooDeep { .. } => Exit::No,
            _ => Exit::Environment,
        };
        CommandError::because(exit, "cannot start an executor here", &error)
    })
}

pub(in crate::cli) fn dollars(text: &str) -> Result<f64, String> {
    let most = text.parse::<f64>().ok();
    most.filter(|most| (0.0..=1_000_000.0).contains(most))
        .ok_or_else(|| "allowed: an amount in US dollars from 0 to 1000000".to_owned())
}

/// Which answers may be used again, over the tree as it is now; none where it is turned off, or
/// where the tree cannot be told from another.
fn reuse(context: &Context, options: &DelegateOptions) -> Option<Reuse> {
    if !context.project.settings.reuse_answers() {
        return None;
    }
    Some(Reuse {
        folder: context.project.homes.reuse(context.state()),
        tree: TreePrint::read(&context.disk, context.tree())?,
        is_looked_for: !options.no_cache,
    })
}

/// The record of a delegation that was refused before any task had an id.
fn refusal(error: &CommandError) -> AuditEvent {
    let event = AuditEvent {
        status: Some("refused".to_owned()),
        ..AuditEvent::new(Event::Error)
    };
    let event = match error.code {
        Some(code) => event.with("code", code.as_str()),
        None => event,
    };
    event.with("message", error.one_line())
}

/// Puts a refusal on the record of the ledger that is there (REQ-ERR-001).
fn record_refusal(context: &Context, error: &CommandError) {
    let recorded = store::open(context).and_then(|ledger| store::record(&ledger, refusal(error)));
    tell_unrecorded(context, &recorded);
}

/// Why a refusal is not on the record; the refusal itself is told as the error.
fn tell_unrecorded(context: &Context, recorded: &Result<(), CommandError>) {
    if let Err(error) = recorded {
        let what = format!("this is not in the audit journal: {}", error.one_line());
        context.report.warn(&what, Some("callosum doctor"));
    }
}

/// Writes into the registry who did not pass a health check (Seed CAL §11.3).
fn deactivate(context: &Context, report: &Report, ledger: &Ledger) -> Result<(), CommandError> {
    if report.unwell.is_empty() || context.cancel.is_cancelled() {
        return Ok(());
    }
    let mut roster = Roster::load_for_change(context)?;
    for id in &report.unwell {
        let Some(mut executor) = roster.registry().get(id).cloned() else {
            continue;
        };
        if !executor.is_embedded() {
            executor.deactivate(UNWELL);
            roster.put(&executor);
            let event = AuditEvent {
                executor: Some(id.clone()),
                status: Some(Status::Inactive.to_string()),
                ..AuditEvent::new(Event::Registry)
            };
            store::record(ledger, event.with("change", "health_check"))?;
            let what = format!("executor {id} failed its health check and is now inactive");
            context
                .report
                .warn(&what, Some(&format!("callosum executor check {id}")));
        }
    }
    roster.save()
}

/// Says who is passed over for tasks that name nobody, and who is named though nobody seems to be logged in.
fn tell_without_login(context: &Context, roster: &Roster<'_>, submission: &Submission) {
    let named = submission.tasks().iter();
    let named: BTreeSet<&str> = named.filter_map(|task| task.executor.as_deref()).collect();
    for id in named {
        if let Some(lack) = roster.lacked_login(id) {
            let what = format!("{id}: {}", lack.what);
            context.report.warn(&what, lack.hint.as_deref());
        }
    }
    let choice = roster.choice();
    let passed_over = choice.without_login();
    let is_first = choice.all().first() == passed_over.first();
    if passed_over.is_empty() || !is_first {
        return;
    }
    if submission
        .tasks()
        .iter()
        .any(|task| task.executor.is_none())
    {
        let what = format!(
            "no login for {} was found; only tasks that name it go there",
            passed_over.join(", ")
        );
        context.report.warn(&what, Some("callosum doctor"));
    }
}

/// Who works on each task, all of them known to be usable.
fn assigned(
    options: &DelegateOptions,
    submission: &Submission,
    roster: &Roster<'_>,
) -> Result<Vec<String>, CommandError> {
    let candidates = roster.choice().ready();
    let assigned = assign_executors(submission.tasks(), &candidates);
    submission
        .tasks()
        .iter()
        .enumerate()
        .zip(assigned.into_iter().flatten())
        .map(|((at, task), id)| {
            let asking = Asking::of(options, at, task);
            let usable = roster.taker(id).map_err(|error| asking.blamed(error))?;
            Ok(usable.id.clone())
        })
        .collect()
}
