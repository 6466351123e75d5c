//! Forms that bind names: `let`, and definitions inside of bodies.

use super::{
    Compiler,
    annotation::{Annotated, split_word},
    forms::is_special,
    function::{FunctionForm, function_parts},
    pattern::PatternUse,
};
use crate::{
    finding::Rule,
    form::{Form, FormKind},
    program::{Binding, Expression, Id, Pattern},
    schema::{MAX_PATTERNS, Schema, patterns_in, too_many_patterns},
    span::Span,
    value::Value,
};

impl Compiler<'_> {
    /// Refuses names that the language keeps for itself.
    pub(super) fn check_name(&mut self, name: &str, span: Span) {
        if is_special(name) || name == ":" || name == "&" {
            self.refuse(
                span,
                Rule::ReservedName,
                format!("`{name}` is a reserved word"),
                "choose another name",
            );
        }
    }

    pub(super) fn name_twice(&mut self, name: &str, span: Span) {
        self.refuse(
            span,
            Rule::NameTwice,
            format!("`{name}` is bound twice"),
            "choose another name, or `_` where the value isn't needed",
        );
    }

    pub(super) fn schema(&mut self, form: &Form) -> Option<Schema> {
        self.patterns += patterns_in(form);
        if self.patterns > MAX_PATTERNS {
            self.find(too_many_patterns(form));
            return None;
        }
        match Schema::of_form(form) {
            Ok(schema) => Some(schema),
            Err(finding) => {
                self.find(finding);
                None
            }
        }
    }

    /// Compiles a row of forms whose last one's value counts; `def` and `defn` among them bind names
    /// for those that follow.
    pub(super) fn body(&mut self, forms: &[Form], span: Span) -> Id {
        let defines = |form: &Form| matches!(form.head(), Some("def" | "defn"));
        if !forms.iter().any(defines) {
            let ids = self.compile_all(forms);
            return match ids.as_slice() {
                [] => self.emit(Expression::Constant(Value::Nil), span),
                [only] => *only,
                _ => self.emit(Expression::Do(ids), span),
            };
        }
        let mark = self.scope().mark();
        let mut bindings = Vec::new();
        let mut last = None;
        let mut at = 0;
        while let Some(form) = forms.get(at) {
            if form.head() == Some("defn") {
                let run = forms[at..]
                    .iter()
                    .take_while(|form| form.head() == Some("defn"))
                    .count();
                let functions: Vec<FunctionForm<'_>> = forms[at..at + run]
                    .iter()
                    .filter_map(|form| self.named_function(form))
                    .collect();
                let (binding, slots) = self.functions_together(&functions);
                last = slots.last().copied();
                bindings.push(binding);
                at += run;
                continue;
            }
            at += 1;
            last = None;
            if let (Some("def"), FormKind::List(items)) = (form.head(), &form.kind) {
                let Some((name, schema, value)) = self.definition(form, &items[1..]) else {
                    continue;
                };
                if value.head() == Some("fn") && schema.is_none() {
                    let function = function_parts(value, name);
                    let (binding, slots) = self.functions_together(&[function]);
                    last = slots.last().copied();
                    bindings.push(binding);
                    continue;
                }
                let value = self.compile(value);
                let slot = self.scope().bind(name.into(), None);
                last = Some(slot);
                bindings.push(Binding::Value {
                    pattern: Pattern::Bind(slot),
                    schema,
                    value,
                });
            } else if at < forms.len() {
                let value = self.compile(form);
                bindings.push(Binding::Value {
                    pattern: Pattern::Ignore,
                    schema: None,
                    value,
                });
            }
        }
        let body = match (last, forms.last()) {
            (Some(slot), _) => self.emit(Expression::Local(slot), span),
            (None, Some(form)) if !defines(form) => self.compile(form),
            _ => self.emit(Expression::Constant(Value::Nil), span),
        };
        self.scope().release(mark);
        self.emit(Expression::Let { bindings, body }, span)
    }

    /// The parts of `(def name [: T] value)`.
    pub(super) fn definition<'f>(
        &mut self,
        form: &Form,
        items: &'f [Form],
    ) -> Option<(&'f str, Option<Schema>, &'f Form)> {
        let usage = "write `(def name value)` or `(def name : Type value)`";
        let name = items.first().and_then(Form::as_symbol);
        let (schema, value) = match &items[1.min(items.len())..] {
            [value] => (None, value),
            [colon, schema, value] if colon.as_symbol() == Some(":") => (Some(schema), value),
            [schema, value] if schema.as_keyword().is_some_and(Schema::is_simple) => {
                (Some(schema), value)
            }
            _ => {
                self.malformed(form, "a definition takes a name and one value", usage);
                return None;
            }
        };
        let Some(word) = name else {
            self.malformed(form, "a definition's name must be a symbol", usage);
            return None;
        };
        let name = split_word(word).map_or(word, |(name, _)| name);
        self.check_name(name, items[0].span);
        let schema = self.annotation(&Annotated::new(&items[0], schema));
        Some((name, schema, value))
    }

    pub(super) fn let_form(&mut self, form: &Form, items: &[Form]) -> Id {
        let usage = "write `(let [name value …] body)`";
        let Some((
            Form {
                kind: FormKind::Vector(pairs),
                span: at,
            },
            body,
        )) = items.split_first()
        else {
            return self.malformed(form, "`let` has no vector of bindings", usage);
        };
        if body.is_empty() {
            return self.malformed(form, "`let` has no body", usage);
        }
        let Some(pairs) = split_bindings(pairs) else {
            self.refuse(
                *at,
                Rule::MalformedForm,
                "the bindings are not pairs of a name and a value",
                usage,
            );
            return self.emit(Expression::Constant(Value::Nil), form.span);
        };
        let mark = self.scope().mark();
        let mut bindings = Vec::new();
        let mut rest = pairs.as_slice();
        while let Some(((annotated, value), after)) = rest.split_first() {
            let functions: Vec<FunctionForm<'_>> =
                rest.iter().map_while(function_binding).collect();
            if !functions.is_empty() {
                for (Annotated { pattern, .. }, _) in &rest[..functions.len()] {
                    if let Some(name) = pattern.as_symbol() {
                        self.check_name(name, pattern.span);
                    }
                }
                bindings.push(self.functions_together(&functions).0);
                rest = &rest[functions.len()..];
                continue;
            }
            let value = self.compile(value);
            let schema = self.annotation(annotated);
            let pattern = self.pattern(&annotated.pattern, PatternUse::Destructure);
            bindings.push(Binding::Value {
                pattern,
                schema,
                value,
            });
            rest = after;
        }
        let body = self.body(body, form.span);
        self.scope().release(mark);
        self.emit(Expression::Let { bindings, body }, form.span)
    }
}

type BindingForms<'f> = (Annotated<'f>, &'f Form);

fn function_binding<'f>((annotated, value): &'f BindingForms<'f>) -> Option<FunctionForm<'f>> {
    let name = annotated.pattern.as_symbol().filter(|&name| name != "_")?;
    let is_function = annotated.schema.is_none() && value.head() == Some("fn");
    is_function.then(|| function_parts(value, name))
}

/// Splits `[x 1 y : Int 2 z :Int 3 w:int 4]` into patterns, types and values.
///
/// A keyword after a pattern is its type or its value; it is a type where it names one and the rest
/// comes out even that way.
fn split_bindings(forms: &[Form]) -> Option<Vec<BindingForms<'_>>> {
    let is_pattern = |form: &Form| match &form.kind {
        FormKind::Symbol(name) => &**name != ":" && &**name != "&",
        FormKind::Vector(_) | FormKind::Map(_) => true,
        _ => false,
    };
    // How many forms the binding that begins at each place has, where all after it comes out even.
    let mut length = vec![0; forms.len() + 1];
    let mut even = vec![false; forms.len() + 1];
    even[forms.len()] = true;
    for at in (0..forms.len()).rev() {
        if !is_pattern(&forms[at]) {
            continue;
        }
        let Some(next) = forms.get(at + 1) else {
            continue;
        };
        let colon = next.as_symbol() == Some(":");
        let simple = next.as_keyword().is_some_and(|name| {
            Schema::is_simple(name) || name.strip_suffix('?').is_some_and(Schema::is_simple)
        });
        let candidates: &[usize] = match (colon, simple) {
            (true, _) => &[4],
            (false, true) => &[3, 2],
            (false, false) => &[2],
        };
        let fits = |&&candidate: &&usize| even.get(at + candidate) == Some(&true);
        if let Some(&candidate) = candidates.iter().find(fits) {
            length[at] = candidate;
            even[at] = true;
        }
    }
    let mut split = Vec::new();
    let mut at = 0;
    while at < forms.len() {
        if !even[at] {
            return None;
        }
        let schema = match length[at] {
            4 => Some(&forms[at + 2]),
            3 => Some(&forms[at + 1]),
            _ => None,
        };
        split.push((
            Annotated::new(&forms[at], schema),
            &forms[at + length[at] - 1],
        ));
        at += length[at];
    }
    Some(split)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::read;

    #[test]
    fn a_keyword_in_a_let_is_a_type_where_that_comes_out_even() {
        let split = |source: &str| {
            let forms = read(source).unwrap();
            split_bindings(&forms).map(|split| {
                split
                    .iter()
                    .map(
                        |(
                            Annotated {
                                pattern, schema, ..
                            },
                            value,
                        )| {
                            let schema = schema
                                .as_ref()
                                .map_or(String::new(), |schema| format!(" : {schema}"));
                            format!("{pattern}{schema} = {value}")
                        },
                    )
                    .collect::<Vec<_>>()
                    .join("; ")
            })
        };
        assert_eq!(split("x 1 y 2").as_deref(), Some("x = 1; y = 2"));
        assert_eq!(
            split("x : Int 1 y 2").as_deref(),
            Some("x : Int = 1; y = 2")
        );
        assert_eq!(
            split("x :Int 1 y 2").as_deref(),
            Some("x : :Int = 1; y = 2")
        );
        assert_eq!(split("x :int y 5").as_deref(), Some("x = :int; y = 5"));
        assert_eq!(
            split("x:int 1 y:string? a:v1 a:v1 3").as_deref(),
            Some("x : int = 1; y : string? = a:v1; a:v1 = 3")
        );
        assert_eq!(split("x :other y 5").as_deref(), Some("x = :other; y = 5"));
        assert_eq!(
            split("[a b] v {:keys [c]} m").as_deref(),
            Some("[a b] = v; {:keys [c]} = m")
        );
        assert_eq!(split("x"), None);
        assert_eq!(split("3 4"), None);
        assert_eq!(split("x :"), None);
    }
}
