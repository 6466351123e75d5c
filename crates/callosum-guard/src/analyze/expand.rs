//! From words as written to the words that a command would be given.
//!
//! In the shell's order: braces, tildes, parameters and substitutions, splitting. Files are not
//! looked at, so a pattern stays a pattern.

use super::{
    brace::braces,
    evaluator::Evaluator,
    pattern,
    state::State,
    value::{Arg, MAX_VALUES, SOME, Source, Value, is_known, push},
};
use crate::shell::{
    ParseError,
    tree::{Change, Parameter, Part, Word},
};

/// Limit on the bytes of expanded variables in one decision; more are reported as too much.
const MAX_EXPANDED: usize = 1024 * 1024;
/// Limit on the words that a command may expand to; more are reported as too much.
const MAX_WORDS: usize = 8 * MAX_VALUES;

impl Evaluator<'_> {
    /// The words that these come to.
    pub(super) fn expand_all(&mut self, words: &[Word]) -> Vec<Arg> {
        let mut all = Vec::with_capacity(words.len());
        for word in words {
            self.expand(word, &mut all);
            if all.len() > MAX_WORDS {
                self.found.faults.insert(ParseError::TooMuch);
                break;
            }
        }
        all
    }

    /// Adds what one word comes to.
    pub(super) fn expand(&mut self, word: &Word, into: &mut Vec<Arg>) {
        if let [Part::Text { text, quoted }] = word.parts.as_slice()
            && (*quoted || !text.contains(['{', '~']))
        {
            into.push(Arg {
                text: text.clone(),
                quoted: *quoted,
                glob: !quoted && text.contains(['*', '?', '[']),
                source: Source::default(),
            });
            return;
        }
        let braced = word
            .parts
            .iter()
            .any(|part| matches!(part, Part::Text { text, quoted: false } if text.contains('{')));
        if braced {
            for word in braces(word) {
                self.fields(&word, into);
            }
        } else {
            self.fields(word, into);
        }
    }

    /// Returns the value of a word that is not split: assignments, here-strings, targets.
    pub(super) fn whole(&mut self, word: &Word) -> Value {
        let mut whole = Value::default();
        for (at, part) in word.parts.iter().enumerate() {
            match part {
                Part::Text { text, quoted } => {
                    push(&mut whole.text, &self.tilde(text, at == 0 && !quoted));
                }
                Part::Parameter { parameter, .. } => {
                    let values = self.parameter(parameter);
                    for (at, value) in values.iter().enumerate() {
                        if at > 0 {
                            whole.text.push(' ');
                        }
                        whole.append(value);
                    }
                }
                Part::Substitution { script, .. } => {
                    let value = self.substitute(script);
                    whole.append(&value);
                }
                Part::Process { script, takes } => {
                    let path = self.process(script, *takes);
                    whole.text.push_str(&path);
                }
                Part::Arithmetic(words) => {
                    for word in words {
                        self.whole(word);
                    }
                    whole.text.push(SOME);
                }
            }
        }
        whole
    }

    pub(super) fn tilde(&self, text: &str, first: bool) -> String {
        let Some(rest) = text.strip_prefix('~').filter(|_| first) else {
            return text.to_owned();
        };
        let home = self.facts.home.as_deref();
        match (rest.split('/').next().unwrap_or(""), home) {
            ("", Some(home)) => format!("{home}{rest}"),
            ("", None) => format!("/home/{SOME}{rest}"),
            ("+", _) => match &self.state.cwd {
                Some(cwd) => format!("{cwd}{}", &rest[1..]),
                None => format!("{SOME}{}", &rest[1..]),
            },
            ("-", _) => match self.state.known("OLDPWD") {
                Some(before) => format!("{before}{}", &rest[1..]),
                None => format!("{SOME}{}", &rest[1..]),
            },
            ("root", _) => format!("/{rest}"),
            _ => format!("/home/{rest}"),
        }
    }

    fn fields(&mut self, word: &Word, into: &mut Vec<Arg>) {
        let mut field: Option<Arg> = None;
        for (at, part) in word.parts.iter().enumerate() {
            if into.len() > MAX_WORDS {
                break;
            }
            match part {
                Part::Text { text, quoted } => {
                    let field = field.get_or_insert_with(Arg::default);
                    push(&mut field.text, &self.tilde(text, at == 0 && !quoted));
                    field.quoted |= quoted;
                    field.glob |= !quoted && text.contains(['*', '?', '[']);
                }
                Part::Parameter { parameter, quoted } => {
                    let values = self.parameter(parameter);
                    let apart = parameter.name == "@" || parameter.name.ends_with("[@]");
                    if *quoted && !apart {
                        let field = field.get_or_insert_with(Arg::default);
                        field.quoted = true;
                        for (at, value) in values.iter().enumerate() {
                            if at > 0 {
                                field.text.push(' ');
                            }
                            push(&mut field.text, &value.text);
                            field.source = field.source.join(value.source);
                        }
                    } else {
                        for (at, value) in values.iter().enumerate() {
                            if at > 0
                                && let Some(done) = field.take()
                            {
                                into.push(done);
                            }
                            if *quoted {
                                let field = field.get_or_insert_with(Arg::default);
                                field.quoted = true;
                                push(&mut field.text, &value.text);
                                field.source = field.source.join(value.source);
                            } else {
                                self.split(value, &mut field, into);
                            }
                        }
                    }
                }
                Part::Substitution { script, quoted } => {
                    let value = self.substitute(script);
                    if *quoted {
                        let field = field.get_or_insert_with(Arg::default);
                        field.quoted = true;
                        push(&mut field.text, &value.text);
                        field.source = field.source.join(value.source);
                    } else {
                        self.split(&value, &mut field, into);
                    }
                }
                Part::Process { script, takes } => {
                    let path = self.process(script, *takes);
                    field.get_or_insert_with(Arg::default).text.push_str(&path);
                }
                Part::Arithmetic(words) => {
                    for word in words {
                        self.whole(word);
                    }
                    field.get_or_insert_with(Arg::default).text.push(SOME);
                }
            }
        }
        into.extend(field);
    }

    /// Cuts a value at the separators, and joins the first piece to the text before it.
    fn split(&self, value: &Value, field: &mut Option<Arg>, into: &mut Vec<Arg>) {
        let separators = self.state.separators();
        if value.text.is_empty() {
            return;
        }
        let pieces = value.text.split(|c| separators.contains(c)).peekable();
        let mut first = true;
        for piece in pieces {
            if !first && let Some(done) = field.take() {
                into.push(done);
            }
            first = false;
            if piece.is_empty() {
                continue;
            }
            let field = field.get_or_insert_with(Arg::default);
            push(&mut field.text, piece);
            field.source = field.source.join(value.source);
            field.glob |= piece.contains(['*', '?', '[']);
        }
    }

    /// The values of a parameter; several for `$@` and whole arrays.
    fn parameter(&mut self, parameter: &Parameter) -> Vec<Value> {
        if self.expanded > MAX_EXPANDED {
            self.found.faults.insert(ParseError::TooMuch);
            return vec![Value::unknown()];
        }
        let values = self.lookup(&parameter.name);
        self.expanded += values
            .iter()
            .flatten()
            .map(|value| 16 + value.text.len())
            .sum::<usize>();
        match &parameter.change {
            Change::None => values.unwrap_or_else(|| vec![Value::unknown()]),
            Change::Default { word, assigns } => {
                let empty = values
                    .as_ref()
                    .is_none_or(|values| values.iter().all(|value| value.text.is_empty()));
                if !empty {
                    return values.unwrap_or_default();
                }
                let value = self.whole(word);
                if *assigns {
                    self.state.set(&parameter.name, value.clone());
                }
                vec![value]
            }
            Change::Alternative(word) => match values {
                Some(values) if values.iter().all(|value| value.text.is_empty()) => {
                    vec![Value::known("")]
                }
                _ => vec![self.whole(word)],
            },
            Change::Demand => match values {
                Some(values) => values,
                None => vec![Value::filled()],
            },
            Change::Length => vec![Value::filled()],
            // `${!#}`: the last argument.
            Change::Indirect if parameter.name == "#" => {
                let arguments = self.lookup("@").unwrap_or_default();
                vec![arguments.last().cloned().unwrap_or_else(Value::unknown)]
            }
            Change::Indirect if is_whole(&parameter.name) => {
                let keys = self.state.keys(&parameter.name);
                match keys {
                    keys if keys.is_empty() => vec![Value::unknown()],
                    keys => keys.into_iter().map(Value::known).collect(),
                }
            }
            Change::Indirect => {
                let name = values
                    .and_then(|values| values.into_iter().next())
                    .filter(Value::is_known)
                    .map(|value| value.text);
                name.and_then(|name| self.lookup(&name))
                    .unwrap_or_else(|| vec![Value::unknown()])
            }
            Change::Other => values.unwrap_or_else(|| vec![Value::unknown()]),
            Change::Slice { offset, length } if is_whole(&parameter.name) => {
                let from = self.whole(offset).text;
                let count = length.as_ref().map(|length| self.whole(length).text);
                let values = values.unwrap_or_else(|| vec![Value::unknown()]);
                match parameter.name.as_str() {
                    "@" | "*" => sliced(values, &from, count.as_deref(), 1),
                    _ => sliced(values, &from, count.as_deref(), 0),
                }
            }
            change => {
                let change = self.plain(change);
                values
                    .unwrap_or_else(|| vec![Value::unknown()])
                    .into_iter()
                    .map(|value| Value {
                        text: if is_known(&value.text) {
                            change.apply(&value.text)
                        } else {
                            value.text
                        },
                        source: value.source,
                    })
                    .collect()
            }
        }
    }

    /// Returns the edit of a change, its own words expanded.
    fn plain(&mut self, change: &Change) -> pattern::Edit {
        match change {
            Change::Strip {
                pattern,
                front,
                longest,
            } => pattern::Edit::Strip {
                pattern: self.whole(pattern).text,
                front: *front,
                longest: *longest,
            },
            Change::Replace { pattern, with, all } => pattern::Edit::Replace {
                pattern: self.whole(pattern).text,
                with: self.whole(with).text,
                all: *all,
            },
            Change::Slice { offset, length } => pattern::Edit::Slice {
                offset: self.whole(offset).text,
                length: length.as_ref().map(|length| self.whole(length).text),
            },
            Change::Case { upper, all } => pattern::Edit::Case {
                upper: *upper,
                all: *all,
            },
            _ => pattern::Edit::Nothing,
        }
    }

    /// Returns the known values of a name; `None` if there are none.
    fn lookup(&self, name: &str) -> Option<Vec<Value>> {
        let (base, index) = match name.split_once('[') {
            Some((base, index)) => (base, Some(index.trim_end_matches(']'))),
            None => (name, None),
        };
        if let Some(other) = self.state.references.get(base)
            && other != base
            && !self.state.references.contains_key(other)
        {
            return self.lookup(&name.replacen(base, other, 1));
        }
        if index.is_some()
            && let Some(values) = self.state.get(name)
        {
            return Some(values.to_vec());
        }
        // `${list[$at]}`, `${list[at]}`
        if let Some(at) = index.and_then(|index| self.index(index)) {
            return self.lookup(&format!("{base}[{at}]"));
        }
        if let Some(values) = self.state.get(base) {
            return Some(match index {
                Some("@" | "*") => values.to_vec(),
                Some(index) => {
                    let at = index.parse::<usize>().unwrap_or(0);
                    vec![values.get(at).cloned().unwrap_or_default()]
                }
                None if self.state.lists => values.to_vec(),
                None => vec![values.first().cloned().unwrap_or_default()],
            });
        }
        if let Some(arguments) = &self.state.arguments {
            match base {
                "@" | "*" => return Some(arguments.iter().map(Arg::value).collect()),
                _ => {
                    if let Ok(at) = base.parse::<usize>() {
                        let value = match at {
                            0 => Value::known("bash"),
                            _ => arguments.get(at - 1).map(Arg::value).unwrap_or_default(),
                        };
                        return Some(vec![value]);
                    }
                }
            }
        }
        let value = match base {
            "HOME" => self.facts.home.clone().map(Value::known)?,
            "PWD" => self.state.cwd.clone().map(Value::known)?,
            "IFS" => Value::known(" \t\n"),
            "SHELL" | "BASH" => Value::known("/bin/bash"),
            "0" => Value::known("bash"),
            // Set by the shell that runs the command, and never empty.
            "$" | "?" | "#" | "!" | "RANDOM" | "SECONDS" | "EUID" | "UID" | "USER" | "LOGNAME"
            | "HOSTNAME" | "OSTYPE" | "LINENO" | "PATH" | "BASHPID" => Value::filled(),
            // The process that started this shell: the agent itself, as a rule.
            "PPID" => Value {
                text: SOME.to_string(),
                source: Source {
                    parent: true,
                    ..Source::default()
                },
            },
            "@" | "*" => return Some(Vec::new()),
            _ => return None,
        };
        Some(vec![value])
    }
}

impl Evaluator<'_> {
    /// Returns the value of the variable that indexes a list.
    fn index(&self, written: &str) -> Option<&str> {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let name = written.trim_matches(['"', '{', '}']);
        match name.strip_prefix('$') {
            Some(name) => {
                let held = self.state.known(name.trim_matches(['{', '}']))?;
                (!held.contains(['$', '[', ']'])).then_some(held)
            }
            None => self.state.known(name).filter(|held| is_number(held)),
        }
    }
}

/// Whether a name means all arguments, or a whole array.
fn is_whole(name: &str) -> bool {
    matches!(name, "@" | "*") || name.ends_with("[@]") || name.ends_with("[*]")
}

/// Returns so many values of a list, from one on; `first` is the number of its first. All of them
/// if that is not known.
fn sliced(values: Vec<Value>, from: &str, count: Option<&str>, first: usize) -> Vec<Value> {
    let number = |text: &str| text.trim().parse::<i64>().ok();
    let total = values.len();
    let size = |by: i64| usize::try_from(by.unsigned_abs()).unwrap_or(usize::MAX);
    let start = match number(from) {
        Some(from) if from < 0 => total.saturating_sub(size(from)),
        Some(from) => size(from).saturating_sub(first),
        None => return values,
    };
    // `${@:0:2}`: the name of the shell is the first of both.
    let is_with_name = first == 1 && number(from) == Some(0);
    let taken = match count.map(number) {
        Some(Some(count)) if count >= 0 => size(count).saturating_sub(usize::from(is_with_name)),
        _ => total,
    };
    values.into_iter().skip(start).take(taken).collect()
}

impl State {
    /// Returns the first value of a variable, if it is known in full.
    pub(super) fn known(&self, name: &str) -> Option<&str> {
        self.get(name)
            .and_then(<[Value]>::first)
            .filter(|value| value.is_known())
            .map(|value| value.text.as_str())
    }
}
