//! Settings of a call that runs a program, besides its words: the folder, the input, the
//! environment.

use super::{Language, token::Token};

/// Named arguments that are no words of the program's.
const NAMES: [&str; 18] = [
    "cwd",
    "chdir",
    "current_dir",
    "env",
    "stdio",
    "encoding",
    "shell",
    "executable",
    "input",
    "stdin_data",
    "_in",
    "stdin",
    "stdout",
    "stderr",
    "errors",
    "killSignal",
    "maxBuffer",
    "argv0",
];

/// The words of a call, and its other settings.
#[derive(Debug, Default)]
pub(super) struct SpawnOptions {
    pub(super) words: Vec<String>,
    pub(super) folder: Option<String>,
    pub(super) input: Option<String>,
}

/// Modes of opening a file or a pipe, as given behind a command.
const MODES: [&str; 8] = ["r", "w", "a", "r+", "w+", "rb", "wb", "rw"];

impl SpawnOptions {
    /// Words alone.
    pub(super) fn from_words(words: Vec<String>) -> SpawnOptions {
        SpawnOptions {
            words,
            ..SpawnOptions::default()
        }
    }

    /// Reads a call of this function, which runs a program.
    pub(super) fn of_call(name: &str, arguments: &[Token]) -> SpawnOptions {
        // `proc_open("bash", [["pipe", "r"]], $pipes)`
        if name == "proc_open" {
            return SpawnOptions::by(first(arguments));
        }
        let mut options = SpawnOptions::by(arguments);
        let is_mode = options
            .words
            .last()
            .is_some_and(|last| MODES.contains(&last.as_str()));
        if name == "popen" && options.words.len() > 1 && is_mode {
            options.words.pop();
        }
        options
    }

    /// Reads the pieces that stand between the brackets of a call.
    pub(super) fn by(arguments: &[Token]) -> SpawnOptions {
        let mut options = SpawnOptions::default();
        let mut at = 0;
        while let Some(token) = arguments.get(at) {
            match (token, arguments.get(at + 1)) {
                (Token::Name(name), Some(Token::Sign('=' | ':')))
                    if NAMES.contains(&name.as_str()) && at > 0 =>
                {
                    let value = &arguments[at + 2..];
                    if let Some(Token::Text(text)) = value.first() {
                        match name.as_str() {
                            "cwd" | "chdir" | "current_dir" => options.folder = Some(text.clone()),
                            "input" | "stdin_data" | "_in" => options.input = Some(text.clone()),
                            _ => {}
                        }
                    }
                    at += 2 + length(value);
                    continue;
                }
                (Token::Text(text), _) => options.words.push(text.clone()),
                _ => {}
            }
            at += 1;
        }
        options
    }
}

/// Returns the first argument between brackets.
fn first(arguments: &[Token]) -> &[Token] {
    let from = usize::from(arguments.first() == Some(&Token::Sign('(')));
    let inner = &arguments[from..];
    &inner[..length(inner)]
}

/// Counts the tokens up to the comma behind a value, or to the close of the brackets around it.
fn length(value: &[Token]) -> usize {
    let mut depth = 0usize;
    for (at, token) in value.iter().enumerate() {
        match token {
            Token::Sign('(' | '[' | '{') => depth += 1,
            Token::Sign(')' | ']' | '}' | ',') if depth == 0 => return at,
            Token::Sign(')' | ']' | '}') => depth -= 1,
            _ => {}
        }
    }
    value.len()
}

/// Takes `cwd:os.homedir` apart, which is a setting and its value, and says `{input}` in full, as `{input: input}`.
pub(super) fn parted(language: &Language, tokens: Vec<Token>) -> Vec<Token> {
    let is_script = matches!(language.name, "node -e" | "deno eval");
    let mut out = Vec::with_capacity(tokens.len());
    let mut open = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Sign(sign @ ('(' | '[' | '{')) => open.push(*sign),
            Token::Sign(')' | ']' | '}') => {
                open.pop();
            }
            _ => {}
        }
        let ends = matches!(tokens.get(at + 1), Some(Token::Sign('}' | ',')));
        let begins = matches!(out.last(), Some(Token::Sign('{' | ',')));
        match token {
            Token::Name(name)
                if is_script
                    && begins
                    && ends
                    && open.last() == Some(&'{')
                    && NAMES.contains(&name.as_str()) =>
            {
                out.extend([token.clone(), Token::Sign(':'), token.clone()]);
            }
            Token::Name(name)
                if let Some((setting, value)) = name.split_once(':')
                    && NAMES.contains(&setting)
                    && !value.starts_with(':') =>
            {
                out.push(Token::Name(setting.to_owned()));
                out.push(Token::Sign(':'));
                out.push(Token::Name(value.to_owned()));
            }
            _ => out.push(token.clone()),
        }
    }
    out
}
