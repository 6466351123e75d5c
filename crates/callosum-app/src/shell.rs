//! `callosum shell`: an interactive shell or agent between its terminal, the reader of errors and the guard.
//!
//! A typed command line is judged before the shell gets its Enter. That is a help and no wall: what a shell recalls from
//! its history, completes or edits in the middle of a line is not seen, and such a line passes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use callosum_client::hook::{facts, look, may_clear};
use callosum_config::{Environment, GuardConfig, Homes, Project, ProjectOverrides};
use callosum_guard::{CommandAnalysis, Decision, Facts, Policy};
use callosum_host::Disk;
use callosum_redact::terminal_escape::on_one_line;
use callosum_terminal::{InputFilter, Reply, TerminalState};

/// Shells whose prompt takes command lines.
const SHELLS: [&str; 8] = ["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish"];

/// Timeout for a look at what a command would destroy, while a person waits.
const LOOK: Duration = Duration::from_secs(1);

/// Longest line that is judged, in bytes.
const LONGEST: usize = 16 * 1024;

/// Keys that empty a line: Ctrl-C, Ctrl-D, Ctrl-U.
const EMPTYING: [u8; 3] = [0x03, 0x04, 0x15];

/// Removes what is typed at a prompt: to the end of the line, and what is before it.
const CLEAR_LINE: &[u8] = b"\x05\x15";

/// Collects a typed line and judges it at Enter.
pub struct LineFilter {
    /// The program's name.
    name: String,
    is_shell: bool,
    folder: PathBuf,
    disk: Disk,
    environment: Environment,
    facts: Facts,
    policy: Policy,
    line: Vec<u8>,
    /// Whether keys were typed that change the line in a way that is not followed.
    is_unknown: bool,
}

impl LineFilter {
    /// Creates a filter for the output of a shell.
    pub fn new(environment: &Environment, name: &str, folder: &Path) -> Self {
        let disk = Disk::real();
        let project = Project::load(&disk, environment, folder, &ProjectOverrides::default());
        let root = project.map_or_else(|_| folder.to_owned(), |project| project.roots.tree);
        let user = Homes::find(environment)
            .ok()
            .map(|homes| homes.cake_config());
        let config = GuardConfig::load(&disk, user.as_deref(), &[&root]);
        Self {
            name: name.to_owned(),
            is_shell: SHELLS.contains(&name),
            folder: folder.to_owned(),
            environment: environment.clone(),
            facts: facts(&disk, environment, Some(folder), Some(&root)),
            policy: config.policy(Vec::new()),
            disk,
            line: Vec::new(),
            is_unknown: false,
        }
    }

    /// Returns why a line must not be sent, if so.
    fn refusal(&self, terminal: TerminalState) -> Option<String> {
        let text = std::str::from_utf8(&self.line).ok()?.trim();
        if text.is_empty() || self.is_unknown {
            return None;
        }
        if !self.is_shell {
            return (text == "/clear")
                .then(|| may_clear(&self.name, &self.folder))
                .flatten();
        }
        // What a program in the foreground reads is no command line.
        if !terminal.is_program_in_foreground {
            return None;
        }
        let analysis = CommandAnalysis::of(text, &self.facts);
        let mut verdict = analysis.verdict(&self.policy);
        if verdict.decision != Decision::Allow
            && let Some(look) = look(&self.disk, &self.environment, &analysis, LOOK)
        {
            verdict = analysis.over(look.facts).verdict(&self.policy);
        }
        if verdict.decision == Decision::Allow {
            return None;
        }
        let reason = verdict.reason.unwrap_or_default();
        let alternative = verdict
            .alternative
            .map(|alternative| format!("; try `{alternative}`"))
            .unwrap_or_default();
        Some(format!("{reason}{alternative}"))
    }

    fn key(&mut self, key: u8, terminal: TerminalState, reply: &mut Reply) {
        match key {
            b'\r' | b'\n' => {
                if let Some(reason) = self.refusal(terminal) {
                    reply.send(CLEAR_LINE);
                    let line = format!("\r\ncallosum: not run: {}\r\n", on_one_line(&reason));
                    reply.show(line.as_bytes());
                } else {
                    reply.send(&[key]);
                }
                self.line.clear();
                self.is_unknown = false;
                return;
            }
            0x7f | 0x08 => {
                // One character, however many bytes it has.
                while let Some(byte) = self.line.pop() {
                    if byte & 0xc0 != 0x80 {
                        break;
                    }
                }
            }
            key if EMPTYING.contains(&key) => {
                self.line.clear();
                self.is_unknown = false;
            }
            // Tab completes, and sequences recall and move.
            0x00..=0x1f => self.is_unknown = true,
            _ if self.line.len() < LONGEST => self.line.push(key),
            _ => self.is_unknown = true,
        }
        reply.send(&[key]);
    }
}

impl InputFilter for LineFilter {
    fn input(&mut self, bytes: &[u8], terminal: TerminalState, reply: &mut Reply) {
        // A password is neither kept nor judged.
        if terminal.is_collecting_lines && !terminal.is_echoing {
            self.line.clear();
            reply.send(bytes);
            return;
        }
        for key in bytes {
            self.key(*key, terminal, reply);
        }
    }
}
