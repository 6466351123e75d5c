//! Finds the files that a file tool writes over and that git has no copy of.
//!
//! Start with [`files`]. A file tool (`Write`, `Edit`, `apply_patch`, `write_file`) runs no command, so nothing else keeps
//! what it writes over: an ignored `.env` whose keys an agent writes back masked is gone
//! (NousResearch/hermes-agent#49405).

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

use callosum_guard::can_be_made_again;
use callosum_host::{
    disk::EntryKind,
    process::{self, Cancel, Ending, Launch, Limits, git},
};

use super::{
    gather_facts::CallContext,
    git_index::{Tracked, tracked},
    worktree::{git_dir, real, top},
};

/// Largest file that is kept, in bytes. Agents do not write larger ones by hand.
const LARGEST: u64 = 8 * 1024 * 1024;

/// Most files of one call that are looked at.
const MOST: usize = 32;

/// Time limit for git to report whether a file was committed.
const PATIENCE: Duration = Duration::from_millis(500);

/// Returns those of these paths that are regular files below `root`, are not empty, and are ignored, untracked or changed
/// without ever having been committed: as they are named from the root, links resolved.
///
/// Costs a read of the index for each path. Only for a tracked file that was changed since it was added, git is asked.
pub(super) fn files(paths: &[String], root: &str, place: &CallContext) -> Vec<String> {
    let (disk, facts) = (&place.disk, &place.facts);
    let root = Path::new(root);
    let real_root = real(disk, root);
    let top_of_root = top(disk, &real_root);
    let cwd = facts.cwd.as_deref().map_or(root, Path::new);
    let mut unsaved = Vec::new();
    for path in paths.iter().take(MOST) {
        // A file that is not there has nothing to lose. Of a link its target is written.
        let Ok(path) = disk.canonicalize(&cwd.join(path)) else {
            continue;
        };
        let Some(inner) = path.strip_prefix(&real_root).ok().and_then(Path::to_str) else {
            continue;
        };
        let Ok(Some(found)) = disk.stat(&path) else {
            continue;
        };
        let is_kept = found.kind == EntryKind::File && (1..=LARGEST).contains(&found.len);
        let is_gits = Path::new(inner).iter().any(|part| part == ".git");
        let is_made = path
            .to_str()
            .is_some_and(|path| can_be_made_again(path, root.to_str()));
        if !is_kept || is_gits || is_made || unsaved.iter().any(|known| known == inner) {
            continue;
        }
        let top = path.parent().and_then(|folder| top(disk, folder));
        // A snapshot holds nothing of a repository within the project's.
        if top != top_of_root {
            continue;
        }
        let is_saved = top.is_some_and(|top| {
            let git_dir = git_dir(disk, &top);
            let inner = path.strip_prefix(&top).ok();
            git_dir.zip(inner).is_some_and(|(git_dir, inner)| {
                match tracked(disk, &git_dir, inner, &found) {
                    Tracked::No => false,
                    Tracked::Unchanged => true,
                    Tracked::Changed => was_committed(&top, inner, place),
                }
            })
        });
        if !is_saved {
            unsaved.push(inner.to_owned());
        }
    }
    unsaved
}

/// Returns whether the commit that is checked out has the file.
fn was_committed(top: &Path, inner: &Path, place: &CallContext) -> bool {
    let mut object = OsString::from("HEAD:");
    object.push(inner);
    let settings = git::SETTINGS.iter().flat_map(|setting| ["-c", *setting]);
    let arguments = settings.chain(["cat-file", "-e"]).map(OsString::from);
    let launch = Launch {
        program: PathBuf::from("git"),
        arguments: arguments.chain([object]).collect(),
        folder: top.to_owned(),
        environment: git::environment(place.environment.iter()),
        input: Vec::new(),
        limits: Limits {
            quiet: None,
            total: Some(PATIENCE),
            output_bytes: 1024,
            error_bytes: 1024,
        },
    };
    let ended = Cancel::new()
        .ok()
        .and_then(|cancel| process::run(&launch, &cancel, &mut |_, _| {}).ok());
    ended.is_some_and(|ended| ended.ending == Ending::Exited(0))
}
