//! Arguments and output of `callosum constitution`.
//!
//! The use case is [`callosum_app::constitution`].

mod check;
mod show;
mod sign;

use callosum_app::CommandError;
use callosum_app::constitution::ConstitutionOutput;
use callosum_redact::terminal_escape::on_one_line;
use clap::Subcommand;

use super::context::Context;
use crate::ui::Table;

/// Show, check and sign the policies of plans
///
/// Policies permit or forbid each call of a plan, or require the approval of a person. See
/// `docs/formats/constitution.md`.
#[derive(Debug, Subcommand)]
pub(crate) enum ConstitutionCommand {
    Show(show::ShowArgs),
    Check(check::CheckArgs),
    Sign(sign::SignArgs),
}

pub(super) fn run(context: &Context, command: &ConstitutionCommand) -> Result<(), CommandError> {
    match command {
        ConstitutionCommand::Show(args) => show::run(context, args),
        ConstitutionCommand::Check(args) => check::run(context, args),
        ConstitutionCommand::Sign(args) => sign::run(context, args),
    }
}

/// Returns the policies as a table.
fn as_text(output: &ConstitutionOutput) -> String {
    let mut table = Table::new(&["policy", "source", "effect", "text"]);
    for policy in &output.policies {
        let says = policy.ask.as_ref().or(policy.hint.as_ref());
        let says = says.map(|text| on_one_line(text));
        table.row([
            policy.id.clone(),
            policy.origin.clone(),
            policy.effect.clone(),
            says.unwrap_or_default(),
        ]);
    }
    let head = format!("version {}, {}", output.version, output.hash);
    format!("{head}\n{}", table.render())
}
