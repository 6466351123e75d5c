//! Programs that run one command in each of many folders, or on many machines.

use super::joined;
use crate::analyze::{
    evaluator::Evaluator,
    value::{Arg, Value},
    wrapper_table::first_operand,
};

/// Place of the command among the words of such a program.
enum Way {
    /// Behind this option: a text for a shell.
    Behind(&'static [&'static str]),
    /// Behind these words: a text, or words.
    After(&'static [&'static str]),
    /// By what git would be given, somewhere behind these words.
    Git(&'static [&'static str]),
}

/// The programs, and the ways of each.
const MANY: &[(&str, Way)] = &[
    ("gita", Way::Git(&["super"])),
    ("gita", Way::After(&["shell"])),
    ("meta", Way::After(&["exec"])),
    ("meta", Way::After(&[])),
    ("mr", Way::After(&["run"])),
    ("myrepos", Way::After(&["run"])),
    ("west", Way::Behind(&["-c", "--cmd"])),
    ("vcs", Way::Git(&["custom"])),
    ("git-bulk", Way::Git(&[])),
    ("gitbatch", Way::Git(&[])),
    ("mani", Way::After(&["exec"])),
    ("tsrc", Way::After(&["foreach"])),
    ("git-xargs", Way::After(&["--"])),
    ("nx", Way::After(&["exec"])),
    ("rush", Way::After(&["foreach"])),
    ("devbox", Way::After(&["run"])),
    ("tox", Way::After(&["exec"])),
    ("ultra", Way::After(&["--"])),
    ("wsrun", Way::Behind(&["-c", "--exec"])),
    ("pssh", Way::After(&[])),
    ("parallel-ssh", Way::After(&[])),
    ("pdsh", Way::After(&[])),
    ("clush", Way::After(&[])),
    ("dsh", Way::After(&[])),
    ("salt", Way::Behind(&["cmd.run", "cmd.shell"])),
    ("fab", Way::After(&["--"])),
];

/// Their options that take the next word.
const TAKES: &str =
    "-h -H -w -x -g -e -E -l -p -t -o --host --hosts --group -c --config --projects --env -j";

impl Evaluator<'_> {
    /// Follows the commands of such a program; `None` if the name is none of one, or nothing is
    /// run.
    pub(super) fn many(
        &mut self,
        name: &str,
        words: &[Arg],
        input: Option<&Value>,
    ) -> Option<Value> {
        if name == "tox" {
            self.overridden(words);
        }
        let ways = MANY.iter().filter(|(program, _)| *program == name);
        for (_, way) in ways {
            let run = match way {
                Way::Behind(options) => behind(words, options),
                Way::After(verbs) => after(words, verbs),
                Way::Git(verbs) => after(words, verbs).and_then(of_git),
            };
            let Some(run) = run.filter(|run| !run.is_empty()) else {
                continue;
            };
            return Some(match run.as_slice() {
                // Where several words make a text, the first one with blanks is it.
                [text, ..] if text.text.contains(' ') => {
                    self.nested(name, &joined(&run).text, input)
                }
                [_, text, ..] if text.text.contains(' ') && !self.is_program(&run[0]) => {
                    self.nested(name, &joined(&run[1..]).text, input)
                }
                _ => self.inner(name, &run, input),
            });
        }
        None
    }

    /// Whether a word names a program that matters, and no folder or group.
    fn is_program(&self, word: &Arg) -> bool {
        self.known.contains(crate::path::name(&word.text))
    }

    /// Follows the commands that a setting of `tox` overrides: `-x testenv.commands=…`.
    fn overridden(&mut self, words: &[Arg]) {
        for (at, word) in words.iter().enumerate() {
            let setting = match word.text.as_str() {
                "-x" | "--override" => words.get(at + 1).map(|next| next.text.clone()),
                text => text.strip_prefix("--override=").map(str::to_owned),
            };
            let set = setting
                .as_deref()
                .and_then(|setting| setting.split_once('='));
            if let Some((key, command)) = set
                && key.trim_end_matches('+').contains("commands")
            {
                self.nested("tox -x", command, None);
            }
        }
    }
}

fn behind(words: &[Arg], options: &[&str]) -> Option<Vec<Arg>> {
    let at = words
        .iter()
        .position(|word| options.contains(&word.text.as_str()))?;
    let rest = words.get(at + 1..)?;
    // `-c git status`: the rest is the command.
    let is_text = rest.first()?.text.contains(' ');
    Some(rest[..if is_text { 1 } else { rest.len() }].to_vec())
}

/// The words behind these, without the options between.
fn after(words: &[Arg], verbs: &[&str]) -> Option<Vec<Arg>> {
    let mut at = 1;
    for verb in verbs {
        at = words.iter().skip(at).position(|word| word.text == *verb)? + at + 1;
    }
    let from = first_operand(words, at, TAKES);
    let run = words.get(from..)?;
    let run = run.strip_prefix(&[Arg::plain("--")]).unwrap_or(run);
    Some(run.to_vec())
}

/// The command of git among these words, behind names of repositories.
fn of_git(words: Vec<Arg>) -> Option<Vec<Arg>> {
    const VERBS: [&str; 14] = [
        "reset",
        "clean",
        "checkout",
        "restore",
        "push",
        "stash",
        "branch",
        "rebase",
        "switch",
        "gc",
        "reflog",
        "update-ref",
        "tag",
        "worktree",
    ];
    let at = words
        .iter()
        .position(|word| word.text == "git" || VERBS.contains(&word.text.as_str()))?;
    let own = usize::from(words[at].text == "git");
    let mut run = vec![Arg::plain("git")];
    run.extend_from_slice(&words[at + own..]);
    Some(run)
}
