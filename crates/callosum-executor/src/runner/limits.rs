//! Limits of a run: its time, its silence, and the size of its output.

use std::time::Duration;

/// Longest silence of an executor whose entry says nothing else (REQ-COM-003).
pub const QUIET: Duration = Duration::from_secs(5);

/// Most bytes of an answer; one more is E006.
pub const LARGEST_ANSWER: usize = 4 * 1024 * 1024;

/// Bytes of an executor's complaint that are read.
pub(crate) const HEARD_COMPLAINT: usize = 64 * 1024;

/// Time limits of an executor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Longest silence: no byte on either output, nor from a host by way of the proxy.
    pub quiet: Duration,
    /// Longest time in all, if there is a bound.
    pub total: Option<Duration>,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            quiet: QUIET,
            total: None,
        }
    }
}
