//! `callosum mesh conflicts`: files that two agents edit at the same time (Seed CALC §12, phase 2).
//!
//! [`listed`] and [`shown`] read, [`resolve`] writes the file and closes the conflict. Hooks open conflicts
//! (`callosum_client::conflict`).

use std::path::{Path, PathBuf};
use std::time::Duration;

use callosum_client::conflict::{Choice, Known, Outcome, is_lost, resolve as decide, unified};
use callosum_host::OpenHow;
use callosum_host::disk::EntryKind;
use callosum_mesh::Author;
use callosum_mesh::addressee::Addressee;
use callosum_mesh::board::{Command, Status};
use callosum_mesh::conflict::{
    Conflict, ConflictSide, ConflictStore, Resolution, Side, StoreError,
};
use callosum_redact::terminal_escape::on_one_line;
use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;
use crate::mesh::open;
use crate::{CommandError, Exit, disk_errors};

/// Longest wait for another process that changes conflicts.
const PATIENCE: Duration = Duration::from_secs(5);

/// Most lines of a change that are printed.
const MOST_LINES: usize = 2_000;

/// Lifetime of a message about a resolution, in seconds.
const MESSAGE_TTL: u64 = 24 * 60 * 60;

/// `callosum mesh conflicts list --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ConflictsOutput {
    /// The conflicts, the oldest first.
    pub conflicts: Vec<ConflictOutput>,
}

/// A file that two agents edit at the same time.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ConflictOutput {
    /// Its id.
    pub id: String,
    /// Absolute path of the file.
    pub path: String,
    /// Path of the first agent's file, if that is the same file in another work tree.
    pub first_path: Option<String>,
    /// Time at which it was noticed.
    pub opened_at: String,
    /// The agent that edited the file first.
    pub first: SideOutput,
    /// The agent that edited it while the first held the lease.
    pub second: SideOutput,
    /// The proposed owner, `first` or `second`.
    pub owner: String,
    /// Reason for the proposal.
    pub owner_reason: String,
    /// Whether a change of one agent is missing from the file; absent if that is not known.
    pub is_change_missing: Option<bool>,
    /// The task of the other agent.
    pub task: Option<String>,
    /// The resolution, if there is one.
    pub resolution: Option<ResolutionOutput>,
}

/// One of the two agents.
#[derive(Debug, JsonSchema, Serialize)]
pub struct SideOutput {
    /// Name of the agent.
    pub agent: String,
    /// Its session.
    pub session_id: Option<String>,
    /// Number of edits that hooks reported.
    pub edits: u32,
    /// Time of the last edit.
    pub edited_at: String,
    /// Number of lines of the file that it added or changed.
    pub lines_written: u64,
    /// Number of its decisions that cite the file.
    pub decisions: u64,
    /// Whether a task that it has claimed names the file.
    pub has_task: bool,
    /// Path of its version of the file, if it is kept.
    pub version: Option<String>,
}

/// The way in which a conflict was resolved.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ResolutionOutput {
    /// Time.
    pub at: String,
    /// Name of the agent or person.
    pub by: String,
    /// `kept`, `merged` or `taken`.
    pub how: String,
    /// The agent whose version was taken.
    pub from: Option<String>,
    /// Reason, if one was given.
    pub reason: Option<String>,
    /// Path of the file as it was before, if it was written over.
    pub replaced: Option<String>,
}

/// `callosum mesh conflicts show --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ShownConflictOutput {
    /// The conflict.
    pub conflict: ConflictOutput,
    /// Path of the version before both edits, if it is kept.
    pub base: Option<String>,
    /// Change of the first agent against that version, as a unified diff; absent if it is not recorded.
    pub first_change: Option<String>,
    /// Change of the second agent against the version that it started from; absent if it is not recorded.
    pub second_change: Option<String>,
}

/// Lists the open conflicts, with `all` also those resolved in the last seven days.
///
/// # Errors
/// If the store cannot be read.
pub fn listed(context: &Context, all: bool) -> Result<ConflictsOutput, CommandError> {
    let store = store_of(context);
    let mut found = store
        .open()
        .map_err(|error| disk_errors::disk_failed(&error))?;
    if all {
        let resolved = store.resolved();
        found.extend(resolved.map_err(|error| disk_errors::disk_failed(&error))?);
        found.sort_by_key(|conflict| conflict.opened_at);
    }
    let conflicts = found.iter().map(|conflict| {
        let versions = Versions::read(context, &store, conflict)?;
        Ok(output(&store, conflict, &versions))
    });
    Ok(ConflictsOutput {
        conflicts: conflicts.collect::<Result<_, CommandError>>()?,
    })
}

/// Shows one conflict with the changes of both agents.
///
/// # Errors
/// If no conflict, or more than one, has an id that begins so.
pub fn shown(context: &Context, id: &str) -> Result<ShownConflictOutput, CommandError> {
    let store = store_of(context);
    let conflict = named(&store, id, true)?;
    let versions = Versions::read(context, &store, &conflict)?;
    let (base, first) = (versions.base.as_deref(), versions.first.as_deref());
    let second = versions.second.as_deref();
    // An edit that dropped the other's change started from the version before both.
    let before_second = if conflict.dropped.is_some() || conflict.first_path.is_some() {
        base
    } else {
        first
    };
    let folder = store.folder_of(&conflict);
    Ok(ShownConflictOutput {
        base: conflict.has_base.then(|| text_of(&folder.join("base"))),
        first_change: change(base, first),
        second_change: change(before_second, second),
        conflict: output(&store, &conflict, &versions),
    })
}

/// Returns one side's version of the file, or with no side the one before both edits.
///
/// # Errors
/// If it is not kept.
pub fn version(context: &Context, id: &str, side: Option<&str>) -> Result<Vec<u8>, CommandError> {
    let store = store_of(context);
    let conflict = named(&store, id, true)?;
    let versions = Versions::read(context, &store, &conflict)?;
    let found = match side {
        None => versions.base,
        Some(side) => match place_of(&conflict, side)? {
            ConflictSide::First => versions.first,
            ConflictSide::Second => versions.second,
        },
    };
    found.ok_or_else(|| CommandError::new(Exit::No, "that version of the file was not recorded"))
}

/// Content that a person or agent wants in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Want {
    /// Both changes.
    Merge,
    /// Its present content.
    Keep,
    /// The version of this agent, or of `first` or `second`.
    Take(String),
}

/// Resolves a conflict: writes the file if it has to change, closes the conflict, completes its
/// task and sends both agents a message.
///
/// The file is replaced in one step, and its old bytes stay with the conflict for seven days.
///
/// # Errors
/// If there is no such conflict, the choice cannot be made, or the file changes during the call.
/// Nothing is written then.
pub fn resolve(
    context: &Context,
    voice: &Author,
    id: &str,
    want: &Want,
    reason: Option<&str>,
) -> Result<ConflictOutput, CommandError> {
    let store = store_of(context);
    let _lock = store.lock(PATIENCE).map_err(|error| failed(&error))?;
    let mut conflict = named(&store, id, false)?;
    let choice = match want {
        Want::Merge => Choice::Merge,
        Want::Keep => Choice::Keep,
        Want::Take(side) => Choice::Take(place_of(&conflict, side)?),
    };
    let versions = Versions::read(context, &store, &conflict)?;
    let outcome = decide(choice, &versions.known(&conflict)).map_err(|refusal| {
        let hint = format!("callosum mesh conflicts show {}", conflict.id);
        CommandError::from_error(Exit::No, &refusal).hint(hint)
    })?;
    let (how, bytes) = match &outcome {
        Outcome::Kept => ("kept", None),
        Outcome::Merged(bytes) => ("merged", Some(bytes)),
        Outcome::Taken(bytes) => ("taken", Some(bytes)),
    };
    let mut has_replaced = false;
    if let Some(bytes) = bytes {
        if let Some(disk) = &versions.disk {
            let kept = store.keep_replaced(&conflict, disk);
            kept.map_err(|error| disk_errors::disk_failed(&error))?;
            has_replaced = true;
        }
        write(context, &conflict, versions.disk.as_deref(), bytes)?;
    }
    let from = match choice {
        Choice::Take(place) if how == "taken" => Some(conflict.name(place)),
        _ => None,
    };
    let mut resolved = conflict.clone();
    resolved.resolution = Some(Resolution {
        at: context.clock.now(),
        by: voice.agent.clone(),
        how: how.to_owned(),
        from,
        reason: reason.map(|reason| callosum_redact::secrets::mask(reason).text),
        has_replaced,
    });
    for place in ConflictSide::BOTH {
        resolved.side_mut(place).notice = None;
    }
    let done = store.resolve(&resolved);
    done.map_err(|error| disk_errors::disk_failed(&error))?;
    conflict = resolved;
    report(context, voice, &conflict)?;
    let versions = Versions::read(context, &store, &conflict)?;
    Ok(output(&store, &conflict, &versions))
}

/// Completes the conflict's task, and sends its agents a message. A task or agent that is gone is no error.
fn report(context: &Context, voice: &Author, conflict: &Conflict) -> Result<(), CommandError> {
    let mut mesh = open::synced_anyway(context)?;
    let how = conflict
        .resolution
        .as_ref()
        .map_or("", |resolution| resolution.how.as_str());
    let (id, path) = (&conflict.id, &conflict.path);
    if let Some(task) = &conflict.task {
        let board = mesh.board().map_err(|error| open::explain(&error))?;
        let is_open = board.task(task).is_some_and(|task| !task.status.is_over());
        let is_cancelled = board
            .task(task)
            .is_some_and(|task| task.status == Status::Cancelled);
        if is_open && !is_cancelled {
            let order = Command::Complete {
                task: task.clone(),
                result: Some(format!("resolved conflict {id}: {how}")),
                anyway: true,
                token: None,
            };
            open::given_to(context, &mut mesh, order, voice)?;
        }
    }
    for place in ConflictSide::BOTH {
        let side = conflict.side(place);
        if side.is(&voice.agent, voice.session_id.as_deref()) {
            continue;
        }
        let order = Command::Send {
            id: format!("resolved-{id}-{}", place.as_str()),
            to: Addressee {
                agent: side.agent.clone(),
                session: side.session_id.clone(),
            },
            content: format!("Conflict {id} on {path} is resolved: {how}"),
            reply_to: None,
            ttl_seconds: Some(MESSAGE_TTL),
        };
        // Its session may have ended.
        if let Err(error) = open::given_to(context, &mut mesh, order, voice) {
            context.report.detail(&error.one_line());
        }
    }
    Ok(())
}

/// Writes the file, if it is still what the decision was made on.
fn write(
    context: &Context,
    conflict: &Conflict,
    expected: Option<&[u8]>,
    bytes: &[u8],
) -> Result<(), CommandError> {
    let disk = &context.disk;
    let path = Path::new(&conflict.path);
    let failed = |error| disk_errors::disk_failed(&error);
    let found = disk.stat(path).map_err(failed)?;
    if found.is_some_and(|found| found.kind != EntryKind::File) {
        let what = format!("{} is not a regular file", on_one_line(&conflict.path));
        return Err(CommandError::new(Exit::No, what));
    }
    let now = disk.read_if_there(path).map_err(failed)?;
    if now.as_deref() != expected {
        let what = format!("{} was just changed", on_one_line(&conflict.path));
        let hint = format!("callosum mesh conflicts resolve {}", conflict.id);
        return Err(CommandError::new(Exit::No, what).hint(hint));
    }
    let mode = match now {
        Some(_) => {
            let file = disk.open(path, OpenHow::READ).map_err(failed)?;
            file.mode().map_err(failed)?.unwrap_or(0o644) & 0o7777
        }
        None => 0o644,
    };
    disk.replace(path, bytes, mode).map_err(failed)
}

/// The versions of a contested file.
struct Versions {
    base: Option<Vec<u8>>,
    first: Option<Vec<u8>>,
    second: Option<Vec<u8>>,
    disk: Option<Vec<u8>>,
}

impl Versions {
    fn read(
        context: &Context,
        store: &ConflictStore,
        conflict: &Conflict,
    ) -> Result<Self, CommandError> {
        let failed = |error| disk_errors::disk_failed(&error);
        let path = Path::new(&conflict.path);
        let is_file = context.disk.stat(path).map_err(failed)?;
        let is_file = is_file.is_some_and(|found| found.kind == EntryKind::File);
        let disk = if is_file {
            context.disk.read_if_there(path).map_err(failed)?
        } else {
            None
        };
        Ok(Self {
            base: store.base(conflict).map_err(failed)?,
            first: store
                .version(conflict, ConflictSide::First)
                .map_err(failed)?,
            second: store
                .version(conflict, ConflictSide::Second)
                .map_err(failed)?,
            disk,
        })
    }

    fn known(&self, conflict: &Conflict) -> Known<'_> {
        Known {
            base: self.base.as_deref(),
            first: self.first.as_deref(),
            second: self.second.as_deref(),
            dropped: conflict.dropped,
            disk: self.disk.as_deref(),
        }
    }
}

fn store_of(context: &Context) -> ConflictStore {
    ConflictStore::new(&context.disk, &context.project.homes.conflicts())
}

fn failed(error: &StoreError) -> CommandError {
    CommandError::because(Exit::Environment, "cannot change conflicts", error)
}

/// The one conflict whose id begins so. Resolved ones count if `is_any`.
fn named(store: &ConflictStore, id: &str, is_any: bool) -> Result<Conflict, CommandError> {
    let mut found = store
        .open()
        .map_err(|error| disk_errors::disk_failed(&error))?;
    let resolved = store
        .resolved()
        .map_err(|error| disk_errors::disk_failed(&error))?;
    let matches = |conflict: &Conflict| !id.is_empty() && conflict.id.starts_with(id);
    if !is_any && let Some(conflict) = resolved.iter().find(|conflict| conflict.id == id) {
        let what = format!("conflict {} is resolved already", conflict.id);
        return Err(CommandError::new(Exit::No, what)
            .hint(format!("callosum mesh conflicts show {}", conflict.id)));
    }
    if is_any {
        found.extend(resolved);
    }
    found.retain(matches);
    if found.len() > 1 {
        let ids: Vec<&str> = found.iter().map(|conflict| conflict.id.as_str()).collect();
        let what = format!(
            "`{}` means several conflicts: {}",
            on_one_line(id),
            ids.join(", ")
        );
        return Err(CommandError::new(Exit::Usage, what).hint("callosum mesh conflicts list"));
    }
    found.pop().ok_or_else(|| {
        let what = format!("no open conflict `{}`", on_one_line(id));
        CommandError::new(Exit::No, what).hint("callosum mesh conflicts list --all")
    })
}

/// The side that a word means: `first`, `second`, an agent, or an agent with its session.
fn place_of(conflict: &Conflict, word: &str) -> Result<ConflictSide, CommandError> {
    let means = |place: &ConflictSide| {
        let side = conflict.side(*place);
        word == place.as_str()
            || word == conflict.name(*place)
            || side.agent != conflict.side(place.other()).agent
                && word.parse().is_ok_and(|agent| side.agent == agent)
    };
    ConflictSide::BOTH.into_iter().find(means).ok_or_else(|| {
        let what = format!(
            "`{}` has no part in conflict {}: allowed are {}, {}, first and second",
            on_one_line(word),
            conflict.id,
            conflict.name(ConflictSide::First),
            conflict.name(ConflictSide::Second)
        );
        CommandError::new(Exit::Usage, what)
    })
}

fn change(before: Option<&[u8]>, after: Option<&[u8]>) -> Option<String> {
    let before = std::str::from_utf8(before?).ok()?;
    let after = std::str::from_utf8(after?).ok()?;
    Some(unified(before, after, MOST_LINES))
}

fn text_of(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn output(store: &ConflictStore, conflict: &Conflict, versions: &Versions) -> ConflictOutput {
    let folder = store.folder_of(conflict);
    let version = |place: ConflictSide| -> Option<PathBuf> {
        let has_version = conflict.side(place).has_version;
        has_version.then(|| folder.join(place.as_str()))
    };
    let side = |place: ConflictSide| {
        let side: &Side = conflict.side(place);
        SideOutput {
            agent: side.agent.to_string(),
            session_id: side.session_id.clone(),
            edits: side.edits,
            edited_at: side.edited_at.to_string(),
            lines_written: side.context.lines_written,
            decisions: side.context.decisions,
            has_task: side.context.has_task,
            version: version(place).as_deref().map(text_of),
        }
    };
    let resolution = conflict.resolution.as_ref();
    ConflictOutput {
        id: conflict.id.clone(),
        path: conflict.path.clone(),
        first_path: conflict.first_path.clone(),
        opened_at: conflict.opened_at.to_string(),
        first: side(ConflictSide::First),
        second: side(ConflictSide::Second),
        owner: conflict.proposal.owner.as_str().to_owned(),
        owner_reason: conflict.proposal.reason.clone(),
        is_change_missing: match resolution {
            Some(_) => None,
            None => is_lost(&versions.known(conflict)),
        },
        task: conflict.task.clone(),
        resolution: resolution.map(|resolution| ResolutionOutput {
            at: resolution.at.to_string(),
            by: resolution.by.to_string(),
            how: resolution.how.clone(),
            from: resolution.from.clone(),
            reason: resolution.reason.clone(),
            replaced: resolution
                .has_replaced
                .then(|| text_of(&folder.join("replaced"))),
        }),
    }
}
