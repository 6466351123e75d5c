//! Shells, and what gives a text to one: `bash -c`, `eval`, `source`, `su -c`.

use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::{embedded_code, joined};
use crate::{
    analyze::{
        dialect,
        evaluator::{Evaluator, INPUT},
        value::{Arg, Source, Value},
        wrapper_table::first_operand,
    },
    program_names::SHELLS,
};

/// The form of a call to a shell.
enum Called {
    /// With `-c` and the word at this place.
    Text(usize),
    /// With a text in base64 at this place, as PowerShell takes it.
    Encoded(usize),
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
        // `cmd /d /s /c TEXT`, `cmd /s/c TEXT`, and `cmd //c TEXT` as a shell on Windows needs it.
        if name == "cmd" && option.starts_with('/') {
            let lower = option.to_ascii_lowercase();
            at += 1;
            if lower.ends_with("/c") || lower.ends_with("/k") {
                return Called::Text(at);
            }
            continue;
        }
        if is_powershell(name) {
            match option.to_ascii_lowercase().as_str() {
                "-command" | "-c" | "/c" => return Called::Text(at + 1),
                "-encodedcommand" | "-enc" | "-ec" | "-e" => return Called::Encoded(at + 1),
                "-file" | "-f" => return Called::File(at + 1),
                "-executionpolicy" | "-ep" | "-ex" | "-version" | "-windowstyle" | "-w"
                | "-configurationname" | "-workingdirectory" | "-wd" => at += 2,
                other if other.starts_with('-') => at += 1,
                // Of the two programs one takes a text here, the other a file.
                _ if name == "powershell" => return Called::Text(at),
                _ => return Called::File(at),
            }
            continue;
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

/// Whether a shell only looks whether it could read a text: `bash -n`.
fn only_checks(name: &str, words: &[Arg]) -> bool {
    if !matches!(name, "bash" | "sh" | "zsh" | "dash" | "ksh" | "mksh") {
        return false;
    }
    let options = words[1..].iter().map(|word| word.text.as_str());
    let options: Vec<&str> = options
        .take_while(|text| text.starts_with(['-', '+']))
        .collect();
    let checks = |option: &&str| {
        let letters = option.strip_prefix('-').unwrap_or("");
        letters.contains('n') && letters.chars().all(|letter| "cefnuvx".contains(letter))
    };
    options.iter().any(checks) && !options.iter().any(|option| option.starts_with('+'))
}

/// Returns the start of the arguments of a shell that reads its commands: behind `-s`.
fn behind_input(words: &[Arg]) -> usize {
    let mut texts = words.iter().map(|word| word.text.as_str()).enumerate();
    let option = texts.find(|(at, text)| {
        *at > 0 && text.starts_with('-') && !text.starts_with("--") && text.contains('s')
    });
    let Some((option, _)) = option else {
        return words.len();
    };
    let rest = words.get(option + 1..).unwrap_or_default();
    match rest
        .iter()
        .position(|word| !word.text.starts_with('-') || word.text == "--")
    {
        Some(at) => option + 1 + at + usize::from(rest[at].text == "--"),
        None => words.len(),
    }
}

/// Whether a shell ends at the first command that fails: `bash -e`.
fn is_strict(name: &str, words: &[Arg]) -> bool {
    let options = words.iter().skip(1).map(|word| word.text.as_str());
    let mut options = options.take_while(|text| text.starts_with('-') || *text == "errexit");
    let is_like_bash = !is_powershell(name) && !matches!(name, "fish" | "nu" | "cmd" | "elvish");
    is_like_bash
        && options.any(|text| text == "errexit" || !text.starts_with("--") && text.contains('e'))
}

fn is_powershell(name: &str) -> bool {
    matches!(name, "pwsh" | "powershell" | "pwsh-preview")
}

/// Decodes `-EncodedCommand`: base64 over UTF-16, the lower byte first.
fn encoded(word: &Arg) -> Value {
    let source = Source {
        decoded: true,
        ..word.source
    };
    let bytes = STANDARD.decode(word.text.as_bytes()).unwrap_or_default();
    let units: Vec<u16> = bytes
        .chunks_exact(2)
        .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
        .collect();
    match String::from_utf16(&units) {
        Ok(text) if !text.is_empty() => Value { text, source },
        _ => Value::from(source),
    }
}

impl Evaluator<'_> {
    /// Returns the text that a command takes for commands, if it is a shell or `eval`.
    pub(in crate::analyze) fn script_of(
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
                let Some(file) = words.get(1) else {
                    return input.cloned();
                };
                if matches!(file.text.as_str(), "/dev/stdin" | "/dev/fd/0" | "-") {
                    return input.cloned();
                }
                Some(self.content(file))
            }
            "fish"
                if words
                    .iter()
                    .any(|word| matches!(word.text.as_str(), "-C" | "--init-command")) =>
            {
                let texts = words.array_windows().filter(|[option, _]| {
                    matches!(
                        option.text.as_str(),
                        "-C" | "--init-command" | "-c" | "--command"
                    )
                });
                let texts: Vec<&str> = texts.map(|[_, text]| text.text.as_str()).collect();
                Some(Value::known(texts.join("\n")))
            }
            _ if only_checks(name, words) => Some(Value::default()),
            _ if SHELLS.contains(&name) => match called(name, words) {
                Called::Text(at) => {
                    let word = words.get(at)?;
                    if word.text.starts_with("--command=") {
                        return Some(Value::known(&word.text["--command=".len()..]));
                    }
                    if is_powershell(name) || name == "cmd" {
                        return Some(joined(&words[at..]));
                    }
                    Some(word.value())
                }
                Called::Encoded(at) => Some(encoded(words.get(at)?)),
                Called::File(at) => Some(self.content(words.get(at)?)),
                Called::Input => match input {
                    Some(input) => Some(input.clone()),
                    None => self.read_first(words),
                },
            },
            _ => {
                // A file that was written before and is now run by its path.
                let path = self.state.absolute(&words.first()?.text);
                let there = words[0].text.contains('/');
                self.state.files.get(&path).filter(|_| there).cloned()
            }
        }
    }

    /// Returns the input of a shell without any: the one that `exec` put in its place, or the file
    /// that sets it up.
    fn read_first(&self, words: &[Arg]) -> Option<Value> {
        let put = self.state.files.get(INPUT).cloned();
        put.or_else(|| {
            let [_, file] = words
                .array_windows()
                .find(|[option, _]| matches!(option.text.as_str(), "--rcfile" | "--init-file"))?;
            let path = self.state.absolute(&file.text);
            self.state.files.get(&path).cloned()
        })
    }

    pub(super) fn run_script(
        &mut self,
        name: &str,
        words: &[Arg],
        script: &Value,
        input: Option<&Value>,
    ) -> Value {
        let by_path = SHELLS.contains(&name);
        // What a shell reads its commands from, these find at its end.
        let is_read = match name {
            "source" | "." => words.get(1).is_none_or(|file| file.text.ends_with("stdin")),
            _ => by_path && matches!(called(name, words), Called::Input),
        };
        let input = input.filter(|_| !is_read);
        let arguments: Vec<Arg> = match name {
            "eval" | "source" | "." => Vec::new(),
            _ if by_path => {
                let at = match called(name, words) {
                    Called::Text(at) => at + 2,
                    Called::Encoded(at) | Called::File(at) => at + 1,
                    Called::Input => behind_input(words),
                };
                words.get(at..).unwrap_or_default().to_vec()
            }
            _ => words[1..].to_vec(),
        };
        // A file for another interpreter names it in its first line.
        if let Some(first) = script.text.lines().next()
            && let Some(program) = first.strip_prefix("#!")
            && let Some(language) = embedded_code::LANGUAGES
                .iter()
                .find(|language| program.split(['/', ' ']).any(|part| language.runs(part)))
        {
            return self.code(language, &script.text);
        }
        let text = match name {
            "fish" => dialect::fish(&script.text),
            _ if is_powershell(name) => dialect::powershell(&script.text),
            _ => script.text.clone(),
        };
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
                    walker.state.strict = by_path && is_strict(name, words);
                    walker.state.fish = name == "fish";
                    walker.state.lists = name == "fish" || is_powershell(name);
                    walker.under(&via, |walker| walker.text(&text, input))
                })
            }
        }
    }

    /// `su -c TEXT`, `runuser -c TEXT`, `sg GROUP TEXT`, `script -c TEXT`, `script FILE COMMAND`.
    pub(super) fn switched(&mut self, words: &[Arg], input: Option<&Value>) -> Value {
        let name = words[0].text.clone();
        if name == "script" {
            const TAKES: &str = "-c -t -F -I -O -B -T -m -E -o --command --echo --log-in --log-out --log-io --log-timing --logging-format --output-limit";
            let file = first_operand(words, 1, TAKES);
            let run = words.get(file + 1..).unwrap_or_default();
            let run = match run {
                [ends, run @ ..] if ends.text == "--" => run,
                [first, ..] if first.text.starts_with('-') => &[],
                run => run,
            };
            if !run.is_empty() {
                return self.inner("script", run, input);
            }
        }
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
            Some(input) if matches!(name.as_str(), "su" | "newgrp") => {
                self.nested(&name, &input.text.clone(), None)
            }
            _ => Value::unknown(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Decision, Facts, Policy, decide};

    /// CAKE-SHIM-1: what `cmd` is given to run is found behind its other switches.
    #[test]
    fn what_cmd_runs_is_found_behind_its_switches() {
        let facts = Facts::of_a_project();
        for command in [
            "cmd /c 'rm -rf /'",
            "cmd /d /s /c 'rm -rf /'",
            "cmd.exe /D /S /C rm -rf /",
            "cmd /d/s/c 'rm -rf /'",
            "cmd //c 'rm -rf /'",
            "cmd /q /k 'rm -rf /'",
        ] {
            let decision = decide(command, &facts, &Policy::default()).decision;
            assert_eq!(decision, Decision::Block, "{command}");
        }
        for command in ["cmd /d /s /c 'npm test'", "cmd /?"] {
            let decision = decide(command, &facts, &Policy::default()).decision;
            assert_eq!(decision, Decision::Allow, "{command}");
        }
    }
}
