//! Arguments and output of `callosum snapshot`.
//!
//! The use case is [`callosum_app::snapshot`].

mod restore;

use std::time::Duration;

use callosum_app::snapshot::output::{CleanOutput, SnapshotOutput, SnapshotsOutput};
use callosum_app::snapshot::{
    SHORT_ID, explained, from_top, keep_within, refuse_whole_machine, retention, store,
    tell_not_covered, unlink_fixed,
};
use callosum_app::time_span::any_span;
use callosum_app::{CommandError, many, thousands};
use callosum_redact::secrets::mask;
use callosum_redact::terminal_escape::on_one_line;
use callosum_snapshot::{Store, Wanted};
use clap::{Args, Subcommand};

use super::context::Context;
use crate::ui::{Table, shown_time};

/// Save the files of the tree and restore them
///
/// A snapshot holds every file that is not ignored, committed or not. Snapshots are stored in this machine's state
/// directory, outside the project. Callosum never writes the repository's index, refs or objects.
#[derive(Debug, Subcommand)]
pub(crate) enum SnapshotCommand {
    /// Take a snapshot of the tree
    #[command(after_long_help = "\
Examples:
  $ callosum snapshot create
  $ callosum snapshot create \"before the large refactoring\" --checkpoint
  $ callosum snapshot create --also .env --also data")]
    Create(CreateArgs),
    /// List snapshots, newest first
    #[command(after_long_help = "\
Examples:
  $ callosum snapshot list
  $ callosum snapshot list --limit 3 --json")]
    List(ListArgs),
    /// Show what restoring a snapshot would change
    #[command(after_long_help = "\
Examples:
  $ callosum snapshot diff 550e8400
  $ callosum snapshot diff 550e8400 --patch")]
    Diff(DiffArgs),
    /// Restore the files of a snapshot
    ///
    /// Prints each file first and asks for confirmation. Takes a snapshot of the current tree before, so that you can
    /// undo the restore. Files that are not in the snapshot stay. To undo a restore, restore the snapshot that was
    /// taken before it: that also removes files that the restore created, unless they changed since. Exits with 1 if a
    /// file was not restored, because its current content is in no snapshot.
    #[command(after_long_help = "\
Examples:
  $ callosum snapshot restore 550e8400
  $ callosum snapshot restore 550e8400 --yes --json")]
    Restore(RestoreArgs),
    /// Remove old snapshots
    ///
    /// Removes snapshots older than 72 hours, and the oldest ones while all together take more than 1 GB.
    /// `cake_config.yaml` can set other limits. Snapshots taken with --checkpoint stay, and so do snapshots of an error
    /// without a fix. The same cleanup runs after each new snapshot.
    #[command(after_long_help = "\
Examples:
  $ callosum snapshot clean
  $ callosum snapshot clean --older-than 24h")]
    Clean(CleanArgs),
}

#[derive(Args, Debug)]
pub(crate) struct CreateArgs {
    /// Label of the snapshot
    #[arg(default_value = "by hand")]
    label: String,
    /// Keep the snapshot regardless of age and total size
    #[arg(long)]
    checkpoint: bool,
    /// Keep the snapshot until this error has a fix; may be given several times
    #[arg(long = "error", value_name = "SIGNATURE")]
    errors: Vec<String>,
    /// Save only these files, folders or patterns; may be given several times
    ///
    /// Includes ignored files. Paths are relative to the root.
    #[arg(long, value_name = "PATH")]
    only: Vec<String>,
    /// Ignored files, folders or patterns to save too; may be given several times
    ///
    /// Paths are relative to the root.
    #[arg(long, value_name = "PATH", conflicts_with = "only")]
    also: Vec<String>,
    /// Agent's call that follows the snapshot, for `callosum undo`
    #[arg(long, value_name = "ID", hide = true)]
    call: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// Print at most LIMIT snapshots
    #[arg(short = 'n', long, default_value_t = 10)]
    limit: usize,
}

#[derive(Args, Debug)]
pub(crate) struct DiffArgs {
    /// Snapshot, by the beginning of its id
    id: String,
    /// Also print the lines that would change
    #[arg(long)]
    patch: bool,
}

#[derive(Args, Debug)]
pub(crate) struct RestoreArgs {
    /// Snapshot, by the beginning of its id
    id: String,
    /// Do not ask for confirmation
    #[arg(short, long)]
    yes: bool,
}

#[derive(Args, Debug)]
pub(crate) struct CleanArgs {
    /// Maximum age, such as 12h or 7d [default: 72h, or as in `cake_config.yaml`]
    #[arg(long, value_name = "DURATION", value_parser = any_span)]
    older_than: Option<Duration>,
    /// Maximum total size in bytes [default: 1 GB, or as in `cake_config.yaml`]
    #[arg(long, value_name = "BYTES")]
    max_bytes: Option<u64>,
}

pub(super) fn run(context: &Context, command: &SnapshotCommand) -> Result<(), CommandError> {
    let store = store(context)?;
    match command {
        SnapshotCommand::Create(args) => create(context, &store, args),
        SnapshotCommand::List(args) => list(context, &store, args),
        SnapshotCommand::Diff(args) => restore::diff(context, &store, args),
        SnapshotCommand::Restore(args) => restore::restore(context, &store, args),
        SnapshotCommand::Clean(args) => clean(context, &store, args),
    }
}

fn create(context: &Context, store: &Store, args: &CreateArgs) -> Result<(), CommandError> {
    let wanted = Wanted {
        // It is listed, and may be an agent's words.
        label: mask(&args.label).text,
        linked_errors: args.errors.clone(),
        checkpoint: args.checkpoint,
        only: from_top(context, store, &args.only),
        also: from_top(context, store, &args.also),
        call: args.call.clone(),
    };
    if wanted.only.is_empty() {
        refuse_whole_machine(context, store.tree())?;
    }
    let snapshot = store.create(&wanted).map_err(|error| explained(&error))?;
    keep_within(context, store);
    if context.ui.json {
        return context.ui.json_data(&SnapshotOutput::of(&snapshot));
    }
    context.ui.data(&format!("{}\n", snapshot.snapshot_id))?;
    tell_not_covered(context, &snapshot.not_covered);
    Ok(())
}

fn list(context: &Context, store: &Store, args: &ListArgs) -> Result<(), CommandError> {
    let mut all = store.list().map_err(|error| explained(&error))?;
    let total = all.len();
    all.truncate(args.limit);
    if context.ui.json {
        let snapshots = all.iter().map(SnapshotOutput::of).collect();
        return context.ui.json_data(&SnapshotsOutput { snapshots, total });
    }
    if total == 0 {
        context.report.say("no snapshots yet");
        return Ok(());
    }
    let mut table = Table::new(&["id", "taken", "branch", "changed", "kept", "label"]);
    for snapshot in &all {
        table.row([
            snapshot.snapshot_id.chars().take(SHORT_ID).collect(),
            shown_time(&snapshot.timestamp.to_string()),
            on_one_line(snapshot.branch.as_deref().unwrap_or_default()),
            thousands(snapshot.dirty_files.len() as u64),
            if snapshot.is_pinned() { "yes" } else { "" }.to_owned(),
            on_one_line(&snapshot.label),
        ]);
    }
    context.ui.data(&table.render())?;
    if all.len() < total {
        let left = many((total - all.len()) as u64, "older one");
        context.report.say(&format!(
            "{left} not shown: callosum snapshot list --limit {total}"
        ));
    }
    Ok(())
}

fn clean(context: &Context, store: &Store, args: &CleanArgs) -> Result<(), CommandError> {
    let mut retention = retention(&context.project.guard(&context.disk));
    if let Some(age) = args.older_than {
        retention.age = age;
    }
    if let Some(bytes) = args.max_bytes {
        retention.bytes = bytes;
    }
    unlink_fixed(context, store)?;
    let cleaned = store.clean(&retention).map_err(|error| explained(&error))?;
    if context.ui.json {
        return context.ui.json_data(&CleanOutput {
            removed: cleaned.removed,
            bytes: cleaned.bytes,
        });
    }
    let removed = many(cleaned.removed.len() as u64, "snapshot");
    let bytes = cleaned.bytes;
    context
        .report
        .say(&format!("{removed} removed; the rest takes {bytes} bytes"));
    Ok(())
}
