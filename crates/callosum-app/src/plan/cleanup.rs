//! [`sweep`]: removes the remains of processes that were killed while they began a run, or while they removed one that was over.
//!
//! Locks tell that no process is alive: a process that begins a run takes its lock before it writes
//! anything else.

use std::collections::BTreeMap;
use std::path::Path;

use callosum_host::DiskError;
use callosum_host::disk::EntryKind;
use callosum_plan_run::run::{RunId, Runs};

use crate::context::Context;
use crate::plan::history;
use crate::plan::local_run::LocalRun;
use crate::plan::lock::RunLock;

/// Removes this machine's files of runs of this project that have no record, or are over, and
/// unfinished files of any run.
///
/// Files of runs with records from elsewhere stay. Costs a listing of the folder, and a pass over
/// the journal if there is a run without a record that is known to be on disk.
pub fn sweep(context: &Context, folder: &Path) -> Result<(), DiskError> {
    context.disk.sweep_new_files(folder, |_| true)?;
    let mut unrecorded = Vec::new();
    for entry in context.disk.list_dir(folder)? {
        let name = entry.name.to_str();
        let run = name.and_then(|name| name.strip_suffix(".json")?.parse::<RunId>().ok());
        let Some(run) = run.filter(|_| entry.kind == EntryKind::File) else {
            continue;
        };
        let own = LocalRun::of(context, &run);
        if !own.is_of_here() || own.tally().read() > 0 {
            continue;
        }
        // Held while it goes.
        if let Ok(Some(lock)) = RunLock::take(context, &run) {
            unrecorded.push((run, own, lock));
        }
    }
    if unrecorded.is_empty() {
        return Ok(());
    }
    // Without the journal it is unknown whether a run has a record.
    let Ok(Runs { runs, passed_over }) = history::read_all(context) else {
        return Ok(());
    };
    let runs: BTreeMap<_, _> = runs.iter().map(|run| (run.state.run(), run)).collect();
    for (run, own, lock) in unrecorded {
        let is_passed_over = passed_over.iter().any(|one| one.run.as_ref() == Some(&run));
        let is_dead = match runs.get(&run) {
            Some(read) => read.state.ended().is_some() && read.foreign.is_none(),
            None => !is_passed_over,
        };
        if is_dead {
            own.end();
            lock.end();
        }
    }
    Ok(())
}
