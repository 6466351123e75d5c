//! One-liners in other languages: what they would run, delete or write.
//!
//! No language is parsed. Names, strings and brackets are enough to see which strings reach a
//! function that runs or deletes something, also where they are joined from pieces or kept in a
//! variable first.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};

/// A language whose programs can be given in a command.
pub(super) struct Language {
    pub(super) name: &'static str,
    /// Its programs, as the beginning of their names.
    programs: &'static [&'static str],
    /// Options that are followed by a program.
    pub(super) flags: &'static [&'static str],
    /// Whether the first operand is a program.
    pub(super) first: bool,
    /// Whether `#` begins a comment.
    hash: bool,
    /// Whether backticks run something.
    backticks: bool,
}

/// The languages.
pub(super) const LANGUAGES: &[Language] = &[
    Language {
        name: "python -c",
        programs: &["python", "pypy", "ipython", "micropython"],
        flags: &["-c"],
        first: false,
        hash: true,
        backticks: false,
    },
    Language {
        name: "node -e",
        programs: &["node", "nodejs", "bun", "tsx", "ts-node", "qjs", "d8"],
        flags: &["-e", "-p", "--eval", "--print"],
        first: false,
        hash: false,
        backticks: false,
    },
    Language {
        name: "deno eval",
        programs: &["deno"],
        flags: &["eval"],
        first: false,
        hash: false,
        backticks: false,
    },
    Language {
        name: "perl -e",
        programs: &["perl"],
        flags: &["-e", "-E"],
        first: false,
        hash: true,
        backticks: true,
    },
    Language {
        name: "ruby -e",
        programs: &["ruby", "jruby"],
        flags: &["-e"],
        first: false,
        hash: true,
        backticks: true,
    },
    Language {
        name: "php -r",
        programs: &["php"],
        flags: &["-r", "--run"],
        first: false,
        hash: true,
        backticks: true,
    },
    Language {
        name: "lua -e",
        programs: &["lua", "luajit"],
        flags: &["-e"],
        first: false,
        hash: false,
        backticks: false,
    },
    Language {
        name: "awk",
        programs: &["awk", "gawk", "mawk", "nawk"],
        flags: &["--source"],
        first: true,
        hash: true,
        backticks: false,
    },
    Language {
        name: "osascript -e",
        programs: &["osascript"],
        flags: &["-e"],
        first: false,
        hash: true,
        backticks: false,
    },
    Language {
        name: "Rscript -e",
        programs: &["Rscript", "R"],
        flags: &["-e"],
        first: false,
        hash: true,
        backticks: false,
    },
    Language {
        name: "julia -e",
        programs: &["julia"],
        flags: &["-e"],
        first: false,
        hash: true,
        backticks: true,
    },
    Language {
        name: "tclsh",
        programs: &["tclsh", "wish"],
        flags: &[],
        first: false,
        hash: true,
        backticks: false,
    },
    Language {
        name: "groovy -e",
        programs: &["groovy"],
        flags: &["-e"],
        first: false,
        hash: false,
        backticks: false,
    },
    Language {
        name: "emacs --eval",
        programs: &["emacs", "emacsclient", "guile", "sbcl", "racket"],
        flags: &["--eval", "-e", "-c"],
        first: false,
        hash: false,
        backticks: false,
    },
    Language {
        name: "elixir -e",
        programs: &["elixir"],
        flags: &["-e"],
        first: false,
        hash: true,
        backticks: false,
    },
];

impl Language {
    /// Whether a program of this name runs this language.
    pub(super) fn runs(&self, name: &str) -> bool {
        self.programs.iter().any(|program| {
            name.strip_prefix(program)
                .is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit() || b == b'.'))
        })
    }
}

/// What a program would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Run this text in a shell.
    Shell(String),
    /// Run these words.
    Words(Vec<String>),
    /// Perhaps run this text: it stands in a program that runs something.
    Perhaps(String),
}

/// Functions that run a string, by the last part of their name.
const RUN: &[&str] = &[
    "system",
    "popen",
    "popen2",
    "popen3",
    "getoutput",
    "getstatusoutput",
    "check_output",
    "check_call",
    "call",
    "run",
    "Popen",
    "exec",
    "execSync",
    "spawn",
    "spawnSync",
    "execFile",
    "execFileSync",
    "shell_exec",
    "passthru",
    "proc_open",
    "execl",
    "execlp",
    "execv",
    "execvp",
    "execve",
    "spawnl",
    "spawnlp",
    "spawnv",
    "spawnvp",
    "create_subprocess_shell",
    "create_subprocess_exec",
    "capture2",
    "capture2e",
    "capture3",
    "execute",
    "qx",
    "%x",
    "sh",
    "script",
    "system2",
    "shell",
    "posix_spawn",
    "startfile",
    "command",
    "Command",
    "cmd",
    "$",
    "shell-command",
    "call-process",
    "getline",
    "execa",
    "execaSync",
    "execaCommand",
    "cputs",
    "eval",
];

/// Functions that delete what they are given.
const DELETE: &[&str] = &[
    "rmtree",
    "remove_tree",
    "rm_rf",
    "rm_r",
    "rmSync",
    "rimraf",
    "rimrafSync",
    "removeSync",
    "remove_dir_all",
    "emptyDirSync",
    "remove_entry_secure",
    "deltree",
    "remove_dir",
];

/// Functions that delete one file or an empty folder.
const DELETE_ONE: &[&str] = &[
    "unlink",
    "unlinkSync",
    "rmdir",
    "rmdirSync",
    "remove",
    "removedirs",
    "delete",
    "rm",
    "rm_f",
];

/// Functions that write what their first argument names.
const WRITE: &[&str] = &[
    "writeFileSync",
    "writeFile",
    "appendFileSync",
    "appendFile",
    "file_put_contents",
    "createWriteStream",
    "truncateSync",
    "truncate",
    "write_text",
    "write_bytes",
    "outputFileSync",
    "writeTextFileSync",
    "writeTextFile",
];

/// A piece of a program.
#[derive(Clone, Debug, PartialEq)]
enum Token {
    Name(String),
    Text(String),
    /// A text in backticks or `%x(…)`, where these run.
    Run(String),
    Sign(char),
}

/// What a program would do, as far as its strings tell.
pub(super) fn effects(language: &Language, source: &str, home: &str) -> Vec<Effect> {
    let spelled = lettered(tokens(language, source));
    let literal = folded(language, spelled.clone());
    let tokens = folded(language, homed(spelled, home));
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Run(text) => found.push(Effect::Shell(text.clone())),
            Token::Name(name) => look(language, name, &tokens, at, home, &mut found),
            // `f(…)("rm -rf /")`
            Token::Sign(')') => {
                if let (Some(Token::Sign('(')), Some(Token::Text(text))) =
                    (tokens.get(at + 1), tokens.get(at + 2))
                {
                    found.push(Effect::Shell(text.clone()));
                }
            }
            _ => {}
        }
    }
    // A pipe of awk: `"cmd" | getline`, `print | "cmd"`.
    if language.name == "awk" {
        for (at, token) in tokens.iter().enumerate() {
            if *token == Token::Sign('|') {
                for near in [at.wrapping_sub(1), at + 1] {
                    if let Some(Token::Text(text)) = tokens.get(near) {
                        found.push(Effect::Shell(text.clone()));
                    }
                }
            }
        }
    }
    if language.name == "osascript -e" {
        for (at, token) in tokens.iter().enumerate() {
            if *token == Token::Name("script".to_owned())
                && let Some(Token::Text(text)) = tokens.get(at + 1)
            {
                found.push(Effect::Shell(text.clone()));
            }
        }
    }
    let names = |wanted: &[&str]| {
        tokens
            .iter()
            .any(|token| matches!(token, Token::Name(name) if wanted.contains(&last(name))))
    };
    if names(&["fork"]) && names(&["while", "loop", "for", "until"]) {
        found.push(Effect::Words(vec!["fork-bomb".to_owned()]));
    }
    perhaps(&literal, &mut found);
    // Something is decoded and then run.
    let decodes = names(&[
        "b64decode", "atob", "base64_decode", "decode64", "unhexlify", "fromhex", "decode_base64",
        "strict_decode64", "urlsafe_b64decode", "a85decode", "hex2bin", "str_rot13", "gzinflate",
    ]) || tokens
        .iter()
        .any(|token| matches!(token, Token::Text(text) if matches!(text.as_str(), "base64" | "rot13" | "hex" | "rot_13")));
    if decodes && (names(RUN) || names(&["eval", "Function", "compile", "loads"])) {
        let mut any = false;
        for token in &tokens {
            if let Token::Text(text) = token
                && text.len() >= 8
                && let Some(text) = decoded(text)
            {
                any = true;
                found.push(Effect::Shell(text.clone()));
                found.extend(effects_of_decoded(language, &text, home));
            }
        }
        if !any || found.is_empty() {
            found.push(Effect::Words(vec!["decoded-code".to_owned()]));
        }
    }
    let fetches = names(&["urlopen", "urlretrieve", "fetch", "requests"])
        || tokens.iter().any(|token| matches!(token, Token::Text(text) if text.starts_with("http://") || text.starts_with("https://")));
    if fetches && names(&["exec", "eval", "system", "execSync", "Function"]) {
        found.push(Effect::Words(vec!["remote-code".to_owned()]));
    }
    found.truncate(32);
    found
}

/// Adds the strings of a program that runs or deletes something, wherever they stand in it: a
/// function may have another name, and a list may be gone through.
fn perhaps(tokens: &[Token], found: &mut Vec<Effect>) {
    const ABLE: &[&str] = &["subprocess", "child_process", "shelljs", "pty", "open3"];
    let able = |wanted: &[&str]| {
        tokens.iter().any(|token| match token {
            Token::Name(name) => name.split(['.', ':']).any(|part| wanted.contains(&part)),
            Token::Text(text) => {
                ABLE.contains(&text.trim_start_matches("node:")) || wanted.contains(&text.as_str())
            }
            _ => false,
        })
    };
    let pipes = tokens.iter().any(
        |token| matches!(token, Token::Text(text) if text.starts_with('|') || text.ends_with('|')),
    );
    let runs = able(RUN) || able(ABLE) || pipes;
    let deletes = able(DELETE) || able(DELETE_ONE);
    for token in tokens {
        let Token::Text(text) = token else { continue };
        if runs && text.contains(' ') {
            found.push(Effect::Perhaps(text.clone()));
        }
        if deletes && text.starts_with(['/', '~']) && !text.contains(' ') {
            found.push(Effect::Perhaps(format!("rm -f {text}")));
        }
    }
}

fn effects_of_decoded(language: &Language, text: &str, home: &str) -> Vec<Effect> {
    // One level: what decodes into another decoder is said to be decoded.
    if text.contains("b64decode") || text.contains("atob") || text.contains("base64") {
        return vec![Effect::Words(vec!["decoded-code".to_owned()])];
    }
    effects(language, text, home)
}

fn decoded(text: &str) -> Option<String> {
    let bytes = STANDARD.decode(text.trim().as_bytes()).ok().or_else(|| {
        let digits: Vec<u32> = text
            .chars()
            .map(|c| c.to_digit(16))
            .collect::<Option<_>>()?;
        digits.len().is_multiple_of(2).then(|| {
            digits
                .chunks_exact(2)
                .map(|pair| (pair[0] * 16 + pair[1]) as u8)
                .collect()
        })
    })?;
    let text = String::from_utf8(bytes).ok()?;
    text.chars()
        .all(|c| !c.is_control() || c.is_whitespace())
        .then_some(text)
}

fn last(name: &str) -> &str {
    name.rsplit(['.', ':', '>']).next().unwrap_or(name)
}

/// Adds what a function would do with the strings behind it.
fn look(
    language: &Language,
    name: &str,
    tokens: &[Token],
    at: usize,
    home: &str,
    found: &mut Vec<Effect>,
) {
    let name = last(name);
    let called = matches!(tokens.get(at + 1), Some(Token::Sign('(' | '{' | '[')));
    let bare = matches!(tokens.get(at + 1), Some(Token::Text(_)))
        || matches!(tokens.get(at + 1), Some(Token::Name(near)) if last(near) == "glob");
    if !called && !bare {
        return;
    }
    let arguments = arguments(tokens, at + 1);
    let text = |index: usize| match arguments.get(index) {
        Some(Token::Text(text)) => Some(text.clone()),
        _ => None,
    };
    let first = arguments
        .iter()
        .position(|token| matches!(token, Token::Text(_)));
    if RUN.contains(&name) {
        let strings: Vec<String> = arguments
            .iter()
            .filter_map(|token| match token {
                Token::Text(text) => Some(text.clone()),
                _ => None,
            })
            .collect();
        let Some(one) = strings.first() else { return };
        if language.name == "python -c" && matches!(name, "exec" | "eval") {
            found.extend(effects(language, one, home));
            return;
        }
        if name == "eval" {
            found.extend(effects(language, one, home));
        }
        let list = strings.len() > 1 && !one.trim().contains(' ');
        if list {
            // `execl("/bin/rm", "rm", "-rf", "/")` says the name twice.
            let again = strings.len() > 2
                && crate::path::name(one) == strings[1]
                && !strings[1].starts_with('-');
            found.push(Effect::Words(strings[usize::from(again)..].to_vec()));
        } else {
            found.push(Effect::Shell(one.clone()));
        }
        return;
    }
    let deletes = DELETE.contains(&name);
    if deletes || DELETE_ONE.contains(&name) {
        let base = names_home(&arguments)
            .then(|| home.to_owned())
            .or_else(|| first.and_then(text))
            .or_else(|| before(tokens, at));
        let Some(path) = base else { return };
        if path.contains(' ') && !path.contains('/') {
            return;
        }
        let path = at_home(path, home);
        let forced = arguments
            .iter()
            .any(|token| matches!(token, Token::Name(name) if last(name) == "recursive"));
        let option = if deletes || forced { "-rf" } else { "-f" };
        found.push(Effect::Words(vec![
            "rm".to_owned(),
            option.to_owned(),
            path,
        ]));
        return;
    }
    let opens = matches!(name, "open" | "fopen" | "openSync" | "File")
        && arguments.iter().any(|token| {
            matches!(token, Token::Text(mode) if matches!(mode.as_str(), "w" | "a" | "wb" | "ab" | "w+" | "r+" | "a+" | "x" | ">" | ">>"))
        });
    if (opens || WRITE.contains(&name))
        && let Some(path) = if matches!(name, "write_text" | "write_bytes") {
            before(tokens, at)
        } else {
            first.and_then(text)
        }
    {
        found.push(Effect::Words(vec!["tee".to_owned(), at_home(path, home)]));
    }
}

fn at_home(path: String, home: &str) -> String {
    match path.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{home}{rest}"),
        _ => path,
    }
}

fn names_home(tokens: &[Token]) -> bool {
    tokens.iter().any(|token| match token {
        Token::Name(name) => matches!(last(name), "home" | "homedir" | "HOME"),
        Token::Text(text) => text == "HOME",
        _ => false,
    })
}

/// The string that a method is called on: `Path("x").unlink()`.
fn before(tokens: &[Token], at: usize) -> Option<String> {
    let near = tokens[..at].iter().rev().take(6);
    for token in near {
        match token {
            Token::Text(text) => return Some(text.clone()),
            Token::Sign(')' | '(' | '.') | Token::Name(_) => {}
            _ => return None,
        }
    }
    None
}

/// What stands between the brackets that open at `at`, or the one string there.
fn arguments(tokens: &[Token], at: usize) -> Vec<Token> {
    let mut depth = 0usize;
    let mut all = Vec::new();
    for token in &tokens[at..] {
        match token {
            Token::Sign('(' | '[' | '{') => depth += 1,
            Token::Sign(')' | ']' | '}') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    break;
                }
            }
            Token::Sign(';') => break,
            _ => {}
        }
        all.push(token.clone());
        // Without brackets: what follows, comma by comma.
        if depth == 0 && all.len() > 16 {
            break;
        }
    }
    all
}

/// Puts letters in the place of their numbers: `chr(114)`, `String.fromCharCode(114, 109)`.
fn lettered(tokens: Vec<Token>) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut rest = tokens.into_iter().peekable();
    while let Some(token) = rest.next() {
        let spells = matches!(&token, Token::Name(name) if matches!(last(name), "chr" | "fromCharCode" | "char"));
        if !spells || rest.peek() != Some(&Token::Sign('(')) {
            out.push(token);
            continue;
        }
        rest.next();
        let mut digits = String::new();
        for inner in rest.by_ref() {
            match inner {
                Token::Sign(')') => break,
                Token::Sign(c) => digits.push(c),
                _ => digits.push(','),
            }
        }
        let text: String = digits
            .split(',')
            .filter_map(|number| number.trim().parse().ok().and_then(char::from_u32))
            .collect();
        out.push(Token::Text(text));
    }
    out
}

/// Puts the home folder in the place of what comes to it: `Path.home()`, `os.homedir()`,
/// `expanduser("~")`, `os.environ["HOME"]`, `process.env.HOME`.
fn homed(tokens: Vec<Token>, home: &str) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let behind = tokens.get(at + 1..).unwrap_or_default();
        let found = match (token, behind) {
            (Token::Name(name), [Token::Sign('('), Token::Sign(')'), ..])
                if name.contains('.') && matches!(last(name), "home" | "homedir") =>
            {
                Some((home.to_owned(), 3))
            }
            (Token::Name(name), [Token::Sign('('), Token::Text(text), Token::Sign(')'), ..])
                if matches!(last(name), "expanduser" | "Path") =>
            {
                Some((at_home(text.clone(), home), 4))
            }
            (
                Token::Name(name),
                [
                    Token::Sign('(' | '['),
                    Token::Text(text),
                    Token::Sign(')' | ']'),
                    ..,
                ],
            ) if text == "HOME" && matches!(last(name), "environ" | "getenv" | "ENV" | "get") => {
                Some((home.to_owned(), 4))
            }
            (Token::Name(name), _) if name.ends_with("env.HOME") => Some((home.to_owned(), 1)),
            _ => None,
        };
        if let Some((text, length)) = found {
            out.push(Token::Text(text));
            at += length;
        } else {
            out.push(token.clone());
            at += 1;
        }
    }
    out
}

/// Joins strings that are added, and puts in what names stand for.
fn folded(language: &Language, tokens: Vec<Token>) -> Vec<Token> {
    let mut known: BTreeMap<String, String> = BTreeMap::new();
    let mut out: Vec<Token> = Vec::new();
    for token in tokens {
        let token = match token {
            Token::Name(name) if known.contains_key(&name) => Token::Text(known[&name].clone()),
            Token::Name(name) if matches!(name.as_str(), "os.sep" | "path.sep") => {
                Token::Text("/".to_owned())
            }
            other => other,
        };
        if let Token::Text(text) = &token {
            // `Path("a") / "b"`
            if language.name == "python -c"
                && let [.., Token::Text(folder), Token::Sign('/')] = out.as_slice()
            {
                let whole = format!("{}/{text}", folder.trim_end_matches('/'));
                out.truncate(out.len() - 2);
                out.push(Token::Text(whole));
                remember(&out, &mut known);
                continue;
            }
            let joins = matches!(out.last(), Some(Token::Sign('+')))
                || matches!(out.last(), Some(Token::Sign('.'))) && out.len() > 1;
            if joins
                && out.len() > 1
                && let Some(Token::Text(before)) = out.get(out.len() - 2).cloned()
            {
                out.truncate(out.len() - 2);
                out.push(Token::Text(before + text));
                remember(&out, &mut known);
                continue;
            }
            // Two strings side by side are one.
            if let Some(Token::Text(before)) = out.last_mut() {
                before.push_str(text);
                continue;
            }
        }
        out.push(token);
        remember(&out, &mut known);
    }
    out
}

/// Keeps `name = "text"`.
fn remember(out: &[Token], known: &mut BTreeMap<String, String>) {
    if let [.., Token::Name(name), Token::Sign('='), Token::Text(text)] = out {
        known.insert(name.clone(), text.clone());
    }
}

fn tokens(language: &Language, source: &str) -> Vec<Token> {
    let letters: Vec<char> = source.chars().take(16_384).collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < letters.len() {
        let letter = letters[at];
        if letter.is_whitespace() {
            at += 1;
            continue;
        }
        if letter == '#' && language.hash
            || letter == '/' && letters.get(at + 1) == Some(&'/') && !language.hash
        {
            while at < letters.len() && letters[at] != '\n' {
                at += 1;
            }
            continue;
        }
        if letter == '%' && letters.get(at + 1) == Some(&'x')
            || letter == 'q'
                && letters.get(at + 1) == Some(&'x')
                && letters.get(at + 2).is_some_and(|c| !c.is_alphanumeric())
        {
            let open = letters.get(at + 2).copied().unwrap_or(' ');
            let close = match open {
                '(' => ')',
                '{' => '}',
                '[' => ']',
                '<' => '>',
                other => other,
            };
            if !open.is_alphanumeric() && !open.is_whitespace() {
                let (text, end) = quoted(&letters, at + 3, close, 1);
                tokens.push(Token::Run(text));
                at = end;
                continue;
            }
        }
        if letter == 'q' && language.name == "perl -e" {
            let from = if letters.get(at + 1) == Some(&'q') {
                at + 2
            } else {
                at + 1
            };
            let open = letters.get(from).copied().unwrap_or(' ');
            let close = match open {
                '(' => Some(')'),
                '{' => Some('}'),
                '[' => Some(']'),
                '/' | '|' | '!' => Some(open),
                _ => None,
            };
            if let Some(close) = close {
                let (text, end) = quoted(&letters, from + 1, close, 1);
                tokens.push(Token::Text(text));
                at = end;
                continue;
            }
        }
        if matches!(letter, '\'' | '"' | '`') {
            let triple = letters.get(at + 1) == Some(&letter)
                && letters.get(at + 2) == Some(&letter)
                && letter != '`';
            let width = if triple { 3 } else { 1 };
            let (text, end) = quoted(&letters, at + width, letter, width);
            tokens.push(if letter == '`' && language.backticks {
                Token::Run(text)
            } else {
                Token::Text(text)
            });
            at = end;
            continue;
        }
        if letter.is_alphabetic() || matches!(letter, '_' | '$' | '@') {
            let start = at;
            while at < letters.len()
                && (letters[at] == '-' && language.name == "emacs --eval"
                    || letters[at].is_alphanumeric()
                    || matches!(letters[at], '_' | '$' | '@')
                    || matches!(letters[at], '.' | ':')
                        && letters
                            .get(at + 1)
                            .is_some_and(|c| c.is_alphabetic() || *c == '_' || *c == ':'))
            {
                at += 1;
            }
            let name: String = letters[start..at].iter().collect();
            // A prefix of a string: r'', b"", f''.
            let prefix = name.len() <= 2
                && matches!(letters.get(at), Some('\'' | '"'))
                && name.chars().all(|c| "rbfuRBFU".contains(c));
            if !prefix {
                tokens.push(Token::Name(name));
            }
            continue;
        }
        if letter == '.' && letters.get(at + 1).is_some_and(|c| c.is_alphabetic()) {
            at += 1;
            continue;
        }
        tokens.push(Token::Sign(letter));
        at += 1;
    }
    tokens
}

/// A string from here up to its end.
fn quoted(letters: &[char], from: usize, close: char, width: usize) -> (String, usize) {
    let mut raw = String::new();
    let mut at = from;
    while at < letters.len() {
        if letters[at] == '\\' && at + 1 < letters.len() {
            raw.push('\\');
            raw.push(letters[at + 1]);
            at += 2;
            continue;
        }
        if letters[at] == close && (1..width).all(|more| letters.get(at + more) == Some(&close)) {
            return (crate::shell::ansi::decode(&raw), at + width);
        }
        raw.push(letters[at]);
        at += 1;
    }
    (crate::shell::ansi::decode(&raw), letters.len())
}

#[cfg(test)]
mod tests {
    use super::{Effect, LANGUAGES, effects};

    fn of(program: &str, source: &str) -> Vec<Effect> {
        let language = LANGUAGES.iter().find(|one| one.runs(program)).unwrap();
        effects(language, source, "/home/u")
    }

    /// CAKE-SHIM-1: what a one-liner hands to a shell is seen.
    #[test]
    fn strings_that_reach_a_shell_are_found() {
        let shell = Effect::Shell("rm -rf /".to_owned());
        for (program, source) in [
            ("python3", "import os; os.system('rm -rf /')"),
            ("python", "import os; os.system('rm ' + '-rf /')"),
            ("python3.12", "c='rm -rf /'; import os; os.popen(c)"),
            ("python3", "__import__('os').system('rm -rf /')"),
            (
                "python3",
                "import base64,os;os.system(base64.b64decode('cm0gLXJmIC8=').decode())",
            ),
            ("node", "require('child_process').execSync('rm -rf /')"),
            ("perl", "system \"rm -rf /\""),
            ("perl", "`rm -rf /`"),
            ("ruby", "%x(rm -rf /)"),
            ("php", "shell_exec('rm -rf /');"),
            ("awk", "BEGIN{system(\"rm -rf /\")}"),
            ("awk", "BEGIN{\"rm -rf /\" | getline}"),
        ] {
            assert!(of(program, source).contains(&shell), "{program}: {source}");
        }
    }

    /// CAKE-SHIM-1: what a one-liner deletes itself is seen as a deletion.
    #[test]
    fn deletions_are_found() {
        let words = |words: &[&str]| Effect::Words(words.iter().map(|&w| w.to_owned()).collect());
        for (program, source, expected) in [
            (
                "python3",
                "import shutil; shutil.rmtree('/etc')",
                words(&["rm", "-rf", "/etc"]),
            ),
            (
                "python3",
                "import shutil,os; shutil.rmtree(os.path.expanduser('~'))",
                words(&["rm", "-rf", "/home/u"]),
            ),
            (
                "python3",
                "root = pathlib.Path.home()\nshutil.rmtree(root / 'notes')",
                words(&["rm", "-rf", "/home/u/notes"]),
            ),
            (
                "python3",
                "from pathlib import Path; Path('.git/config').unlink()",
                words(&["rm", "-f", ".git/config"]),
            ),
            (
                "python3",
                "import subprocess; subprocess.run(['rm','-rf','/'])",
                words(&["rm", "-rf", "/"]),
            ),
            (
                "node",
                "require('fs').rmSync('/home/u',{recursive:true})",
                words(&["rm", "-rf", "/home/u"]),
            ),
            (
                "ruby",
                "require 'fileutils'; FileUtils.rm_rf('/etc')",
                words(&["rm", "-rf", "/etc"]),
            ),
        ] {
            assert!(
                of(program, source).contains(&expected),
                "{source}: {:?}",
                of(program, source)
            );
        }
    }
}
