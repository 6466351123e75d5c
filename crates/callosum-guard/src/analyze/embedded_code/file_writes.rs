//! Files that a program writes, and their contents if those are one string.

use super::{
    Effect, arguments, at_home, before, call::parts, function::WRITE, last, names_any,
    token::Token, words,
};

/// Returns the write that a function call here makes.
pub(super) fn by_function(whole: &str, tokens: &[Token], at: usize, home: &str) -> Option<Effect> {
    let name = last(whole);
    let arguments = arguments(tokens, at + 1);
    if let Some(effect) = unpacked(name, tokens, &arguments, home) {
        return Some(effect);
    }
    let texts = || {
        arguments.iter().filter_map(|token| match token {
            Token::Text(text) => Some(text.as_str()),
            _ => None,
        })
    };
    let is_named = matches!(whole, "File.write" | "IO.write" | "File.binwrite");
    let (path, content) = if matches!(name, "write_text" | "write_bytes") {
        (before(tokens, at)?, texts().next())
    } else if WRITE.contains(&name) || is_named {
        let mut texts = texts();
        (texts.next()?.to_owned(), texts.next())
    } else if matches!(name, "open" | "fopen" | "openSync" | "File") && opens(&arguments) {
        let is_mode = |text: &&str| !matches!(*text, ">" | ">>" | "+<" | "+>" | "<");
        let path = texts().find(is_mode)?;
        (
            path.trim_start_matches(['>', '+', ' ']).to_owned(),
            written_behind(tokens, at, arguments.len()),
        )
    } else {
        return None;
    };
    // What is made up of more than one string is not known.
    let is_all = !arguments
        .iter()
        .any(|token| matches!(token, Token::Sign('+' | '.' | '%')));
    let content = content.filter(|_| is_all).map(str::to_owned);
    Some(Effect::Writes(at_home(path, home), content))
}

/// Returns the effect of unpacking an archive, if the call names the folder.
fn unpacked(name: &str, tokens: &[Token], arguments: &[Token], home: &str) -> Option<Effect> {
    let parts = parts(arguments);
    let folder = match name {
        "extractall" | "extractAllTo" | "extractTo" => parts.first()?,
        "unpack_archive" => parts.get(1)?,
        "extract" if names_any(tokens, &["tarfile", "zipfile"]) => parts.get(1)?,
        _ => return None,
    };
    let [.., Token::Text(folder)] = folder else {
        return None;
    };
    let folder = at_home(folder.clone(), home);
    Some(words(&["tar", "-x", "-f", "archive", "-C", &folder]))
}

/// Returns the text that is written to a file that was just opened: `open(…).write("…")`, or
/// `f.write("…")` if it is the only write.
fn written_behind(tokens: &[Token], at: usize, length: usize) -> Option<&str> {
    let behind = tokens.get(at + 1 + length..)?;
    let writes = |(here, token): (usize, &Token)| {
        matches!(token, Token::Name(name) if matches!(last(name), "write" | "print" | "puts" | "fwrite"))
            .then_some(here)
    };
    let mut written = behind.iter().enumerate().filter_map(writes);
    let here = written.next().filter(|_| written.next().is_none())?;
    match behind.get(here + 1..)? {
        [Token::Sign('('), Token::Text(text), Token::Sign(')'), ..] => Some(text),
        _ => None,
    }
}

/// Lists the writes of awk's `print > "file"` and `printf >> "file"`.
pub(super) fn by_print(tokens: &[Token]) -> Vec<Effect> {
    let mut found = Vec::new();
    let mut prints = false;
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Name(name) if matches!(name.as_str(), "print" | "printf") => prints = true,
            Token::Sign('(' | '[') => depth += 1,
            Token::Sign(')' | ']') => depth = depth.saturating_sub(1),
            Token::Sign(';' | '{' | '}') => prints = false,
            Token::Sign('>') if prints && depth == 0 => {
                if let Some(Token::Text(path)) = tokens.get(at + 1) {
                    found.push(Effect::Writes(path.clone(), None));
                }
            }
            _ => {}
        }
    }
    found
}

/// Whether one of these strings opens a file for writing.
pub(super) fn opens(arguments: &[Token]) -> bool {
    arguments.iter().any(|token| match token {
        Token::Text(mode) => {
            matches!(
                mode.as_str(),
                "w" | "a" | "wb" | "ab" | "w+" | "r+" | "a+" | "x" | "wt" | "at" | "+<"
            ) || mode.starts_with('>')
                || mode.starts_with("+>")
        }
        _ => false,
    })
}
