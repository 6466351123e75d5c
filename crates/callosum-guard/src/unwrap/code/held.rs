//! What names hold and strings come to: joined, put into one another, split, kept in lists.
//!
//! Start with [`folded`], which goes through a program once, from its begin to its end, and puts in the
//! place of each name what was last kept in it. A loop over what is written there is gone through once
//! for each of its values: [`rounds`]. Nothing is evaluated beyond that: no condition, no function of the program's own.

use std::collections::BTreeMap;

use super::{
    Language,
    fold::{homed, lettered},
    last,
    token::{Token, tokens},
};
use crate::unwrap::value::{SOME, push};

/// What a name is known to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Held {
    Text(String),
    List(Vec<String>),
}

/// What names hold, by the name.
pub(super) type Names = BTreeMap<String, Held>;

/// Values of loops that are gone through, all in all.
const MAX_ROUNDS: usize = 12;
/// Bytes that a string may come to.
const MAX_TEXT: usize = 16 * 1024;
/// Items that a list may come to.
const MAX_ITEMS: usize = 64;

/// Joins strings that are added, and puts in what names stand for.
pub(super) fn folded(language: &Language, tokens: Vec<Token>, home: &str) -> Vec<Token> {
    with_names(language, tokens, home, Names::new())
}

/// The same, where something is known from the start.
pub(super) fn with_names(
    language: &Language,
    tokens: Vec<Token>,
    home: &str,
    known: Names,
) -> Vec<Token> {
    let mut folding = Folding {
        language,
        home,
        known,
        out: Vec::with_capacity(tokens.len()),
        before: None,
    };
    for (at, token) in tokens.iter().enumerate() {
        let behind = tokens.get(at + 1..).unwrap_or_default();
        folding.take(token, behind);
    }
    folding.out
}

/// What the variables of loops hold in each round: `for a in ("x", "y")`, `["x"].forEach(a => …)`. While one is gone
/// through, the others are at their first value.
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
fn loops(tokens: &[Token]) -> Vec<(String, Vec<Held>)> {
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

/// What stands in the list that begins here, strings and lists of strings; nothing where some of it
/// is another thing.
fn values(tokens: &[Token]) -> Vec<Held> {
    let Some((Token::Sign('(' | '['), rest)) = tokens.split_first() else {
        return Vec::new();
    };
    let mut values = Vec::new();
    let mut at = 0;
    loop {
        match rest.get(at) {
            Some(Token::Text(text)) => values.push(Held::Text(text.clone())),
            Some(Token::Sign(',')) => {}
            Some(Token::Sign(')' | ']')) => return values,
            Some(Token::Sign('(' | '[')) => {
                let Some(length) = rest[at..].iter().position(is_close) else {
                    return Vec::new();
                };
                let Some((_, list)) = list_at_end(&rest[..=at + length]) else {
                    return Vec::new();
                };
                values.push(Held::List(list));
                at += length;
            }
            _ => return Vec::new(),
        }
        at += 1;
    }
}

fn is_close(token: &Token) -> bool {
    matches!(token, Token::Sign(')' | ']'))
}

/// Where the bracket opens that closes at the end.
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

/// The list of strings that ends here, and where it begins.
fn list_at_end(tokens: &[Token]) -> Option<(usize, Vec<String>)> {
    let (close, inner) = tokens.split_last()?;
    if !is_close(close) {
        return None;
    }
    let mut list = Vec::new();
    for (at, token) in inner.iter().enumerate().rev() {
        match token {
            Token::Text(text) => list.push(text.clone()),
            Token::Sign(',') => {}
            Token::Sign('(' | '[') => {
                list.reverse();
                return Some((at, list));
            }
            _ => return None,
        }
    }
    None
}

/// Going through a program.
struct Folding<'a> {
    language: &'a Language,
    home: &'a str,
    known: Names,
    out: Vec<Token>,
    /// What a name held before something was added, and where that stands.
    before: Option<(usize, Held)>,
}

impl Folding<'_> {
    /// Takes the next piece, behind which these stand.
    fn take(&mut self, token: &Token, behind: &[Token]) {
        match token {
            Token::Name(name) => self.name(name, behind),
            Token::Text(text) => {
                let text = self.filled(text);
                self.text(text);
            }
            Token::Run(text) => {
                let text = self.filled(text);
                self.out.push(Token::Run(text));
            }
            Token::Sign(sign) => {
                self.out.push(Token::Sign(*sign));
                if matches!(sign, ')' | ']') {
                    self.closed();
                }
                self.remember();
            }
        }
    }

    fn name(&mut self, name: &str, behind: &[Token]) {
        if matches!(name, "os.sep" | "path.sep") {
            return self.text("/".to_owned());
        }
        let is_assigned = match behind {
            [Token::Sign('='), Token::Sign('=' | '~'), ..] => false,
            [Token::Sign('='), ..] | [Token::Sign('+' | '.'), Token::Sign('='), ..] => true,
            _ => false,
        };
        if is_assigned {
            self.out.push(Token::Name(name.to_owned()));
            return;
        }
        // Perl's `$a[0]` is of `@a`, which is not looked into.
        if let Some(held) = self.known.get(name).cloned() {
            return self.held(held);
        }
        // `args.join(" ")`
        if let Some((value, method)) = name.rsplit_once('.')
            && matches!(
                method,
                "join"
                    | "split"
                    | "concat"
                    | "format"
                    | "strip"
                    | "trim"
                    | "each"
                    | "map"
                    | "forEach"
            )
            && let Some(held) = self.known.get(value).cloned()
        {
            self.held(held);
            self.out.push(Token::Name(method.to_owned()));
            return;
        }
        self.out.push(Token::Name(name.to_owned()));
    }

    fn held(&mut self, held: Held) {
        match held {
            Held::Text(text) => self.text(text),
            Held::List(list) => {
                let within = self.spread();
                if !within {
                    self.out.push(Token::Sign('['));
                }
                self.list(list);
                if !within {
                    self.out.push(Token::Sign(']'));
                    self.closed();
                    self.remember();
                }
            }
        }
    }

    /// Takes away `*` and `...`, where a list follows whose items are put in one by one.
    fn spread(&mut self) -> bool {
        let length = match self.out.as_slice() {
            [.., Token::Sign('.'), Token::Sign('.'), Token::Sign('.')] => 3,
            [.., Token::Sign('.'), Token::Sign('.')] => 2,
            [.., Token::Sign('(' | '[' | ','), Token::Sign('*')] => 1,
            _ => 0,
        };
        self.out.truncate(self.out.len() - length);
        length > 0
    }

    fn list(&mut self, list: Vec<String>) {
        for (at, text) in list.into_iter().enumerate() {
            if at > 0 {
                self.out.push(Token::Sign(','));
            }
            self.out.push(Token::Text(text));
        }
    }

    fn text(&mut self, text: String) {
        // `Path("a") / "b"`
        if self.language.name == "python -c"
            && let [.., Token::Text(folder), Token::Sign('/')] = self.out.as_slice()
        {
            let mut whole = format!("{}/", folder.trim_end_matches('/'));
            push(&mut whole, &text);
            return self.replace(2, whole);
        }
        match self.out.as_slice() {
            [.., Token::Text(before), Token::Sign('+' | '.')]
                if before.len() + text.len() <= MAX_TEXT =>
            {
                let mut whole = before.clone();
                push(&mut whole, &text);
                return self.replace(2, whole);
            }
            // `"git %s" % "reset"`
            [.., Token::Text(before), Token::Sign('%')] if before.contains("%s") => {
                let whole = before.replacen("%s", &text, 1);
                return self.replace(2, whole);
            }
            _ => {}
        }
        // Two strings side by side are one.
        if let Some(Token::Text(before)) = self.out.last_mut() {
            push(before, &text);
            return self.remember();
        }
        self.out.push(Token::Text(text));
        self.remember();
    }

    /// Puts a text in the place of the last so many pieces.
    fn replace(&mut self, length: usize, text: String) {
        self.out.truncate(self.out.len() - length);
        self.text(text);
    }

    /// Joins, splits and fills where the arguments of that end here.
    fn closed(&mut self) {
        let Some((open, given)) = list_at_end(&self.out) else {
            return;
        };
        let (front, _) = self.out.split_at(open);
        let first = given.first().map(String::as_str);
        match front {
            // `" ".join([..])`: the list stands in brackets of the call.
            [.., Token::Text(apart), Token::Name(name), Token::Sign('(')]
                if name == "join" && self.out[open] == Token::Sign('[') =>
            {
                let text = given.join(apart);
                self.out.truncate(open - 3);
                // What closes the call is passed over by `passed`.
                self.out.push(Token::Name(JOINED.to_owned()));
                self.out.push(Token::Sign('('));
                self.out.push(Token::Text(text));
            }
            // `implode(" ", ["git", "reset"])`
            [
                ..,
                Token::Name(name),
                Token::Sign('('),
                Token::Text(_),
                Token::Sign(','),
            ] if matches!(name.as_str(), "join" | "implode")
                && self.out[open] == Token::Sign('[') =>
            {
                self.out.truncate(open);
                self.list(given);
            }
            [.., Token::Name(name)] if name == JOINED => {
                let text = given.concat();
                self.out.truncate(open - 1);
                self.text(text);
            }
            // `[..].join(" ")`
            [.., Token::Sign(']'), Token::Name(name)] if name == "join" => {
                let apart = first.unwrap_or(if self.language.name == "ruby -e" {
                    ""
                } else {
                    ","
                });
                if let Some((from, list)) = list_at_end(&front[..front.len() - 1]) {
                    let text = list.join(apart);
                    self.out.truncate(from);
                    self.text(text);
                }
            }
            // `join(" ", @a)`, `implode(" ", $a)`: its list is given in the same brackets.
            [.., Token::Name(name)]
                if matches!(name.as_str(), "join" | "implode")
                    && given.len() > 1
                    && matches!(self.language.name, "perl -e" | "php -r") =>
            {
                let text = given[1..].join(&given[0]);
                self.out.truncate(open - 1);
                self.text(text);
            }
            // `"a b".split(" ")`
            [.., Token::Text(text), Token::Name(name)] if name == "split" => {
                let list = split(text, first);
                self.out.truncate(open - 2);
                self.held(Held::List(list));
            }
            [.., Token::Name(name)] if name == "shlex.split" => {
                let list = split(first.unwrap_or(""), None);
                self.out.truncate(open - 1);
                self.held(Held::List(list));
            }
            // `"git {}".format("reset")`, `"git".concat(" reset")`
            [.., Token::Text(text), Token::Name(name)] if name == "format" => {
                let text = given
                    .iter()
                    .fold(text.clone(), |text, one| text.replacen("{}", one, 1));
                self.replace(self.out.len() - open + 2, text);
            }
            [.., Token::Text(text), Token::Name(name)] if name == "concat" => {
                let text = format!("{text}{}", given.concat());
                self.replace(self.out.len() - open + 2, text);
            }
            [.., Token::Text(text), Token::Name(name)]
                if matches!(name.as_str(), "strip" | "trim") =>
            {
                let text = text.trim().to_owned();
                self.replace(self.out.len() - open + 2, text);
            }
            // `"%s %s" % ("git", "reset")`
            [.., Token::Text(text), Token::Sign('%')] if text.contains("%s") => {
                let text = given
                    .iter()
                    .fold(text.clone(), |text, one| text.replacen("%s", one, 1));
                self.replace(self.out.len() - open + 2, text);
            }
            [.., Token::Name(name)] if name == "sprintf" && first.is_some() => {
                let text = given[1..]
                    .iter()
                    .fold(given[0].clone(), |text, one| text.replacen("%s", one, 1));
                self.out.truncate(open - 1);
                self.text(text);
            }
            // `args.extend(["--hard"])`
            [.., Token::Name(name), Token::Sign('(')] if name.contains('.') => {
                self.grown(&name.clone(), given);
            }
            // `args.append("--hard")`
            [.., Token::Name(name)] => self.grown(&name.clone(), given),
            // `["git"] + ["reset"]`
            [.., Token::Sign(']'), Token::Sign('+')] if self.out[open] == Token::Sign('[') => {
                if let Some((from, mut list)) = list_at_end(&front[..front.len() - 1]) {
                    list.extend(given);
                    self.out.truncate(from);
                    self.held(Held::List(list));
                }
            }
            // `["git", *["reset"]]`
            [.., Token::Sign('*' | '.')] => {
                self.out.truncate(open);
                if self.spread() {
                    self.list(given);
                } else {
                    self.out.push(Token::Sign('['));
                    self.list(given);
                    self.out.push(Token::Sign(']'));
                }
            }
            _ => {}
        }
    }

    /// Keeps what is added to a list, or is made of one: `a.append("x")`, `a.push("x")`.
    fn grown(&mut self, name: &str, given: Vec<String>) {
        let Some((list, "append" | "push" | "extend" | "concat")) = name.rsplit_once('.') else {
            return;
        };
        if let Some(Held::List(list)) = self.known.get_mut(list)
            && list.len() + given.len() <= MAX_ITEMS
        {
            list.extend(given);
        }
    }

    /// Keeps `name = "text"`, `name += "text"` and the same of lists.
    fn remember(&mut self) {
        let out = self.out.as_slice();
        let (value, front) = match out {
            [front @ .., Token::Text(text)] => (Held::Text(text.clone()), front),
            [.., Token::Sign(']' | ')')] => {
                let Some((open, list)) = list_at_end(out) else {
                    return;
                };
                let is_group = out[open] == Token::Sign('(');
                // `("a")` is a text, `()` nothing that is known.
                match list.as_slice() {
                    [] if is_group => return,
                    [text] if is_group && !self.language.name.starts_with("perl") => {
                        (Held::Text(text.clone()), &out[..open])
                    }
                    _ => (Held::List(list), &out[..open]),
                }
            }
            _ => return,
        };
        let (name, adds) = match front {
            [
                ..,
                Token::Name(name),
                Token::Sign('+' | '.'),
                Token::Sign('='),
            ] => (name, true),
            [.., Token::Name(name), Token::Sign('=')] => (name, false),
            _ => return,
        };
        let (name, at) = (name.clone(), front.len());
        let value = if adds {
            let before = match &self.before {
                Some((place, before)) if *place == at => Some(before.clone()),
                _ => self.known.get(&name).cloned(),
            };
            let Some(before) = before else { return };
            self.before = Some((at, before.clone()));
            match (before, value) {
                (Held::Text(before), Held::Text(more)) if before.len() + more.len() <= MAX_TEXT => {
                    Held::Text(before + &more)
                }
                (Held::List(before), Held::List(more))
                    if before.len() + more.len() <= MAX_ITEMS =>
                {
                    Held::List([before, more].concat())
                }
                _ => return,
            }
        } else {
            value
        };
        // A path of which nothing is known is better left to be a name.
        if matches!(&value, Held::Text(text) if text.contains(SOME) && text.chars().all(|c| c == SOME || c == '/'))
        {
            self.known.remove(&name);
            return;
        }
        self.known.insert(name, value);
    }

    /// A text in which what it names is put: `` `git ${c}` ``, `"git #{c}"`, `"git $c"`, `f"git {c}"`.
    fn filled(&self, text: &str) -> String {
        let (opens, sigil) = match self.language.name {
            "ruby -e" | "elixir -e" => ("#{", false),
            "node -e" | "deno eval" => ("${", false),
            "python -c" => ("{", false),
            "perl -e" | "php -r" => ("", true),
            _ => return text.to_owned(),
        };
        if sigil {
            return self.with_sigils(text);
        }
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(opens) {
            let (front, from) = rest.split_at(at);
            let inner = &from[opens.len()..];
            filled.push_str(front);
            let value = inner
                .find('}')
                .and_then(|end| Some((self.value(inner.get(..end)?)?, &inner[end + 1..])));
            if let Some((value, behind)) = value {
                filled.push_str(&value);
                rest = behind;
            } else {
                filled.push_str(opens);
                rest = inner;
            }
            if filled.len() > MAX_TEXT {
                break;
            }
        }
        filled.push_str(rest);
        filled
    }

    /// What an expression within a text comes to, where that is one text.
    fn value(&self, expression: &str) -> Option<String> {
        if expression.len() > 200 {
            return None;
        }
        let inner = homed(lettered(tokens(self.language, expression)), self.home);
        let may_be = inner.iter().any(|token| match token {
            Token::Name(name) => self.known.contains_key(name.as_str()) || name.contains('.'),
            Token::Text(text) => !text.contains(['{', '}']),
            _ => false,
        });
        if !may_be {
            return None;
        }
        match with_names(self.language, inner, self.home, self.known.clone()).as_slice() {
            [Token::Text(text)] => Some(text.clone()),
            _ => None,
        }
    }

    /// A text with the values of `$name` and `${name}`, where these are known.
    fn with_sigils(&self, text: &str) -> String {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(['$', '@']) {
            let (front, from) = rest.split_at(at);
            filled.push_str(front);
            let sigil = &from[..1];
            let braced = from[1..].starts_with('{');
            let inner = from[1..].strip_prefix('{').unwrap_or(&from[1..]);
            let inner = if braced {
                inner.strip_prefix('$').unwrap_or(inner)
            } else {
                inner
            };
            let length = inner
                .find(|c: char| !c.is_alphanumeric() && c != '_')
                .unwrap_or(inner.len());
            let held = self.known.get(&format!("{sigil}{}", &inner[..length]));
            let behind = &inner[length..];
            let behind = if braced {
                behind.strip_prefix('}')
            } else {
                Some(behind)
            };
            match (held, behind) {
                (Some(Held::Text(value)), Some(behind)) => {
                    filled.push_str(value);
                    rest = behind;
                }
                (Some(Held::List(list)), Some(behind)) => {
                    filled.push_str(&list.join(" "));
                    rest = behind;
                }
                _ => {
                    filled.push_str(sigil);
                    rest = &from[1..];
                }
            }
            if filled.len() > MAX_TEXT {
                break;
            }
        }
        filled.push_str(rest);
        filled
    }
}

/// Stands for a join of which the end was not yet come to.
const JOINED: &str = "joined list";

/// The parts of a text: between blanks, or what is said.
fn split(text: &str, apart: Option<&str>) -> Vec<String> {
    match apart {
        Some(apart) if !apart.trim().is_empty() => text.split(apart).map(str::to_owned).collect(),
        _ => text.split_whitespace().map(str::to_owned).collect(),
    }
}
