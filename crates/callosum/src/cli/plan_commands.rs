//! [`PlanCommands`]: the commands that need the kernel of plans, present with the feature `plans`.

use callosum_app::CommandError;
use clap::Subcommand;

use super::context::Context;
use super::{capability, constitution, delegation, goal, plan};

// No doc comment: clap would print it as the description of the program.
#[derive(Debug, Subcommand)]
pub(super) enum PlanCommands {
    Do(goal::DoArgs),
    #[command(subcommand)]
    Delegation(delegation::DelegationCommand),
    #[command(subcommand)]
    Plan(plan::PlanCommand),
    #[command(subcommand)]
    Capability(capability::CapabilityCommand),
    #[command(subcommand)]
    Constitution(constitution::ConstitutionCommand),
}

impl PlanCommands {
    /// Returns whether it may write to the journal.
    pub(super) fn writes(&self) -> bool {
        match self {
            Self::Do(args) => args.writes(),
            Self::Plan(command) => command.writes(),
            Self::Delegation(_) | Self::Capability(_) | Self::Constitution(_) => false,
        }
    }

    /// Runs the command in a project.
    pub(super) fn run(&self, context: &Context) -> Result<(), CommandError> {
        match self {
            Self::Do(args) => goal::run(context, args),
            Self::Delegation(command) => delegation::run(context, command),
            Self::Plan(command) => plan::run(context, command),
            Self::Capability(command) => capability::run(context, command),
            Self::Constitution(command) => constitution::run(context, command),
        }
    }
}
