//! Arguments and output of `callosum session check`.
//!
//! The use case is [`callosum_app::session::check`].

use callosum_app::session::check::{CheckpointOutput, shown};
use callosum_app::session::{explain, heal, session, tell_faults, tell_mended};
use callosum_app::{CommandError, Exit, disk_errors};
use callosum_session::grounding::Threshold;
use callosum_session::{Config, SessionError, ZoneError};
use clap::Args;

use super::WhoseArgs;
use crate::cli::context::Context;

/// Run the seven steps of the check before a context is cleared
///
/// Checks the claims of every agent since the last handoff, or of one agent with --agent. Exits with 0 if the context
/// may be cleared. Exits with 1 if decisions lack evidence, or if a feature was called missing without a search;
/// .loa.config.yaml can turn this into a warning. `callosum session handoff` writes the handoff.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum session check --agent reviewing-code
  $ callosum session check --agent reviewing-code --threshold 0.9")]
pub(crate) struct CheckArgs {
    /// Minimum share of grounded claims, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value = "0.95")]
    threshold: String,
    #[command(flatten)]
    whose: WhoseArgs,
}

pub(super) fn run(context: &Context, args: &CheckArgs) -> Result<(), CommandError> {
    let threshold = Threshold::parse(&args.threshold)
        .map_err(|error| CommandError::from_error(Exit::Usage, &error))?;
    let zones = context.zones();
    let (agent, whose) = args.whose.whose()?;
    let session = session(context, &zones, agent);
    let are_used = zones.are_used(&context.disk);
    let are_used = are_used.map_err(|error| disk_errors::disk_failed(&error))?;
    let are_lost = !are_used && context.commit_sessions();
    if are_lost {
        let held = session.hold().map_err(|error| explain(&error))?;
        heal::heal_all(context, &held)?;
    }
    let config = Config::load(&session).map_err(|error| explain(&error))?;
    tell_faults(context, &config);
    let renames = heal::renames(context);
    let checked = if are_used || are_lost {
        match session.hold() {
            Ok(mut held) => {
                tell_mended(context, &held);
                heal::heal_torn_notes(context, &held)?;
                heal::look_for_merges(context, &mut held)?;
                held.set_history(&renames);
                held.check(&config, &threshold, whose)
            }
            Err(error) => Err(error),
        }
    } else {
        session.looked(&config, &threshold, whose)
    };
    let checked = match checked {
        Err(error @ (SessionError::Unwritable(_) | SessionError::Zone(ZoneError::Disk(_)))) => {
            // Visible findings are still reported; that none can be recorded blocks anyway.
            if !context.ui.json
                && let Ok(seen) = session.looked(&config, &threshold, whose)
            {
                let output = CheckpointOutput::of(&seen, &threshold);
                context.ui.read_by_all(&shown(&output.steps))?;
            }
            return Err(explain(&error));
        }
        checked => checked.map_err(|error| explain(&error))?,
    };
    let output = CheckpointOutput::of(&checked, &threshold);
    if context.ui.json {
        context.ui.json_data(&output)?;
    } else {
        context.ui.read_by_all(&shown(&output.steps))?;
    }
    if output.permitted {
        Ok(())
    } else {
        Err(CommandError::told(Exit::No))
    }
}
