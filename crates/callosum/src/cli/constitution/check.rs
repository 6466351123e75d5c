//! `callosum constitution check`: whether a text is a constitution.

use std::path::PathBuf;

use callosum_app::constitution::{ConstitutionOutput, governance, governance_failed};
use callosum_app::{CommandError, Exit, many};
use callosum_plan_run::kernel::Constitution;
use clap::Args;

use crate::cli::context::Context;

/// Check a file of policies
///
/// Reads the file as the user's constitution, or with --project as the prohibitions of a project. Does not check its
/// signature. Exits with 1 if the file would be rejected.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum constitution check ~/.config/callosum/constitution.cedar
  $ callosum constitution check --project .cal_constitution.cedar")]
pub(crate) struct CheckArgs {
    /// File of policies
    file: PathBuf,
    /// Check it as the prohibitions of a project
    #[arg(long)]
    project: bool,
}

pub(super) fn run(context: &Context, args: &CheckArgs) -> Result<(), CommandError> {
    let path = context.folder.join(&args.file);
    let text = governance(context)
        .user_text(&path)
        .map_err(|error| governance_failed(&error))?
        .ok_or_else(|| {
            let what = format!("`{}` does not exist", path.display());
            CommandError::new(Exit::Usage, what)
        })?;
    let read = if args.project {
        Constitution::built_in().tightened(&text)
    } else {
        Constitution::read(&text)
    };
    let constitution = match read {
        Ok(constitution) => constitution,
        Err(error) => {
            if context.ui.json {
                let closed = Constitution::closed(&error.to_string());
                context.ui.json_data(&ConstitutionOutput::of(&closed))?;
                return Err(CommandError::told(Exit::No));
            }
            let what = format!("`{}` is not a valid constitution", path.display());
            return Err(CommandError::because(Exit::No, &what, &error));
        }
    };
    let output = ConstitutionOutput::of(&constitution);
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    let count = many(output.policies.len() as u64, "policy");
    context.report.say(&format!("{count}, {}", output.hash));
    Ok(())
}
