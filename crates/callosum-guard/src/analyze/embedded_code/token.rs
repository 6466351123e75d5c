//! The pieces of a program: names, strings, signs. No more is read of any language.

use super::Language;

/// A piece of a program.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Name(String),
    Text(String),
    /// A text in backticks or `%x(…)`, in languages that run these.
    Run(String),
    Sign(char),
}

pub(super) fn tokens(language: &Language, source: &str) -> Vec<Token> {
    let letters: Vec<char> = source.chars().take(16_384).collect();
    // Of the compiled languages Dart has its strings in single quotes.
    let is_dart = language.is_compiled() && source.contains("'dart:");
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < letters.len() {
        let letter = letters[at];
        if letter.is_whitespace() {
            at += 1;
            continue;
        }
        if letter == '#' && language.hash
            || letter == '/' && letters.get(at + 1) == Some(&'/') && !language.hash
        {
            while at < letters.len() && letters[at] != '\n' {
                at += 1;
            }
            continue;
        }
        if letter == '%' && letters.get(at + 1) == Some(&'x')
            || letter == 'q'
                && letters.get(at + 1) == Some(&'x')
                && letters.get(at + 2).is_some_and(|c| !c.is_alphanumeric())
        {
            let open = letters.get(at + 2).copied().unwrap_or(' ');
            let close = match open {
                '(' => ')',
                '{' => '}',
                '[' => ']',
                '<' => '>',
                other => other,
            };
            if !open.is_alphanumeric() && !open.is_whitespace() {
                let (text, end) = quoted(&letters, at + 3, close, 1);
                tokens.push(Token::Run(text));
                at = end;
                continue;
            }
        }
        if letter == 'q' && language.name == "perl -e" && letters.get(at + 1) != Some(&'w') {
            let from = if letters.get(at + 1) == Some(&'q') {
                at + 2
            } else {
                at + 1
            };
            let open = letters.get(from).copied().unwrap_or(' ');
            let close = match open {
                '(' => Some(')'),
                '{' => Some('}'),
                '[' => Some(']'),
                '/' | '|' | '!' => Some(open),
                _ => None,
            };
            if let Some(close) = close {
                let (text, end) = quoted(&letters, from + 1, close, 1);
                tokens.push(Token::Text(text));
                at = end;
                continue;
            }
        }
        // `%q(a)`, `%Q(a)` and `%(a)` are strings of Ruby's.
        if letter == '%' && language.name == "ruby -e" {
            let from = at + 1 + usize::from(matches!(letters.get(at + 1), Some('q' | 'Q')));
            let close = match letters.get(from) {
                Some('(') => Some(')'),
                Some('{') => Some('}'),
                Some('[') => Some(']'),
                Some('<') => Some('>'),
                Some(sign @ ('|' | '!' | '/')) if from > at + 1 => Some(*sign),
                _ => None,
            };
            if let Some(close) = close {
                let (text, end) = quoted(&letters, from + 1, close, 1);
                tokens.push(Token::Text(text));
                at = end;
                continue;
            }
        }
        // `qw(a b)` and `%w(a b)` are a list of words.
        let lists = match language.name {
            "perl -e" => letter == 'q',
            "ruby -e" => letter == '%',
            _ => false,
        };
        if lists && letters.get(at + 1) == Some(&'w') {
            let mut from = at + 2;
            while letters.get(from) == Some(&' ') {
                from += 1;
            }
            let close = match letters.get(from) {
                Some('(') => Some(')'),
                Some('[') => Some(']'),
                Some('{') => Some('}'),
                Some('<') => Some('>'),
                Some(sign) if sign.is_ascii_punctuation() && *sign != '_' => Some(*sign),
                _ => None,
            };
            if let Some(close) = close {
                let (text, end) = quoted(&letters, from + 1, close, 1);
                let text = text.replace(&format!("\\{close}"), &close.to_string());
                tokens.push(Token::Sign('['));
                for (place, word) in text.split_whitespace().enumerate() {
                    if place > 0 {
                        tokens.push(Token::Sign(','));
                    }
                    tokens.push(Token::Text(word.to_owned()));
                }
                tokens.push(Token::Sign(']'));
                at = end;
                continue;
            }
        }
        // `<*.c>` is `glob("*.c")`.
        if letter == '<'
            && language.name == "perl -e"
            && let Some(length) = letters[at + 1..].iter().take(64).position(|c| *c == '>')
            && letters[at + 1..=at + length].contains(&'*')
        {
            tokens.push(Token::Name("glob".to_owned()));
            tokens.push(Token::Text(letters[at + 1..=at + length].iter().collect()));
            at += length + 2;
            continue;
        }
        // A letter, as in `'x'` or `'\n'`, or the name of a lifetime.
        if letter == '\'' && language.is_compiled() && !is_dart {
            let escaped = letters.get(at + 1) == Some(&'\\');
            let closes = letters.get(at + 2 + usize::from(escaped)) == Some(&'\'');
            at += if closes { 3 + usize::from(escaped) } else { 1 };
            continue;
        }
        if letter == '/' && letters.get(at + 1) == Some(&'*') && language.is_compiled() {
            let mut end = at + 2;
            while end < letters.len() && (letters[end], letters.get(end + 1)) != ('*', Some(&'/')) {
                end += 1;
            }
            at = end + 2;
            continue;
        }
        if matches!(letter, '\'' | '"' | '`') {
            let triple = letters.get(at + 1) == Some(&letter)
                && letters.get(at + 2) == Some(&letter)
                && letter != '`';
            let width = if triple { 3 } else { 1 };
            let (text, end) = quoted(&letters, at + width, letter, width);
            tokens.push(if letter == '`' && language.backticks {
                Token::Run(text)
            } else {
                Token::Text(text)
            });
            at = end;
            continue;
        }
        if letter.is_alphabetic() || matches!(letter, '_' | '$' | '@') {
            let start = at;
            while at < letters.len()
                && (letters[at] == '-' && language.is_lisp()
                    || letters[at].is_alphanumeric()
                    || matches!(letters[at], '_' | '$' | '@')
                    || matches!(letters[at], '.' | ':')
                        && letters
                            .get(at + 1)
                            .is_some_and(|c| c.is_alphabetic() || *c == '_' || *c == ':'))
            {
                at += 1;
            }
            let name: String = letters[start..at].iter().collect();
            // A prefix of a string: r'', b"", f''.
            let prefix = name.len() <= 2
                && matches!(letters.get(at), Some('\'' | '"'))
                && name.chars().all(|c| "rbfuRBFU".contains(c));
            if !prefix {
                tokens.push(Token::Name(name));
            }
            // `File.rm_rf!(…)`
            let is_called = letters.get(at) == Some(&'!') && letters.get(at + 1) == Some(&'(');
            at += usize::from(is_called && language.name == "elixir -e");
            continue;
        }
        // Lua joins two texts by two dots.
        if letter == '.' && letters.get(at + 1) == Some(&'.') && language.name == "lua -e" {
            tokens.push(Token::Sign('.'));
            at += 2;
            continue;
        }
        if letter == '.' && letters.get(at + 1).is_some_and(|c| c.is_alphabetic()) {
            at += 1;
            continue;
        }
        tokens.push(Token::Sign(letter));
        at += 1;
    }
    tokens
}

/// A string from here up to its end.
fn quoted(letters: &[char], from: usize, close: char, width: usize) -> (String, usize) {
    let mut raw = String::new();
    let mut at = from;
    while at < letters.len() {
        if letters[at] == '\\' && at + 1 < letters.len() {
            raw.push('\\');
            raw.push(letters[at + 1]);
            at += 2;
            continue;
        }
        if letters[at] == close && (1..width).all(|more| letters.get(at + more) == Some(&close)) {
            return (crate::shell::ansi::decode(&raw), at + width);
        }
        raw.push(letters[at]);
        at += 1;
    }
    (crate::shell::ansi::decode(&raw), letters.len())
}
