//! [`Selection`]: the calls that are to be undone, with the contents that their snapshots hold.

use std::{collections::BTreeMap, fmt::Write as _, path::Path};

use callosum_guard::snapshot::Store;
use callosum_host::OpenHow;
use callosum_ledger::Checksum;

use super::{UndoArgs, short};
use crate::{
    cli::{context::Context, snapshot},
    ui::{CommandError, Exit, shell_word},
};
use callosum_client::undo::{Call, FilePlan, FileState, History, Touch, UndoLog};

/// How long another process's snapshot is waited for.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(5);

/// The calls that are to be undone.
pub(super) struct Selection {
    pub(super) history: History,
    /// Their places in the history, the oldest first.
    pub(super) calls: Vec<usize>,
    /// The entry, or the first call.
    pub(super) id: String,
    /// In words.
    pub(super) what: String,
    pub(super) agent: String,
    pub(super) session: Option<String>,
    /// The words after `callosum undo` that select the same again.
    words: String,
    /// Contents of files, by their sums.
    contents: BTreeMap<String, Vec<u8>>,
}

impl Selection {
    /// How many files were changed and not recorded.
    pub(super) fn more(&self) -> usize {
        let calls = self.calls.iter().map(|at| &self.history.calls[*at]);
        calls.map(|call| call.more).sum()
    }

    pub(super) fn words(&self) -> &str {
        &self.words
    }
}

/// Selects the calls that the command line names: an entry, the last calls, or the last entry that was not undone.
pub(super) fn select(args: &UndoArgs, history: History) -> Result<Selection, CommandError> {
    let (agent, session) = (args.agent.as_deref(), args.session.as_deref());
    let entries = history.entries(agent, session);
    let nothing = || {
        let what = "nothing to undo";
        CommandError::new(Exit::No, what).hint("callosum undo --list")
    };
    let (calls, what, words) = if let Some(count) = args.limit {
        let last = history.calls.iter().rev().find(|call| {
            let own = call.session.as_deref().unwrap_or_default();
            call.targets.is_none()
                && !call.is_undone
                && agent.is_none_or(|agent| agent == call.agent)
                && session.is_none_or(|session| own.starts_with(session))
        });
        let agent = &last.ok_or_else(nothing)?.agent;
        let calls = history.last(agent, session, count.into());
        let mut words = format!("--agent {} --limit {count}", shell_word(agent));
        if let Some(session) = session {
            let _ = write!(words, " --session {}", shell_word(session));
        }
        let what = match calls.len() {
            1 => "the last call".to_owned(),
            count => format!("the last {count} calls"),
        };
        (calls, what, words)
    } else {
        let entry = if let Some(id) = &args.id {
            let mut fitting = entries
                .iter()
                .filter(|entry| !id.is_empty() && entry.id.starts_with(id.as_str()));
            let entry = fitting.next().ok_or_else(|| {
                let what = format!("no turn or undo `{id}` is recorded");
                CommandError::new(Exit::Usage, what).hint("callosum undo --list")
            })?;
            if fitting.next().is_some() {
                let what = format!("more than one turn or undo begins with `{id}`");
                return Err(CommandError::new(Exit::Usage, what).hint("callosum undo --list"));
            }
            entry
        } else {
            let mut last = entries.iter().rev().filter(|entry| !entry.is_undone);
            last.next().ok_or_else(nothing)?
        };
        let mut calls = entry.calls.clone();
        if !entry.is_undone {
            calls.retain(|at| !history.calls[*at].is_undone);
        }
        let kind = if entry.is_undo { "undo" } else { "turn" };
        let id = short(&entry.id);
        let what = match &args.id {
            Some(_) => format!("{kind} {id}"),
            None => format!("last {kind}"),
        };
        (calls, what, id)
    };
    let first: &Call = calls
        .first()
        .map(|at| &history.calls[*at])
        .ok_or_else(nothing)?;
    Ok(Selection {
        id: first.turn.as_deref().unwrap_or(first.id()).to_owned(),
        agent: first.agent.clone(),
        session: first.session.clone(),
        calls,
        what,
        words,
        history,
        contents: BTreeMap::new(),
    })
}

/// Reads what the snapshots of the selected commands hold, and what a command changed whose end was not seen.
pub(super) fn resolve(
    context: &Context,
    store: &Store,
    selection: &mut Selection,
) -> Result<(), CommandError> {
    for &at in &selection.calls {
        let call = &mut selection.history.calls[at];
        if call.is_command && call.ended.is_none() {
            add_unseen(store, call)?;
        }
    }
    let mut blobs: Vec<String> = Vec::new();
    for &at in &selection.calls {
        for touch in &selection.history.calls[at].touches {
            if let FileState::Object { blob, .. } = &touch.before {
                blobs.push(blob.clone());
            }
        }
    }
    blobs.sort();
    blobs.dedup();
    let contents = store.contents(&blobs);
    let contents = contents.map_err(|error| snapshot::explained(&error))?;
    for &at in &selection.calls {
        let call = &mut selection.history.calls[at];
        for touch in &mut call.touches {
            let FileState::Object { blob, mode } = &touch.before else {
                continue;
            };
            let Some(bytes) = contents.get(blob) else {
                touch.before = FileState::unknown("its snapshot is gone");
                continue;
            };
            touch.before = if mode == "120000" {
                match String::from_utf8(bytes.clone()) {
                    Ok(target) => FileState::Link { target },
                    Err(_) => FileState::unknown("a link whose target is not UTF-8"),
                }
            } else {
                let mode = match call.modes.get(&touch.path) {
                    Some(mode) => *mode,
                    None => mode_like(context, &store.tree().join(&touch.path), mode),
                };
                let sum = Checksum::of(bytes).to_string();
                selection.contents.insert(sum.clone(), bytes.clone());
                FileState::File { sum, mode }
            };
        }
    }
    Ok(())
}

/// Adds what differs from the snapshot before a command whose end no hook saw.
fn add_unseen(store: &Store, call: &mut Call) -> Result<(), CommandError> {
    for id in call.ids.clone() {
        let found = store.before_call(&id);
        let Some(snapshot) = found.map_err(|error| snapshot::explained(&error))? else {
            continue;
        };
        let differences = store.since(&snapshot, PATIENCE);
        for difference in differences.map_err(|error| snapshot::explained(&error))? {
            let Some(path) = difference.path.to_str() else {
                call.more += 1;
                continue;
            };
            call.touches.push(Touch {
                path: path.to_owned(),
                before: match difference.before {
                    Some(held) => FileState::Object {
                        blob: held.blob,
                        mode: held.mode,
                    },
                    None => FileState::Absent,
                },
                after: None,
            });
        }
        call.names = if snapshot.only.is_empty() {
            snapshot.also
        } else {
            snapshot.only
        };
        return Ok(());
    }
    Ok(())
}

/// The permission bits of a file of which a snapshot knows only whether it is executable: those that it has now, if they
/// agree.
fn mode_like(context: &Context, path: &Path, mode: &str) -> u32 {
    let usual = if mode == "100755" { 0o755 } else { 0o644 };
    let found = context.disk.open(path, OpenHow::READ);
    let found = found.and_then(|file| file.mode()).ok().flatten();
    let found = found.map(|found| found & 0o7777);
    found
        .filter(|found| (found & 0o100 != 0) == (usual & 0o100 != 0))
        .unwrap_or(usual)
}

/// Returns the bytes that a file is to have; `None` if it is to have none, or they are gone.
pub(super) fn contents_of(
    log: &UndoLog,
    selection: &Selection,
    plan: &FilePlan,
) -> Option<Vec<u8>> {
    let FileState::File { sum, .. } = &plan.before else {
        return None;
    };
    let known = selection.contents.get(sum).cloned();
    known.or_else(|| log.bytes(&selection.history.calls[plan.call].day, sum))
}
