//! Paths that a program in a compiled language makes of others: `filepath.Join(home, "src")`,
//! `dirs::home_dir().unwrap().join("src")`, `format!("{}/src", home)`.

use super::super::{last, token::Token};
use crate::analyze::value::SOME;

/// Functions that name the home folder.
const HOME: [&str; 4] = [
    "UserHomeDir",
    "home_dir",
    "NSHomeDirectory",
    "homeDirectory",
];

/// Functions that ask for a variable of the environment, or a property.
const ASKS: [&str; 7] = [
    "var",
    "var_os",
    "Getenv",
    "getenv",
    "LookupEnv",
    "getProperty",
    "GetEnvironmentVariable",
];

/// Functions that name, or make, a folder for what is temporary.
const TEMPORARY: [&str; 4] = ["temp_dir", "TempDir", "GetTempPath", "NSTemporaryDirectory"];
const MADE: [&str; 5] = [
    "MkdirTemp",
    "mkdtemp",
    "tempdir",
    "createTempDirectory",
    "createTempDir",
];

/// Methods that return the path or text that they are called on, with any arguments.
const KEEPS: [&str; 18] = [
    "unwrap",
    "expect",
    "unwrap_or_default",
    "unwrap_or_else",
    "to_string",
    "to_owned",
    "to_string_lossy",
    "into",
    "into_string",
    "into_os_string",
    "clone",
    "as_str",
    "as_path",
    "as_ref",
    "to_str",
    "to_path_buf",
    "display",
    "toString",
];

/// Functions that make a path of the text that they are given, by the end of their name.
const MAKES: [&str; 15] = [
    "Path::new",
    "PathBuf::from",
    "String::from",
    "OsString::from",
    "filepath.Join",
    "path.Join",
    "filepath.Clean",
    "Path.of",
    "Paths.get",
    "Path.Combine",
    "fs::path",
    "std::string",
    "URL",
    "File",
    "Directory",
];

/// Methods that add a part to a path.
const JOINS: [&str; 4] = ["join", "resolve", "appendingPathComponent", "child"];

/// Functions that fill a text.
const FORMATS: [&str; 4] = ["format", "Sprintf", "formatted", "sformat"];

/// Those of C, whose first argument is what is filled.
const BUFFERS: [&str; 3] = ["sprintf", "snprintf", "asprintf"];

/// Whether a method adds a part to the path that it is called on.
pub(in super::super) fn joins(method: &str) -> bool {
    JOINS.contains(&method)
}

/// Replaces expressions with the paths that they evaluate to, with `unknown` in place of unknown
/// parts. Without it, a path with such a part stays as it is.
pub(super) fn placed(tokens: &[Token], home: &str, unknown: Option<char>) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let rest = &tokens[at..];
        if let Some((text, length)) = named(rest, home) {
            text_to(&mut out, text);
            at += length;
            continue;
        }
        at += 1;
        match token {
            Token::Text(text) => text_to(&mut out, text.clone()),
            Token::Name(name)
                if out.last().is_some_and(is_text) && KEEPS.contains(&name.as_str()) =>
            {
                match closing(&tokens[at..]) {
                    Some(length) => at += length,
                    None => out.push(token.clone()),
                }
            }
            // `home()?`
            Token::Sign('?') if out.last().is_some_and(is_text) => {}
            Token::Sign('=') => {
                assigned(&mut out);
                out.push(token.clone());
            }
            Token::Sign(')') => {
                out.push(token.clone());
                closed(&mut out, unknown);
            }
            _ => out.push(token.clone()),
        }
    }
    out
}

/// Returns the home folder, or a temporary one, if it is named here, and the number of its tokens.
fn named(rest: &[Token], home: &str) -> Option<(String, usize)> {
    let Token::Name(name) = rest.first()? else {
        return None;
    };
    let own = last(name);
    match &rest[1..] {
        [Token::Sign('('), Token::Sign(')'), ..] if HOME.contains(&own) => {
            Some((home.to_owned(), 3))
        }
        // `t.TempDir()` of a test in Go makes a folder, `os.TempDir()` names the one that holds all.
        [Token::Sign('('), Token::Sign(')'), ..]
            if own == "TempDir" && name.contains('.') && name != "os.TempDir" =>
        {
            Some((format!("/tmp/{SOME}"), 3))
        }
        [Token::Sign('('), Token::Sign(')'), ..] if TEMPORARY.contains(&own) => {
            Some(("/tmp".to_owned(), 3))
        }
        [Token::Sign('('), ..] if MADE.contains(&own) => {
            Some((format!("/tmp/{SOME}"), 1 + closing(&rest[1..])?))
        }
        [Token::Sign('('), Token::Text(asked), Token::Sign(')'), ..]
            if ASKS.contains(&own) && matches!(asked.as_str(), "HOME" | "user.home") =>
        {
            Some((home.to_owned(), 4))
        }
        // Dart's `Platform.environment['HOME']`
        [Token::Sign('['), Token::Text(asked), Token::Sign(']'), ..]
            if own == "environment" && asked == "HOME" =>
        {
            Some((home.to_owned(), 4))
        }
        // `env!("HOME")`
        [
            Token::Sign('!'),
            Token::Sign('('),
            Token::Text(asked),
            Token::Sign(')'),
            ..,
        ] if own == "env" && asked == "HOME" => Some((home.to_owned(), 5)),
        // `Environment.GetFolderPath(Environment.SpecialFolder.UserProfile)`
        [Token::Sign('('), Token::Name(folder), Token::Sign(')'), ..]
            if own == "GetFolderPath" && last(folder) == "UserProfile" =>
        {
            Some((home.to_owned(), 4))
        }
        // Go's `user.Current()` has it as a field.
        [next, ..] if own == "HomeDir" && name != own && *next != Token::Sign('(') => {
            Some((home.to_owned(), 1))
        }
        _ => None,
    }
}

/// Adds a text, without the sign of a reference to it, joined to a path that it is added to.
fn text_to(out: &mut Vec<Token>, text: String) {
    if let [before @ .., Token::Sign('&')] = out.as_slice()
        && matches!(
            before.last(),
            None | Some(Token::Sign('(' | ',' | '=' | '[' | '{'))
        )
    {
        out.pop();
    }
    // `fs::path(home) / "src"`
    if let [.., Token::Text(folder), Token::Sign('/')] = out.as_slice() {
        let whole = joined(&[folder.clone(), text]);
        out.truncate(out.len() - 2);
        out.push(Token::Text(whole));
        return;
    }
    out.push(Token::Text(text));
}

/// `home, err =` and `Ok(home) =` as `home =`.
fn assigned(out: &mut Vec<Token>) {
    match out.as_slice() {
        [.., Token::Name(_), Token::Sign(','), Token::Name(other)]
            if matches!(other.as_str(), "_" | "err" | "ok" | "e") =>
        {
            out.truncate(out.len() - 2);
        }
        [
            ..,
            Token::Name(kind),
            Token::Sign('('),
            Token::Name(name),
            Token::Sign(')'),
        ] if matches!(kind.as_str(), "Ok" | "Some") => {
            let name = name.clone();
            out.truncate(out.len() - 4);
            out.push(Token::Name(name));
        }
        _ => {}
    }
}

/// Replaces a call that ends here with its value, if known.
fn closed(out: &mut Vec<Token>, unknown: Option<char>) {
    let Some(open) = opening(out) else { return };
    let given: Vec<Option<String>> = out[open + 1..out.len() - 1]
        .split(|token| *token == Token::Sign(','))
        .map(|part| match part {
            // `fileURLWithPath: "x"`
            [Token::Text(text)] | [Token::Name(_), Token::Sign(':'), Token::Text(text)] => {
                Some(text.clone())
            }
            _ => unknown.filter(|_| !part.is_empty()).map(String::from),
        })
        .collect();
    let (front, _) = out.split_at(open);
    let (name, from) = match front {
        [.., Token::Name(name), Token::Sign('!')] => (name.as_str(), open - 2),
        [.., Token::Name(name)] => (name.as_str(), open - 1),
        _ => return,
    };
    let own = last(name);
    let all: Option<Vec<String>> = given.iter().cloned().collect();
    let texts_from = |at: usize| given.get(at..)?.iter().cloned().collect::<Option<Vec<_>>>();
    let text = match (&front[..from], all) {
        (_, Some(parts))
            if makes(name) && parts[0] != unknown.map(String::from).unwrap_or_default() =>
        {
            joined(&parts)
        }
        ([.., Token::Text(folder)], Some(parts)) if joins(own) && parts.len() == 1 => {
            let whole = joined(&[folder.clone(), parts[0].clone()]);
            out.truncate(from - 1);
            out.push(Token::Text(whole));
            return;
        }
        (_, Some(texts)) if FORMATS.contains(&own) && !texts.is_empty() => filled(&texts),
        _ if BUFFERS.contains(&own) => {
            let buffer = match &out[open + 1] {
                Token::Name(buffer) => buffer.clone(),
                _ => return,
            };
            let first = given.iter().position(Option::is_some);
            let Some(texts) = first.and_then(texts_from) else {
                return;
            };
            let text = filled(&texts);
            out.truncate(from);
            out.extend([Token::Name(buffer), Token::Sign('='), Token::Text(text)]);
            return;
        }
        _ => return,
    };
    out.truncate(from);
    // `new File(…)`
    if matches!(out.last(), Some(Token::Name(word)) if word == "new") {
        out.pop();
    }
    text_to(out, text);
}

fn makes(name: &str) -> bool {
    MAKES.iter().any(|end| {
        name.strip_suffix(end)
            .is_some_and(|front| front.is_empty() || front.ends_with([':', '.']))
    })
}

/// The first text with the others in the places that it has for them.
fn filled(texts: &[String]) -> String {
    const PLACES: [&str; 6] = ["%s", "%v", "%q", "{}", "{:?}", "%ls"];
    let Some((format, values)) = texts.split_first() else {
        return String::new();
    };
    let mut text = String::new();
    let mut rest = format.as_str();
    for value in values {
        let first = PLACES
            .iter()
            .filter_map(|place| Some((rest.find(place)?, place.len())))
            .min();
        let Some((at, length)) = first else { break };
        text.push_str(&rest[..at]);
        text.push_str(value);
        rest = &rest[at + length..];
    }
    text + rest
}

/// Joins parts to one path; a part that begins at the root replaces those before it.
fn joined(parts: &[String]) -> String {
    let mut whole = String::new();
    for part in parts {
        if !whole.is_empty() {
            let kept = whole.trim_end_matches('/').len();
            whole.truncate(kept);
            whole.push('/');
        }
        whole.push_str(part.trim_start_matches(|c| c == '/' && !whole.is_empty()));
    }
    whole
}

fn is_text(token: &Token) -> bool {
    matches!(token, Token::Text(_))
}

/// Counts the tokens from the first opening bracket up to the one that closes it.
fn closing(tokens: &[Token]) -> Option<usize> {
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Sign('(') => depth += 1,
            Token::Sign(')') => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        if depth == 0 {
            return None;
        }
    }
    None
}

/// Pieces of a call that is looked at.
const MAX_CALL: usize = 256;

/// Finds the bracket that opens what closes at the end, not too far from there.
fn opening(tokens: &[Token]) -> Option<usize> {
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate().rev().take(MAX_CALL) {
        match token {
            Token::Sign(')') => depth += 1,
            Token::Sign('(') => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}
