//! Arguments and output of `callosum session`.
//!
//! The use case is [`callosum_app::session`].

mod budget;
mod check;
mod checkpoint;
mod cite;
mod decide;
mod decisions;
mod ghost;
mod grounding;
mod handoff;
mod heal;
mod merge;
mod recover;
mod repos;
mod resolve;
mod status;
mod sync;

pub(super) use self::handoff::not_handed;

use callosum_app::CommandError;
use callosum_app::session::agent;
use callosum_app::session::decide::decide;
use callosum_app::session::repos::remember;
use callosum_session::ClaimScope;
use callosum_session::trajectory::Agent;
use clap::{Args, Subcommand};

use super::context::Context;

/// Record decisions that survive a cleared context, and check their evidence
#[derive(Debug, Subcommand)]
pub(crate) enum SessionCommand {
    Decide(decide::DecideArgs),
    Decisions(decisions::DecisionsArgs),
    #[command(visible_alias = "add-evidence")]
    Cite(cite::CiteArgs),
    Resolve(resolve::ResolveArgs),
    Grounding(grounding::GroundingArgs),
    Check(check::CheckArgs),
    Handoff(handoff::HandoffArgs),
    Recover(recover::RecoverArgs),
    Status(status::StatusArgs),
    #[command(visible_alias = "repair")]
    Heal(heal::HealArgs),
    Merge(merge::MergeArgs),
    Budget(budget::BudgetArgs),
    Checkpoint(checkpoint::CheckpointArgs),
    Ghost(ghost::GhostArgs),
    Repos(repos::ReposArgs),
    Sync(sync::SyncArgs),
}

pub(super) fn run(context: &Context, command: &SessionCommand) -> Result<(), CommandError> {
    if matches!(
        command,
        SessionCommand::Decide(_) | SessionCommand::Handoff(_) | SessionCommand::Sync(_)
    ) {
        remember(context);
    }
    match command {
        SessionCommand::Decide(args) => decide::run(context, args),
        SessionCommand::Decisions(args) => decisions::run(context, args),
        SessionCommand::Cite(args) => cite::run(context, args),
        SessionCommand::Resolve(args) => resolve::run(context, args),
        SessionCommand::Grounding(args) => grounding::run(context, args),
        SessionCommand::Check(args) => check::run(context, args),
        SessionCommand::Handoff(args) => handoff::run(context, args),
        SessionCommand::Recover(args) => recover::run(context, args),
        SessionCommand::Heal(args) => heal::run(context, args),
        SessionCommand::Merge(args) => merge::run(context, args),
        SessionCommand::Budget(args) => budget::run(context, args),
        SessionCommand::Ghost(args) => ghost::run(context, args),
        SessionCommand::Checkpoint(args) => checkpoint::run(context, args),
        SessionCommand::Status(args) => status::run(context, args),
        SessionCommand::Repos(args) => repos::run(context, args),
        SessionCommand::Sync(args) => sync::run(context, args),
    }
}

/// Agent of a trajectory.
#[derive(Args, Clone, Debug)]
pub(super) struct AgentArgs {
    /// Agent whose trajectory is used
    #[arg(long = "as", value_name = "NAME", default_value = callosum_session::trajectory::DEFAULT_AGENT)]
    agent: String,
}

impl AgentArgs {
    pub(super) fn agent(&self) -> Result<Agent, CommandError> {
        agent(&self.agent)
    }
}

/// Agent of claims.
#[derive(Args, Clone, Debug)]
pub(crate) struct WhoseArgs {
    /// Only claims by this agent [default: claims by all agents]
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
}

impl WhoseArgs {
    /// Returns the agent whose trajectory is written, and the scope of the claims that are read.
    pub(crate) fn whose(&self) -> Result<(Agent, ClaimScope), CommandError> {
        match &self.agent {
            Some(name) => Ok((agent(name)?, ClaimScope::Own)),
            None => Ok((Agent::default(), ClaimScope::Everyone)),
        }
    }
}
