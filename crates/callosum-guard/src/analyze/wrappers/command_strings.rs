//! Programs to which a command is a text among others: operands, options, files, what is typed.

use super::{MAX_ITEMS, joined};
use crate::{
    analyze::{
        evaluator::Evaluator,
        value::{Arg, Value},
        wrapper_table::first_operand,
    },
    generated_sql,
};

impl Evaluator<'_> {
    /// Follows programs whose operands are texts for a shell.
    pub(super) fn texts(&mut self, name: &str, words: &[Arg]) -> Value {
        const TAKES: &str = "-n --interval -w --warmup -r --runs -m -M --export-json --export-markdown -p --prepare -s --setup -c --cleanup -L -P -N -e --ext --watch -i --ignore --names -d --delay -g --glob";
        for (at, word) in words.iter().enumerate() {
            if matches!(
                word.text.as_str(),
                "-x" | "--exec" | "-p" | "--prepare" | "-s" | "--setup" | "-c" | "--cleanup"
            ) && let Some(text) = words.get(at + 1)
            {
                let text = text.text.clone();
                self.nested(name, &text, None);
            }
        }
        let at = first_operand(words, 1, TAKES);
        let operands = words.get(at..).unwrap_or_default();
        for operand in operands {
            // To these each of them is one.
            if operand.text.contains(' ') || matches!(name, "hyperfine" | "concurrently") {
                let text = operand.text.clone();
                self.nested(name, &text, None);
            }
        }
        Value::unknown()
    }

    /// Follows `watch`, which passes the words behind its options to a shell, or runs them itself
    /// with `-x`.
    pub(super) fn watch(&mut self, words: &[Arg]) -> Value {
        let at = first_operand(words, 1, "-n --interval -q --equexit").min(words.len());
        let (own, run) = words.split_at(at);
        let runs_itself = own.iter().any(|word| {
            let text = word.text.as_str();
            text == "--exec"
                || !text.starts_with("--") && text.starts_with('-') && text.contains('x')
        });
        if runs_itself {
            return self.inner("watch -x", run, None);
        }
        self.nested("watch", &joined(run).text, None)
    }

    pub(super) fn multiplexer(&mut self, name: &str, words: &[Arg]) -> Value {
        if name != "screen"
            && let Some(text) = given_to_shell(words)
        {
            let text = text.to_owned();
            return self.nested(name, &text, None);
        }
        let verb = words.iter().position(|word| {
            matches!(
                word.text.as_str(),
                "send-keys"
                    | "send"
                    | "new-session"
                    | "new"
                    | "new-window"
                    | "neww"
                    | "split-window"
                    | "splitw"
                    | "run-shell"
                    | "run"
                    | "respawn-pane"
                    | "display-popup"
                    | "popup"
                    | "if-shell"
                    | "stuff"
                    | "-X"
                    | "pipe-pane"
            )
        });
        // Words behind the options of `screen` belong to another program.
        let own = first_operand(words, 1, "-S -t -p -c -s -T -e -h -L");
        let verb = verb.filter(|verb| name != "screen" || *verb <= own);
        let from = match verb {
            Some(verb) => verb + 1,
            None if name == "screen" => 1,
            None => return Value::unknown(),
        };
        let at = match verb {
            Some(verb) if name != "screen" => {
                first_operand(words, from, taken_by(&words[verb].text))
            }
            _ => first_operand(words, from, "-S -t -p -c -s -T"),
        };
        let types = verb.is_some_and(|at| {
            let verb = words[at].text.as_str();
            verb.starts_with("send") || matches!(verb, "stuff" | "-X")
        });
        // Several words are run as they are, without a shell.
        if !types && words.len() > at + 1 {
            return self.inner(name, &words[at..], None);
        }
        let mut text = String::new();
        for word in words.get(at..).unwrap_or_default() {
            match word.text.as_str() {
                "Enter" | "C-m" | "KPEnter" | "C-j" => text.push('\n'),
                "Space" => text.push(' '),
                "stuff" => {}
                other => {
                    let typed = other
                        .replace("\\n", "\n")
                        .replace("\\r", "\n")
                        .replace("^M", "\n");
                    if !text.is_empty()
                        && !text.ends_with('\n')
                        && verb.is_none_or(|at| !words[at].text.starts_with("send"))
                    {
                        text.push(' ');
                    }
                    text.push_str(&typed);
                }
            }
        }
        self.nested(name, &text, None)
    }

    pub(super) fn crontab(&mut self, input: Option<&Value>) -> Value {
        for line in input
            .map_or("", |input| input.text.as_str())
            .lines()
            .take(MAX_ITEMS)
        {
            let line = line.trim();
            let fields = if line.starts_with('@') { 1 } else { 5 };
            let command: Vec<&str> = line.split_whitespace().skip(fields).collect();
            let text = command.join(" ");
            self.nested("crontab", &text, None);
        }
        Value::default()
    }

    /// Follows programs with commands of their own, some of them with a way to a shell.
    pub(super) fn escapes(&mut self, name: &str, words: &[Arg], input: Option<&Value>) -> Value {
        // A file of statements that was written before is as if it came in.
        if let Some([_, file]) = words
            .array_windows()
            .find(|[option, _]| matches!(option.text.as_str(), "-f" | "--file" | "-init"))
        {
            let content = self.content(file);
            if content.is_known()
                && let Some(call) = self.found.calls.last_mut()
            {
                call.input = Some(content);
            }
        }
        let read = words
            .iter()
            .find_map(|word| word.text.strip_prefix(".read "));
        if let Some(file) = read {
            let content = self.content(&Arg::plain(file.trim()));
            if content.is_known()
                && let Some(call) = self.found.calls.last_mut()
            {
                call.input = Some(content);
            }
        }
        let mut texts: Vec<String> = words.iter().skip(1).map(|word| word.text.clone()).collect();
        texts.extend(input.map(|input| input.text.clone()));
        for text in texts.iter().flat_map(|text| text.lines()).take(64) {
            let text = text.trim_start_matches(['+', ':']).trim();
            // `copy t from program 'ls'`
            let piped = text
                .to_ascii_lowercase()
                .find(" program '")
                .filter(|_| name == "psql")
                .and_then(|at| text.get(at + " program '".len()..)?.split('\'').next());
            if let Some(piped) = piped {
                let piped = piped.to_owned();
                self.nested(name, &piped, None);
            }
            for file in written_by_statement(text) {
                let tee = [Arg::plain("tee"), Arg::plain(file)];
                self.inner(name, &tee, Some(&Value::unknown()));
            }
            // `:call delete("x", "rf")`
            let deleted = text
                .strip_prefix("call delete(")
                .and_then(|rest| rest.split(['"', '\'']).nth(1));
            if let Some(file) = deleted {
                let run = ["rm", "-rf", file].map(Arg::plain);
                self.inner(name, &run, None);
            }
            let shell = text
                .strip_prefix('!')
                .or_else(|| text.strip_prefix("\\!"))
                .or_else(|| text.strip_prefix(".shell "))
                .or_else(|| text.strip_prefix(".system "))
                .or_else(|| text.strip_prefix("shell ").filter(|_| name == "gdb"))
                .or_else(|| text.strip_prefix("system ").filter(|_| name == "mysql"))
                .or_else(|| text.strip_prefix("silent !"))
                .or_else(|| text.strip_prefix("spawn ").filter(|_| name == "expect"))
                .or_else(|| text.strip_prefix("%!"))
                .or_else(|| text.strip_prefix("r !"))
                .or_else(|| {
                    let call = ["system(", "os.execute("];
                    let (at, call) = call
                        .iter()
                        .find_map(|call| Some((text.find(call)?, call)))?;
                    Some(text[at + call.len()..].trim_matches(['"', '\'', ')', ';']))
                });
            if let Some(shell) = shell {
                let shell = shell
                    .split(';')
                    .next()
                    .map_or(shell, |first| if name == "expect" { first } else { shell });
                let shell = shell.to_owned();
                let answers = name == "expect" && texts.iter().any(|text| text.contains("send "));
                let answer = answers.then(Value::filled);
                self.nested(name, &shell, answer.as_ref());
            }
        }
        if !matches!(name, "psql" | "mysql" | "sqlite3" | "mariadb" | "duckdb") {
            return Value::unknown();
        }
        // What it prints may be statements for another.
        let made: String = texts
            .iter()
            .filter_map(|text| generated_sql::made_by(text))
            .collect();
        if made.is_empty() {
            Value::unknown()
        } else {
            Value::known(made)
        }
    }

    /// Follows aliases of command lines for code hosts; `None` if the command sets no alias.
    pub(super) fn host_alias(&mut self, name: &str, words: &[Arg]) -> Option<Value> {
        if !matches!(name, "gh" | "glab" | "hub") {
            return None;
        }
        let at = first_operand(words, 1, "");
        let is = |at: usize, wanted: &str| words.get(at).is_some_and(|word| word.text == wanted);
        if !is(at, "alias") || !is(at + 1, "set") {
            return None;
        }
        let given = words.get(at + 2..).unwrap_or_default();
        let mut operands = given.iter().filter(|word| !word.text.starts_with('-'));
        let text = &operands.nth(1)?.text;
        let is_shell = given
            .iter()
            .any(|word| matches!(word.text.as_str(), "-s" | "--shell"));
        let text = match text.strip_prefix('!') {
            Some(text) => text.to_owned(),
            None if is_shell => text.clone(),
            None => format!("{name} {text}"),
        };
        Some(self.nested(&format!("{name} alias"), &text, None))
    }

    /// Options whose value is a command.
    pub(super) fn attached(&mut self, name: &str, words: &[Arg], input: Option<&Value>) -> Value {
        for (at, word) in words.iter().enumerate().skip(1) {
            let text = word.text.as_str();
            let next = || words.get(at + 1).map(|word| word.text.clone());
            let given = match name {
                "tar" | "bsdtar" | "gtar" => text
                    .strip_prefix("--checkpoint-action=exec=")
                    .or_else(|| {
                        let action = words.get(at - 1)?.text == "--checkpoint-action";
                        text.strip_prefix("exec=").filter(|_| action)
                    })
                    .or_else(|| text.strip_prefix("--to-command="))
                    .or_else(|| text.strip_prefix("--use-compress-program="))
                    .or_else(|| text.strip_prefix("--rsh-command="))
                    .map(str::to_owned)
                    .or_else(|| (matches!(text, "-I" | "--to-command")).then(next)?),
                "rsync" => text
                    .strip_prefix("--rsh=")
                    .or_else(|| text.strip_prefix("--rsync-path="))
                    .map(str::to_owned)
                    .or_else(|| (text == "-e").then(next)?),
                "split" | "gsplit" => text
                    .strip_prefix("--filter=")
                    .map(str::to_owned)
                    .or_else(|| (text == "--filter").then(next)?),
                "zip" => (matches!(text, "-TT" | "--unzip-command"))
                    .then(next)
                    .flatten(),
                "nix-shell" | "nix" => (matches!(text, "--run" | "--command" | "-c"))
                    .then(next)
                    .flatten(),
                "scp" => (text == "-S").then(next).flatten(),
                "ansible" => (matches!(text, "-a" | "--args"))
                    .then(next)
                    .flatten()
                    .map(|given| deleted_by_ansible(words, &given).unwrap_or(given)),
                "make" | "gmake" => {
                    let shell = text.find("$(shell ").map(|at| &text[at + 8..]);
                    let shell = shell.map(|text| text.trim_end_matches(')').to_owned());
                    shell.or_else(|| program_of_make(text).map(str::to_owned))
                }
                _ => None,
            };
            if let Some(given) = given {
                self.nested(name, &given, None);
            }
        }
        if name == "scp" {
            self.proxied(words);
        }
        self.tasks(name, words, input);
        self.output_of(name, words, input)
    }
}

/// Returns the deletion that Ansible's `file` makes of a path with `state=absent`.
fn deleted_by_ansible(words: &[Arg], given: &str) -> Option<String> {
    let module = words.iter().enumerate().find_map(|(at, word)| {
        let text = word.text.as_str();
        match text
            .strip_prefix("--module-name=")
            .or_else(|| text.strip_prefix("-m"))
        {
            Some("") => words.get(at + 1).map(|word| word.text.as_str()),
            None if text == "--module-name" => words.get(at + 1).map(|word| word.text.as_str()),
            named => named,
        }
    });
    if !matches!(module, Some("file" | "ansible.builtin.file")) {
        return None;
    }
    let fields = || given.split_whitespace();
    let path = fields().find_map(|field| {
        let names = ["path=", "dest=", "name="];
        names.iter().find_map(|name| field.strip_prefix(name))
    })?;
    let is_absent = fields().any(|field| field == "state=absent");
    is_absent.then(|| format!("rm -rf {path}"))
}

/// The files that a statement of a database writes: `writefile('a', …)`, `copy t to 'a'`, `into outfile 'a'`.
fn written_by_statement(text: &str) -> Vec<String> {
    let lower = text.to_ascii_lowercase();
    if lower.len() != text.len() {
        return Vec::new();
    }
    let quoted = |at: usize| {
        let rest = text[at..].trim_start();
        let inner = rest.strip_prefix('\'')?;
        inner.split('\'').next().map(str::to_owned)
    };
    let mut found: Vec<String> = Vec::new();
    for before in ["writefile(", "into outfile ", "into dumpfile "] {
        let places = lower.match_indices(before);
        found.extend(places.filter_map(|(at, before)| quoted(at + before.len())));
    }
    if let Some(at) = lower.find("copy ") {
        let places = lower[at..].match_indices(" to ");
        found.extend(places.filter_map(|(to, word)| quoted(at + to + word.len())));
    }
    found
}

/// The program that `make CC=…` has it run in the place of another.
fn program_of_make(word: &str) -> Option<&str> {
    let (name, value) = word.split_once('=')?;
    let is_program = matches!(
        name,
        "SHELL"
            | "CC"
            | "CXX"
            | "LD"
            | "AR"
            | "AS"
            | "CPP"
            | "RM"
            | "INSTALL"
            | "MAKE"
            | "PYTHON"
            | "NODE"
    );
    (is_program && value.contains(' ')).then_some(value)
}

/// Returns the options of a command of `tmux` that take the next word.
fn taken_by(verb: &str) -> &'static str {
    match verb {
        "new-session" | "new" => "-c -e -f -F -n -s -t -x -y",
        "new-window" | "neww" => "-c -e -F -n -t",
        "split-window" | "splitw" => "-c -e -F -l -p -t",
        "respawn-pane" => "-c -e -t",
        "run-shell" | "run" => "-c -d -t",
        "display-popup" | "popup" => "-b -c -d -e -h -s -S -t -T -w -x -y",
        "send-keys" | "send" => "-c -N -t",
        _ => "-t",
    }
}

/// Returns the text that `tmux -c TEXT` gives to a shell, if `-c` comes before any command of its own.
fn given_to_shell(words: &[Arg]) -> Option<&str> {
    const TAKES: &str = "-c -f -L -S -T";
    let end = first_operand(words, 1, TAKES);
    let own = words.get(1..end.min(words.len()))?;
    let at = own.iter().position(|word| {
        let letters = word.text.strip_prefix('-').unwrap_or("");
        letters.ends_with('c') && letters.bytes().all(|letter| b"2CDdlNuvc".contains(&letter))
    })?;
    own.get(at + 1).map(|word| word.text.as_str())
}

#[cfg(test)]
mod tests {
    use crate::{Decision, Facts, Policy, decide};

    /// CAKE-SHIM-1: what a terminal multiplexer runs is found behind options that are joined.
    #[test]
    fn what_tmux_runs_is_found_behind_joined_options() {
        let facts = Facts::of_a_project();
        for command in [
            "tmux new-session -ds work 'rm -rf /'",
            "tmux new -dc /tmp 'rm -rf /'",
            "tmux new-session -dAs work rm -rf /",
            "tmux neww -dn logs 'rm -rf /'",
            "tmux split-window -h 'rm -rf /'",
            "tmux split-window -dhc /tmp 'rm -rf /'",
            "tmux send-keys -lt 0 'rm -rf /'",
            "tmux run-shell -bt 0 'rm -rf /'",
            "tmux display-popup -E 'rm -rf /'",
            "tmux -2c 'rm -rf /'",
            "tmux -dc 'rm -rf /'",
        ] {
            let decision = decide(command, &facts, &Policy::default()).decision;
            assert_eq!(decision, Decision::Block, "{command}");
        }
        for command in [
            "tmux new-session -ds rm",
            "tmux new -dc / 'npm run dev'",
            "tmux -f conf attach -t 0",
            "tmux kill-session -t work",
        ] {
            let decision = decide(command, &facts, &Policy::default()).decision;
            assert_eq!(decision, Decision::Allow, "{command}");
        }
    }
}
