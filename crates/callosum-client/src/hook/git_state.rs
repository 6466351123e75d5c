//! Looks at git repositories before the guard stops a command: whether the tree is clean, a branch merged, a path absent.
//!
//! Start with [`look`]. It starts git, so it runs only for commands that the guard would stop, within [`PATIENCE`]
//! altogether; what is not known by then stays unknown, and the command is judged by the rules alone. Git runs with the
//! settings that keep it from starting anything that the repository brings.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use callosum_guard::{CommandAnalysis, Facts, GitQuestion, GitState, Verdict};
use callosum_host::{
    Disk,
    process::{self, Cancel, Ending, Launch, Limits, git},
};

use super::{
    blast_radius,
    worktree::{git_dir, shared},
};
use callosum_config::Environment;

/// Time limit for all lookups of one command together.
pub(super) const PATIENCE: Duration = Duration::from_millis(30);

/// Most bytes of git's answer that are read; a longer one counts as unknown.
const LONGEST: usize = 256 * 1024;

/// The result of a look at repositories and paths.
#[derive(Debug)]
pub struct Look {
    /// The facts with what was found.
    pub facts: Facts,
    /// The paths that the command deletes.
    pub paths: Vec<String>,
}

impl Look {
    /// Returns what a command that this verdict stops would do, if that can be counted within `PATIENCE`.
    pub fn blast_radius(&self, disk: &Disk, verdict: &Verdict) -> Option<String> {
        let rule = verdict.rule.as_deref()?;
        let deadline = Instant::now() + PATIENCE;
        blast_radius::describe(disk, rule, &self.paths, &self.facts, deadline)
    }
}

/// Looks at the repositories and paths of a command; `None` if no look could change the verdict.
pub fn look(
    disk: &Disk,
    environment: &Environment,
    analysis: &CommandAnalysis,
    patience: Duration,
) -> Option<Look> {
    let questions = analysis.questions();
    if questions.is_empty() {
        return None;
    }
    let deadline = Instant::now() + patience;
    let paths = questions.paths;
    let absent = paths.iter().filter(|path| {
        // A link that leads nowhere exists.
        let found = disk.stat(Path::new(path));
        found.is_ok_and(|found| found.is_none())
    });
    let absent = absent.cloned().collect();
    let mut states = BTreeMap::new();
    for (folder, question) in questions.repositories {
        let repository = Repository {
            disk,
            environment,
            folder: Path::new(&folder),
            deadline,
        };
        if let Some(state) = repository.state(&question) {
            states.insert(folder, state);
        }
    }
    let facts = Facts {
        git: states,
        absent,
        ..analysis.facts().clone()
    };
    Some(Look { facts, paths })
}

/// A repository as seen from the folder in which git runs.
struct Repository<'a> {
    disk: &'a Disk,
    environment: &'a Environment,
    folder: &'a Path,
    deadline: Instant,
}

impl Repository<'_> {
    fn state(&self, question: &GitQuestion) -> Option<GitState> {
        let git = git_dir(self.disk, self.folder)?;
        let common = shared(&git).to_owned();
        let mut state = GitState::default();
        if question.stashes {
            let stash = self.disk.stat(&common.join("refs/stash"));
            let packed = super::path_facts::has_packed_ref(self.disk, &common, b"refs/stash");
            state.has_stashes = stash.ok().map(|stash| stash.is_some() || packed);
        }
        if !question.branches.is_empty() {
            state.branches_are_saved = self.are_saved(&question.branches);
        }
        let is_about_tree = question.branches.is_empty() && !question.stashes || question.head;
        if is_about_tree || question.ignored {
            self.read_status(question, &mut state);
        }
        if question.head {
            let branch = if question.removes_tree {
                None
            } else {
                self.current_branch(&git)
            };
            state.head_is_saved = self.is_saved(branch.as_deref());
        }
        Some(state)
    }

    fn read_status(&self, question: &GitQuestion, state: &mut GitState) {
        let ignored = if question.ignored {
            "--ignored=traditional"
        } else {
            "--ignored=no"
        };
        let status = [
            "status",
            "--porcelain=v1",
            "-z",
            "-unormal",
            "--no-renames",
            ignored,
        ];
        let Some(printed) = self.git(&status) else {
            return;
        };
        let Some(top) = super::worktree::top(self.disk, self.folder) else {
            return;
        };
        let (mut changed, mut untracked, mut passed_over) = (Vec::new(), Vec::new(), Vec::new());
        for entry in printed
            .split(|byte| *byte == 0)
            .filter(|entry| entry.len() > 3)
        {
            let (kind, path) = (&entry[..2], &entry[3..]);
            let Ok(path) = std::str::from_utf8(path) else {
                // What is no text can be named by no rule, so nothing is known of the tree.
                return;
            };
            let path = format!("{}/{path}", top.display());
            match kind {
                b"??" => untracked.push(path),
                b"!!" => passed_over.push(path),
                _ => changed.push(path),
            }
        }
        state.changed = Some(changed);
        state.untracked = Some(untracked);
        state.ignored = question.ignored.then_some(passed_over);
    }

    /// The branch that is checked out; `None` if there is none.
    fn current_branch(&self, git: &Path) -> Option<String> {
        let head = self.disk.read_at_most(&git.join("HEAD"), 4_096).ok()?;
        let branch = head.strip_prefix(b"ref: refs/heads/")?;
        String::from_utf8(branch.trim_ascii_end().to_vec()).ok()
    }

    /// Whether refs other than this branch hold every commit of `HEAD`.
    fn is_saved(&self, branch: Option<&str>) -> bool {
        let exclude = branch.map(|branch| format!("--exclude={branch}"));
        let mut arguments = vec!["rev-list", "--max-count=1", "HEAD", "--not"];
        arguments.extend(exclude.as_deref());
        arguments.extend(["--branches", "--remotes", "--tags"]);
        self.git(&arguments)
            .is_some_and(|printed| printed.is_empty())
    }

    /// Whether refs other than these branches hold every commit of them.
    fn are_saved(&self, branches: &[String]) -> bool {
        let mut there: Vec<&String> = Vec::new();
        for branch in branches {
            match self.exists(branch) {
                Some(true) => there.push(branch),
                Some(false) => {}
                None => return false,
            }
        }
        if there.is_empty() {
            return true;
        }
        let tips: Vec<String> = there
            .iter()
            .map(|branch| format!("refs/heads/{branch}"))
            .collect();
        let exclude: Vec<String> = there
            .iter()
            .map(|branch| format!("--exclude={branch}"))
            .collect();
        let mut arguments = vec!["rev-list", "--max-count=1"];
        arguments.extend(tips.iter().map(String::as_str));
        arguments.push("--not");
        arguments.extend(exclude.iter().map(String::as_str));
        arguments.extend(["--branches", "--remotes", "--tags"]);
        self.git(&arguments)
            .is_some_and(|printed| printed.is_empty())
    }

    /// Whether there is a branch of this name, as far as files tell.
    fn exists(&self, branch: &str) -> Option<bool> {
        let git = git_dir(self.disk, self.folder)?;
        let common = shared(&git);
        let name = format!("refs/heads/{branch}");
        let loose = self.disk.stat(&common.join(&name)).ok()?;
        Some(
            loose.is_some()
                || super::path_facts::has_packed_ref(self.disk, common, name.as_bytes()),
        )
    }

    /// Runs git; `None` if it fails, prints too much, or time is up.
    fn git(&self, arguments: &[&str]) -> Option<Vec<u8>> {
        let left = self.deadline.checked_duration_since(Instant::now())?;
        let settings = git::SETTINGS.iter().flat_map(|setting| ["-c", *setting]);
        let all = settings.chain(arguments.iter().copied());
        let launch = Launch {
            program: PathBuf::from("git"),
            arguments: all.map(OsString::from).collect(),
            folder: self.folder.to_owned(),
            environment: git::environment(self.environment.iter()),
            input: Vec::new(),
            limits: Limits {
                quiet: None,
                total: Some(left),
                output_bytes: LONGEST,
                error_bytes: 1024,
            },
        };
        let cancel = Cancel::new().ok()?;
        let ended = process::run(&launch, &cancel, &mut |_, _| {}).ok()?;
        (ended.ending == Ending::Exited(0)).then_some(ended.output)
    }
}
