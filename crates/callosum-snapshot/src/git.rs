//! [`Git`]: the program, run with exactly the places that it is to use.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    time::Duration,
};

use callosum_host::{
    Clock, Disk, Ids,
    process::{self, Cancel, Ending, Launch, Limits, SpawnError, git},
};

/// Timeout of a call of git.
const PATIENCE: Duration = Duration::from_mins(2);

/// Settings that keep git from tidying up and from ignoring files, besides those that keep it from
/// running what others configured.
const SETTINGS: [&str; 6] = [
    "core.splitIndex=false",
    "core.ignoreStat=false",
    "core.sparseCheckout=false",
    "core.quotePath=false",
    "gc.auto=0",
    "advice.graftFileDeprecated=false",
];

/// The words of a git that failed without any.
pub(super) const SILENCE: &str = "no error message";

/// Access to the machine that snapshots need.
#[derive(Clone, Debug)]
pub struct GitEnvironment {
    /// Files.
    pub disk: Disk,
    /// The time.
    pub clock: Clock,
    /// Ids.
    pub ids: Ids,
    /// Ends git on a cancellation.
    pub cancel: Cancel,
    /// The variables that git may see; those that would lead it elsewhere are taken out.
    pub environment: Vec<(OsString, OsString)>,
}

/// Reason that git did not do its task.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// It could not be run.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// It reported a failure.
    #[error("git {command} failed: {message}")]
    Failed {
        /// The git command.
        command: String,
        /// Its last words.
        message: String,
    },
    /// It was ended.
    #[error("git {command} was stopped before it finished")]
    Ended {
        /// The git command.
        command: String,
    },
}

/// Git in one folder, with these variables.
#[derive(Clone, Debug)]
pub(super) struct Git<'s> {
    pub(super) surroundings: &'s GitEnvironment,
    pub(super) folder: PathBuf,
    pub(super) variables: Vec<(&'static str, OsString)>,
    /// Settings that hold before those of every call.
    settings: Vec<OsString>,
}

impl<'s> Git<'s> {
    pub(super) fn in_folder(surroundings: &'s GitEnvironment, folder: &Path) -> Self {
        Self {
            surroundings,
            folder: folder.to_owned(),
            variables: Vec::new(),
            settings: Vec::new(),
        }
    }

    /// The same, with the settings of a file besides those that git would read.
    pub(super) fn with_settings_of(mut self, file: &Path) -> Self {
        let mut setting = OsString::from("include.path=");
        setting.push(file);
        self.settings.push(setting);
        self
    }

    pub(super) fn with(mut self, name: &'static str, value: impl AsRef<OsStr>) -> Self {
        self.variables.push((name, value.as_ref().to_owned()));
        self
    }

    /// Runs it and gives what it printed.
    pub(super) fn run<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<Vec<u8>, GitError> {
        self.run_on(arguments, Vec::new())
    }

    /// The same, of what it printed the first line.
    pub(super) fn line(&self, arguments: &[&str]) -> Result<String, GitError> {
        let printed = self.run(arguments)?;
        let line = printed.split(|byte| *byte == b'\n').next();
        Ok(String::from_utf8_lossy(line.unwrap_or_default()).into_owned())
    }

    /// Runs it with something to read.
    pub(super) fn run_on<A: AsRef<OsStr>>(
        &self,
        arguments: &[A],
        input: Vec<u8>,
    ) -> Result<Vec<u8>, GitError> {
        let arguments = arguments.iter().map(AsRef::as_ref);
        let command = || {
            let first = arguments.clone().next().unwrap_or_default();
            first.to_string_lossy().into_owned()
        };
        let own = self.settings.iter().map(OsString::as_os_str);
        let settings = own.chain(git::SETTINGS.iter().chain(&SETTINGS).map(OsStr::new));
        let settings = settings.flat_map(|setting| [OsStr::new("-c"), setting]);
        let launch = Launch {
            program: PathBuf::from("git"),
            arguments: settings
                .chain(arguments.clone())
                .map(OsStr::to_owned)
                .collect(),
            folder: self.folder.clone(),
            environment: self.environment(),
            input,
            limits: Limits {
                quiet: None,
                total: Some(PATIENCE),
                output_bytes: 1 << 30,
                error_bytes: 8 * 1024,
            },
        };
        let run = process::run(&launch, &self.surroundings.cancel, &mut |_, _| {})?;
        match run.ending {
            Ending::Exited(0) => Ok(run.output),
            Ending::Exited(_) => {
                let message = String::from_utf8_lossy(&run.error);
                Err(GitError::Failed {
                    command: command(),
                    message: complaint(&message).to_owned(),
                })
            }
            _ => Err(GitError::Ended { command: command() }),
        }
    }

    fn environment(&self) -> Vec<(OsString, OsString)> {
        let given = self.surroundings.environment.iter();
        let mut environment = git::environment(given.map(|(name, value)| (name, value)));
        for (name, value) in [
            ("GIT_AUTHOR_NAME", "Callosum"),
            ("GIT_AUTHOR_EMAIL", "snapshots@callosum.invalid"),
            ("GIT_COMMITTER_NAME", "Callosum"),
            ("GIT_COMMITTER_EMAIL", "snapshots@callosum.invalid"),
        ] {
            environment.push((name.into(), value.into()));
        }
        environment.retain(|(name, _)| name != "LC_ALL");
        environment.push(("LC_ALL".into(), "C".into()));
        let own = self.variables.iter();
        environment.extend(own.map(|(name, value)| (OsString::from(name), value.clone())));
        environment
    }
}

/// Returns the line that reports the error, of all of git's messages: behind it there may be a
/// hint.
fn complaint(message: &str) -> &str {
    let lines = || message.trim().lines().rev();
    let wrong = lines().find(|line| line.starts_with("fatal: ") || line.starts_with("error: "));
    wrong.or(lines().next()).unwrap_or(SILENCE)
}

#[cfg(test)]
mod tests {
    use super::complaint;

    /// CAKE-SNAP-1: the last line of git's messages is not always the error.
    #[test]
    fn an_error_is_distinguished_from_the_hint_behind_it() {
        for (message, expected) in [
            (
                "fatal: not a git repository (or any parent up to mount point /mnt)\n\
                 Stopping at filesystem boundary (GIT_DISCOVERY_ACROSS_FILESYSTEM not set).\n",
                "fatal: not a git repository (or any parent up to mount point /mnt)",
            ),
            ("error: a\nfatal: b\n", "fatal: b"),
            ("warning: a\nb", "b"),
            ("", "no error message"),
        ] {
            assert_eq!(complaint(message), expected);
        }
    }
}
