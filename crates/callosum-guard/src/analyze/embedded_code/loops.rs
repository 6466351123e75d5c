//! Loops over what is written there, and what their variables hold in each round.

use super::{
    constants::{Constant, Names, list_at_end},
    last,
    token::Token,
};

/// Values of loops that are gone through, all in all.
const MAX_ROUNDS: usize = 12;

/// Returns the values of loop variables in each round: `for a in ("x", "y")`,
/// `["x"].forEach(a => …)`. While one loop runs, the others are at their first value.
pub(super) fn rounds(tokens: &[Token]) -> Vec<Names> {
    let loops = loops(tokens);
    let first: Names = loops
        .iter()
        .filter_map(|(name, values)| Some((name.clone(), values.first()?.clone())))
        .collect();
    let mut rounds = Vec::new();
    for (name, values) in loops {
        for value in values {
            let mut round = first.clone();
            round.insert(name.clone(), value);
            if rounds.len() < MAX_ROUNDS && !rounds.contains(&round) {
                rounds.push(round);
            }
        }
    }
    rounds
}

/// The loops over what is written there, by their variable.
fn loops(tokens: &[Token]) -> Vec<(String, Vec<Constant>)> {
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let Token::Name(name) = token else { continue };
        let behind = &tokens[at + 1..];
        let round = match (last(name), behind) {
            // `for a in [..]`, `for (const a of [..])`, `for my $a (..)`
            ("in" | "of", [Token::Sign('(' | '['), ..]) if at > 0 => match &tokens[at - 1] {
                Token::Name(variable) => Some((variable, values(behind))),
                _ => None,
            },
            // `for _, a in ipairs({..})`
            ("in", [Token::Name(function), Token::Sign('('), rest @ ..])
                if at > 0 && matches!(function.as_str(), "ipairs" | "pairs") =>
            {
                match &tokens[at - 1] {
                    Token::Name(variable) => Some((variable, values(rest))),
                    _ => None,
                }
            }
            // `foreach ([..] as $a)`
            ("foreach", [Token::Sign('('), rest @ ..])
                if rest.first() == Some(&Token::Sign('[')) =>
            {
                let close = rest
                    .iter()
                    .position(|token| *token == Token::Name("as".to_owned()));
                let variable = close.and_then(|close| match rest.get(close + 1) {
                    Some(Token::Name(variable)) => Some(variable),
                    _ => None,
                });
                variable.map(|variable| (variable, values(rest)))
            }
            ("for" | "foreach", [Token::Name(variable), rest @ ..])
                if variable.starts_with('$') || variable == "my" =>
            {
                let (variable, rest) = match rest {
                    [Token::Name(variable), rest @ ..] if variable.starts_with('$') => {
                        (variable, rest)
                    }
                    rest => (variable, rest),
                };
                Some((variable, values(rest)))
            }
            ("forEach" | "map" | "each", [opens, rest @ ..])
                if matches!(opens, Token::Sign('(' | '{'))
                    || *opens == Token::Name("do".to_owned()) =>
            {
                let variable = rest.iter().find_map(|token| match token {
                    Token::Name(name) if !matches!(name.as_str(), "async" | "function") => {
                        Some(name)
                    }
                    _ => None,
                });
                let close = at
                    .checked_sub(1)
                    .filter(|&at| tokens[at] == Token::Sign(']'));
                let open = close.and_then(|close| opening(&tokens[..=close]));
                variable
                    .zip(open)
                    .map(|(variable, open)| (variable, values(&tokens[open..])))
            }
            _ => None,
        };
        found.extend(round.map(|(variable, values)| (variable.clone(), values)));
    }
    found
}

/// Returns the elements of the list that begins here, strings and lists of strings; none if one of
/// them is something else.
fn values(tokens: &[Token]) -> Vec<Constant> {
    let Some((Token::Sign('(' | '[' | '{'), rest)) = tokens.split_first() else {
        return Vec::new();
    };
    let mut values = Vec::new();
    let mut at = 0;
    loop {
        match rest.get(at) {
            Some(Token::Text(text)) => values.push(Constant::Text(text.clone())),
            Some(Token::Sign(',')) => {}
            Some(Token::Sign(')' | ']' | '}')) => return values,
            Some(Token::Sign('(' | '[')) => {
                let Some(length) = rest[at..].iter().position(is_close) else {
                    return Vec::new();
                };
                let Some((_, list)) = list_at_end(&rest[..=at + length]) else {
                    return Vec::new();
                };
                values.push(Constant::List(list));
                at += length;
            }
            _ => return Vec::new(),
        }
        at += 1;
    }
}

pub(super) fn is_close(token: &Token) -> bool {
    matches!(token, Token::Sign(')' | ']'))
}

/// Finds the bracket that opens what closes at the end.
fn opening(tokens: &[Token]) -> Option<usize> {
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate().rev() {
        match token {
            Token::Sign(')' | ']') => depth += 1,
            Token::Sign('(' | '[') => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}
