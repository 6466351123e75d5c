//! Programs that run what they are given: which words of a command would become code.
//!
//! Tables, and one careful reading of a command by them: in doubt a word counts as code. What is
//! deliberately not here: every program that can run code. One that is not in the tables is taken
//! for a program that only reads its arguments.

use std::path::Path;

/// Programs whose first operand is code or a program's file, as is what follows an option such as
/// `-c`. What comes after the operand are arguments. Names are without the digits of a version.
const INTERPRETERS: &[&str] = &[
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "mksh",
    "fish",
    "ash",
    "csh",
    "tcsh",
    "nu",
    "busybox",
    "python",
    "pypy",
    "node",
    "deno",
    "bun",
    "tsx",
    "ts-node",
    "perl",
    "ruby",
    "php",
    "lua",
    "luajit",
    "tclsh",
    "wish",
    "expect",
    "julia",
    "Rscript",
    "groovy",
    "elixir",
    "osascript",
    "pwsh",
    "powershell",
    "awk",
    "gawk",
    "mawk",
    "nawk",
];

/// Programs that take code in any of their arguments, or join these and hand them to a shell.
const JOINERS: &[&str] = &["ssh", "mosh", "su", "runuser", "sed", "gsed", "nix-shell"];

/// The same for names that are common as arguments too (`npm run watch`): they count only as the
/// program of a command.
const INTERPRETERS_AS_PROGRAM: &[&str] = &["R"];
const JOINERS_AS_PROGRAM: &[&str] = &["watch", "parallel", "script", "eval"];

/// Programs that start another one, and how many operands of their own come before it.
const LAUNCHERS: &[(&str, usize)] = &[
    ("env", 0),
    ("xargs", 0),
    ("timeout", 1),
    ("nohup", 0),
    ("nice", 0),
    ("ionice", 0),
    ("setsid", 0),
    ("stdbuf", 0),
    ("sudo", 0),
    ("doas", 0),
    ("time", 0),
];

/// Options of one letter whose value is the next word, which is then no operand.
const WITH_VALUE: &[(&str, &str)] = &[
    ("sh", "oO"),
    ("bash", "oO"),
    ("dash", "o"),
    ("zsh", "o"),
    ("ksh", "o"),
    ("python", "WX"),
    ("node", "r"),
    ("ruby", "rI"),
    ("perl", "I"),
    ("awk", "Fv"),
    ("gawk", "Fv"),
    ("mawk", "Fv"),
    ("nawk", "Fv"),
    ("env", "uC"),
    ("xargs", "IEadLnPs"),
    ("timeout", "ks"),
    ("nice", "n"),
    ("ionice", "cnpPu"),
    ("stdbuf", "ioe"),
    ("sudo", "ughpCrtUDRT"),
    ("doas", "uC"),
    ("time", "fo"),
];

/// Names the program, if there is one, that would run a word with `placeholder` in it.
pub(super) fn that_runs<'w>(placeholder: &str, words: &'w [String]) -> Option<&'w str> {
    let mut program = 0;
    for (at, word) in words.iter().enumerate() {
        let name = name(word);
        let is_program = at == program;
        let runs = if is_among(name, JOINERS, JOINERS_AS_PROGRAM, is_program) {
            words[at + 1..]
                .iter()
                .any(|word| word.contains(placeholder))
        } else if let Some((_, own)) = LAUNCHERS.iter().find(|(launcher, _)| *launcher == name) {
            let read = read(name, &words[at + 1..], *own + 1, placeholder);
            if let (Read::Settled(after), true) = (read, is_program) {
                program = at + 1 + after;
            }
            // `time` is a word like any other where it is not what is started.
            read == Read::Runs && (is_program || name != "time")
        } else if is_among(name, INTERPRETERS, INTERPRETERS_AS_PROGRAM, is_program) {
            read(name, &words[at + 1..], 1, placeholder) == Read::Runs
        } else {
            false
        };
        if runs {
            return Some(word);
        }
    }
    None
}

/// A program's name: without its folder and the digits of its version.
fn name(word: &str) -> &str {
    let name = Path::new(word).file_name().and_then(|name| name.to_str());
    name.unwrap_or_default()
        .trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
}

fn is_among(name: &str, anywhere: &[&str], as_program: &[&str], is_program: bool) -> bool {
    anywhere.contains(&name) || (is_program && as_program.contains(&name))
}

/// Result of reading the words after a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Read {
    /// One with the placeholder would be run.
    Runs,
    /// The program to run is at this place, and all words after it are its arguments.
    Settled(usize),
    /// The words do not decide it.
    Open,
}

/// Reads the words after a program that runs its operand number `operands`.
fn read(name: &str, words: &[String], operands: usize, placeholder: &str) -> Read {
    let is_launcher = LAUNCHERS.iter().any(|(launcher, _)| *launcher == name);
    let mut seen = 0;
    let mut code_is_next = false;
    let mut value_is_next = false;
    for (at, word) in words.iter().enumerate() {
        if let Some((before, _)) = word.split_once(placeholder) {
            let is_code = seen < operands || code_is_next || takes_code(name, before);
            return if is_code { Read::Runs } else { Read::Open };
        }
        if word.starts_with('-') && word.len() > 1 {
            value_is_next = takes_value(name, word, is_launcher);
            code_is_next |= !value_is_next && takes_code(name, word);
        } else if value_is_next {
            value_is_next = false;
        } else if !(is_launcher && word.contains('=')) {
            seen += 1;
            if seen >= operands && !code_is_next {
                return Read::Settled(at);
            }
            code_is_next = false;
        }
    }
    Read::Open
}

/// Whether an option of the program `name` takes code, in it or after it.
fn takes_code(name: &str, option: &str) -> bool {
    if name == "env" {
        return option.starts_with("--split") || is_short(option) && option.ends_with('S');
    }
    if LAUNCHERS.iter().any(|(launcher, _)| *launcher == name) {
        return false;
    }
    if matches!(name, "pwsh" | "powershell") {
        let option = option.to_ascii_lowercase();
        return option.starts_with("-c") || option.starts_with("-e");
    }
    match option.strip_prefix("--") {
        Some(long) => ["eval", "command", "print", "source"].contains(&long.trim_end_matches('=')),
        None => is_short(option) && option.ends_with(['c', 'e', 'E', 'r']),
    }
}

/// Whether the word after an option is its value. For a launcher's long options this is unknown, so
/// it is assumed unless the option has a `=`.
fn takes_value(name: &str, option: &str, is_launcher: bool) -> bool {
    if !is_short(option) {
        return is_launcher && option != "--" && !option.contains('=');
    }
    let letters = WITH_VALUE.iter().find(|(program, _)| *program == name);
    letters.is_some_and(|(_, letters)| option.ends_with(|c| letters.contains(c)))
}

fn is_short(option: &str) -> bool {
    option.starts_with('-') && !option.starts_with("--") && option.len() > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runner(template: &str) -> Option<String> {
        let words = shlex::split(template).unwrap();
        that_runs("{prompt}", &words).map(str::to_owned)
    }

    /// CAL-COM-1: a prompt never becomes a command, not even where a template asks for it.
    #[test]
    fn no_program_is_given_the_prompt_as_its_program() {
        for (template, by) in [
            ("sh {prompt}", "sh"),
            ("sh -c {prompt}", "sh"),
            ("sh -eo pipefail {prompt}", "sh"),
            ("bash -c -e {prompt}", "bash"),
            ("env -S 'tool {prompt}'", "env"),
            ("timeout 5 bash -ec 'x {prompt}'", "bash"),
            ("docker exec box sh -c 'x {prompt}'", "sh"),
            ("python3.12 -c 'print(\"{prompt}\")'", "python3.12"),
            ("python -W ignore {prompt}", "python"),
            ("python -W ignore -c {prompt}", "python"),
            ("node --eval={prompt} x", "node"),
            ("node -r ./x {prompt}", "node"),
            ("perl -n -e{prompt}", "perl"),
            ("perl -n -e x -e {prompt}", "perl"),
            ("awk {prompt} file", "awk"),
            ("gawk -F : '{prompt}'", "gawk"),
            ("sed -e x -e s/a/{prompt}/", "sed"),
            ("ssh host ask {prompt}", "ssh"),
            ("sudo ssh host ask -p {prompt}", "ssh"),
            ("su bob -c 'ask {prompt}'", "su"),
            ("pwsh -NoProfile -Command {prompt}", "pwsh"),
            ("pwsh -enc {prompt}", "pwsh"),
            ("osascript -e {prompt}", "osascript"),
            ("Rscript -e {prompt}", "Rscript"),
            ("R -e {prompt}", "R"),
            ("julia -E {prompt}", "julia"),
            ("bun --eval {prompt}", "bun"),
            ("nix-shell -p ask --run 'ask {prompt}'", "nix-shell"),
            ("script -q -c 'ask {prompt}' log", "script"),
            ("watch -n 1 ask {prompt}", "watch"),
            ("nice -n 5 watch ask {prompt}", "watch"),
            ("parallel ask ::: {prompt}", "parallel"),
        ] {
            assert_eq!(runner(template).as_deref(), Some(by), "{template}");
        }
    }

    /// CAL-COM-1: nor does it choose the program that another one starts.
    #[test]
    fn the_started_program_is_in_the_template() {
        for template in [
            "env A=1 timeout 5 sh {prompt}",
            "env python3 {prompt}",
            "env A=1 {prompt}",
            "env -u A {prompt}",
            "timeout 5 {prompt}",
            "timeout -k 1 5 {prompt}",
            "timeout {prompt} ask",
            "xargs -n 1 {prompt}",
            "sudo -u bob {prompt}",
            "sudo --user bob {prompt}",
            "nohup {prompt}",
            "stdbuf -e 0 {prompt}",
            "time -f x {prompt}",
            "nice time {prompt}",
        ] {
            assert!(runner(template).is_some(), "{template}");
        }
    }

    #[test]
    fn a_prompt_that_is_an_argument_of_what_runs_is_fine() {
        for template in [
            "claude -p {prompt} --output-format json",
            "codex exec --json {prompt}",
            "python3 ask.py {prompt}",
            "python3 ask.py -c {prompt}",
            "python3 -W ignore ask.py -e {prompt}",
            "python3 -m ask -p {prompt}",
            "node --no-warnings ask.js {prompt}",
            "bun run ask.ts {prompt}",
            "awk -f ask.awk {prompt}",
            "sh -c 'ask \"$1\"' _ {prompt}",
            "sh -ec 'ask \"$@\"' _ -c {prompt}",
            "env MODE=1 ask -p {prompt}",
            "env -i PATH=/bin nice -n 5 ask -c {prompt}",
            "timeout -k 5 60 claude -c -p {prompt}",
            "sudo -E -u bob ask -e {prompt}",
            "xargs -r ask {prompt}",
            "pwsh -ExecutionPolicy Bypass -File ask.ps1 {prompt}",
            "ask watch --time time {prompt}",
            "npm run script {prompt}",
            "ssh-ask {prompt}",
        ] {
            assert_eq!(runner(template), None, "{template}");
        }
    }
}
