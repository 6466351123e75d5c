//! `bd`, an external program for tasks. It is used if it is installed and has files of its own in
//! `.beads/`.
//!
//! Start with [`Bd::of`]. `bd` owns the title, status and priority of a task that it knows; changes
//! of them are sent to it. Decisions and hand-offs are ours, and are added to its notes as text.
//! Our own files are read and written first, so that nothing depends on its result or its speed.

pub mod issue;

pub use self::issue::Issue;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use callosum_config::Environment;
use callosum_host::process::{Cancel, Ending, Launch, Limits};
use callosum_host::{Disk, process};

/// The program.
const PROGRAM: &str = "bd";

/// Files of `bd` in `.beads/`. At least one of them exists if `bd` is in use.
const OWN: [&str; 3] = ["metadata.json", "issues.jsonl", "beads.db"];

/// Timeout of one call of `bd`.
const PATIENCE: Duration = Duration::from_secs(5);

/// Most bytes that are read of what it prints.
const LONGEST: usize = 16 << 20;

/// The program, in a project where it is used.
pub struct Bd<'b> {
    program: PathBuf,
    environment: &'b Environment,
    root: &'b Path,
    cancel: &'b Cancel,
}

/// A failed call of `bd`.
#[derive(Debug, thiserror::Error)]
pub enum BdError {
    /// It could not be started.
    #[error("`bd` cannot be started")]
    Start(#[source] callosum_host::process::SpawnError),
    /// It ended in another way than well.
    #[error("`bd {command}` failed: {message}")]
    Failed {
        /// Subcommand that was called.
        command: String,
        /// Its last words.
        message: String,
    },
    /// The output has an unknown format.
    #[error("`bd {command}` printed no tasks in a form that is known")]
    Unread {
        /// What was asked.
        command: String,
    },
}

impl<'b> Bd<'b> {
    /// The program, where it is in `PATH` and keeps files of its own in `.beads/`.
    pub fn of(
        disk: &Disk,
        environment: &'b Environment,
        root: &'b Path,
        cancel: &'b Cancel,
    ) -> Option<Self> {
        let beads = root.join(".beads");
        let is_used = OWN
            .iter()
            .any(|name| disk.exists(&beads.join(name)).unwrap_or(false));
        if !is_used {
            return None;
        }
        let folders = environment.get("PATH")?;
        let program = std::env::split_paths(folders)
            .filter(|folder| folder.is_absolute() && !folder.starts_with(root))
            .map(|folder| folder.join(PROGRAM))
            .find(|program| disk.exists(program).unwrap_or(false))?;
        Some(Self {
            program,
            environment,
            root,
            cancel,
        })
    }

    /// Lists the tasks that `bd` reports as ready to work on.
    pub fn ready(&self) -> Result<Vec<Issue>, BdError> {
        let arguments = ["ready", "--json", "-n", "0"];
        Issue::all(&self.ask(&arguments)?).ok_or_else(|| unread(&arguments))
    }

    /// A task; `None` where it does not know it.
    pub fn show(&self, id: &str) -> Result<Option<Issue>, BdError> {
        let arguments = ["show", id, "--json"];
        let printed = match self.ask(&arguments) {
            // It says so by failing.
            Err(BdError::Failed { message, .. }) if message.contains("not found") => {
                return Ok(None);
            }
            printed => printed?,
        };
        let issues = Issue::all(&printed).ok_or_else(|| unread(&arguments))?;
        Ok(issues.into_iter().find(|issue| issue.id == id))
    }

    /// Adds words to the notes of a task.
    pub fn note(&self, id: &str, words: &str) -> Result<(), BdError> {
        self.ask(&["update", id, "--append-notes", words]).map(drop)
    }

    /// Makes a task of this id.
    pub fn create(&self, id: &str, values: &[(&str, String)]) -> Result<(), BdError> {
        let mut arguments = vec!["create", "--id", id];
        for (option, value) in values {
            arguments.extend([*option, value.as_str()]);
        }
        self.ask(&arguments).map(drop)
    }

    /// Changes a task, by options of its `update` and their values.
    pub fn update(&self, id: &str, changes: &[(&str, String)]) -> Result<(), BdError> {
        let mut arguments = vec!["update", id];
        for (option, value) in changes {
            arguments.extend([*option, value.as_str()]);
        }
        self.ask(&arguments).map(drop)
    }

    /// Closes a task.
    pub fn close(&self, id: &str) -> Result<(), BdError> {
        self.ask(&["close", id]).map(drop)
    }

    fn ask(&self, arguments: &[&str]) -> Result<Vec<u8>, BdError> {
        let launch = Launch {
            program: self.program.clone(),
            arguments: arguments.iter().map(OsString::from).collect(),
            folder: self.root.to_owned(),
            environment: self
                .environment
                .iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            input: Vec::new(),
            limits: Limits {
                quiet: None,
                total: Some(PATIENCE),
                output_bytes: LONGEST,
                error_bytes: 4096,
            },
        };
        let run = process::run(&launch, self.cancel, &mut |_, _| {}).map_err(BdError::Start)?;
        if run.ending == Ending::Exited(0) {
            return Ok(run.output);
        }
        let output = String::from_utf8_lossy(&run.error);
        let last = output.lines().rfind(|line| !line.trim().is_empty());
        Err(BdError::Failed {
            command: arguments[0].to_owned(),
            message: last.map_or_else(|| "it did not answer".to_owned(), str::to_owned),
        })
    }
}

fn unread(arguments: &[&str]) -> BdError {
    BdError::Unread {
        command: arguments[0].to_owned(),
    }
}
