//! Output of a run: [`Sign`]s of life while it lasts, and the [`Reply`] at its end.

use std::time::Duration;

/// A sign of life from a running executor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign<'a> {
    /// So many bytes of its answer have come so far.
    Answering {
        /// Bytes of it so far.
        bytes: usize,
    },
    /// A line that it wrote to standard error, masked and fit for a terminal.
    Line(&'a str),
    /// Its current activity as it reports it, masked and fit for a terminal, on one line.
    Doing(&'a str),
    /// Length and reason of a wait for its server, likewise.
    Waiting(&'a str),
    /// The next piece of its answer, as it came: neither masked nor fit for a terminal.
    Text(&'a str),
    /// The answer begins again: its pieces so far are discarded.
    Restarted,
    /// Result of one of its tools that does more than read, as it came: neither masked nor fit for
    /// a terminal.
    Tool(&'a str),
}

/// Output of an executor that ended well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Its standard output.
    pub output: Vec<u8>,
    /// The end of its standard error, masked.
    pub complaint: String,
    /// From its start to its end.
    pub elapsed: Duration,
}
