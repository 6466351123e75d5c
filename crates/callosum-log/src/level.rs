//! [`Level`]: which events are written.

use std::str::FromStr;

use tracing_subscriber::filter::LevelFilter;

/// The least severe events that are written, by the seed's names (Seed CAKE §6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// All of them.
    Debug,
    /// What was done.
    #[default]
    Info,
    /// What went wrong and was worked around.
    Warning,
    /// What failed.
    Error,
}

/// A text is no level.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a log level (allowed: DEBUG, INFO, WARNING, ERROR)")]
pub struct UnknownLevel(String);

impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(text: &str) -> Result<Self, UnknownLevel> {
        match text.to_ascii_uppercase().as_str() {
            "DEBUG" => Ok(Self::Debug),
            "INFO" => Ok(Self::Info),
            "WARNING" => Ok(Self::Warning),
            "ERROR" => Ok(Self::Error),
            _ => Err(UnknownLevel(text.to_owned())),
        }
    }
}

impl From<Level> for LevelFilter {
    fn from(level: Level) -> Self {
        match level {
            Level::Debug => Self::DEBUG,
            Level::Info => Self::INFO,
            Level::Warning => Self::WARN,
            Level::Error => Self::ERROR,
        }
    }
}
