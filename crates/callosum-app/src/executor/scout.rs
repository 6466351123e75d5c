//! `callosum executor run`: the executors that are part of this program, run as its subprocess.
//!
//! Hidden: it is started by a delegation. `scout` is the embedded executor and speaks the
//! executor's protocol, one JSON request on standard input and one JSON answer on standard output;
//! progress goes to standard error. The others speak to an executor that is no program: one job on
//! standard input, and a line of JSON on standard output for each event.

use std::time::Duration;

/// The most that a request may have, in bytes.
pub const LONGEST_REQUEST: u64 = 64 * 1024 * 1024;

/// The shortest pause between two lines of progress.
pub const PROGRESS_PAUSE: Duration = Duration::from_millis(50);
