//! Functions: their parameters, and those that are made together since they may call one another.

use std::{
    collections::{HashMap, HashSet},
    slice,
};

use super::{
    Compiler,
    annotation::Annotated,
    pattern::PatternUse,
    scope::{FunctionScope, GroupScope},
};
use crate::{
    form::{Form, FormKind, Name},
    program::{Binding, Expression, GroupDefinition, Id, Lambda, Pattern},
    schema::Schema,
};

/// A function that is to be compiled: its form, its parts after name, its name.
pub(super) struct FunctionForm<'f> {
    pub(super) form: &'f Form,
    pub(super) parts: &'f [Form],
    pub(super) name: Option<&'f str>,
    pub(super) takes: Takes,
}

/// Whether the parts of a function begin with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    Parameters,
    Nothing,
}

/// Whether the functions of a group know the names of one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Siblings {
    Known,
    Unknown,
}

impl Compiler<'_> {
    pub(super) fn named_function<'f>(&mut self, form: &'f Form) -> Option<FunctionForm<'f>> {
        let FormKind::List(items) = &form.kind else {
            return None;
        };
        let Some(name) = items.get(1).and_then(Form::as_symbol) else {
            self.malformed(
                form,
                "a function definition needs a name",
                "write `(defn name [parameters] body)`",
            );
            return None;
        };
        self.check_name(name, items[1].span);
        Some(FunctionForm {
            form,
            parts: &items[2..],
            name: Some(name),
            takes: Takes::Parameters,
        })
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
        let function = FunctionForm {
            form,
            parts,
            name,
            takes: Takes::Parameters,
        };
        let group = self.group(&[function], Siblings::Unknown);
        if let Some(global) = global {
            self.global_functions.insert(global, (group, 0));
        }
        self.emit(Expression::Function(group), form.span)
    }

    /// Compiles a function without parameters, for an expression that is evaluated apart from those
    /// around it.
    pub(super) fn branch(&mut self, form: &Form) -> u32 {
        let function = FunctionForm {
            form,
            parts: slice::from_ref(form),
            name: None,
            takes: Takes::Nothing,
        };
        self.group(&[function], Siblings::Unknown)
    }

    /// Functions that know one another, bound to their names; also their slots.
    pub(super) fn functions_together(
        &mut self,
        functions: &[FunctionForm<'_>],
    ) -> (Binding, Vec<u32>) {
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
        let names = functions.iter().zip(0..);
        let names = names.filter_map(|(function, member)| Some((function.name?.into(), member)));
        let mut group = GroupScope {
            place,
            siblings: match siblings {
                Siblings::Known => names.collect(),
                Siblings::Unknown => HashMap::new(),
            },
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
        if function.takes == Takes::Nothing {
            lambda.body = self.body(function.parts, function.form.span);
            lambda.frame = self.scope().frame();
            return lambda;
        }
        // Samples of the language's papers also have round brackets here.
        let Some((
            Form {
                kind: FormKind::Vector(parameters) | FormKind::List(parameters),
                ..
            },
            mut body,
        )) = function.parts.split_first()
        else {
            let is_named = function
                .parts
                .first()
                .is_some_and(|part| part.as_symbol().is_some());
            let what = if is_named {
                "expected parameters: `fn` makes a function without a name; `let` and `defn` name one"
            } else {
                "a function needs parameters"
            };
            lambda.body = self.malformed(function.form, what, usage);
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
            lambda.body = self.malformed(function.form, "a function needs a body", usage);
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
            .position(|parameter| parameter.pattern.as_symbol() == Some("&"))
            .unwrap_or(typed.len());
        let mut seen = HashSet::new();
        for Annotated { pattern, .. } in &typed {
            for name in names_in(pattern) {
                if name != "_" && name != "&" && !seen.insert(name) {
                    self.name_twice(name, pattern.span);
                }
            }
        }
        // All arguments have their slots first; then the parts of those that are taken apart.
        let slots: Vec<u32> = typed
            .iter()
            .filter(|parameter| parameter.pattern.as_symbol() != Some("&"))
            .map(|_| self.scope().slot())
            .collect();
        for (&slot, parameter) in slots.iter().zip(&typed[..rest_at]) {
            let schema = self.annotation(parameter);
            let pattern = self.parameter(&parameter.pattern, slot);
            lambda.plain &=
                schema.is_none() && matches!(pattern, Pattern::Bind(own) if own == slot);
            lambda.parameters.push((pattern, schema));
        }
        match &typed[rest_at..] {
            [] => {}
            [Annotated { schema: None, .. }, rest] if rest.pattern.as_symbol() != Some("&") => {
                // The type is that of each value, and the values are bound as one vector.
                let schema = self.annotation(rest).map(Schema::of_each);
                let slot = slots[rest_at];
                let pattern = self.parameter(&rest.pattern, slot);
                lambda.plain = false;
                lambda.rest = Some((pattern, schema));
            }
            _ => {
                self.malformed(
                    function.form,
                    "exactly one name must follow `&`",
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
}

pub(super) fn function_parts<'f>(form: &'f Form, name: &'f str) -> FunctionForm<'f> {
    let parts = match &form.kind {
        FormKind::List(items) => &items[1..],
        _ => &[],
    };
    FunctionForm {
        form,
        parts,
        name: Some(name),
        takes: Takes::Parameters,
    }
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
