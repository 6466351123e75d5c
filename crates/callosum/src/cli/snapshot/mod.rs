//! `callosum snapshot`: keep the tree as it is, and go back to it.
//!
//! Start with [`run`]; going back is in `restore`.

mod output;
mod restore;

use std::{path::Path, time::Duration};

use callosum_evidence::{secrets::mask, terminal::on_one_line};
use callosum_guard::snapshot::{NotCovered, Retention, SnapshotError, Store, Surroundings, Wanted};
use clap::{Args, Subcommand};

pub(super) use self::output::{CleanOutput, RestoreOutput, SnapshotOutput, SnapshotsOutput};
use super::{context::Context, recall, store::disk_failed, time_span::any_span};
use crate::ui::{CommandError, Exit, Table, many, shown_time, thousands};
use callosum_config::GuardConfig;

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
    #[arg(long, conflicts_with = "json")]
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

/// The snapshots of the tree that the project stands in.
pub(super) fn store(context: &Context) -> Result<Store, CommandError> {
    let variables = context.environment.iter();
    let surroundings = Surroundings {
        disk: context.disk.clone(),
        clock: context.clock.clone(),
        ids: context.ids.clone(),
        cancel: context.cancel.clone(),
        environment: variables
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
    };
    let homes = &context.project.homes;
    homes
        .create_machine(&context.disk)
        .map_err(|error| disk_failed(&error))?;
    let folder = |tree: &Path| homes.snapshots_of(tree);
    Store::find(surroundings, context.tree(), folder).map_err(|error| explained(&error))
}

/// Returns the ids of all snapshots as the list shows them, newest first.
pub(super) fn ids(context: &Context) -> Result<Vec<String>, CommandError> {
    let all = store(context)?.list().map_err(|error| explained(&error))?;
    let short = |id: &str| id.chars().take(SHORT_ID).collect();
    Ok(all.iter().map(|one| short(&one.snapshot_id)).collect())
}

/// How much of an id is shown, in characters: enough to be unique among a few hundred.
const SHORT_ID: usize = 8;

pub(super) fn explained(error: &SnapshotError) -> CommandError {
    match error {
        SnapshotError::Unknown { .. } | SnapshotError::Ambiguous { .. } => {
            CommandError::from_error(Exit::Usage, error).hint("callosum snapshot list")
        }
        SnapshotError::TooMany { .. } | SnapshotError::Nothing { .. } => {
            CommandError::from_error(Exit::No, error).hint("callosum snapshot create")
        }
        SnapshotError::UnderWay { .. } => {
            CommandError::from_error(Exit::No, error).hint("finish it or abort it, then try again")
        }
        SnapshotError::Broken { .. } => CommandError::from_error(Exit::No, error)
            .hint("a later snapshot may be intact: callosum snapshot list"),
        SnapshotError::Disk(error) => disk_failed(error),
        SnapshotError::Git(error) => {
            let failed = CommandError::from_error(Exit::Environment, error);
            match distrusted(&error.to_string()) {
                Some(tree) => failed.hint(format!(
                    "if you trust the owner of this folder: git config --global --add \
                     safe.directory {tree}"
                )),
                None => failed,
            }
        }
        SnapshotError::Lock(_) => CommandError::from_error(Exit::Environment, error),
    }
}

/// The repository that git does not read since it belongs to another user, as far as its path needs no quotes.
fn distrusted(said: &str) -> Option<&str> {
    let (_, rest) = said.split_once("dubious ownership in repository at '")?;
    let (tree, _) = rest.split_once('\'')?;
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-".contains(letter);
    tree.chars().all(is_plain).then_some(tree)
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

/// Folders right under the root that are the system's.
const SYSTEM: [&str; 17] = [
    "bin", "boot", "dev", "etc", "home", "lib", "lib64", "opt", "proc", "run", "sbin", "sys",
    "usr", "var", "nix", "System", "Library",
];

/// Nobody works on all of a machine, or of a home: without a repository there, what is held is to be named.
fn refuse_whole_machine(context: &Context, tree: &Path) -> Result<(), CommandError> {
    let is_repository = context.disk.exists(&tree.join(".git")).unwrap_or(false);
    let home = context.environment.path("HOME");
    let home = home.map(|home| context.disk.canonicalize(&home).unwrap_or(home));
    let is_system = || {
        let inner = tree.strip_prefix("/").ok().and_then(Path::to_str);
        inner.is_some_and(|inner| inner.is_empty() || SYSTEM.contains(&inner))
    };
    let holds_home = || home.is_some_and(|home| home.starts_with(tree));
    if is_repository || !is_system() && !holds_home() {
        return Ok(());
    }
    let what = format!(
        "{} is not a project: a snapshot would contain everything in it",
        tree.display()
    );
    Err(CommandError::new(Exit::Usage, what).hint("callosum snapshot create --only PATH"))
}

/// Names that are seen from the root, seen from the tree's top folder.
fn from_top(context: &Context, store: &Store, names: &[String]) -> Vec<String> {
    let root = context.disk.canonicalize(context.tree()).ok();
    let below = root.as_deref().and_then(|root| {
        let below = root.strip_prefix(store.tree()).ok()?.to_str()?;
        Some(below).filter(|below| !below.is_empty())
    });
    let Some(below) = below else {
        return names.to_vec();
    };
    let names = names.iter().map(|name| match name.as_str() {
        "." => below.to_owned(),
        name => format!("{below}/{name}"),
    });
    names.collect()
}

fn tell_not_covered(context: &Context, lacks: &NotCovered) {
    if lacks.is_nothing() {
        return;
    }
    let mut parts = Vec::new();
    if lacks.ignored_count > 0 {
        let first: Vec<_> = lacks.ignored.iter().take(5).cloned().collect();
        let count = many(lacks.ignored_count as u64, "ignored path");
        parts.push(format!("{count} ({})", first.join(" ")));
    }
    if !lacks.repositories.is_empty() {
        parts.push(format!(
            "nested repositories: {}",
            lacks.repositories.join(" ")
        ));
    }
    for large in &lacks.too_large {
        parts.push(format!("{} (too large)", large.path));
    }
    let large: Vec<&str> = lacks
        .too_large
        .iter()
        .map(|large| large.path.as_str())
        .collect();
    let named = lacks
        .named
        .iter()
        .filter(|named| !large.contains(&named.as_str()) && !lacks.repositories.contains(named));
    for named in named {
        parts.push(format!("{named} (too large)"));
    }
    context
        .report
        .say(&format!("not included: {}", parts.join("; ")));
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

/// Lets go what is too old or too much by now. What is in the way of that is in nobody else's.
pub(super) fn keep_within(context: &Context, store: &Store) {
    let guard = context.project.guard(&context.disk);
    // How long the user wants them is not known then; too long does no harm.
    if !guard.broken.is_empty() {
        return;
    }
    let cleaned = unlink_fixed(context, store)
        .map_err(|error| error.one_line())
        .and_then(|()| {
            let cleaned = store.keep_within(&retention(&guard));
            cleaned.map_err(|error| explained(&error).one_line())
        });
    match cleaned {
        Ok(cleaned) => {
            let removed = many(cleaned.removed.len() as u64, "old snapshot");
            context.report.detail(&format!("{removed} removed"));
        }
        Err(what) => {
            let hint = Some("callosum snapshot clean");
            context
                .report
                .warn(&format!("cannot remove old snapshots: {what}"), hint);
        }
    }
}

/// Removes the links to errors whose fix was learned after the snapshot was taken.
fn unlink_fixed(context: &Context, store: &Store) -> Result<(), CommandError> {
    let all = store.list().map_err(|error| explained(&error))?;
    if all.iter().all(|snapshot| snapshot.linked_errors.is_empty()) {
        return Ok(());
    }
    let watcher = recall::watcher(context)?;
    let now = context.clock.now();
    if !context
        .disk
        .exists(&watcher.database_path())
        .map_err(|error| disk_failed(&error))?
    {
        return Ok(());
    }
    let database = watcher.database(now).map_err(recall::failed)?;
    let mut failure = None;
    let removed = store.unlink_errors(|snapshot, signature| {
        let fixed = database.is_fixed_since(signature, snapshot.timestamp);
        fixed.unwrap_or_else(|error| {
            failure = Some(error);
            false
        })
    });
    removed.map_err(|error| explained(&error))?;
    match failure {
        Some(error) => Err(recall::failed(error)),
        None => Ok(()),
    }
}

/// How long and how much is kept, as `cake_config.yaml` says.
pub(super) fn retention(guard: &GuardConfig) -> Retention {
    let kept = &guard.config.snapshot;
    Retention {
        age: Duration::from_hours(kept.retention_hours.into()),
        bytes: u64::from(kept.max_size_gb) * 1_000_000_000,
    }
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
