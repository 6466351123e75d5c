//! Assignments, and the variables whose value a program runs.

use super::{
    call::Call,
    evaluator::Evaluator,
    value::{Arg, Value},
};
use crate::shell::tree::{Simple, Word};

impl Evaluator<'_> {
    pub(super) fn assign(&mut self, simple: &Simple) {
        for assignment in &simple.assignments {
            let values = match &assignment.list {
                Some(list) => self.listed(&assignment.name, list),
                None => vec![self.whole(&assignment.value)],
            };
            if assignment.adds {
                self.state
                    .add(&assignment.name, values, assignment.list.is_none());
            } else {
                self.state.set_list(&assignment.name, values);
            }
        }
    }

    /// The values of a list; those with a key, as in `([a]=1)`, can be looked up by it as well.
    fn listed(&mut self, name: &str, list: &[Word]) -> Vec<Value> {
        let values: Vec<Value> = self.expand_all(list).iter().map(Arg::value).collect();
        let mut plain = Vec::with_capacity(values.len());
        // Behind a key that is a text a tilde stays one.
        let is_number = |key: &str| key.bytes().all(|byte| byte.is_ascii_digit());
        for value in values {
            let keyed = value
                .text
                .strip_prefix('[')
                .and_then(|rest| rest.split_once("]="))
                .map(|(key, rest)| (format!("{name}[{key}]"), self.tilde(rest, is_number(key))));
            plain.push(match keyed {
                Some((key, text)) => {
                    let value = Value { text, ..value };
                    self.state.set(&key, value.clone());
                    value
                }
                None => value,
            });
        }
        plain
    }

    pub(super) fn declares(name: &str) -> bool {
        matches!(
            name,
            "declare" | "typeset" | "local" | "readonly" | "export"
        )
    }

    pub(super) fn alias(&self, word: &Word) -> Option<String> {
        if self.state.aliases.is_empty() {
            return None;
        }
        self.state.aliases.get(&word.literal()?).cloned()
    }

    /// Variables that name a file which programs load or shells run before all else.
    fn variable_loads(&mut self, name: &str) {
        let is_script = matches!(name, "BASH_ENV" | "ENV");
        if !is_script && !matches!(name, "LD_PRELOAD" | "LD_AUDIT" | "DYLD_INSERT_LIBRARIES") {
            return;
        }
        let Some(text) = self.state.known(name).map(str::to_owned) else {
            return;
        };
        let path = self.state.absolute(&text);
        if is_script && let Some(content) = self.state.files.get(&path).cloned() {
            self.nested(name, &content.text, None);
            return;
        }
        // `ENV=production` names a stage, and a library without a folder is one of the system's.
        let is_file = text.contains('/') || name == "BASH_ENV" || name.starts_with("DYLD");
        let installed = ["/usr/", "/lib", "/opt/", "/nix/", "/etc/"];
        if is_file && !text.is_empty() && !installed.iter().any(|start| text.starts_with(start)) {
            let words = ["loaded-code", name, &text].map(Arg::plain).to_vec();
            self.record(Call {
                name: "loaded-code".to_owned(),
                words,
                ..Call::default()
            });
        }
    }

    /// Variables whose value a program runs.
    pub(super) fn variable_runs(&mut self, name: &str) {
        const RUN: [&str; 19] = [
            "PAGER",
            "GIT_PAGER",
            "MANPAGER",
            "EDITOR",
            "VISUAL",
            "GIT_EDITOR",
            "GIT_SEQUENCE_EDITOR",
            "GIT_SSH_COMMAND",
            "GIT_EXTERNAL_DIFF",
            "GIT_ASKPASS",
            "GIT_PROXY_COMMAND",
            "GIT_SSH",
            "SSH_ASKPASS",
            "SUDO_ASKPASS",
            "PROMPT_COMMAND",
            "BROWSER",
            "LESSOPEN",
            "RUSTC_WRAPPER",
            "npm_config_script_shell",
        ];
        self.variable_loads(name);
        // Of a prompt, only the parts inside `$(…)` run.
        if matches!(name, "PS0" | "PS1" | "PS2" | "PS4")
            && let Some(text) = self.state.known(name)
            && text.contains(['$', '`'])
        {
            let text = format!(": \"{}\"", text.replace('"', ""));
            self.nested(name, &text, None);
        }
        if RUN.contains(&name)
            && let Some(text) = self.state.known(name).map(str::to_owned)
        {
            self.nested(name, &text, None);
        }
    }
}
