//! [`Program`]: identity of a coding agent's process, from its command line.
//!
//! A pane shows `node` or `bash` for clients that a script starts, so the processes below its shell
//! are looked at.

use std::collections::HashMap;

use callosum_host::process::table::{self, ProcessEntry};

/// A coding agent that people run in a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Program {
    /// Claude Code.
    Claude,
    /// Codex CLI.
    Codex,
    /// Gemini CLI.
    Gemini,
}

/// Processes below a pane that are looked at. A test suite may have thousands.
const MOST_BELOW: usize = 200;

impl Program {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Claude, Self::Codex, Self::Gemini];

    /// Returns the name of the client in events and settings, such as `claude-code`.
    pub const fn runtime(self) -> &'static str {
        match self {
            Self::Claude => "claude-code",
            Self::Codex => "codex-cli",
            Self::Gemini => "gemini-cli",
        }
    }

    /// Returns the name of the agent in the mesh: `claude-code`, `codex`, `gemini-cli`.
    pub const fn agent(self) -> &'static str {
        match self {
            Self::Claude => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini-cli",
        }
    }

    /// Returns the short name of Seed CALC §4: `claude`, `codex`, `gemini`.
    pub const fn short(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
        }
    }

    /// Returns the program that a command line runs in a terminal, if it is one of these.
    ///
    /// Runs without a terminal of their own (`claude -p`, `codex exec`, servers) are not.
    pub fn of(arguments: &[String]) -> Option<Self> {
        let (first, rest) = arguments.split_first()?;
        let (program, rest) = match base(first) {
            // A script is the first argument that is no option of the interpreter.
            "node" | "bun" | "deno" => {
                let at = rest.iter().position(|word| !word.starts_with('-'))?;
                (Self::of_script(&rest[at])?, &rest[at + 1..])
            }
            name => (Self::of_name(name)?, rest),
        };
        (!program.runs_without_terminal(rest)).then_some(program)
    }

    fn of_name(name: &str) -> Option<Self> {
        match name {
            "claude" | "claude.exe" => Some(Self::Claude),
            "codex" => Some(Self::Codex),
            "gemini" => Some(Self::Gemini),
            // Codex's packages name the program for the platform: `codex-x86_64-unknown-linux-musl`.
            name if name.starts_with("codex-") && name.contains("linux") => Some(Self::Codex),
            name if name.starts_with("codex-") && name.contains("apple") => Some(Self::Codex),
            _ => None,
        }
    }

    fn of_script(path: &str) -> Option<Self> {
        let packages = [
            ("@anthropic-ai/claude-code", Self::Claude),
            ("@openai/codex", Self::Codex),
            ("@google/gemini-cli", Self::Gemini),
        ];
        let by_package = packages.iter().find(|(package, _)| path.contains(package));
        if let Some((_, program)) = by_package {
            return Some(*program);
        }
        match base(path) {
            "gemini.js" => Some(Self::Gemini),
            name => Self::of_name(name.trim_end_matches(".js")),
        }
    }

    fn runs_without_terminal(self, arguments: &[String]) -> bool {
        let has = |options: &[&str]| {
            let mut before_text = arguments.iter().take_while(|word| *word != "--");
            before_text.any(|word| options.contains(&word.as_str()))
        };
        let command = arguments.iter().find(|word| !word.starts_with('-'));
        let command = command.map_or("", String::as_str);
        match self {
            Self::Claude => has(&["-p", "--print"]) || matches!(command, "mcp" | "daemon"),
            Self::Codex => matches!(
                command,
                "exec" | "e" | "app-server" | "mcp" | "mcp-server" | "proto" | "queue"
            ),
            Self::Gemini => has(&["--acp", "--experimental-acp"]),
        }
    }
}

/// A client that runs in a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Running {
    /// The program.
    pub program: Program,
    /// Its process.
    pub process: ProcessEntry,
}

/// The processes of the machine, by parent.
#[derive(Debug, Default)]
pub struct Processes {
    by_pid: HashMap<u32, ProcessEntry>,
    children: HashMap<u32, Vec<u32>>,
}

impl Processes {
    /// Reads the table. Costs about 10 µs for each process.
    pub fn read() -> Self {
        Self::of(table::table())
    }

    /// Returns a table of these processes.
    pub fn of(entries: Vec<ProcessEntry>) -> Self {
        let mut processes = Self::default();
        for entry in entries {
            processes
                .children
                .entry(entry.parent)
                .or_default()
                .push(entry.pid);
            processes.by_pid.insert(entry.pid, entry);
        }
        processes
    }

    /// Returns a process by its id.
    pub fn get(&self, pid: u32) -> Option<&ProcessEntry> {
        self.by_pid.get(&pid)
    }

    /// Returns the client among a pane's process and those below it, the one nearest to the pane.
    ///
    /// `arguments` returns the command line of a process. A client that another client started, such as an
    /// executor, is below it and is not returned.
    pub fn client_below(
        &self,
        pid: u32,
        arguments: impl Fn(u32) -> Vec<String>,
    ) -> Option<Running> {
        let mut waiting = std::collections::VecDeque::from([pid]);
        for _ in 0..MOST_BELOW {
            let pid = waiting.pop_front()?;
            let Some(process) = self.by_pid.get(&pid) else {
                continue;
            };
            let is_candidate = !process.has_ended && process.tty.is_some();
            if is_candidate && let Some(program) = Program::of(&arguments(pid)) {
                let process = self.deepest_same(program, process, &arguments).clone();
                return Some(Running { program, process });
            }
            waiting.extend(self.children.get(&pid).into_iter().flatten());
        }
        None
    }

    /// Returns every client of this user that has a terminal, the outermost of each family.
    pub fn clients(&self, arguments: impl Fn(u32) -> Vec<String>) -> Vec<Running> {
        let mut found: Vec<Running> = Vec::new();
        let mut with_terminal: Vec<&ProcessEntry> = self
            .by_pid
            .values()
            .filter(|process| process.tty.is_some() && !process.has_ended)
            .collect();
        with_terminal.sort_by_key(|process| (process.started, process.pid));
        for process in with_terminal {
            if found
                .iter()
                .any(|above| self.is_below(process.pid, above.process.pid))
            {
                continue;
            }
            if let Some(program) = Program::of(&arguments(process.pid)) {
                let process = self.deepest_same(program, process, &arguments).clone();
                let is_known = found.iter().any(|known| known.process.pid == process.pid);
                if !is_known {
                    found.push(Running { program, process });
                }
            }
        }
        found
    }

    /// Follows launchers: npm's script starts the native program, Gemini starts itself again.
    fn deepest_same<'p>(
        &'p self,
        program: Program,
        process: &'p ProcessEntry,
        arguments: &impl Fn(u32) -> Vec<String>,
    ) -> &'p ProcessEntry {
        let mut found = process;
        for _ in 0..4 {
            let children = self.children.get(&found.pid).into_iter().flatten();
            let same = children
                .filter_map(|pid| self.by_pid.get(pid))
                .find(|child| {
                    child.tty == found.tty
                        && child.group == found.group
                        && is_started_by(&arguments(found.pid), &arguments(child.pid), program)
                });
            match same {
                Some(child) => found = child,
                None => break,
            }
        }
        found
    }

    /// Whether a process descends from another, or is it.
    pub fn is_below(&self, pid: u32, above: u32) -> bool {
        let mut pid = pid;
        for _ in 0..64 {
            if pid == above {
                return true;
            }
            match self.by_pid.get(&pid) {
                Some(process) if process.parent != 0 => pid = process.parent,
                _ => return false,
            }
        }
        false
    }
}

/// Whether a command line is of a program that a launcher started. A process between fork and exec has the command line
/// of its parent, and is none.
fn is_started_by(launcher: &[String], child: &[String], program: Program) -> bool {
    launcher != child && Program::of(child) == Some(program)
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn clients_are_known_by_their_command_lines() {
        let program = |line: &str| Program::of(&words(line));
        assert_eq!(program("claude --resume"), Some(Program::Claude));
        assert_eq!(program("/opt/bin/claude"), Some(Program::Claude));
        assert_eq!(
            program("node /usr/lib/node_modules/@anthropic-ai/claude-code/cli.js -c"),
            Some(Program::Claude)
        );
        assert_eq!(
            program("node --no-warnings /n/@openai/codex/bin/codex.js"),
            Some(Program::Codex)
        );
        assert_eq!(
            program("/v/codex-x86_64-unknown-linux-musl"),
            Some(Program::Codex)
        );
        assert_eq!(
            program("node /usr/bin/gemini -m flash"),
            Some(Program::Gemini)
        );
        assert_eq!(program("node /n/bundle/gemini.js"), Some(Program::Gemini));
    }

    #[test]
    fn runs_without_a_terminal_are_no_panes() {
        let program = |line: &str| Program::of(&words(line));
        assert_eq!(program("claude -p hello"), None);
        assert_eq!(program("codex exec --json"), None);
        assert_eq!(program("codex app-server"), None);
        assert_eq!(program("gemini --acp"), None);
        assert_eq!(program("vim claude"), None);
        assert_eq!(program("bash"), None);
        assert_eq!(program("node"), None);
        assert_eq!(Program::of(&[]), None);
        assert_eq!(
            program("claude -- -p"),
            Some(Program::Claude),
            "a prompt is no option"
        );
    }

    fn process(pid: u32, parent: u32, tty: &str) -> ProcessEntry {
        ProcessEntry {
            pid,
            parent,
            group: 10,
            foreground: Some(10),
            tty: (!tty.is_empty()).then(|| tty.to_owned()),
            started: u64::from(pid),
            name: String::new(),
            has_ended: false,
        }
    }

    fn line_of(pid: u32) -> Vec<String> {
        words(match pid {
            10 => "node /n/bin/gemini",
            11 | 13 => "node --max-old-space-size=8192 /n/bin/gemini",
            12 | 20 => "claude",
            _ => "bash",
        })
    }

    #[test]
    fn the_process_that_a_launcher_started_is_the_client() {
        let processes = Processes::of(vec![
            process(5, 1, "/dev/pts/1"),
            process(10, 5, "/dev/pts/1"),
            process(11, 10, "/dev/pts/1"),
            process(12, 11, "/dev/pts/1"),
            // Between fork and exec.
            process(13, 11, "/dev/pts/1"),
            process(20, 1, "/dev/pts/2"),
            process(30, 1, ""),
        ]);
        let found = processes.client_below(5, line_of).unwrap();
        assert_eq!((found.program, found.process.pid), (Program::Gemini, 11));
        let all: Vec<u32> = processes
            .clients(line_of)
            .iter()
            .map(|one| one.process.pid)
            .collect();
        assert_eq!(all, [11, 20], "what a client started is part of it");
        assert_eq!(processes.client_below(30, line_of), None);
        assert!(processes.is_below(12, 5) && !processes.is_below(12, 20));
    }

    #[test]
    fn a_listing_that_changed_while_it_was_read_ends() {
        let processes = Processes::of(vec![
            process(7, 8, "/dev/pts/1"),
            process(8, 7, "/dev/pts/1"),
        ]);
        assert_eq!(processes.client_below(7, line_of), None);
        assert!(!processes.is_below(7, 99));
    }
}
