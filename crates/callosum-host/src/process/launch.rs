//! [`Launch`]: all that a child is given, and [`Limits`]: all that it may take.

use std::{ffi::OsString, os::unix::fs::PermissionsExt as _, path::PathBuf, time::Duration};

/// A program to start and everything it will see.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program's file: a path, or a name that is looked up in the absolute folders of `PATH` in
    /// `environment`. A relative folder there would belong to the tree in which the program happens
    /// to start.
    pub program: PathBuf,
    /// Arguments, each passed unchanged.
    pub arguments: Vec<OsString>,
    /// The folder that it starts in.
    pub folder: PathBuf,
    /// The whole environment; nothing else is passed on.
    pub environment: Vec<(OsString, OsString)>,
    /// Its standard input, followed by the end of file.
    pub input: Vec<u8>,
    /// Its limits.
    pub limits: Limits,
}

impl Launch {
    /// Returns the file to start; `None` if no folder holds one of this name.
    pub(super) fn file(&self) -> Option<PathBuf> {
        let is_named = self.program.components().count() == 1 && self.program.is_relative();
        let mut variables = self.environment.iter().rev();
        let folders = variables.find(|(name, _)| name == "PATH");
        let (true, Some((_, folders))) = (is_named, folders) else {
            return Some(self.program.clone());
        };
        let files = std::env::split_paths(folders)
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join(&self.program));
        let mut first = None;
        for file in files {
            let Ok(found) = file.metadata() else { continue };
            if !found.is_file() {
                continue;
            }
            if found.permissions().mode() & 0o111 != 0 {
                return Some(file);
            }
            // The system does not allow executing it.
            first.get_or_insert(file);
        }
        first
    }
}

/// Limits of a child's time and output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Longest time without a sign of life, if any: a byte on either output, or a beat of a [`Heartbeat`](super::Heartbeat).
    pub quiet: Option<Duration>,
    /// Longest time in all, if any.
    pub total: Option<Duration>,
    /// Most bytes kept of standard output; one more ends the child.
    pub output_bytes: usize,
    /// Most bytes kept of standard error: the last ones, older ones are let go.
    pub error_bytes: usize,
}
