//! Effects of git commands on branches, here and on remotes, and on uncommitted changes.

use super::super::Subject;
use crate::{
    analyze::{
        git_options::letter_value,
        setting,
        value::{Arg, MAYBE},
    },
    link, path,
    path_class::{PathClass, is_temporary},
};

/// Lists the refspecs of a push.
pub(super) fn refspecs<'a>(subject: &'a Subject<'_>) -> impl Iterator<Item = &'a str> {
    subject
        .operands
        .iter()
        .skip(1)
        .map(|(word, _)| word.text.as_str())
}

/// Endings by which a word of `git checkout` is taken for a file.
const ENDINGS: [&str; 32] = [
    "rs", "py", "js", "ts", "tsx", "jsx", "go", "c", "h", "cpp", "hpp", "java", "md", "txt",
    "json", "yaml", "yml", "toml", "css", "html", "sh", "rb", "php", "lock", "sql", "kt", "swift",
    "vue", "svelte", "cs", "xml", "cfg",
];

/// Files that a tool writes by itself, from the contents of others.
const LOCKS: [&str; 14] = [
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock",
    "bun.lockb",
    "Cargo.lock",
    "uv.lock",
    "poetry.lock",
    "Pipfile.lock",
    "Gemfile.lock",
    "composer.lock",
    "go.sum",
    "flake.lock",
];

/// Whether only files are taken back that a tool has written by itself.
pub(super) fn takes_back_locks(subject: &Subject<'_>) -> bool {
    let mut paths = subject.operands.iter().skip(1).peekable();
    paths.peek().is_some() && paths.all(|(word, _)| LOCKS.contains(&path::name(&word.text)))
}

/// Whether git asks a person about each change; without a person to answer, git does nothing.
pub(super) fn asks_each(subject: &Subject<'_>) -> bool {
    let is_answered = subject.call.input.is_some() || subject.call.fed_from.is_some();
    !is_answered && (subject.has("-p") || subject.has("--patch"))
}

/// Whether `git checkout-index` writes outside the tree, by the prefix of its names.
pub(super) fn leads_elsewhere(subject: &Subject<'_>) -> bool {
    let prefix = subject.value("--prefix").unwrap_or("");
    let at = folder(subject);
    let to = path::absolute(prefix, Some(&at));
    !prefix.is_empty() && to != at && subject.facts.root.as_ref() != Some(&to)
}

/// Whether only files are taken back that are gone from the tree.
pub(super) fn brings_back(subject: &Subject<'_>) -> bool {
    let operands = subject.operands.iter().skip(1);
    let mut files = operands.filter(|(word, _)| word.text != "HEAD").peekable();
    files.peek().is_some() && files.all(|(word, _)| word.source.gone)
}

/// The folder that git goes to before it does anything: each `-C` is seen from the one before it.
pub(crate) fn folder(subject: &Subject<'_>) -> String {
    const TAKES: [&str; 7] = [
        "-c",
        "--git-dir",
        "--work-tree",
        "--namespace",
        "--exec-path",
        "--config-env",
        "--attr-source",
    ];
    let cwd = subject.call.cwd.as_deref();
    let mut at = link::resolve(".", cwd, subject.facts);
    let mut words = subject.call.words.iter().skip(1).map(|word| &word.text);
    while let Some(option) = words.next().filter(|word| word.starts_with('-')) {
        if option == "-C" {
            let to = words.next().map_or("", String::as_str);
            at = link::resolve(to, Some(&at), subject.facts);
        } else if TAKES.contains(&option.as_str()) {
            words.next();
        }
    }
    at
}

/// Whether it is about a repository among temporary files, which is not the project, nor a folder or tree that is worked
/// in besides.
pub(super) fn in_temporary(subject: &Subject<'_>) -> bool {
    let facts = subject.facts;
    let folder = folder(subject);
    let is_elsewhere = ["--git-dir", "--work-tree"]
        .iter()
        .any(|option| subject.has(option))
        || setting::is_moved(&subject.call.settings);
    // Without a project it is the session's folder.
    let own = facts.root.iter().chain(&facts.state).chain(&facts.given);
    let mut own = own.chain(facts.cwd.iter().filter(|_| facts.root.is_none()));
    // A container may have folders of this machine mounted under any name.
    let is_contained = subject.call.elsewhere && subject.call.via == "exec";
    is_temporary(&folder)
        && subject.place(&folder) == PathClass::Free
        && !is_elsewhere
        && !is_contained
        && !own.any(|own| path::is_within(&folder, own))
}

pub(super) fn drops_changes(subject: &Subject<'_>) -> bool {
    if takes_back_locks(subject) {
        return false;
    }
    // In a merge, one of its two sides is chosen.
    if ["-b", "-B", "--orphan", "--track", "--ours", "--theirs"]
        .iter()
        .any(|option| subject.has(option))
    {
        return false;
    }
    let words = &subject.call.words;
    let paths = words
        .iter()
        .position(|word| word.text == "--")
        .is_some_and(|at| at + 1 < words.len());
    if paths || subject.has("--pathspec-from-file") {
        return true;
    }
    // Of several all but the first are files.
    let operands = || subject.operands.iter().skip(1).map(|(word, _)| *word);
    let known = operands().filter(|word| !word.text.chars().all(|c| c == MAYBE));
    known.count() > 1 || operands().any(|word| names_files(subject, word))
}

/// Whether a word of `git checkout` is no branch but a file, a folder or a pattern.
fn names_files(subject: &Subject<'_>, word: &Arg) -> bool {
    let text = word.text.as_str();
    let exists = || {
        let absolute = path::absolute(text, Some(&folder(subject)));
        subject.facts.standing.contains(&absolute)
    };
    matches!(text, "." | "*" | "..")
        || text.starts_with("./")
        || text.starts_with(':')
        || text.ends_with('/')
        || text.contains('*')
        || word.source.listed && !word.source.refs
        || text
            .rsplit_once('.')
            .is_some_and(|(stem, end)| !stem.is_empty() && ENDINGS.contains(&end))
        || exists()
}

/// Whether a branch that may exist is created again: `switch -C`, `checkout -B`. Before the verb,
/// `-C` names a folder. A topic branch at its remote's version is the way to look at a fetched one.
pub(super) fn recreates(subject: &Subject<'_>) -> bool {
    let call = subject.call;
    let is_switch = subject.operand(0) == "switch";
    let letter = if is_switch { 'C' } else { 'B' };
    let branch = letter_value(call, letter).or_else(|| subject.value("--force-create"));
    let Some(branch) = branch else { return false };
    let from = subject
        .operands
        .iter()
        .skip(1)
        .map(|(word, _)| word.text.as_str());
    let mut from = from.filter(|from| *from != branch);
    let is_trunk = matches!(branch, "main" | "master" | "trunk" | "develop");
    let follows = from.next().and_then(|from| from.split_once('/'));
    is_trunk || follows.is_none_or(|(_, theirs)| theirs != branch)
}

/// Whether a fetch overwrites a local branch. A branch that follows a remote's, a tag or someone's
/// pull request is made to be overwritten.
pub(super) fn fetches_over(subject: &Subject<'_>) -> bool {
    let forced = subject.has("-f") || subject.has("--force");
    refspecs(subject).any(|spec| {
        let Some((from, to)) = spec.split_once(':') else {
            return false;
        };
        let follows = ["refs/remotes/", "refs/tags/", "refs/pull/", "refs/notes/"];
        (forced || from.starts_with('+'))
            && !to.is_empty()
            && !from.contains("://")
            && !from.contains("pull/")
            && !from.contains("merge-requests/")
            && !follows.iter().any(|start| to.starts_with(start))
    })
}

/// Whether a branch is copied over one that may be there: `branch -C`. Before the verb, `-C` names a
/// folder.
pub(super) fn copies_over(subject: &Subject<'_>) -> bool {
    let mut words = subject.call.words.iter().map(|word| word.text.as_str());
    words.any(|word| word == "branch")
        && words.any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains('C'))
}
