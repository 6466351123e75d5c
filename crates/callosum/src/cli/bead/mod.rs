//! `callosum bead`: tasks, with their decisions and hand-offs, in files of their own.

mod change;
mod diff;
mod list;
pub(super) mod mirror;
mod ready;
mod show;

use callosum_session::{
    bead::{CreateBeadError, UpdateBeadError},
    trajectory::Agent,
};
use clap::Subcommand;

pub(super) use self::{
    diff::{BeadDiffOutput, ForkOutput},
    list::BeadListOutput,
    ready::ReadyOutput,
    show::BeadOutput,
};
use super::{context::Context, session};
use crate::ui::{CommandError, Exit};

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

/// Explains why a bead was not made.
fn uncreated(error: &CreateBeadError) -> CommandError {
    match error {
        CreateBeadError::Session(error) => session::explain(error),
        CreateBeadError::NoTitle => CommandError::from_error(Exit::Usage, error),
        CreateBeadError::Taken { .. } | CreateBeadError::NoSuchNeed { .. } => {
            CommandError::from_error(Exit::No, error)
        }
    }
}

/// Explains why a bead was not changed.
fn unchanged(error: &UpdateBeadError) -> CommandError {
    match error {
        UpdateBeadError::Session(error) => session::explain(error),
        UpdateBeadError::NoSuchNeed { .. }
        | UpdateBeadError::Circle { .. }
        | UpdateBeadError::NotNeeded { .. } => CommandError::from_error(Exit::No, error),
    }
}

/// Beads belong to nobody's trajectory.
fn nobody() -> Agent {
    Agent::default()
}

/// Returns the ids of all beads.
pub(super) fn ids(context: &Context) -> Result<Vec<String>, CommandError> {
    let listing = ready::listing(context)?;
    Ok(listing.rows.into_iter().map(|row| row.id).collect())
}
