//! Reading what records are sealed and signed with: whoever knows it can write records that pass for ours.
//!
//! Only what this program keeps in the machine's home is meant. Deliberately not here: keys of others, which are
//! read where they are used, and sent by nobody (`network`).

use super::{Rule, Severity, Subject};
use crate::{glob, link};

/// What stands in the machine's home with a secret in it, by its folder and its name; any, where that is empty.
const SEALED: [(&str, &str); 2] = [("plan-runs", ""), ("keys", "ledger-ed25519")];

/// Programs that say of a file or a folder no more than that it is there.
const LISTERS: [&str; 24] = [
    "ls", "find", "fd", "tree", "stat", "test", "[", "[[", "echo", "printf", "cd", "pushd", "du",
    "file", "realpath", "readlink", "basename", "dirname", "chmod", "chown", "mkdir", "touch",
    "rm", "callosum",
];

/// Programs that take in whole folders.
const TAKERS: [&str; 14] = [
    "cp", "tar", "gtar", "bsdtar", "zip", "7z", "rsync", "scp", "rg", "ag", "ack", "grep", "egrep",
    "git",
];

/// The rule, which looks at every command.
pub(super) const READ: Rule = Rule {
    id: "state.sealed",
    when: &["&reads-sealed"],
    severity: Severity::Block,
    reason: "it reads a secret by which records are told from forged ones",
    alternatives: &["callosum plan list", "callosum audit tail"],
    catches: &[
        "cat ~/.local/state/callosum/plan-runs/0b8d.json",
        "jq -r .secret < ~/.local/state/callosum/plan-runs/0b8d.json",
        "cat ~/.local/state/callosum/plan-runs/*.json",
        "cd ~/.local/state/callosum && cp keys/ledger-ed25519 /tmp/k",
        "grep -r secret ~/.local/state/callosum",
        "tar cf /tmp/s.tar ~/.local/state/callosum",
        "find ~/.local/state/callosum/plan-runs -name '*.json' -exec cat {} +",
        "python3 -c 'import os; print(open(os.path.expanduser(\"~/.local/state/callosum/plan-runs/0b8d.json\")).read())'",
    ],
    spares: &[
        "ls -l ~/.local/state/callosum/plan-runs",
        "cat ~/.local/state/callosum/keys/ledger-ed25519.pub",
        "cat ~/.local/state/callosum/mesh/log.jsonl",
        "grep -rn plan-runs docs",
        "cat docs/formats/plan-run.md",
        "callosum plan show 0b8d",
        "git commit -m 'keep ~/.local/state/callosum/plan-runs to ourselves'",
    ],
};

/// Whether what a command is given holds such a secret, and it is one that reads it.
pub(super) fn reads(subject: &Subject<'_>) -> bool {
    let (call, facts) = (subject.call, subject.facts);
    let name = call.name.as_str();
    let Some(machine) = &facts.machine else {
        return false;
    };
    if call.elsewhere || LISTERS.contains(&name) {
        return false;
    }
    let whole = TAKERS.contains(&name);
    let holds = |text: &str| {
        let absolute = link::resolve(text, call.cwd.as_deref(), facts);
        let inner = absolute.strip_prefix(machine.trim_end_matches('/'));
        let inner = inner.filter(|inner| inner.is_empty() || inner.starts_with('/'));
        inner.is_some_and(|inner| match inner.trim_start_matches('/') {
            "" => whole,
            inner => is_sealed(inner),
        })
    };
    let words = call.words.iter().skip(1).map(|word| word.text.as_str());
    let paths = words
        .clone()
        .filter(|text| !text.contains(' '))
        .map(|text| match text {
            option if option.starts_with('-') => {
                option.split_once('=').map_or("", |(_, value)| value)
            }
            path => path,
        });
    let mut paths = paths
        .chain(call.fed_from.as_deref())
        .filter(|text| !text.is_empty());
    paths.any(holds)
        || is_interpreter(name) && {
            let script = call.script.as_ref().map(|script| script.text.as_str());
            let names = |text: &str| {
                let is_named = |(folder, file): &(&str, &str)| {
                    text.contains(&format!("callosum/{folder}/{file}")) && !text.contains(".pub")
                };
                SEALED.iter().any(is_named)
            };
            words.chain(script).any(names)
        }
}

/// Whether a path in the machine's home is that of a secret, of a folder of such, or a pattern that takes one in.
fn is_sealed(inner: &str) -> bool {
    let (first, rest) = inner.split_once('/').unwrap_or((inner, ""));
    SEALED.iter().any(|(folder, file)| {
        let is_folder =
            first == *folder || first.contains(['*', '?', '[']) && glob::matches(first, folder);
        is_folder
            && (rest.is_empty() || file.is_empty() || rest == *file || glob::matches(rest, file))
    })
}

/// Whether programs in another language are given to it.
fn is_interpreter(name: &str) -> bool {
    ["python", "node", "deno", "bun", "perl", "ruby", "php"]
        .iter()
        .any(|program| name.starts_with(program))
}
