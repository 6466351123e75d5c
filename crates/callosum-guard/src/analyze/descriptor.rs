//! Descriptors by their number: what each was opened to, by `exec 3<>FILE` or for one command.

use std::collections::BTreeMap;

use super::{data_flow::Plan, evaluator::Evaluator, value::Value};
use crate::shell::tree::Redirect;

/// The paths that descriptors lead to, by their number.
pub(super) type Descriptors = BTreeMap<String, String>;

/// The key for a shell's own output.
const OUTPUT: &str = "1";

/// The first number that a shell gives to a descriptor which it is asked to choose, as by `{name}>FILE`.
const FIRST_CHOSEN: usize = 10;
/// Limit on the descriptors whose destination is remembered.
const MAX_DESCRIPTORS: usize = 64;

impl Evaluator<'_> {
    /// Remembers what a redirection opens, unless that is what the command's own output goes to.
    pub(super) fn opened(&mut self, redirect: &Redirect, path: &str) {
        if self.state.descriptors.len() >= MAX_DESCRIPTORS {
            return;
        }
        if let Some(name) = &redirect.name {
            let number = (FIRST_CHOSEN + self.state.descriptors.len()).to_string();
            self.state.set(name, Value::known(number.as_str()));
            self.state.descriptors.insert(number, path.to_owned());
        } else if redirect.output {
            self.state.descriptors.remove(OUTPUT);
        } else if let Some(number) = redirect.descriptor {
            let path = path.to_owned();
            self.state.descriptors.insert(number.to_string(), path);
        }
    }

    /// Has a descriptor lead where another does: `>&3`, `4>&3`, `3>&-`.
    pub(super) fn duplicated(&mut self, redirect: &Redirect, text: &str, plan: &mut Plan) {
        let led = self.state.descriptors.get(text.trim_end_matches('-'));
        let led = led.cloned();
        if redirect.output {
            plan.output = led.map(|path| (path, true));
            self.state.descriptors.remove(OUTPUT);
            return;
        }
        let named = redirect.name.as_ref();
        let named = named.and_then(|name| self.state.known(name).map(str::to_owned));
        let number = named.or_else(|| redirect.descriptor.map(|number| number.to_string()));
        let Some(number) = number else { return };
        match led {
            Some(path) => self.state.descriptors.insert(number, path),
            None => self.state.descriptors.remove(&number),
        };
    }

    /// Keeps what `exec` has opened, for all that follows.
    pub(super) fn stay_open(&mut self, plan: &mut Plan) {
        plan.before = None;
        if let Some((path, _)) = &plan.output {
            let path = path.clone();
            self.state.descriptors.insert(OUTPUT.to_owned(), path);
        }
    }

    /// Runs a walk whose output goes elsewhere than to the shell's own.
    pub(super) fn caught(&mut self, walk: impl FnOnce(&mut Self) -> Value) -> Value {
        self.apart(|walker| {
            walker.state.descriptors.remove(OUTPUT);
            walk(walker)
        })
    }

    /// Returns the destination that `exec` set for commands without a redirection.
    pub(super) fn output_of_shell(&self) -> Option<&str> {
        self.state.descriptors.get(OUTPUT).map(String::as_str)
    }

    /// The path that a descriptor's name leads to: `/dev/fd/3`, `/proc/self/fd/3`.
    pub(super) fn behind_descriptor(&self, path: &str) -> Option<&str> {
        let number = path.strip_prefix("/dev/fd/");
        let number = number.or_else(|| path.strip_prefix("/proc/self/fd/"))?;
        self.state.descriptors.get(number).map(String::as_str)
    }
}
