//! Arguments and output of `callosum mesh bridge`.
//!
//! The use case is [`callosum_app::mesh::bridge`].

use callosum_app::mesh::bridge::{
    BridgeOutput, ConflictOutput, LeftAloneOutput, MOST, QUIET, RejectedOutput,
};
use callosum_app::mesh::open;
use callosum_app::{CommandError, Exit};
use callosum_mesh::bridge::{Bridge, Synced};
use callosum_redact::terminal_escape::on_one_line;
use clap::Args;

use crate::cli::context::Context;

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

pub(super) fn run(context: &Context, _: &BridgeArgs) -> Result<(), CommandError> {
    let mut mesh = open::mesh_anyway(context)?;
    let bridge = Bridge::of(&context.disk, &mesh);
    // Edits of the file wait until the routing configuration can be read.
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
