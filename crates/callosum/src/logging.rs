//! The log file of long-running commands: `callosum serve`, `watch`, `shell` and the delivery of
//! notifications; and of every command if `CALLOSUM_LOG` is set.
//!
//! Start with [`start`] and [`start_if_set`]. They read `logging` of the user's `cake_config.yaml`
//! alone, since a repository cannot choose the path of this file. A hook calls neither.

use std::path::PathBuf;

use callosum_guard::config::Config;
use callosum_host::Disk;
use callosum_log::{Level, LogError, LogFile, StartError, UnknownLevel};

use callosum_config::{Environment, EnvironmentError, GuardConfig, Homes, HomesError};

/// The variable that sets the level, and has every command logged: a level, or `off`.
const LOG: &str = "CALLOSUM_LOG";

/// Bytes of a mebibyte.
const MEBIBYTE: u64 = 1 << 20;

/// The reason why nothing is logged.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoggingError {
    /// The file cannot be used.
    #[error(transparent)]
    File(#[from] LogError),
    /// The level is unknown.
    #[error("`{key}`: {source}")]
    Level {
        /// The setting or variable that names it.
        key: &'static str,
        /// The error of the level.
        source: UnknownLevel,
    },
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

/// Sends the events of this process to the log file from now on, at the level of `CALLOSUM_LOG` or of the settings.
///
/// Does nothing if the variable is `off`, or if [`start_if_set`] started the log.
///
/// # Errors
/// If the file cannot be used. The caller goes on without a log.
pub(crate) fn start(disk: &Disk, environment: &Environment) -> Result<(), LoggingError> {
    let set = environment.get(LOG).map(|level| level.to_string_lossy());
    if set
        .as_deref()
        .is_some_and(|level| level.eq_ignore_ascii_case("off"))
    {
        return Ok(());
    }
    let homes = Homes::find(environment)?;
    let user = homes.cake_config();
    let config = GuardConfig::load(disk, Some(&user), &[]).config;
    let (key, level) = match &set {
        Some(level) => (LOG, level.as_ref()),
        None => ("logging.level", config.logging.level.as_str()),
    };
    let level: Level = level
        .parse()
        .map_err(|source| LoggingError::Level { key, source })?;
    let most_bytes = u64::from(config.logging.max_size_mb) * MEBIBYTE;
    let file = LogFile::new(disk, &path(&config, &homes, environment), most_bytes)?;
    match callosum_log::start(file, level, environment.clock()?) {
        // The same file, at the same level.
        Err(_) if set.is_some() => Ok(()),
        started => Ok(started?),
    }
}

/// Starts the log of a command that has none by itself, if `CALLOSUM_LOG` is set.
///
/// # Errors
/// As [`start`].
pub(crate) fn start_if_set(disk: &Disk, environment: &Environment) -> Result<(), LoggingError> {
    match environment.get(LOG) {
        Some(_) => start(disk, environment),
        None => Ok(()),
    }
}

/// Returns the path of the log file.
fn path(config: &Config, homes: &Homes, environment: &Environment) -> PathBuf {
    match &config.logging.file {
        Some(file) => environment.at_home(file),
        None => homes.log(),
    }
}
