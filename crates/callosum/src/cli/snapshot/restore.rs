//! `callosum snapshot diff` and `callosum snapshot restore`: what going back would change, and going back.
//!
//! What is changed is shown first, and a person is asked where there is one.

use std::{
    fmt::Write as _,
    io::{self, BufRead as _, IsTerminal as _},
};

use callosum_evidence::terminal::on_one_line;
use callosum_guard::snapshot::{Changes, Store};

use super::{
    DiffArgs, RestoreArgs, explained, keep_within, output::RestoreOutput, tell_not_covered,
};
use crate::{
    cli::context::Context,
    ui::{CommandError, Exit, many},
};

pub(super) fn diff(context: &Context, store: &Store, args: &DiffArgs) -> Result<(), CommandError> {
    let snapshot = store.named(&args.id).map_err(|error| explained(&error))?;
    if args.patch {
        let patch = store.patch(&snapshot).map_err(|error| explained(&error))?;
        return context.ui.foreign(&String::from_utf8_lossy(&patch));
    }
    let changes = store
        .changes(&snapshot)
        .map_err(|error| explained(&error))?;
    if context.ui.json {
        return context
            .ui
            .json_data(&RestoreOutput::of(&snapshot, None, &changes));
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

/// Names what was not put back, which is a no.
fn refused(context: &Context, changes: &Changes) -> Result<(), CommandError> {
    let mut refused = changes.refused().peekable();
    if refused.peek().is_none() {
        return Ok(());
    }
    for change in refused {
        let what = format!(
            "`{}` was not restored: its current content is in no snapshot",
            change.path.display()
        );
        context
            .report
            .warn(&what, Some("move it away, then restore again"));
    }
    Err(CommandError::told(Exit::No))
}

/// What was done, in words.
fn done(changes: &Changes) -> String {
    let written = many(changes.written().count() as u64, "file");
    match changes.removed().count() as u64 {
        0 => format!("restored {written}"),
        removed => format!("restored {written}, removed {removed} that restoring had created"),
    }
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

fn as_text(changes: &Changes) -> String {
    let mut text = String::new();
    for change in &changes.0 {
        let path = on_one_line(&change.path.to_string_lossy());
        let _ = writeln!(text, "{:8} {path}", change.kind.as_str());
    }
    if text.is_empty() {
        text.push_str("all files match the snapshot\n");
    }
    text
}
