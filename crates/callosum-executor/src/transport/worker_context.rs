//! [`WorkerContext`]: what the process that speaks for the controller gets from its caller.

use std::ffi::OsString;

use callosum_host::Disk;

/// Resources of the process.
#[derive(Debug)]
pub struct WorkerContext<'m> {
    /// The disk.
    pub disk: &'m Disk,
    /// Its environment, which may hold a key.
    pub environment: &'m [(OsString, OsString)],
}
