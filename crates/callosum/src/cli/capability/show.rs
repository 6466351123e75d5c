//! Arguments and output of `callosum capability show`.
//!
//! The use case is [`callosum_app::capability::show`].

use callosum_app::capability::accepted::AcceptedManifests;
use callosum_app::capability::catalog::{CapabilityOutput, catalogue, named, warn_of_unfit};
use callosum_app::capability::outcomes::OutcomeFile;
use callosum_app::capability::show::text;
use callosum_app::constitution::{governance, governance_failed};
use callosum_app::{CommandError, Exit};
use clap::Args;

use crate::cli::context::Context;

/// Show the details of a capability
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum capability show agent.delegate")]
pub(crate) struct ShowArgs {
    /// Name of the capability, as plans call it
    name: String,
}

pub(super) fn run(context: &Context, args: &ShowArgs) -> Result<(), CommandError> {
    let name = named(&args.name)?;
    let revoked = governance(context)
        .revoked()
        .map_err(|error| governance_failed(&error))?;
    let catalogue = catalogue(context)?;
    let Some(manifest) = catalogue.get(&name) else {
        // It may be one of these.
        warn_of_unfit(context)?;
        let what = format!("unknown capability `{name}`");
        return Err(CommandError::new(Exit::No, what).hint("callosum capability list"));
    };
    let outcomes = OutcomeFile::of_project(context).outcomes();
    let accepted = AcceptedManifests::of_project(context).read()?;
    let output = CapabilityOutput::of(manifest, revoked.contains(&name), &outcomes)
        .with_history(accepted.get(name.as_str()), catalogue.pending(&name));
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    context.ui.read_by_all(&text(&output))
}
