//! Runs as the journal has them, found by an id or its beginning.

use callosum_arbiter::plan_run::{
    CallKey, CallState, ReadRun, ReadRunError, RunId, RunState, read_run, read_runs,
};
use callosum_evidence::terminal::on_one_line;
use callosum_ledger::AuditReader;

use super::own::OwnRun;
use crate::{
    cli::context::Context,
    ui::{CommandError, Exit, many},
};

/// A reader of the project's journal.
pub(super) fn reader(context: &Context) -> AuditReader {
    AuditReader::new(context.disk.clone(), context.ledger_paths())
}

/// The run of this id, or the one whose id alone begins so.
pub(super) fn run_of(context: &Context, text: &str) -> Result<ReadRun, CommandError> {
    let none = || {
        CommandError::new(Exit::No, format!("no run `{text}` in this project"))
            .hint("callosum plan list")
    };
    if let Ok(run) = text.parse::<RunId>() {
        let seals = OwnRun::of(context, &run).seals();
        let read = read_run(&reader(context), &run, seals);
        return read.map_err(|error| unreadable(&error))?.ok_or_else(none);
    }
    let runs = all(context)?;
    let mut fitting = runs
        .into_iter()
        .filter(|run| !text.is_empty() && run.state.run().as_str().starts_with(text));
    match (fitting.next(), fitting.next()) {
        (Some(run), None) => Ok(run),
        (Some(_), Some(_)) => Err(CommandError::new(
            Exit::Usage,
            format!("several runs begin with `{text}`"),
        )
        .hint("callosum plan list")),
        (None, _) => Err(none()),
    }
}

/// All runs, the one that was begun last first; what is passed over is told.
pub(super) fn all(context: &Context) -> Result<Vec<ReadRun>, CommandError> {
    let runs = read_runs(&reader(context), |run| OwnRun::of(context, run).seals());
    let runs = runs.map_err(|error| unreadable(&error.into()))?;
    for passed_over in runs.passed_over {
        let run = passed_over.run;
        let run = run.map_or_else(|| "a run".to_owned(), |run| format!("the run {run}"));
        let why =
            on_one_line(&CommandError::from_error(Exit::Environment, &passed_over.why).one_line());
        context
            .ui
            .warn(&format!("{run} is passed over: {why}"), None);
    }
    Ok(runs.runs)
}

/// Tells of records that say that they are of a run, and that this machine did not write.
pub(super) fn warn_of_foreign(context: &Context, read: &ReadRun) {
    let Some(foreign) = &read.foreign else {
        return;
    };
    let what = format!(
        "{} of the run {} did not come from here, and count for nothing: audit record {} (`{}`) is the first",
        many(foreign.count, "record"),
        read.state.run(),
        foreign.first,
        on_one_line(&foreign.status),
    );
    let hint = "somebody else writes to `cal_audit`: callosum audit query --event plan";
    context.ui.warn(&what, Some(hint));
}

/// The call of a run whose key is this, or alone begins so.
pub(super) fn call_of<'s>(state: &'s RunState, text: &str) -> Result<&'s CallState, CommandError> {
    let begins =
        |call: &&CallState| !text.is_empty() && call.intended.key.to_string().starts_with(text);
    let mut fitting = state.open_calls().filter(begins);
    match (fitting.next(), fitting.next()) {
        (Some(call), None) => Ok(call),
        (Some(_), Some(_)) => Err(CommandError::new(
            Exit::Usage,
            format!("several calls have a key that begins with `{text}`"),
        )),
        (None, _) => Err(CommandError::new(
            Exit::No,
            format!("no call of the run waits under a key `{text}`"),
        )
        .hint(format!("callosum plan show {}", state.run()))),
    }
}

/// As much of a key as names a call, for somebody who types it.
pub(super) fn short(key: CallKey) -> String {
    key.to_string().chars().take(12).collect()
}

fn unreadable(error: &ReadRunError) -> CommandError {
    CommandError::because(Exit::Environment, "cannot read the project's runs", error)
        .hint("callosum audit verify")
}
