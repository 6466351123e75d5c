//! The context of a called function's name: its arguments, and the string that it is called on.

use super::{last, token::Token};

/// So many pieces of a call are looked at: a program in which nothing closes is gone through once, not once for each call.
const MAX_ARGUMENTS: usize = 512;

/// Returns the tokens between the brackets that open at `at`, or the one string there.
pub(super) fn arguments(tokens: &[Token], at: usize) -> Vec<Token> {
    let mut depth = 0usize;
    let mut all = Vec::new();
    for token in tokens[at..].iter().take(MAX_ARGUMENTS) {
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

/// The first of some strings.
pub(super) fn first_text(arguments: &[Token]) -> Option<String> {
    arguments.iter().find_map(|token| match token {
        Token::Text(text) => Some(text.clone()),
        _ => None,
    })
}

/// The last of several strings.
pub(super) fn last_text(arguments: &[Token]) -> Option<String> {
    let mut texts = arguments.iter().filter_map(|token| match token {
        Token::Text(text) => Some(text.clone()),
        _ => None,
    });
    texts.next().and_then(|_| texts.next_back())
}

/// The string that a method is called on: `Path("x").unlink()`.
pub(super) fn before(tokens: &[Token], at: usize) -> Option<String> {
    let near = tokens[..at].iter().enumerate().rev().take(6);
    for (here, token) in near {
        match token {
            // The name of a library is no path.
            Token::Text(_)
                if matches!(
                    tokens[..here],
                    [.., Token::Name(ref name), Token::Sign('(')]
                        if matches!(last(name), "require" | "import" | "__import__" | "import_module")
                ) =>
            {
                return None;
            }
            Token::Text(text) => return Some(text.clone()),
            Token::Sign(')' | '(' | '.') | Token::Name(_) => {}
            _ => return None,
        }
    }
    None
}

/// Splits a call's arguments at commas, with or without the brackets around them.
pub(super) fn parts(given: &[Token]) -> Vec<&[Token]> {
    let given = match given {
        [Token::Sign('('), inner @ ..] => inner,
        all => all,
    };
    let mut depth = 0usize;
    let parts = given.split(|token| {
        match token {
            Token::Sign('(' | '[' | '{') => depth += 1,
            Token::Sign(')' | ']' | '}') => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && *token == Token::Sign(',')
    });
    parts.filter(|part| !part.is_empty()).collect()
}

/// Returns the number that is there alone, without its octal prefix: `-1`, `0o755`.
pub(super) fn number(part: &[Token]) -> Option<String> {
    let mut number = String::new();
    for token in part {
        match token {
            Token::Sign('-') if number.is_empty() => number.push('-'),
            Token::Sign(sign) if sign.is_ascii_digit() => number.push(*sign),
            Token::Name(name) if number == "0" => {
                let digits = name.strip_prefix('o').filter(|digits| {
                    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
                })?;
                number.push_str(digits);
            }
            _ => return None,
        }
    }
    number
        .ends_with(|letter: char| letter.is_ascii_digit())
        .then_some(number)
}
