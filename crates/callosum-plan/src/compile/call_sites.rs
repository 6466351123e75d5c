//! [`call_sites`]: the calls of a finished table of expressions, with the arguments that are known.
//!
//! A value that the program computes is [`KnownValue::Unknown`]; a map or vector around it keeps its
//! known parts.

use std::collections::{HashMap, HashSet};

use super::call_bounds::{Subject, parts};
use crate::{
    call_site::{CallSite, KnownValue},
    failure::FailureKind,
    program::{Expression, Id},
    span::Span,
};

/// Returns all calls of a program in the order of its source.
pub(super) fn call_sites(subject: &Subject<'_>, spans: &[Span]) -> Vec<CallSite> {
    let caught = caught(subject);
    let retried = retried(subject);
    let mut sites = Vec::new();
    for (id, expression) in (0..).zip(subject.expressions) {
        let Expression::Call {
            capability,
            arguments,
        } = expression
        else {
            continue;
        };
        let arguments = arguments.iter().map(|&id| known(subject, id));
        sites.push(CallSite {
            capability: capability.clone(),
            arguments: arguments.collect(),
            span: spans[id as usize],
            is_caught: caught.contains(&id),
            retried_by: retried
                .get(&id)
                .map(|&step| subject.steps[step as usize].id.clone()),
        });
    }
    sites.sort_by_key(|site| site.span);
    sites
}

/// As deep as the compiler lets literals nest.
fn known(subject: &Subject<'_>, id: Id) -> KnownValue {
    match &subject.expressions[id as usize] {
        Expression::Constant(value) => KnownValue::Whole(value.clone()),
        Expression::Vector(items) => {
            KnownValue::Vector(items.iter().map(|&item| known(subject, item)).collect())
        }
        Expression::Map(entries) => KnownValue::Map(
            entries
                .iter()
                .map(|(key, id)| (key.clone(), known(subject, *id)))
                .collect(),
        ),
        _ => KnownValue::Unknown,
    }
}

/// The expressions in the body of a `try` that catches a failure of arguments.
fn caught(subject: &Subject<'_>) -> HashSet<Id> {
    let catches_it = |kind: Option<FailureKind>| {
        matches!(
            kind,
            None | Some(FailureKind::TypeValidationError | FailureKind::InvalidArgument)
        )
    };
    let mut pending = Vec::new();
    for expression in subject.expressions {
        if let Expression::Try { body, catches, .. } = expression
            && catches.iter().any(|catch| catches_it(catch.kind))
        {
            pending.push(*body);
        }
    }
    let mut seen = HashSet::new();
    while let Some(id) = pending.pop() {
        if seen.insert(id) {
            parts(&subject.expressions[id as usize], &mut pending);
        }
    }
    seen
}

/// Returns the step with retries that evaluates a call, by the call. Looks at each expression once,
/// for any number of steps: a model's source may have thousands of them around one large function.
fn retried(subject: &Subject<'_>) -> HashMap<Id, u32> {
    let mut found = HashMap::new();
    let mut seen = HashSet::new();
    // The compiler emits a step behind its body, so that inner steps come first.
    for expression in subject.expressions {
        let &Expression::Step { step, body } = expression else {
            continue;
        };
        if subject.steps[step as usize].retries == 0 {
            continue;
        }
        let mut pending = vec![body];
        while let Some(id) = pending.pop() {
            if !seen.insert(id) {
                continue;
            }
            let expression = &subject.expressions[id as usize];
            if matches!(expression, Expression::Call { .. }) {
                found.insert(id, step);
            }
            parts(expression, &mut pending);
            for (group, member) in subject.functions_of(id) {
                pending.push(subject.groups[group as usize].members[member as usize].body);
            }
        }
    }
    found
}
