//! Arguments and output of `callosum executor check`.
//!
//! The use case is [`callosum_app::executor::check`].

use std::fmt::Write as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use callosum_app::executor::check::{AT_A_TIME, StepOutput, enter, keep_tools};
use callosum_app::executor::hints::advice;
use callosum_app::executor_pool::Roster;
use callosum_app::{CommandError, Exit, open_ledger};
use callosum_executor::discover::undecided;
use callosum_executor::handshake::{Handshake, HandshakeFault, Outcome, handshake};
use callosum_executor::registry::Executor;
use clap::Args;
use owo_colors::OwoColorize as _;
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::context::Context;

/// Repeat the handshake and record each executor's capabilities
///
/// Without an ID, executors that come with the repository and are not trusted yet are skipped.
/// Exits with 1 if an executor fails its handshake or is skipped.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum executor check
  $ callosum executor check scout --json")]
pub(crate) struct CheckArgs {
    /// Executors to check [default: all]
    #[arg(value_name = "ID")]
    executors: Vec<String>,
}

/// `callosum executor check --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct ChecksOutput {
    /// One handshake per executor.
    pub(crate) checks: Vec<CheckOutput>,
}

/// The result of a handshake.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct CheckOutput {
    /// The executor.
    pub(crate) id: String,
    /// `active` or `inactive`, as the registry says now.
    pub(crate) status: String,
    /// The four steps, in order.
    pub(crate) steps: Vec<StepOutput>,
    /// The remedy if a step failed, as far as it is known.
    pub(crate) hint: Option<String>,
}

impl CheckOutput {
    fn of(executor: &Executor, handshake: &Handshake, hint: Option<String>) -> Self {
        let steps = handshake
            .steps
            .iter()
            .map(|step| {
                let (outcome, fault) = match &step.outcome {
                    Outcome::Passed => ("passed", None),
                    Outcome::Failed(fault) => ("failed", Some(fault)),
                    Outcome::Skipped => ("skipped", None),
                };
                let reason = |fault| CommandError::from_error(Exit::No, fault).one_line();
                StepOutput {
                    name: step.name.to_string(),
                    outcome: outcome.to_owned(),
                    reason: fault.map(|fault| reason(fault)),
                    details: fault.and_then(HandshakeFault::complaint).map(str::to_owned),
                    elapsed_ms: step.elapsed.map(|elapsed| elapsed.as_millis() as u64),
                }
            })
            .collect();
        Self {
            id: executor.id.clone(),
            status: executor.status.to_string(),
            steps,
            hint,
        }
    }

    pub(super) fn as_text(&self) -> String {
        let mut text = format!("{} {}\n", self.id.bold(), self.status);
        for step in &self.steps {
            let outcome = match step.outcome.as_str() {
                "passed" => step.outcome.green().to_string(),
                "failed" => step.outcome.red().to_string(),
                _ => step.outcome.dimmed().to_string(),
            };
            let _ = write!(text, "  {:<13} {outcome}", step.name);
            if let Some(elapsed) = step.elapsed_ms {
                let _ = write!(text, " ({elapsed} ms)");
            }
            if let Some(reason) = &step.reason {
                let _ = write!(text, ": {reason}");
            }
            text.push('\n');
        }
        text
    }
}

pub(super) fn run(context: &Context, args: &CheckArgs) -> Result<(), CommandError> {
    let roster = Roster::load(context)?;
    let mut checks = Vec::new();
    let mut all_passed = true;
    let executors = if args.executors.is_empty() {
        let (trusted, others): (Vec<_>, Vec<_>) = roster
            .registry()
            .executors()
            .iter()
            .cloned()
            .partition(|executor| roster.is_trusted(executor));
        for other in others {
            all_passed = false;
            let what = format!(
                "executor {} is not trusted yet and was not checked",
                other.id
            );
            let hint = if roster.has_changed(&other) {
                format!("callosum trust {}", other.id)
            } else {
                "callosum trust --list".to_owned()
            };
            context.report.warn(&what, Some(&hint));
        }
        trusted
    } else {
        let named = args.executors.iter();
        named
            .map(|id| roster.startable(id).cloned())
            .collect::<Result<_, _>>()?
    };
    let ledger = open_ledger::open(context)?;
    let mut asked = Vec::new();
    for executor in executors {
        let Some(reason) = undecided(&executor) else {
            asked.push(executor);
            continue;
        };
        all_passed = false;
        let what = format!("{} was not checked: {reason}", executor.id);
        context.report.warn(&what, None);
    }
    for (handshake, executor, output) in shake_hands_with_all(context, asked)? {
        let id = executor.id.clone();
        all_passed &= handshake.passed();
        if handshake.passed() {
            // After a successful check by hand, the pause of the circuit breaker need not end
            // first.
            let circuits = context.circuits();
            circuits
                .tell(&id, true)
                .map_err(|error| CommandError::from_error(Exit::Environment, &error))?;
        }
        keep_tools(context, &executor, &handshake)?;
        enter(context, &ledger, executor, "handshake")?;
        checks.push(output);
    }
    if context.ui.json {
        context.ui.json_data(&ChecksOutput { checks })?;
    } else {
        for check in &checks {
            context.ui.data(&check.as_text())?;
            for details in check.steps.iter().filter_map(|step| step.details.as_ref()) {
                context.report.detail(details);
            }
            if let Some(hint) = &check.hint {
                context.report.hint(hint);
            }
        }
    }
    if all_passed {
        Ok(())
    } else {
        Err(CommandError::told(Exit::No))
    }
}

/// The result of a handshake, the entry with its outcome, and the output for it.
type Shaken = (Handshake, Executor, CheckOutput);

/// Performs a handshake with an executor and returns its entry with the outcome written into it.
///
/// No lock is held: an executor may take its time.
pub(super) fn shake_hands(context: &Context, executor: Executor) -> Result<Shaken, CommandError> {
    let progress = context
        .report
        .progress(&format!("handshake with {}", executor.id));
    let handshake = handshake(&executor, &context.surroundings()?);
    drop(progress);
    Ok(with_outcome(context, executor, handshake))
}

/// Performs handshakes with several executors, as many at a time as there are cores, at least two
/// and at most [`AT_A_TIME`]; returns them in their order.
pub(super) fn shake_hands_with_all(
    context: &Context,
    executors: Vec<Executor>,
) -> Result<Vec<Shaken>, CommandError> {
    let surroundings = context.surroundings()?;
    let names: Vec<&str> = executors.iter().map(|one| one.id.as_str()).collect();
    let what = format!("handshake with {}", names.join(", "));
    let progress = (!names.is_empty()).then(|| context.report.progress(&what));
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let shaken: Vec<OnceLock<Handshake>> = executors.iter().map(|_| OnceLock::new()).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(executor) = executors.get(at) else {
                break;
            };
            shaken[at].get_or_init(|| handshake(executor, &surroundings));
        }
    };
    thread::scope(|scope| {
        for _ in 1..cores.clamp(2, AT_A_TIME).min(executors.len()) {
            // If the system gives no thread, this one does the work.
            drop(thread::Builder::new().spawn_scoped(scope, work));
        }
        work();
    });
    drop(progress);
    let both = executors.into_iter().zip(shaken);
    Ok(both
        .filter_map(|(executor, shaken)| {
            Some(with_outcome(context, executor, shaken.into_inner()?))
        })
        .collect())
}

fn with_outcome(context: &Context, mut executor: Executor, handshake: Handshake) -> Shaken {
    handshake.apply(&mut executor, context.clock.now());
    let fault = handshake.fault().map(|(_, fault)| fault);
    let hint = fault.and_then(|fault| advice(context, &executor, fault));
    let output = CheckOutput::of(&executor, &handshake, hint);
    (handshake, executor, output)
}
