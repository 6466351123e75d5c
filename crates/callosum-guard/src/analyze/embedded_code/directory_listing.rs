//! Files that a program lists before it does something with each: `glob`, `listdir`, `readdirSync`.

use super::{
    Effect, Language, arguments, before, file_writes,
    function::{DELETE, DELETE_ONE, WRITE},
    last,
    token::Token,
    words,
};
use crate::analyze::value::SOME;

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

/// Tests of a name by which a program picks files.
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

/// Returns the patterns of a program's directory listing, if it picks nothing out of it by name.
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

/// Adds what a function would do with each of the files that the program lists.
pub(super) fn look_at_listed(
    name: &str,
    tokens: &[Token],
    at: usize,
    listed: &[String],
    found: &mut Vec<Effect>,
) {
    let name = last(name);
    if listed.is_empty() {
        return;
    }
    let arguments = arguments(tokens, at + 1);
    let literal = arguments.iter().any(
        |token| matches!(token, Token::Text(text) if text.contains(|c| c != SOME && c != '/')),
    );
    // A function by its name, as in `array_map("unlink", glob("*"))`.
    let mapped = matches!(name, "array_map" | "map")
        && arguments
            .iter()
            .any(|token| matches!(token, Token::Text(text) if DELETE_ONE.contains(&text.as_str())));
    let deletes = DELETE.contains(&name);
    if mapped || (deletes || DELETE_ONE.contains(&name)) && !literal && before(tokens, at).is_none()
    {
        let forced = arguments
            .iter()
            .any(|token| matches!(token, Token::Name(name) if last(name) == "recursive"));
        let option = if deletes || forced { "-rf" } else { "-f" };
        for pattern in listed {
            found.push(words(&["rm", option, pattern]));
        }
        return;
    }
    let blank = matches!(arguments.last(), Some(Token::Text(text)) if text.is_empty());
    let closes = tokens[at + 1..]
        .iter()
        .skip(arguments.len())
        .find(|token| **token != Token::Sign(')'))
        .is_some_and(|token| matches!(token, Token::Name(name) if last(name) == "close"));
    let empties = WRITE.contains(&name) && (blank || name.starts_with("truncate"))
        || matches!(name, "open" | "openSync") && closes && file_writes::opens(&arguments) && {
            !matches!(arguments.get(1), Some(Token::Text(_)))
        };
    if empties {
        for pattern in listed {
            found.push(words(&["truncate", "-s", "0", pattern]));
        }
    }
}
