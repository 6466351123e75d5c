//! Arguments and output of `callosum executor`.
//!
//! The use case is [`callosum_app::executor`].

mod check;
mod discover;
mod enable;
mod list;
mod register;
mod remove;
mod reregister;
pub(crate) mod runs;
pub(super) mod scout;

pub(super) use self::check::ChecksOutput;

use callosum_app::CommandError;
use clap::Subcommand;

use super::context::Context;

/// List, register and check executors
#[derive(Debug, Subcommand)]
pub(crate) enum ExecutorCommand {
    List(list::ListArgs),
    Register(Box<register::RegisterArgs>),
    Check(check::CheckArgs),
    Discover(discover::DiscoverArgs),
    Enable(enable::EnableArgs),
    Disable(enable::DisableArgs),
    Remove(remove::RemoveArgs),
    Runs(runs::RunsArgs),
    Run(scout::RunArgs),
}

impl ExecutorCommand {
    /// Whether it may tell the journal of something.
    pub(super) fn writes(&self) -> bool {
        !matches!(self, Self::List(_) | Self::Run(_) | Self::Runs(_))
    }
}

pub(super) fn run(context: &mut Context, command: ExecutorCommand) -> Result<(), CommandError> {
    match command {
        ExecutorCommand::List(_) => list::run(context),
        ExecutorCommand::Register(args) => register::run(context, &args),
        ExecutorCommand::Check(args) => check::run(context, &args),
        ExecutorCommand::Discover(args) => discover::run(context, &args),
        ExecutorCommand::Enable(args) => enable::enable(context, &args),
        ExecutorCommand::Disable(args) => enable::disable(context, &args),
        ExecutorCommand::Remove(args) => remove::run(context, &args),
        ExecutorCommand::Runs(args) => runs::run(context, &args),
        ExecutorCommand::Run(args) => scout::run(&context.environment, &args),
    }
}
