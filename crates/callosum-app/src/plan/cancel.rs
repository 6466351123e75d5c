//! `callosum plan cancel`: ends a run, no matter which process carries it on.

use std::time::Duration;

/// Time to wait for the process that carries a run on.
pub const PATIENCE: Duration = Duration::from_secs(30);
