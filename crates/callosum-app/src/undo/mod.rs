//! Restores what an agent's last turn, or its last calls, changed.
//!
//! `callosum_client::undo` decides what becomes of each file; this gathers what it needs and writes.

pub mod diff;
pub mod output;
pub mod select;

pub use self::output::{UndoListOutput, UndoOutput};

use std::collections::BTreeMap;

use callosum_client::undo::{FileLine, FilePlan, FileState, Line, UndoLine, UndoLog, restore};
use callosum_snapshot::Store;

use crate::context::Context;
use crate::undo::select::{Selection, contents_of};
use crate::{CommandError, Exit};

/// Time to wait for another process that records something.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(5);

/// Largest file that is undone, in bytes.
pub const LARGEST: u64 = 64 * 1024 * 1024;

/// Restores the files, after a record of what they hold now. Returns its id, and why files were not restored.
pub fn write(
    context: &Context,
    (store, log): (&Store, &UndoLog),
    selection: &Selection,
    done: &[&FilePlan],
    read: &BTreeMap<String, Vec<u8>>,
) -> Result<(String, BTreeMap<String, String>), CommandError> {
    let mut blobs = BTreeMap::new();
    let mut files = Vec::new();
    for plan in done {
        if let (FileState::File { sum, .. }, Some(bytes)) = (&plan.now, read.get(&plan.path)) {
            blobs.insert(sum.clone(), bytes.clone());
        }
        files.push(FileLine {
            path: plan.path.clone(),
            before: Some(plan.now.clone()),
            after: Some(plan.before.clone()),
        });
    }
    let id = context.ids.uuid_v4();
    let calls = selection.calls.iter();
    let calls = calls.map(|at| &selection.history.calls[*at]);
    let line = Line::Undo(UndoLine {
        id: id.clone(),
        at: context.clock.now(),
        agent: selection.agent.clone(),
        session: selection.session.clone(),
        targets: calls.flat_map(|call| call.ids.iter().cloned()).collect(),
        label: format!("undo {}", short(&selection.id)),
        files,
    });
    log.append(context.clock.now(), &line, &blobs, PATIENCE)
        .map_err(|error| CommandError::from_error(Exit::Environment, &error))?;
    let mut failed = BTreeMap::new();
    for plan in done {
        let bytes = contents_of(log, selection, plan);
        let written = restore(
            &context.disk,
            store.tree(),
            &plan.path,
            &plan.before,
            bytes.as_deref(),
        );
        if let Err(error) = written {
            failed.insert(plan.path.clone(), error.to_string());
        }
    }
    Ok((id, failed))
}

/// The beginning of an id, which a person can type.
pub fn short(id: &str) -> String {
    id.chars().take(8).collect()
}
