//! Options of git that take a value: those before its verb, and those of each verb.
//!
//! As in `getopt`, a value may be in the same word behind a letter (`clean -ebuild`), which is no
//! row of letters then. Before the verb git takes none joined: `git -Csrc` is an error.

use super::call::Call;

/// Those that stand before the verb.
pub(crate) const GLOBAL: &str =
    "-C -c --git-dir --work-tree --namespace --exec-path --config-env --super-prefix --attr-source";

/// Those of the verbs that rules are about.
const OF_VERBS: &[(&str, &str)] = &[
    ("am", "-p -C --directory --exclude --include --patch-format"),
    (
        "apply",
        "-p -C --directory --exclude --include --whitespace",
    ),
    ("branch", "-u --set-upstream-to --format --sort --points-at"),
    ("checkout", "-b -B --orphan --conflict --pathspec-from-file"),
    ("checkout-index", "--prefix --stage"),
    ("clean", "-e --exclude"),
    (
        "cherry-pick",
        "-m -X --mainline --strategy --strategy-option --cleanup",
    ),
    (
        "clone",
        "-b -o -u -j -c --branch --origin --upload-pack --jobs --config --template --depth --reference --filter --separate-git-dir",
    ),
    (
        "commit",
        "-m -F -C -c -t --message --file --author --date --reuse-message --reedit-message --fixup --squash --template --cleanup --trailer --pathspec-from-file",
    ),
    (
        "fetch",
        "-o -j --server-option --jobs --upload-pack --depth --deepen --refmap --filter",
    ),
    (
        "merge",
        "-m -F -s -X --message --file --strategy --strategy-option --into-name --cleanup",
    ),
    (
        "pull",
        "-s -X -o -j --strategy --strategy-option --server-option --jobs --upload-pack --depth --refmap",
    ),
    ("push", "-o --push-option --receive-pack --exec --repo"),
    (
        "read-tree",
        "--prefix --index-output --exclude-per-directory",
    ),
    (
        "rebase",
        "-s -X -x -C --onto --strategy --strategy-option --exec --whitespace",
    ),
    ("reset", "--pathspec-from-file"),
    ("restore", "-s --source --conflict --pathspec-from-file"),
    (
        "revert",
        "-m -X --mainline --strategy --strategy-option --cleanup",
    ),
    ("rm", "--pathspec-from-file"),
    (
        "submodule",
        "-b -j --branch --jobs --reference --depth --name",
    ),
    (
        "switch",
        "-c -C --create --force-create --orphan --conflict",
    ),
    ("worktree", "-b -B --reason --expire"),
];

/// Those of the other verbs, as far as rules look at them.
const OF_OTHERS: &str = "-m -F --message --file --author --date -o --push-option --receive-pack --repo --template --conflict --pathspec-from-file";

/// Returns the position of the verb among the words; the name of the program is word 0.
pub(crate) fn verb_at(call: &Call) -> Option<usize> {
    let mut at = 1;
    loop {
        let text = call.words.get(at)?.text.as_str();
        if !text.starts_with('-') {
            return Some(at);
        }
        at += 1 + usize::from(is_listed(GLOBAL, text));
    }
}

/// Returns the options that take a value before and behind the verb, and the position of the verb
/// among the words.
pub(super) fn takes(call: &Call) -> (&'static str, &'static str, usize) {
    let Some(at) = verb_at(call) else {
        return (GLOBAL, OF_OTHERS, call.words.len());
    };
    let verb = call.words[at].text.as_str();
    let own = OF_VERBS.iter().find(|(name, _)| *name == verb);
    (GLOBAL, own.map_or(OF_OTHERS, |(_, takes)| takes), at)
}

fn is_listed(takes: &str, option: &str) -> bool {
    takes.split(' ').any(|one| one == option)
}

/// Returns the value of a verb's one-letter option, at any place among joined letters: `-B main`,
/// `-Bmain`, `-qB main`.
pub(crate) fn letter_value(call: &Call, letter: char) -> Option<&str> {
    let (_, takes, verb) = takes(call);
    let mut words = call.words.iter().skip(verb + 1).map(|word| &word.text);
    while let Some(word) = words.next() {
        if word == "--" {
            return None;
        }
        let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        let Some(letters) = letters else { continue };
        let valued = |own: char| takes.split(' ').any(|one| one.chars().eq(['-', own]));
        let Some(at) = letters.find(valued) else {
            continue;
        };
        let (own, rest) = letters.split_at(at + 1);
        let value = if rest.is_empty() {
            words.next().map_or("", String::as_str)
        } else {
            rest
        };
        if own.ends_with(letter) {
            return Some(value);
        }
    }
    None
}
