//! Opens the ledger: for writing with [`open`], for reading with [`reader`].

use std::path::Path;
use std::time::Duration;

use callosum_arbiter::Remedy;
use callosum_host::{DiskError, FileLock};
use callosum_ledger::{
    AuditEvent, ErrorCode, JournalError, Ledger, LedgerOptions, OpenError, Reader, RepairKind,
};

use crate::context::Context;
use crate::disk_errors::{disk_failed, unlocked};
use crate::init::create_files;
use crate::ledger_errors::{unopened, unreadable, unwritten, way_back_to};
use crate::{CommandError, Exit};

/// Time to wait for another process that changes the same file (Seed CAL §5.3).
const LOCK_TIMEOUT: Duration = Duration::from_millis(1500);

/// Opens the ledger for writing, after creating the files of a project that are missing.
///
/// Reports each file that was created or repaired. Waits for a ledger that another process holds, and retries as the
/// settings say (E007).
pub fn open(context: &Context) -> Result<Ledger, CommandError> {
    refuse_a_home(context)?;
    with_retries(context, || created_and_opened(context))
}

/// Opens the ledger for writing if it exists, and creates nothing. Waits and retries as [`open`] does.
pub fn open_existing(context: &Context) -> Result<Option<Ledger>, CommandError> {
    if has_no_files(context) {
        return Ok(None);
    }
    // A clone of a shared ledger comes without the folder for locks, which git ignores.
    if matches!(
        context.disk.exists(&context.ledger_paths().locks),
        Ok(false)
    ) {
        return open(context).map(Some);
    }
    with_retries(context, || match mended(context)? {
        Ok(ledger) => Ok(Some(ledger)),
        Err(OpenError::NotCreated { .. }) => Ok(None),
        Err(error) => Err(unopened(&error)),
    })
    .inspect(|ledger| {
        if let Some(ledger) = ledger {
            tell_repairs(context, ledger);
        }
    })
}

/// Creates the missing files of a project whose ledger is open.
pub fn create_missing(context: &Context) -> Result<(), CommandError> {
    refuse_a_home(context)?;
    with_retries(context, || create_files(context))?.tell(context);
    Ok(())
}

/// Repeats what a held lock made fail.
fn with_retries<T>(
    context: &Context,
    mut attempt: impl FnMut() -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    let recovery = context.project.settings.limits(0).recovery;
    let mut retries = 0;
    loop {
        let error = match attempt() {
            Ok(done) => return Ok(done),
            Err(error) => error,
        };
        // Only a held lock is worth waiting for (E007); what else fails now fails again.
        let remedy = match error.code {
            Some(ErrorCode::LockTimeout) => recovery.after(ErrorCode::LockTimeout, retries, 0),
            _ => Remedy::GiveUp,
        };
        match remedy {
            Remedy::Retry { delay } if !context.cancel.is_cancelled() => {
                let seconds = delay.as_secs_f64();
                context.report.say(&format!(
                    "[E007] another process holds the ledger; retrying in {seconds:.1} s"
                ));
                std::thread::sleep(delay);
                retries += 1;
            }
            _ => return Err(error),
        }
    }
}

/// Refuses to make a project of the user's home, or of the system's root, as a side effect: every
/// folder below without a project of its own would belong to it from then on. `init` makes one of
/// it on purpose.
fn refuse_a_home(context: &Context) -> Result<(), CommandError> {
    if !context.project.places.state.is_in_tree {
        return Ok(());
    }
    let tree = context.tree();
    let home = context.environment.path("HOME");
    let home = home.map(|home| context.disk.canonicalize(&home).unwrap_or(home));
    let what = match home {
        Some(home) if home == tree => "your home folder",
        _ if tree.parent().is_none() => "the root of the file system",
        _ => return Ok(()),
    };
    let is_project = context.disk.exists(&context.project.places.registry);
    if is_project.map_err(|error| disk_failed(&error))? {
        return Ok(());
    }
    let what = format!("`{}` is {what}, not a project", tree.display());
    let hint = "cd into a project, or turn this folder into one: callosum init --ledger";
    Err(CommandError::new(Exit::Usage, what).hint(hint))
}

/// Makes one attempt at [`open`]. Creating files needs the ledger's lock, too.
fn created_and_opened(context: &Context) -> Result<Ledger, CommandError> {
    create_files(context)?.tell(context);
    let ledger = mended(context)?.map_err(|error| unopened(&error))?;
    tell_repairs(context, &ledger);
    Ok(ledger)
}

/// Opens a ledger that exists, and repairs what an interruption left behind.
fn mended(context: &Context) -> Result<Result<Ledger, OpenError>, CommandError> {
    let options = options(context).map_err(|error| disk_failed(&error))?;
    Ok(Ledger::open_with(
        context.disk.clone(),
        context.ledger_paths(),
        context.clock.clone(),
        context.ids.clone(),
        options,
    ))
}

/// Opens the ledger for reading. Creates nothing.
///
/// The remains of an interruption are repaired first. If that is not possible (read-only, a newer
/// version, another process at work), the existing files are read as they are. If they differ from
/// what was committed, there is a warning.
pub fn reader(context: &Context) -> Result<Reader, CommandError> {
    match mended(context)? {
        Ok(ledger) => tell_repairs(context, &ledger),
        Err(OpenError::NotCreated { .. }) => {}
        // A project without a ledger has no folder for the lock either.
        Err(error)
            if error.disk_error().is_some_and(DiskError::is_absent) && has_no_files(context) => {}
        // Text that another program put there is shown like committed text, and must not pass for
        // it.
        Err(
            error @ (OpenError::Foreign { .. }
            | OpenError::Cut { .. }
            | OpenError::JournalGone { .. }
            | OpenError::Journal(JournalError::Damaged { .. })),
        ) => {
            let what = format!("showing unverified data: {error}");
            context.report.warn(&what, Some("callosum ledger verify"));
        }
        Err(error) => context.report.detail(&unopened(&error).one_line()),
    }
    as_it_is(context)
}

/// Opens the ledger for reading, and repairs nothing: for a command that has opened it for writing.
pub fn as_it_is(context: &Context) -> Result<Reader, CommandError> {
    let reader = Reader::open(context.disk.clone(), context.ledger_paths())
        .map_err(|error| unreadable(&error))?;
    // If the archives cannot be listed, a request for one reports why.
    for gone in reader.gone_archives().unwrap_or_default() {
        let what = format!(
            "the archive `{}` is missing: its entries are not shown",
            gone.path.display()
        );
        context
            .report
            .warn(&what, Some(way_back_to(gone.is_in_journal)));
    }
    Ok(reader)
}

/// Returns whether the project has neither a ledger nor a journal nor their locks.
fn has_no_files(context: &Context) -> bool {
    let paths = context.ledger_paths();
    [&paths.ledger, &paths.audit, &paths.locks]
        .into_iter()
        .all(|path| context.disk.exists(path).is_ok_and(|is_there| !is_there))
}

/// Whether there is a journal and the ledger that it was written with is gone.
pub fn is_gone(context: &Context) -> bool {
    let paths = context.ledger_paths();
    let is_there = context.disk.exists(&paths.ledger).unwrap_or(true);
    let days = context.disk.list_dir(&paths.audit).unwrap_or_default();
    let is_day = |name: &std::ffi::OsStr| {
        Path::new(name)
            .extension()
            .is_some_and(|ending| ending == "jsonl")
    };
    !is_there && days.iter().any(|entry| is_day(&entry.name))
}

/// Message if [`is_gone`]: nothing is lost, and how to have it back.
pub const GONE: &str = "the ledger file is missing but its audit journal exists: the next command \
                               that can write here rebuilds it (`callosum init`)";

/// Compresses what was archived, where the configuration says so. Where that fails, the archive
/// is as good as it was.
pub fn compress_archives(context: &Context) {
    if !context.project.settings.compresses_archives() {
        return;
    }
    let progress = context.report.progress("compressing archives");
    let compressed = Ledger::compress_archives(&context.disk, &context.ledger_paths());
    drop(progress);
    if let Err(error) = compressed {
        let what = format!("cannot compress an archive: {error}");
        context.report.warn(&what, None);
    }
}

/// Returns the options that the ledger is written with, and the number of records that its journal
/// must have.
fn options(context: &Context) -> Result<LedgerOptions, DiskError> {
    let store = context.trust_store();
    let signed = store.signed_records(&context.disk, &context.ledger_paths())?;
    Ok(LedgerOptions {
        signed,
        ..context.project.settings.ledger_options()
    })
}

fn tell_repairs(context: &Context, ledger: &Ledger) {
    for repair in ledger.repairs() {
        // What no interruption leaves is mended too, where it is not JSON any more.
        let is_left_behind = !matches!(repair.what, RepairKind::SetAside)
            && (repair.what != RepairKind::Rewritten || repair.kept.is_none());
        let what = if is_left_behind {
            format!("repaired after an interruption: {repair}")
        } else {
            format!("repaired: {repair}")
        };
        context.report.warn(&what, None);
    }
}

/// Records an event and makes it durable.
pub fn record(ledger: &Ledger, event: AuditEvent) -> Result<(), CommandError> {
    ledger
        .record(event)
        .and_then(|()| ledger.flush())
        .map_err(|error| unwritten(&error))
}

/// The lock of this name in the project, waited for as long as for the ledger's.
pub fn lock(context: &Context, name: &str) -> Result<FileLock, CommandError> {
    let path = context.ledger_paths().locks.join(name);
    let folder = &context.ledger_paths().locks;
    context
        .disk
        .create_dir_all(folder)
        .map_err(|error| disk_failed(&error))?;
    FileLock::acquire(&context.disk, &path, LOCK_TIMEOUT).map_err(|error| unlocked(&error))
}
