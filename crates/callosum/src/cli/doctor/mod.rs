//! Arguments and output of `callosum doctor`.
//!
//! The use case is [`callosum_app::doctor`].

mod command_files;
mod heartbeat;
mod instructions;
mod login_shell;
mod text;

pub(super) use self::text::all as all_checks;

use callosum_app::doctor::{Checks, DoctorOutput, check_configuration};
use callosum_app::{CommandError, Exit, mesh_health};
use clap::Args;

use super::context::Context;
use super::local_time::LocalTime;
use super::{guard_hooks, mcp_registration, session_hooks, zone_report};

/// Check the setup and print each problem with the command that fixes it
///
/// Prints at most eight lines: the worst problems first, then a verdict. -v prints every check.
/// Changes nothing: it removes the probe file that it writes. Exits with 1 if a check fails.
/// Warnings do not change the exit code.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum doctor
  $ callosum doctor -v
  $ callosum doctor --json")]
pub(crate) struct DoctorArgs {}

pub(super) fn run(context: &Context, _args: &DoctorArgs) -> Result<(), CommandError> {
    let progress = context.report.progress("checking");
    let times = LocalTime::find(context);
    let mut checks = Checks::default();
    callosum_app::doctor::machine::check_root(context, &mut checks);
    callosum_app::doctor::machine::check_homes(context, &mut checks);
    check_configuration(context, &mut checks);
    callosum_app::doctor::ownership::check(context, &mut checks);
    callosum_app::doctor::ledger::check(context, &mut checks);
    callosum_app::doctor::executors::check(context, &mut checks);
    callosum_app::doctor::executors::check_confinement(context, &mut checks);
    login_shell::check(context, &mut checks);
    guard_hooks::check(context, &mut checks);
    heartbeat::check(context, &mut checks);
    heartbeat::check_tokens(context, &times, &mut checks);
    command_files::check(context, &mut checks);
    mcp_registration::check(context, &mut checks);
    session_hooks::check(context, &mut checks);
    zone_report::check(context, &mut checks);
    instructions::check(context, &mut checks);
    mesh_health::check(context, &mut checks);
    callosum_app::doctor::search::check(context, &mut checks);
    callosum_app::doctor::machine::check_needs(&mut checks);
    drop(progress);
    let output = DoctorOutput {
        healthy: checks.lines.iter().all(|check| check.outcome != "failed"),
        checks: checks.lines,
    };
    if context.ui.json {
        context.ui.json_data(&output)?;
    } else if context.ui.verbose {
        context.ui.data(&text::all(&output.checks, &times))?;
    } else {
        context
            .ui
            .data(&text::summary(&output.checks, &checks.set_up, &times))?;
    }
    if output.healthy {
        Ok(())
    } else {
        Err(CommandError::told(Exit::No))
    }
}
