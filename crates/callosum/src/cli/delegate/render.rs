//! Output of a delegation that is over: summaries on standard output, the rest on standard error,
//! and the exit code.
//!
//! This file has the part with arguments and output; the rest is
//! [`callosum_app::delegate::render`].

use callosum_app::delegate::options::DelegateOptions;
use callosum_app::delegate::output::{DelegateOutput, Handed, NamedOutput, TasksOutput};
use callosum_app::delegate::render::{MOST_SHOWN, failure, known_fixes, outcome, spelled};
use callosum_app::delegate::whole::Whole;
use callosum_app::{CommandError, many, thousands};
use callosum_arbiter::delegation::{Report, TaskReport, TaskStatus};
use callosum_arbiter::kind_name;
use callosum_citation::Review;
use callosum_citation::truncate::LeftOut;
use callosum_executor::registry::EMBEDDED_ID;
use callosum_ledger::Entry;
use callosum_redact::terminal_escape::on_one_line;

use crate::cli::context::Context;
use crate::ui::Ui;

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

/// Reports the rest about an answer: citations that do not hold, and parts that were left out.
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
    // Only analyses have a required length; questions have none.
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
