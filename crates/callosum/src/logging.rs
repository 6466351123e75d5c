//! The log file of long-running commands: `callosum serve`, `watch`, `shell` and the delivery of notifications.
//!
//! Start with [`start`]. It reads `logging` of the user's `cake_config.yaml` alone, since a repository cannot choose where this program
//! writes. A hook never calls it.

use std::path::PathBuf;

use callosum_guard::config::Config;
use callosum_host::Disk;
use callosum_log::{Level, LogError, LogFile, StartError, UnknownLevel};

use callosum_config::{Environment, EnvironmentError, GuardConfig, Homes, HomesError};

/// Bytes of a mebibyte.
const MEBIBYTE: u64 = 1 << 20;

/// Why nothing is logged.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoggingError {
    /// The file cannot be used.
    #[error(transparent)]
    File(#[from] LogError),
    /// The level is unknown.
    #[error("`logging.level`: {0}")]
    Level(#[from] UnknownLevel),
    /// This process logs already.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The machine's state folder is unknown.
    #[error(transparent)]
    Homes(#[from] HomesError),
    /// A variable of ours makes no sense.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
}

/// Sends the events of this process to the log file from now on.
///
/// # Errors
/// If the file cannot be used. The caller goes on without a log.
pub(crate) fn start(disk: &Disk, environment: &Environment) -> Result<(), LoggingError> {
    let homes = Homes::find(environment)?;
    let user = homes.cake_config();
    let config = GuardConfig::load(disk, Some(&user), &[]).config;
    let level: Level = config.logging.level.parse()?;
    let most_bytes = u64::from(config.logging.max_size_mb) * MEBIBYTE;
    let file = LogFile::new(disk, &path(&config, &homes, environment), most_bytes)?;
    Ok(callosum_log::start(file, level, environment.clock()?)?)
}

/// Returns the path of the log file.
fn path(config: &Config, homes: &Homes, environment: &Environment) -> PathBuf {
    match &config.logging.file {
        Some(file) => environment.at_home(file),
        None => homes.log(),
    }
}
