//! The special forms, apart from what binds names and from steps.

use super::{Compiler, pattern::PatternUse};
use crate::{
    failure::FailureKind,
    finding::Rule,
    form::{Form, FormKind},
    program::{Catch, Clause, Expression, Id, Pattern},
    value::Value,
};

/// The words that begin forms with rules of their own.
pub(crate) const SPECIAL: [&str; 22] = [
    "let",
    "if",
    "do",
    "fn",
    "def",
    "defn",
    "defplan",
    "match",
    "try",
    "catch",
    "finally",
    "for",
    "dotimes",
    "and",
    "or",
    "call",
    "pure",
    "step",
    "step-if",
    "step-loop",
    "step-parallel",
    "checkpoint",
];

/// Most collections of one `for`; each is a level of what the compiler nests.
const MAX_COLLECTIONS: usize = 16;

pub(super) fn is_special(name: &str) -> bool {
    SPECIAL.contains(&name)
}

/// Returns the hint for a form's name that is used as if it were a function.
pub(super) fn instead_of_its_name(name: &str) -> String {
    match name {
        "and" | "or" | "if" | "step-if" | "do" => {
            format!("pass a function: `(fn [x y] ({name} x y))`")
        }
        "call" => {
            "pass a function that names the capability: `(fn [x] (call :storage.read x))`; choose between two with `if`"
                .to_owned()
        }
        _ => format!("write the form out where its value is needed: `({name} …)`"),
    }
}

impl Compiler<'_> {
    pub(super) fn special(&mut self, form: &Form, name: &str, items: &[Form]) -> Id {
        match name {
            "let" => self.let_form(form, items),
            "if" | "step-if" => self.if_form(form, name, items),
            "do" => {
                let mark = self.scope().mark();
                let body = self.body(items, form.span);
                self.scope().release(mark);
                body
            }
            "fn" => self.function(form, items),
            "and" | "or" => self.junction(form, name, items),
            "match" => self.match_form(form, items),
            "try" => self.try_form(form, items),
            "for" => self.for_form(form, items),
            "dotimes" => self.repeat(form, items),
            "call" => self.call(form, items),
            "pure" => self.pure(form, items),
            "step" => self.step(form, items),
            "step-loop" => self.step_loop(form, items),
            "step-parallel" => self.step_parallel(form, items),
            "checkpoint" => match items {
                [
                    Form {
                        kind: FormKind::Keyword(name) | FormKind::Text(name),
                        ..
                    },
                ] => self.emit(Expression::Checkpoint(name.clone()), form.span),
                _ => self.malformed(
                    form,
                    "a checkpoint needs a name",
                    "write `(checkpoint :name)`",
                ),
            },
            "def" | "defn" => self.malformed(
                form,
                format!("`{name}` is used where a value is expected"),
                "definitions are allowed at the top level, and in the body of `do`, `let`, `fn` or a plan",
            ),
            "defplan" => {
                self.refuse(
                    form.span,
                    Rule::NotOnePlan,
                    "a plan is inside another form",
                    "a plan must be at the top level; make it a function with `defn`",
                );
                self.emit(Expression::Constant(Value::Nil), form.span)
            }
            _ => self.malformed(
                form,
                format!("`{name}` is outside `try`"),
                "write `(try body (catch e value))`",
            ),
        }
    }

    fn if_form(&mut self, form: &Form, name: &str, items: &[Form]) -> Id {
        let (condition, then, otherwise) = match items {
            [condition, then] => (condition, then, None),
            [condition, then, otherwise] => (condition, then, Some(otherwise)),
            _ => {
                return self.malformed(
                    form,
                    format!("`{name}` takes two or three parts, but got {}", items.len()),
                    &format!("write `({name} condition then else)`; group several forms with `do`"),
                );
            }
        };
        let condition = self.compile(condition);
        let then = self.compile(then);
        let otherwise = otherwise.map(|otherwise| self.compile(otherwise));
        self.emit(
            Expression::If {
                condition,
                then,
                otherwise,
            },
            form.span,
        )
    }

    fn junction(&mut self, form: &Form, name: &str, items: &[Form]) -> Id {
        let parts = self.compile_all(items);
        let expression = match (name, parts.is_empty()) {
            ("and", true) => Expression::Constant(Value::Boolean(true)),
            (_, true) => Expression::Constant(Value::Boolean(false)),
            ("and", false) => Expression::And(parts),
            (_, false) => Expression::Or(parts),
        };
        self.emit(expression, form.span)
    }

    fn match_form(&mut self, form: &Form, items: &[Form]) -> Id {
        let usage = "write `(match value pattern result … _ otherwise)`";
        let Some((subject, mut rest)) = items.split_first() else {
            return self.malformed(form, "`match` has no value to match", usage);
        };
        let subject = self.compile(subject);
        let mut clauses = Vec::new();
        while let Some((pattern, after)) = rest.split_first() {
            let mark = self.scope().mark();
            let pattern = self.pattern(pattern, PatternUse::Match);
            let (guard, body, after) = match after {
                [when, guard, body, after @ ..] if when.as_symbol() == Some("when") => {
                    (Some(guard), body, after)
                }
                [body, after @ ..] if body.as_symbol() != Some("when") => (None, body, after),
                _ => return self.malformed(form, "a pattern has no result", usage),
            };
            let guard = guard.map(|guard| self.compile(guard));
            let body = self.compile(body);
            self.scope().release(mark);
            clauses.push(Clause {
                pattern,
                guard,
                body,
            });
            rest = after;
        }
        if clauses.is_empty() {
            return self.malformed(form, "`match` has no clause", usage);
        }
        self.emit(Expression::Match { subject, clauses }, form.span)
    }

    fn try_form(&mut self, form: &Form, items: &[Form]) -> Id {
        let usage = "write `(try body (catch :TypeError e value) (catch e value) (finally form))`";
        let handlers = items
            .iter()
            .position(|item| matches!(item.head(), Some("catch" | "finally")))
            .unwrap_or(items.len());
        let (body, handlers) = items.split_at(handlers);
        let catches = handlers.iter().any(may_catch_unknown);
        self.catching += usize::from(catches);
        let body = self.body(body, form.span);
        self.catching -= usize::from(catches);
        let mut catches = Vec::new();
        let mut finally = None;
        for handler in handlers {
            let (head, parts) = match &handler.kind {
                FormKind::List(parts) => (handler.head(), parts.get(1..).unwrap_or_default()),
                _ => (None, [].as_slice()),
            };
            match head {
                Some("catch") if finally.is_none() => {
                    let mark = self.scope().mark();
                    if let Some(catch) = self.catch(handler, parts) {
                        catches.push(catch);
                    }
                    self.scope().release(mark);
                }
                Some("finally") if finally.is_none() => {
                    finally = Some(self.body(parts, handler.span));
                }
                _ => {
                    self.malformed(handler, "after the first `catch`, only more `catch` and then one `finally` may follow", usage);
                }
            }
        }
        self.emit(
            Expression::Try {
                body,
                catches,
                finally,
            },
            form.span,
        )
    }

    /// `(catch :TypeError e body)`, `(catch TypeError e body)`, `(catch e body)`, `(catch {:type t} body)`.
    fn catch(&mut self, form: &Form, parts: &[Form]) -> Option<Catch> {
        let usage = "write `(catch e value)` or `(catch :TypeError e value)`";
        let Some((first, mut rest)) = parts.split_first() else {
            self.malformed(form, "`catch` has neither a pattern nor a value", usage);
            return None;
        };
        let named = match &first.kind {
            FormKind::Keyword(name) => {
                let kind = FailureKind::named(name);
                if kind.is_none() {
                    let kinds: Vec<&str> =
                        FailureKind::ALL.iter().map(|kind| kind.as_str()).collect();
                    self.refuse(
                        first.span,
                        Rule::MalformedForm,
                        format!("unknown kind of failure `{name}`"),
                        format!("the kinds are {}", kinds.join(", ")),
                    );
                }
                Some(kind)
            }
            FormKind::Symbol(name) => FailureKind::named(name).map(Some),
            _ => None,
        };
        let binder = match rest {
            [name, after @ ..] if !after.is_empty() && name.as_symbol().is_some() => {
                rest = after;
                Some(name)
            }
            _ => None,
        };
        let pattern = match (named, binder) {
            (Some(_), Some(binder)) => self.pattern(binder, PatternUse::Match),
            (Some(_), None) => Pattern::Ignore,
            (None, Some(binder)) => {
                let inner = self.pattern(first, PatternUse::Match);
                match self.pattern(binder, PatternUse::Match) {
                    Pattern::Bind(slot) => Pattern::As(slot, Box::new(inner)),
                    _ => inner,
                }
            }
            (None, None) => self.pattern(first, PatternUse::Match),
        };
        if rest.is_empty() {
            self.malformed(form, "`catch` has no value", usage);
            return None;
        }
        let body = self.body(rest, form.span);
        Some(Catch {
            kind: named.flatten(),
            pattern,
            body,
        })
    }

    fn for_form(&mut self, form: &Form, items: &[Form]) -> Id {
        let usage = "write `(for [x items] body)`";
        let Some((
            Form {
                kind: FormKind::Vector(pairs),
                ..
            },
            body,
        )) = items.split_first()
        else {
            return self.malformed(form, "`for` has no vector of names and collections", usage);
        };
        if pairs.is_empty() || pairs.len() % 2 == 1 || body.is_empty() {
            return self.malformed(
                form,
                "`for` takes pairs of a name and a collection, and a body",
                usage,
            );
        }
        if pairs.len() / 2 > MAX_COLLECTIONS {
            return self.malformed(
                form,
                format!(
                    "`for` has {} collections, more than {MAX_COLLECTIONS}",
                    pairs.len() / 2
                ),
                "iterate over some of them in the body",
            );
        }
        if let Some(word) = pairs.iter().find(|form| form.as_keyword().is_some()) {
            return self.malformed(
                word,
                format!("`for` does not support `{word}`"),
                "filter the collection first, and use `let` in the body",
            );
        }
        self.for_pairs(form, pairs, body)
    }

    fn for_pairs(&mut self, form: &Form, pairs: &[Form], body: &[Form]) -> Id {
        let [pattern, items, rest @ ..] = pairs else {
            return self.body(body, form.span);
        };
        let items = self.compile(items);
        let mark = self.scope().mark();
        let pattern = self.pattern(pattern, PatternUse::Destructure);
        let body = self.for_pairs(form, rest, body);
        self.scope().release(mark);
        self.emit(
            Expression::For {
                items,
                pattern,
                body,
                flatten: !rest.is_empty(),
            },
            form.span,
        )
    }

    fn repeat(&mut self, form: &Form, items: &[Form]) -> Id {
        let parts = match items {
            [
                Form {
                    kind: FormKind::Vector(pair),
                    ..
                },
                body @ ..,
            ] if pair.len() == 2 && !body.is_empty() => pair[0]
                .as_symbol()
                .map(|name| (name, &pair[0], &pair[1], body)),
            _ => None,
        };
        let Some((name, at, times, body)) = parts else {
            return self.malformed(
                form,
                "`dotimes` takes a name, a number and a body",
                "write `(dotimes [i 3] body)`",
            );
        };
        let times = self.compile(times);
        self.check_name(name, at.span);
        let mark = self.scope().mark();
        let slot = self.scope().bind(name.into(), None);
        let body = self.body(body, form.span);
        self.scope().release(mark);
        self.emit(Expression::Repeat { times, slot, body }, form.span)
    }

    fn call(&mut self, form: &Form, items: &[Form]) -> Id {
        let Some((name, arguments)) = items.split_first() else {
            return self.malformed(
                form,
                "`call` names no capability",
                "write `(call :storage.read argument)`",
            );
        };
        let arguments = self.compile_all(arguments);
        match &name.kind {
            FormKind::Keyword(name) | FormKind::Text(name) => self.call_of(form, name, arguments),
            _ => {
                self.refuse(
                    name.span,
                    Rule::ComputedCapability,
                    "the name of the called capability is computed",
                    "write the name: `(call :storage.read …)`; choose between two with `if`",
                );
                self.emit(Expression::Constant(Value::Nil), form.span)
            }
        }
    }

    fn pure(&mut self, form: &Form, items: &[Form]) -> Id {
        let [inner] = items else {
            return self.malformed(
                form,
                "`pure` takes one form",
                "write `(pure form)`; group several with `do`",
            );
        };
        self.pure += 1;
        let inner = self.compile(inner);
        self.pure -= 1;
        self.emit(Expression::Pure(inner), form.span)
    }
}

/// Whether a handler catches the failure of a call that no one provides, judged by its kind.
fn may_catch_unknown(handler: &Form) -> bool {
    let FormKind::List(parts) = &handler.kind else {
        return false;
    };
    let kind = match parts.get(1).map(|first| &first.kind) {
        Some(FormKind::Keyword(name) | FormKind::Symbol(name)) => FailureKind::named(name),
        _ => None,
    };
    handler.head() == Some("catch")
        && kind.is_none_or(|kind| kind == FailureKind::UnknownCapability)
}
