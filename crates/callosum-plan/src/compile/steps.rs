//! Steps: what a plan names for its progress, its retries and its limits.

use super::Compiler;
use crate::{
    finding::Rule,
    form::{Form, FormKind, Name},
    program::{Expression, Id, Merge, StepDefinition},
    span::Span,
    value::Value,
};

/// Most retries of a step.
const MAX_RETRIES: i64 = 10;

/// Replacement for `:on-fail :delegate`: a call that the checker of the plan sees and counts, and
/// whose answer the plan handles.
const DELEGATED: &str = "call the agent that takes over: `(try body… (catch e (call :agent.delegate {:prompt (str \"it failed: \" (:message e))})))`";

impl Compiler<'_> {
    pub(super) fn step(&mut self, form: &Form, items: &[Form]) -> Id {
        let usage = "write `(step :name body)` or `(step :name {:timeout-ms 1000} body)`";
        let Some((
            Form {
                kind: FormKind::Keyword(id) | FormKind::Text(id),
                ..
            },
            mut body,
        )) = items.split_first()
        else {
            return self.malformed(form, "a step's name must be a keyword or a string", usage);
        };
        let mut definition = StepDefinition {
            id: Name::clone(id),
            timeout_ms: None,
            retries: 0,
            backoff_ms: 0,
            metadata: Value::Nil,
            span: form.span,
        };
        // A map before another form is the options; one in the last place is the value.
        if let [
            Form {
                kind: FormKind::Map(options),
                ..
            },
            rest @ ..,
        ] = body
            && !rest.is_empty()
        {
            self.step_options(options, &mut definition);
            body = rest;
        }
        let last = body.len().saturating_sub(1);
        let stray = body[..last].iter().find(|form| {
            matches!(
                form.as_keyword(),
                Some("expose-context" | "context-keys" | "params")
            )
        });
        if let Some(option) = stray {
            return self.malformed(
                option,
                format!("a step has no option `{option}`"),
                "a step uses the names that are defined around it",
            );
        }
        if body.is_empty() {
            return self.malformed(form, "a step needs a body", usage);
        }
        let step = self.steps.len() as u32;
        self.steps.push(definition);
        let mark = self.scope().mark();
        let body = self.body(body, form.span);
        self.scope().release(mark);
        self.emit(Expression::Step { step, body }, form.span)
    }

    fn step_options(&mut self, options: &[(Form, Form)], definition: &mut StepDefinition) {
        for (key, value) in options {
            match key.as_keyword() {
                Some("timeout-ms") => definition.timeout_ms = self.milliseconds(value),
                Some("metadata") => match Value::of_form(value) {
                    Ok(metadata) => definition.metadata = metadata,
                    Err(error) => self.option(value.span, error.to_string()),
                },
                Some("on-fail") => match value.as_keyword() {
                    Some("abort") => {}
                    Some("retry") => definition.retries = definition.retries.max(1),
                    Some("delegate") => self.refuse(
                        value.span,
                        Rule::MalformedForm,
                        "`:on-fail :delegate` is not supported: a plan delegates with a call",
                        DELEGATED,
                    ),
                    _ => self.option(value.span, "`:on-fail` must be :abort or :retry"),
                },
                Some("retries") => self.retries(value, definition),
                _ => self.option(key.span, format!("a step has no option `{key}`")),
            }
        }
    }

    fn retries(&mut self, value: &Form, definition: &mut StepDefinition) {
        let entries = match &value.kind {
            FormKind::Integer(_) => {
                let max = Form {
                    kind: FormKind::Keyword("max".into()),
                    span: value.span,
                };
                vec![(max, value.clone())]
            }
            FormKind::Map(entries) => entries.clone(),
            _ => {
                return self.option(
                    value.span,
                    "`:retries` must be a map: {:max 2 :backoff-ms 100}",
                );
            }
        };
        for (key, value) in &entries {
            match (key.as_keyword(), &value.kind) {
                (Some("max"), FormKind::Integer(max)) if (0..=MAX_RETRIES).contains(max) => {
                    definition.retries = *max as u32;
                }
                (Some("max"), _) => self.option(
                    value.span,
                    format!("`:max` must be an integer from 0 to {MAX_RETRIES}"),
                ),
                (Some("backoff-ms"), _) => {
                    definition.backoff_ms = self.milliseconds(value).unwrap_or(0);
                }
                _ => self.option(key.span, format!("`:retries` has no `{key}`")),
            }
        }
    }

    fn milliseconds(&mut self, value: &Form) -> Option<u64> {
        let milliseconds = match value.kind {
            FormKind::Integer(value) => u64::try_from(value).ok(),
            _ => None,
        };
        if milliseconds.is_none() {
            self.option(value.span, "milliseconds must be an integer, 0 or more");
        }
        milliseconds
    }

    fn option(&mut self, span: Span, message: impl Into<String>) {
        self.refuse(
            span,
            Rule::MalformedForm,
            message,
            "the options are :timeout-ms, :retries {:max 2 :backoff-ms 100}, :on-fail and :metadata",
        );
    }

    pub(super) fn step_loop(&mut self, form: &Form, items: &[Form]) -> Id {
        let (condition, body) = match items {
            [condition, body @ ..] if !body.is_empty() => (condition, body),
            _ => {
                return self.malformed(
                    form,
                    "`step-loop` takes a condition and a body",
                    "write `(step-loop condition body)`",
                );
            }
        };
        let condition = self.compile(condition);
        let mark = self.scope().mark();
        let body = self.body(body, form.span);
        self.scope().release(mark);
        self.emit(Expression::StepLoop { condition, body }, form.span)
    }

    pub(super) fn step_parallel(&mut self, form: &Form, items: &[Form]) -> Id {
        let mut branches = Vec::new();
        let mut merge = Merge::Collect;
        let mut rest = items;
        while let Some((item, after)) = rest.split_first() {
            rest = after;
            if item.as_keyword() != Some("merge-policy") {
                branches.push(self.branch(item));
                continue;
            }
            merge = match after.first().and_then(Form::as_keyword) {
                Some("keep-existing") => Merge::KeepExisting,
                Some("overwrite") => Merge::Overwrite,
                Some("merge") => Merge::Deep,
                _ => {
                    self.malformed(
                        item,
                        "`:merge-policy` must be :keep-existing, :overwrite or :merge",
                        "omit it to get a vector of the values",
                    );
                    Merge::Collect
                }
            };
            rest = after.get(1..).unwrap_or_default();
        }
        self.emit(Expression::Parallel { branches, merge }, form.span)
    }
}
