//! Arguments and output of `callosum snapshot diff`.
//!
//! The use case is [`callosum_app::snapshot::restore`].

use std::io;
use std::io::{BufRead as _, IsTerminal as _};

use callosum_app::snapshot::output::RestoreOutput;
use callosum_app::snapshot::restore::{as_text, done, refused};
use callosum_app::snapshot::{explained, keep_within, tell_not_covered};
use callosum_app::{CommandError, Exit, many};
use callosum_snapshot::{Changes, Store};

use super::{DiffArgs, RestoreArgs};
use crate::cli::context::Context;

pub(super) fn diff(context: &Context, store: &Store, args: &DiffArgs) -> Result<(), CommandError> {
    let snapshot = store.named(&args.id).map_err(|error| explained(&error))?;
    let patch = if args.patch {
        let patch = store.patch(&snapshot).map_err(|error| explained(&error))?;
        Some(String::from_utf8_lossy(&patch).into_owned())
    } else {
        None
    };
    if let Some(patch) = patch.as_deref().filter(|_| !context.ui.json) {
        return context.ui.foreign(patch);
    }
    let changes = store
        .changes(&snapshot)
        .map_err(|error| explained(&error))?;
    if context.ui.json {
        let output = RestoreOutput {
            patch,
            ..RestoreOutput::of(&snapshot, None, &changes)
        };
        return context.ui.json_data(&output);
    }
    context.ui.foreign(&as_text(&changes))?;
    tell_not_covered(context, &snapshot.not_covered);
    Ok(())
}

pub(super) fn restore(
    context: &Context,
    store: &Store,
    args: &RestoreArgs,
) -> Result<(), CommandError> {
    let snapshot = store.named(&args.id).map_err(|error| explained(&error))?;
    if !args.yes {
        let can_ask = !context.ui.json && io::stdin().is_terminal() && io::stderr().is_terminal();
        let changes = store
            .changes(&snapshot)
            .map_err(|error| explained(&error))?;
        if context.ui.json {
            context
                .ui
                .json_data(&RestoreOutput::of(&snapshot, None, &changes))?;
        } else {
            context.ui.foreign(&as_text(&changes))?;
            tell_not_covered(context, &snapshot.not_covered);
        }
        if !can_ask {
            let what = "nothing was restored: there is no terminal to confirm on";
            let hint = format!("callosum snapshot restore {} --yes", args.id);
            return Err(CommandError::new(Exit::Usage, what).hint(hint));
        }
        if !asked(context, &changes)? {
            return Err(CommandError::told(Exit::No));
        }
    }
    let restored = store
        .restore(&snapshot)
        .map_err(|error| explained(&error))?;
    keep_within(context, store);
    let before = &restored.before.snapshot_id;
    if context.ui.json {
        let output = RestoreOutput::of(&snapshot, Some(before.clone()), &restored.changes);
        context.ui.json_data(&output)?;
        return refused(context, &restored.changes);
    }
    if args.yes {
        context.ui.foreign(&as_text(&restored.changes))?;
        tell_not_covered(context, &snapshot.not_covered);
    }
    context.report.say(&done(&restored.changes));
    context
        .report
        .hint(&format!("undo it with: callosum snapshot restore {before}"));
    refused(context, &restored.changes)
}

/// Asks a person; anything but yes is no, and so is the end of the input.
fn asked(context: &Context, changes: &Changes) -> Result<bool, CommandError> {
    let files = many(changes.written().count() as u64, "file");
    let removed = match changes.removed().count() {
        0 => String::new(),
        removed => format!(" and remove {removed} that restoring created"),
    };
    let question = format!("restore {files}{removed}? [y/N] ");
    context.ui.ask(&question);
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).map_err(|error| {
        CommandError::because(Exit::Environment, "cannot read standard input", &error)
    })?;
    let answer = answer.trim().to_ascii_lowercase();
    Ok(answer == "y" || answer == "yes")
}
