//! Loops without a loop variable: `map(os.unlink, files)`, `unlink for @ARGV`,
//! `files.forEach(fs.unlinkSync)`, `ARGV.each { File.delete _1 }`. They are rewritten as loops with
//! a variable, the only form that the other modules know.

use super::{
    Language,
    function::{DELETE, DELETE_ONE, RUN},
    last,
    token::Token::{self, Name, Sign, Text},
};

/// The variable of a loop that has none.
const EACH: &str = "_each";

/// The same in Perl, whose own is `$_`.
const PERLS_EACH: &str = "$_each";

/// Loops of one program that are written out.
const MAX_LOOPS: usize = 16;

/// The program with loops that name what they go through.
pub(super) fn named(language: &Language, tokens: Vec<Token>) -> Vec<Token> {
    match language.name {
        "python -c" | "node -e" | "deno eval" => called(&tokens),
        "ruby -e" => numbered(tokens),
        "perl -e" => modified(defaulted(tokens)),
        _ => tokens,
    }
}

fn is_name(token: Option<&Token>, wanted: &[&str]) -> bool {
    matches!(token, Some(Name(name)) if wanted.contains(&last(name)))
}

/// Whether a function does something that is looked for.
fn acts(function: &str) -> bool {
    let function = last(function);
    [DELETE, DELETE_ONE, RUN]
        .iter()
        .any(|all| all.contains(&function))
}

/// Functions that are handed on by their name: `map(os.unlink, files)`, `files.forEach(fs.unlinkSync)`.
fn called(tokens: &[Token]) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut rest = tokens;
    while let Some((first, behind)) = rest.split_first() {
        match rest {
            [
                Name(map),
                Sign('('),
                function @ Name(name),
                Sign(','),
                list @ ..,
            ] if matches!(last(map), "map" | "imap" | "imap_unordered") && acts(name) => {
                let length = closing(list).unwrap_or(list.len());
                let each = || Name(EACH.to_owned());
                out.extend([Name("for".to_owned()), each(), Name("in".to_owned())]);
                out.extend_from_slice(&list[..length]);
                out.extend([Sign(':'), function.clone(), Sign('('), each(), Sign(')')]);
                rest = list.get(length + 1..).unwrap_or_default();
            }
            [Name(method), Sign('('), list @ ..]
                if matches!(last(method), "forEach" | "map")
                    && let Some((function, after)) = function_alone(list) =>
            {
                let each = || Name(EACH.to_owned());
                out.extend([first.clone(), Sign('('), each(), Sign('='), Sign('>')]);
                out.extend_from_slice(function);
                out.extend([Sign('('), each(), Sign(')'), Sign(')')]);
                rest = after;
            }
            _ => {
                out.push(first.clone());
                rest = behind;
            }
        }
    }
    out
}

/// Returns a function that is alone in the brackets, also `require("fs").unlinkSync`, and the
/// tokens behind them.
fn function_alone(tokens: &[Token]) -> Option<(&[Token], &[Token])> {
    let length = match tokens {
        [Name(name), Sign(')'), ..] if acts(name) => 1,
        [
            Name(require),
            Sign('('),
            Text(_),
            Sign(')'),
            Name(name),
            Sign(')'),
            ..,
        ] if require == "require" && acts(name) => 5,
        _ => return None,
    };
    Some((&tokens[..length], &tokens[length + 1..]))
}

/// Ruby's blocks whose variable is `_1` or `it`.
fn numbered(mut tokens: Vec<Token>) -> Vec<Token> {
    let mut at = 0;
    let mut loops = 0;
    while at + 1 < tokens.len() && loops < MAX_LOOPS {
        let opens = tokens[at + 1] == Sign('{') || is_name(tokens.get(at + 1), &["do"]);
        let has_variable = tokens.get(at + 2) == Some(&Sign('|'));
        if opens && !has_variable && is_name(tokens.get(at), &["each", "map", "each_line"]) {
            loops += 1;
            let block = &tokens[at + 2..];
            let length = closing(block).unwrap_or(block.len());
            let variable = block[..length].iter().find_map(|token| match token {
                Name(name) if name == "_1" || name == "it" => Some(name.clone()),
                _ => None,
            });
            if let Some(variable) = variable {
                let put = [Sign('|'), Name(variable), Sign('|')];
                tokens.splice(at + 2..at + 2, put);
            }
        }
        at += 1;
    }
    tokens
}

/// Perl's functions that take `$_` if they get no argument.
fn defaulted(tokens: Vec<Token>) -> Vec<Token> {
    const BEHIND: [&str; 9] = [
        "for", "foreach", "while", "until", "if", "unless", "and", "or", "x",
    ];
    let mut out = Vec::with_capacity(tokens.len());
    for (at, token) in tokens.iter().enumerate() {
        out.push(token.clone());
        let next = tokens.get(at + 1);
        let is_bare = matches!(next, None | Some(Sign(';' | '}' | ')' | '|' | '&')))
            || is_name(next, &BEHIND);
        let is_declared = at > 0 && is_name(tokens.get(at - 1), &["sub"]);
        if is_bare && !is_declared && is_name(Some(token), &["unlink", "rmdir"]) {
            out.push(Name("$_".to_owned()));
        }
    }
    out
}

/// Perl's loops over `$_`: `for (@ARGV) { unlink $_ }`, `unlink $_ for @ARGV`.
fn modified(mut tokens: Vec<Token>) -> Vec<Token> {
    let mut at = 0;
    let mut loops = 0;
    while at < tokens.len() && loops < MAX_LOOPS {
        let by_glob = is_name(tokens.get(at), &["while"]) && is_name(tokens.get(at + 1), &["glob"]);
        if !by_glob && !is_name(tokens.get(at), &["for", "foreach"]) {
            at += 1;
            continue;
        }
        loops += 1;
        let from = tokens[..at]
            .iter()
            .rposition(|token| matches!(token, Sign(';' | '{' | '}')))
            .map_or(0, |end| end + 1);
        at = if from == at {
            headed(&mut tokens, at)
        } else {
            turned(&mut tokens, from, at)
        };
    }
    tokens
}

/// Names the variable of the loop whose head begins here; where to go on.
fn headed(tokens: &mut Vec<Token>, at: usize) -> usize {
    if tokens.get(at + 1) != Some(&Sign('(')) {
        return at + 1;
    }
    let Some(length) = closing(&tokens[at + 2..]) else {
        return at + 1;
    };
    let close = at + 2 + length;
    let list = &tokens[at + 2..close];
    // `for (my $i = 0; …)`
    if list.contains(&Sign(';')) || reads(list) || tokens.get(close + 1) != Some(&Sign('{')) {
        return at + 1;
    }
    let body = close + 2;
    let end = closing(&tokens[body..]).map_or(tokens.len(), |length| body + length);
    renamed(&mut tokens[body..end]);
    tokens.insert(at + 1, Name(PERLS_EACH.to_owned()));
    close + 2
}

/// Turns a statement with its loop behind it around; where to go on.
fn turned(tokens: &mut Vec<Token>, from: usize, at: usize) -> usize {
    let behind = &tokens[at + 1..];
    let length = closing(behind)
        .into_iter()
        .chain(behind.iter().position(|token| *token == Sign(';')))
        .min()
        .unwrap_or(behind.len());
    if reads(&behind[..length]) {
        return at + 1;
    }
    let mut body = tokens[from..at].to_vec();
    renamed(&mut body);
    let mut put = vec![Name("for".to_owned()), Name(PERLS_EACH.to_owned())];
    put.extend_from_slice(&behind[..length]);
    put.push(Sign('{'));
    put.extend(body);
    put.extend([Sign('}'), Sign(';')]);
    let next = from + put.len();
    tokens.splice(from..at + 1 + length, put);
    next
}

/// Whether the loop goes over the lines of the input, for which `$_` is already right.
fn reads(list: &[Token]) -> bool {
    list.contains(&Name("STDIN".to_owned())) || list.starts_with(&[Sign('<')]) || list.is_empty()
}

fn renamed(body: &mut [Token]) {
    let is_element = |next: Option<&Token>| matches!(next, Some(Sign('[' | '{')));
    for at in 0..body.len() {
        let element = is_element(body.get(at + 1));
        match &mut body[at] {
            Name(name) if name == "$_" && !element => PERLS_EACH.clone_into(name),
            Text(text) | Token::Run(text) if text.contains("$_") => {
                *text = in_text(text);
            }
            _ => {}
        }
    }
}

/// The text with `$_` by its new name, and `$_x` and `$_[0]` as they are.
fn in_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((front, behind)) = rest.split_once("$_") {
        out.push_str(front);
        let goes_on = behind.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '['));
        out.push_str(if goes_on { "$_" } else { PERLS_EACH });
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// Finds the close of the bracket that opens just before the first of these tokens.
fn closing(tokens: &[Token]) -> Option<usize> {
    let mut depth = 1usize;
    tokens.iter().position(|token| {
        match token {
            Sign('(' | '[' | '{') => depth += 1,
            Sign(')' | ']' | '}') => depth -= 1,
            _ => {}
        }
        depth == 0
    })
}
