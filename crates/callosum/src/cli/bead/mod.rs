//! Arguments and output of `callosum bead`.
//!
//! The use case is [`callosum_app::bead`].

mod change;
mod diff;
mod list;
mod ready;
mod show;

use callosum_app::CommandError;
use clap::Subcommand;

use super::context::Context;

/// Create, find and change beads: tasks, each a YAML file in .beads
#[derive(Debug, Subcommand)]
pub(crate) enum BeadCommand {
    Create(change::CreateArgs),
    List(list::ListArgs),
    Ready(ready::ReadyArgs),
    Show(show::ShowArgs),
    Update(change::UpdateArgs),
    Close(change::CloseArgs),
    Diff(diff::DiffArgs),
}

pub(super) fn run(context: &Context, command: &BeadCommand) -> Result<(), CommandError> {
    match command {
        BeadCommand::Create(args) => change::create(context, args),
        BeadCommand::List(args) => list::run(context, args),
        BeadCommand::Ready(args) => ready::run(context, args),
        BeadCommand::Show(args) => show::run(context, args),
        BeadCommand::Update(args) => change::update(context, args),
        BeadCommand::Close(args) => change::close(context, args),
        BeadCommand::Diff(args) => diff::run(context, args),
    }
}
