//! A snapshot of the tree when messages have not helped against an error, linked to that error.
//!
//! It is kept until the error is fixed. Taking one may take seconds, so a process of its own does it.

use std::ffi::OsString;

use callosum_host::process::{self, Launch};

use super::{
    Watcher,
    person::{NotifyError, launch},
};

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
        let launch = Launch {
            folder: self.root.clone(),
            ..launch(program, arguments.into(), &self.environment)
        };
        Ok(process::leave(&launch)?)
    }
}
