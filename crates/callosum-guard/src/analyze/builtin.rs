//! Commands that the shell runs itself: folders, variables, aliases, traps.

use super::{
    call::Call,
    data_flow::from,
    evaluator::Evaluator,
    value::{Arg, SOME, Source, Value, display_words},
    wrapper_table::first_operand,
};
use crate::path;

/// So many folders are remembered that a shell goes to.
const MAX_ENTERED: usize = 64;

/// Programs that create no folder, with any arguments.
const SAYS: [&str; 26] = [
    "echo",
    "printf",
    "ls",
    "cat",
    "head",
    "tail",
    "grep",
    "egrep",
    "rg",
    "find",
    "fd",
    "test",
    "[",
    "cd",
    "pushd",
    "chdir",
    "popd",
    "rm",
    "rmdir",
    "unlink",
    "Remove-Item",
    "export",
    "set",
    "true",
    "stat",
    "du",
];

impl Evaluator<'_> {
    /// Runs a builtin; `None` if the name is none that is followed.
    pub(super) fn builtin(
        &mut self,
        name: &str,
        words: &[Arg],
        input: Option<&Value>,
    ) -> Option<Value> {
        let operands = || {
            words[1..]
                .iter()
                .filter(|word| !word.text.starts_with('-') || word.text == "-")
        };
        match name {
            "cd" | "pushd" | "chdir" => {
                let to = match operands().next() {
                    Some(word) if word.text == "-" => {
                        let before = self.state.known("OLDPWD");
                        before.map_or_else(Value::unknown, Value::known)
                    }
                    Some(word) => word.value(),
                    None => match &self.facts.home {
                        Some(home) => Value::known(home.clone()),
                        None => Value::unknown(),
                    },
                };
                if self.goes_in_vain(&to) {
                    if !self.chained {
                        return Some(Value::default());
                    }
                    let stays = self.whereabouts();
                    self.left.get_or_insert(stays);
                }
                let options = words[1..].iter().map(|word| word.text.as_str());
                let options = options.take_while(|text| text.starts_with('-') && *text != "--");
                let letters =
                    options.filter_map(|text| Some(text.as_bytes()[text.rfind(['P', 'L'])?]));
                let is_physical = letters.last() == Some(b'P');
                if is_physical {
                    self.enter(&to);
                } else {
                    self.state.change_folder(&to);
                }
                Some(Value::default())
            }
            "popd" => {
                self.state.cwd = None;
                Some(Value::default())
            }
            "set" | "export" | "declare" | "typeset" if tells_all(words) => Some(Value {
                source: Source {
                    secret: true,
                    entire: true,
                    ..Source::default()
                },
                ..Value::default()
            }),
            "export" | "declare" | "typeset" | "local" | "readonly" => {
                let refers = words.iter().any(|word| word.text == "-n") && name != "export";
                let hands_on = name == "export" || words.iter().any(|word| word.text == "-x");
                self.state.declare(&words[0].text, words);
                for word in operands() {
                    if hands_on {
                        let name = word.text.split('=').next().unwrap_or_default();
                        self.state.own.remove(name);
                    }
                    if let Some((name, value)) = word.text.split_once('=') {
                        let value = Value {
                            text: value.to_owned(),
                            source: word.source,
                        };
                        let name = name.trim_end_matches('+');
                        if refers {
                            self.state.references.insert(name.to_owned(), value.text);
                            continue;
                        }
                        self.state.set(name, value);
                        self.variable_runs(name);
                    }
                }
                Some(Value::default())
            }
            "unset" => {
                for word in operands() {
                    self.state.unset(&word.text);
                    self.state.functions.remove(&word.text);
                }
                Some(Value::default())
            }
            "alias" if self.state.fish && words.len() == 3 => {
                self.state
                    .aliases
                    .insert(words[1].text.clone(), words[2].text.clone());
                Some(Value::default())
            }
            "alias" => {
                for word in operands() {
                    if let Some((name, value)) = word.text.split_once('=') {
                        self.state.aliases.insert(name.to_owned(), value.to_owned());
                    }
                }
                Some(Value::default())
            }
            "unalias" => {
                for word in operands() {
                    self.state.aliases.remove(&word.text);
                }
                Some(Value::default())
            }
            "set" if self.state.fish => {
                let mut given = operands();
                if let Some(name) = given.next() {
                    let values = given.map(Arg::value).collect();
                    self.state.set_list(&name.text, values);
                }
                Some(Value::default())
            }
            "set" => {
                let mut texts = words.iter().skip(1).map(|word| word.text.as_str());
                while let Some(text) = texts.next() {
                    let Some(letters) = text.strip_prefix(['-', '+']) else {
                        break;
                    };
                    if text == "--" {
                        break;
                    }
                    let is_named = letters.ends_with('o') && texts.next() == Some("errexit");
                    if is_named || letters.contains('e') {
                        self.state.strict = text.starts_with('-');
                    }
                }
                let from = words.iter().position(|word| word.text == "--");
                if let Some(from) = from {
                    self.state.arguments = Some(words[from + 1..].to_vec());
                } else if words
                    .get(1)
                    .is_some_and(|word| !word.text.starts_with(['-', '+']))
                {
                    self.state.arguments = Some(words[1..].to_vec());
                }
                Some(Value::default())
            }
            "shift" => {
                if let Some(arguments) = &mut self.state.arguments
                    && !arguments.is_empty()
                {
                    arguments.remove(0);
                }
                Some(Value::default())
            }
            "read" => {
                let line = self.fed(words, input).map(Value::apart);
                self.read(words, line.as_ref());
                Some(Value::default())
            }
            "mapfile" | "readarray" => {
                let at = first_operand(words, 1, "-d -n -O -s -u -C -c");
                let name = words.get(at).map_or("MAPFILE", |word| word.text.as_str());
                let calls = words
                    .array_windows()
                    .find(|[option, _]| option.text == "-C");
                if let Some([_, text]) = calls {
                    let text = format!("{} 0 {SOME}", text.text);
                    self.nested(name, &text, None);
                }
                let input = self.fed(words, input);
                let lines = match &input {
                    Some(input) if input.is_known() => input
                        .text
                        .lines()
                        .map(|line| Value {
                            text: line.to_owned(),
                            source: input.source,
                        })
                        .collect(),
                    Some(input) => vec![Value::from(input.source).apart()],
                    None => vec![Value::unknown()],
                };
                self.state.set_list(name, lines);
                Some(Value::default())
            }
            // `hash -p PATH NAME`: the name now means that program.
            "hash" => {
                if let [_, option, path, name, ..] = words
                    && option.text == "-p"
                {
                    self.state
                        .aliases
                        .insert(name.text.clone(), path.text.clone());
                }
                Some(Value::default())
            }
            "enable" => {
                let loads = words
                    .array_windows()
                    .find(|[option, _]| option.text == "-f");
                if let Some([_, file]) = loads {
                    let words = vec![Arg::plain("loaded-code"), words[0].clone(), file.clone()];
                    self.record(Call {
                        name: "loaded-code".to_owned(),
                        words,
                        ..Call::default()
                    });
                }
                Some(Value::default())
            }
            "trap" => {
                if let Some(word) = operands().next() {
                    let text = word.text.clone();
                    self.under("trap", |walker| walker.text(&text, None));
                }
                Some(Value::default())
            }
            "printf" if words.get(1).is_some_and(|word| word.text == "-v") => {
                let name = words.get(2)?.text.clone();
                let mut rest = vec![words[0].clone()];
                rest.extend(words.get(3..).unwrap_or_default().iter().cloned());
                let value = self.output_of("printf", &rest, input);
                self.state.set(&name, value);
                Some(Value::default())
            }
            "abbr" => {
                let text = display_words(words.get(2..).unwrap_or_default());
                self.nested(name, &text, None);
                Some(Value::default())
            }
            _ => None,
        }
    }

    /// Whether a `cd` fails because the folder is missing, and the shell goes on from where it is.
    /// Records the folder, so that a caller can look whether it exists.
    ///
    /// If nothing follows a failed `cd`, the folder counts as existing.
    fn goes_in_vain(&mut self, to: &Value) -> bool {
        let leads = self.state.absolute(&to.text);
        let is_sure = self.sure || self.state.strict || self.elsewhere;
        if is_sure || !to.is_known() || !leads.starts_with('/') || self.may_be_made(&to.text) {
            return false;
        }
        let is_missing = self.facts.missing.contains(&leads);
        if !is_missing && self.found.entered.len() < MAX_ENTERED {
            self.found.entered.push(leads);
        }
        is_missing
    }

    /// Whether a command before may have made a folder: it speaks of it, by its last name or by its first.
    fn may_be_made(&self, folder: &str) -> bool {
        let last = path::name(folder.trim_end_matches('/'));
        let mut parts = folder
            .split('/')
            .filter(|part| !matches!(*part, "" | "." | ".."));
        let first = parts.next().filter(|_| !folder.starts_with('/'));
        let is_spoken_of = |name: &str| {
            // A text for a shell that goes there itself makes nothing by that.
            let goes = |text: &str| {
                ["cd ", "pushd ", "ocation "]
                    .iter()
                    .any(|by| text.contains(by))
            };
            let speaks = |text: &str| match name.len() {
                _ if goes(text) => false,
                0..3 => text
                    .split(|letter: char| !letter.is_alphanumeric())
                    .any(|part| part == name),
                _ => text.contains(name),
            };
            let mut calls = self
                .found
                .calls
                .iter()
                .filter(|call| !SAYS.contains(&call.name.as_str()));
            !name.is_empty()
                && calls.any(|call| {
                    let mut words = call.words.iter().skip(1).map(|word| word.text.as_str());
                    words.any(speaks) || call.writes.iter().any(|write| speaks(&write.path))
                })
        };
        is_spoken_of(last) || first.is_some_and(is_spoken_of)
    }

    /// Returns the input of a builtin: its standard input, or the descriptor that `-u` names.
    fn fed(&self, words: &[Arg], input: Option<&Value>) -> Option<Value> {
        let named = words.iter().enumerate().find_map(|(at, word)| {
            let rest = word.text.strip_prefix("-u")?;
            let next = || words.get(at + 1).map(|word| word.text.as_str());
            Some(rest).filter(|rest| !rest.is_empty()).or_else(next)
        });
        match named {
            Some(number) => self.state.files.get(&from(number)).cloned(),
            None => input.cloned(),
        }
    }

    /// `read`: a line cut at the separators, each piece to a name, the rest to the last.
    fn read(&mut self, words: &[Arg], input: Option<&Value>) {
        const TAKES: &str = "-a -d -i -n -N -p -t -u";
        let at = first_operand(words, 1, TAKES);
        let options = &words[1..at.min(words.len())];
        let list = options.iter().position(|word| {
            word.text.starts_with('-') && !word.text.starts_with("--") && word.text.ends_with('a')
        });
        let whole = options
            .windows(2)
            .any(|pair| pair[0].text.ends_with('d') && pair[1].text.is_empty());
        let line = input.map_or_else(Value::unknown, |input| Value {
            text: if whole {
                input.text.trim_end().to_owned()
            } else {
                input.text.lines().next().unwrap_or("").to_owned()
            },
            source: input.source,
        });
        let source = Source {
            each: line.source.each || self.reads_items,
            ..line.source
        };
        let value = |text: &str| Value {
            text: text.to_owned(),
            source,
        };
        let separators = self.state.separators().to_owned();
        let pieces: Vec<&str> = if line.is_known() && !separators.is_empty() {
            line.text
                .split(|letter| separators.contains(letter))
                .filter(|piece| !piece.is_empty())
                .collect()
        } else {
            vec![&line.text]
        };
        if let Some(name) = list.and_then(|at| options.get(at + 1)) {
            let values = pieces.iter().map(|piece| value(piece)).collect();
            self.state.set_list(&name.text, values);
            return;
        }
        let names = words.get(at..).unwrap_or_default();
        if names.is_empty() {
            let line = value(&line.text);
            self.state.set("REPLY", line);
        }
        for (at, name) in names.iter().enumerate() {
            let text = match pieces.get(at) {
                Some(_) if !line.is_known() => line.text.clone(),
                Some(_) if at + 1 == names.len() => pieces[at..].join(" "),
                Some(piece) => (*piece).to_owned(),
                None if line.is_known() => String::new(),
                None => line.text.clone(),
            };
            let value = value(&text);
            self.state.set(&name.text, value);
        }
    }
}

/// Whether a builtin that sets variables gets none, and so prints all that there are.
fn tells_all(words: &[Arg]) -> bool {
    let mut given = words.iter().skip(1);
    given.all(|word| matches!(word.text.as_str(), "-p" | "-x" | "-px" | "-xp"))
        && (words.len() == 1 || words[0].text != "set")
}
