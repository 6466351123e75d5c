//! What names hold and strings come to: joined, put into one another, split, kept in lists.
//!
//! Start with [`folded`], which goes through a program once, from its begin to its end, and puts in the
//! place of each name what was last kept in it. A loop over what is written there is gone through once
//! for each of its values: `rounds`. How a text is filled is in `filled`. Nothing is evaluated beyond that: no condition, no function of the program's own.

use std::{cell::Cell, collections::BTreeMap};

use super::{Language, compiled, path, quoting, rounds::is_close, token::Token};
use crate::unwrap::value::{SOME, push};

/// What a name is known to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Held {
    Text(String),
    List(Vec<String>),
}

/// What names hold, by the name.
pub(super) type Names = BTreeMap<String, Held>;

/// Bytes that a string may come to.
pub(super) const MAX_TEXT: usize = 16 * 1024;
/// Bytes that are put in the place of names in one going through.
const MAX_PUT: usize = 128 * 1024;
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
        left: Cell::new(MAX_PUT),
        before: None,
    };
    for (at, token) in tokens.iter().enumerate() {
        let behind = tokens.get(at + 1..).unwrap_or_default();
        folding.take(token, behind);
    }
    folding.out
}

/// The list of strings that ends here, and where it begins.
pub(super) fn list_at_end(tokens: &[Token]) -> Option<(usize, Vec<String>)> {
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
pub(super) struct Folding<'a> {
    pub(super) language: &'a Language,
    pub(super) home: &'a str,
    pub(super) known: Names,
    out: Vec<Token>,
    /// Bytes that may still be put in the place of names.
    pub(super) left: Cell<usize>,
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
                // `let dir = "/tmp".join(name)`
                let goes_on = matches!(behind, [Token::Name(method), Token::Sign('('), ..]
                    if self.language.is_compiled() && compiled::joins(method));
                if goes_on
                    && let [.., Token::Name(name), Token::Sign('='), Token::Text(_)] =
                        self.out.as_slice()
                {
                    self.known.remove(name);
                }
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
        // `{cwd: cwd}`: the first is the name of a setting.
        let is_setting = matches!(behind, [Token::Sign(':'), ..])
            && matches!(self.out.last(), Some(Token::Sign('{' | ',')));
        if is_assigned || is_setting {
            self.out.push(Token::Name(name.to_owned()));
            return;
        }
        // `"a b".shellescape`, which takes nothing.
        if self.language.name == "ruby -e"
            && let Some(text) = self.escaped(name)
        {
            return self.text(text);
        }
        // Perl's `$a[0]` is of `@a`, which is not looked into.
        if let Some(held) = self.put(name) {
            return self.held(held);
        }
        if let Some((value, method)) = name.rsplit_once('.')
            && path::is_method(self.language, method)
            && let Some(Held::Text(path)) = self.put(value)
        {
            return self.method_of_path(path, method);
        }
        // `args.join(" ")`
        if let Some((value, method)) = name.rsplit_once('.')
            && (self.language.is_compiled()
                || quoting::keeps(method)
                || method == "name" && self.language.name == "python -c"
                || matches!(
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
                ))
            && let Some(held) = self.put(value)
        {
            self.held(held);
            self.out.push(Token::Name(method.to_owned()));
            return;
        }
        self.out.push(Token::Name(name.to_owned()));
    }

    /// What is done to a path that a name holds, which is a statement of its own behind another string.
    fn method_of_path(&mut self, path: String, method: &str) {
        if let Some(Token::Text(_)) = self.out.last() {
            self.out.push(Token::Sign(';'));
        }
        self.out.push(Token::Text(path));
        self.out.push(Token::Name(format!(".{method}")));
    }

    /// What Ruby's `x.shellescape` and `x.shelljoin` come to; takes away what stands before, where that is a text.
    fn escaped(&mut self, name: &str) -> Option<String> {
        let (value, method) = name.rsplit_once('.').unwrap_or(("", name));
        if !matches!(method, "shellescape" | "shelljoin") {
            return None;
        }
        if value.is_empty() {
            if let Some((from, list)) = list_at_end(&self.out) {
                self.out.truncate(from);
                return Some(quoting::joined(&list));
            }
            let Some(Token::Text(text)) = self.out.last() else {
                return None;
            };
            let text = quoting::made(method, text);
            self.out.pop();
            return Some(text);
        }
        match self.put(value)? {
            Held::Text(text) => Some(quoting::made(method, &text)),
            Held::List(list) => Some(quoting::joined(&list)),
        }
    }

    /// What a name holds, as long as there is room for it.
    fn put(&self, name: &str) -> Option<Held> {
        let held = self.known.get(name)?;
        let length = match held {
            Held::Text(text) => text.len(),
            Held::List(list) => list.iter().map(|text| text.len() + 16).sum(),
        };
        self.left.set(self.left.get().checked_sub(length + 1)?);
        Some(held.clone())
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
        if let Some(Token::Text(before)) = self.out.last_mut()
            && !self.language.is_lisp()
        {
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
            // `shlex.quote("a b")`, `str(path)`
            [.., Token::Name(name)] if given.len() == 1 && quoting::is_quoting(name) => {
                let text = quoting::made(name, &given[0]);
                self.replace(self.out.len() - open + 1, text);
            }
            // `shlex.join(["a", "b"])`
            [.., Token::Name(name), Token::Sign('(')]
                if quoting::joins(name) && self.out[open] == Token::Sign('[') =>
            {
                let text = quoting::joined(&given);
                self.out.truncate(open - 2);
                self.out.push(Token::Name(JOINED.to_owned()));
                self.out.push(Token::Sign('('));
                self.out.push(Token::Text(text));
            }
            // `path.resolve()`
            [.., Token::Text(_), Token::Name(name)] if given.is_empty() && quoting::keeps(name) => {
                self.out.truncate(open - 1);
                self.remember();
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
