//! `callosum plan cancel`: a run ended, whoever carries it on.

use std::time::Duration;

/// How long the process that carries a run on is waited for.
pub const PATIENCE: Duration = Duration::from_secs(30);
