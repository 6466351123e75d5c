//! Arguments and output of `callosum self`.
//!
//! The use case is [`callosum_app::self_check`].

use callosum_app::{CommandError, Exit, self_check};
use clap::Subcommand;

use super::context::Context;
use super::doctor;
use super::local_time::LocalTime;

/// Check the installation of Callosum itself
#[derive(Debug, Subcommand)]
pub(crate) enum SelfCommand {
    /// Verify this installation: files, PATH, hooks and daemon
    ///
    /// Compares the installed files with the checksums of the release. Looks for other copies on PATH, and for hooks and a
    /// daemon that use another copy or version. Changes nothing. Exits with 1 if a check fails. Warnings do not change the
    /// exit code.
    #[command(after_long_help = "\
Examples:
  $ callosum self check
  $ callosum self check --json")]
    Check,
}

pub(super) fn run(context: &Context, command: &SelfCommand) -> Result<(), CommandError> {
    let SelfCommand::Check = command;
    let output = self_check::check(context)?;
    if context.ui.json {
        context.ui.json_data(&output)?;
    } else {
        let times = LocalTime::find(context);
        context
            .ui
            .data(&doctor::all_checks(&output.checks, &times))?;
    }
    if output.healthy {
        Ok(())
    } else {
        Err(CommandError::told(Exit::No))
    }
}
