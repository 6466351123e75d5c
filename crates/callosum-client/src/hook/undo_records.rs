//! Records the changes of a call, for `callosum undo`.
//!
//! [`before`] keeps the bytes of the files that a file tool is about to write, and links a command
//! to the snapshot that is taken before it. [`after`] records the state after the call,
//! [`turn_begins`] the beginning of a turn. Nothing here fails a call: a change that is not
//! recorded cannot be undone, or needs a confirmation.

use std::{
    collections::BTreeMap,
    path::{Component, Path, PathBuf},
    time::Duration,
};

use callosum_host::{Disk, OpenHow, disk::EntryKind, process::Cancel};
use callosum_snapshot::{GitEnvironment, Retention, Store, is_ours};

use super::{
    event::{Action, Event},
    gather_facts::CallContext,
    record::About,
    snapshot,
    snapshot_outcome::SnapshotOutcome,
    verdict::Judged,
    worktree::{real, top},
};
use crate::undo::{
    AfterLine, CallLine, FileLine, FileState, LARGEST, Line, OpenCall, OpenCalls, Turns, UndoLog,
    observe,
};
use callosum_config::{Environment, Homes};

/// Longest wait for another process that records.
const PATIENCE: Duration = Duration::from_millis(200);

/// Longest wait for another process's snapshot after a command.
const PATIENCE_WITH_SNAPSHOTS: Duration = Duration::from_secs(1);

/// Most files of one call that are recorded before a file tool, and most bytes that are kept of them.
const MOST_FILES: usize = 256;
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// Most files of a command, and most bytes of them that are read after it.
const MOST_CHANGED: usize = 2_000;
const MOST_READ: u64 = 64_000_000;

/// Most characters of a call's label.
const LONGEST: usize = 60;

/// Returns an id for the record of a call.
pub(super) fn new_id(place: &CallContext) -> String {
    let ids = place.environment.ids();
    ids.map(|ids| ids.uuid_v4()).unwrap_or_default()
}

/// Records a call that is about to run, if it writes files or a snapshot is taken before it.
pub(super) fn before(
    client: &str,
    (event, about): (&Event, &About),
    (judged, kept): (&Judged, Option<&SnapshotOutcome>),
    place: &CallContext,
    id: &str,
) {
    let has_snapshot = kept.is_some_and(|kept| *kept != SnapshotOutcome::Failed);
    let is_recorded = match event.action {
        Action::Write(_) => true,
        Action::Shell(_) => has_snapshot,
        Action::Read(_) | Action::Other => false,
    };
    let (Some(root), Ok(homes), Ok(clock)) = (
        place.facts.root.as_deref().filter(|_| is_recorded),
        Homes::find(&place.environment),
        place.environment.clock(),
    ) else {
        return;
    };
    let disk = &place.disk;
    let root = real(disk, Path::new(root));
    let tree = top(disk, &root).unwrap_or_else(|| root.clone());
    let mut blobs = BTreeMap::new();
    let mut line = CallLine {
        id: id.to_owned(),
        at: clock.now(),
        agent: client.to_owned(),
        session: event.session.clone(),
        turn: event
            .session
            .as_deref()
            .and_then(|session| Turns::new(disk, &homes).current(client, session)),
        call: event.call.clone().filter(|call| !call.is_empty()),
        tool: event.tool.clone(),
        label: about.label(LONGEST),
        files: Vec::new(),
        is_command: false,
        modes: BTreeMap::new(),
    };
    if let Action::Write(paths) = &event.action {
        let cwd = place.facts.cwd.as_deref().map_or(&*root, Path::new);
        line.files = files(disk, &tree, cwd, paths, &mut blobs);
    } else {
        line.is_command = true;
        let named = snapshot::named(&root.to_string_lossy(), judged, place);
        line.modes = modes(disk, &tree, &root, &named);
    }
    let open = OpenCall {
        id: id.to_owned(),
        files: line.files.iter().map(|file| file.path.clone()).collect(),
        is_command: line.is_command,
        snapshot: kept
            .and_then(SnapshotOutcome::held)
            .map(|held| held.id.clone()),
        tree: tree.clone(),
    };
    let now = line.at;
    let hours = place.guard.config.snapshot.retention_hours;
    let age = Duration::from_hours(hours.into());
    let log = UndoLog::new(disk, &homes.snapshots_of(&tree), age);
    // A full disk, or a lock that is held, must not keep the tool from running.
    if log.append(now, &Line::Call(line), &blobs, PATIENCE).is_ok() {
        drop(OpenCalls::new(disk, &homes).begin(&key(client, &event.key), &open, now));
    }
}

/// Records what a call has left, if it was recorded before it ran.
pub(super) fn after(environment: &Environment, client: &str, call_key: &str) {
    let disk = Disk::real();
    let (Ok(homes), Ok(clock)) = (Homes::find(environment), environment.clock()) else {
        return;
    };
    let calls = OpenCalls::new(&disk, &homes);
    let Some(open) = calls.end(&key(client, call_key)) else {
        return;
    };
    let mut blobs = BTreeMap::new();
    let mut line = AfterLine {
        id: open.id.clone(),
        files: Vec::new(),
        names: Vec::new(),
        more: 0,
    };
    if open.is_command {
        // Without the snapshot it is not known what the command left: a person is asked then.
        if changed(&disk, environment, &homes, &open, &mut line).is_none() {
            return;
        }
    } else {
        for path in open.files {
            let after = match observe(&disk, &open.tree.join(&path), LARGEST) {
                Ok((FileState::File { sum, mode }, Some(bytes))) => {
                    // Another agent is about to write it, perhaps from an older version: a conflict needs this one.
                    if calls.are_about(&open.tree, &path) {
                        blobs.insert(sum.clone(), bytes);
                    }
                    FileState::File { sum, mode }
                }
                Ok((state, _)) => state,
                Err(error) => FileState::unknown(error.to_string()),
            };
            line.files.push(FileLine {
                path,
                before: None,
                after: Some(after),
            });
        }
    }
    let age = Retention::default().age;
    let log = UndoLog::new(&disk, &homes.snapshots_of(&open.tree), age);
    drop(log.append(clock.now(), &Line::After(line), &blobs, PATIENCE));
}

/// Notes that a turn of a session begins.
pub(super) fn turn_begins(environment: &Environment, client: &str, session: &str) {
    let (Ok(homes), Ok(clock), Ok(ids)) = (
        Homes::find(environment),
        environment.clock(),
        environment.ids(),
    ) else {
        return;
    };
    if !session.is_empty() {
        let disk = Disk::real();
        // Without it the calls of the session are listed one by one.
        drop(Turns::new(&disk, &homes).begin(client, session, &ids.uuid_v4(), clock.now()));
    }
}

fn key(client: &str, call_key: &str) -> String {
    format!("{client}\0{call_key}")
}

/// The files that a file tool writes, as they are, and their bytes.
fn files(
    disk: &Disk,
    tree: &Path,
    cwd: &Path,
    paths: &[String],
    blobs: &mut BTreeMap<String, Vec<u8>>,
) -> Vec<FileLine> {
    let mut files: Vec<FileLine> = Vec::new();
    let mut room = MOST_BYTES;
    for path in paths.iter().take(MOST_FILES) {
        // The tool may replace a link, or write what it leads to.
        let ends = [
            link_at(disk, &cwd.join(path)),
            end_of(disk, &cwd.join(path)),
        ];
        for path in ends.into_iter().flatten() {
            let inner = path.strip_prefix(tree).ok();
            let shown = inner.unwrap_or(&path).to_str().map(str::to_owned);
            let Some(shown) = shown.filter(|shown| files.iter().all(|file| file.path != *shown))
            else {
                continue;
            };
            let before = match inner {
                None => FileState::unknown("outside of the project"),
                Some(inner) if is_ours(inner) || inner.iter().any(|part| part == ".git") => {
                    continue;
                }
                Some(_) => match observe(disk, &path, LARGEST) {
                    Ok((state, None)) => state,
                    Ok((FileState::File { sum, mode }, Some(bytes))) if bytes.len() <= room => {
                        room -= bytes.len();
                        blobs.insert(sum.clone(), bytes);
                        FileState::File { sum, mode }
                    }
                    Ok(_) => FileState::unknown("too many files in one call"),
                    Err(error) => FileState::unknown(error.to_string()),
                },
            };
            files.push(FileLine {
                path: shown,
                before: Some(before),
                after: None,
            });
        }
    }
    files
}

/// A path with links on the way resolved, if a link is at its end.
fn link_at(disk: &Disk, path: &Path) -> Option<PathBuf> {
    let found = disk.stat(path).ok()??;
    let folder = disk.canonicalize(path.parent()?).ok()?;
    (found.kind == EntryKind::Link).then(|| folder.join(path.file_name().unwrap_or_default()))
}

/// Returns a path with all links resolved; its last parts may not exist.
fn end_of(disk: &Disk, path: &Path) -> Option<PathBuf> {
    if let Ok(path) = disk.canonicalize(path) {
        return Some(path);
    }
    let mut above = path.ancestors().skip(1);
    let (folder, end) = above.find_map(|folder| {
        let end = disk.canonicalize(folder).ok()?;
        Some((folder, end))
    })?;
    let rest = path.strip_prefix(folder).ok()?;
    let is_plain = rest
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    is_plain.then(|| end.join(rest))
}

/// The permission bits of the files that a command names. A snapshot holds of them only whether they are executable.
fn modes(disk: &Disk, tree: &Path, root: &Path, named: &[String]) -> BTreeMap<String, u32> {
    let mut modes = BTreeMap::new();
    for name in named {
        let path = root.join(name);
        let file = disk.stat(&path).ok().flatten();
        let is_file = file.is_some_and(|file| file.kind == EntryKind::File);
        let inner = path.strip_prefix(tree).ok().and_then(Path::to_str);
        if let (true, Some(inner)) = (is_file, inner) {
            let mode = disk.open(&path, OpenHow::READ).and_then(|file| file.mode());
            if let Ok(Some(mode)) = mode {
                modes.insert(inner.to_owned(), mode & 0o7777);
            }
        }
    }
    modes
}

/// Returns the state of a path after a call.
fn left(disk: &Disk, path: &Path, largest: u64) -> FileState {
    match observe(disk, path, largest) {
        Ok((state, _)) => state,
        Err(error) => FileState::unknown(error.to_string()),
    }
}

/// Adds what a command changed since the snapshot before it; `None` if that cannot be found out.
fn changed(
    disk: &Disk,
    environment: &Environment,
    homes: &Homes,
    open: &OpenCall,
    line: &mut AfterLine,
) -> Option<()> {
    let surroundings = GitEnvironment {
        disk: disk.clone(),
        clock: environment.clock().ok()?,
        ids: environment.ids().ok()?,
        cancel: Cancel::new().ok()?,
        environment: environment
            .iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
    };
    let store = Store::find(surroundings, &open.tree, |tree| homes.snapshots_of(tree)).ok()?;
    let snapshot = match &open.snapshot {
        Some(id) => store.named(id).ok()?,
        None => store.before_call(&open.id).ok()??,
    };
    let differences = store.since(&snapshot, PATIENCE_WITH_SNAPSHOTS).ok()?;
    line.more = differences.len().saturating_sub(MOST_CHANGED);
    line.names = if snapshot.only.is_empty() {
        snapshot.also
    } else {
        snapshot.only
    };
    let mut room = MOST_READ;
    for difference in differences.into_iter().take(MOST_CHANGED) {
        let Some(path) = difference.path.to_str() else {
            line.more += 1;
            continue;
        };
        let at = open.tree.join(path);
        let len = disk.stat(&at).ok().flatten().map_or(0, |stat| stat.len);
        let after = if len > room {
            FileState::unknown("too many files in one call")
        } else {
            room -= len;
            left(disk, &at, MOST_READ)
        };
        let before = match difference.before {
            Some(held) => FileState::Object {
                blob: held.blob,
                mode: held.mode,
            },
            None => FileState::Absent,
        };
        line.files.push(FileLine {
            path: path.to_owned(),
            before: Some(before),
            after: Some(after),
        });
    }
    Some(())
}
