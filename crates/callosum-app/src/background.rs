//! [`start`]: a command of this program that goes on by itself.

use std::ffi::OsString;

use callosum_host::process::{Launch, Limits, leave};

use crate::context::Context;
use crate::{CommandError, Exit};

/// Starts this program with these arguments in the folder of the context, and does not wait for it.
///
/// # Errors
/// If the program cannot be found or started.
pub(crate) fn start(context: &Context, arguments: &[&str]) -> Result<(), CommandError> {
    let program = std::env::current_exe().map_err(|error| {
        let what = "cannot find the path of this program";
        CommandError::because(Exit::Environment, what, &error)
    })?;
    let variables = context.environment.iter();
    let started = leave(&Launch {
        program,
        arguments: arguments.iter().map(OsString::from).collect(),
        folder: context.folder.clone(),
        environment: variables
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        input: Vec::new(),
        limits: Limits {
            quiet: None,
            total: None,
            output_bytes: 0,
            error_bytes: 0,
        },
    });
    started.map_err(|error| CommandError::from_error(Exit::Environment, &error))
}
