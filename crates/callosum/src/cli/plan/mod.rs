//! `callosum plan`: programs in the language of plans, checked and evaluated.
//!
//! None of it needs a project: a program is decided by its source and what it is given.

mod answers;
mod check;
mod eval;
mod source;

use clap::Subcommand;

pub(super) use self::{check::PlanCheckOutput, eval::PlanEvalOutput};
use crate::ui::{CommandError, Ui};

/// Check and evaluate programs in the language of plans
///
/// A plan is a pure program whose only effects are calls of capabilities. `docs/rtfs.md` is the
/// language's page.
#[derive(Debug, Subcommand)]
pub(crate) enum PlanCommand {
    Eval(eval::EvalArgs),
    Check(check::CheckArgs),
}

pub(super) fn run(command: &PlanCommand, ui: Ui) -> Result<(), CommandError> {
    match command {
        PlanCommand::Eval(args) => eval::run(args, ui),
        PlanCommand::Check(args) => check::run(args, ui),
    }
}
