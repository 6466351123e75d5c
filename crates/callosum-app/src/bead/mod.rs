//! `callosum bead`: tasks, with their decisions and hand-offs, in files of their own.

pub mod change;
pub mod diff;
pub mod list;
pub mod mirror;
pub mod ready;
pub mod show;

pub use self::diff::{BeadDiffOutput, ForkOutput};
pub use self::list::BeadListOutput;
pub use self::ready::ReadyOutput;
pub use self::show::BeadOutput;

use callosum_session::bead::{CreateBeadError, UpdateBeadError};
use callosum_session::trajectory::Agent;

use crate::context::Context;
use crate::{CommandError, Exit, session};

/// Explains why a bead was not made.
pub fn uncreated(error: &CreateBeadError) -> CommandError {
    match error {
        CreateBeadError::Session(error) => session::explain(error),
        CreateBeadError::NoTitle => CommandError::from_error(Exit::Usage, error),
        CreateBeadError::Taken { .. } | CreateBeadError::NoSuchNeed { .. } => {
            CommandError::from_error(Exit::No, error)
        }
    }
}

/// Explains why a bead was not changed.
pub fn unchanged(error: &UpdateBeadError) -> CommandError {
    match error {
        UpdateBeadError::Session(error) => session::explain(error),
        UpdateBeadError::NoSuchNeed { .. }
        | UpdateBeadError::Circle { .. }
        | UpdateBeadError::NotNeeded { .. } => CommandError::from_error(Exit::No, error),
    }
}

/// An agent without a name: beads belong to no agent's trajectory.
pub fn nobody() -> Agent {
    Agent::default()
}

/// Returns the ids of all beads.
pub fn ids(context: &Context) -> Result<Vec<String>, CommandError> {
    let listing = ready::listing(context)?;
    Ok(listing.rows.into_iter().map(|row| row.id).collect())
}
