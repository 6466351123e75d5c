//! [`Committed`]: the last committed versions of a session's files, as git has them.
//!
//! Git is asked only for bytes and names: no filter, hook or watcher of the repository runs.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    os::unix::ffi::OsStringExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use callosum_host::process::{self, Cancel, Ending, Launch, Limits, git};
use callosum_session::{
    heal::Past,
    merge::{Kind, OpenMerge},
    rollback::History,
};
use jiff::Timestamp;

use callosum_config::Environment;

/// Most bytes of a file that are taken from git.
const LARGEST: usize = 64 << 20;

/// Arguments that make git print the names of files that differ.
const DIFFERENT: [&str; 8] = [
    "diff",
    "--ignore-submodules=all",
    "--no-ext-diff",
    "--no-textconv",
    "--no-renames",
    "--relative",
    "--name-only",
    "-z",
];

/// Settings of a filter, each with the value that disables it.
const FILTER: [(&str, &str); 4] = [
    (".clean", ""),
    (".smudge", ""),
    (".process", ""),
    (".required", "false"),
];

/// The last commit of a session's files.
pub struct Committed<'c> {
    /// The variables that git is started with, but for its own.
    pub environment: &'c Environment,
    /// The folder that holds the session's zones.
    pub root: &'c Path,
    /// Time limit for git to show a file.
    pub patience: Duration,
    /// Cancels git before the time limit.
    pub cancel: &'c Cancel,
    /// Whether git may be in the middle of a merge: else it is not asked for one.
    pub may_be_merging: bool,
}

impl Committed<'_> {
    /// Runs git and returns its output; `None` if there is no git, no commit or no such file.
    fn git(&self, arguments: &[&str]) -> Option<Vec<u8>> {
        self.git_with(arguments, Vec::new())
    }

    /// Runs git with further variables.
    pub fn git_with(
        &self,
        arguments: &[&str],
        further: Vec<(OsString, OsString)>,
    ) -> Option<Vec<u8>> {
        let mut environment = git::environment(self.environment.iter());
        environment.extend(further);
        let launch = Launch {
            program: PathBuf::from("git"),
            arguments: git::SETTINGS
                .iter()
                .flat_map(|setting| ["-c", *setting])
                .chain(arguments.iter().copied())
                .map(OsString::from)
                .collect(),
            folder: self.root.to_owned(),
            environment,
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

    /// Returns variables that keep git from running any filter of the repository's settings on a
    /// file's content: each filter is set to nothing, by its own name. `None` if the settings
    /// cannot be read.
    fn unfiltered(&self) -> Option<Vec<(OsString, OsString)>> {
        let printed = self.git(&["config", "--list", "--name-only", "-z"])?;
        let keys = printed.split(|byte| *byte == 0);
        let filters: BTreeSet<&[u8]> = keys
            .filter(|key| key.starts_with(b"filter."))
            .filter_map(|key| key.rsplitn(2, |byte| *byte == b'.').nth(1))
            .collect();
        let mut variables = Vec::new();
        let parts = filters.iter().flat_map(|filter| {
            FILTER.map(|(part, value)| ([filter, part.as_bytes()].concat(), value))
        });
        for (number, (key, value)) in parts.enumerate() {
            let name = format!("GIT_CONFIG_KEY_{number}");
            variables.push((name.into(), OsString::from_vec(key)));
            variables.push((format!("GIT_CONFIG_VALUE_{number}").into(), value.into()));
        }
        let count = (variables.len() / 2).to_string();
        variables.push(("GIT_CONFIG_COUNT".into(), count.into()));
        Some(variables)
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
        // Git reads a file to see whether it has changed, and would have filters convert it.
        let asked = [&DIFFERENT[..], &["HEAD", "--", folder]].concat();
        let printed = self
            .unfiltered()
            .and_then(|filters| self.git_with(&asked, filters));
        names_in(&printed.unwrap_or_default())
    }

    fn staged(&self, folder: &str) -> Vec<String> {
        let asked = [&DIFFERENT[..], &["--cached", "HEAD", "--", folder]].concat();
        names_in(&self.git(&asked).unwrap_or_default())
    }

    fn next(&self, name: &str) -> Option<Vec<u8>> {
        self.git(&["cat-file", "blob", &format!(":./{name}")])
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
            // Without a commit there never was a version; with one, git took too long.
            None => self
                .git(&["rev-parse", "-q", "--verify", "HEAD"])
                .is_none()
                .then(Vec::new),
        }
    }

    fn open_merges(&self) -> Option<Vec<OpenMerge>> {
        if !self.may_be_merging {
            return Some(Vec::new());
        }
        let asked = [&["ls-files", "--unmerged", "-z", "--"], &MERGED[..]].concat();
        let printed = self.git(&asked)?;
        let mut files: BTreeMap<String, [Option<Vec<u8>>; 3]> = BTreeMap::new();
        for (file, object, stage) in printed.split(|byte| *byte == 0).filter_map(unmerged) {
            if Kind::of(&file).is_some() {
                let blob = self.git(&["cat-file", "blob", object])?;
                files.entry(file).or_default()[stage] = Some(blob);
            }
        }
        let sides = files.into_iter();
        let sides = sides.map(|(file, [base, ours, theirs])| OpenMerge {
            file,
            base,
            ours,
            theirs,
        });
        Some(sides.collect())
    }
}

impl History for Committed<'_> {
    fn commit_at(&self, time: Timestamp) -> Option<String> {
        let age = format!("--min-age={}", time.as_second());
        let printed = self.git(&["rev-list", "-1", &age, "HEAD", "--"])?;
        let id = String::from_utf8(printed).ok()?.trim().to_owned();
        (!id.is_empty()).then_some(id)
    }

    fn file_of(&self, commit: &str, name: &str) -> Option<Vec<u8>> {
        self.git(&["cat-file", "blob", &format!("{commit}:./{name}")])
    }

    fn files_of(&self, commit: &str, folder: &str) -> Vec<String> {
        let printed = self.git(&["ls-tree", "-r", "-z", "--name-only", commit, "--", folder]);
        names_in(&printed.unwrap_or_default())
    }
}

/// Paths of session files that git merges.
const MERGED: [&str; 3] = [
    "loa-grimoire/NOTES.md",
    "loa-grimoire/a2a/trajectory",
    ".beads",
];

/// The file, the name of its object, and which of the three it is, counted from 0, in a line that git prints of what is not merged.
fn unmerged(line: &[u8]) -> Option<(String, &str, usize)> {
    let (about, file) = std::str::from_utf8(line).ok()?.split_once('\t')?;
    let [_, object, stage] = *about.split(' ').collect::<Vec<_>>() else {
        return None;
    };
    let stage = stage.parse::<usize>().ok()?.checked_sub(1)?;
    (stage < 3).then(|| (file.to_owned(), object, stage))
}

/// The names that git prints, each with a zero byte behind it.
pub fn names_in(printed: &[u8]) -> Vec<String> {
    let names = printed.split(|byte| *byte == 0);
    let names = names.map(<[u8]>::trim_ascii_start);
    names
        .filter(|name| !name.is_empty())
        .filter_map(|name| String::from_utf8(name.to_vec()).ok())
        .collect()
}
