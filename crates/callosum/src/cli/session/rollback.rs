//! Arguments and output of `callosum session rollback`.
//!
//! The use case is [`callosum_app::session::rollback`].

use std::io::{self, BufRead as _, IsTerminal as _};

use callosum_app::session::heal::committed;
use callosum_app::session::rollback::{RollbackOutput, not_rolled_back};
use callosum_app::session::{explain, session, tell_mended};
use callosum_app::time_arg::TimeArg;
use callosum_app::{CommandError, Exit};
use callosum_session::LockedSession;
use callosum_session::rollback::RollbackPlan;
use clap::Args;

use super::AgentArgs;
use crate::cli::context::Context;

/// Bring back NOTES.md, beads and trajectories as they were at a time
///
/// Shows what changes, and asks before anything does. The state of the time comes from the versions that Callosum keeps
/// before each change, else from git; trajectories lose their later records. Nothing is lost: --undo brings back what a
/// rollback replaced, and keeps what was written since. Code is not touched.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum session rollback 2h
  $ callosum session rollback 2026-01-02T03:04:05Z --yes
  $ callosum session rollback --undo --yes
  $ callosum session rollback 30m --json")]
pub(crate) struct RollbackArgs {
    /// Time: a date (its end), a time (UTC) or an age (30m, 2h, 7d, 2w)
    #[arg(value_name = "TIME", value_parser = TimeArg::read, required_unless_present = "undo")]
    time: Option<TimeArg>,
    /// Undo the last rollback
    #[arg(long, conflicts_with = "time")]
    undo: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    #[command(flatten)]
    agent: AgentArgs,
}

pub(super) fn run(context: &Context, args: &RollbackArgs) -> Result<(), CommandError> {
    let zones = context.zones();
    let session = session(context, &zones, args.agent.agent()?);
    if !args.yes {
        let plan = match args.time {
            Some(time) => {
                session.plan_rollback(time.last(context.clock.now()), &committed(context))
            }
            None => session.plan_undo(),
        };
        let plan = plan.map_err(|error| not_rolled_back(&error))?;
        show(context, &plan, false)?;
        if plan.files.is_empty() {
            context.report.say("nothing to change");
            return Ok(());
        }
        let can_ask = !context.ui.json && io::stdin().is_terminal() && io::stderr().is_terminal();
        if !can_ask {
            let what = "nothing was changed: there is no terminal to confirm on";
            return Err(CommandError::new(Exit::Usage, what).hint("add --yes to do it"));
        }
        if !is_confirmed(context, &plan)? {
            return Err(CommandError::told(Exit::No));
        }
    }
    let held = session.hold().map_err(|error| explain(&error))?;
    tell_mended(context, &held);
    let plan = roll_back(context, args, &held)?;
    if args.yes {
        show(context, &plan, true)?;
    }
    if plan.files.is_empty() {
        context.report.say("nothing to change");
        return Ok(());
    }
    let summary = RollbackOutput::of(&plan, true).summary();
    context.report.say(&format!("rolled back {summary}"));
    if !plan.is_undo {
        context
            .report
            .hint("undo it with: callosum session rollback --undo");
    }
    Ok(())
}

fn roll_back(
    context: &Context,
    args: &RollbackArgs,
    held: &LockedSession<'_>,
) -> Result<RollbackPlan, CommandError> {
    let history = committed(context);
    let done = match args.time {
        Some(time) => held.roll_back(time.last(context.clock.now()), &history),
        None => held.undo_rollback(&history),
    };
    done.map_err(|error| not_rolled_back(&error))
}

fn show(context: &Context, plan: &RollbackPlan, applied: bool) -> Result<(), CommandError> {
    let output = RollbackOutput::of(plan, applied);
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    context.ui.read_by_all(&output.text())
}

/// Asks a person; anything but yes is no, and so is the end of the input.
fn is_confirmed(context: &Context, plan: &RollbackPlan) -> Result<bool, CommandError> {
    let summary = RollbackOutput::of(plan, false).summary();
    context.ui.ask(&format!("roll back {summary}? [y/N] "));
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).map_err(|error| {
        CommandError::because(Exit::Environment, "cannot read standard input", &error)
    })?;
    let answer = answer.trim().to_ascii_lowercase();
    Ok(answer == "y" || answer == "yes")
}
