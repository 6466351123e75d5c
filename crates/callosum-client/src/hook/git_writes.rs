//! [`GitTargets`]: files that git writes through a command that does not name them, as reported by git.
//!
//! Git is asked only if someone holds a lease in the tree, and only for names of files that differ
//! between commits: no filter, hook or watcher of the repository runs. If git cannot answer, or not
//! within [`PATIENCE`], any file of the tree may be written. After a command, the log of checkouts
//! shows its effect. Deliberately not here: files that a command names.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    os::unix::ffi::OsStringExt as _,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use callosum_guard::{CommandAnalysis, GitWrite, GitWriteSource};
use callosum_host::{
    Disk, OpenHow,
    process::{self, Cancel, Ending, Launch, Limits, git},
};
use callosum_mesh::board::Lease;

use super::worktree::{git_dir, real, top};
use callosum_config::Environment;

/// Time limit for all git queries of one hook together.
const PATIENCE: Duration = Duration::from_millis(150);

/// Most bytes of names that git prints.
const LONGEST: usize = 4 * 1024 * 1024;

/// So many bytes at the end of the log are read.
const LOG_READ: usize = 32 * 1024;

/// Whether a command is about to run, or has run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    Before,
    After,
}

/// The trees that a command has git write to.
#[derive(Debug, Default)]
pub(super) struct GitTargets(Vec<Tree>);

#[derive(Debug)]
struct Tree {
    top: PathBuf,
    /// The repository's own folder.
    git: PathBuf,
    brought: GitWrite,
}

/// Files of a tree that are written.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Files {
    /// Any, as far as is known.
    Any,
    /// These.
    These(BTreeSet<PathBuf>),
}

/// Leases on files that a command changes.
#[derive(Debug, Default)]
pub(super) struct AffectedLeases {
    /// Those that are known to be changed.
    pub(super) sure: Vec<Lease>,
    /// Those for which it is unknown.
    pub(super) perhaps: Vec<Lease>,
}

impl AffectedLeases {
    /// All of them.
    pub(super) fn all(&self) -> Vec<Lease> {
        self.sure.iter().chain(&self.perhaps).cloned().collect()
    }
}

impl GitTargets {
    /// Finds the trees of a command, if they are trees of git's.
    pub(super) fn of(disk: &Disk, command: &CommandAnalysis) -> Self {
        let brought = command.git_writes().into_iter();
        let trees = brought.filter_map(|brought| {
            let folder = real(disk, Path::new(&brought.folder));
            Some(Tree {
                top: top(disk, &folder)?,
                git: git_dir(disk, &folder)?,
                brought,
            })
        });
        Self(trees.collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a file is in one of them.
    pub(super) fn hold(&self, file: &str) -> bool {
        self.0
            .iter()
            .any(|tree| Path::new(file).starts_with(&tree.top))
    }

    /// Selects the leases on files that git writes.
    pub(super) fn met(
        &self,
        held: Vec<Lease>,
        when: When,
        disk: &Disk,
        environment: &Environment,
    ) -> AffectedLeases {
        let mut met = AffectedLeases::default();
        let Some(since) = held.iter().map(|lease| lease.since.as_second()).min() else {
            return met;
        };
        let mut asking = Asking::new(disk, environment);
        let files: Vec<(&Path, Files)> = self
            .0
            .iter()
            .filter(|tree| held.iter().any(|lease| tree.has(&lease.path)))
            .map(|tree| {
                let files = match when {
                    When::Before => tree.to_come(&mut asking),
                    When::After => tree.come(&mut asking, since),
                };
                (tree.top.as_path(), files)
            })
            .collect();
        for lease in held {
            let path = Path::new(&lease.path);
            let is_among = |(_, files): &(&Path, Files)| matches!(files, Files::These(all) if all.contains(path));
            let may_be =
                |(top, files): &(&Path, Files)| *files == Files::Any && path.starts_with(top);
            if files.iter().any(is_among) {
                met.sure.push(lease);
            } else if files.iter().any(may_be) {
                met.perhaps.push(lease);
            }
        }
        met
    }
}

impl Tree {
    fn has(&self, file: &str) -> bool {
        Path::new(file).starts_with(&self.top)
    }

    /// Returns the files that the command would write.
    fn to_come(&self, asking: &mut Asking<'_>) -> Files {
        let found = match &self.brought.by {
            GitWriteSource::Tree(to) => {
                let remote = format!("origin/{to}");
                let differ = asking.differ(self, &["HEAD", to]);
                let differ = differ.or_else(|| asking.differ(self, &["HEAD", &remote]));
                // It is a file then, which the command names.
                let is_file = || {
                    asking
                        .disk
                        .exists(&Path::new(&self.brought.folder).join(to))
                };
                match differ {
                    None if is_file().unwrap_or(false) => Some(BTreeSet::new()),
                    differ => differ,
                }
            }
            GitWriteSource::Lines(lines) => {
                lines.iter().try_fold(BTreeSet::new(), |mut all, line| {
                    all.extend(asking.differ(self, &["--merge-base", "HEAD", line])?);
                    Some(all)
                })
            }
            GitWriteSource::Commits(commits) => asking.changed_by(self, commits),
            GitWriteSource::Kept(entry) | GitWriteSource::Taken(entry) => {
                asking.differ(self, &[&format!("{entry}^1"), entry])
            }
            GitWriteSource::Unknown => None,
        };
        found.map_or(Files::Any, Files::These)
    }

    /// Returns the files that the command has written, if it ran since then.
    fn come(&self, asking: &mut Asking<'_>, since: i64) -> Files {
        let step = self.brought.step;
        let log = self.log(asking.disk);
        if let Some(log) = log.as_deref().filter(|_| !step.is_empty())
            && let Some((from, to)) = moved(log, step, since)
        {
            let differ = asking.differ(self, &[&from, &to]);
            return differ.map_or(Files::Any, Files::These);
        }
        let exists = |name: &str| asking.disk.exists(&self.git.join(name)).unwrap_or(true);
        let nothing = Files::These(BTreeSet::new());
        match &self.brought.by {
            GitWriteSource::Tree(_) if log.is_some() => nothing,
            GitWriteSource::Tree(_) => Files::Any,
            // Up to the current state, if nothing was committed.
            GitWriteSource::Lines(_) | GitWriteSource::Commits(_) | GitWriteSource::Kept(_) => {
                self.to_come(asking)
            }
            GitWriteSource::Taken(_) => match asking.uncommitted(self) {
                // Other uncommitted changes are among them, so the files are unknown.
                Some(changed) if changed.is_empty() => nothing,
                _ => Files::Any,
            },
            GitWriteSource::Unknown if step.is_empty() || log.is_none() => Files::Any,
            GitWriteSource::Unknown if exists("MERGE_HEAD") => {
                let differ = asking.differ(self, &["--merge-base", "HEAD", "MERGE_HEAD"]);
                differ.map_or(Files::Any, Files::These)
            }
            GitWriteSource::Unknown if exists("rebase-merge") || exists("rebase-apply") => {
                Files::Any
            }
            GitWriteSource::Unknown => nothing,
        }
    }

    /// The end of the log of what was checked out.
    fn log(&self, disk: &Disk) -> Option<String> {
        let path = self.git.join("logs/HEAD");
        let length = usize::try_from(disk.stat(&path).ok()??.len).ok()?;
        let file = disk.open(&path, OpenHow::READ).ok()?;
        let from = length.saturating_sub(LOG_READ);
        let read = file.read_range(from as u64, LOG_READ).ok()?;
        Some(String::from_utf8_lossy(&read).into_owned())
    }
}

/// From which commit to which the last steps of this kind led, if they were done since then; steps of other kinds may follow. Of
/// steps that lead there and back the last one counts: it has written the files as well.
fn moved(log: &str, step: &str, since: i64) -> Option<(String, String)> {
    let steps = log.lines().rev().map_while(|line| {
        let (head, message) = line.split_once('\t')?;
        let mut words = head.split(' ');
        let (from, to) = (words.next()?, words.next()?);
        let at: i64 = head.rsplit(' ').nth(1)?.parse().ok()?;
        let rest = message.strip_prefix(step);
        let is_it = rest.is_some_and(|rest| rest.starts_with([':', ' ']));
        (at >= since).then_some((is_it, from, to))
    });
    let mut steps = steps.skip_while(|(is_it, _, _)| !is_it);
    let (_, last_from, to) = steps.next()?;
    let from = steps
        .take_while(|(is_it, _, _)| *is_it)
        .last()
        .map(|(_, from, _)| from)
        .filter(|from| *from != to)
        .unwrap_or(last_from);
    let is_id = |id: &str| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_id(from) && is_id(to)).then(|| (from.to_owned(), to.to_owned()))
}

/// Git, as long as it may be asked.
struct Asking<'a> {
    disk: &'a Disk,
    environment: &'a Environment,
    until: Instant,
}

impl<'a> Asking<'a> {
    fn new(disk: &'a Disk, environment: &'a Environment) -> Self {
        let patience = environment.patience(PATIENCE).unwrap_or(PATIENCE);
        Self {
            disk,
            environment,
            until: Instant::now() + patience,
        }
    }

    /// The files that differ between two commits.
    fn differ(&mut self, tree: &Tree, revisions: &[&str]) -> Option<BTreeSet<PathBuf>> {
        let (options, revisions): (Vec<&str>, Vec<&str>) =
            revisions.iter().partition(|word| word.starts_with("--"));
        let mut asked = vec!["diff-tree", "-r", "-z", "--name-only", "--no-renames"];
        asked.extend(options);
        asked.push("--end-of-options");
        asked.extend(revisions);
        asked.push("--");
        self.names(tree, &asked)
    }

    /// The files that each of these commits changed, of a merge as seen from its first parent.
    fn changed_by(&mut self, tree: &Tree, commits: &[String]) -> Option<BTreeSet<PathBuf>> {
        let mut asked = vec![
            "show",
            "--format=",
            "--name-only",
            "-z",
            "--no-renames",
            "--no-show-signature",
            "--diff-merges=first-parent",
            "--end-of-options",
        ];
        asked.extend(commits.iter().map(String::as_str));
        asked.push("--");
        self.names(tree, &asked)
    }

    /// Returns the files that may differ from the commit, as far as git knows without reading them.
    fn uncommitted(&mut self, tree: &Tree) -> Option<BTreeSet<PathBuf>> {
        self.names(
            tree,
            &[
                "diff-index",
                "-z",
                "--name-only",
                "--no-renames",
                "HEAD",
                "--",
            ],
        )
    }

    fn names(&mut self, tree: &Tree, asked: &[&str]) -> Option<BTreeSet<PathBuf>> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return None;
        }
        let settings = git::SETTINGS.iter().flat_map(|setting| ["-c", *setting]);
        let arguments = settings.chain(asked.iter().copied());
        let launch = Launch {
            program: PathBuf::from("git"),
            arguments: arguments.map(OsString::from).collect(),
            folder: tree.top.clone(),
            environment: git::environment(self.environment.iter()),
            input: Vec::new(),
            limits: Limits {
                quiet: None,
                total: Some(left),
                output_bytes: LONGEST,
                error_bytes: 1024,
            },
        };
        let run = process::run(&launch, &Cancel::new().ok()?, &mut |_, _| {}).ok()?;
        if run.ending != Ending::Exited(0) {
            return None;
        }
        let names = run.output.split(|byte| *byte == 0);
        let names = names.map(<[u8]>::trim_ascii_start);
        let names = names.filter(|name| !name.is_empty());
        Some(
            names
                .map(|name| tree.top.join(OsString::from_vec(name.to_vec())))
                .collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
        00 a1 A <a@x> 100 +0000\tclone: from x\n\
        a1 a2 A <a@x> 110 +0000\tpull: Fast-forward\n\
        a2 a3 A <a@x> 120 +0000\tcommit: pull: not one\n\
        a3 b1 A B <a@x> 130 +0200\trebase (start): checkout main\n\
        b1 b2 A B <a@x> 131 +0200\trebase (pick): x\n\
        b2 b2 A B <a@x> 131 +0200\trebase (finish): returning to refs/heads/x\n\
        b2 c1 A B <a@x> 140 +0200\tcommit: y\n";

    /// CALC-FUT-1: the log shows the effect of a git command: the last steps of a kind, regardless
    /// of later steps, and none from before a lease was taken.
    #[test]
    fn the_log_tells_what_the_last_steps_led_to() {
        let moves = |step: &str, since| moved(LOG, step, since);
        let steps = |from: &str, to: &str| Some((from.to_owned(), to.to_owned()));
        assert_eq!(moves("rebase", 100), steps("a3", "b2"));
        assert_eq!(moves("pull", 105), steps("a1", "a2"));
        assert_eq!(moves("pull", 111), None);
        assert_eq!(moves("rebase", 132), None);
        assert_eq!(moves("merge", 0), None);
        let back = "\
            a1 b1 A <a@x> 100 +0000\tcheckout: moving from main to x\n\
            b1 a1 A <a@x> 110 +0000\tcheckout: moving from x to main\n";
        assert_eq!(moved(back, "checkout", 100), steps("b1", "a1"));
        // Where it was begun in the middle of a line, that one is no step.
        assert_eq!(moved(&LOG[30..], "pull", 0), steps("a1", "a2"));
        assert_eq!(moved("no log", "pull", 0), None);
        assert_eq!(moved("x y 100 +0000\tpull: z\n", "pull", 0), None);
    }
}
