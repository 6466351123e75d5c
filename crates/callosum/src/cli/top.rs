//! Arguments and output of `callosum top`.
//!
//! The use case is [`callosum_app::overview`].

use callosum_app::overview::gather;
use callosum_app::{CommandError, Exit};
use clap::Args;

use super::context::Context;

/// Watch agents, tasks and decisions of the guard, and act on what waits for you
///
/// With --json, prints one overview and exits.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum top --json")]
pub(crate) struct TopArgs {}

pub(super) fn run(context: &Context, _args: &TopArgs) -> Result<(), CommandError> {
    if context.ui.json {
        return context.ui.json_data(&gather(context)?);
    }
    Err(
        CommandError::new(Exit::Usage, "cannot draw without a terminal")
            .hint("callosum top --json"),
    )
}
