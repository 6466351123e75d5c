//! Arguments and output of `callosum intent`.
//!
//! The use case is [`callosum_app::intent`].

mod add;
mod link;
mod list;
mod relate;
mod show;
mod status;
mod tree;

use callosum_app::CommandError;
use clap::Subcommand;

use super::context::Context;

/// Record goals, relate them, and keep what became of them
///
/// An intent is a goal with constraints and a state. Every change is a record of the audit journal. See
/// `docs/intents.md`.
#[derive(Debug, Subcommand)]
pub(crate) enum IntentCommand {
    Add(add::AddArgs),
    List(list::ListArgs),
    Show(show::ShowArgs),
    Tree(tree::TreeArgs),
    Status(status::StatusArgs),
    Relate(relate::RelateArgs),
    Link(link::LinkArgs),
    Archive(status::ArchiveArgs),
}

impl IntentCommand {
    /// Returns true if the command writes to the audit journal.
    pub(super) fn writes(&self) -> bool {
        matches!(
            self,
            Self::Add(_) | Self::Status(_) | Self::Relate(_) | Self::Link(_) | Self::Archive(_)
        )
    }
}

pub(super) fn run(context: &Context, command: &IntentCommand) -> Result<(), CommandError> {
    match command {
        IntentCommand::Add(args) => add::run(context, args),
        IntentCommand::List(args) => list::run(context, args),
        IntentCommand::Show(args) => show::run(context, args),
        IntentCommand::Tree(args) => tree::run(context, args),
        IntentCommand::Status(args) => status::run(context, args),
        IntentCommand::Relate(args) => relate::run(context, args),
        IntentCommand::Link(args) => link::run(context, args),
        IntentCommand::Archive(args) => status::archive(context, args),
    }
}
