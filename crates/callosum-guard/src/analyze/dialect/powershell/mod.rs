//! PowerShell: cmdlets under the names of what they do elsewhere, blocks, objects as words.

mod piece;

use std::fmt::Write as _;

use self::piece::{Piece, pieces};

/// A text for PowerShell in the words of bash.
pub(in crate::analyze) fn powershell(text: &str) -> String {
    let mut reader = Reader {
        pieces: pieces(text),
        at: 0,
        depth: 0,
    };
    let mut out = String::new();
    while reader.at < reader.pieces.len() {
        reader.statements(&mut out);
        // A bracket that closes nothing.
        reader.at += 1;
    }
    out
}

/// Cmdlets and their aliases, by the bash command that does the same.
const NAMES: &[(&str, &[&str])] = &[
    (
        "Remove-Item",
        &["remove-item", "ri", "rm", "del", "erase", "rd", "rmdir"],
    ),
    ("Get-ChildItem", &["get-childitem", "gci", "ls", "dir"]),
    ("cat", &["get-content", "gc", "cat", "type"]),
    ("cp", &["copy-item", "cpi", "copy", "cp"]),
    (
        "mv",
        &["move-item", "mi", "move", "mv", "rename-item", "ren", "rni"],
    ),
    (
        "cd",
        &["set-location", "sl", "cd", "chdir", "push-location"],
    ),
    (
        "tee",
        &[
            "set-content",
            "sc",
            "add-content",
            "ac",
            "out-file",
            "clear-content",
            "clc",
            "tee-object",
        ],
    ),
    ("echo", &["write-output", "write-host", "echo", "write"]),
    ("eval", &["invoke-expression", "iex"]),
    (
        "curl",
        &[
            "invoke-webrequest",
            "iwr",
            "invoke-restmethod",
            "irm",
            "curl",
            "wget",
        ],
    ),
    ("Get-Process", &["get-process", "gps", "ps"]),
    ("Stop-Process", &["stop-process", "spps", "kill"]),
    ("", &["start-process", "saps", "start"]),
];

/// Cmdlets that pass on what they are given, changed or not.
const PASSING: [&str; 16] = [
    "where-object",
    "where",
    "?",
    "select-object",
    "select",
    "sort-object",
    "sort",
    "select-string",
    "sls",
    "out-string",
    "out-null",
    "measure-object",
    "format-table",
    "ft",
    "convertfrom-json",
    "convertto-json",
];

/// Limit on the nesting of blocks.
const MAX_DEPTH: usize = 24;

struct Reader {
    pieces: Vec<Piece>,
    at: usize,
    depth: usize,
}

impl Reader {
    fn sign(&self) -> Option<&'static str> {
        match self.pieces.get(self.at) {
            Some(Piece::Sign(sign)) => Some(sign),
            _ => None,
        }
    }

    fn word(&self) -> Option<&str> {
        match self.pieces.get(self.at) {
            Some(Piece::Word(word)) => Some(word),
            _ => None,
        }
    }

    /// Statements up to a bracket that closes.
    fn statements(&mut self, out: &mut String) {
        while self.at < self.pieces.len() && !matches!(self.sign(), Some(")" | "}")) {
            let before = self.at;
            self.statement(out);
            if self.at == before {
                self.at += 1;
            }
        }
    }

    /// Returns the contents of the brackets that open here.
    fn inner(&mut self) -> String {
        let mut out = String::new();
        self.at += 1;
        if self.depth >= MAX_DEPTH {
            // Too deep to read: leave brackets open, so that the text does not pass for understood.
            self.at = self.pieces.len();
            return "{ ".repeat(MAX_DEPTH * 2);
        }
        self.depth += 1;
        self.statements(&mut out);
        self.depth -= 1;
        self.at += 1;
        out
    }

    fn statement(&mut self, out: &mut String) {
        match self.sign() {
            Some(";" | "\n" | "&" | "&&" | "||" | "|" | "=") => {
                self.at += 1;
                return;
            }
            Some("{") => {
                let inner = self.inner();
                let _ = write!(out, "{{ {inner}\n}}\n");
                return;
            }
            _ => {}
        }
        let keyword = self.word().unwrap_or("").to_ascii_lowercase();
        match keyword.as_str() {
            "if" | "elseif" | "while" | "until" | "switch" | "param" | "catch" | "trap" => {
                self.at += 1;
                while self.word().is_some_and(|word| word.starts_with(['-', '['])) {
                    self.at += 1;
                }
                if self.sign() == Some("(") {
                    let inner = self.inner();
                    out.push_str(&inner);
                    out.push('\n');
                }
            }
            "else" | "try" | "finally" | "do" | "begin" | "process" | "end" | "return" | "." => {
                self.at += 1;
            }
            "foreach" | "for" => self.every(out),
            "function" | "filter" => {
                self.at += 1;
                let name = self.word().unwrap_or("unnamed").to_owned();
                self.at += 1;
                if self.sign() == Some("(") {
                    self.inner();
                }
                if self.sign() == Some("{") {
                    let body = self.inner();
                    let _ = write!(out, "{name}() {{ :\n{body}\n}}\n");
                }
            }
            _ if keyword.starts_with('$')
                && self.pieces.get(self.at + 1) == Some(&Piece::Sign("=")) =>
            {
                let name = keyword.trim_matches(['$', '{', '}', '"']).to_owned();
                self.at += 2;
                self.assigned(&name, out);
            }
            _ => self.pipeline(out),
        }
    }

    /// `foreach ($name in …) { … }`
    fn every(&mut self, out: &mut String) {
        self.at += 1;
        if self.sign() != Some("(") {
            return;
        }
        let name = match self.pieces.get(self.at + 1..self.at + 3) {
            Some([Piece::Word(name), Piece::Word(within)]) if within.eq_ignore_ascii_case("in") => {
                name.trim_matches(['$', '"']).to_owned()
            }
            _ => {
                let inner = self.inner();
                out.push_str(&inner);
                out.push('\n');
                return;
            }
        };
        self.at += 2;
        let from = self.value_or_command();
        if self.sign() == Some("{") {
            let body = self.inner();
            let _ = write!(out, "for {name} in {from}\ndo {body}\ndone\n");
        }
    }

    /// Returns the text from the piece here up to a closing bracket: words, or a command's output.
    fn value_or_command(&mut self) -> String {
        let is_value = self
            .pieces
            .get(self.at + 1)
            .is_some_and(|piece| matches!(piece, Piece::Word(word) if is_value(word)));
        if !is_value {
            let inner = self.inner();
            return format!("$({inner})");
        }
        self.at += 1;
        let mut words = Vec::new();
        while let Some(word) = self.word() {
            words.push(word.to_owned());
            self.at += 1;
        }
        self.at += 1;
        words.join(" ")
    }

    fn assigned(&mut self, name: &str, out: &mut String) {
        let is_group = self.sign() == Some("(")
            && matches!(self.pieces.get(self.at + 1), Some(Piece::Word(word)) if is_value(word));
        self.at += usize::from(is_group);
        if self.word().is_some_and(is_value) {
            // `+` joins values into one; values without it are a list.
            let mut values: Vec<String> = Vec::new();
            let mut is_joined = false;
            while let Some(word) = self.word() {
                match values.last_mut() {
                    _ if word == "+" => {}
                    Some(last) if is_joined => last.push_str(word),
                    _ => values.push(word.to_owned()),
                }
                is_joined = word == "+";
                self.at += 1;
            }
            self.at += usize::from(is_group && self.sign() == Some(")"));
            let _ = match values.as_slice() {
                [value] => writeln!(out, "{name}={value}"),
                values => writeln!(out, "{name}=({})", values.join(" ")),
            };
            return;
        }
        let mut command = String::new();
        self.pipeline(&mut command);
        let _ = writeln!(out, "{name}=$({command})");
    }

    fn pipeline(&mut self, out: &mut String) {
        let mut piped = false;
        loop {
            self.command(piped, out);
            match self.sign() {
                Some("|") => {
                    self.at += 1;
                    while self.sign() == Some("\n") {
                        self.at += 1;
                    }
                    out.push_str(" | ");
                    piped = true;
                }
                Some(sign @ ("&&" | "||")) => {
                    self.at += 1;
                    let _ = write!(out, " {sign} ");
                    piped = false;
                }
                _ => break,
            }
        }
        out.push('\n');
    }

    fn command(&mut self, piped: bool, out: &mut String) {
        let mut blocks = String::new();
        let mut words: Vec<String> = Vec::new();
        loop {
            match self.pieces.get(self.at) {
                Some(Piece::Word(word)) => {
                    words.push(word.clone());
                    self.at += 1;
                }
                Some(Piece::Sign("(")) => {
                    let method = words.last().is_some_and(|word| word.contains("]::"));
                    let inner = self.inner();
                    let inner = inner.trim_end().to_owned();
                    if method {
                        words.extend(inner.split('\n').map(str::to_owned));
                    } else if is_value(&inner) {
                        words.push(inner);
                    } else {
                        words.push(format!("$({inner})"));
                    }
                }
                Some(Piece::Sign("{")) => {
                    blocks.push_str(&self.inner());
                    blocks.push('\n');
                }
                Some(Piece::Sign("&" | "=")) => self.at += 1,
                _ => break,
            }
        }
        let name = words.first().map(|word| word.to_ascii_lowercase());
        let name = name.as_deref().unwrap_or("");
        if piped && matches!(name, "%" | "foreach-object" | "foreach") {
            let _ = write!(out, "while read -r _; do :\n{blocks}done");
            return;
        }
        if PASSING.contains(&name) {
            out.push_str(&passed(name, &words, &blocks, out));
            return;
        }
        let known = NAMES
            .iter()
            .find(|(_, names)| names.contains(&name))
            .map(|(known, _)| *known);
        let mut rest = words.get(1..).unwrap_or_default().to_vec();
        match known {
            // The path has a named parameter or comes first.
            Some("tee") => {
                let path = named(&rest, &["-path", "-filepath", "-literalpath"])
                    .or_else(|| rest.iter().find(|word| !word.starts_with('-')).cloned());
                let _ = write!(out, "tee {}", path.unwrap_or_default());
            }
            Some("curl") => {
                for word in &mut rest {
                    let option = match word.to_ascii_lowercase().as_str() {
                        "-outfile" => "-o",
                        "-infile" => "-T",
                        "-body" => "-d",
                        "-uri" => "--url",
                        _ => continue,
                    };
                    option.clone_into(word);
                }
                rest.retain(|word| !word.to_ascii_lowercase().starts_with("-useb"));
                let _ = write!(out, "curl {}", rest.join(" "));
            }
            Some("cp" | "mv") => {
                rest.retain(|word| !word.starts_with('-'));
                let _ = write!(out, "{} {}", known.unwrap_or_default(), rest.join(" "));
            }
            Some("eval") if piped && rest.is_empty() => out.push_str("bash"),
            Some("Remove-Item") if piped => {
                let _ = write!(out, "xargs Remove-Item {}", rest.join(" "));
            }
            Some("") => {
                rest.retain(|word| !word.starts_with('-') || word.starts_with("--"));
                out.push_str(&rest.join(" "));
            }
            Some(known) => {
                let _ = write!(out, "{known} {}", rest.join(" "));
            }
            None if name.contains("]::") => {
                let does = if name.ends_with("delete") {
                    "rm -rf"
                } else if name.contains("write") || name.contains("create") {
                    "tee"
                } else {
                    ":"
                };
                let _ = write!(out, "{does} {}", rest.first().map_or("", String::as_str));
            }
            None => out.push_str(&words.join(" ")),
        }
        if !blocks.is_empty() {
            let _ = write!(out, "\n{{ {blocks}\n}}");
        }
    }
}

/// Translates a cmdlet that passes its input on; of processes, only those that match its condition.
fn passed(name: &str, words: &[String], blocks: &str, before: &str) -> String {
    let first = before.trim_end_matches([' ', '|']).rsplit(['\n', '|']);
    let are_processes = first
        .take(4)
        .any(|command| command.trim().starts_with("Get-Process"));
    if !are_processes || !matches!(name, "where-object" | "where" | "?") {
        return "cat".to_owned();
    }
    let texts = words.iter().skip(1).map(String::as_str);
    let texts: Vec<&str> = texts.chain(blocks.split_whitespace()).collect();
    let held = texts.array_windows().find(|[option, _]| {
        let option = option.to_ascii_lowercase();
        matches!(
            option.as_str(),
            "-eq" | "-ieq" | "-like" | "-match" | "-in" | "-contains"
        )
    });
    let held = held.map_or("picked", |[_, value]| *value);
    format!("grep -e {held}")
}

/// The value of an option that is written out.
fn named(words: &[String], names: &[&str]) -> Option<String> {
    words
        .array_windows()
        .find(|[option, _]| names.contains(&option.to_ascii_lowercase().as_str()))
        .map(|[_, value]| value.clone())
}

/// Whether a word is a value rather than the name of a command.
fn is_value(word: &str) -> bool {
    let begins = word.starts_with(['"', '\'', '$', '[', '@', '~', '/'])
        || word.starts_with(|first: char| first.is_ascii_digit());
    begins && !word.contains('\n') && !word.starts_with("$(")
}
