//! Saves the tree, and restores it ([`restore`]).

pub mod output;
pub mod restore;

pub use self::output::{CleanOutput, RestoreOutput, SnapshotOutput, SnapshotsOutput};

use std::path::Path;
use std::time::Duration;

use callosum_config::GuardConfig;
use callosum_snapshot::{GitEnvironment, NotCovered, Retention, SnapshotError, Store};

use crate::context::Context;
use crate::disk_errors::disk_failed;
use crate::{CommandError, Exit, many, recall};

/// Returns the snapshots of the tree that the project is in.
pub fn store(context: &Context) -> Result<Store, CommandError> {
    let variables = context.environment.iter();
    let surroundings = GitEnvironment {
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
pub fn ids(context: &Context) -> Result<Vec<String>, CommandError> {
    let all = store(context)?.list().map_err(|error| explained(&error))?;
    let short = |id: &str| id.chars().take(SHORT_ID).collect();
    Ok(all.iter().map(|one| short(&one.snapshot_id)).collect())
}

/// Characters of an id that are shown: enough to be unique among a few hundred.
pub const SHORT_ID: usize = 8;

/// Explains why a snapshot failed.
pub fn explained(error: &SnapshotError) -> CommandError {
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
fn distrusted(output: &str) -> Option<&str> {
    let (_, rest) = output.split_once("dubious ownership in repository at '")?;
    let (tree, _) = rest.split_once('\'')?;
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-".contains(letter);
    tree.chars().all(is_plain).then_some(tree)
}

/// Folders right under the root that are the system's.
const SYSTEM: [&str; 17] = [
    "bin", "boot", "dev", "etc", "home", "lib", "lib64", "opt", "proc", "run", "sbin", "sys",
    "usr", "var", "nix", "System", "Library",
];

/// Refuses a snapshot of a whole machine or home: without a repository there, the paths have to be
/// named.
pub fn refuse_whole_machine(context: &Context, tree: &Path) -> Result<(), CommandError> {
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
pub fn from_top(context: &Context, store: &Store, names: &[String]) -> Vec<String> {
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

/// Reports the files that the snapshot lacks.
pub fn tell_not_covered(context: &Context, lacks: &NotCovered) {
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

/// Removes snapshots that are too old or too many. A failure is a warning and stops nothing else.
pub fn keep_within(context: &Context, store: &Store) {
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
pub fn unlink_fixed(context: &Context, store: &Store) -> Result<(), CommandError> {
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

/// Returns the limits of age and size of snapshots in `cake_config.yaml`.
pub fn retention(guard: &GuardConfig) -> Retention {
    let kept = &guard.config.snapshot;
    Retention {
        age: Duration::from_hours(kept.retention_hours.into()),
        bytes: u64::from(kept.max_size_gb) * 1_000_000_000,
    }
}
