//! Arguments and output of `callosum plan`.
//!
//! The use case is [`callosum_app::plan`].

mod approve;
mod cancel;
mod check;
pub(super) mod drive;
mod eval;
mod list;
mod progress;
mod proposal;
pub(super) mod render;
mod resume;
mod run;
mod show;
mod source;

use callosum_app::{CommandError, Exit};
use callosum_config::Environment;
use clap::Subcommand;

use super::context::Context;
use super::global_args::GlobalArgs;
use crate::ui::Ui;

/// Check, evaluate and run programs in the plan language
///
/// A plan is a pure program whose only effects are calls of capabilities. `docs/rtfs.md` describes the language,
/// `docs/plans.md` how plans run.
#[derive(Debug, Subcommand)]
pub(crate) enum PlanCommand {
    Eval(eval::EvalArgs),
    Check(check::CheckArgs),
    Run(run::RunArgs),
    Resume(resume::ResumeArgs),
    List(list::ListArgs),
    Show(show::ShowArgs),
    Approve(approve::ApproveArgs),
    Cancel(cancel::CancelArgs),
}

impl PlanCommand {
    /// Whether it works without a project.
    pub(super) fn needs_no_project(&self) -> bool {
        matches!(self, Self::Eval(_) | Self::Check(_))
    }

    /// Whether it may tell the journal of something.
    pub(super) fn writes(&self) -> bool {
        match self {
            Self::Run(args) => args.writes(),
            Self::Resume(_) | Self::Approve(_) | Self::Cancel(_) => true,
            Self::Eval(_) | Self::Check(_) | Self::List(_) | Self::Show(_) => false,
        }
    }
}

/// Runs what needs no project.
pub(super) fn run_alone(
    command: &PlanCommand,
    environment: &Environment,
    global: &GlobalArgs,
    ui: Ui,
) -> Result<(), CommandError> {
    match command {
        PlanCommand::Eval(args) => eval::run(args, ui),
        PlanCommand::Check(args) => check::run(args, environment, global, ui),
        _ => Err(CommandError::new(Exit::Internal, "it needs a project")),
    }
}

/// Runs what is on record in a project.
pub(super) fn run(context: &Context, command: &PlanCommand) -> Result<(), CommandError> {
    match command {
        PlanCommand::Eval(args) => eval::run(args, context.ui),
        PlanCommand::Check(args) => check::check(args, Some(context), context.ui),
        PlanCommand::Run(args) => run::run(context, args),
        PlanCommand::Resume(args) => resume::run(context, args),
        PlanCommand::List(args) => list::run(context, args),
        PlanCommand::Show(args) => show::run(context, args),
        PlanCommand::Approve(args) => approve::run(context, args),
        PlanCommand::Cancel(args) => cancel::run(context, args),
    }
}
