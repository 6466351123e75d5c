//! Source to [`Program`]: every form checked, every name resolved, before anything runs.
//!
//! [`compile`] gathers as many findings as it can instead of stopping at the first, so that the
//! writer of the source, person or model, can fix them at once. Nothing is rewritten by text: forms
//! become expressions as they were read.

mod annotation;
mod binding;
mod call_bounds;
mod call_sites;
mod calls;
mod definition;
mod forms;
mod function;
mod globals;
mod options;
mod pattern;
mod reference;
mod resolve;
mod scope;
mod steps;
mod unsupported;

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::Arc,
};

pub use self::options::{CompileOptions, PlanRule, Unbounded};
use self::{
    call_sites::call_sites,
    globals::Globals,
    reference::Reference,
    scope::{Access, FunctionScope, Resolved},
};
use crate::{
    capability::CapabilityName,
    finding::{Finding, Rule},
    form::{Form, FormKind, Name},
    invisible_chars::is_hidden,
    program::{
        Expression, FunctionId, GroupDefinition, Id, Parameter, Program, StepDefinition, YieldBound,
    },
    reader::{MAX_DEPTH, read},
    span::Span,
    value::{Key, Value},
};

/// Compiles a source.
///
/// Takes time in proportion to the source, and to the square of how deeply functions nest. The
/// findings stand in the order of the source.
pub fn compile(source: &str, options: &CompileOptions) -> Result<Program, Vec<Finding>> {
    let mut hidden = hidden_characters(source);
    let forms = match read(source) {
        Ok(forms) => forms,
        Err(error) => {
            hidden.push(error.into());
            return Err(hidden);
        }
    };
    match compile_forms(&forms, options) {
        Ok(program) if hidden.is_empty() => Ok(program),
        Ok(_) => Err(hidden),
        Err(mut findings) => {
            findings.append(&mut hidden);
            findings.sort_by_key(|finding| finding.span);
            Err(findings)
        }
    }
}

/// Compiles forms that were read or built.
pub fn compile_forms(forms: &[Form], options: &CompileOptions) -> Result<Program, Vec<Finding>> {
    let mut compiler = Compiler::new(options);
    if !compiler.check_weight(forms) {
        return Err(compiler.findings);
    }
    let entry = compiler.program(forms);
    compiler.finish(entry)
}

/// Most findings that are reported; a source with more is wrong enough.
const MAX_FINDINGS: usize = 100;

/// Most findings that come with a name that may have been meant.
const MAX_SUGGESTED: usize = 20;

/// Most forms of a program; a bound on what the compiler keeps.
const MAX_FORMS: usize = 200_000;

/// Deepest nesting of forms: as deep as the reader allows, and what a plan is built around
/// snippets.
const DEEPEST: usize = MAX_DEPTH + 8;

/// Finds characters that reorder or hide the text around them, so that a person approves what isn't there.
pub(crate) fn hidden_characters(source: &str) -> Vec<Finding> {
    let bytes = source.as_bytes();
    let ends_line = |at: usize| bytes[at] == b'\r' && bytes.get(at + 1) == Some(&b'\n');
    let hides = |&(at, c): &(usize, char)| is_hidden(c) && !ends_line(at);
    let found = source.char_indices().filter(hides);
    found
        .take(20)
        .map(|(at, c)| {
            let message = format!(
                "`{}` makes the source look different from what it is",
                c.escape_unicode()
            );
            Finding::new(
                Span::new(at, at + c.len_utf8()),
                Rule::HiddenCharacters,
                message,
            )
            .with_hint(format!(
                "remove it, or write it in a string as `{}`",
                c.escape_unicode()
            ))
        })
        .collect()
}

pub(super) struct Compiler<'a> {
    options: &'a CompileOptions,
    findings: Vec<Finding>,
    expressions: Vec<Expression>,
    spans: Vec<Span>,
    groups: Vec<GroupDefinition>,
    steps: Vec<StepDefinition>,
    globals: Globals,
    /// The functions that globals are, where they are.
    global_functions: HashMap<u32, FunctionId>,
    /// Expressions that are known to be one function.
    references: HashMap<Id, Reference>,
    capabilities: BTreeSet<CapabilityName>,
    functions: Vec<FunctionScope>,
    plan: Option<Name>,
    parameters: Vec<Parameter>,
    /// Number of `pure` forms around.
    pure: usize,
    /// Number of `try` forms around that catch.
    catching: usize,
    /// Number of the types' patterns of text until now.
    patterns: usize,
}

impl<'a> Compiler<'a> {
    fn new(options: &'a CompileOptions) -> Self {
        Self {
            options,
            findings: Vec::new(),
            expressions: Vec::new(),
            spans: Vec::new(),
            groups: Vec::new(),
            steps: Vec::new(),
            globals: Globals::default(),
            global_functions: HashMap::new(),
            references: HashMap::new(),
            capabilities: BTreeSet::new(),
            functions: vec![FunctionScope::default()],
            plan: None,
            parameters: Vec::new(),
            pure: 0,
            catching: 0,
            patterns: 0,
        }
    }

    fn finish(mut self, entry: Id) -> Result<Program, Vec<Finding>> {
        let mut yields = YieldBound::AtMost(0);
        let mut calls = Vec::new();
        if self.findings.is_empty() {
            let subject = call_bounds::Subject {
                expressions: &self.expressions,
                groups: &self.groups,
                steps: &self.steps,
                references: &self.references,
                global_functions: &self.global_functions,
                library: &self.options.library,
                entry,
            };
            let analysis = call_bounds::analyse(&subject);
            calls = call_sites(&subject, &self.spans);
            for id in analysis.impure {
                self.refuse(
                    self.spans[id as usize],
                    Rule::EffectInPure,
                    "this function calls a capability inside `pure`",
                    "move the call out of `pure`, and pass its value in",
                );
            }
            yields = analysis.yields;
            self.check_yields(yields, entry);
        }
        if !self.findings.is_empty() {
            self.findings.sort_by_key(|finding| finding.span);
            return Err(self.findings);
        }
        Ok(Program {
            expressions: self.expressions,
            spans: self.spans,
            groups: self.groups,
            steps: self.steps,
            globals: self.globals.names,
            library: Arc::clone(&self.options.library),
            entry,
            frame: self.functions[0].frame(),
            plan: self.plan,
            parameters: self.parameters,
            capabilities: self.capabilities,
            yields,
            calls,
        })
    }

    fn check_yields(&mut self, yields: YieldBound, entry: Id) {
        let Some(most) = self.options.max_yields else {
            return;
        };
        let span = self.spans[entry as usize];
        match yields {
            YieldBound::AtMost(count) if count > most => self.refuse(
                span,
                Rule::TooManyYields,
                format!("the number of calls may be {count}, more than {most}"),
                "make fewer calls, or request more in the constraints",
            ),
            YieldBound::Unbounded if self.options.unbounded == Unbounded::Refuse => self.refuse(
                span,
                Rule::TooManyYields,
                "the number of calls depends on values",
                "pass a whole collection to one call instead of calling for each item",
            ),
            _ => {}
        }
    }

    /// Whether the forms are few enough, and shallow enough for who walks them to recur.
    ///
    /// What was read is shallow enough; what was built need not be.
    fn check_weight(&mut self, forms: &[Form]) -> bool {
        let mut pending: Vec<(&Form, usize)> = forms.iter().map(|form| (form, 1)).collect();
        let mut count = 0;
        let mut deepest = 0;
        while let Some((form, depth)) = pending.pop() {
            count += 1;
            deepest = deepest.max(depth);
            match &form.kind {
                FormKind::Vector(items) | FormKind::List(items) => {
                    pending.extend(items.iter().map(|item| (item, depth + 1)));
                }
                FormKind::Map(entries) => {
                    let parts = entries.iter().flat_map(|(key, value)| [key, value]);
                    pending.extend(parts.map(|part| (part, depth + 1)));
                }
                _ => {}
            }
        }
        let message = if count > MAX_FORMS {
            format!("the program has {count} forms, more than {MAX_FORMS}")
        } else if deepest > DEEPEST {
            format!("the program is nested {deepest} forms deep, more than {DEEPEST}")
        } else {
            return true;
        };
        self.refuse(
            Span::default(),
            Rule::TooLarge,
            message,
            "pass data in as parameters, or get it from calls",
        );
        false
    }

    fn refuse(
        &mut self,
        span: Span,
        rule: Rule,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.find(Finding::new(span, rule, message).with_hint(hint));
    }

    fn find(&mut self, finding: Finding) {
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push(finding);
        }
    }

    fn malformed(&mut self, form: &Form, message: impl Into<String>, hint: &str) -> Id {
        self.refuse(form.span, Rule::MalformedForm, message, hint);
        self.emit(Expression::Constant(Value::Nil), form.span)
    }

    fn emit(&mut self, expression: Expression, span: Span) -> Id {
        let id = self.expressions.len() as Id;
        self.expressions.push(expression);
        self.spans.push(span);
        id
    }

    fn scope(&mut self) -> &mut FunctionScope {
        let last = self.functions.len() - 1;
        &mut self.functions[last]
    }

    /// Compiles one form to an expression.
    pub(super) fn compile(&mut self, form: &Form) -> Id {
        let span = form.span;
        let constant = match &form.kind {
            FormKind::Nil => Value::Nil,
            FormKind::Boolean(value) => Value::Boolean(*value),
            FormKind::Integer(value) => Value::Integer(*value),
            FormKind::Float(value) => Value::Float(*value),
            FormKind::Text(text) => Value::Text(Arc::clone(text)),
            FormKind::Keyword(name) => Value::Keyword(Arc::clone(name)),
            FormKind::Symbol(name) => return self.symbol(form, name),
            FormKind::Vector(items) => return self.vector(items, span),
            FormKind::Map(entries) => {
                return self.map(entries.iter().map(|(key, value)| (key, value)), span);
            }
            FormKind::List(items) => return self.list(form, items),
        };
        self.emit(Expression::Constant(constant), span)
    }

    fn constant(&self, id: Id) -> Option<&Value> {
        match &self.expressions[id as usize] {
            Expression::Constant(value) => Some(value),
            _ => None,
        }
    }

    fn vector(&mut self, items: &[Form], span: Span) -> Id {
        let ids: Vec<Id> = items.iter().map(|item| self.compile(item)).collect();
        let constants: Option<Vec<Value>> =
            ids.iter().map(|&id| self.constant(id).cloned()).collect();
        let expression = match constants {
            Some(values) => Expression::Constant(Value::vector(values)),
            None => Expression::Vector(ids),
        };
        self.emit(expression, span)
    }

    fn map<'f>(&mut self, entries: impl Iterator<Item = (&'f Form, &'f Form)>, span: Span) -> Id {
        let mut ids = Vec::new();
        let mut seen = HashSet::new();
        for (key, value) in entries {
            let id = self.compile(value);
            let Some(key) = self.key(key) else { continue };
            if !seen.insert(key.clone()) {
                self.refuse(
                    span,
                    Rule::NameTwice,
                    format!("the key {} occurs twice in one map", key.to_value()),
                    "remove one of the two",
                );
            }
            ids.push((key, id));
        }
        let constants: Option<std::collections::BTreeMap<Key, Value>> = ids
            .iter()
            .map(|(key, id)| Some((key.clone(), self.constant(*id)?.clone())))
            .collect();
        let expression = match constants {
            Some(entries) => Expression::Constant(Value::map(entries)),
            None => Expression::Map(ids),
        };
        self.emit(expression, span)
    }

    /// A key as it is written in a map or a pattern.
    pub(super) fn key(&mut self, form: &Form) -> Option<Key> {
        let key = Value::of_form(form).ok().and_then(|value| Key::of(&value));
        if key.is_none() {
            self.refuse(
                form.span,
                Rule::MalformedForm,
                format!("{} is not a key", form.noun()),
                "a key must be a keyword, a string, an integer or a boolean; use `assoc` for computed keys",
            );
        }
        key
    }

    fn list(&mut self, form: &Form, items: &[Form]) -> Id {
        let Some((head, arguments)) = items.split_first() else {
            return self.emit(Expression::Constant(Value::vector(Vec::new())), form.span);
        };
        match &head.kind {
            FormKind::Symbol(name) if forms::is_special(name) => {
                self.special(form, name, arguments)
            }
            FormKind::Keyword(name) if self.is_query(name, arguments) => {
                self.query(form, name, arguments)
            }
            FormKind::Symbol(name) => match self.resolve(name) {
                Some(Resolved {
                    access: Access::Library(function),
                    ..
                }) => {
                    if &**name == "get" && arguments.len() == 1 {
                        return self.malformed(
                            form,
                            "`get` takes a collection and a key",
                            "there is no context to read from; use a parameter of the plan",
                        );
                    }
                    let arguments = self.compile_all(arguments);
                    self.emit(
                        Expression::Library {
                            function,
                            arguments,
                        },
                        form.span,
                    )
                }
                Some(resolved) => {
                    let function = self.refer(resolved, head.span);
                    let arguments = self.compile_all(arguments);
                    self.emit(
                        Expression::Apply {
                            function,
                            arguments,
                        },
                        form.span,
                    )
                }
                None => {
                    self.undefined(head, name);
                    // What an unknown form holds need not be expressions of ours.
                    if unsupported::hint(name).is_none() {
                        self.compile_all(arguments);
                    }
                    self.emit(Expression::Constant(Value::Nil), form.span)
                }
            },
            _ => {
                let function = self.compile(head);
                let arguments = self.compile_all(arguments);
                self.emit(
                    Expression::Apply {
                        function,
                        arguments,
                    },
                    form.span,
                )
            }
        }
    }

    fn compile_all(&mut self, forms: &[Form]) -> Vec<Id> {
        forms.iter().map(|form| self.compile(form)).collect()
    }
}
