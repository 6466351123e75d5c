//! The whole source: what is defined at the top, and the plan.

use std::collections::HashSet;

use super::{
    Compiler, PlanRule,
    annotation::split_word,
    globals::{Globals, Keyword},
};
use crate::{
    finding::Rule,
    form::{Form, FormKind},
    program::{Expression, Id, Parameter},
    schema::Schema,
    span::Span,
    value::Value,
};

impl Compiler<'_> {
    /// Compiles the whole source: globals are known everywhere, in any order.
    pub(super) fn program(&mut self, forms: &[Form]) -> Id {
        let flat = flatten_top(forms);
        let runs = Globals::runs(&flat);
        for (form, &run) in flat.iter().zip(&runs) {
            if let Some((name, keyword, span)) = defined_name(form)
                && self.globals.define(name, keyword, run).is_err()
            {
                self.refuse(
                    span,
                    Rule::NameTwice,
                    format!("`{name}` is defined twice"),
                    "values never change; choose another name for the second",
                );
            }
        }
        self.check_plan_rule(&flat);
        let mut ids: Vec<Id> = Vec::with_capacity(flat.len());
        for (form, &run) in flat.iter().zip(&runs) {
            self.globals.enter(run);
            ids.push(self.top(form));
        }
        let span = forms
            .first()
            .zip(forms.last())
            .map_or(Span::default(), |(first, last)| first.span.to(last.span));
        match ids.as_slice() {
            [] => self.emit(Expression::Constant(Value::Nil), span),
            [only] => *only,
            _ => self.emit(Expression::Do(ids), span),
        }
    }

    /// Reports each misplaced form once.
    fn check_plan_rule(&mut self, flat: &[&Form]) {
        let is_plan = |form: &&Form| form.head() == Some("defplan");
        let Some(first) = flat.iter().position(is_plan) else {
            if self.options.plan == PlanRule::Required {
                let span = flat.first().map_or(Span::default(), |form| form.span);
                self.refuse(
                    span,
                    Rule::NotOnePlan,
                    "the source has no plan",
                    "write `(defplan name (parameters) body)`; everything except `def` and `defn` belongs in its body",
                );
            }
            return;
        };
        if self.options.plan == PlanRule::Required {
            for form in &flat[..first] {
                if !matches!(form.head(), Some("def" | "defn")) {
                    self.refuse(
                        form.span,
                        Rule::NotOnePlan,
                        "only `def` and `defn` may precede a plan",
                        "move it into the plan's body",
                    );
                }
            }
        }
        for after in &flat[first + 1..] {
            let (what, hint) = if is_plan(after) {
                let hint = "make it a function with `defn`";
                (
                    "a source may have only one plan, and this is a second one",
                    hint,
                )
            } else {
                let hint = "move it before the `defplan`, or into its body";
                ("nothing may follow a plan", hint)
            };
            self.refuse(after.span, Rule::NotOnePlan, what, hint);
        }
    }

    fn top(&mut self, form: &Form) -> Id {
        if let FormKind::List(items) = &form.kind {
            match form.head() {
                Some("def") => return self.define(form, &items[1..]),
                Some("defn") => return self.define_function(form, &items[1..]),
                Some("defplan") => return self.define_plan(form, &items[1..]),
                _ => {}
            }
        }
        self.compile(form)
    }

    fn define(&mut self, form: &Form, items: &[Form]) -> Id {
        let Some((name, schema, value)) = self.definition(form, items) else {
            return self.emit(Expression::Constant(Value::Nil), form.span);
        };
        let place = self.globals.place(name);
        let value = match (value.head(), place) {
            (Some("fn"), Some(place)) => self.function_named(value, name, Some(place)),
            _ => self.compile(value),
        };
        self.define_at(place, schema, value, form.span)
    }

    fn define_at(
        &mut self,
        place: Option<u32>,
        schema: Option<Schema>,
        value: Id,
        span: Span,
    ) -> Id {
        let Some(global) = place else { return value };
        let expression = Expression::Define {
            global,
            schema,
            value,
        };
        self.emit(expression, span)
    }

    fn define_function(&mut self, form: &Form, items: &[Form]) -> Id {
        let Some(name) = items.first().and_then(Form::as_symbol) else {
            return self.malformed(
                form,
                "a function definition needs a name",
                "write `(defn name [parameters] body)`",
            );
        };
        self.check_name(name, items[0].span);
        let place = self.globals.place(name);
        let value = self.function_of(form, &items[1..], Some(name), place);
        self.define_at(place, None, value, form.span)
    }

    fn define_plan(&mut self, form: &Form, items: &[Form]) -> Id {
        let usage = "write `(defplan name (parameters) body)`";
        let Some((name, rest)) = items.split_first() else {
            return self.malformed(form, "a plan needs a name", usage);
        };
        let Some(name) = name.as_symbol() else {
            return self.malformed(form, "a plan's name must be a symbol", usage);
        };
        let Some((parameters, body)) = rest.split_first() else {
            return self.malformed(
                form,
                "a plan needs a parameter list, even if it is `()`",
                usage,
            );
        };
        let (FormKind::List(parameters) | FormKind::Vector(parameters)) = &parameters.kind else {
            return self.malformed(
                parameters,
                "a plan needs a parameter list, even if it is `()`",
                usage,
            );
        };
        if body.is_empty() {
            return self.malformed(form, "a plan needs a body", usage);
        }
        self.plan = Some(name.into());
        let mark = self.scope().mark();
        let mut seen = HashSet::new();
        for parameter in self.typed(parameters) {
            let pattern = &*parameter.pattern;
            let Some(name) = pattern.as_symbol().filter(|&name| name != "&") else {
                self.malformed(
                    pattern,
                    "a plan's parameters must be names",
                    "take the value apart with `let` in the body",
                );
                continue;
            };
            self.check_name(name, pattern.span);
            if !seen.insert(name.to_owned()) {
                self.name_twice(name, pattern.span);
            }
            let schema = self.annotation(&parameter);
            let slot = self.scope().bind(name.into(), None);
            self.parameters.push(Parameter {
                name: name.into(),
                slot,
                schema,
            });
        }
        let body = self.body(body, form.span);
        self.scope().release(mark);
        body
    }
}

/// The forms of a source, those of a `do` at the top taken out of it, since what they define is as
/// global as if they stood alone.
fn flatten_top(forms: &[Form]) -> Vec<&Form> {
    let mut flat = Vec::new();
    for form in forms {
        match &form.kind {
            FormKind::List(items) if form.head() == Some("do") && items.len() > 1 => {
                flat.extend(flatten_top(&items[1..]));
            }
            _ => flat.push(form),
        }
    }
    flat
}

fn defined_name(form: &Form) -> Option<(&str, Keyword, Span)> {
    let FormKind::List(items) = &form.kind else {
        return None;
    };
    let name = items.get(1)?;
    let word = name.as_symbol()?;
    match form.head() {
        Some("def") => {
            let own = split_word(word).map_or(word, |(own, _)| own);
            Some((own, Keyword::Def, name.span))
        }
        Some("defn") => Some((word, Keyword::Defn, name.span)),
        _ => None,
    }
}
