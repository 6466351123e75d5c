//! Programs under another name: copied or linked to another path on the way, or named by a pattern.

use super::{
    evaluator::{Evaluator, MAX_ROUNDS},
    value::{Arg, Value},
};
use crate::{path, program_names::SHELLS};

/// Programs that are remembered at other places.
const MAX_PROGRAMS: usize = 256;

impl Evaluator<'_> {
    /// The name of the program that was copied or linked to this path before.
    pub(super) fn put_there(&self, text: &str) -> Option<String> {
        let path = text.contains('/').then(|| self.state.absolute(text))?;
        self.found.programs.get(&path).cloned()
    }

    /// Remembers that a program is at another place from now on, if it is one that matters.
    pub(super) fn put(&mut self, from: &str, to: &str) {
        let name = match self.put_there(from) {
            Some(name) => name,
            None => named(from),
        };
        let matters = self.known.contains(&name) || SHELLS.contains(&name.as_str());
        if matters && self.found.programs.len() < MAX_PROGRAMS {
            self.found.programs.insert(to.to_owned(), name);
        }
    }

    /// Follows each program that a pattern in a path may come to, of those that matter.
    pub(super) fn any_of(&mut self, pattern: &str, words: &[Arg], input: Option<&Value>) {
        for name in self.known.matching(pattern).take(MAX_ROUNDS) {
            let mut run = words.to_vec();
            run[0] = Arg::plain(name);
            self.guessing(|walker| walker.inner(pattern, &run, input));
        }
    }
}

/// A program's name, without its folder and ending.
pub(super) fn named(text: &str) -> String {
    let name = path::name(text);
    let name = name.strip_suffix(".exe").unwrap_or(name);
    if name == text {
        text.to_owned()
    } else {
        name.to_owned()
    }
}
