//! `callosum serve stop`: the daemon is asked to end, and waited for.

use std::time::Duration;

/// Time to wait for the end of the daemon.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// The pause between two looks.
pub const PAUSE: Duration = Duration::from_millis(10);
