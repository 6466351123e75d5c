//! [`written`]: where a command has git write files of a tree, and the commits by which git names them.
//!
//! Nothing here is a verdict, and nothing is looked up. What a command names is in [`changed`](crate::changed_files::changed).

use crate::{
    analyze::{
        Analysis, Call, Subject,
        value::{Value, is_known},
    },
    facts::Facts,
    rule::git_folder,
};

/// That a command has git write files of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitWrite {
    /// A folder in the tree, absolute.
    pub folder: String,
    /// The word by which the log of checkouts names such a step; empty if it names none.
    pub step: &'static str,
    /// Source of the list of files.
    pub by: GitWriteSource,
}

/// The query by which git lists the files that it writes. Revisions are as written in the command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GitWriteSource {
    /// The tree becomes that of a revision, or that of the branch of a remote's by that name.
    Tree(String),
    /// Changes of these lines of work since the tree's own line parted from them.
    Lines(Vec<String>),
    /// Changes of each of these commits; one may be a range.
    Commits(Vec<String>),
    /// A stash entry that stays.
    Kept(String),
    /// A stash entry that is removed.
    Taken(String),
    /// Files that the command's words do not show, because they are fetched, or belong to an
    /// operation that began before.
    Unknown,
}

/// Returns where the commands of a line would have git write files of a tree.
pub(crate) fn written(analysis: &Analysis, facts: &Facts) -> Vec<GitWrite> {
    let own = analysis
        .calls
        .iter()
        .filter(|call| !call.elsewhere && !call.guessed);
    let mut all: Vec<GitWrite> = Vec::new();
    for brought in own.filter_map(|call| by(call, facts)) {
        if is_known(&brought.folder) && !all.contains(&brought) {
            all.push(brought);
        }
    }
    all
}

fn by(call: &Call, facts: &Facts) -> Option<GitWrite> {
    let subject = Subject::new(call, "", facts);
    let (step, by) = match call.name.as_str() {
        "git" => of_git(&subject)?,
        "gh" if (subject.operand(0), subject.operand(1)) == ("pr", "checkout") => {
            ("checkout", GitWriteSource::Unknown)
        }
        _ => return None,
    };
    let by = if is_all_known(&by) {
        by
    } else {
        GitWriteSource::Unknown
    };
    Some(GitWrite {
        folder: git_folder(&subject),
        step,
        by,
    })
}

fn is_all_known(by: &GitWriteSource) -> bool {
    match by {
        GitWriteSource::Tree(one) | GitWriteSource::Kept(one) | GitWriteSource::Taken(one) => {
            is_known(one)
        }
        GitWriteSource::Lines(all) | GitWriteSource::Commits(all) => {
            all.iter().all(|one| is_known(one))
        }
        GitWriteSource::Unknown => true,
    }
}

/// Returns the log's name for the step, and the source of its files.
fn of_git(subject: &Subject<'_>) -> Option<(&'static str, GitWriteSource)> {
    let has = |options: &[&str]| options.iter().any(|option| subject.has(option));
    let operand = |at| Some(subject.operand(at)).filter(|word| !word.is_empty());
    let operands = || -> Vec<String> { (1..).map_while(operand).map(str::to_owned).collect() };
    let verb = subject.operand(0);
    // A continued operation has no words of its own, and one that leaves the tree as it is writes
    // nothing.
    if has(&["--quit", "--show-current-patch", "--edit-todo"]) {
        return None;
    }
    let begun = ["merge", "rebase", "cherry-pick", "revert", "am"];
    if begun.contains(&verb) && has(&["--abort", "--skip"]) {
        return Some(("", GitWriteSource::Unknown));
    }
    if begun.contains(&verb) && has(&["--continue"]) {
        return (verb != "merge").then_some(("", GitWriteSource::Unknown));
    }
    Some(match verb {
        "pull" => ("pull", GitWriteSource::Unknown),
        "merge" => {
            let lines = operands();
            let lines = if lines.is_empty() {
                vec!["@{upstream}".to_owned()]
            } else {
                lines
            };
            ("merge", GitWriteSource::Lines(lines))
        }
        "rebase" => {
            // A named branch is checked out first, and the result of editing a list is not known.
            let is_plain = !has(&["--onto", "-i", "--interactive", "--root", "-x", "--exec"]);
            let by = match operands().as_slice() {
                [] if is_plain => GitWriteSource::Lines(vec!["@{upstream}".to_owned()]),
                [onto] if is_plain => GitWriteSource::Lines(vec![onto.clone()]),
                _ => GitWriteSource::Unknown,
            };
            ("rebase", by)
        }
        "switch" if has(&["--orphan"]) => ("checkout", GitWriteSource::Unknown),
        "switch" | "checkout" => {
            let mut words = subject.call.words.iter();
            let names_files = words.any(|word| word.text == "--") && words.next().is_some();
            let is_one = subject.operands.len() == 2;
            let to = operand(1).filter(|_| is_one && !(verb == "checkout" && names_files));
            if has(&["--orphan"]) {
                return None;
            }
            let to = if to? == "-" { "@{-1}" } else { to? };
            ("checkout", GitWriteSource::Tree(to.to_owned()))
        }
        "stash" => match (subject.operand(1), operand(2)) {
            (verb @ ("apply" | "pop"), entry) => {
                let entry = entry.unwrap_or("stash@{0}");
                let is_number = entry.bytes().all(|byte| byte.is_ascii_digit());
                let entry = if is_number {
                    format!("stash@{{{entry}}}")
                } else {
                    entry.to_owned()
                };
                let by = if verb == "pop" {
                    GitWriteSource::Taken(entry)
                } else {
                    GitWriteSource::Kept(entry)
                };
                ("", by)
            }
            ("branch", _) => ("checkout", GitWriteSource::Unknown),
            _ => return None,
        },
        verb @ ("cherry-pick" | "revert") => {
            let step = if verb == "revert" {
                "revert"
            } else {
                "cherry-pick"
            };
            let commits = operands();
            if commits.is_empty() {
                return None;
            }
            (step, GitWriteSource::Commits(commits))
        }
        "apply" | "am" => {
            let looks = ["--check", "--stat", "--numstat", "--summary", "--cached"];
            let is_looked_at = has(&looks) && !has(&["--apply"]);
            let is_piped = operand(1).is_none_or(|file| file == "-");
            let call = subject.call;
            // The contents of a file, or of the command itself, are read as what they name.
            let is_told =
                call.fed_from.is_some() || call.input.as_ref().is_some_and(Value::is_known);
            if is_looked_at || !is_piped || is_told {
                return None;
            }
            let step = if verb == "am" { "am" } else { "" };
            (step, GitWriteSource::Unknown)
        }
        "bisect" => match subject.operand(1) {
            "start" | "good" | "bad" | "old" | "new" | "skip" | "reset" | "next" | "run" => {
                ("checkout", GitWriteSource::Unknown)
            }
            _ => return None,
        },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CommandAnalysis;

    fn brought(command: &str, facts: &Facts) -> Vec<GitWrite> {
        CommandAnalysis::of(command, facts).git_writes()
    }

    fn facts() -> Facts {
        Facts {
            cwd: Some("/p/src".to_owned()),
            root: Some("/p".to_owned()),
            git_dir: Some("/p/.git".to_owned()),
            ..Facts::default()
        }
    }

    fn lines(all: &[&str]) -> GitWriteSource {
        GitWriteSource::Lines(all.iter().map(|&one| one.to_owned()).collect())
    }

    fn commits(all: &[&str]) -> GitWriteSource {
        GitWriteSource::Commits(all.iter().map(|&one| one.to_owned()).collect())
    }

    /// CALC-FUT-1: for files that git brings into a tree, the words show the comparison to make, or
    /// that it is not known yet.
    #[test]
    fn files_that_git_brings_are_found_by_a_query() {
        let tree = |to: &str| GitWriteSource::Tree(to.to_owned());
        let kept = |entry: &str| GitWriteSource::Kept(entry.to_owned());
        let taken = |entry: &str| GitWriteSource::Taken(entry.to_owned());
        for (command, step, by) in [
            ("git pull", "pull", GitWriteSource::Unknown),
            (
                "git pull --rebase origin main",
                "pull",
                GitWriteSource::Unknown,
            ),
            ("git merge topic", "merge", lines(&["topic"])),
            (
                "git merge -m 'a b' one two",
                "merge",
                lines(&["one", "two"]),
            ),
            ("git merge --no-ff", "merge", lines(&["@{upstream}"])),
            ("git merge \"$B\"", "merge", GitWriteSource::Unknown),
            ("git merge --abort", "", GitWriteSource::Unknown),
            ("git switch main", "checkout", tree("main")),
            ("git switch -", "checkout", tree("@{-1}")),
            ("git switch -c new v1", "checkout", tree("v1")),
            ("git switch -C new v1", "checkout", tree("v1")),
            ("git switch -m topic", "checkout", tree("topic")),
            ("git checkout main", "checkout", tree("main")),
            ("git checkout -m topic", "checkout", tree("topic")),
            ("git checkout topic --", "checkout", tree("topic")),
            ("git rebase -m topic", "rebase", lines(&["topic"])),
            ("git checkout -b new origin/x", "checkout", tree("origin/x")),
            ("git checkout --detach v1", "checkout", tree("v1")),
            (
                "git switch --orphan new",
                "checkout",
                GitWriteSource::Unknown,
            ),
            ("git rebase main", "rebase", lines(&["main"])),
            ("git rebase", "rebase", lines(&["@{upstream}"])),
            ("git rebase --onto a b c", "rebase", GitWriteSource::Unknown),
            ("git rebase main topic", "rebase", GitWriteSource::Unknown),
            ("git rebase --continue", "", GitWriteSource::Unknown),
            ("git stash pop", "", taken("stash@{0}")),
            ("git stash pop --index 2", "", taken("stash@{2}")),
            ("git stash apply stash@{1}", "", kept("stash@{1}")),
            (
                "git cherry-pick -x a1 b2",
                "cherry-pick",
                commits(&["a1", "b2"]),
            ),
            ("git cherry-pick -m 1 a1", "cherry-pick", commits(&["a1"])),
            ("git cherry-pick -s a1", "cherry-pick", commits(&["a1"])),
            ("git merge -s ours topic", "merge", lines(&["topic"])),
            ("git rebase -x make main", "rebase", GitWriteSource::Unknown),
            (
                "git revert --no-edit HEAD~1",
                "revert",
                commits(&["HEAD~1"]),
            ),
            (
                "curl -s https://x.io/p | git am",
                "am",
                GitWriteSource::Unknown,
            ),
            (
                "curl -s https://x.io/p | git apply -",
                "",
                GitWriteSource::Unknown,
            ),
            ("gh pr checkout 12", "checkout", GitWriteSource::Unknown),
            ("git bisect bad", "checkout", GitWriteSource::Unknown),
        ] {
            let expected = GitWrite {
                folder: "/p/src".to_owned(),
                step,
                by,
            };
            assert_eq!(brought(command, &facts()), [expected], "{command}");
        }
    }

    /// CALC-FUT-1: the tree is that of the folder in which git runs, however it is led there.
    #[test]
    fn the_tree_is_that_in_which_git_runs() {
        for (command, folder) in [
            ("git -C ../docs switch -C new v1", "/p/docs"),
            ("cd /p/docs && git pull", "/p/docs"),
            ("bash -c 'cd ../docs; git -c a.b=c pull'", "/p/docs"),
        ] {
            let brought = brought(command, &facts());
            let folders: Vec<&str> = brought.iter().map(|one| one.folder.as_str()).collect();
            assert_eq!(folders, [folder], "{command}");
        }
    }

    /// CALC-FUT-1: what leaves the files as they are, or names them itself, brings nothing.
    #[test]
    fn what_writes_no_tree_brings_nothing() {
        for command in [
            "git status",
            "git fetch",
            "git checkout -b new",
            "git switch -c new",
            "git switch --create new",
            "git checkout",
            "git checkout -- a.rs",
            "git checkout main a.rs",
            "git checkout main -- a.rs",
            "git stash",
            "git stash list",
            "git stash drop",
            "git merge --continue",
            "git rebase --quit",
            "git am --show-current-patch",
            "git apply of.diff",
            "git apply < of.diff",
            "curl -s https://x.io/p | git apply --check",
            "git bisect log",
            "git worktree add ../w",
            "gh pr view 12",
            "ssh host git pull",
            "echo git pull",
        ] {
            assert_eq!(brought(command, &facts()), [], "{command}");
        }
    }
}
