//! `callosum serve --detach`: a daemon that goes on by itself.

use std::time::Duration;

/// Time that the daemon may take until it answers.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// The pause between two looks.
pub const PAUSE: Duration = Duration::from_millis(10);

/// Working folder of the daemon: one that no user wants to remove.
pub const FOLDER: &str = "/";
