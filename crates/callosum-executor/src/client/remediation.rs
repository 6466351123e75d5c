//! [`Client::mending`]: finds the command that repairs a client whose handshake failed, from the text of the failure.
//!
//! Pure. The text is that of the handshake's fault, or the reason that the registry keeps.
//! Deliberately not here: the executor's permissions, which can cause the same text.

use super::Client;
use crate::{registry::Executor, runner::HELPS, template::Template};

/// Texts by which a program reports that its Node is not the one it wants.
const OTHER_NODE: [&str; 6] = [
    "syntaxerror",
    "err_require_esm",
    "err_unknown_builtin_module",
    "unsupported engine",
    "requires node",
    "no such built-in module",
];

/// The same of files that ought to be of its installation.
const INCOMPLETE: [&str; 4] = [
    "cannot find module",
    "cannot find package",
    "module_not_found",
    "no such file or directory, open",
];

impl Client {
    /// Returns the remedy, ending with the command that repeats the check; `None` if the text names
    /// no cause.
    pub fn mending(&self, executor: &Executor, text: &str) -> Option<String> {
        let lower = text.to_lowercase();
        let says = |phrases: &[&str]| phrases.iter().any(|phrase| lower.contains(phrase));
        let check = format!("callosum executor check {}", executor.id);
        let install = format!("{} && {check}", self.installing(executor));
        let program = program(executor);
        Some(
            if says(&[
                "its description of its options",
                "the oldest supported version",
                "unknown argument",
            ]) {
                format!("{} && {check}", self.updating(executor))
            } else if says(&["it does not report its version"]) {
                format!(
                    "`{program}` in PATH may be another program: check with `command -v \
                 {program}`; to install the right one: {install}"
                )
            } else if says(&["'node'", "node: not found", "`node` was not found"]) {
                let version = self
                    .node
                    .map(|oldest| format!(" {oldest} or later"))
                    .unwrap_or_default();
                format!("it runs on Node{version}, which is not in PATH: install it, then: {check}")
            } else if says(&["was not found"]) {
                format!("add the folder of `{program}` to PATH, or install it: {install}")
            } else if says(&INCOMPLETE) {
                format!("its installation is incomplete: {install}")
            } else if says(&OTHER_NODE) {
                match self.node {
                    Some(oldest) => format!(
                        "it needs Node {oldest} or later; `node --version` prints yours: put a \
                     newer one first in PATH, then: {check}"
                    ),
                    None => format!("its installation is damaged: {install}"),
                }
            } else if says(&["exec format error", "cannot execute binary file"]) {
                format!("it was built for another machine: {install}")
            } else if says(&["glibc", "libstdc++", "libc.musl"]) {
                format!(
                    "it needs other system libraries: update the system, or install an older \
                 version of it, but {} or later, then: {check}",
                    self.oldest
                )
            } else if says(&["out of memory", "by signal 9"]) {
                format!(
                    "it ran out of memory, or something killed it: free some memory, then: {check}"
                )
            } else if says(&["by signal "]) {
                format!(
                    "it crashes; if `{program} --version` crashes in a terminal, too: {install}"
                )
            } else if says(&["enospc", "no space left", "disk quota"]) {
                format!("free some disk space, then: {check}")
            } else if says(&["is not logged in"]) {
                // The failure itself may name a key that is there and was not handed on.
                let remedy = text.split_once(HELPS).map(|(_, remedy)| remedy);
                match remedy.filter(|remedy| remedy.contains("callosum executor register")) {
                    Some(remedy) => remedy.to_owned(),
                    None => format!("{}, then: {check}", self.login.command),
                }
            } else if says(&["took longer than", "was silent for"]) {
                format!(
                    "check whether `{program} --version` ends in a terminal; if it hangs there, \
                 too: {install}; if it is only slow: {check}"
                )
            } else {
                return None;
            },
        )
    }

    /// Returns the remedy if the text names no cause.
    pub fn looking(&self, executor: &Executor) -> String {
        format!(
            "check whether `{} --version` works in a terminal; if not: {} && callosum executor \
             check {id}; for its full output: callosum executor check {id} -v",
            program(executor),
            self.installing(executor),
            id = executor.id
        )
    }

    /// Returns the command that reinstalls it, in any state; for a client behind an adapter, it
    /// reinstalls the adapter.
    fn installing(&self, executor: &Executor) -> String {
        Self::adapter_of(executor).map_or_else(|| self.install.to_owned(), install_of)
    }

    /// Returns the command that installs its newest version.
    fn updating(&self, executor: &Executor) -> String {
        Self::adapter_of(executor).map_or_else(|| self.update.to_owned(), install_of)
    }
}

fn install_of(package: &str) -> String {
    format!("npm install -g {package}@latest")
}

/// Returns the program of a command, as a person would call it in a terminal.
fn program(executor: &Executor) -> String {
    let template = Template::parse_for_client(&executor.command_template).ok();
    template.map_or_else(
        || executor.id.clone(),
        |template| template.program().to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discover::Known;

    fn remedy(id: &str, text: &str) -> Option<String> {
        let executor = Known::named(id).unwrap().entry();
        Client::behind(&executor).unwrap().mending(&executor, text)
    }

    /// CAL-EXE-2, CAL-EXE-1: each cause has what mends it, and ends with the line that asks again.
    #[test]
    fn each_cause_has_what_mends_it() {
        for (id, text, part) in [
            (
                "gemini",
                "`gemini` ended with exit code 1: Error: Cannot find module 'x'",
                "incomplete: npm install -g @google/gemini-cli@latest && ",
            ),
            (
                "qwen",
                "`qwen` ended with exit code 1: SyntaxError: Unexpected token '??='",
                "Node 22 or later",
            ),
            (
                "gemini",
                "`gemini` ended with exit code 127: env: 'node': No such file or directory",
                "which is not in PATH",
            ),
            ("codex", "`codex` was ended by signal 11", "it crashes"),
            ("codex", "`codex` was ended by signal 9", "out of memory"),
            (
                "claude",
                "cannot start `claude`: the program `claude` was not found",
                "npm install -g @anthropic-ai/claude-code@latest",
            ),
            (
                "claude",
                "its version is 1.0.30, but the oldest supported version is 2.0.0",
                "claude update && ",
            ),
            (
                "opencode",
                "`opencode` took longer than 30000 ms and was stopped",
                "`opencode --version` ends in a terminal",
            ),
            (
                "codex",
                "it does not report its version",
                "command -v codex",
            ),
            (
                "codex-acp",
                "the agent ended with exit code 1; its output: Error: Cannot find package 'x'",
                "npm install -g @agentclientprotocol/codex-acp@latest",
            ),
            (
                "gemini-acp",
                "`gemini-acp` is not logged in: x",
                "gemini, in a terminal",
            ),
        ] {
            let remedy = remedy(id, text).unwrap();
            assert!(remedy.contains(part), "{remedy}");
            assert!(
                remedy.ends_with(&format!("callosum executor check {id}")),
                "{remedy}"
            );
        }
    }

    /// CAL-EXE-2: a key that is there and was not handed on mends it, and no login in a terminal.
    #[test]
    fn a_key_that_the_failure_names_is_what_mends_it() {
        let line = "GEMINI_API_KEY is set here, but not passed to it: callosum executor register gemini-acp \
                    --pass-env GEMINI_API_KEY";
        let text = format!("`gemini-acp` is not logged in: x{HELPS}{line}");
        assert_eq!(remedy("gemini-acp", &text).as_deref(), Some(line));
    }

    #[test]
    fn where_nothing_names_a_cause_a_person_is_to_look() {
        assert_eq!(remedy("codex", "`codex` ended with exit code 3"), None);
        let executor = Known::named("codex").unwrap().entry();
        let looking = Client::behind(&executor).unwrap().looking(&executor);
        assert!(
            looking.ends_with("callosum executor check codex -v"),
            "{looking}"
        );
    }
}
