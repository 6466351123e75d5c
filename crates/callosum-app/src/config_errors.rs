//! From the errors of `config` to what failed, why, and one hint to paste.

use std::path::Path;

use callosum_config::{
    Address, EditError, EnvironmentError, Origin, ProjectError, SetError, StateFileError,
    default_at,
};

use crate::disk_errors::disk_failed;
use crate::{CommandError, Exit, shell_word};

/// Explains why the project of a command could not be loaded.
pub fn project(error: &ProjectError) -> CommandError {
    match error {
        ProjectError::Root(_) => CommandError::from_error(Exit::Usage, error),
        ProjectError::Foreign { path, .. } => {
            let folder = path.parent().unwrap_or(path);
            let hint = format!("to use its files: callosum -C {} status", pasted(folder));
            CommandError::from_error(Exit::Environment, error).hint(hint)
        }
        ProjectError::Settings(settings) => {
            let refused = settings.refused.first();
            let of_file = refused.filter(|it| matches!(it.origin, Origin::Calrc(_)));
            let address = of_file.and_then(|it| Address::parse(&it.problem.key));
            let hint = address.map_or_else(
                || "callosum config check".to_owned(),
                |address| {
                    // The file may name an executor in any way.
                    let key = shell_word(&address.to_string());
                    let value = shell_word(&default_at(&address).to_string());
                    format!("callosum config set {key} {value}")
                },
            );
            CommandError::from_error(Exit::Environment, error).hint(hint)
        }
        ProjectError::Calrc(_) => {
            CommandError::from_error(Exit::Environment, error).hint("callosum config check")
        }
        ProjectError::Places(_) => {
            CommandError::from_error(Exit::Environment, error).hint("remove the link")
        }
        ProjectError::Homes(_) => CommandError::from_error(Exit::Environment, error)
            .hint("set HOME, or CALLOSUM_HOME and CALLOSUM_CONFIG, to absolute paths"),
        ProjectError::Trust(error) => trust(error),
        ProjectError::Disk(error) => disk_failed(error),
    }
}

/// Explains why trust could not be read or changed.
pub fn trust(error: &StateFileError) -> CommandError {
    state_file(error, "trust")
}

/// Explains why permissions could not be read or changed.
pub fn permit(error: &StateFileError) -> CommandError {
    state_file(error, "permit")
}

/// Explains a failure of a state file. `again` is the command to run again once a damaged file is
/// out of the way.
fn state_file(error: &StateFileError, again: &str) -> CommandError {
    let explained = CommandError::from_error(Exit::Environment, error);
    match error {
        StateFileError::Newer { .. } => explained.hint("use the newer callosum that wrote it"),
        StateFileError::Corrupt { path, .. } => explained.hint(format!(
            "move it away, then {again} again: mv {} {}",
            pasted(path),
            pasted(&path.with_added_extension("damaged"))
        )),
        StateFileError::Disk(error) => disk_failed(error),
        StateFileError::Lock(_) => explained,
    }
}

/// Explains why a setting was not changed.
pub fn set(error: &SetError) -> CommandError {
    match error {
        SetError::Trust(error) => trust(error),
        SetError::Edit(EditError::NotAllowed(_)) => CommandError::from_error(Exit::Usage, error),
        SetError::Edit(_) | SetError::Foreign { .. } => {
            CommandError::from_error(Exit::Environment, error)
        }
        SetError::Disk(error) => disk_failed(error),
    }
}

/// Explains why a variable of the environment is invalid.
pub fn environment(error: &EnvironmentError) -> CommandError {
    CommandError::from_error(Exit::Environment, error)
}

/// A path as a hint has it.
fn pasted(path: &Path) -> String {
    shell_word(&path.display().to_string())
}
