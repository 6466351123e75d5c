//! From the errors of the rules for plans to what failed, why, and one hint to paste.

use std::path::Path;

use super::{governance::Governance, governance_error::GovernanceError};
use crate::disk_errors::disk_failed;
use crate::{CommandError, Exit, shell_word};

/// Explains why the rules for plans could not be read or changed.
pub fn governance_failed(error: &GovernanceError) -> CommandError {
    match error {
        GovernanceError::Unsigned { path } => CommandError::from_error(Exit::Environment, error)
            .hint(format!("callosum constitution sign {}", pasted(path))),
        GovernanceError::Older { path, signed, .. } => {
            CommandError::from_error(Exit::Environment, error).hint(format!(
                "to use it, set version {} in its first line, then: callosum constitution sign {}",
                signed + 1,
                pasted(path)
            ))
        }
        GovernanceError::File { path, .. } if path.ends_with(Governance::PROJECT) => {
            CommandError::from_error(Exit::Environment, error).hint(format!(
                "callosum constitution check --project {}",
                pasted(path)
            ))
        }
        GovernanceError::File { path, .. } => CommandError::from_error(Exit::Environment, error)
            .hint(format!("callosum constitution check {}", pasted(path))),
        GovernanceError::Disk(error) => disk_failed(error),
        GovernanceError::Key(_) | GovernanceError::Lock(_) => {
            CommandError::from_error(Exit::Environment, error)
        }
    }
}

/// A path as a hint has it.
fn pasted(path: &Path) -> String {
    shell_word(&path.display().to_string())
}
