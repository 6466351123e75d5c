//! What binds names: `let`, `def`, functions and their parameters, patterns.

use std::collections::HashSet;

use super::{
    Compiler,
    forms::is_special,
    scope::{FunctionScope, GroupScope},
};
use crate::{
    finding::Rule,
    form::{Form, FormKind, Name},
    program::{Binding, Expression, Extent, GroupDefinition, Id, Lambda, Pattern},
    schema::Schema,
    span::Span,
    value::{Key, Value},
};

/// What a pattern is for, which decides what it may say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PatternUse {
    /// Takes a value apart that is expected to have this form.
    Destructure,
    /// Is tried, and may not fit.
    Match,
}

/// A function that is to be compiled: where it stands, its parts after name, its name.
struct FunctionForm<'f> {
    form: &'f Form,
    parts: &'f [Form],
    name: Option<&'f str>,
}

impl Compiler<'_> {
    /// Refuses names that the language keeps for itself.
    pub(super) fn check_name(&mut self, name: &str, span: Span) {
        if is_special(name) || name == ":" || name == "&" {
            self.refuse(
                span,
                Rule::ReservedName,
                format!("`{name}` is a word of the language"),
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
        match Schema::of_form(form) {
            Ok(schema) => Some(schema),
            Err(finding) => {
                self.findings.push(finding);
                None
            }
        }
    }

    /// Splits parameters from their types: `x`, `x : Int`, `x :Int`, `& rest`.
    pub(super) fn typed<'f>(&mut self, forms: &'f [Form]) -> Vec<(&'f Form, Option<&'f Form>)> {
        let mut split = Vec::new();
        let mut at = 0;
        while let Some(pattern) = forms.get(at) {
            at += 1;
            let schema = match forms.get(at) {
                Some(colon) if colon.as_symbol() == Some(":") => {
                    at += 2;
                    if forms.get(at - 1).is_none() {
                        self.malformed(colon, "no type stands after the colon", "write `x : Int`");
                    }
                    forms.get(at - 1)
                }
                Some(schema) if schema.as_keyword().is_some() => {
                    at += 1;
                    Some(schema)
                }
                _ => None,
            };
            split.push((pattern, schema));
        }
        split
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

    fn named_function<'f>(&mut self, form: &'f Form) -> Option<FunctionForm<'f>> {
        let FormKind::List(items) = &form.kind else {
            return None;
        };
        let Some(name) = items.get(1).and_then(Form::as_symbol) else {
            self.malformed(
                form,
                "a function is defined by a name",
                "write `(defn name [parameters] body)`",
            );
            return None;
        };
        self.check_name(name, items[1].span);
        Some(FunctionForm {
            form,
            parts: &items[2..],
            name: Some(name),
        })
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
                self.malformed(form, "a definition has a name and one value", usage);
                return None;
            }
        };
        let Some(name) = name else {
            self.malformed(form, "a definition's name is a symbol", usage);
            return None;
        };
        self.check_name(name, items[0].span);
        let schema = schema.and_then(|schema| self.schema(schema));
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
                "the bindings are not pairs of name and value",
                usage,
            );
            return self.emit(Expression::Constant(Value::Nil), form.span);
        };
        let mark = self.scope().mark();
        let mut bindings = Vec::new();
        let mut rest = pairs.as_slice();
        while let Some(((pattern, schema, value), after)) = rest.split_first() {
            let functions: Vec<FunctionForm<'_>> =
                rest.iter().map_while(function_binding).collect();
            if !functions.is_empty() {
                for (pattern, ..) in &rest[..functions.len()] {
                    if let Some(name) = pattern.as_symbol() {
                        self.check_name(name, pattern.span);
                    }
                }
                bindings.push(self.functions_together(&functions).0);
                rest = &rest[functions.len()..];
                continue;
            }
            let value = self.compile(value);
            let schema = schema.and_then(|schema| self.schema(schema));
            let pattern = self.pattern(pattern, PatternUse::Destructure);
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

    pub(super) fn function(&mut self, form: &Form, parts: &[Form]) -> Id {
        self.function_of(form, parts, None, None)
    }

    /// A function of a global's name: `(def name (fn …))`.
    pub(super) fn function_named(&mut self, form: &Form, name: &str, global: Option<u32>) -> Id {
        let function = function_parts(form, name);
        self.function_of(form, function.parts, Some(name), global)
    }

    /// One function by itself; where it is a global's, it calls itself by way of that.
    pub(super) fn function_of(
        &mut self,
        form: &Form,
        parts: &[Form],
        name: Option<&str>,
        global: Option<u32>,
    ) -> Id {
        let function = FunctionForm { form, parts, name };
        let group = self.group(&[function], Siblings::Unknown);
        if let Some(global) = global {
            self.global_functions.insert(global, (group, 0));
        }
        self.emit(Expression::Function(group), form.span)
    }

    /// Functions without parameters, for what is evaluated apart from what stands around it.
    pub(super) fn branch(&mut self, form: &Form) -> u32 {
        let parts = [
            Form {
                kind: FormKind::Vector(Vec::new()),
                span: form.span,
            },
            form.clone(),
        ];
        let function = FunctionForm {
            form,
            parts: &parts,
            name: None,
        };
        self.group(&[function], Siblings::Unknown)
    }

    /// Functions that know one another, bound to their names; also their slots.
    fn functions_together(&mut self, functions: &[FunctionForm<'_>]) -> (Binding, Vec<u32>) {
        let group = self.group(functions, Siblings::Known);
        let slots: Vec<u32> = functions
            .iter()
            .zip(0..)
            .map(|(function, member)| {
                let name: Name = function.name.unwrap_or("_").into();
                self.scope().bind(name, Some((group, member)))
            })
            .collect();
        let binding = Binding::Functions {
            group,
            slots: slots.clone(),
        };
        (binding, slots)
    }

    fn group(&mut self, functions: &[FunctionForm<'_>], siblings: Siblings) -> u32 {
        let place = self.groups.len() as u32;
        // Its place is taken before its members are compiled, which have groups of their own.
        self.groups.push(GroupDefinition {
            captures: Vec::new(),
            members: Vec::new(),
        });
        let names = match siblings {
            Siblings::Known => functions
                .iter()
                .filter_map(|function| function.name)
                .collect(),
            Siblings::Unknown => Vec::new(),
        };
        let mut group = GroupScope {
            place,
            siblings: names.into_iter().map(Name::from).collect(),
            ..GroupScope::default()
        };
        let mut members = Vec::with_capacity(functions.len());
        for function in functions {
            self.functions.push(FunctionScope::of_group(group));
            members.push(self.lambda(function));
            group = self.functions.pop().unwrap_or_default().group;
        }
        self.groups[place as usize] = GroupDefinition {
            captures: group.capture_ids,
            members,
        };
        place
    }

    fn lambda(&mut self, function: &FunctionForm<'_>) -> Lambda {
        let usage = "write `(fn [parameters] body)`";
        let mut lambda = Lambda {
            name: function.name.map(Name::from),
            parameters: Vec::new(),
            rest: None,
            plain: true,
            returns: None,
            frame: 0,
            body: 0,
        };
        // Samples of the language's papers also have round brackets here.
        let Some((
            Form {
                kind: FormKind::Vector(parameters) | FormKind::List(parameters),
                ..
            },
            mut body,
        )) = function.parts.split_first()
        else {
            lambda.body = self.malformed(function.form, "a function has parameters", usage);
            return lambda;
        };
        let returns = match body {
            [colon, schema, rest @ ..] if colon.as_symbol() == Some(":") => {
                body = rest;
                Some(schema)
            }
            [schema, rest @ ..]
                if !rest.is_empty() && schema.as_keyword().is_some_and(Schema::is_simple) =>
            {
                body = rest;
                Some(schema)
            }
            _ => None,
        };
        lambda.returns = returns.and_then(|schema| self.schema(schema));
        self.parameters_of(function, parameters, &mut lambda);
        if body.is_empty() {
            lambda.body = self.malformed(function.form, "a function has a body", usage);
            return lambda;
        }
        lambda.body = self.body(body, function.form.span);
        lambda.frame = self.scope().frame();
        lambda
    }

    fn parameters_of(&mut self, function: &FunctionForm<'_>, forms: &[Form], lambda: &mut Lambda) {
        let typed = self.typed(forms);
        let rest_at = typed
            .iter()
            .position(|(pattern, _)| pattern.as_symbol() == Some("&"))
            .unwrap_or(typed.len());
        let mut seen = HashSet::new();
        for (pattern, _) in &typed {
            for name in names_in(pattern) {
                if name != "_" && name != "&" && !seen.insert(name) {
                    self.name_twice(name, pattern.span);
                }
            }
        }
        // All arguments have their slots first; then the parts of those that are taken apart.
        let slots: Vec<u32> = typed
            .iter()
            .filter(|(pattern, _)| pattern.as_symbol() != Some("&"))
            .map(|_| self.scope().slot())
            .collect();
        for (&slot, (pattern, schema)) in slots.iter().zip(&typed[..rest_at]) {
            let schema = schema.and_then(|schema| self.schema(schema));
            let pattern = self.parameter(pattern, slot);
            lambda.plain &=
                schema.is_none() && matches!(pattern, Pattern::Bind(own) if own == slot);
            lambda.parameters.push((pattern, schema));
        }
        match &typed[rest_at..] {
            [] => {}
            [_, (pattern, schema)] => {
                let schema = schema.and_then(|schema| self.schema(schema));
                let slot = slots[rest_at];
                let pattern = self.parameter(pattern, slot);
                lambda.plain = false;
                lambda.rest = Some((pattern, schema));
            }
            _ => {
                self.malformed(
                    function.form,
                    "one name stands after `&`, and nothing else",
                    "write `[first & rest]`",
                );
            }
        }
    }

    fn parameter(&mut self, form: &Form, slot: u32) -> Pattern {
        match form.as_symbol() {
            Some(name) => {
                self.check_name(name, form.span);
                self.scope().name_slot(name.into(), slot);
                Pattern::Bind(slot)
            }
            None => self.pattern(form, PatternUse::Destructure),
        }
    }

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
                        "`:as` has a name and a pattern",
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
                    "a list is no pattern",
                    "a pattern is a name, `_`, a vector, a map, `(:as name pattern)` or a literal",
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
                    format!("{} can't be bound", form.noun()),
                    "bind a name, or take a vector or map apart; `match` tries literals",
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
                        "nothing follows the rest of a vector",
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
            if key.as_symbol() == Some("&") {
                rest = Some(Box::new(self.pattern(value, purpose)));
            } else if key.as_keyword() == Some("as") && value.as_symbol().is_some() {
                whole = self.bind_symbol(value);
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
                "a key stands twice in one pattern",
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

/// Whether the functions of a group are bound to names beside one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Siblings {
    Known,
    Unknown,
}

fn is_as(items: &[Form]) -> bool {
    items.first().and_then(Form::as_keyword) == Some("as")
}

fn function_parts<'f>(form: &'f Form, name: &'f str) -> FunctionForm<'f> {
    let parts = match &form.kind {
        FormKind::List(items) => &items[1..],
        _ => &[],
    };
    FunctionForm {
        form,
        parts,
        name: Some(name),
    }
}

type BindingForms<'f> = (&'f Form, Option<&'f Form>, &'f Form);

fn function_binding<'f>((pattern, schema, value): &BindingForms<'f>) -> Option<FunctionForm<'f>> {
    let name = pattern.as_symbol().filter(|&name| name != "_")?;
    (schema.is_none() && value.head() == Some("fn")).then(|| function_parts(value, name))
}

fn names_in(form: &Form) -> Vec<&str> {
    match &form.kind {
        FormKind::Symbol(name) => vec![name],
        FormKind::Vector(items) => items.iter().flat_map(names_in).collect(),
        FormKind::Map(entries) => entries
            .iter()
            .flat_map(|(key, value)| [names_in(key), names_in(value)].concat())
            .collect(),
        _ => Vec::new(),
    }
}

/// Splits `[x 1 y : Int 2 z :Int 3]` into patterns, types and values.
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
        split.push((&forms[at], schema, &forms[at + length[at] - 1]));
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
                    .map(|(pattern, schema, value)| {
                        let schema = schema.map_or(String::new(), |schema| format!(" : {schema}"));
                        format!("{pattern}{schema} = {value}")
                    })
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
