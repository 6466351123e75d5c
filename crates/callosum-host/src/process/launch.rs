//! [`Launch`]: all that a child is given, and [`Limits`]: all that it may take.

use std::{ffi::OsString, path::PathBuf, time::Duration};

/// A program to start and everything it will see.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program's file: an absolute path, or a name that is looked up in `PATH` of `env`.
    pub program: PathBuf,
    /// Arguments, each handed over as it is.
    pub arguments: Vec<OsString>,
    /// The folder that it starts in.
    pub folder: PathBuf,
    /// The whole environment; nothing else is passed on.
    pub environment: Vec<(OsString, OsString)>,
    /// What it reads on standard input before the end of file.
    pub input: Vec<u8>,
    /// What it may take.
    pub limits: Limits,
}

/// How long and how much a child may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Longest time without a byte on either output, if any.
    pub quiet: Option<Duration>,
    /// Longest time in all, if any.
    pub total: Option<Duration>,
    /// Most bytes kept of standard output; one more ends the child.
    pub output_bytes: usize,
    /// Most bytes kept of standard error: the last ones, older ones are let go.
    pub error_bytes: usize,
}
