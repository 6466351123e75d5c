//! Shells, and what gives a text to one: `bash -c`, `eval`, `source`, `su -c`.

use super::{code, joined};
use crate::unwrap::{
    value::{Arg, Value},
    walk::Walker,
};

/// Shells that read commands as bash does, or nearly.
pub(crate) const SHELLS: [&str; 17] = [
    "bash",
    "sh",
    "zsh",
    "dash",
    "ksh",
    "mksh",
    "ash",
    "fish",
    "rbash",
    "csh",
    "tcsh",
    "pwsh",
    "powershell",
    "yash",
    "elvish",
    "nu",
    "cmd",
];

/// How a shell was called.
enum Called {
    /// With `-c` and the word at this place.
    Text(usize),
    /// With a file at this place.
    File(usize),
    /// To read what comes in.
    Input,
}

fn called(name: &str, words: &[Arg]) -> Called {
    let mut at = 1;
    let mut text = false;
    while let Some(word) = words.get(at) {
        let option = word.text.as_str();
        if name == "cmd" && option.eq_ignore_ascii_case("/c") {
            return Called::Text(at + 1);
        }
        if name.starts_with('p')
            && matches!(
                option.to_ascii_lowercase().as_str(),
                "-command" | "-c" | "/c"
            )
        {
            return Called::Text(at + 1);
        }
        match option {
            "--" | "-" => {
                at += 1;
                break;
            }
            "--command" => text = true,
            "--rcfile" | "--init-file" | "-o" | "-O" | "+o" | "+O" => at += 1,
            _ if option.starts_with("--command=") => return Called::Text(at),
            _ if option.starts_with("--") => {}
            _ if option.starts_with(['-', '+']) => {
                text |= option.contains('c') && option.starts_with('-');
                // `-o pipefail` within a cluster.
                at += usize::from(option.ends_with(['o', 'O']) && option.len() > 1);
                if option.starts_with('-') && option.contains('s') && !text {
                    return Called::Input;
                }
            }
            _ => break,
        }
        at += 1;
    }
    match words.get(at) {
        Some(_) if text => Called::Text(at),
        Some(word)
            if matches!(
                word.text.as_str(),
                "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"
            ) =>
        {
            Called::Input
        }
        Some(_) => Called::File(at),
        None => Called::Input,
    }
}

impl Walker<'_> {
    /// The text that a command takes for commands, where it is a shell or `eval`.
    pub(in crate::unwrap) fn script_of(
        &mut self,
        name: &str,
        words: &[Arg],
        input: Option<&Value>,
    ) -> Option<Value> {
        match name {
            "eval" => {
                let from = usize::from(words.get(1).is_some_and(|word| word.text == "--"));
                Some(joined(&words[1 + from..]))
            }
            "source" | "." => {
                let file = words.get(1)?;
                if matches!(file.text.as_str(), "/dev/stdin" | "/dev/fd/0" | "-") {
                    return input.cloned();
                }
                Some(self.content(file))
            }
            _ if SHELLS.contains(&name) => match called(name, words) {
                Called::Text(at) => {
                    let word = words.get(at)?;
                    if word.text.starts_with("--command=") {
                        return Some(Value::known(&word.text["--command=".len()..]));
                    }
                    if name.starts_with('p') || name == "cmd" {
                        return Some(joined(&words[at..]));
                    }
                    Some(word.value())
                }
                Called::File(at) => Some(self.content(&words[at])),
                Called::Input => input.cloned(),
            },
            _ => {
                // A file that was written before and is now run by its path.
                let path = self.state.absolute(&words.first()?.text);
                let there = words[0].text.contains('/');
                self.state.files.get(&path).filter(|_| there).cloned()
            }
        }
    }

    pub(super) fn run_script(
        &mut self,
        name: &str,
        words: &[Arg],
        script: &Value,
        input: Option<&Value>,
    ) -> Value {
        let by_path = SHELLS.contains(&name);
        let arguments: Vec<Arg> = match name {
            "eval" | "source" | "." => Vec::new(),
            _ if by_path => {
                let at = match called(name, words) {
                    Called::Text(at) => at + 2,
                    Called::File(at) => at + 1,
                    Called::Input => words.len(),
                };
                words.get(at..).unwrap_or_default().to_vec()
            }
            _ => words[1..].to_vec(),
        };
        // A file for another interpreter says so in its first line.
        if let Some(first) = script.text.lines().next()
            && let Some(program) = first.strip_prefix("#!")
            && let Some(language) = code::LANGUAGES
                .iter()
                .find(|language| program.split(['/', ' ']).any(|part| language.runs(part)))
        {
            return self.code(language, &script.text);
        }
        let text = script.text.clone();
        match name {
            "eval" | "source" | "." => self.under(name, |walker| walker.text(&text, input)),
            _ => {
                let via = if by_path {
                    format!("{name} -c")
                } else {
                    name.to_owned()
                };
                let zero = match called(name, words) {
                    Called::Text(at) if by_path => words.get(at + 1).map(Arg::value),
                    _ => None,
                };
                self.apart(|walker| {
                    if let Some(zero) = zero {
                        walker.state.set("0", zero);
                    }
                    walker.state.arguments = Some(arguments);
                    walker.state.aliases.clear();
                    walker.state.fish = name == "fish";
                    walker.under(&via, |walker| walker.text(&text, input))
                })
            }
        }
    }

    /// `su -c TEXT`, `runuser -c TEXT`, `sg GROUP TEXT`, `script -c TEXT`.
    pub(super) fn switched(&mut self, words: &[Arg], input: Option<&Value>) -> Value {
        let name = words[0].text.clone();
        for (at, word) in words.iter().enumerate().skip(1) {
            let text = word.text.as_str();
            let given = text
                .strip_prefix("--command=")
                .or_else(|| text.strip_prefix("-c").filter(|rest| !rest.is_empty()))
                .map(str::to_owned);
            let next = matches!(text, "--command" | "--session-command")
                || text.starts_with('-') && !text.starts_with("--") && text.ends_with('c');
            let given = match given {
                Some(given) => Some(given),
                None if next => words.get(at + 1).map(|word| word.text.clone()),
                None => None,
            };
            if let Some(given) = given {
                return self.nested(&format!("{name} -c"), &given, input);
            }
        }
        if name == "sg" {
            let text = joined(words.get(2..).unwrap_or_default()).text;
            return self.nested("sg", &text, input);
        }
        // A shell that reads what comes in.
        match input {
            Some(input) if name == "su" => self.nested("su", &input.text.clone(), None),
            _ => Value::unknown(),
        }
    }
}
