//! `callosum guard secrets`: files that agents do not read.

use callosum_config::SecretReadsFile;
use callosum_redact::terminal_escape::on_one_line;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{CommandError, Exit};

/// `callosum guard secrets --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct SecretsOutput {
    /// Whether it is on.
    pub enabled: bool,
    /// `ask` or `block`; null while it is off.
    pub decision: Option<String>,
    /// The list; the last pattern that fits a file counts.
    pub patterns: Vec<String>,
}

/// Checks a pattern of secret files.
pub fn checked(pattern: &str) -> Result<String, CommandError> {
    let pattern = pattern.trim();
    let bare = pattern
        .trim_start_matches('!')
        .trim_matches(['/', '*', '~', '.']);
    if bare.is_empty() || pattern.contains(['\n', '\0']) {
        let what = format!("`{}` is not a file pattern", on_one_line(pattern));
        let hint = "callosum guard secrets add '*.key'";
        return Err(CommandError::new(Exit::Usage, what).hint(hint));
    }
    Ok(pattern.to_owned())
}

/// Fails if the protection of secrets is off.
pub fn require_on(file: &SecretReadsFile) -> Result<(), CommandError> {
    if file.is_on() {
        return Ok(());
    }
    Err(CommandError::new(Exit::No, "the list is off").hint("callosum guard secrets on"))
}
