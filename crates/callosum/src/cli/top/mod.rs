//! Arguments and output of `callosum top`.
//!
//! The use case is [`callosum_app::overview`]. The dashboard is `callosum-top`; the cargo feature `tui` has it.

#[cfg(feature = "tui")]
mod dashboard;
#[cfg(feature = "tui")]
mod plain_values;

use callosum_app::CommandError;
use callosum_app::overview::gather;
use clap::Args;

use super::context::Context;

/// Watch agents, tasks and decisions of the guard, and act on what waits for you
///
/// Shows three lists, and refreshes them each second: what waits for you and the agents (1), the mesh tasks (2), and
/// the guard's decisions (3). `a` approves, `d` denies, `o` allows a command once, `m` writes to an agent. `?` lists the
/// keys. Each item shows the command line that does the same.
///
/// Needs a terminal. With --json, prints one overview and exits.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum top
  $ callosum top --json")]
pub(crate) struct TopArgs {}

pub(super) fn run(context: &Context, _args: &TopArgs) -> Result<(), CommandError> {
    if context.ui.json {
        return context.ui.json_data(&gather(context)?);
    }
    draw(context)
}

#[cfg(feature = "tui")]
fn draw(context: &Context) -> Result<(), CommandError> {
    dashboard::run(context)
}

#[cfg(not(feature = "tui"))]
fn draw(_context: &Context) -> Result<(), CommandError> {
    use callosum_app::Exit;

    let what = "this program was built without the dashboard";
    Err(CommandError::new(Exit::Usage, what).hint("callosum top --json"))
}
