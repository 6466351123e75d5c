//! Values of names and strings: joined, inserted into one another, split, kept in lists.
//!
//! Start with [`folded`], which goes through a program once, from start to end, and replaces each
//! name with the value that it was last given. A loop over literal values runs once for each of
//! them: `loops`. `interpolation` fills texts, `fold_calls` evaluates calls. Nothing else is
//! evaluated: no condition, no function of the program's own.

use std::{cell::Cell, collections::BTreeMap};

use super::{Language, compiled, loops::is_close, path, quoting, token::Token};
use crate::analyze::value::{SOME, push};

/// The known value of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Constant {
    Text(String),
    List(Vec<String>),
}

/// Known values, by name.
pub(super) type Names = BTreeMap<String, Constant>;

/// Bytes that a string may come to.
pub(super) const MAX_TEXT: usize = 16 * 1024;
/// Bytes that are put in the place of names in one going through.
const MAX_PUT: usize = 128 * 1024;
/// Items that a list may come to.
pub(super) const MAX_ITEMS: usize = 64;

/// Joins strings that are added, and puts in what names stand for.
pub(super) fn folded(language: &Language, tokens: Vec<Token>, home: &str) -> Vec<Token> {
    with_names(language, tokens, home, Names::new())
}

/// The same, with some names known from the start.
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

/// Returns the list of strings that ends here, and its start.
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
    pub(super) out: Vec<Token>,
    /// Bytes that may still be put in the place of names.
    pub(super) left: Cell<usize>,
    /// The value of a name before something was added, and the position of that.
    before: Option<(usize, Constant)>,
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
            && let Some(Constant::Text(path)) = self.put(value)
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

    /// Adds a method call on a path that a name holds; behind another string, as a statement of its
    /// own.
    fn method_of_path(&mut self, path: String, method: &str) {
        if let Some(Token::Text(_)) = self.out.last() {
            self.out.push(Token::Sign(';'));
        }
        self.out.push(Token::Text(path));
        self.out.push(Token::Name(format!(".{method}")));
    }

    /// Evaluates Ruby's `x.shellescape` and `x.shelljoin`; removes the text before it, if there is
    /// one.
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
            Constant::Text(text) => Some(quoting::made(method, &text)),
            Constant::List(list) => Some(quoting::joined(&list)),
        }
    }

    /// Returns the value of a name, as long as there is room for it.
    fn put(&self, name: &str) -> Option<Constant> {
        let held = self.known.get(name)?;
        let length = match held {
            Constant::Text(text) => text.len(),
            Constant::List(list) => list.iter().map(|text| text.len() + 16).sum(),
        };
        self.left.set(self.left.get().checked_sub(length + 1)?);
        Some(held.clone())
    }

    pub(super) fn held(&mut self, held: Constant) {
        match held {
            Constant::Text(text) => self.text(text),
            Constant::List(list) => {
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

    /// Removes `*` and `...` before a list whose items are inserted one by one.
    pub(super) fn spread(&mut self) -> bool {
        let length = match self.out.as_slice() {
            [.., Token::Sign('.'), Token::Sign('.'), Token::Sign('.')] => 3,
            [.., Token::Sign('.'), Token::Sign('.')] => 2,
            [.., Token::Sign('(' | '[' | ','), Token::Sign('*')] => 1,
            _ => 0,
        };
        self.out.truncate(self.out.len() - length);
        length > 0
    }

    pub(super) fn list(&mut self, list: Vec<String>) {
        for (at, text) in list.into_iter().enumerate() {
            if at > 0 {
                self.out.push(Token::Sign(','));
            }
            self.out.push(Token::Text(text));
        }
    }

    pub(super) fn text(&mut self, text: String) {
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
    pub(super) fn replace(&mut self, length: usize, text: String) {
        self.out.truncate(self.out.len() - length);
        self.text(text);
    }

    /// Keeps `name = "text"`, `name += "text"` and the same of lists.
    pub(super) fn remember(&mut self) {
        let out = self.out.as_slice();
        let (value, front) = match out {
            [front @ .., Token::Text(text)] => (Constant::Text(text.clone()), front),
            [.., Token::Sign(']' | ')')] => {
                let Some((open, list)) = list_at_end(out) else {
                    return;
                };
                let is_group = out[open] == Token::Sign('(');
                // `("a")` is a text, `()` nothing that is known.
                match list.as_slice() {
                    [] if is_group => return,
                    [text] if is_group && !self.language.name.starts_with("perl") => {
                        (Constant::Text(text.clone()), &out[..open])
                    }
                    _ => (Constant::List(list), &out[..open]),
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
                (Constant::Text(before), Constant::Text(more))
                    if before.len() + more.len() <= MAX_TEXT =>
                {
                    Constant::Text(before + &more)
                }
                (Constant::List(before), Constant::List(more))
                    if before.len() + more.len() <= MAX_ITEMS =>
                {
                    Constant::List([before, more].concat())
                }
                _ => return,
            }
        } else {
            value
        };
        // A path without a known part is more useful as a name.
        if matches!(&value, Constant::Text(text) if text.contains(SOME) && text.chars().all(|c| c == SOME || c == '/'))
        {
            self.known.remove(&name);
            return;
        }
        self.known.insert(name, value);
    }
}
