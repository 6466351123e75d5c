//! `ck`, an external search program. It is used if the user placed it in their configuration
//! folder.
//!
//! Start with [`Ck::of`]. Its hits are [`Proposal`]s, to be fused with our own hits. Our own search
//! does not depend on its result or its speed.
//!
//! Deliberately not here: a lookup in `PATH` or in a project's files. The program runs because its
//! user put it in a place that no repository reaches.

pub mod hit;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use callosum_config::{Environment, Homes};
use callosum_host::process::{Cancel, Ending, Launch, Limits, SpawnError};
use callosum_host::{Disk, DiskError, process};
use callosum_redact::terminal_escape::on_one_line;
use callosum_search::Proposal;

use crate::shell_word;

/// Timeout of an answer. The first in a tree may take minutes; starting that is up to the user.
const PATIENCE: Duration = Duration::from_secs(15);

/// Most bytes that are read of what it prints.
const LONGEST: usize = 4 << 20;

/// Maximum number of hits to ask for.
const MOST: &str = "50";

/// Message of `ck` if it finds nothing. Like grep, it exits with code 1 then.
const NOTHING: &str = "No matches found";

/// The variable that names the folder of its indexes.
const INDEXES: &str = "CK_INDEX_DIR";

/// All that it is given of the environment: where it finds its models, and how it is to write.
const VARIABLES: [&str; 10] = [
    "HOME",
    "PATH",
    "TMPDIR",
    "LANG",
    "LC_ALL",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "HF_HOME",
    INDEXES,
];

/// The program, where it is to be used.
pub struct Ck<'c> {
    program: PathBuf,
    environment: Vec<(OsString, OsString)>,
    tree: &'c Path,
    cancel: &'c Cancel,
    patience: Duration,
}

/// A failed call of `ck`.
#[derive(Debug, thiserror::Error)]
pub enum CkError {
    /// It is not there, or is none that can be started.
    #[error(transparent)]
    Start(#[from] SpawnError),
    /// The program's path could not be checked.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// It did not end in time.
    #[error("it gave no answer within {} s", .0.as_secs())]
    Late(Duration),
    /// It ended in another way than well.
    #[error("it failed: {message}")]
    Failed {
        /// Its last words.
        message: String,
    },
    /// The output exceeds the limit.
    #[error("it printed more than {} MiB", LONGEST >> 20)]
    TooLong,
    /// It printed what is no hit.
    #[error("line {line} of its output is not a hit")]
    Unread {
        /// Number of the line, from 1.
        line: usize,
    },
}

impl<'c> Ck<'c> {
    /// Returns the program to search a tree with, which the user placed, or linked, in their
    /// configuration folder. `None` if it does not exist.
    pub fn of(
        disk: &Disk,
        environment: &Environment,
        homes: &Homes,
        tree: &'c Path,
        cancel: &'c Cancel,
    ) -> Result<Option<Self>, CkError> {
        let program = homes.ck();
        // A dangling link counts as present: its failure is reported when it is called.
        if !disk.exists(&program)? {
            return Ok(None);
        }
        let given = |name: &str| Some((name.into(), environment.get(name)?.to_owned()));
        let mut passed: Vec<(OsString, OsString)> =
            VARIABLES.iter().filter_map(|name| given(name)).collect();
        if passed.iter().all(|(name, _)| name != INDEXES) {
            // Else it would write into the tree, and believe what a repository brings along.
            passed.push((INDEXES.into(), homes.ck_indexes().into()));
        }
        Ok(Some(Self {
            program,
            environment: passed,
            tree,
            cancel,
            patience: PATIENCE,
        }))
    }

    /// Its place.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Returns its name and version, as in `ck 0.8.1`.
    pub fn version(&self) -> Result<String, CkError> {
        let printed = self.ask(&["--version"])?;
        let printed = String::from_utf8_lossy(&printed);
        let first = printed.lines().next().unwrap_or_default();
        Ok(first.trim().to_owned())
    }

    /// The lines that it takes for an answer, the best first.
    ///
    /// Paths are as it says them, from the tree; whether they stand in it is for the index to say.
    pub fn search(&self, typed: &str) -> Result<Vec<Proposal>, CkError> {
        // The query may begin with `-`: nothing behind `--` is an option.
        let arguments = [
            "--hybrid",
            "--jsonl",
            "--no-snippet",
            "--quiet",
            "--topk",
            MOST,
            "--",
            typed,
            ".",
        ];
        let printed = self.ask(&arguments)?;
        hit::proposals(&printed, self.tree).map_err(|line| CkError::Unread { line })
    }

    /// Returns the command line that builds its index of the tree. That takes longer than a search
    /// may.
    pub fn preparation(&self) -> String {
        let folder = self.environment.iter().find(|(name, _)| name == INDEXES);
        let folder = folder.map_or_else(PathBuf::new, |(_, folder)| PathBuf::from(folder));
        let word = |path: &Path| shell_word(&path.display().to_string());
        format!(
            "{INDEXES}={} {} --index --no-ckignore {}",
            word(&folder),
            word(&self.program),
            word(self.tree)
        )
    }

    fn ask(&self, arguments: &[&str]) -> Result<Vec<u8>, CkError> {
        let launch = Launch {
            program: self.program.clone(),
            arguments: arguments.iter().map(OsString::from).collect(),
            folder: self.tree.to_owned(),
            environment: self.environment.clone(),
            input: Vec::new(),
            limits: Limits {
                quiet: None,
                total: Some(self.patience),
                output_bytes: LONGEST,
                error_bytes: 4096,
            },
        };
        let run = process::run(&launch, self.cancel, &mut |_, _| {})?;
        match run.ending {
            Ending::Exited(0) => return Ok(run.output),
            Ending::Deadline => return Err(CkError::Late(self.patience)),
            Ending::TooMuchOutput => return Err(CkError::TooLong),
            _ => {}
        }
        let message = String::from_utf8_lossy(&run.error);
        if run.ending == Ending::Exited(1) && run.output.is_empty() && message.contains(NOTHING) {
            return Ok(Vec::new());
        }
        let last = message.lines().rfind(|line| !line.trim().is_empty());
        Err(CkError::Failed {
            message: last.map_or_else(|| "it gave no reason".to_owned(), on_one_line),
        })
    }
}

#[cfg(test)]
mod tests {
    use callosum_testkit::{FakeCk, TestEnv};

    use super::*;

    /// LOA-JIT-2: a program that does not answer is killed, and the timeout is reported.
    #[test]
    fn one_that_hangs_is_given_up() {
        let env = TestEnv::new();
        FakeCk::lay(&env, FakeCk::HANGS);
        let cancel = Cancel::new().unwrap();
        let ck = Ck {
            program: FakeCk::place(&env),
            environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
            tree: &env.project(),
            cancel: &cancel,
            patience: Duration::from_millis(50),
        };
        let error = ck.search("anything").unwrap_err();
        assert!(matches!(error, CkError::Late(_)), "{error:?}");
        assert!(ck.preparation().contains("--index"));
    }
}
