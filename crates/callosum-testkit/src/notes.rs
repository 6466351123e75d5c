//! [`Notes`]: messages that a fake received, written down for the test.

use std::{fs::OpenOptions, io, io::Write as _, path::PathBuf};

use serde_json::Value;

/// A file of messages, one a line, if the fake was started with `--heard FILE`.
#[derive(Debug)]
pub struct Notes(Option<PathBuf>);

impl Notes {
    /// The file that the running program's arguments name.
    pub fn from_arguments() -> Self {
        let mut arguments = std::env::args_os();
        let named = arguments.find(|argument| argument == "--heard");
        Self(named.and_then(|_| arguments.next()).map(PathBuf::from))
    }

    /// Writes a message down, before anything else happens.
    pub fn add(&self, message: &Value) -> io::Result<()> {
        let Some(path) = &self.0 else {
            return Ok(());
        };
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        writeln!(file, "{message}")
    }
}
