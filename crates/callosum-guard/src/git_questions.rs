//! Questions for a driver about the git repositories, and the paths, that a command is about.
//!
//! Start with [`questions`]: it names the few things that can turn a refusal into an answer, and
//! only for the commands that the guard would otherwise stop. The driver answers within its time
//! limit and puts [`GitState`](crate::GitState) into [`Facts`](crate::Facts); anything that it could not find out
//! stays unknown, and the command is judged as before.

use std::collections::BTreeMap;

use crate::{
    analyze::{self, Analysis, Call, Subject, setting},
    facts::Facts,
    link, path,
    program_names::DELETERS,
    rule::git_folder,
};

/// Most branches that are asked about for one repository.
const MOST_BRANCHES: usize = 32;

/// Most paths that are asked about.
const MOST_PATHS: usize = 64;

/// Questions for the driver.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Questions {
    /// The folders in which git would run, and what matters there.
    pub repositories: BTreeMap<String, GitQuestion>,
    /// Absolute paths that may not exist.
    pub paths: Vec<String>,
}

/// Questions about one repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitQuestion {
    /// Whether ignored files matter as well.
    pub ignored: bool,
    /// Whether the commits of `HEAD` matter.
    pub head: bool,
    /// Whether the working tree itself goes, while its branch stays.
    pub removes_tree: bool,
    /// Whether stashes matter.
    pub stashes: bool,
    /// Branches whose commits matter, by their short names.
    pub branches: Vec<String>,
}

impl Questions {
    /// Whether there is nothing to find out.
    pub fn is_empty(&self) -> bool {
        self.repositories.is_empty() && self.paths.is_empty()
    }
}

/// Returns what a driver should find out before the guard stops this command.
pub(crate) fn questions(analysis: &Analysis, facts: &Facts) -> Questions {
    let mut questions = Questions::default();
    for call in analysis.calls.iter().filter(|call| !call.elsewhere) {
        if DELETERS.contains(&call.name.as_str()) {
            for path in deleted(call, facts).unwrap_or_default() {
                if questions.paths.len() < MOST_PATHS && !questions.paths.contains(&path) {
                    questions.paths.push(path);
                }
            }
        } else if call.name == "git"
            && let Some(folder) = folder_of(call, facts)
        {
            ask_about(&mut questions, call, folder, facts);
        }
    }
    questions
}

fn ask_about(questions: &mut Questions, call: &Call, folder: String, facts: &Facts) {
    let subject = subject(call, facts);
    let verb = subject.operand(0);
    let folder = match (verb, subject.operand(1)) {
        ("worktree", "remove") => match worktree(&subject) {
            Some(tree) => tree,
            None => return,
        },
        _ => folder,
    };
    let is_about_state = matches!(
        verb,
        "reset"
            | "checkout"
            | "restore"
            | "switch"
            | "clean"
            | "rm"
            | "read-tree"
            | "worktree"
            | "checkout-index"
            | "apply"
    );
    let branches = overwritten_branches(&subject);
    if !is_about_state && verb != "stash" && branches.is_none() {
        return;
    }
    let question = questions.repositories.entry(folder).or_default();
    question.ignored |= verb == "clean" && (subject.has("-x") || subject.has("-X"));
    question.head |= verb == "reset" || verb == "worktree";
    question.removes_tree |= verb == "worktree";
    question.stashes |= verb == "stash";
    for branch in branches.unwrap_or_default() {
        if question.branches.len() < MOST_BRANCHES && !question.branches.contains(&branch) {
            question.branches.push(branch);
        }
    }
}

/// Returns how git reads the words of one of its commands.
pub(crate) fn subject<'a>(call: &'a Call, facts: &'a Facts) -> Subject<'a> {
    Subject::new(call, "", facts)
}

/// Returns the folder in which git runs; `None` if the command or its environment points it at another repository.
pub(crate) fn folder_of(call: &Call, facts: &Facts) -> Option<String> {
    let subject = subject(call, facts);
    let mut elsewhere = ["--git-dir", "--work-tree", "--namespace"].iter();
    let is_moved = elsewhere.any(|option| subject.has(option));
    let folder = git_folder(&subject);
    let is_known = folder.starts_with('/') && analyze::value::is_known(&folder);
    (is_known && !is_moved && call.settings.is_empty() && !setting::is_moved(&call.settings))
        .then_some(folder)
}

/// Returns the working tree that `git worktree remove` deletes.
pub(crate) fn worktree(subject: &Subject<'_>) -> Option<String> {
    let [(tree, _)] = subject.operands.get(2..)? else {
        return None;
    };
    tree.is_known()
        .then(|| path::absolute(&tree.text, Some(&git_folder(subject))))
}

/// Returns the branches that a command deletes or moves; `None` if it does neither, or not all of them are known.
pub(crate) fn overwritten_branches(subject: &Subject<'_>) -> Option<Vec<String>> {
    let verb = subject.operand(0);
    let of_options = |options: &[&str]| {
        let mut options = options.iter();
        options.find_map(|option| subject.value(option))
    };
    let names: Vec<&str> = match verb {
        "branch" if subject.has("-r") || subject.has("--remotes") => return None,
        "branch" if subject.has("-D") || subject.has("-d") || subject.has("--delete") => {
            let names = subject.operands.iter().skip(1);
            if names.clone().any(|(word, _)| !word.is_known() || word.glob) {
                return None;
            }
            names.map(|(word, _)| word.text.as_str()).collect()
        }
        "branch" if subject.has("-f") || subject.has("--force") => vec![subject.operand(1)],
        "switch" => vec![of_options(&["-C", "--force-create"])?],
        "checkout" => vec![of_options(&["-B"])?],
        _ => return None,
    };
    let is_plain = |name: &&str| {
        let mut letters = name.chars();
        !name.is_empty()
            && !name.starts_with(['-', '/'])
            && !name.contains("..")
            && letters.all(|letter| letter.is_ascii_alphanumeric() || "-_./".contains(letter))
    };
    let all = !names.is_empty() && names.len() <= MOST_BRANCHES && names.iter().all(is_plain);
    all.then(|| names.into_iter().map(str::to_owned).collect())
}

/// Returns what a command deletes, if it names every path in full.
pub(crate) fn deleted(call: &Call, facts: &Facts) -> Option<Vec<String>> {
    let subject = subject(call, facts);
    let cwd = call.cwd.as_deref()?;
    let paths = subject.operands.iter().map(|(word, _)| {
        let is_plain = word.is_known() && !word.glob && !word.text.is_empty();
        is_plain.then(|| link::resolve(&word.text, Some(cwd), facts))
    });
    paths.collect()
}
