//! [`Checkouts`]: which repository a folder of this machine belongs to, and the folder in which this machine has a repository.
//!
//! Asks git, with settings by which it runs nothing that a repository brings along. Answers are kept for a minute.

use std::{
    collections::HashMap,
    ffi::OsString,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use callosum_config::{Environment, Repositories};
use callosum_host::{
    Disk,
    process::{self, Cancel, Ending, Launch, Limits, git},
};

use super::Repository;

/// Time for which an answer of git is believed.
const FRESH: Duration = Duration::from_mins(1);

/// Longest run of git. A root commit is searched for in the whole history.
const LONGEST_RUN: Duration = Duration::from_secs(20);

/// Most bytes of git's answer.
const MOST_BYTES: usize = 64 * 1024;

/// Place of a path in a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// The repository.
    pub repository: Repository,
    /// Its folder on this machine.
    pub root: PathBuf,
}

/// Source of places, which tests replace.
pub trait Places {
    /// Returns the repository that an absolute path is in; `None` if it is in none that another machine may know.
    fn locate(&mut self, path: &Path) -> Option<Located>;

    /// Returns the folder in which this machine has a repository.
    fn checkout(&mut self, repository: &Repository) -> Option<PathBuf>;

    /// The home folder of the user, which is written as `~`.
    fn home(&self) -> Option<&Path>;
}

/// The checkouts of this machine.
pub struct Checkouts {
    disk: Disk,
    environment: Environment,
    home: Option<PathBuf>,
    /// The list of projects that their user began.
    projects: PathBuf,
    known: HashMap<PathBuf, Option<Repository>>,
    roots: HashMap<Repository, PathBuf>,
    since: Instant,
    is_listed: bool,
}

impl Checkouts {
    /// Returns the checkouts of a machine whose projects are listed in this folder.
    pub fn new(disk: &Disk, environment: &Environment, projects: PathBuf) -> Self {
        Self {
            disk: disk.clone(),
            environment: environment.clone(),
            home: environment.path("HOME"),
            projects,
            known: HashMap::new(),
            roots: HashMap::new(),
            since: Instant::now(),
            is_listed: false,
        }
    }

    fn forget_old(&mut self) {
        if self.since.elapsed() > FRESH {
            self.known.clear();
            self.roots.clear();
            self.is_listed = false;
            self.since = Instant::now();
        }
    }

    /// Returns the repository with this root.
    fn repository(&mut self, root: &Path) -> Option<Repository> {
        if let Some(known) = self.known.get(root) {
            return known.clone();
        }
        let found = self.look(root);
        if let Some(repository) = &found {
            self.roots
                .entry(repository.clone())
                .or_insert_with(|| root.to_owned());
        }
        self.known.insert(root.to_owned(), found.clone());
        found
    }

    fn look(&self, root: &Path) -> Option<Repository> {
        if let Some(address) = self.git(root, &["config", "--get", "remote.origin.url"])
            && let Some(repository) = Repository::of_remote(&address)
        {
            return Some(repository);
        }
        let is_shallow = self.git(root, &["rev-parse", "--is-shallow-repository"])?;
        if is_shallow.trim() != "false" {
            return None;
        }
        let roots = self.git(root, &["rev-list", "--max-parents=0", "HEAD"])?;
        // The oldest comes last.
        Repository::of_root_commit(roots.lines().last()?)
    }

    fn git(&self, root: &Path, arguments: &[&str]) -> Option<String> {
        let settings = git::SETTINGS.iter().flat_map(|setting| ["-c", *setting]);
        let all = settings.chain(arguments.iter().copied());
        let launch = Launch {
            program: PathBuf::from("git"),
            arguments: all.map(OsString::from).collect(),
            folder: root.to_owned(),
            environment: git::environment(self.environment.iter()),
            input: Vec::new(),
            limits: Limits {
                quiet: None,
                total: Some(LONGEST_RUN),
                output_bytes: MOST_BYTES,
                error_bytes: 1024,
            },
        };
        let cancel = Cancel::new().ok()?;
        let ended = process::run(&launch, &cancel, &mut |_, _| {}).ok()?;
        let is_good = ended.ending == Ending::Exited(0);
        is_good.then(|| String::from_utf8_lossy(&ended.output).into_owned())
    }
}

impl Places for Checkouts {
    fn locate(&mut self, path: &Path) -> Option<Located> {
        self.forget_old();
        let is_root = |folder: &&Path| self.disk.exists(&folder.join(".git")).unwrap_or(false);
        let root = path.ancestors().find(is_root)?.to_owned();
        let repository = self.repository(&root)?;
        Some(Located { repository, root })
    }

    fn checkout(&mut self, repository: &Repository) -> Option<PathBuf> {
        self.forget_old();
        if !self.is_listed {
            self.is_listed = true;
            let projects = Repositories::new(&self.disk, self.projects.clone());
            for project in projects.all().map(|all| all.known).unwrap_or_default() {
                self.repository(&project.root);
            }
        }
        self.roots.get(repository).cloned()
    }

    fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }
}
