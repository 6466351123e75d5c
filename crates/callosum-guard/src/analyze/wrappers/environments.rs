//! Programs that make a place for a command and run it there: shells of nix and guix, terminals,
//! watchers of files, daemons.
//!
//! Each has a syntax of its own for the start of the command, and for one text or words.

use super::joined;
use crate::{
    analyze::{
        evaluator::Evaluator,
        value::{Arg, Value},
        wrapper_table::first_operand,
    },
    path,
};

/// Windows with a shell in them.
const TERMINALS: [&str; 14] = [
    "xterm",
    "uxterm",
    "gnome-terminal",
    "konsole",
    "alacritty",
    "kitty",
    "rxvt",
    "urxvt",
    "lxterminal",
    "xfce4-terminal",
    "wezterm",
    "foot",
    "tilix",
    "ghostty",
];

impl Evaluator<'_> {
    /// Follows one of them; `None` if the name is none, or nothing is run.
    pub(super) fn place(
        &mut self,
        name: &str,
        words: &[Arg],
        input: Option<&Value>,
    ) -> Option<Value> {
        let behind = |options: &[&str]| {
            let at = words
                .iter()
                .position(|word| options.contains(&word.text.as_str()))?;
            words.get(at + 1..).filter(|rest| !rest.is_empty())
        };
        let verb_at = first_operand(words, 1, "");
        let verb = words.get(verb_at).map_or("", |word| word.text.as_str());
        match (name, verb) {
            ("nix", "develop" | "shell") => {
                let run = behind(&["-c", "--command"])?.to_vec();
                Some(self.inner("nix -c", &run, input))
            }
            ("nix", "run") => {
                let at = first_operand(words, verb_at + 1, "--inputs-from --override-input");
                let package = &words.get(at)?.text;
                let program = package.rsplit(['#', '/', ':']).next().unwrap_or(package);
                let mut run = vec![Arg::plain(program)];
                let rest = words.get(at + 1..).unwrap_or_default();
                let ends = usize::from(rest.first().is_some_and(|word| word.text == "--"));
                run.extend_from_slice(&rest[ends..]);
                Some(self.inner("nix run", &run, input))
            }
            ("guix", "shell" | "environment" | "time-machine") => {
                let run = behind(&["--"])?.to_vec();
                Some(self.inner("guix", &run, input))
            }
            ("npm" | "lerna" | "mise", "explore" | "exec" | "x")
                if verb != "exec" || name != "npm" =>
            {
                if name == "mise"
                    && behind(&["--"]).is_none()
                    && let Some([text, ..]) = behind(&["-c", "--command"])
                {
                    let text = text.text.clone();
                    return Some(self.nested("mise exec", &text, input));
                }
                let run = behind(&["--"]).unwrap_or_else(|| {
                    // `npm explore PACKAGE COMMAND`, `lerna exec COMMAND`
                    let own = 1 + usize::from(name == "npm");
                    words.get(verb_at + own..).unwrap_or_default()
                });
                let run = run.to_vec();
                Some(self.inner(name, &run, input))
            }
            ("cargo", "watch") | ("cargo-watch", _) => Some(self.cargo_watch(words, input)),
            ("onchange", _) => {
                let run = behind(&["--"])?.to_vec();
                Some(self.text_or_words(name, &run, input))
            }
            ("watchexec", _) => {
                const TAKES: &str = "-w -e -i -f -d -s -o -E --watch --exts --ignore --filter --debounce --signal --shell --env --workdir";
                let at = first_operand(words, 1, TAKES);
                Some(self.text_or_words(name, words.get(at..)?, input))
            }
            ("capsh", _) => {
                let mut run = vec![Arg::plain("bash")];
                run.extend_from_slice(behind(&["--", "=="])?);
                Some(self.inner(name, &run, input))
            }
            ("start-stop-daemon", _) => {
                let named = |word: &Arg| {
                    word.text
                        .split_once('=')
                        .map(|(_, value)| Arg::plain(value))
                };
                let program = behind(&["-a", "--startas", "-x", "--exec"])
                    .map(|rest| rest[0].clone())
                    .or_else(|| {
                        let long = |word: &&Arg| {
                            word.text.starts_with("--exec=") || word.text.starts_with("--startas=")
                        };
                        words.iter().find(long).and_then(named)
                    })?;
                let mut run = vec![program];
                run.extend_from_slice(behind(&["--"]).unwrap_or_default());
                Some(self.inner(name, &run, input))
            }
            ("ssh-agent", _) => {
                let at = first_operand(words, 1, "-a -t -P -E -O");
                let run = words.get(at..).filter(|run| !run.is_empty())?.to_vec();
                Some(self.inner(name, &run, input))
            }
            ("man", _) => {
                let pager = behind(&["-P", "--pager"])
                    .map(|rest| rest[0].text.clone())
                    .or_else(|| {
                        let long =
                            |word: &Arg| word.text.strip_prefix("--pager=").map(str::to_owned);
                        words.iter().find_map(long)
                    })?;
                Some(self.nested("man -P", &pager, None))
            }
            ("just", _) => {
                let run = behind(&["-c", "--command"])?.to_vec();
                Some(self.inner("just --command", &run, input))
            }
            ("yarn", "workspaces") => {
                let run = behind(&["exec", "run"])?.to_vec();
                Some(self.inner("yarn workspaces", &run, input))
            }
            ("repo", "forall") => {
                let text = joined(behind(&["-c", "--command"])?).text;
                Some(self.nested("repo forall", &text, input))
            }
            _ if TERMINALS.contains(&name) => {
                const TAKES: &str = "-T -t -d --title --working-directory --cwd -geometry -fn";
                let mut at = first_operand(words, 1, TAKES);
                if name == "wezterm" && words.get(at).is_some_and(|word| word.text == "start") {
                    at = first_operand(words, at + 1, TAKES);
                }
                let run = words.get(at..).filter(|run| !run.is_empty())?;
                let run = run.to_vec();
                Some(self.text_or_words(name, &run, input))
            }
            _ => None,
        }
    }

    /// One word with blanks in it is a text for a shell, several are a command.
    fn text_or_words(&mut self, name: &str, run: &[Arg], input: Option<&Value>) -> Value {
        match run {
            [text] if text.text.contains(' ') => self.nested(name, &text.text, input),
            _ => self.inner(name, run, input),
        }
    }

    fn cargo_watch(&mut self, words: &[Arg], input: Option<&Value>) -> Value {
        let mut at = 1;
        while let Some(word) = words.get(at) {
            let next = words.get(at + 1).map(|word| word.text.clone());
            match (word.text.as_str(), next) {
                ("--", _) => {
                    let run = words.get(at + 1..).unwrap_or_default();
                    self.text_or_words("cargo watch", run, input);
                    break;
                }
                ("-x" | "--exec", Some(text)) => {
                    self.nested("cargo watch", &format!("cargo {text}"), None);
                    at += 1;
                }
                ("-s" | "--shell", Some(text)) => {
                    self.nested("cargo watch", &text, None);
                    at += 1;
                }
                _ => {}
            }
            at += 1;
        }
        Value::unknown()
    }
}

/// Returns the program that a container image always runs, and whether it reaches further than the
/// container.
pub(super) fn entry_of(image: &str) -> Option<(&'static str, bool)> {
    let image = image.split('@').next().unwrap_or(image);
    let name = path::name(image).split(':').next().unwrap_or("");
    let whose = image.rsplit('/').nth(1).unwrap_or("");
    match (whose, name) {
        ("alpine", "git") => Some(("git", false)),
        ("hashicorp", "terraform") => Some(("terraform", true)),
        ("amazon", "aws-cli") => Some(("aws", true)),
        ("bitnami" | "rancher", "kubectl") => Some(("kubectl", true)),
        ("alpine", "helm") => Some(("helm", true)),
        _ => None,
    }
}
