//! Several things moved or copied to one name, one after the other: `for f in *.csv; do mv "$f" archive; done`.
//!
//! If the name is no folder, each replaces the one before it and all but the last are lost. Start with
//! [`Evaluator::collects`]. Whether the folder exists is a fact of the disk, which the rule looks up.

use std::collections::BTreeSet;

use super::{
    call::Analysis, evaluator::Evaluator, state::State, value::Arg, wrapper_table::takes_next,
};
use crate::{
    path,
    path_class::is_temporary,
    shell::tree::{Command, Script, Word},
};

/// Builtins that set the variables they name.
const SET: [&str; 9] = [
    "read",
    "printf",
    "let",
    "declare",
    "local",
    "typeset",
    "export",
    "mapfile",
    "readarray",
];

impl Evaluator<'_> {
    /// Walks a loop. What changes from round to round is one of several things in it.
    pub(super) fn repeating<T>(
        &mut self,
        parts: &[Script],
        walk: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let mut names = BTreeSet::new();
        for part in parts {
            set_in(part, &mut names);
        }
        self.state.vary(&names);
        self.rounds += 1;
        let done = walk(self);
        self.rounds -= 1;
        if self.rounds == 0 {
            self.state.settle();
        }
        done
    }

    /// Returns the absolute path that a command moves or copies one of several things to, unless that is known to be a
    /// folder or each thing is kept.
    pub(super) fn collects(&self, name: &str, words: &[Arg]) -> Option<String> {
        const TAKES: &str = "-S --suffix -m --mode -o --owner -g --group -e --rsh";
        let name = name.trim_start_matches('g');
        let is_of_each = words.iter().any(|word| word.source.each);
        if !is_of_each || self.elsewhere || !matches!(name, "mv" | "cp" | "install" | "rsync") {
            return None;
        }
        let keeps: &[char] = match name {
            // `-t` names a folder, which has to exist. Without a terminal the answer to `-i` is no.
            "mv" | "cp" => &['t', 'n', 'b', 'i'],
            "install" => &['t', 'd', 'b'],
            _ => &['n', 'b'],
        };
        let mut operands = Vec::new();
        let mut at = 1;
        while let Some(word) = words.get(at) {
            let text = word.text.as_str();
            at += 1 + usize::from(text.starts_with('-') && takes_next(text, TAKES));
            match text.strip_prefix('-') {
                None => operands.push(word),
                Some("" | "-") => {}
                Some(long) if long.starts_with('-') => {
                    let keeps = [
                        "-target",
                        "-no-clobber",
                        "-backup",
                        "-interactive",
                        "-directory",
                        "-dry-run",
                        "-ignore-existing",
                        "-update=none",
                        "-list-only",
                    ];
                    if keeps.iter().any(|start| long.starts_with(start)) {
                        return None;
                    }
                }
                Some(letters) if letters.contains(keeps) => return None,
                Some(_) => {}
            }
        }
        // Several things at once go into a folder, or nowhere.
        let [from, to] = operands[..] else {
            return None;
        };
        let text = to.text.as_str();
        let is_one_name = to.is_known() && !to.glob && !to.source.each && !text.ends_with('/');
        let last = path::name(text);
        if !from.source.each || from.glob || !is_one_name || matches!(last, "" | "." | ".." | "~") {
            return None;
        }
        // A copy that has an ending is one file that is there for a while: `cp "$env.toml" config.toml`.
        if name != "mv" && (last.contains('.') || text.contains(':')) {
            return None;
        }
        let path = self.state.absolute(text);
        // A copied file is still in its old place.
        if name != "mv" && is_temporary(&path) {
            return None;
        }
        let is_folder =
            |folder: Option<&String>| folder.is_some_and(|folder| path::is_within(folder, &path));
        let exists = is_folder(self.state.cwd.as_ref())
            || is_folder(self.facts.home.as_ref())
            || path
                .rsplit_once('/')
                .is_some_and(|(above, _)| above.is_empty())
                && is_temporary(&path);
        (path.starts_with('/') && !exists && !self.is_made_before(&path)).then_some(path)
    }

    /// Returns whether a command before this one made a folder at a path, or asked whether one exists.
    fn is_made_before(&self, wanted: &str) -> bool {
        self.found.calls.iter().any(|call| {
            let words = || call.words.iter().skip(1).map(|word| word.text.as_str());
            let makes = match call.name.as_str() {
                "mkdir" | "gmkdir" | "md" | "New-Item" | "mktemp" | "unzip" | "rsync" => true,
                "git" => words().any(|word| matches!(word, "clone" | "worktree" | "init")),
                "install" => words().any(|word| word == "-d" || word == "--directory"),
                "cp" => words().any(|word| {
                    word.starts_with('-') && word.contains(['r', 'R', 'a']) && !word.contains('=')
                }),
                "[" | "test" => words().any(|word| word == "-d"),
                _ => false,
            };
            makes
                && words().any(|word| {
                    let made = path::absolute(word, call.cwd.as_deref());
                    path::is_within(&made, wanted)
                })
        })
    }
}

impl State {
    /// Marks variables whose value changes from round to round of a loop: those that it sets, and numbers.
    fn vary(&mut self, names: &BTreeSet<String>) {
        self.mark_each(|name, text| {
            let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            (is_number || names.contains(name)).then_some(true)
        });
    }

    /// Takes the mark from all variables when the outermost loop ends.
    fn settle(&mut self) {
        self.mark_each(|_, _| Some(false));
    }
}

impl Analysis {
    /// Forgets about a copy that other commands use between two rounds: `cp "$f" input; ./run input`.
    pub(super) fn drop_used_copies(&mut self) {
        let copies = self.calls.iter().enumerate();
        let copies = copies.filter(|(_, call)| call.collects.is_some() && call.name != "mv");
        let used: Vec<usize> = copies
            .filter(|(at, copy)| {
                let name = path::name(copy.collects.as_deref().unwrap_or_default());
                self.calls.iter().enumerate().any(|(other, call)| {
                    // What runs the copy for each thing names its target as well.
                    other != *at
                        && call.depth >= copy.depth
                        && call.collects.is_none()
                        && call.words.iter().any(|word| path::name(&word.text) == name)
                })
            })
            .map(|(at, _)| at)
            .collect();
        for at in used {
            self.calls[at].collects = None;
        }
    }
}

/// Collects the names of the variables that a script sets itself.
pub(super) fn set_in(script: &Script, names: &mut BTreeSet<String>) {
    script
        .commands
        .iter()
        .for_each(|command| set_by(command, names));
}

pub(super) fn set_by(command: &Command, names: &mut BTreeSet<String>) {
    match command {
        Command::Simple(simple) => {
            names.extend(simple.assignments.iter().map(|one| one.name.clone()));
            let first = simple.words.first().and_then(Word::literal);
            if first.is_some_and(|first| SET.contains(&first.as_str())) {
                let literal = simple.words.iter().skip(1).filter_map(Word::literal);
                names.extend(literal.map(|word| {
                    let end = word.find(|c: char| !c.is_alphanumeric() && c != '_');
                    word[..end.unwrap_or(word.len())].to_owned()
                }));
            }
        }
        Command::Pipeline(commands) => commands.iter().for_each(|one| set_by(one, names)),
        Command::Group { body, .. } | Command::Chain(body) | Command::Either(body) => {
            set_in(body, names);
        }
        Command::Parts(parts) | Command::Loop(parts) | Command::Case { arms: parts, .. } => {
            for part in parts {
                set_in(part, names);
            }
        }
        Command::For { variable, body, .. } => {
            names.insert(variable.clone());
            set_in(body, names);
        }
        Command::Redirected { command, .. } => set_by(command, names),
        Command::Function { .. } | Command::Test(_) => {}
    }
}
