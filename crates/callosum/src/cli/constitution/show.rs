//! `callosum constitution show`: the rules that hold here.

use callosum_app::constitution::{ConstitutionOutput, governance, governance_failed};
use callosum_app::{CommandError, Exit};
use clap::Args;

use crate::cli::context::Context;

/// Show the policies in effect in this project
///
/// Prints the policies of the user's constitution, or of the built-in one, and the prohibitions of the project. If
/// one of them is invalid, nothing is permitted, and the exit code is 3.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum constitution show
  $ callosum constitution show --source")]
pub(crate) struct ShowArgs {
    /// Print the source text of the policies
    #[arg(long, conflicts_with = "json")]
    source: bool,
}

pub(super) fn run(context: &Context, args: &ShowArgs) -> Result<(), CommandError> {
    let constitution = governance(context).constitution();
    let output = ConstitutionOutput::of(&constitution);
    if context.ui.json {
        context.ui.json_data(&output)?;
    } else if args.source {
        context.ui.read_by_all(&output.as_source())?;
    } else if output.ok {
        context.ui.read_by_all(&super::as_text(&output))?;
    }
    match output.problem {
        None => Ok(()),
        Some(_) if context.ui.json => Err(CommandError::told(Exit::Environment)),
        Some(problem) => {
            let error = CommandError::new(Exit::Environment, "plans cannot call anything here")
                .cause(problem);
            let why = governance(context).read_constitution().err();
            let explained = why.map(|error| governance_failed(&error));
            Err(match explained.as_ref().and_then(CommandError::hint_text) {
                Some(hint) => error.hint(hint),
                None => error,
            })
        }
    }
}
