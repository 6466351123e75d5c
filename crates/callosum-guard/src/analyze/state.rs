//! State that the shell would remember between two commands, as far as it can be known.
//!
//! Held by value: a subshell works on a copy. Deliberately not here: the real environment, apart
//! from the home folder.

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use super::{
    descriptor::Descriptors,
    uncertain_cwd::CwdState,
    value::{Arg, MAX_VALUE, MAX_VALUES, MAYBE, Value},
};
use crate::{
    facts::Facts,
    path,
    shell::tree::{Command, Script},
};

/// Variables, functions, aliases, the working folder, and files that were written.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    variables: BTreeMap<String, Vec<Value>>,
    /// Those of them that were set for the shell alone: no program that it starts has them.
    pub(crate) own: BTreeSet<String>,
    pub(crate) functions: BTreeMap<String, Rc<Command>>,
    pub(crate) aliases: BTreeMap<String, String>,
    /// `None` if it is not known any more.
    pub(crate) cwd: Option<String>,
    /// Folders that the shell may be in instead of it.
    pub(crate) others: Vec<Option<String>>,
    /// Working folders at which loop rounds and function calls were left early; they still have to
    /// be walked to their end.
    pub(super) left: Vec<CwdState>,
    /// Known contents of files that were written before, by their path.
    pub(crate) files: BTreeMap<String, Value>,
    /// Working trees that the command had git make.
    pub(crate) trees: BTreeSet<String>,
    /// Repositories that the command had git clone, if what follows runs only once that was done.
    pub(crate) cloned: BTreeSet<String>,
    /// Scripts that receive what is written to a file, as `>(…)` does, by its path.
    pub(crate) takers: BTreeMap<String, Rc<Script>>,
    /// `$1` and on.
    pub(crate) arguments: Option<Vec<Arg>>,
    /// Earlier values of the variables that running functions have declared as local.
    pub(super) locals: Vec<(String, Option<Vec<Value>>)>,
    /// Other values of variables that several branches set.
    pub(super) alternatives: BTreeMap<String, Vec<Value>>,
    /// Functions that are running.
    pub(crate) running: Vec<String>,
    /// Names that stand for others, as `declare -n` makes them.
    pub(crate) references: BTreeMap<String, String>,
    /// Targets that descriptors were opened to.
    pub(super) descriptors: Descriptors,
    /// Whether a descriptor leads to the network.
    pub(crate) joined: bool,
    /// Whether the text is for fish, whose `set` differs.
    pub(crate) fish: bool,
    /// Whether a shell ends at the first command that fails, as by `set -e`.
    pub(crate) strict: bool,
    /// Whether every variable expands to all its values, as in fish and PowerShell.
    pub(crate) lists: bool,
}

impl State {
    pub(crate) fn new(facts: &Facts) -> State {
        State {
            cwd: facts.cwd.clone(),
            ..State::default()
        }
    }

    /// Returns the value of a variable; `None` if it was not set in sight.
    pub(crate) fn get(&self, name: &str) -> Option<&[Value]> {
        self.variables.get(name).map(Vec::as_slice)
    }

    /// Returns the keys of a list that is named `name[@]`, or the numbers of its values if it has
    /// none.
    pub(super) fn keys(&self, whole: &str) -> Vec<String> {
        let name = whole.trim_end_matches(['@', '*', ']']);
        let keyed = self.variables.range(name.to_owned()..);
        let keyed = keyed.map_while(|(key, _)| key.strip_prefix(name));
        let keys: Vec<String> = keyed
            .map(|key| key.trim_end_matches(']').to_owned())
            .take(MAX_VALUES)
            .collect();
        if !keys.is_empty() {
            return keys;
        }
        let values = self.get(name.trim_end_matches('[')).unwrap_or_default();
        (0..values.len()).map(|at| at.to_string()).collect()
    }

    /// Gives none of the variables to a program that is started from now on.
    pub(super) fn keep_variables(&mut self) {
        self.own.extend(self.variables.keys().cloned());
    }

    /// Sets a variable that every program has which is started from now on.
    pub(super) fn give(&mut self, name: &str, value: Value) {
        self.set(name, value);
        self.own.remove(name);
    }

    /// The variables that hold one text which is known.
    pub(crate) fn known_texts(&self) -> BTreeMap<String, String> {
        let single = self.variables.iter().filter_map(|(name, values)| {
            let [value] = values.as_slice() else {
                return None;
            };
            let is_told = value.is_known() && !value.text.is_empty();
            is_told.then(|| (name.clone(), value.text.clone()))
        });
        single.collect()
    }

    pub(crate) fn set(&mut self, name: &str, value: Value) {
        self.alternatives.remove(name);
        self.variables.insert(name.to_owned(), vec![value]);
    }

    pub(crate) fn set_list(&mut self, name: &str, values: Vec<Value>) {
        self.alternatives.remove(name);
        self.variables.insert(name.to_owned(), values);
        self.bound(name);
    }

    /// Makes a list unknown that has become too long.
    fn bound(&mut self, name: &str) {
        if let Some(values) = self.variables.get_mut(name) {
            let bytes: usize = values.iter().map(|value| value.text.len()).sum();
            if values.len() > MAX_VALUES || bytes > MAX_VALUE {
                *values = vec![Value::unknown()];
            }
        }
    }

    pub(crate) fn add(&mut self, name: &str, mut values: Vec<Value>, joined: bool) {
        let there = self.variables.entry(name.to_owned()).or_default();
        match (there.last_mut(), joined) {
            (Some(last), true) => values.iter().for_each(|value| last.append(value)),
            _ => there.append(&mut values),
        }
        self.bound(name);
    }

    /// Sets or clears the `each` mark of the variables for which `mark` returns a value, by name
    /// and text.
    pub(super) fn mark_each(&mut self, mark: impl Fn(&str, &str) -> Option<bool>) {
        for (name, values) in &mut self.variables {
            for value in values {
                value.source.each = mark(name, &value.text).unwrap_or(value.source.each);
            }
        }
    }

    /// Forgets a variable, or puts back what it was.
    pub(crate) fn restore(&mut self, name: &str, values: Option<Vec<Value>>) {
        match values {
            Some(values) => self.variables.insert(name.to_owned(), values),
            None => self.variables.remove(name),
        };
    }

    pub(crate) fn unset(&mut self, name: &str) {
        self.variables
            .insert(name.to_owned(), vec![Value::known("")]);
    }

    /// Returns the characters that separate words.
    pub(crate) fn separators(&self) -> &str {
        match self.get("IFS").and_then(<[Value]>::first) {
            Some(value) if value.is_known() => &value.text,
            _ => " \t\n",
        }
    }

    /// Returns a path from the working folder on, without `.` and `..`; relative if the working
    /// folder is not known.
    pub(crate) fn absolute(&self, text: &str) -> String {
        path::absolute(text, self.cwd.as_deref())
    }

    /// Goes to another folder.
    pub(crate) fn change_folder(&mut self, to: &Value) {
        // A part that is not empty counts as one name: `cd "$(mktemp -d)"` leads below `/tmp`.
        let is_placed = to.text.starts_with('/') && !to.text.contains(MAYBE);
        let before = self.cwd.clone().map_or_else(Value::unknown, Value::known);
        self.set("OLDPWD", before);
        self.take_others(to);
        self.cwd = if is_placed || to.is_known() && self.cwd.is_some() {
            Some(self.absolute(&to.text))
        } else {
            None
        };
    }
}
