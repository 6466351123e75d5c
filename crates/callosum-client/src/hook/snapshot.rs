//! A snapshot of the tree, before a command runs that may lose work.
//!
//! If a person is asked, there is time: a child process takes the snapshot while they read, and no
//! one waits. A command that runs at once, because it is allowed or a person has permitted it
//! before, waits for the snapshot, but no longer than [`PATIENCE`]: a client runs the tool anyway
//! once its own limit is over. The snapshot then continues while the tool runs. If the tree takes
//! long, the files that the command names are saved separately before that: the command removes
//! them first.

use std::{
    path::Path,
    sync::mpsc::{self, RecvTimeoutError, Sender},
    thread,
    time::{Duration, Instant},
};

use callosum_guard::{Decision, can_be_made_again, takes_in};
use callosum_host::{
    disk::EntryKind,
    process::{Cancel, Ending, Launch, Limits, leave, run},
};
use callosum_redact::terminal_escape::on_one_line;

use super::{
    answer::Reply, event::Action, gather_facts::CallContext, record::About,
    snapshot_outcome::SnapshotOutcome, unsaved, verdict::Judged,
};

/// Longest wait of an answer for a snapshot: less than the limit of the whole answer.
const PATIENCE: Duration = Duration::from_secs(3);

/// Longest wait for the tree's snapshot before the named files are saved separately.
const PATIENCE_WITH_TREE: Duration = Duration::from_secs(1);

/// Time limit for a snapshot that no one waits for any more.
const LONGEST_RUN: Duration = Duration::from_mins(5);

/// So many of the files that are named are looked for.
const MOST_NAMED: usize = 64;

/// Most characters of a command that name its snapshot.
const LONGEST: usize = 60;

/// Most characters of a file's name in a note, and of an id, which a person can type.
const LONGEST_NAME: usize = 80;
const LONGEST_ID: usize = 8;

/// Takes a snapshot of a repository if a person is asked or work may be lost, including the files
/// that the command names and git ignores. Outside of a repository, saves only the files that the
/// command names. If a file tool writes files that git has no copy of, saves those.
///
/// The id of the call's record links it to the `call`. `None` if nothing needs a snapshot, or no
/// named file exists. If it fails, the answer stays the same.
pub(super) fn before(
    action: &Action,
    about: &About,
    (judged, reply): (&Judged, &Reply),
    place: &CallContext,
    call: &str,
) -> Option<SnapshotOutcome> {
    let root = place.facts.root.as_deref()?;
    let runs = judged.verdict.decision == Decision::Allow;
    let unsaved = match action {
        Action::Write(paths) if runs || reply.is_question => unsaved::files(paths, root, place),
        _ => Vec::new(),
    };
    let label = about.label(LONGEST);
    let patience = place.environment.patience(PATIENCE).unwrap_or(PATIENCE);
    let is_wanted = reply.is_question
        || runs
            && (judged.verdict.destroys
                || !judged.permitted.is_empty()
                || written_over(judged, place).next().is_some());
    if !is_wanted {
        if unsaved.is_empty() {
            return None;
        }
        let launched = launch(root, &label, ("--only", &unsaved), place, call)?;
        return Some(waited_for(launched, || None, false, patience));
    }
    let mut named = named(root, judged, place);
    named.extend(unsaved);
    let option = match &place.facts.git_dir {
        Some(_) => "--also",
        None if named.is_empty() => return None,
        None => "--only",
    };
    let launched = launch(root, &label, (option, &named), place, call)?;
    if reply.is_question {
        return Some(leave(&launched).map_or(SnapshotOutcome::Failed, |()| SnapshotOutcome::Begun));
    }
    let alone = || {
        let label = format!("{label} (what it names)");
        launch(root, &label, ("--only", &named), place, call)
    };
    let is_of_tree = option == "--also" && !named.is_empty() && !named.contains(&".".to_owned());
    Some(waited_for(launched, alone, is_of_tree, patience))
}

/// Returns the files that would be lost for good by a command that is allowed because of a
/// snapshot: files that it names, that the snapshot lacks and that cannot be generated again. If no
/// snapshot could be taken and no file is named, the tree.
pub(super) fn lost(
    kept: Option<&SnapshotOutcome>,
    judged: &Judged,
    place: &CallContext,
) -> Vec<String> {
    let verdict = &judged.verdict;
    let passes = verdict.decision == Decision::Allow && judged.permitted.is_empty();
    let (Some(kept), Some(root), true) = (kept, place.facts.root.as_deref(), passes) else {
        return Vec::new();
    };
    let cannot_be_made = |name: &String| {
        let path = Path::new(root).join(name);
        let path = path.to_str();
        !path.is_some_and(|path| can_be_made_again(path, Some(root)))
    };
    match kept {
        SnapshotOutcome::Failed => {
            if verdict.destroys && verdict.named.is_empty() {
                return vec!["the tree".to_owned()];
            }
            // Of an empty folder nothing is lost.
            let holds_something = |name: &String| {
                let at = Path::new(root).join(name);
                let found = place.disk.stat(&at).unwrap_or_default();
                found.is_none_or(|found| found.kind != EntryKind::Folder) || holds_files(&at, place)
            };
            let named = named(root, judged, place).into_iter();
            // What an archive writes over in the tree is not known.
            let is_known = |name: &String| verdict.destroys || name != ".";
            named
                .filter(is_known)
                .filter(cannot_be_made)
                .filter(holds_something)
                .collect()
        }
        SnapshotOutcome::Taken(Some(held)) | SnapshotOutcome::Late(Some(held))
            if verdict.destroys =>
        {
            // Of a search through the whole tree it is not known that it finds what is in another repository.
            let is_named = |lack: &&String| {
                let names = held.only.iter().chain(&held.also);
                let mut names = names.filter(|name| name.as_str() != ".");
                let path = lack.trim_end_matches('/');
                names.any(|name| takes_in(name, path) || Path::new(name).starts_with(path))
            };
            let lacks = held.lacks().iter().filter(is_named);
            lacks.filter(|name| cannot_be_made(name)).cloned().collect()
        }
        SnapshotOutcome::Begun | SnapshotOutcome::Taken(_) | SnapshotOutcome::Late(_) => Vec::new(),
    }
}

/// Returns the note on a snapshot that holds files which the command names and is about to remove,
/// and which git could not restore. `None` if there are none, or only files that can be generated
/// again.
pub(super) fn note(kept: Option<&SnapshotOutcome>) -> Option<String> {
    let held = kept?.held()?;
    let named = || held.only.iter().chain(&held.also);
    let mut saved = held
        .uncommitted
        .iter()
        .filter(|file| named().any(|name| takes_in(name, file)) && !can_be_made_again(file, None));
    let first: String = on_one_line(saved.next()?)
        .chars()
        .take(LONGEST_NAME)
        .collect();
    let more = match saved.count() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let id: String = held.id.chars().take(LONGEST_ID).collect();
    Some(format!(
        "callosum saved {first}{more} before this (git has no copy): callosum snapshot restore \
         {id}"
    ))
}

/// Returns the non-empty files and folders that the command overwrites.
fn written_over<'j>(
    judged: &'j Judged,
    place: &'j CallContext,
) -> impl Iterator<Item = &'j String> {
    judged.verdict.overwrites.iter().filter(|path| {
        let at = Path::new(path);
        let found = place.disk.stat(at).unwrap_or_default();
        found.is_some_and(|found| match found.kind {
            EntryKind::File => found.len > 0,
            EntryKind::Folder => path.ends_with('/') && holds_files(at, place),
            kind => kind == EntryKind::Link,
        })
    })
}

/// Whether a folder that may be overwritten holds any files.
fn holds_files(folder: &Path, place: &CallContext) -> bool {
    let listed = place.disk.list_dir(folder).unwrap_or_default();
    let mut names = listed.iter().map(|entry| entry.name.as_os_str());
    names.any(|name| name != ".git")
}

/// Returns the paths that the command names, relative to the root: those that exist, and patterns.
pub(super) fn named(root: &str, judged: &Judged, place: &CallContext) -> Vec<String> {
    let named = judged.verdict.named.iter();
    // An archive that is taken apart in a home names all of it, and is none of its files. In a repository git says which of
    // them it holds, and the others are kept besides.
    let is_part =
        |path: &&String| place.facts.git_dir.is_some() || Path::new(path) != Path::new(root);
    let written_over = written_over(judged, place).filter(is_part);
    let named = named.chain(written_over).take(MOST_NAMED);
    let is_there = |path: &&String| {
        let is_pattern = path.contains(['*', '?', '[']);
        is_pattern || place.disk.exists(Path::new(path)).unwrap_or(false)
    };
    let inner = |path: &String| {
        let inner = Path::new(path).strip_prefix(root).ok()?.to_str()?;
        Some(if inner.is_empty() { "." } else { inner }.to_owned())
    };
    let mut all: Vec<String> = named.filter(is_there).filter_map(inner).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn launch(
    root: &str,
    label: &str,
    (option, named): (&str, &[String]),
    place: &CallContext,
    call: &str,
) -> Option<Launch> {
    let label = format!("before: {label}");
    let mut arguments = vec!["-C", root, "--no-progress", "--json", "snapshot", "create"];
    for path in named {
        arguments.extend([option, path]);
    }
    arguments.extend(["--call", call, "--", &label]);
    let variables = place.environment.iter();
    Some(Launch {
        program: std::env::current_exe().ok()?,
        arguments: arguments.into_iter().map(Into::into).collect(),
        folder: root.into(),
        environment: variables
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        input: Vec::new(),
        limits: Limits {
            quiet: None,
            total: Some(LONGEST_RUN),
            output_bytes: 4 * 1024 * 1024,
            error_bytes: 1024,
        },
    })
}

/// The snapshot that ended, and its outcome.
type SnapshotResult = (Scope, SnapshotOutcome);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    Whole,
    Named,
}

/// Runs it and waits as long as an answer may; if the tree takes long, saves the named files
/// separately.
fn waited_for(
    launch: Launch,
    alone: impl FnOnce() -> Option<Launch>,
    is_of_tree: bool,
    patience: Duration,
) -> SnapshotOutcome {
    let begun = Instant::now();
    let (sender, receiver) = mpsc::channel();
    if !begin(launch, Scope::Whole, sender.clone()) {
        return SnapshotOutcome::Failed;
    }
    if is_of_tree {
        match receiver.recv_timeout(PATIENCE_WITH_TREE) {
            Ok((_, kept)) => return kept,
            Err(RecvTimeoutError::Disconnected) => return SnapshotOutcome::Failed,
            Err(RecvTimeoutError::Timeout) => {
                if let Some(launch) = alone() {
                    begin(launch, Scope::Named, sender.clone());
                }
            }
        }
    }
    drop(sender);
    let mut named = None;
    let mut is_refused = false;
    loop {
        match receiver.recv_timeout(patience.saturating_sub(begun.elapsed())) {
            Ok((Scope::Whole, SnapshotOutcome::Failed)) if named.is_some() => {
                return SnapshotOutcome::Late(named);
            }
            Ok((Scope::Whole, kept)) => return kept,
            Ok((Scope::Named, kept)) => {
                is_refused = kept == SnapshotOutcome::Failed;
                named = kept.held().cloned();
            }
            // More may be named than is held by itself.
            Err(RecvTimeoutError::Timeout) if is_refused => return SnapshotOutcome::Failed,
            Err(RecvTimeoutError::Timeout) => return SnapshotOutcome::Late(named),
            Err(RecvTimeoutError::Disconnected) => return SnapshotOutcome::Failed,
        }
    }
}

/// Runs a snapshot on a thread, which sends its outcome; returns whether it could be started. It
/// has a process group of its own, so that it outlives this process if it is late.
fn begin(launch: Launch, scope: Scope, sender: Sender<SnapshotResult>) -> bool {
    let running = thread::Builder::new().spawn(move || {
        let kept = Cancel::new()
            .ok()
            .and_then(|cancel| run(&launch, &cancel, &mut |_, _| {}).ok())
            .map_or(SnapshotOutcome::Failed, |ended| match ended.ending {
                Ending::Exited(0) => {
                    SnapshotOutcome::Taken(serde_json::from_slice(&ended.output).ok())
                }
                _ => SnapshotOutcome::Failed,
            });
        drop(sender.send((scope, kept)));
    });
    running.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn running(program: &str, arguments: &[&str]) -> Launch {
        Launch {
            program: program.into(),
            arguments: arguments.iter().map(Into::into).collect(),
            folder: "/".into(),
            environment: Vec::new(),
            input: Vec::new(),
            limits: Limits {
                quiet: None,
                total: None,
                output_bytes: 1024,
                error_bytes: 1024,
            },
        }
    }

    /// CAKE-SNAP-1: if a tree takes too long, and more files are named than can be saved
    /// separately, nothing is saved.
    #[test]
    fn what_is_refused_beside_a_tree_that_takes_long_is_not_held() {
        let patience = Duration::from_secs(3);
        for (program, kept) in [
            ("/bin/false", SnapshotOutcome::Failed),
            ("/bin/true", SnapshotOutcome::Late(None)),
        ] {
            let whole = running("/bin/sleep", &["20"]);
            let alone = || Some(running(program, &[]));
            assert_eq!(waited_for(whole, alone, true, patience), kept, "{program}");
        }
    }
}
