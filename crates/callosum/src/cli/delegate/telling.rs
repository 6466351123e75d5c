//! What is told of a delegation that is over: summaries on standard output, the rest on standard
//! error, and the exit code.
//!
//! Start with [`tell`]. Deliberately not here: the form of the JSON (report).

use std::time::Duration;

use callosum_agents::registry::EMBEDDED_ID;
use callosum_arbiter::{
    delegation::{Report, TaskReport, TaskStatus},
    kind_name,
};
use callosum_evidence::{citation::Review, digest::LeftOut, terminal::on_one_line};
use callosum_ledger::{Entry, ErrorCode};

use super::{
    options::DelegateOptions,
    report::{DelegateOutput, Handed, NamedOutput, TasksOutput},
    whole::Whole,
};
use crate::{
    cli::{context::Context, failure::ErrorOutput, watch::fix_line},
    ui::{CommandError, Exit, Ui, many, thousands},
};
use callosum_client::intervention::{Ran, Runner, Watcher};

/// Most citations of a kind that do not hold and are shown.
const MOST_SHOWN: usize = 5;

/// Tells what came of the tasks, and ends as the worst of them did.
pub(super) fn tell(
    context: &Context,
    options: &DelegateOptions,
    report: &Report,
) -> Result<(), CommandError> {
    let committed = report.tasks.iter().filter(|task| task.is_committed());
    let share = options
        .budget
        .map(|budget| budget / (committed.count().max(1) as u64));
    if context.ui.json {
        if options.tasks.is_some() {
            let named = |task: &TaskReport| NamedOutput {
                id: task.local_id.clone(),
                output: DelegateOutput::of(task, share),
            };
            let tasks = report.tasks.iter().map(named).collect();
            context.ui.json_data(&TasksOutput { tasks, error: None })?;
        } else if let Some(task) = report.tasks.first() {
            let mut output = DelegateOutput::of(task, share);
            if let Some(whole) = Whole::read(context, options, task)? {
                output.print_whole(whole, share);
            }
            context.ui.json_data(&output)?;
        }
    } else {
        for task in &report.tasks {
            let whole = Whole::read(context, options, task)?;
            tell_task(context, task, options.tasks.is_some(), share, whole)?;
        }
    }
    outcome(report)
}

/// The summary on stdout, everything else on stderr.
fn tell_task(
    context: &Context,
    task: &TaskReport,
    named: bool,
    budget: Option<u64>,
    whole: Option<Whole>,
) -> Result<(), CommandError> {
    let ui = context.ui;
    let name = if named {
        format!("{}: ", task.local_id)
    } else {
        String::new()
    };
    if let TaskStatus::Committed {
        entry,
        citations,
        tokens_returned,
        reused,
    } = &task.status
    {
        if named {
            ui.data(&format!("== {} ({})\n", task.local_id, entry.task_id))?;
        }
        let citations = whole
            .as_ref()
            .map_or(citations, |whole| &whole.citations)
            .clone();
        let citations = &citations;
        let is_longer = whole
            .as_ref()
            .is_some_and(|whole| whole.text.len() > entry.summary.len());
        let handed = match whole {
            Some(whole) => Handed::whole(whole, budget),
            None => Handed::of(entry, *tokens_returned, budget),
        };
        if is_longer {
            let bytes = entry.summary.len();
            ui.say(&format!(
                "{name}the ledger keeps a summary of {} of this answer",
                many(bytes as u64, "byte")
            ));
        }
        let tokens_returned = thousands(handed.tokens);
        let text = format!("{}\n", handed.text.trim_end());
        ui.document("", &text, context.tree())?;
        if let Some(age) = reused {
            ui.say(&format!(
                "{name}{} by {}, answered {} ago for the same tree: {tokens_returned} returned, {citations} \
                 (--no-cache asks again)",
                entry.task_id,
                entry.executor,
                spelled(*age),
            ));
            tell_rest(ui, &name, entry, citations, handed.left_out);
            return Ok(());
        }
        let mode = task.decision.map_or("-", |decision| decision.mode.as_str());
        ui.say(&format!(
            "{name}{} by {}, {mode}, {:.1} s: {} tokens read, {tokens_returned} returned, {citations}",
            entry.task_id,
            entry.executor,
            task.elapsed.as_secs_f64(),
            thousands(entry.tokens_used),
        ));
        tell_rest(ui, &name, entry, citations, handed.left_out);
        return Ok(());
    }
    let (error, details) = failure(task, &name);
    context.report.error(&error);
    for line in details.lines() {
        ui.say(&format!("  {line}"));
    }
    for fix in known_fixes(context, task) {
        ui.say(&format!("  known fix: {fix}"));
    }
    Ok(())
}

/// Records the errors that an executor printed before it failed, and returns the fixes that are known for them.
fn known_fixes(context: &Context, task: &TaskReport) -> Vec<String> {
    let printed: Vec<&str> = task
        .failures
        .iter()
        .filter_map(|failure| failure.details.as_deref())
        .collect();
    if printed.is_empty() {
        return Vec::new();
    }
    let printed = printed.join("\n");
    let session = task.task_id.as_ref().map(ToString::to_string);
    let runner = Runner {
        client: &task.executor,
        session: session.as_deref().unwrap_or_default(),
        reads_messages: false,
    };
    let ran = Ran {
        command: &task.executor,
        output: printed.as_bytes(),
        has_failed: Some(true),
    };
    let watcher = Watcher::new(&context.disk, &context.environment, context.tree());
    let outcome =
        watcher.and_then(|watcher| watcher.after_command(runner, ran, context.clock.now()));
    match outcome {
        Ok(outcome) => {
            let fixes = outcome.seen.iter().filter_map(|seen| seen.fix.as_ref());
            fixes.map(fix_line).collect()
        }
        Err(error) => {
            context
                .report
                .warn(&format!("cannot record its errors: {error}"), None);
            Vec::new()
        }
    }
}

/// Why a task came to nothing, with `name` before it, and what there is to say of its tries.
pub(super) fn failure(task: &TaskReport, name: &str) -> (CommandError, String) {
    let output = DelegateOutput::of(task, None);
    let error = output
        .error
        .unwrap_or_else(|| ErrorOutput::plain("the task failed".to_owned()));
    let what = match &task.task_id {
        Some(id) => format!("{name}task {id} ({}): {}", task.executor, error.message),
        None => format!("{name}{}", error.message),
    };
    let told = CommandError::new(Exit::No, what).coded(task.code());
    let told = match error.hint {
        Some(hint) => told.hint(hint),
        None => told,
    };
    (told, error.details.unwrap_or_default())
}

/// What else is to be said of an answer: what does not hold, what was left out, where all of it is.
fn tell_rest(ui: Ui, name: &str, entry: &Entry, citations: &Review, left_out: Option<LeftOut>) {
    if entry.executor != EMBEDDED_ID && citations.tally.total == 0 {
        let what = format!(
            "{name}the answer cites no code, so nothing in it was checked; `--require-citations 0.9` \
             rejects such answers"
        );
        ui.warn(&what, None);
    }
    for complaint in citations.complaints(MOST_SHOWN) {
        ui.say(&format!("{name}  {}", on_one_line(&complaint)));
    }
    if let Some(left_out) = left_out {
        let LeftOut {
            statements,
            of,
            citations,
            tokens,
        } = left_out;
        ui.say(&format!(
            "{name}left out: {} of {} with {}, about {}",
            thousands(statements as u64),
            many(of as u64, "statement"),
            many(citations as u64, "citation"),
            many(tokens, "token"),
        ));
    }
    // Nothing was said of how long the answer to a question should be.
    let is_analysis = entry
        .metadata
        .get("kind")
        .is_some_and(|kind| kind != kind_name(None));
    let is_short = entry.metadata.contains_key("short_summary");
    if entry.executor != EMBEDDED_ID && is_analysis && is_short {
        let bytes = many(entry.summary.len() as u64, "byte");
        ui.say(&format!(
            "{name}its summary has {bytes}, fewer than the 2,048 requested (`strict_summary` in .calrc \
             rejects such summaries)"
        ));
    }
    if entry.metadata.contains_key("answer") {
        let id = &entry.task_id;
        ui.say(&format!("{name}callosum ledger show {id} --answer"));
    }
    ui.say(&format!("{name}callosum ledger show {}", entry.task_id));
}

/// A span of time as a person says it, in its largest unit.
fn spelled(age: Duration) -> String {
    let seconds = age.as_secs();
    let (count, unit) = match seconds {
        0..60 => (seconds, "s"),
        60..3_600 => (seconds / 60, "min"),
        3_600..86_400 => (seconds / 3_600, "h"),
        _ => (seconds / 86_400, "d"),
    };
    format!("{count} {unit}")
}

/// The exit code: the worst of what came of the tasks.
fn outcome(report: &Report) -> Result<(), CommandError> {
    if report
        .tasks
        .iter()
        .any(|task| task.status == TaskStatus::Cancelled)
    {
        return Err(CommandError::told(Exit::Interrupted));
    }
    let failed: Vec<&TaskReport> = report
        .tasks
        .iter()
        .filter(|task| !task.is_committed())
        .collect();
    if failed.is_empty() {
        return Ok(());
    }
    let stored_badly = failed.iter().filter_map(|task| task.code()).any(|code| {
        matches!(
            code,
            ErrorCode::DiskFailure | ErrorCode::LockTimeout | ErrorCode::AuditFailure
        )
    });
    Err(CommandError::told(if stored_badly {
        Exit::Environment
    } else {
        Exit::No
    }))
}
