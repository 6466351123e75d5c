//! [`Committed`]: what git last committed of a session's files.
//!
//! Git is asked for nothing but bytes and names: no filter, hook or watcher of the repository's runs.

use std::{ffi::OsString, path::Path, path::PathBuf, time::Duration};

use callosum_host::process::{self, Cancel, Ending, Launch, Limits};
use callosum_session::heal::Past;

use crate::config::Environment;

/// Most bytes of a file that are taken from git.
const LARGEST: usize = 64 << 20;

/// What git last committed.
pub(crate) struct Committed<'c> {
    /// The variables that git is started with, but for its own.
    pub(crate) environment: &'c Environment,
    /// The folder that holds the session's zones.
    pub(crate) root: &'c Path,
    /// How long git may take to show a file.
    pub(crate) patience: Duration,
    /// Who may end it before.
    pub(crate) cancel: &'c Cancel,
}

impl Committed<'_> {
    /// What git prints; nothing where there is no git, no commit or no such file.
    fn git(&self, arguments: &[&str]) -> Option<Vec<u8>> {
        let variables = self.environment.iter();
        let launch = Launch {
            program: PathBuf::from("git"),
            arguments: [
                "-c",
                "core.fsmonitor=false",
                "-c",
                "core.hooksPath=/dev/null",
            ]
            .iter()
            .chain(arguments)
            .map(OsString::from)
            .collect(),
            folder: self.root.to_owned(),
            environment: variables
                .filter(|(name, _)| !name.to_string_lossy().starts_with("GIT_"))
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            input: Vec::new(),
            limits: Limits {
                quiet: None,
                total: Some(self.patience),
                output_bytes: LARGEST,
                error_bytes: 1024,
            },
        };
        let run = process::run(&launch, self.cancel, &mut |_, _| {}).ok()?;
        (run.ending == Ending::Exited(0)).then_some(run.output)
    }
}

impl Past for Committed<'_> {
    fn file(&self, name: &str) -> Option<Vec<u8>> {
        self.git(&["cat-file", "blob", &format!("HEAD:./{name}")])
    }

    fn files(&self, folder: &str) -> Vec<String> {
        let printed = self.git(&["ls-tree", "-r", "-z", "--name-only", "HEAD", "--", folder]);
        let printed = printed.unwrap_or_default();
        names_in(&printed)
    }

    fn changed(&self, folder: &str) -> Vec<String> {
        let asked = [
            "diff",
            "--no-ext-diff",
            "--no-textconv",
            "--no-renames",
            "--relative",
            "--name-only",
            "-z",
            "HEAD",
            "--",
            folder,
        ];
        names_in(&self.git(&asked).unwrap_or_default())
    }

    fn ever(&self, folder: &str) -> Option<Vec<String>> {
        let asked = [
            "log",
            "--no-renames",
            "--no-show-signature",
            "--relative",
            "--format=",
            "--name-only",
            "-z",
            "HEAD",
            "--",
            folder,
        ];
        match self.git(&asked) {
            Some(printed) => Some(names_in(&printed)),
            // Without a commit nothing was ever there; where there is one, git took too long.
            None => self
                .git(&["rev-parse", "-q", "--verify", "HEAD"])
                .is_none()
                .then(Vec::new),
        }
    }
}

/// The names that git prints, each with a zero byte behind it.
fn names_in(printed: &[u8]) -> Vec<String> {
    let names = printed.split(|byte| *byte == 0);
    let names = names.map(<[u8]>::trim_ascii_start);
    names
        .filter(|name| !name.is_empty())
        .filter_map(|name| String::from_utf8(name.to_vec()).ok())
        .collect()
}
