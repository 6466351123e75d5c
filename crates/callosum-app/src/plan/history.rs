//! Runs as the journal has them, found by an id or its beginning.

use callosum_ledger::AuditReader;
use callosum_plan_run::run::{
    CallKey, CallState, PassedOver, ReadRun, ReadRunError, RunId, RunState, Runs, read_run,
    read_runs,
};
use callosum_redact::terminal_escape::on_one_line;

use crate::context::Context;
use crate::plan::local_run::LocalRun;
use crate::{CommandError, Exit, many};

/// A reader of the project's journal.
pub fn reader(context: &Context) -> AuditReader {
    AuditReader::new(context.disk.clone(), context.ledger_paths())
}

/// The run of this id, or the one whose id alone begins so.
pub fn run_of(context: &Context, text: &str) -> Result<ReadRun, CommandError> {
    find(context, text)?
        .map_err(|passed_over| unreadable(passed_over.run.as_ref(), &passed_over.why))
}

/// The same, to end the run: if its records are not all there as they were written, or do not add
/// up, returns the state by the records that fit.
pub fn run_to_end(context: &Context, text: &str) -> Result<ReadRun, CommandError> {
    match find(context, text)? {
        Ok(read) => Ok(read),
        Err(PassedOver {
            run: Some(run),
            why: ReadRunError::Missing(_) | ReadRunError::Unfitting(_) | ReadRunError::Record(_),
        }) => {
            let read = read_run(&reader(context), &run, None);
            let read = read.map_err(|error| unreadable(Some(&run), &error))?;
            read.ok_or_else(|| none(text))
        }
        Err(PassedOver { run, why }) => Err(unreadable(run.as_ref(), &why)),
    }
}

/// Returns the rest of a run, to end it; `None` if none of its records exists any more.
pub fn left_of(context: &Context, run: &RunId) -> Result<Option<ReadRun>, CommandError> {
    match run_to_end(context, run.as_str()) {
        Ok(read) => Ok(Some(read)),
        Err(_) if matches!(read_run(&reader(context), run, None), Ok(None)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The one run that is named so, or why it can't be read.
fn find(context: &Context, text: &str) -> Result<Result<ReadRun, PassedOver>, CommandError> {
    if let Ok(run) = text.parse::<RunId>() {
        let seals = LocalRun::of(context, &run).seals();
        let read = read_run(&reader(context), &run, seals);
        return match read {
            Ok(read) => read.map(Ok).ok_or_else(|| none(text)),
            Err(why) => Ok(Err(PassedOver {
                run: Some(run),
                why,
            })),
        };
    }
    let Runs { runs, passed_over } = read_all(context)?;
    let begins = |run: &RunId| !text.is_empty() && run.as_str().starts_with(text);
    let readable = runs.into_iter().filter(|read| begins(read.state.run()));
    let passed_over = passed_over
        .into_iter()
        .filter(|passed_over| passed_over.run.as_ref().is_some_and(begins));
    let mut fitting = readable.map(Ok).chain(passed_over.map(Err));
    match (fitting.next(), fitting.next()) {
        (Some(one), None) => Ok(one),
        (Some(_), Some(_)) => Err(CommandError::new(
            Exit::Usage,
            format!("several runs begin with `{text}`"),
        )
        .hint("callosum plan list")),
        (None, _) => Err(none(text)),
    }
}

fn none(text: &str) -> CommandError {
    CommandError::new(Exit::No, format!("no run `{text}` in this project"))
        .hint("callosum plan list")
}

/// Reads all runs of the project.
pub fn read_all(context: &Context) -> Result<Runs, CommandError> {
    let runs = read_runs(&reader(context), |run| LocalRun::of(context, run).seals());
    runs.map_err(|error| unreadable(None, &error.into()))
}

/// Lists all runs, the latest first, and warns about unreadable ones.
pub fn all(context: &Context) -> Result<Vec<ReadRun>, CommandError> {
    let runs = read_all(context)?;
    let why = |passed_over: &PassedOver| {
        on_one_line(&CommandError::from_error(Exit::Environment, &passed_over.why).one_line())
    };
    let mut of_none = Vec::new();
    for passed_over in &runs.passed_over {
        let Some(run) = &passed_over.run else {
            of_none.push(passed_over);
            continue;
        };
        let what = format!("ignoring the run {run}: {}", why(passed_over));
        let hint = format!("callosum plan show {run}");
        context.report.warn(&what, Some(&hint));
    }
    if let Some(first) = of_none.first() {
        let count = many(of_none.len() as u64, "record");
        let what = format!("ignoring {count} without a run: {}", why(first));
        context.report.warn(&what, None);
    }
    Ok(runs.runs)
}

/// Tells of records that say that they are of a run, and count for nothing.
pub fn warn_of_foreign(context: &Context, read: &ReadRun) {
    let Some(foreign) = &read.foreign else {
        return;
    };
    let why = if read.is_sealed {
        "did not come from here"
    } else {
        "did not fit those before"
    };
    let what = format!(
        "ignoring {} of the run {} that {why}: the first is audit record {} (`{}`)",
        many(foreign.count, "record"),
        read.state.run(),
        foreign.first,
        on_one_line(&foreign.status),
    );
    let hint = "another program writes to `cal_audit`: callosum audit query --event plan";
    context.report.warn(&what, Some(hint));
}

/// The call of a run whose key is this, or alone begins so.
pub fn call_of<'s>(state: &'s RunState, text: &str) -> Result<&'s CallState, CommandError> {
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
            format!("no call of the run waits with a key that begins with `{text}`"),
        )
        .hint(format!("callosum plan show {}", state.run()))),
    }
}

/// Returns the prefix of a key that a person can type to name a call.
pub fn short(key: CallKey) -> String {
    key.to_string().chars().take(12).collect()
}

fn unreadable(run: Option<&RunId>, error: &ReadRunError) -> CommandError {
    let failed = |what: &str| CommandError::because(Exit::Environment, what, error);
    match (run, error) {
        (Some(run), ReadRunError::Missing(_)) => failed(&format!("cannot continue the run {run}"))
            .hint(format!(
                "restore `cal_audit` to how it was; or end the run: callosum plan cancel {run}"
            )),
        (Some(run), ReadRunError::Record(_) | ReadRunError::Unfitting(_)) => {
            failed(&format!("cannot read the run {run}")).hint(format!(
                "callosum audit verify; or end the run: callosum plan cancel {run}"
            ))
        }
        _ => failed("cannot read the project's runs").hint("callosum audit verify"),
    }
}
