//! Arguments and output of `callosum session heal`.
//!
//! The use case is [`callosum_app::session::heal`].

use callosum_app::session::heal::{HealOutput, HealedOutput, committed, tell_pruned};
use callosum_app::session::{explain, session, tell_faults, tell_mended};
use callosum_app::{CommandError, Exit};
use callosum_redact::terminal_escape::harmless;
use callosum_session::heal::{Healed, RepairSource};
use callosum_session::trajectory::{Agent, Pruned};
use callosum_session::{Config, SessionError, ZoneError};
use clap::Args;

use crate::cli::context::Context;

/// Repair missing, empty or corrupt NOTES.md and bead files
///
/// For an unfinished merge, takes both sides. Otherwise takes the last committed version, or the template. Decisions
/// that NOTES.md lost come back from trajectories and beads, committed or not. Each broken file is moved aside, next to
/// the original. Content that cannot be determined stays as it is.
///
/// Compresses trajectories that are older than the limit in .loa.config.yaml, and removes them after a year. Exits with
/// 0, even without git. Exits with 1 if a file could not be written: that is reported, and everything else is repaired.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum session heal
  $ callosum session heal --check-only
  $ callosum session heal --json")]
pub(crate) struct HealArgs {
    /// List what would be repaired, write nothing, and exit with 1 if there is anything
    #[arg(long)]
    check_only: bool,
}

pub(super) fn run(context: &Context, args: &HealArgs) -> Result<(), CommandError> {
    let zones = context.zones();
    let session = session(context, &zones, Agent::default());
    if args.check_only {
        let ailing = session.ailing(&committed(context));
        return list_damage(context, ailing.map_err(|error| explain(&error))?);
    }
    let held = match session.hold() {
        Ok(held) => held,
        Err(error @ (SessionError::Zone(_) | SessionError::Unwritable(_))) => {
            let what = format!(
                "cannot repair anything here: {}",
                explain(&error).one_line()
            );
            context.report.warn(&what, None);
            let ailing = match session.ailing(&committed(context)) {
                // Already reported.
                Err(SessionError::Zone(ZoneError::Outside { .. })) => Vec::new(),
                ailing => ailing.map_err(|error| explain(&error))?,
            };
            return tell(context, ailing, Pruned::default());
        }
        Err(error) => return Err(explain(&error)),
    };
    tell_mended(context, &held);
    let mut healed = held
        .finish_merges(&committed(context))
        .map_err(|error| explain(&error))?;
    let others = held.heal(&committed(context));
    healed.extend(others.map_err(|error| explain(&error))?);
    let config = Config::load(&session).map_err(|error| explain(&error))?;
    tell_faults(context, &config);
    let kept = held
        .note_healed(&healed)
        .and_then(|()| held.prune(&config.retention));
    let pruned = match kept {
        Err(SessionError::Zone(error @ ZoneError::Outside { .. })) => {
            context.report.warn(&harmless(&error.to_string()), None);
            Pruned::default()
        }
        // Repairs that succeeded are still reported.
        Err(error)
            if error.is_denied() || healed.iter().any(|one| one.from == RepairSource::Denied) =>
        {
            let what = explain(&error).one_line();
            context.report.warn(
                &format!("the repair is not recorded in a trajectory: {what}"),
                None,
            );
            Pruned::default()
        }
        kept => kept.map_err(|error| explain(&error))?,
    };
    tell(context, healed, pruned)
}

/// Lists what a repair would do, and fails if that is anything.
fn list_damage(context: &Context, damaged: Vec<Healed>) -> Result<(), CommandError> {
    let output = HealOutput {
        healed: damaged.into_iter().map(HealedOutput::of).collect(),
        archived: Vec::new(),
        removed: Vec::new(),
    };
    if context.ui.json {
        context.ui.json_data(&output)?;
    } else {
        let lines = output.healed.iter();
        let lines: Vec<String> = lines
            .map(|one| format!("{}: {}\n", one.file, one.was))
            .collect();
        context.ui.read_by_all(&lines.concat())?;
    }
    let what = match output.healed.len() {
        0 => return Ok(()),
        1 => "1 file needs repair".to_owned(),
        many => format!("{many} files need repair"),
    };
    Err(CommandError::new(Exit::No, what).hint("callosum session heal"))
}

fn tell(context: &Context, healed: Vec<Healed>, pruned: Pruned) -> Result<(), CommandError> {
    tell_pruned(context, &pruned);
    let denied = healed.iter().filter(|one| one.from == RepairSource::Denied);
    let denied = denied.count();
    let output = HealOutput {
        healed: healed.into_iter().map(HealedOutput::of).collect(),
        archived: pruned.archived,
        removed: pruned.removed,
    };
    if context.ui.json {
        context.ui.json_data(&output)?;
    } else {
        let lines: Vec<String> = output.healed.iter().map(HealedOutput::line).collect();
        context.ui.read_by_all(&lines.concat())?;
    }
    if denied == 0 {
        return Ok(());
    }
    let what = format!(
        "files not repaired, because they cannot be written: {denied} of {}",
        output.healed.len()
    );
    Err(CommandError::new(Exit::No, what))
}
