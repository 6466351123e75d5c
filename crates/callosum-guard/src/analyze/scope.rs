//! Variables in functions, and behind branches that do not all run.
//!
//! `local` in a function ends with it. Behind `A && X=a || X=b` a variable holds one of two values, and each command that
//! uses it is looked at with both. Start with [`Evaluator::with_alternatives`].

use std::collections::BTreeSet;

use super::{
    collect::{set_by, set_in},
    evaluator::Evaluator,
    state::State,
    value::{Arg, Value},
};
use crate::shell::tree::{Assignment, Command, Part, Script, Simple, Target, Word};

/// Limit on the alternative values of one variable, besides the one that is taken for it.
const MOST_ALTERNATIVES: usize = 3;

impl State {
    /// Remembers what the variables hold that a function declares for itself.
    pub(super) fn declare(&mut self, builtin: &str, words: &[Arg]) {
        let is_global = words.iter().any(|word| {
            let letters = word.text.strip_prefix('-').unwrap_or("");
            letters.contains('g')
        });
        let declares = matches!(builtin, "local" | "declare" | "typeset");
        if !declares || is_global || self.running.is_empty() {
            return;
        }
        for word in words
            .iter()
            .skip(1)
            .filter(|word| !word.text.starts_with('-'))
        {
            let (name, is_set) = match word.text.split_once('=') {
                Some((name, _)) => (name.trim_end_matches('+'), true),
                None => (word.text.as_str(), false),
            };
            let before = self.get(name).map(<[Value]>::to_vec);
            self.locals.push((name.to_owned(), before));
            if !is_set {
                self.restore(name, None);
            }
        }
    }

    /// Puts back what variables held before a function declared them for itself.
    pub(super) fn leave_function(&mut self, locals: usize) {
        let locals = self.locals.split_off(locals.min(self.locals.len()));
        for (name, before) in locals.into_iter().rev() {
            self.alternatives.remove(&name);
            self.restore(&name, before);
        }
    }
}

/// The values that branches have left in the variables which they set.
#[derive(Default)]
pub(super) struct Branches {
    values: Vec<(String, Value)>,
}

impl Branches {
    /// Notes what a branch has set.
    pub(super) fn note(&mut self, branch: &Script, state: &State) {
        let mut names = BTreeSet::new();
        set_in(branch, &mut names);
        self.note_names(names, state);
    }

    /// Notes what a command has set that is a branch by itself.
    pub(super) fn note_command(&mut self, branch: &Command, state: &State) {
        let mut names = BTreeSet::new();
        set_by(branch, &mut names);
        self.note_names(names, state);
    }

    fn note_names(&mut self, names: BTreeSet<String>, state: &State) {
        for name in names {
            if let Some([value]) = state.get(&name) {
                self.values.push((name, value.clone()));
            }
        }
    }

    /// Has variables hold what any of the branches left in them.
    pub(super) fn join(self, state: &mut State) {
        for (name, value) in self.values {
            let is_other = state
                .get(&name)
                .is_some_and(|values| values.len() == 1 && values[0] != value);
            if !is_other {
                continue;
            }
            let others = state.alternatives.entry(name).or_default();
            if !others.contains(&value) && others.len() < MOST_ALTERNATIVES {
                others.push(value);
            }
        }
    }
}

impl Evaluator<'_> {
    /// Walks a command again with each value that a variable in it may hold instead.
    pub(super) fn with_alternatives(&mut self, simple: &Simple, input: Option<&Value>) {
        if self.state.alternatives.is_empty() {
            return;
        }
        if simple.words.is_empty() {
            for assignment in &simple.assignments {
                self.pass_on(assignment);
            }
            return;
        }
        let targets = simple
            .redirects
            .iter()
            .filter_map(|redirect| match &redirect.target {
                Target::Word(word) => Some(word),
                Target::Body(_) => None,
            });
        let words = simple.words.iter().chain(targets);
        for (name, values) in self.used(words) {
            for value in values {
                self.apart(|walker| {
                    walker.state.alternatives.clear();
                    walker.state.set(&name, value);
                    walker.simple(simple, input)
                });
            }
        }
    }

    /// Has a variable hold what comes of the other values in its assignment: `D=$X/a`.
    fn pass_on(&mut self, assignment: &Assignment) {
        for (name, values) in self.used(std::iter::once(&assignment.value)) {
            for value in values {
                let other = self.apart(|walker| {
                    walker.state.alternatives.clear();
                    walker.state.set(&name, value);
                    walker.whole(&assignment.value)
                });
                let others = self.state.alternatives.entry(assignment.name.clone());
                let others = others.or_default();
                if others.len() < MOST_ALTERNATIVES {
                    others.push(other);
                }
            }
        }
    }

    /// Returns the variables with other values that words use.
    fn used<'w>(&self, words: impl Iterator<Item = &'w Word>) -> Vec<(String, Vec<Value>)> {
        let parts: Vec<&Part> = words.flat_map(|word| &word.parts).collect();
        let is_used = |name: &String| {
            parts.iter().any(|part| match part {
                Part::Parameter { parameter, .. } => parameter.name == *name,
                _ => false,
            })
        };
        let others = self.state.alternatives.iter();
        let used = others.filter(|(name, _)| is_used(name));
        used.map(|(name, values)| (name.clone(), values.clone()))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::{Decision, Facts, Policy, decide};

    fn decided(command: &str) -> Decision {
        decide(command, &Facts::of_a_project(), &Policy::default()).decision
    }

    /// CAKE-SHIM-1: a variable that one of several branches sets may hold what any of them sets.
    #[test]
    fn both_branches_of_a_condition_count() {
        for command in [
            "[ -n \"$CI\" ] && D=/ || D=build; rm -rf $D",
            "[ -n \"$CI\" ] && D=build || D=/; rm -rf $D",
            "[[ $1 == a ]] && D=~ || D=build\nrm -rf \"$D\"",
            "test -d x && export D=/ || export D=build; rm -rf \"$D\"",
            "if [ -n \"$CI\" ]; then D=/; else D=build; fi; rm -rf $D",
            "case $1 in a) D=/;; *) D=build;; esac; rm -rf $D",
            "[ -n \"$CI\" ] && D=~/p || D=build; E=$D/.git; rm -rf $E",
            "grep -q x y && F=--hard || F=--soft; git reset $F",
        ] {
            assert_eq!(decided(command), Decision::Block, "{command}");
        }
        for command in [
            "[ -n \"$CI\" ] && D=dist || D=build; rm -rf $D",
            "[ -n \"$CI\" ] && D=/ || D=build; D=out; rm -rf $D",
            "if [ -n \"$CI\" ]; then D=/; else D=/usr; fi; ls $D",
            "case $1 in a) D=a;; *) D=b;; esac; rm -rf $D/x",
        ] {
            assert_eq!(decided(command), Decision::Allow, "{command}");
        }
    }

    /// CAKE-SHIM-1: what a function declares for itself ends with it.
    #[test]
    fn what_a_function_declares_ends_with_it() {
        for command in [
            "D=/; f() { local D=build; echo $D; }; f; rm -rf $D",
            "D=/; f() { declare D=build; rm -rf $D; }; f; rm -rf $D",
            "D=/; f() { local -r D=build; g; }; g() { local D=x; }; f; rm -rf \"$D\"",
            "f() { local D=/; rm -rf $D; }; f",
            "D=build; f() { declare -g D=/; }; f; rm -rf $D",
            "D=build; f() { D=/; }; f; rm -rf $D",
        ] {
            assert_eq!(decided(command), Decision::Block, "{command}");
        }
        for command in [
            "D=build; f() { local D=/; echo $D; }; f; rm -rf $D",
            "D=build; f() { typeset D=~; ls $D; }; f; rm -rf $D",
            "f() { local d; for d in a b; do rm -rf \"$d\"; done; }; f",
            "f() { local tmp=$(mktemp -d); rm -rf \"$tmp\"; }; f",
        ] {
            assert_eq!(decided(command), Decision::Allow, "{command}");
        }
    }
}
