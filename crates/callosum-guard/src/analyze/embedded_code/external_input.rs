//! Values that a program gets from outside: its arguments, its input, and environment variables.

use std::collections::{BTreeMap, BTreeSet};

use super::{Language, token::Token};
use crate::analyze::value::{Source, is_known};

/// The known values from outside.
#[derive(Clone, Debug, Default)]
pub(in crate::analyze) struct Given {
    /// The words behind the program.
    pub(in crate::analyze) words: Vec<String>,
    /// Those of them that the shell fills in with names of files.
    pub(in crate::analyze) patterns: BTreeSet<String>,
    /// Sources of those words whose source matters.
    pub(in crate::analyze) sources: BTreeMap<String, Source>,
    /// Whether the program is in a file, rather than in an option.
    pub(in crate::analyze) by_file: bool,
    /// Whether what it reads comes from where secrets are kept.
    pub(in crate::analyze) is_fed_secrets: bool,
    /// Its input, if known.
    pub(in crate::analyze) input: Option<String>,
    pub(in crate::analyze) environment: BTreeMap<String, String>,
}

/// Lines of what is read that are put in.
const MAX_LINES: usize = 8;

impl Given {
    /// Puts what is given in the place of what the program calls it.
    pub(super) fn put_into(&self, language: &Language, tokens: Vec<Token>) -> Vec<Token> {
        let is_nothing =
            self.words.is_empty() && self.input.is_none() && self.environment.is_empty();
        if is_nothing {
            return tokens;
        }
        let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
        let mut shifted = 0;
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let behind = &tokens[at + 1..];
            let found = match token {
                Token::Name(name) => self
                    .argument(language, name, behind, &mut shifted)
                    .or_else(|| self.read(name, behind))
                    .or_else(|| self.variable(name, behind)),
                Token::Text(text) => self
                    .filled(language, text)
                    .map(|text| (vec![Token::Text(text)], 0)),
                _ => None,
            };
            let (put, length) = found.unwrap_or_else(|| (vec![token.clone()], 0));
            out.extend(put);
            at += 1 + length;
        }
        out
    }

    /// Number of elements that the list has before the words.
    fn before(&self, language: &Language) -> usize {
        match language.name {
            "python -c" | "php -r" => 1,
            "node -e" => 1 + usize::from(self.by_file),
            _ => 0,
        }
    }

    fn word(&self, language: &Language, index: usize) -> Option<&str> {
        let index = index.checked_sub(self.before(language))?;
        let word = self.words.get(index)?;
        is_known(word).then_some(word.as_str())
    }

    fn listed(&self, language: &Language, from: usize) -> Vec<Token> {
        let from = from.saturating_sub(self.before(language));
        list(self.words.iter().skip(from).map(String::as_str))
    }

    fn argument(
        &self,
        language: &Language,
        name: &str,
        behind: &[Token],
        shifted: &mut usize,
    ) -> Option<(Vec<Token>, usize)> {
        if self.words.is_empty() {
            return None;
        }
        let all = match language.name {
            "python -c" => ["sys.argv", "argv"],
            "node -e" => ["process.argv", "Bun.argv"],
            "deno eval" => ["Deno.args", "Deno.args"],
            "perl -e" => ["@ARGV", "$ARGV"],
            "ruby -e" => ["ARGV", "$*"],
            "php -r" => ["$argv", "$argv"],
            _ => return None,
        };
        let is_whole = matches!(language.name, "perl -e" | "ruby -e" | "deno eval");
        if all.contains(&name) {
            if let Some((index, length)) = index(behind) {
                let word = self.word(language, index + *shifted)?;
                return Some((vec![Token::Text(word.to_owned())], length));
            }
            if let [
                Token::Sign('['),
                Token::Sign(digit),
                Token::Sign(':'),
                Token::Sign(']'),
                ..,
            ] = behind
                && let Some(digit) = digit.to_digit(10)
            {
                return Some((self.listed(language, digit as usize), 4));
            }
            return is_whole.then(|| (self.listed(language, *shifted), 0));
        }
        let (value, method) = name.rsplit_once('.').unwrap_or(("", name));
        if all.contains(&value) {
            let taken = match (method, behind) {
                ("slice", [Token::Sign('('), Token::Sign(digit), Token::Sign(')'), ..]) => {
                    let from = digit.to_digit(10)?;
                    return Some((self.listed(language, from as usize), 3));
                }
                ("first" | "shift", _) => self.word(language, *shifted)?,
                ("join" | "each" | "map" | "forEach", _) if is_whole => {
                    let mut put = self.listed(language, *shifted);
                    put.push(Token::Name(method.to_owned()));
                    return Some((put, 0));
                }
                _ => return None,
            };
            let put = vec![Token::Text(taken.to_owned())];
            *shifted += usize::from(method == "shift");
            return Some((put, 0));
        }
        // `shift`, `shift @ARGV`, and what a loop behind its body goes through.
        match (language.name, name) {
            ("perl -e", "shift") => {
                let word = self.word(language, *shifted)?.to_owned();
                *shifted += 1;
                let is_named = matches!(behind, [Token::Name(name), ..] if name == "@ARGV");
                Some((vec![Token::Text(word)], usize::from(is_named)))
            }
            ("perl -e", "$_") if self.input.is_none() => {
                let word = self.word(language, *shifted)?;
                Some((vec![Token::Text(word.to_owned())], 0))
            }
            _ => None,
        }
    }

    /// Returns the input that an expression reads: whole, or line by line.
    fn read(&self, name: &str, behind: &[Token]) -> Option<(Vec<Token>, usize)> {
        let input = self.input.as_deref()?;
        let lines = || list(input.lines().take(MAX_LINES));
        let calls = usize::from(matches!(behind, [Token::Sign('('), Token::Sign(')'), ..])) * 2;
        match name {
            "sys.stdin" if !matches!(behind, [Token::Sign('.'), ..]) => Some((lines(), 0)),
            "sys.stdin.readlines" | "STDIN.readlines" | "$stdin.readlines" => {
                Some((lines(), calls))
            }
            "sys.stdin.read" | "STDIN.read" | "$stdin.read" | "$_" => {
                let text = input.trim_end_matches('\n').to_owned();
                Some((vec![Token::Text(text)], calls))
            }
            "STDIN.each_line" | "$stdin.each_line" | "ARGF.each_line" => {
                let mut put = lines();
                put.push(Token::Name("each".to_owned()));
                Some((put, 0))
            }
            _ => None,
        }
    }

    /// A variable of the environment.
    fn variable(&self, name: &str, behind: &[Token]) -> Option<(Vec<Token>, usize)> {
        let put = |name: &str, length| {
            let value = self.environment.get(name)?;
            Some((vec![Token::Text(value.clone())], length))
        };
        let (_, last) = name.rsplit_once('.').unwrap_or(("", name));
        if let Some(variable) = name.strip_prefix("process.env.") {
            return put(variable, 0);
        }
        let is_asked = matches!(
            last,
            "environ" | "getenv" | "ENV" | "env" | "$ENV" | "$_ENV"
        ) || name.ends_with("environ.get")
            || name == "Deno.env.get"
            || name == "ENV.fetch";
        match behind {
            [
                Token::Sign('[' | '(' | '{'),
                Token::Text(variable) | Token::Name(variable),
                Token::Sign(']' | ')' | '}'),
                ..,
            ] if is_asked => put(variable, 3),
            _ => None,
        }
    }

    /// A text with the arguments that are named in it.
    fn filled(&self, language: &Language, text: &str) -> Option<String> {
        if self.words.is_empty() || !text.contains(['{', '$']) {
            return None;
        }
        let mut whole = text.to_owned();
        for index in 0..self.words.len() + self.before(language) {
            let Some(word) = self.word(language, index) else {
                continue;
            };
            let forms = match language.name {
                "python -c" => format!("{{sys.argv[{index}]}}"),
                "node -e" => format!("${{process.argv[{index}]}}"),
                "ruby -e" => format!("#{{ARGV[{index}]}}"),
                "perl -e" => format!("$ARGV[{index}]"),
                "php -r" => format!("$argv[{index}]"),
                _ => return None,
            };
            whole = whole.replace(&forms, word);
        }
        (whole != text).then_some(whole)
    }
}

/// `[1]`, and how many pieces that is.
fn index(behind: &[Token]) -> Option<(usize, usize)> {
    match behind {
        [Token::Sign('['), Token::Sign(digit), Token::Sign(']'), ..] => {
            Some((digit.to_digit(10)? as usize, 3))
        }
        _ => None,
    }
}

/// A list of texts.
fn list<'w>(texts: impl Iterator<Item = &'w str>) -> Vec<Token> {
    let mut tokens = vec![Token::Sign('[')];
    for text in texts {
        if tokens.len() > 1 {
            tokens.push(Token::Sign(','));
        }
        tokens.push(Token::Text(text.to_owned()));
    }
    tokens.push(Token::Sign(']'));
    tokens
}
