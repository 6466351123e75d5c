//! Commands that lose nothing in the current state: `git reset --hard` in a clean tree,
//! `git branch -D` of a merged branch, `rm -rf` of a path that does not exist.
//!
//! Start with [`Relief::lifts`]. It speaks only if the facts prove that nothing is lost; anything
//! that they leave open is judged by the rules alone. Facts describe the moment before the line
//! runs, so they count only behind commands that bring nothing into the tree: behind
//! `git stash pop` or `mv`, a clean tree is not clean any more.

use crate::{
    analyze::{Call, Subject, value::Arg},
    facts::Facts,
    git_questions::{deleted, folder_of, overwritten_branches, subject, worktree},
    git_state::GitState,
    path,
    program_names::DELETERS,
    shell::{self, Budget, tree::Command},
};

/// Programs that change nothing that a later command of the line could lose.
const READERS: [&str; 26] = [
    "", ":", "[", "basename", "cat", "cd", "date", "dirname", "echo", "export", "false", "grep",
    "head", "ls", "printf", "pushd", "popd", "pwd", "rg", "set", "sleep", "tail", "test", "true",
    "wc", "which",
];

/// Verbs of git that bring nothing into the tree that is not in a commit as well.
const GIT_READERS: [&str; 16] = [
    "add",
    "blame",
    "branch",
    "cat-file",
    "describe",
    "diff",
    "fetch",
    "log",
    "ls-files",
    "ls-remote",
    "merge-base",
    "rev-list",
    "rev-parse",
    "show",
    "status",
    "version",
];

/// The calls of one line, and the facts that may prove some of them harmless.
pub(crate) struct Relief<'a> {
    calls: &'a [Call],
    facts: &'a Facts,
    /// Whether the line is one chain of `&&`, in which nothing runs behind what fails.
    is_chain: bool,
}

impl<'a> Relief<'a> {
    /// Returns what is known of a line, `None` if there is nothing that could lift a rule.
    pub(crate) fn find(command: &str, calls: &'a [Call], facts: &'a Facts) -> Option<Self> {
        let has_facts = !facts.git.is_empty() || !facts.absent.is_empty();
        let stashes = || command.contains("stash") && command.contains("&&");
        if !has_facts && !stashes() {
            return None;
        }
        Some(Self {
            calls,
            facts,
            is_chain: is_chain(command),
        })
    }

    /// Whether this rule has nothing to object to at the call at this place, since the call loses nothing.
    pub(crate) fn lifts(&self, at: usize, rule: &str) -> bool {
        let Some(call) = self.calls.get(at) else {
            return false;
        };
        if call.elsewhere || call.guessed || call.open || self.facts.cwd.is_none() {
            return false;
        }
        if DELETERS.contains(&call.name.as_str()) {
            return self.deletes_nothing(at, call);
        }
        if call.name != "git" {
            return false;
        }
        let subject = subject(call, self.facts);
        match rule {
            "git.reset-hard" => self.resets_nothing(at, call, &subject),
            "git.discard" => self.discards_nothing(at, call, &subject),
            "git.remove-all" => {
                let state = self.state_before(at, call);
                state.is_some_and(|state| {
                    self.spares(&subject, call, (state.changed.as_ref(), Some(&Vec::new())))
                })
            }
            "git.clean" | "git.clean-within" | "git.clean-ignored" => {
                self.cleans_nothing(at, call, &subject)
            }
            "git.branch-delete" | "git.branch-overwrite" => {
                let state = self.state_before(at, call);
                overwritten_branches(&subject).is_some()
                    && self.only_deletes_before(at)
                    && state.is_some_and(|state| state.branches_are_saved)
            }
            "git.stash-drop" => {
                let state = self.state_before(at, call);
                state.is_some_and(|state| state.has_stashes == Some(false))
            }
            "git.worktree-remove" => self.removes_saved_worktree(at, &subject),
            _ => false,
        }
    }

    /// Returns the state of the call's repository, if nothing before the call changes it.
    fn state_before(&self, at: usize, call: &Call) -> Option<&'a GitState> {
        let state = self.facts.git.get(&folder_of(call, self.facts)?)?;
        self.calls[..at]
            .iter()
            .all(|call| self.brings_nothing(call))
            .then_some(state)
    }

    /// Whether a call that runs before leaves the tree as it is, or puts into it only what git has as well.
    fn brings_nothing(&self, call: &Call) -> bool {
        if !call.writes.iter().all(|write| write.path == "/dev/null") {
            return false;
        }
        if call.name == "git" {
            let subject = subject(call, self.facts);
            let verb = subject.operand(0);
            return GIT_READERS.contains(&verb) && call.settings.is_empty()
                || is_harmless_switch(&subject)
                || is_stash(&subject).is_some();
        }
        READERS.contains(&call.name.as_str())
    }

    /// Whether no earlier command of the line changes which commits a branch or `HEAD` holds.
    fn commits_stay_before(&self, at: usize) -> bool {
        let mut git = self.calls[..at].iter().filter(|call| call.name == "git");
        git.all(|call| {
            let subject = subject(call, self.facts);
            match subject.operand(0) {
                "branch" => subject.options.is_empty() && subject.operands.len() <= 2,
                "fetch" => !subject.has("-p") && !subject.has("--prune"),
                verb => GIT_READERS.contains(&verb) || verb == "stash",
            }
        })
    }

    /// Whether every earlier command of the line that changes branches only deletes some, which the question covered.
    fn only_deletes_before(&self, at: usize) -> bool {
        let mut git = self.calls[..at].iter().filter(|call| call.name == "git");
        git.all(|call| {
            let subject = subject(call, self.facts);
            match subject.operand(0) {
                "branch" => subject.options.is_empty() || overwritten_branches(&subject).is_some(),
                "fetch" => !subject.has("-p") && !subject.has("--prune"),
                _ => true,
            }
        })
    }

    /// Whether everything that is not committed was put into a stash by an earlier command of the same chain, and whether
    /// untracked files were as well.
    fn stashed_before(&self, at: usize, call: &Call) -> Option<bool> {
        let folder = folder_of(call, self.facts)?;
        if !self.is_chain || call.depth > 0 {
            return None;
        }
        let before = &self.calls[..at];
        let stash = before.iter().rposition(|earlier| {
            let is_stash =
                earlier.name == "git" && is_stash(&subject(earlier, self.facts)).is_some();
            is_stash && folder_of(earlier, self.facts).as_ref() == Some(&folder)
        })?;
        let stays = before[stash + 1..]
            .iter()
            .all(|call| self.brings_nothing(call));
        stays.then(|| is_stash(&subject(&before[stash], self.facts)) == Some(true))
    }

    fn resets_nothing(&self, at: usize, call: &Call, subject: &Subject<'_>) -> bool {
        let is_elsewhere = subject
            .operands
            .get(1..)
            .unwrap_or_default()
            .iter()
            .any(|(word, _)| !matches!(word.text.as_str(), "HEAD" | "@"));
        let stashed = self.stashed_before(at, call);
        if !is_elsewhere && stashed.is_some() {
            return true;
        }
        let folder = folder_of(call, self.facts);
        let Some(state) = folder.and_then(|folder| self.facts.git.get(&folder)) else {
            return false;
        };
        let is_clean = stashed.is_some()
            || self
                .state_before(at, call)
                .is_some_and(|state| is_none(state.changed.as_ref()));
        // If the tree goes to another commit, its files replace untracked ones.
        let goes = stashed == Some(true) || is_none(state.untracked.as_ref());
        let keeps_commits = state.head_is_saved && self.commits_stay_before(at);
        is_clean && (!is_elsewhere || keeps_commits && goes)
    }

    fn discards_nothing(&self, at: usize, call: &Call, subject: &Subject<'_>) -> bool {
        let stashed = self.stashed_before(at, call);
        let verb = subject.operand(0);
        let has_source = subject.has("-s") || subject.has("--source");
        let before_paths = call.words.iter().position(|word| word.text == "--");
        // `checkout -- PATHS` and `restore PATHS` take files from the index; all else may bring those of another commit.
        let from_index = match verb {
            "checkout" => {
                before_paths.is_some_and(|at| at == 2)
                    || subject.operands.len() == 2 && matches!(subject.operand(1), "." | ":/" | "*")
                    || subject.operands.len() == 1
            }
            "restore" => !has_source,
            "reset" | "switch" | "read-tree" => subject.operands.len() == 1,
            "checkout-index" | "apply" => true,
            _ => return false,
        };
        let folder = folder_of(call, self.facts);
        let Some(state) = folder.and_then(|folder| self.facts.git.get(&folder)) else {
            return from_index && stashed.is_some();
        };
        if stashed.is_some() {
            return from_index || stashed == Some(true) || is_none(state.untracked.as_ref());
        }
        let Some(state) = self.state_before(at, call) else {
            return false;
        };
        // Files from the index take the place of no untracked one.
        let none = Vec::new();
        let untracked = if from_index {
            Some(&none)
        } else {
            state.untracked.as_ref()
        };
        let is_clean = is_none(state.changed.as_ref()) && is_none(untracked);
        let names_paths = verb == "restore" || verb == "checkout" && before_paths.is_some();
        is_clean || names_paths && self.spares(subject, call, (state.changed.as_ref(), untracked))
    }

    /// Whether none of these files is at or below a path that the command names. A list that is `None` is not known.
    fn spares(
        &self,
        subject: &Subject<'_>,
        call: &Call,
        (changed, untracked): (Option<&Vec<String>>, Option<&Vec<String>>),
    ) -> bool {
        let (Some(changed), Some(untracked)) = (changed, untracked) else {
            return false;
        };
        if changed.is_empty() && untracked.is_empty() {
            return true;
        }
        let paths = named_paths(subject, call);
        let is_plain = |text: &str| !text.starts_with(':') && !text.contains(['*', '?', '[', '\\']);
        let cwd = folder_of(call, self.facts);
        !paths.is_empty()
            && paths.iter().all(|(word, _)| {
                let path = path::absolute(&word.text, cwd.as_deref());
                let is_in = |file: &String| path::is_within(file, &path);
                // A folder of untracked files may hold the path.
                let holds = |folder: &String| is_in(folder) || path::is_within(&path, folder);
                word.is_known()
                    && is_plain(&word.text)
                    && !changed.iter().any(is_in)
                    && !untracked.iter().any(holds)
            })
    }

    fn cleans_nothing(&self, at: usize, call: &Call, subject: &Subject<'_>) -> bool {
        let Some(state) = self.state_before(at, call) else {
            return false;
        };
        let (only_ignored, ignored) = (subject.has("-X"), subject.has("-x") || subject.has("-X"));
        let lists = [
            (!only_ignored).then_some(state.untracked.as_ref()),
            ignored.then_some(state.ignored.as_ref()),
        ];
        lists.into_iter().flatten().all(is_none)
    }

    fn removes_saved_worktree(&self, at: usize, subject: &Subject<'_>) -> bool {
        let brings = !self.calls[..at]
            .iter()
            .all(|call| self.brings_nothing(call));
        let state = worktree(subject).and_then(|tree| self.facts.git.get(&tree));
        let is_clean = |state: &GitState| {
            is_none(state.changed.as_ref())
                && is_none(state.untracked.as_ref())
                && state.head_is_saved
        };
        let stays = self.commits_stay_before(at);
        subject.operand(1) == "remove" && !brings && stays && state.is_some_and(is_clean)
    }

    /// Whether nothing of what a deleter names exists.
    fn deletes_nothing(&self, at: usize, call: &Call) -> bool {
        let absent = &self.facts.absent;
        let paths = deleted(call, self.facts);
        let earlier = self.calls[..at].iter();
        let mut earlier = earlier.filter(|earlier| earlier.name != call.name);
        paths.is_some_and(|paths| {
            !paths.is_empty() && paths.iter().all(|path| absent.contains(path))
        }) && earlier.all(|call| self.brings_nothing(call))
    }
}

/// Rules about changes in the tree that are not committed.
const DISCARDS: [&str; 6] = [
    "git.clean",
    "git.clean-ignored",
    "git.clean-within",
    "git.discard",
    "git.remove-all",
    "git.reset-hard",
];

/// Folders of clients in which they make linked worktrees for their agents.
const WORKTREES: [&str; 5] = [
    "/.claude/worktrees/",
    "/.codex/worktrees/",
    "/.gemini/worktrees/",
    "/.qwen/worktrees/",
    "/.opencode/worktrees/",
];

/// Whether a call only discards changes in the agent's own worktree: one that its client made for it.
pub(crate) fn is_own_discard(call: &Call, rule: &str, facts: &Facts) -> bool {
    let Some(root) = facts.root.as_deref().filter(|_| facts.worktree) else {
        return false;
    };
    let is_own = WORKTREES.iter().any(|folder| {
        root.split_once(folder)
            .is_some_and(|(_, name)| !name.is_empty())
    });
    is_own
        && !call.elsewhere
        && DISCARDS.contains(&rule)
        && call.name == "git"
        && folder_of(call, facts).is_some_and(|folder| path::is_within(&folder, root))
}

/// Returns the paths that a command of git names: of `checkout REF -- PATHS` those behind the dashes.
fn named_paths<'s>(subject: &'s Subject<'_>, call: &Call) -> &'s [(&'s Arg, bool)] {
    let dashes = call.words.iter().position(|word| word.text == "--");
    let from = match dashes.filter(|_| subject.operand(0) == "checkout") {
        Some(dashes) => {
            let behind = call.words.len() - dashes - 1;
            subject.operands.len().saturating_sub(behind).max(1)
        }
        None => 1,
    };
    subject.operands.get(from..).unwrap_or_default()
}

/// Whether it goes to another branch as git does by itself: with the changes, or not at all.
fn is_harmless_switch(subject: &Subject<'_>) -> bool {
    let verb = subject.operand(0);
    let forces = [
        "-f",
        "--force",
        "--discard-changes",
        "-m",
        "--merge",
        "-C",
        "-B",
    ];
    matches!(verb, "switch" | "checkout")
        && subject.operands.len() <= 2
        && !forces.iter().any(|option| subject.has(option))
}

/// Whether a list is known to be empty.
fn is_none(list: Option<&Vec<String>>) -> bool {
    list.is_some_and(Vec::is_empty)
}

/// Whether it puts all changes of tracked files into a stash, and whether untracked files go with them.
fn is_stash(subject: &Subject<'_>) -> Option<bool> {
    let verb = subject.operand(1);
    let is_push = subject.operand(0) == "stash"
        && match verb {
            "" | "save" => true,
            "push" => subject.operands.len() == 2,
            _ => false,
        };
    let partly = [
        "-p",
        "--patch",
        "-k",
        "--keep-index",
        "-S",
        "--staged",
        "--pathspec-from-file",
    ];
    let is_whole = !partly.iter().any(|option| subject.has(option));
    let all = ["-u", "--include-untracked", "-a", "--all"];
    (is_push && is_whole).then(|| all.iter().any(|option| subject.has(option)))
}

/// Whether a line is nothing but simple commands joined by `&&`.
fn is_chain(command: &str) -> bool {
    fn only_chains(commands: &[Command]) -> bool {
        commands.iter().all(|command| match command {
            Command::Simple(_) => true,
            Command::Chain(script) => only_chains(&script.commands),
            _ => false,
        })
    }
    let mut budget = Budget { bytes: 4_096 };
    let (script, faults) = shell::read(command, 0, &mut budget);
    faults.is_empty() && script.commands.len() == 1 && only_chains(&script.commands)
}

#[cfg(test)]
mod tests;
