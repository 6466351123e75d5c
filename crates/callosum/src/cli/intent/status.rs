//! Arguments and output of `callosum intent status` and `callosum intent archive`.
//!
//! The use case is [`callosum_app::intent::set_status`].

use callosum_app::intent::{IntentOutput, find, read, set_status};
use callosum_app::{CommandError, Exit};
use callosum_intent::graph::Status;
use clap::Args;
use clap::builder::PossibleValuesParser;

use crate::cli::context::Context;

/// Change the status of an intent
///
/// Refuses a transition that is not in the table of `docs/intents.md`, such as from archived to completed.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum intent status 0f3a active
  $ callosum intent status 0f3a completed --reason \"all tests pass\"")]
pub(crate) struct StatusArgs {
    /// Id of the intent, or its beginning
    #[arg(value_name = "ID")]
    id: String,
    /// New status
    #[arg(value_name = "STATUS", value_parser = PossibleValuesParser::new(Status::ALL.map(Status::as_str)))]
    status: String,
    /// Reason
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        alias = "because",
        hide_default_value = true
    )]
    reason: String,
}

/// Archive an intent
///
/// It stays in the audit journal, and `callosum intent list --all` lists it.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum intent archive 0f3a")]
pub(crate) struct ArchiveArgs {
    /// Id of the intent, or its beginning
    #[arg(value_name = "ID")]
    id: String,
    /// Reason
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        alias = "because",
        hide_default_value = true
    )]
    reason: String,
}

pub(super) fn run(context: &Context, args: &StatusArgs) -> Result<(), CommandError> {
    let status: Status = args
        .status
        .parse()
        .map_err(|error| CommandError::from_error(Exit::Usage, &error))?;
    change(context, &args.id, status, &args.reason)
}

pub(super) fn archive(context: &Context, args: &ArchiveArgs) -> Result<(), CommandError> {
    change(context, &args.id, Status::Archived, &args.reason)
}

fn change(context: &Context, id: &str, to: Status, reason: &str) -> Result<(), CommandError> {
    let id = find(&read(context)?, id)?.id.clone();
    let intent = set_status(context, &id, to, reason, None)?;
    let output = IntentOutput::of(context, &read(context)?, &intent);
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    context.ui.read_by_all(&output.line())
}
