//! The machine's side of a project: when checkpoints are made, and why one was not.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use callosum_host::random;
use callosum_ledger::Ledger;
use callosum_ledger::checkpoint::{Begin, CheckpointError, KeptCheckpoints, KeyError, Made};

use crate::context::Context;
use crate::{CommandError, Exit, disk_errors, ledger_errors, many, open_ledger};

/// Interval between checkpoints of a long run.
const EVERY: Duration = Duration::from_mins(1);

/// Returns the checkpoints of the project so far.
pub fn kept(context: &Context) -> Result<KeptCheckpoints, CommandError> {
    let kept = context.trust_store().read(&context.disk);
    kept.map_err(|error| unkeyed(&error))
}

/// Returns the end of the journal: the file of its last day, with its length. `None` if there is
/// none to read.
pub fn end(context: &Context) -> Option<(PathBuf, u64)> {
    let folder = context.ledger_paths().audit;
    let days = context.disk.list_dir(&folder).ok()?;
    let days = days.into_iter().map(|day| folder.join(day.name));
    let last = days.filter(|day| day.extension() == Some(OsStr::new("jsonl")));
    let last = last.max()?;
    let found = context.disk.stat(&last).ok()??;
    Some((last, found.len))
}

/// Signs what a command has written. If that fails, warns; the command's own work stays.
pub fn after(context: &Context) {
    match make(context, Begin::GoOn) {
        Ok(Some(made)) => {
            warn_of_forgotten(context, &made);
            if let Err(error) = open(context).and_then(|ledger| tell(&ledger, &made)) {
                warn(context, &error);
            }
        }
        Ok(None) | Err(CheckpointError::Empty) => {}
        Err(error) => warn(context, &unmade(&error)),
    }
}

/// Runs something long, and signs now and then what it has written by then.
pub fn during<T>(context: &Context, ledger: &Ledger, run: impl FnOnce() -> T) -> T {
    let (ended, end) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let signing = thread::Builder::new().spawn_scoped(scope, move || {
            while end.recv_timeout(EVERY) == Err(mpsc::RecvTimeoutError::Timeout) {
                // A failure is tried again later, and is reported at the end.
                if let Ok(Some(made)) = make(context, Begin::GoOn) {
                    drop(ledger.record(made.event()));
                }
            }
        });
        // Without a thread for it, the command signs at its end as usual.
        drop(signing);
        let result = run();
        drop(ended);
        result
    })
}

/// Makes a checkpoint and stores it; the caller has to record it in the journal.
pub fn make(context: &Context, begin: Begin) -> Result<Option<Made>, CheckpointError> {
    let paths = context.ledger_paths();
    if !context.disk.exists(&paths.audit)? {
        return Err(CheckpointError::Empty);
    }
    context.project.homes.create_machine(&context.disk)?;
    let seed = random::secret_bytes().map_err(|source| CheckpointError::NoRandomness { source })?;
    context
        .trust_store()
        .make(&context.disk, &paths, begin, &seed)
}

/// Makes a checkpoint and tells the journal of it.
pub fn make_and_tell(context: &Context, begin: Begin) -> Result<Option<Made>, CommandError> {
    // A journal that cannot record the checkpoint is not signed: the earlier checkpoints would be
    // discarded.
    let ledger = match context.disk.exists(&context.ledger_paths().audit) {
        Ok(true) => Some(open(context)?),
        _ => None,
    };
    let made = make(context, begin).map_err(|error| unmade(&error))?;
    if let (Some(made), Some(ledger)) = (&made, &ledger) {
        warn_of_forgotten(context, made);
        tell(ledger, made)?;
    }
    Ok(made)
}

fn tell(ledger: &Ledger, made: &Made) -> Result<(), CommandError> {
    open_ledger::record(ledger, made.event())
}

fn open(context: &Context) -> Result<Ledger, CommandError> {
    Ledger::open(
        context.disk.clone(),
        context.ledger_paths(),
        context.clock.clone(),
        context.ids.clone(),
    )
    .map_err(|error| ledger_errors::unopened(&error))
}

/// Says that what vouched for the journal so far is gone, where it is.
fn warn_of_forgotten(context: &Context, made: &Made) {
    if made.forgotten > 0 {
        let what = format!(
            "the audit journal mentions {}, but this machine has none of them: new checkpoints do not prove \
             what came before",
            many(made.forgotten, "checkpoint")
        );
        context.report.warn(&what, Some("callosum audit verify"));
    }
}

fn warn(context: &Context, error: &CommandError) {
    let what = format!("no checkpoint was signed: {}", error.one_line());
    context.report.warn(&what, error.hint_text());
}

/// Explains why no checkpoint was made.
pub fn unmade(error: &CheckpointError) -> CommandError {
    let explained = |exit| CommandError::because(exit, "cannot make a checkpoint", error);
    match error {
        CheckpointError::Disk(error) => disk_errors::disk_failed(error),
        CheckpointError::Key(error) => unkeyed(error),
        CheckpointError::Lock(_) | CheckpointError::NoRandomness { .. } => {
            explained(Exit::Environment)
        }
        CheckpointError::Empty => explained(Exit::No).hint("callosum init"),
        CheckpointError::Broken { .. }
        | CheckpointError::Inconsistent { .. }
        | CheckpointError::Foreign { .. } => explained(Exit::No).hint("callosum audit verify"),
    }
}

/// Explains why the machine's keys cannot be used.
pub fn unkeyed(error: &KeyError) -> CommandError {
    let explained = CommandError::from_error(Exit::Environment, error);
    match error {
        KeyError::Disk(error) => disk_errors::disk_failed(error),
        KeyError::Exposed { path, .. } => explained.hint(format!(
            "run chmod 600 '{0}'; if others may have read it, then: callosum audit checkpoint --new-key",
            path.display()
        )),
        KeyError::Invalid { path, .. } => explained.hint(format!(
            "move it away so that the next checkpoint gets a new key: mv '{0}' '{0}.damaged'",
            path.display()
        )),
    }
}
