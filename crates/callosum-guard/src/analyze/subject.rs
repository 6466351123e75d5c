//! [`Subject`]: a command as its program reads its words, as options with their values, and operands.
//!
//! An operand behind an option may be that option's value, since not all options that take one are known.

use super::{call::Call, docker, git_options, pattern, value::Arg};
use crate::{
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

/// A command as its program would read its words.
#[derive(Debug)]
pub(crate) struct Subject<'a> {
    pub(crate) call: &'a Call,
    pub(crate) facts: &'a Facts,
    pub(crate) options: Vec<Given<'a>>,
    /// Operands, and whether each may be the value of the option before it.
    pub(crate) operands: Vec<(&'a Arg, bool)>,
    /// Whether long options begin with one dash.
    one_dash: bool,
}

impl<'a> Subject<'a> {
    /// Reads a command's words. `takes` lists the options that take the next word.
    pub(crate) fn new(call: &'a Call, takes: &str, facts: &'a Facts) -> Subject<'a> {
        Subject::with_dashes(call, takes, false, facts)
    }

    /// Reads a command's words, for a program whose long options may begin with one dash.
    pub(crate) fn with_dashes(
        call: &'a Call,
        takes: &str,
        one_dash: bool,
        facts: &'a Facts,
    ) -> Subject<'a> {
        let subject = Subject {
            call,
            facts,
            options: Vec::new(),
            operands: Vec::new(),
            one_dash,
        };
        subject.read(takes)
    }

    fn read(mut self, takes: &str) -> Subject<'a> {
        let subject = &mut self;
        let call = subject.call;
        let of_git = (call.name == "git").then(|| git_options::takes(call));
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
}
