//! Functions under the names that a program gives them as it imports them.

use super::{
    language::Language,
    token::Token::{self, Name, Sign, Text},
};

/// Packages of Node that are a function, and the name under which that is known.
const PACKAGES: [(&str, &str); 3] = [
    ("rimraf", "rimraf"),
    ("del", "rimraf"),
    ("shell-quote", "quote"),
];

/// Methods of these that do the same.
const SAME: [&str; 7] = [
    "quote",
    "sync",
    "default",
    "native",
    "rimraf",
    "deleteSync",
    "deleteAsync",
];

/// The program with functions by their own names: `from subprocess import run as r`, `require("rimraf").sync`.
pub(super) fn named(language: &Language, tokens: Vec<Token>) -> Vec<Token> {
    match language.name {
        "python -c" => by_own_name(tokens),
        "node -e" | "deno eval" => by_own_name(unpacked(&tokens)),
        _ => tokens,
    }
}

fn by_own_name(mut tokens: Vec<Token>) -> Vec<Token> {
    let mut others: Vec<(String, String)> = Vec::new();
    for window in tokens.windows(4) {
        if let [before, Name(own), Name(word), Name(other)] = window
            && word == "as"
            && (matches!(before, Sign(',' | '{' | '(')) || *before == Name("import".to_owned()))
            && others.len() < 16
        {
            others.push((other.clone(), own.clone()));
        }
    }
    for token in &mut tokens {
        if let Name(name) = token
            && let Some((_, own)) = others.iter().find(|(other, _)| other == name)
        {
            name.clone_from(own);
        }
    }
    tokens
}

fn unpacked(tokens: &[Token]) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut rest = tokens;
    while let Some((first, behind)) = rest.split_first() {
        // String.raw`a`
        if matches!(rest, [Name(name), Text(_), ..] if name == "String.raw") {
            rest = behind;
            continue;
        }
        // `const c: string = "x"`
        if let [
            Name(kind),
            name @ Name(_),
            Sign(':'),
            Name(_),
            Sign('='),
            ..,
        ] = rest
            && matches!(kind.as_str(), "const" | "let" | "var")
        {
            out.push(name.clone());
            rest = &rest[4..];
            continue;
        }
        // `process.env.HOME!`
        let is_there = matches!(out.last(), Some(Name(_) | Text(_) | Sign(')')))
            && matches!(rest, [Sign('!'), Sign(')' | ',' | ']' | ';'), ..]);
        if is_there {
            rest = behind;
            continue;
        }
        if let [
            Name(require),
            Sign('('),
            Text(package),
            Sign(')'),
            after @ ..,
        ] = rest
            && require == "require"
            && let Some((_, function)) = PACKAGES.iter().find(|(known, _)| known == package)
        {
            out.push(Name((*function).to_owned()));
            rest = match after {
                [Name(method), called @ ..] if SAME.contains(&method.as_str()) => called,
                after => after,
            };
            continue;
        }
        out.push(first.clone());
        rest = behind;
    }
    out
}
