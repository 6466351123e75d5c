//! `callosum mesh bridge`: the file that everybody may edit, brought in line.

use std::time::Duration;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use callosum_evidence::terminal::on_one_line;
use callosum_mesh::bridge::{Bridge, Synced};

use super::open;
use crate::{
    cli::context::Context,
    ui::{CommandError, Exit},
};

/// Nobody has written for so long: they are done.
const QUIET: Duration = Duration::from_millis(500);

/// Somebody who never stops is not waited for any longer.
const MOST: Duration = Duration::from_secs(5);

/// Sync the bridge file and print its path
///
/// Applies edits of the bridge file to the mesh, and reports edits that could not be applied. Every other mesh
/// command does so too. If a program is writing the file, this command waits until it has been quiet for half a
/// second, but at most five seconds. Exits with 1 if something could not be applied.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum mesh bridge
  $ callosum mesh bridge --json")]
pub(crate) struct BridgeArgs {}

/// `callosum mesh bridge --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct BridgeOutput {
    /// The file.
    pub(crate) path: String,
    /// The folder for additions that nobody can overwrite.
    pub(crate) drop_ins: String,
    /// How many edits were taken over.
    pub(crate) edits: usize,
    /// What was not.
    pub(crate) conflicts: Vec<ConflictOutput>,
    /// Files that were no JSON.
    pub(crate) rejected: Vec<RejectedOutput>,
    /// What stands in the folder for additions and is never taken over.
    pub(crate) ignored: Vec<LeftAloneOutput>,
}

/// Something that was not taken over.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct ConflictOutput {
    /// Who wrote it.
    pub(crate) by: String,
    /// The list, and the item's id or place.
    pub(crate) item: String,
    /// Why.
    pub(crate) reason: String,
    /// The file that keeps what was written; null where something was taken out.
    pub(crate) backup_path: Option<String>,
}

/// A file that was no JSON.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct RejectedOutput {
    /// The file.
    pub(crate) path: String,
    /// Where its bytes are kept.
    pub(crate) backup_path: String,
    /// What is wrong, with line and column.
    pub(crate) reason: String,
}

/// Something that is never taken over.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct LeftAloneOutput {
    /// Where it is.
    pub(crate) path: String,
    /// Why.
    pub(crate) reason: String,
}

pub(super) fn run(context: &Context, _: &BridgeArgs) -> Result<(), CommandError> {
    let mut mesh = open::mesh_anyway(context)?;
    let bridge = Bridge::of(&context.disk, &mesh);
    // What somebody wrote waits for who does what to be known.
    let synced = if open::is_known_who_does_what(context) {
        bridge.sync_until_quiet(&mut mesh, QUIET, MOST)
    } else {
        Ok(Synced::default())
    };
    let synced = synced.map_err(|error| open::explain(&error))?;
    open::tell(context, &bridge, &synced);
    let conflicts = synced.conflicts.iter().map(|conflict| ConflictOutput {
        by: conflict.by.to_string(),
        item: conflict.item.clone(),
        reason: conflict.reason.clone(),
        backup_path: conflict
            .kept
            .as_ref()
            .map(|kept| kept.to_string_lossy().into_owned()),
    });
    let rejected = synced.rejected.iter().map(|rejected| RejectedOutput {
        path: rejected.path.to_string_lossy().into_owned(),
        backup_path: rejected.kept.to_string_lossy().into_owned(),
        reason: rejected.error.to_string(),
    });
    let (_, strays) = bridge
        .waiting()
        .map_err(|error| open::explain(&error.into()))?;
    for stray in &strays {
        let path = on_one_line(&stray.path.display().to_string());
        let what = format!("{path} {} and is never applied", stray.why);
        context.report.warn(&what, Some("callosum doctor"));
    }
    let left_alone = strays.iter().map(|stray| LeftAloneOutput {
        path: stray.path.to_string_lossy().into_owned(),
        reason: stray.why.to_owned(),
    });
    let output = BridgeOutput {
        path: bridge.path().to_string_lossy().into_owned(),
        drop_ins: bridge.drop_ins().to_string_lossy().into_owned(),
        edits: synced.edits,
        conflicts: conflicts.collect(),
        rejected: rejected.collect(),
        ignored: left_alone.collect(),
    };
    let is_clean = output.conflicts.is_empty() && output.rejected.is_empty();
    if context.ui.json {
        context.ui.json_data(&output)?;
    } else {
        context.ui.foreign(&format!("{}\n", output.path))?;
    }
    if is_clean {
        Ok(())
    } else {
        Err(CommandError::told(Exit::No))
    }
}
