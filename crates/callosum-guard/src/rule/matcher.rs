//! Patterns by which a rule looks at a command: [`matches`].
//!
//! A pattern is words separated by blanks, and all of its words must hold:
//!
//! | written | holds if |
//! |---|---|
//! | `reset` | the next operand is this word; `*` and `?` match others; `a\|b` matches either |
//! | `--hard`, `-f\|--force` | an option is there, abbreviated or among joined letters too |
//! | `--pid=host` | an option is there with this value |
//! | `@vital` | an operand that is left leads to such a place |
//! | `&name` | the tool's test of that name says so |
//! | `!…` | any of these does not hold |
//!
//! Operands are matched in order. An operand behind an option may be that option's value, and is
//! skipped if it does not fit.

use super::{Test, Tool};
use crate::{
    analyze::{Call, Subject, pattern},
    facts::Facts,
    path_class::PathClass,
};

impl Tool {
    /// Reads a command's words as the tool would.
    pub(crate) fn read<'a>(&self, call: &'a Call, facts: &'a Facts) -> Subject<'a> {
        Subject::with_dashes(call, self.takes, self.one_dash, facts)
    }
}

/// Whether a pattern holds. `tests` are those that it may name.
pub(crate) fn matches(subject: &Subject<'_>, written: &str, tests: &[Test]) -> bool {
    let mut at = 0;
    for token in written.split_whitespace() {
        let (token, wanted) = match token.strip_prefix('!') {
            Some(rest) => (rest, false),
            None => (token, true),
        };
        let holds = if let Some(classes) = token.strip_prefix('@') {
            classes
                .split('|')
                .any(|class| leads(subject, class.trim_start_matches('@'), at))
        } else if let Some(name) = token.strip_prefix('&') {
            tests
                .iter()
                .find(|(known, _)| *known == name)
                .is_some_and(|(_, test)| test(subject))
        } else if token.starts_with('-') && token.len() > 1 {
            token.split('|').any(|option| subject.has(option))
        } else {
            match next_operand(subject, token, at) {
                Some(next) => {
                    if wanted {
                        at = next;
                    }
                    true
                }
                None => false,
            }
        };
        if holds != wanted {
            return false;
        }
    }
    true
}

/// Whether a word of a user's pattern is one that can hold: named tests are for built-in rules
/// alone.
pub(crate) fn is_pattern(token: &str) -> bool {
    let token = token.strip_prefix('!').unwrap_or(token);
    match token.strip_prefix('@') {
        Some(classes) => classes
            .split('|')
            .all(|class| place_of(class.trim_start_matches('@')).is_some()),
        None => !token.is_empty() && !token.starts_with('&'),
    }
}

/// Returns the position behind the next operand that fits.
fn next_operand(subject: &Subject<'_>, wanted: &str, from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let (word, maybe_value) = subject.operands.get(at)?;
        let fits = wanted.split('|').any(|one| {
            one == word.text || one.contains(['*', '?']) && pattern::matches(one, &word.text)
        });
        if fits {
            return Some(at + 1);
        }
        if !maybe_value {
            return None;
        }
        at += 1;
    }
}

fn leads(subject: &Subject<'_>, class: &str, from: usize) -> bool {
    let operands = subject.operands.get(from..).unwrap_or_default();
    let Some(wanted) = place_of(class) else {
        return false;
    };
    operands
        .iter()
        .any(|(word, _)| subject.place(&word.text) == wanted)
}

/// The place that a pattern's class names.
fn place_of(class: &str) -> Option<PathClass> {
    Some(match class {
        "vital" => PathClass::Vital,
        "maybe-vital" => PathClass::MaybeVital,
        "project" => PathClass::Project,
        "system" => PathClass::System,
        "device" => PathClass::Device,
        "git" => PathClass::Git,
        "everything" => PathClass::Everything,
        "outside" => PathClass::Outside,
        "inside" => PathClass::Inside,
        "free" => PathClass::Free,
        "unknown" => PathClass::Unknown,
        _ => return None,
    })
}
