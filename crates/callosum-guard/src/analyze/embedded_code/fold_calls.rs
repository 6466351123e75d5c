//! Results of calls whose arguments have just ended, while a program is [folded](super::constants):
//! joined, split, filled, quoted, added to a list.

use super::{
    constants::{Constant, Folding, MAX_ITEMS, list_at_end},
    quoting,
    token::Token,
};

impl Folding<'_> {
    /// Joins, splits and fills if the arguments of such a call end here.
    pub(super) fn closed(&mut self) {
        let Some((open, given)) = list_at_end(&self.out) else {
            return;
        };
        let (front, _) = self.out.split_at(open);
        let first = given.first().map(String::as_str);
        match front {
            // `" ".join([..])`: the list is in brackets inside the call.
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
                self.held(Constant::List(list));
            }
            [.., Token::Name(name)] if name == "shlex.split" => {
                let list = split(first.unwrap_or(""), None);
                self.out.truncate(open - 1);
                self.held(Constant::List(list));
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
                    self.held(Constant::List(list));
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
        if let Some(Constant::List(list)) = self.known.get_mut(list)
            && list.len() + given.len() <= MAX_ITEMS
        {
            list.extend(given);
        }
    }
}

/// Placeholder for a join whose end is not reached yet.
const JOINED: &str = "joined list";

/// Splits a text at blanks, or at the separator if there is one.
fn split(text: &str, apart: Option<&str>) -> Vec<String> {
    match apart {
        Some(apart) if !apart.trim().is_empty() => text.split(apart).map(str::to_owned).collect(),
        _ => text.split_whitespace().map(str::to_owned).collect(),
    }
}
