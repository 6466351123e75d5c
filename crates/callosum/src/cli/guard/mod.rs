//! `callosum guard`: what the guard says to a command, and why.

mod check;
mod corpus;
mod explain;
mod place;

use clap::Subcommand;

pub(super) use self::{check::CheckOutput, corpus::TestOutput, explain::ExplainOutput};

use super::context::Context;
use crate::ui::CommandError;

/// Ask the guard what it says to a command
#[derive(Debug, Subcommand)]
pub(crate) enum GuardCommand {
    Check(check::CheckArgs),
    Explain(explain::ExplainArgs),
    Test(corpus::TestArgs),
}

pub(super) fn run(context: &Context, command: &GuardCommand) -> Result<(), CommandError> {
    match command {
        GuardCommand::Check(args) => check::run(context, args),
        GuardCommand::Explain(args) => explain::run(context, args),
        GuardCommand::Test(args) => corpus::run(context, args),
    }
}
