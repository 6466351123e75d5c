//! Patterns: what takes a value apart, and what `match` tries.

use std::collections::HashSet;

use super::Compiler;
use crate::{
    form::{Form, FormKind, Name},
    program::{Extent, Pattern},
    value::{Key, Value},
};

/// Purpose of a pattern, which decides its permitted forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PatternUse {
    /// Takes a value apart that is expected to have this form.
    Destructure,
    /// Is tried, and may not fit.
    Match,
}

impl Compiler<'_> {
    pub(super) fn pattern(&mut self, form: &Form, purpose: PatternUse) -> Pattern {
        match &form.kind {
            FormKind::Symbol(name) if &**name == "_" => Pattern::Ignore,
            FormKind::Symbol(name) => {
                self.check_name(name, form.span);
                Pattern::Bind(self.scope().bind(Name::clone(name), None))
            }
            FormKind::Vector(items) => self.vector_pattern(form, items, purpose),
            FormKind::Map(entries) => self.map_pattern(form, entries, purpose),
            FormKind::List(items) if form.head() == Some(":as") || is_as(items) => {
                let [_, name, inner] = items.as_slice() else {
                    self.malformed(
                        form,
                        "`:as` takes a name and a pattern",
                        "write `(:as all [a b])`",
                    );
                    return Pattern::Ignore;
                };
                let Some(slot) = self.bind_symbol(name) else {
                    return Pattern::Ignore;
                };
                Pattern::As(slot, Box::new(self.pattern(inner, purpose)))
            }
            FormKind::List(_) => {
                self.malformed(
                    form,
                    "a list is not a pattern",
                    "use a name, `_`, a vector, a map, `(:as name pattern)` or a literal",
                );
                Pattern::Ignore
            }
            _ if purpose == PatternUse::Match => match Value::of_form(form) {
                Ok(value) => Pattern::Literal(value),
                Err(_) => Pattern::Ignore,
            },
            _ => {
                self.malformed(
                    form,
                    format!("{} cannot be bound", form.noun()),
                    "bind a name, or destructure a vector or map; only `match` takes literals",
                );
                Pattern::Ignore
            }
        }
    }

    fn bind_symbol(&mut self, form: &Form) -> Option<u32> {
        let Some(name) = form.as_symbol() else {
            self.malformed(form, "a name is expected here", "write a symbol");
            return None;
        };
        self.check_name(name, form.span);
        Some(self.scope().bind(name.into(), None))
    }

    fn vector_pattern(&mut self, form: &Form, items: &[Form], purpose: PatternUse) -> Pattern {
        let mut patterns = Vec::new();
        let mut rest = None;
        let mut whole = None;
        let mut at = 0;
        while let Some(item) = items.get(at) {
            at += 1;
            let marks_rest = item.as_symbol() == Some("&");
            let marks_whole = item.as_keyword() == Some("as") && purpose == PatternUse::Destructure;
            if !marks_rest && !marks_whole {
                if rest.is_some() {
                    self.malformed(
                        form,
                        "nothing may follow the rest of a vector",
                        "write `[a b & rest]`",
                    );
                    break;
                }
                patterns.push(self.pattern(item, purpose));
                continue;
            }
            let Some(next) = items.get(at) else {
                self.malformed(
                    form,
                    format!("a name is missing after `{item}`"),
                    "write `[a & rest]` or `[a :as all]`",
                );
                break;
            };
            at += 1;
            if (marks_rest && rest.is_some()) || (!marks_rest && whole.is_some()) {
                self.malformed(
                    form,
                    format!("`{item}` occurs twice in one pattern"),
                    "write `[a & rest]` or `[a :as all]`",
                );
                break;
            }
            if marks_rest {
                rest = Some(Box::new(self.pattern(next, purpose)));
            } else {
                whole = self.bind_symbol(next);
            }
        }
        let pattern = Pattern::Vector {
            items: patterns,
            rest,
        };
        match whole {
            Some(slot) => Pattern::As(slot, Box::new(pattern)),
            None => pattern,
        }
    }

    fn map_pattern(&mut self, form: &Form, forms: &[(Form, Form)], purpose: PatternUse) -> Pattern {
        let mut entries = Vec::new();
        let mut rest = None;
        let mut whole = None;
        for (key, value) in forms {
            let again = match (key.as_symbol(), key.as_keyword()) {
                (Some("&"), _) => rest.is_some(),
                (_, Some("as")) => whole.is_some(),
                _ => false,
            };
            if again {
                self.malformed(
                    form,
                    format!("`{key}` occurs twice in one pattern"),
                    "remove one of the two",
                );
            } else if key.as_symbol() == Some("&") {
                rest = Some(Box::new(self.pattern(value, purpose)));
            } else if key.as_keyword() == Some("as") && value.as_symbol().is_some() {
                whole = self.bind_symbol(value);
            } else if let (Some("or"), FormKind::Map(_)) = (key.as_keyword(), &value.kind)
                && forms
                    .iter()
                    .any(|(key, _)| key.as_keyword() == Some("keys"))
            {
                self.malformed(
                    key,
                    "a pattern cannot have defaults",
                    "bind the map, then write `(get map :key default)`",
                );
            } else if let (Some("keys"), FormKind::Vector(names)) = (key.as_keyword(), &value.kind)
            {
                for name in names {
                    let Some(text) = name.as_symbol() else {
                        self.malformed(name, "`:keys` takes names", "write `{:keys [a b]}`");
                        continue;
                    };
                    let key = Key::Keyword(text.into());
                    if let Some(slot) = self.bind_symbol(name) {
                        entries.push((key, Pattern::Bind(slot)));
                    }
                }
            } else if let (Some(_), Ok(of)) = (key.as_symbol(), Value::of_form(value)) {
                // `{name :key}`, the other way round.
                let Some(of) = Key::of(&of) else {
                    self.malformed(value, "a key is expected here", "write `{name :key}`");
                    continue;
                };
                let pattern = self.pattern(key, purpose);
                entries.push((of, pattern));
            } else if let Some(key) = self.key(key) {
                let pattern = self.pattern(value, purpose);
                entries.push((key, pattern));
            }
        }
        let extent = match (rest, purpose) {
            (None, PatternUse::Destructure) => Extent::Lenient,
            (None, PatternUse::Match) => Extent::Exact,
            (Some(rest), PatternUse::Destructure) => Extent::LenientRest(rest),
            (Some(rest), PatternUse::Match) => Extent::Rest(rest),
        };
        let mut keys = HashSet::new();
        if !entries.iter().all(|(key, _)| keys.insert(key.clone())) {
            self.malformed(
                form,
                "a key occurs twice in one pattern",
                "remove one of the two",
            );
        }
        let pattern = Pattern::Map { entries, extent };
        match whole {
            Some(slot) => Pattern::As(slot, Box::new(pattern)),
            None => pattern,
        }
    }
}

fn is_as(items: &[Form]) -> bool {
    items.first().and_then(Form::as_keyword) == Some("as")
}
