//! Folders that a command may have gone to, or not: `[ -d build ] && cd build; rm -rf *`.
//!
//! What runs behind a conditional `cd` is examined both in its target and in the folder before it.
//! Start with [`Evaluator::perhaps`]. Deliberately not here: an unconditional `cd`, which goes
//! anywhere that exists.

use super::{evaluator::Evaluator, state::State, value::Value};
use crate::{
    path,
    shell::tree::{Command, Script, Word},
};

/// Limit on alternatives to the presumed working folder: no one nests conditions deeper around a
/// `cd`.
const MOST_OTHERS: usize = 3;

/// Commands that are asked whether something is so: that they say no is as usual as that they say yes.
const ASKED: [&str; 16] = [
    "[", "[[", "test", "false", "grep", "egrep", "fgrep", "rg", "command", "type", "which", "hash",
    "diff", "cmp", "read", "pgrep",
];

/// The folder that a shell may be in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CwdState {
    /// The folder that is gone by.
    folder: Option<String>,
    /// Those that it may be in instead.
    others: Vec<Option<String>>,
}

impl Evaluator<'_> {
    pub(super) fn whereabouts(&self) -> CwdState {
        CwdState {
            folder: self.state.cwd.clone(),
            others: self.state.others.clone(),
        }
    }

    /// Has the shell be there.
    pub(super) fn stand(&mut self, at: CwdState) {
        self.state.cwd = at.folder;
        self.state.others = at.others;
    }

    /// Puts the shell in any of these states, without knowing which; if there is none, nothing
    /// follows.
    pub(super) fn stand_in_any(&mut self, states: Vec<CwdState>) {
        let mut states = states.into_iter();
        let Some(first) = states.next() else { return };
        self.stand(first);
        for stand in states {
            self.stand_in_another(stand);
        }
    }

    fn stand_in_another(&mut self, at: CwdState) {
        for folder in [at.folder].into_iter().chain(at.others) {
            let others = &mut self.state.others;
            if folder != self.state.cwd && !others.contains(&folder) && others.len() < MOST_OTHERS {
                others.push(folder);
            }
        }
    }

    /// Notes the shell's folder behind a branch: among `states` if what comes next follows it.
    pub(super) fn leave(&mut self, branch: &Script, states: &mut Vec<CwdState>) {
        match end_of(branch) {
            None => states.push(self.whereabouts()),
            Some(End::Turn) => self.state.left.push(self.whereabouts()),
            Some(End::Shell) => {}
        }
    }

    /// Adds the folders in which a round of a loop, or a call of a function, was left since there
    /// were `before` of these.
    pub(super) fn rejoin(&mut self, before: usize) {
        let before = before.min(self.state.left.len());
        for at in self.state.left.split_off(before) {
            self.stand_in_another(at);
        }
    }

    /// Notes that the commands since may not have run: the shell may also be in its folder before
    /// them.
    pub(super) fn perhaps(&mut self, before: CwdState) {
        if self.sure || self.whereabouts() == before {
            return;
        }
        self.stand_in_another(before);
    }
}

impl State {
    /// Moves the alternative folders of the shell along with it.
    pub(super) fn take_others(&mut self, to: &Value) {
        if to.text.starts_with('/') {
            self.others.clear();
        }
        for other in &mut self.others {
            let leads = other.as_deref().filter(|_| to.is_known());
            *other = leads.map(|other| path::absolute(&to.text, Some(other)));
        }
    }
}

/// The unit that a command ends, so that nothing of it follows.
#[derive(Clone, Copy)]
enum End {
    /// The shell.
    Shell,
    /// The round of a loop, the loop, or the call of a function.
    Turn,
}

/// Returns the unit that the last command of a script ends, if that is unconditional.
fn end_of(script: &Script) -> Option<End> {
    let asks = |command: &Command| match command {
        Command::Chain(chained) => chained.commands.iter().any(is_asked),
        _ => false,
    };
    script
        .commands
        .last()
        .filter(|last| !asks(last))
        .and_then(end)
}

/// Whether nothing follows a command: it ends the shell, or the turn that it is in.
pub(super) fn ends(command: &Command) -> bool {
    end(command).is_some()
}

fn end(command: &Command) -> Option<End> {
    match command {
        Command::Simple(simple) => {
            let name = simple.words.first().and_then(Word::literal)?;
            match name.as_str() {
                "exit" | "die" | "fail" | "abort" => Some(End::Shell),
                "return" | "break" | "continue" => Some(End::Turn),
                _ => None,
            }
        }
        Command::Group {
            body,
            subshell: false,
        }
        | Command::Chain(body) => body.commands.iter().find_map(end),
        Command::Redirected { command, .. } => end(command),
        _ => None,
    }
}

/// Whether a command is one that is asked whether something is so.
pub(super) fn is_asked(command: &Command) -> bool {
    match command {
        Command::Simple(simple) => {
            let name = simple.words.first().and_then(Word::literal);
            name.is_some_and(|name| ASKED.contains(&name.as_str()))
        }
        Command::Test(_) => true,
        Command::Pipeline(commands) => commands.last().is_some_and(is_asked),
        Command::Redirected { command, .. } => is_asked(command),
        // `[ -d a ] && [ -w a ] || …`
        Command::Chain(script) => script.commands.iter().any(is_asked),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::{Decision, Facts, Policy, decide};

    /// CAKE-SHIM-1: if a `cd` may not have run, what follows is decided for both folders.
    #[test]
    fn what_follows_a_cd_under_a_condition_may_run_where_it_was() {
        let facts = Facts::of_a_project();
        let decided = |command: &str| decide(command, &facts, &Policy::default()).decision;
        for command in [
            "[ -d /tmp/x ] && cd /tmp/x; git reset --hard",
            "[ -d /tmp/x ] && cd /tmp/x; rm -rf .git",
            "if [ -d /tmp/x ]; then cd /tmp/x; fi; rm -rf .git",
            "false && cd /tmp; rm -rf .git",
            "[ -d /tmp ] || cd /tmp; git reset --hard",
            "case $1 in y) cd /tmp;; esac; rm -rf .git",
            "while false; do cd /tmp; done; rm -rf .git",
            "grep -q x y && cd /tmp; git -C . reset --hard",
            "[[ -d /tmp ]] && cd /tmp\ngit reset --hard",
            "[ -d /tmp/x ] || cd /tmp && git reset --hard",
            "[ -d a ] && [ -w a ] || cd /tmp; git reset --hard",
            "if [ -d a ]; then cd /tmp/a; elif [ -d b ]; then cd /tmp/b; fi; git reset --hard",
            "if [ -d a ]; then [ -d b ] && exit; cd /tmp; else echo; fi; git reset --hard",
            "if [ -d a ]; then cd /tmp; [ -d b ] && exit 1; else exit 1; fi; cd -; git reset --hard",
            "case $1 in y) cd /tmp;; n) exit;; esac; git reset --hard",
            "case $1 in y) cd /tmp;; \\*) exit;; esac; git reset --hard",
            "cd /tmp && for d in a b; do if [ -d ~ ]; then cd ~; break; fi; done; rm -rf *",
            "cd /tmp && for d in ~/p/a ~/p; do if [ -d \"$d\" ]; then cd \"$d\"; break; fi; done; git reset --hard",
            "cd /tmp && while read d; do if [ -d ~/p ]; then cd ~/p; break; fi; done; git reset --hard",
            "cd /tmp && f() { if [ -d ~/p ]; then cd ~/p; return 0; fi; echo no; }; f; rm -rf .git",
            "cd /tmp && f() { case $1 in a) cd ~/p; return;; esac; echo no; }; f; rm -rf .git",
            "cd /tmp && for d in a b; do rm -rf *; if [ -d ~ ]; then cd ~; continue; fi; cd /tmp; done",
        ] {
            assert_eq!(decided(command), Decision::Block, "{command}");
        }
        for command in [
            "[ -d /tmp/x ] && cd /tmp/x && rm -rf *",
            "[ -d /tmp/x ] || exit 1; cd /tmp/x && rm -rf *",
            "[ -d /tmp/x ] && cd /tmp/x || exit 1; rm -rf *",
            "if [ -d web ]; then cd web; fi; npm test",
            "mkdir -p /tmp/x && cd /tmp/x; rm -rf *",
            "cd /tmp/x || mkdir /tmp/x && cd /tmp/x; rm -rf *",
            "if true; then cd web; fi; cd /tmp && rm -rf *",
            "if [ -d /tmp/x ]; then cd /tmp/x; else exit 1; fi; rm -rf *",
            "if [ -d /tmp/x ]; then cd /tmp/x; else echo none && exit 1; fi; rm -rf *",
            "if [ -d /tmp/x ]; then cd /tmp/x; elif true; then cd /tmp/z; else cd /tmp/y; fi; rm -rf *",
            "case $1 in a) cd /tmp/a;; *) cd /tmp/b;; esac; rm -rf *",
            "case $1 in a|b) cd /tmp/a;; x|*) exit 1;; esac; rm -rf *",
            "[ -d /tmp/x ] && echo there || mkdir /tmp/x && cd /tmp/x; rm -rf *",
            "for d in a b; do cd $d; make; cd ..; done; git status",
            "f() { if [ -d /tmp/x ]; then cd /tmp/x; else return 1; fi; rm -rf *; }; f",
            "for d in a b; do if [ -d /tmp/$d ]; then cd /tmp/$d; else continue; fi; rm -rf *; done",
            "[ -n \"$CI\" ] && echo ci; cd web && rm -rf dist",
        ] {
            assert_eq!(decided(command), Decision::Allow, "{command}");
        }
    }
}
