//! A snapshot of the tree when messages have not helped against an error, linked to that error.
//!
//! It is kept until the error is fixed. Taking one may take seconds, so a process of its own does it.

use std::ffi::OsString;

use callosum_host::process::{self, Launch, Limits};

use super::{Watcher, person::NotifyError};

impl Watcher {
    /// Starts the process that takes the snapshot, if the project is a git repository. Returns at once.
    ///
    /// # Errors
    /// If the process cannot be started.
    pub(super) fn take_snapshot(
        &self,
        signature: &str,
        error_type: &str,
    ) -> Result<(), NotifyError> {
        if !self.disk.exists(&self.root.join(".git"))? {
            return Ok(());
        }
        let program = std::env::current_exe().map_err(NotifyError::NoProgram)?;
        let label = format!("messages did not help against {error_type}");
        let arguments: [OsString; 5] = [
            "snapshot".into(),
            "create".into(),
            format!("--error={signature}").into(),
            "--".into(),
            label.into(),
        ];
        let variables = self.environment.iter();
        let launch = Launch {
            program,
            arguments: arguments.into(),
            folder: self.root.clone(),
            environment: variables
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            input: Vec::new(),
            limits: Limits {
                quiet: None,
                total: None,
                output_bytes: 0,
                error_bytes: 0,
            },
        };
        Ok(process::leave(&launch)?)
    }
}
