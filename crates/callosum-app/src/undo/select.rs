//! [`Selection`]: the calls that are to be undone, with the contents that their snapshots hold.

use std::collections::BTreeMap;
use std::path::Path;

use callosum_client::undo::{Call, FilePlan, FileState, History, Touch, UndoLog};
use callosum_host::OpenHow;
use callosum_json::Checksum;
use callosum_snapshot::Store;

use crate::context::Context;
use crate::{CommandError, snapshot};

/// Time to wait for another process's snapshot.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(5);

/// The calls that are to be undone.
pub struct Selection {
    /// The recorded changes.
    pub history: History,
    /// Their places in the history, the oldest first.
    pub calls: Vec<usize>,
    /// The entry, or the first call.
    pub id: String,
    /// In words.
    pub what: String,
    /// The agent.
    pub agent: String,
    /// The session, if one was named.
    pub session: Option<String>,
    /// The words after `callosum undo` that select the same again.
    pub words: String,
    /// Contents of files, by their sums.
    pub contents: BTreeMap<String, Vec<u8>>,
}

impl Selection {
    /// Returns the number of files that were changed and not recorded.
    pub fn more(&self) -> usize {
        let calls = self.calls.iter().map(|at| &self.history.calls[*at]);
        calls.map(|call| call.more).sum()
    }

    /// Returns the selection in words.
    pub fn words(&self) -> &str {
        &self.words
    }
}

/// Reads what the snapshots of the selected commands hold, and what a command changed whose end was not seen.
pub fn resolve(
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

/// Returns the permission bits of a file. A snapshot only has whether it is executable: the current
/// bits are used if they agree with that.
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
pub fn contents_of(log: &UndoLog, selection: &Selection, plan: &FilePlan) -> Option<Vec<u8>> {
    let FileState::File { sum, .. } = &plan.before else {
        return None;
    };
    let known = selection.contents.get(sum).cloned();
    known.or_else(|| log.bytes(&selection.history.calls[plan.call].day, sum))
}
