//! The command that a rule looks at, and the patterns by which it looks.
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

use super::{Tool, git};
use crate::{
    analyze::{Call, docker, pattern, value::Arg},
    facts::Facts,
    link,
    path_class::{self, PathClass},
};

/// An option as given.
#[derive(Clone, Debug)]
pub(crate) struct Given<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: Option<&'a str>,
}

/// A command as a tool would read its words.
#[derive(Debug)]
pub(crate) struct Subject<'a> {
    pub(crate) call: &'a Call,
    pub(crate) facts: &'a Facts,
    pub(crate) options: Vec<Given<'a>>,
    /// Operands, and whether each may be the value of the option before it.
    pub(crate) operands: Vec<(&'a Arg, bool)>,
    one_dash: bool,
    tests: &'static [super::Test],
}

impl<'a> Subject<'a> {
    /// Reads a command's words as the tool would.
    pub(crate) fn new(call: &'a Call, tool: &Tool, facts: &'a Facts) -> Subject<'a> {
        let subject = Subject {
            call,
            facts,
            options: Vec::new(),
            operands: Vec::new(),
            one_dash: tool.one_dash,
            tests: tool.tests,
        };
        subject.read(tool.takes)
    }

    /// Reads a command's words for a rule of the user.
    pub(crate) fn of_user(call: &'a Call, takes: &str, facts: &'a Facts) -> Subject<'a> {
        let subject = Subject {
            call,
            facts,
            options: Vec::new(),
            operands: Vec::new(),
            one_dash: false,
            tests: &[],
        };
        subject.read(takes)
    }

    fn read(mut self, takes: &str) -> Subject<'a> {
        let subject = &mut self;
        let call = subject.call;
        let of_git = (call.name == "git").then(|| git::takes(call));
        let is_in = |takes: &str, option: &str| takes.split(' ').any(|one| one == option);
        // Behind git's verb other options take a value than before it.
        let listed = |option: &str, at: usize| match of_git {
            Some((before, _, verb)) if at < verb => is_in(before, option),
            Some((_, behind, _)) => is_in(behind, option) || is_in(takes, option),
            None => is_in(takes, option),
        };
        let words = call.words.get(1..).unwrap_or_default();
        // `cargo +nightly` names a toolchain.
        let mut at = usize::from(
            matches!(call.name.as_str(), "cargo" | "rustc")
                && words.first().is_some_and(|word| word.text.starts_with('+')),
        );
        // Behind its image the words are those of the program in a container.
        let image = docker::image_at(&call.words);
        let mut ended = false;
        let mut after_option = false;
        while let Some(word) = words.get(at) {
            let text = word.text.as_str();
            at += 1;
            if ended || !text.starts_with('-') || text == "-" {
                subject.operands.push((word, after_option && !ended));
                after_option = false;
                ended |= image == Some(at);
                continue;
            }
            if text == "--" {
                ended = true;
                continue;
            }
            let next = words.get(at).map(|word| word.text.as_str());
            after_option = false;
            if text.starts_with("--") || subject.one_dash {
                if let Some((name, value)) = text.split_once('=') {
                    subject.options.push(Given {
                        name,
                        value: Some(value),
                    });
                } else if listed(text, at) {
                    subject.options.push(Given {
                        name: text,
                        value: next,
                    });
                    at += 1;
                } else {
                    subject.options.push(Given {
                        name: text,
                        value: None,
                    });
                    after_option = true;
                }
                continue;
            }
            // `-abc`: the first letter that takes a value takes the rest, or the next word.
            let mut taken = None;
            for (place, letter) in text.char_indices().skip(1) {
                let mut buffer = [b'-', 0, 0, 0, 0];
                let length = letter.encode_utf8(&mut buffer[1..]).len();
                let short = std::str::from_utf8(&buffer[..=length]).unwrap_or("");
                if listed(short, at) {
                    taken = Some(place + letter.len_utf8());
                    break;
                }
            }
            match taken {
                Some(end) if end < text.len() => subject.options.push(Given {
                    name: &text[..end],
                    value: Some(&text[end..]),
                }),
                Some(_) => {
                    subject.options.push(Given {
                        name: text,
                        value: next,
                    });
                    at += 1;
                }
                None => {
                    subject.options.push(Given {
                        name: text,
                        value: None,
                    });
                    after_option = true;
                }
            }
        }
        self
    }

    /// Whether an option was given: `-f`, `--force`, or with its value `--pid=host`.
    pub(crate) fn has(&self, wanted: &str) -> bool {
        self.options.iter().any(|given| self.is(given, wanted))
    }

    fn is(&self, given: &Given<'_>, wanted: &str) -> bool {
        let (wanted, value) = match wanted.split_once('=') {
            Some((wanted, value)) => (wanted, Some(value)),
            None => (wanted, None),
        };
        let named = if wanted.starts_with("--") || self.one_dash {
            given.name == wanted
                || wanted.starts_with("--")
                    && given.name.len() > 2
                    && given.name.starts_with("--")
                    && wanted.starts_with(given.name)
        } else {
            !given.name.starts_with("--")
                && wanted.len() == 2
                && given.name[1..].contains(&wanted[1..])
        };
        named
            && match value {
                Some(value) => given
                    .value
                    .is_some_and(|given| pattern::matches(value, given)),
                // `kubectl delete --dry-run=none` deletes.
                None if wanted == "--dry-run" && given.value == Some("none") => false,
                None => !matches!(given.value, Some("false" | "0" | "no")),
            }
    }

    /// The value of an option.
    pub(crate) fn value(&self, wanted: &str) -> Option<&'a str> {
        self.options
            .iter()
            .find(|given| self.is(given, wanted))
            .and_then(|given| given.value)
    }

    /// The values of an option that may be given more than once.
    pub(crate) fn values(&self, wanted: &str) -> impl Iterator<Item = &'a str> {
        self.options
            .iter()
            .filter(move |given| self.is(given, wanted))
            .filter_map(|given| given.value)
    }

    /// The operand at this place.
    pub(crate) fn operand(&self, at: usize) -> &str {
        self.operands
            .get(at)
            .map_or("", |(word, _)| word.text.as_str())
    }

    /// Returns the class of a path, from the command's folder on.
    pub(crate) fn place(&self, path: &str) -> PathClass {
        let cwd = self.call.cwd.as_deref();
        let facts = link::facts_of_entry(&self.call.name, path, cwd, self.facts);
        path_class::place(path, cwd, &facts)
    }

    /// All words behind the name, as one text.
    pub(crate) fn text(&self) -> String {
        let words: Vec<&str> = self
            .call
            .words
            .iter()
            .skip(1)
            .map(|w| w.text.as_str())
            .collect();
        words.join(" ")
    }

    /// Whether a pattern holds.
    pub(crate) fn matches(&self, written: &str) -> bool {
        let mut at = 0;
        for token in written.split_whitespace() {
            let (token, wanted) = match token.strip_prefix('!') {
                Some(rest) => (rest, false),
                None => (token, true),
            };
            let holds = if let Some(classes) = token.strip_prefix('@') {
                classes
                    .split('|')
                    .any(|class| self.leads(class.trim_start_matches('@'), at))
            } else if let Some(name) = token.strip_prefix('&') {
                self.tests
                    .iter()
                    .find(|(known, _)| *known == name)
                    .is_some_and(|(_, test)| test(self))
            } else if token.starts_with('-') && token.len() > 1 {
                token.split('|').any(|option| self.has(option))
            } else {
                match self.next_operand(token, at) {
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
    fn next_operand(&self, wanted: &str, from: usize) -> Option<usize> {
        let mut at = from;
        loop {
            let (word, maybe_value) = self.operands.get(at)?;
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

    fn leads(&self, class: &str, from: usize) -> bool {
        let operands = self.operands.get(from..).unwrap_or_default();
        let Some(wanted) = place_of(class) else {
            return false;
        };
        operands
            .iter()
            .any(|(word, _)| self.place(&word.text) == wanted)
    }
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
