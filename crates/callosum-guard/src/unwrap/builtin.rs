//! What the shell does itself: folders, variables, aliases, traps.

use super::{
    value::{Arg, Value, shown},
    walk::Walker,
};

impl Walker<'_> {
    /// Does what a builtin does; `None` where the name is none that is followed.
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
                    Some(word) if word.text == "-" => Value::unknown(),
                    Some(word) => word.value(),
                    None => match &self.facts.home {
                        Some(home) => Value::known(home.clone()),
                        None => Value::unknown(),
                    },
                };
                self.state.change_folder(&to);
                Some(Value::default())
            }
            "popd" => {
                self.state.cwd = None;
                Some(Value::default())
            }
            "export" | "declare" | "typeset" | "local" | "readonly" => {
                for word in operands() {
                    if let Some((name, value)) = word.text.split_once('=') {
                        let value = Value {
                            text: value.to_owned(),
                            source: word.source,
                        };
                        self.state.set(name.trim_end_matches('+'), value);
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
            "set" => {
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
            "read" | "mapfile" | "readarray" => {
                let names: Vec<&Arg> = operands().collect();
                let line = input.map_or_else(Value::unknown, |input| Value {
                    text: input.text.lines().next().unwrap_or("").to_owned(),
                    source: input.source,
                });
                let mut pieces = line.text.split_whitespace();
                for (at, name) in names.iter().enumerate() {
                    let text = if at + 1 == names.len() {
                        pieces.clone().collect::<Vec<_>>().join(" ")
                    } else {
                        pieces.next().unwrap_or("").to_owned()
                    };
                    let known = line.is_known();
                    let value = Value {
                        text: if known { text } else { line.text.clone() },
                        source: line.source,
                    };
                    self.state.set(&name.text, value);
                }
                if names.is_empty() {
                    self.state.set("REPLY", line);
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
                let text = shown(words.get(2..).unwrap_or_default());
                self.nested(name, &text, None);
                Some(Value::default())
            }
            _ => None,
        }
    }
}
