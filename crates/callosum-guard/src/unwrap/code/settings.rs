//! What a call that runs a program says besides its words: the folder, what is read, the environment.

use super::token::Token;

/// What is said by a name, and is no word of the program's.
const NAMES: [&str; 16] = [
    "cwd",
    "chdir",
    "current_dir",
    "env",
    "stdio",
    "encoding",
    "shell",
    "executable",
    "input",
    "stdin",
    "stdout",
    "stderr",
    "errors",
    "killSignal",
    "maxBuffer",
    "argv0",
];

/// The words of a call, and what it says besides them.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) words: Vec<String>,
    pub(super) folder: Option<String>,
    pub(super) input: Option<String>,
}

impl Said {
    /// Reads the pieces that stand between the brackets of a call.
    pub(super) fn by(arguments: &[Token]) -> Said {
        let mut said = Said::default();
        let mut at = 0;
        while let Some(token) = arguments.get(at) {
            match (token, arguments.get(at + 1)) {
                (Token::Name(name), Some(Token::Sign('=' | ':')))
                    if NAMES.contains(&name.as_str()) && at > 0 =>
                {
                    let value = &arguments[at + 2..];
                    if let Some(Token::Text(text)) = value.first() {
                        match name.as_str() {
                            "cwd" | "chdir" | "current_dir" => said.folder = Some(text.clone()),
                            "input" => said.input = Some(text.clone()),
                            _ => {}
                        }
                    }
                    at += 2 + length(value);
                    continue;
                }
                (Token::Text(text), _) => said.words.push(text.clone()),
                _ => {}
            }
            at += 1;
        }
        said
    }
}

/// How many pieces there are up to the comma behind a value, or to where the brackets around it close.
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

/// Takes `cwd:os.homedir` apart, which is a setting and its value.
pub(super) fn parted(tokens: Vec<Token>) -> Vec<Token> {
    let mut out = Vec::with_capacity(tokens.len());
    for token in tokens {
        match &token {
            Token::Name(name)
                if let Some((setting, value)) = name.split_once(':')
                    && NAMES.contains(&setting)
                    && !value.starts_with(':') =>
            {
                out.push(Token::Name(setting.to_owned()));
                out.push(Token::Sign(':'));
                out.push(Token::Name(value.to_owned()));
            }
            _ => out.push(token),
        }
    }
    out
}
