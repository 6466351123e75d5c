//! Checks of a program's calls against what is provided here: literal arguments, and effects that a retry repeats.
//!
//! Start with [`check_calls`]. Nothing is called, and nothing that the program computes is judged.

use callosum_plan::{CallSite, Finding, Key, KnownValue, Program, Rule, Value};
use callosum_plan_run::kernel::{ArgumentFault, Catalogue, argument_fault, repeats_effect};
use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;
use crate::plan::source::Source;
use crate::session::place;

/// The faults of a program's calls.
#[derive(Default)]
pub struct CallFaults {
    /// Calls that fail whenever they are made.
    pub findings: Vec<Finding>,
    /// Calls that may not do what the plan means.
    pub warnings: Vec<CallWarning>,
}

/// A call that the plan may make, though its author should look at it.
#[derive(Debug, JsonSchema, Serialize)]
pub struct CallWarning {
    /// `argument-mismatch` or `repeated-effect`.
    rule: &'static str,
    /// The warning in words.
    pub message: String,
    /// Remedy.
    pub hint: Option<String>,
    /// The capability.
    capability: String,
    /// The step that repeats the call; null for an argument.
    step: Option<String>,
    /// The call's line, from 1.
    line: usize,
    /// The call's column, in characters from 1.
    column: usize,
}

/// Checks each call whose capability is provided here.
///
/// A wrong argument in a `try` that catches it is a warning: the plan says what to do then.
pub fn check_calls(
    context: &Context,
    catalogue: &Catalogue,
    program: &Program,
    source: &Source,
) -> CallFaults {
    let mut faults = CallFaults::default();
    for call in program.calls() {
        let Some(manifest) = catalogue.get(&call.capability) else {
            continue;
        };
        let (line, column) = source.line_and_column(call.span);
        let warning = |rule: Rule, message: String, hint: Option<String>| CallWarning {
            rule: rule.as_str(),
            message,
            hint,
            capability: call.capability.to_string(),
            step: None,
            line,
            column,
        };
        let fault = argument_fault(manifest, call).or_else(|| citation_fault(context, call));
        match fault {
            Some(ArgumentFault { message, hint }) if call.is_caught => {
                let message = format!("line {line}: the call always fails: {message}");
                let warning = warning(Rule::ArgumentMismatch, message, hint);
                faults.warnings.push(warning);
            }
            Some(ArgumentFault { message, hint }) => faults.findings.push(Finding {
                span: call.span,
                rule: Rule::ArgumentMismatch,
                message,
                hint,
            }),
            None => {}
        }
        if let Some(step) = &call.retried_by
            && repeats_effect(catalogue, manifest, call)
        {
            let message = format!(
                "line {line}: a retry of the step `{step}` repeats `:{}` and its effects",
                call.capability
            );
            let hint = "move the call out of the step, or remove `:retries`".to_owned();
            faults.warnings.push(CallWarning {
                rule: "repeated-effect",
                step: Some(step.to_string()),
                ..warning(Rule::ArgumentMismatch, message, Some(hint))
            });
        }
    }
    faults
}

/// Returns the first literal citation of a decision that names no lines of a file.
fn citation_fault(context: &Context, call: &CallSite) -> Option<ArgumentFault> {
    if call.capability.as_str() != "session.decide" {
        return None;
    }
    let [argument] = call.arguments.as_slice() else {
        return None;
    };
    let is_cite = |key: &Key| match key {
        Key::Keyword(name) | Key::Text(name) => &**name == "cite",
        _ => false,
    };
    let (_, cited) = argument
        .entries()
        .into_iter()
        .find(|(key, _)| is_cite(key))?;
    let items = match cited {
        KnownValue::Whole(Value::Vector(items)) => {
            let items = items.iter().cloned();
            items.map(KnownValue::Whole).collect()
        }
        KnownValue::Vector(items) => items,
        _ => return None,
    };
    items.iter().find_map(|item| {
        let Some(Value::Text(text)) = item.whole() else {
            return None;
        };
        let error = place(context, text).err()?;
        Some(ArgumentFault {
            message: format!("`{}`: {}", call.capability, error.one_line()),
            hint: error.hint_text().map(str::to_owned),
        })
    })
}
