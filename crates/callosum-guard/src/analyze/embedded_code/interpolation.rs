//! Texts in which values are put: `` `git ${c}` ``, `"git #{c}"`, `"git $c"`, `f"git {c}"`.

use super::{
    constants::{Constant, Folding, MAX_TEXT, with_names},
    fold::{homed, lettered},
    token::{Token, tokens},
};

/// The home folder in the texts of Perl and PHP.
const HOMES: [&str; 7] = [
    "$ENV{HOME}",
    "$ENV{'HOME'}",
    "$ENV{\"HOME\"}",
    "$_SERVER[HOME]",
    "$_ENV[HOME]",
    "{$_SERVER['HOME']}",
    "{$_ENV['HOME']}",
];

impl Folding<'_> {
    /// A text in which what it names is put: `` `git ${c}` ``, `"git #{c}"`, `"git $c"`, `f"git {c}"`.
    pub(super) fn filled(&self, text: &str) -> String {
        let (opens, sigil) = match self.language.name {
            "ruby -e" | "elixir -e" => ("#{", false),
            "node -e" | "deno eval" => ("${", false),
            "python -c" | "compiled" | "project" => ("{", false),
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

    /// Returns the value of an expression within a text, if it is a single text.
    fn value(&self, expression: &str) -> Option<String> {
        if expression.is_empty() {
            return None;
        }
        if let Some(held) = self.known.get(expression.trim()) {
            let Constant::Text(text) = held else {
                return None;
            };
            self.left.set(self.left.get().checked_sub(text.len() + 1)?);
            return Some(text.clone());
        }
        // What has to be worked out costs as much as all that is known.
        self.left.set(self.left.get().checked_sub(MAX_TEXT / 16)?);
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

    /// Returns a text with the values of `$name` and `${name}`, if these are known.
    fn with_sigils(&self, text: &str) -> String {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(['$', '@']) {
            let (front, from) = rest.split_at(at);
            // `{$a}` of PHP's
            if let Some(front) = front.strip_suffix('{')
                && let Some((name, behind)) = from.split_once('}')
                && let Some(Constant::Text(value)) = self.known.get(name)
                && value.len() < self.left.get()
            {
                self.left.set(self.left.get() - value.len());
                filled.push_str(front);
                filled.push_str(value);
                rest = behind;
                continue;
            }
            filled.push_str(front);
            // `$ENV{HOME}` of Perl's, `$_SERVER[HOME]` of PHP's
            if let Some(behind) = HOMES.iter().find_map(|home| from.strip_prefix(home)) {
                filled.push_str(self.home);
                rest = behind;
                continue;
            }
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
                (Some(Constant::Text(value)), Some(behind)) if value.len() < self.left.get() => {
                    self.left.set(self.left.get() - value.len());
                    filled.push_str(value);
                    rest = behind;
                }
                (Some(Constant::List(list)), Some(behind))
                    if list.concat().len() < self.left.get() =>
                {
                    self.left.set(self.left.get() - list.concat().len());
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
