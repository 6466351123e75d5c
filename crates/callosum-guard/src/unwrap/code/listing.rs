//! Files that a program lists before it does something with each: `glob`, `listdir`, `readdirSync`.

use super::{Language, before, last, token::Token};

/// Functions that are given a pattern.
const BY_PATTERN: [&str; 5] = ["glob", "iglob", "globSync", "rglob", "Dir"];

/// Functions that are given a folder, or none for that in which the program runs.
const BY_FOLDER: [&str; 11] = [
    "listdir",
    "scandir",
    "walk",
    "walkSync",
    "readdir",
    "readdirSync",
    "children",
    "each_child",
    "entries",
    "foreach",
    "iterdir",
];

/// What is asked of a name before a file is taken.
const PICKS: [&str; 17] = [
    "endswith",
    "startswith",
    "suffix",
    "match",
    "search",
    "fnmatch",
    "filter",
    "endsWith",
    "startsWith",
    "test",
    "includes",
    "splitext",
    "end_with",
    "start_with",
    "extname",
    "grep",
    "getmtime",
];

/// The patterns of what a program lists, where it picks nothing out of it by name.
pub(super) fn listed(language: &Language, tokens: &[Token]) -> Vec<String> {
    let is = |wanted: &[&str]| {
        tokens
            .iter()
            .any(|token| matches!(token, Token::Name(name) if wanted.contains(&last(name))))
    };
    let equals = tokens.array_windows().any(|[before, one, other]| {
        *before != Token::Sign('!') && *one == Token::Sign('=') && *other == Token::Sign('=')
    });
    let inverts = is(&["not", "unless", "reject"]) || tokens.contains(&Token::Sign('!'));
    if (is(&PICKS) || equals) && !inverts {
        return Vec::new();
    }
    let mut patterns = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let Token::Name(name) = token else { continue };
        let function = last(name);
        let given = match (tokens.get(at + 1), tokens.get(at + 2)) {
            (Some(Token::Sign('(' | '[')), Some(Token::Text(text)))
            | (Some(Token::Text(text)), _) => Some(text.as_str()),
            _ => None,
        };
        // `Path("src").rglob("*")`
        let is_method = language.name == "python -c"
            && at > 0
            && matches!(tokens[at - 1], Token::Sign(')') | Token::Text(_));
        let folder = if is_method { before(tokens, at) } else { None };
        if BY_PATTERN.contains(&function) {
            patterns.extend(given.map(|pattern| within(folder.as_deref(), pattern)));
        } else if BY_FOLDER.contains(&function) && !is_shown(tokens, at) {
            let folder = folder.as_deref().or(given);
            patterns.push(within(folder, "*"));
        }
    }
    patterns.truncate(4);
    patterns
}

/// Whether what is listed there is only printed or counted: `print(os.listdir("."))`.
fn is_shown(tokens: &[Token], at: usize) -> bool {
    const SHOWS: [&str; 8] = ["print", "len", "log", "puts", "p", "pp", "info", "debug"];
    match &tokens[..at] {
        [.., Token::Name(name), Token::Sign('(')] => SHOWS.contains(&last(name)),
        _ => false,
    }
}

fn within(folder: Option<&str>, pattern: &str) -> String {
    match folder {
        None | Some("." | "") => pattern.to_owned(),
        Some(folder) => format!("{}/{pattern}", folder.trim_end_matches('/')),
    }
}
