//! Delegates tasks to executors: from options to answers in the ledger.
//!
//! Start with [`delegate`]. [`options`] is what can be asked for, [`submission`] turns it into tasks, [`progress`] reports what
//! happens, and [`output`] is the result. [`mod@for_client`] and [`mod@for_plan`] delegate for MCP clients and plans.

pub mod detached;
pub mod for_client;
pub mod for_plan;
pub mod hints;
pub mod inference;
pub mod options;
pub mod output;
pub mod progress;
pub mod render;
pub mod run_store;
pub mod submission;
pub mod whole;

pub use self::detached::DetachedOutput;
pub use self::for_client::{Wanted, handed};
pub use self::for_plan::planned;
pub use self::output::{DelegateOutput, TasksOutput};
pub use self::run_store::{RunState, Runs, Ticket};

use std::collections::BTreeSet;
use std::time::Duration;

use callosum_arbiter::budget::{Bounds, Budget, BudgetError, Money, TOKEN_VARIABLE};
use callosum_arbiter::delegation::{DelegationContext, Report, Reuse, Rules};
use callosum_arbiter::priority::assign_executors;
use callosum_arbiter::tree_fingerprint::TreeFingerprint;
use callosum_arbiter::{Kind, Limits, RecoveryPolicy, Submission, delegation};
use callosum_executor::registry::{EMBEDDED_ID, Status};
use callosum_ledger::{Answers, AuditEvent, Event, Ledger};

use crate::context::Context;
use crate::delegate::options::DelegateOptions;
use crate::delegate::progress::Shown;
use crate::delegate::submission::Asking;
use crate::executor_pool::Roster;
use crate::{
    CommandError, Exit, auto_checkpoint, disk_errors, ledger_errors, open_ledger, shell_word,
};

/// Reason of an executor that a run found to be inactive.
pub const UNWELL: &str = "it did not pass its health check";

/// The whole flow of Seed CAL §2.3.
pub fn delegate(context: &Context, options: &DelegateOptions) -> Result<Report, CommandError> {
    whole::check_section(options)?;
    // Opened once: what was asked for is checked first, and a refusal goes on the record of a ledger that exists.
    let existing = open_ledger::open_existing(context);
    let reader = open_ledger::as_it_is(context)?;
    let record_refused = |error: &CommandError| match &existing {
        Ok(None) => {}
        Ok(Some(ledger)) => {
            if let Err(unwritten) = open_ledger::record(ledger, refusal(error)) {
                tell_unrecorded(context, &unwritten);
            }
        }
        Err(unopened) => tell_unrecorded(context, unopened),
    };
    let submission = submission::read(context, options, &reader).inspect_err(record_refused)?;
    let roster = Roster::load(context)?;
    let executors = assigned(options, &submission, &roster).inspect_err(record_refused)?;
    whole::check_executors(options, &executors)?;
    note_prompt_is_ignored(context, options, &executors);
    tell_without_login(context, &roster, &submission);
    let ledger = match existing? {
        Some(ledger) => {
            open_ledger::create_missing(context)?;
            ledger
        }
        None => open_ledger::open(context)?,
    };
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
    let means = DelegationContext {
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
    let ran = auto_checkpoint::during(context, &ledger, || {
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
        open_ledger::compress_archives(context);
    }
    if let Some(error) = ledger.not_rotated() {
        let why = ledger_errors::unwritten(&error).one_line();
        let what = format!("the ledger has reached its maximum size but was not archived: {why}");
        context.report.warn(&what, Some("callosum doctor"));
    }
    // The outcomes of the tasks are reported even if the registry cannot be written.
    if let Err(error) = deactivate(context, &report, &ledger) {
        context.report.error(&error);
    }
    if let Some(error) = &report.unrecorded {
        context.report.warn(
            &ledger_errors::unwritten(error).one_line(),
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

/// Returns the limits of concurrency and retries.
fn limits(context: &Context, options: &DelegateOptions) -> Limits {
    // Two runs that fail together must not try again together.
    let seed = context.clock.now().as_millisecond().cast_unsigned();
    let limits = context.project.settings.limits(seed);
    if options.plan_call.is_none() {
        return limits;
    }
    // One call of a plan is one try, even if that had no effect: the plan's step decides about
    // more.
    let recovery = RecoveryPolicy {
        retry_max: 0,
        ..limits.recovery
    };
    Limits { recovery, ..limits }
}

/// Returns the budget of starts: the limits of the command line or of `.calrc`, within those of the
/// run that this one is a part of.
pub fn budget(context: &Context, options: &DelegateOptions) -> Result<Budget, CommandError> {
    let set = context.project.settings.bounds();
    // As in `.calrc`, 0 sets no bound: it lifts the one that is set there.
    let bound =
        |option: Option<u64>, set| option.map_or(set, |most| Some(most).filter(|most| *most > 0));
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
        .map_err(|error| disk_errors::disk_failed(&error))?;
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

/// Parses an amount of US dollars, from 0 to 1,000,000.
pub fn dollars(text: &str) -> Result<f64, String> {
    let most = text.parse::<f64>().ok();
    most.filter(|most| (0.0..=1_000_000.0).contains(most))
        .ok_or_else(|| "allowed: an amount in US dollars from 0 to 1000000".to_owned())
}

/// Returns the rule for answers that may be used again, over the current tree; `None` if that is
/// turned off, or if the tree's state cannot be identified.
fn reuse(context: &Context, options: &DelegateOptions) -> Option<Reuse> {
    if !context.project.settings.reuse_answers() {
        return None;
    }
    Some(Reuse {
        folder: context.project.homes.reuse(context.state()),
        tree: TreeFingerprint::read(&context.disk, context.tree())?,
        is_looked_for: !options.no_cache,
    })
}

/// Returns the audit record of a delegation that was refused before any task had an id (REQ-ERR-001).
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

/// Reports why a refusal is not on the record; the refusal itself is the command's error.
fn tell_unrecorded(context: &Context, error: &CommandError) {
    let what = format!("this is not in the audit journal: {}", error.one_line());
    context.report.warn(&what, Some("callosum doctor"));
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
            open_ledger::record(ledger, event.with("change", "health_check"))?;
            let what = format!("executor {id} failed its health check and is now inactive");
            context
                .report
                .warn(&what, Some(&format!("callosum executor check {id}")));
        }
    }
    roster.save()
}

/// Warns about executors without a login: those that tasks name, and the preferred ones if tasks
/// that name none pass over them.
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

/// Assigns an executor to each task; all of them are usable.
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
