//! `callosum serve --detach`: a daemon that goes on by itself.

use std::time::Duration;

/// How long the daemon may take until it answers.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// The pause between two looks.
pub const PAUSE: Duration = Duration::from_millis(10);

/// The folder that the daemon works in: none that anybody may want to remove.
pub const FOLDER: &str = "/";
