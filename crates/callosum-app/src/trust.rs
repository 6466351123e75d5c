//! `callosum trust`: requests of a repository that could run code or write elsewhere.

use callosum_ledger::LedgerPaths;
use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;
use crate::{CommandError, disk_errors};

/// The name under which the settings of `.calrc` are trusted, all of them at once.
pub const CALRC: &str = ".calrc";

/// `callosum trust --json`.
#[derive(Debug, Default, JsonSchema, Serialize)]
pub struct TrustOutput {
    /// Executors that were, or are, waiting.
    pub executors: Vec<WaitingExecutor>,
    /// Settings that were, or are, waiting.
    pub settings: Vec<WaitingSetting>,
    /// Whether all of them are allowed now.
    pub trusted: bool,
}

/// An executor that this machine did not start yet.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct WaitingExecutor {
    /// Its name.
    pub id: String,
    /// Command that would be started.
    pub command_template: String,
    /// How to reach it, on one line: its command, and for a server its address.
    pub way: String,
    /// The environment variables that it would be given.
    pub pass_environment: Vec<String>,
    /// Its sandbox policy; absent for `best-effort`.
    pub confinement: Option<String>,
    /// Paths that it could read beyond the project and the system.
    pub readable: Vec<String>,
    /// Paths that it could write.
    pub writable: Vec<String>,
    /// The hosts that it could connect to.
    pub network: Vec<String>,
    /// Whether it is allowed now.
    pub trusted: bool,
}

/// A setting that was not in force yet.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct WaitingSetting {
    /// Its key in `.calrc`.
    pub key: String,
    /// Value that would be in force.
    pub value: String,
    /// Whether it is allowed now.
    pub trusted: bool,
}

/// Whether there is a journal.
pub fn is_begun(context: &Context, paths: &LedgerPaths) -> Result<bool, CommandError> {
    let listed = context.disk.list_dir(&paths.audit);
    let listed = listed.map_err(|error| disk_errors::disk_failed(&error))?;
    Ok(!listed.is_empty())
}
