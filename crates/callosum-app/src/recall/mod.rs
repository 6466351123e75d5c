//! Reads the errors that agents hit in this project, and what fixed them.

pub mod output;

pub use self::output::{
    RecallChangeOutput, RecallListOutput, RecallShowOutput, RecallSimilarOutput,
};

use callosum_client::intervention::{WatchError, Watcher};
use callosum_intervention::recall::{Condition, ErrorRecord, RecallDb};

use crate::context::Context;
use crate::{CommandError, Exit};

/// Digits of a signature that a table shows.
const SHORT: usize = 12;

/// Most errors that `export` prints.
pub const MOST_EXPORTED: u32 = 100_000;

/// Opens the database, and warns if it is not the file.
pub fn open(context: &Context) -> Result<RecallDb, CommandError> {
    let watcher = watcher(context)?;
    let now = context.clock.now();
    let database = watcher.database(now).map_err(failed)?;
    match database.condition() {
        Condition::Sound => {}
        Condition::SetAside(path) => context.report.warn(
            &format!(
                "the recall database was corrupt; the file was moved to `{}`",
                path.display()
            ),
            None,
        ),
        Condition::InMemory => context.report.warn(
            &format!(
                "cannot write the recall database `{}`: nothing is recorded",
                watcher.database_path().display()
            ),
            Some("callosum doctor"),
        ),
    }
    Ok(database)
}

/// Returns the watcher of the project.
pub fn watcher(context: &Context) -> Result<Watcher, CommandError> {
    Watcher::new(&context.disk, &context.environment, context.tree()).map_err(failed)
}

/// Returns an error of the database as one of the command.
pub fn failed(error: impl Into<WatchError>) -> CommandError {
    CommandError::from_error(Exit::Environment, &error.into())
}

/// Returns the project's name in the recall database.
pub fn project(context: &Context) -> String {
    context.tree().to_string_lossy().into_owned()
}

/// Returns a signature in short.
pub fn short(signature: &str) -> String {
    let digits = signature.strip_prefix("sha256:").unwrap_or(signature);
    digits.chars().take(SHORT).collect()
}

/// Returns the one error of this project that a prefix names.
pub fn named(
    context: &Context,
    database: &RecallDb,
    prefix: &str,
) -> Result<ErrorRecord, CommandError> {
    let found = database
        .named(prefix, Some(&project(context)))
        .map_err(failed)?;
    let mut found = found.into_iter();
    match (found.next(), found.next()) {
        (Some(error), None) => Ok(error),
        (None, _) => Err(CommandError::new(
            Exit::Usage,
            format!("no error of this project has a signature that begins with `{prefix}`"),
        )
        .hint("callosum recall list")),
        (Some(_), Some(_)) => Err(CommandError::new(
            Exit::Usage,
            format!("several errors have a signature that begins with `{prefix}`"),
        )
        .hint("callosum recall list")),
    }
}
