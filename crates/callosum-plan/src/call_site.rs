//! [`CallSite`]: one call as the source writes it, with the arguments that are known before the program runs.
//!
//! Start with [`call_sites`], which the compiler runs once over a finished table of expressions. A value that
//! the program computes is [`KnownValue::Unknown`]; a map or vector around it keeps its known parts.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::{
    call_bounds::{Subject, parts},
    capability::CapabilityName,
    failure::FailureKind,
    form::Name,
    program::{Expression, Id},
    span::Span,
    value::{Key, Value},
};

/// One call of a capability in the source.
#[derive(Clone, Debug)]
pub struct CallSite {
    /// The capability.
    pub capability: CapabilityName,
    /// The arguments, as far as the source gives them.
    pub arguments: Vec<KnownValue>,
    /// The call's place in the source.
    pub span: Span,
    /// Whether a `try` around the call catches a failure of its arguments.
    pub is_caught: bool,
    /// The step whose retries repeat the call, the innermost around it. Includes calls that the step makes through
    /// a function; a function that several steps call has one of them.
    pub retried_by: Option<Name>,
}

/// A value as far as the source gives it.
#[derive(Clone, Debug, PartialEq)]
pub enum KnownValue {
    /// All of it is a literal.
    Whole(Value),
    /// A vector with at least one computed item.
    Vector(Vec<Self>),
    /// A map with at least one computed value. All keys are literals.
    Map(BTreeMap<Key, Self>),
    /// The program computes it.
    Unknown,
}

impl KnownValue {
    /// Returns the vector of these values, [`Whole`](Self::Whole) if all of them are.
    pub fn vector(items: &[Self]) -> Self {
        let whole: Option<Vec<Value>> = items.iter().map(|item| item.whole().cloned()).collect();
        match whole {
            Some(values) => Self::Whole(Value::vector(values)),
            None => Self::Vector(items.to_vec()),
        }
    }

    /// Returns the value if all of it is known.
    pub fn whole(&self) -> Option<&Value> {
        match self {
            Self::Whole(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the entries of a map, in the order of their keys; nothing for any other value.
    pub fn entries(&self) -> Vec<(Key, Self)> {
        match self {
            Self::Map(entries) => {
                let entries = entries.iter();
                entries
                    .map(|(key, value)| (key.clone(), value.clone()))
                    .collect()
            }
            Self::Whole(Value::Map(map)) => {
                let entries = map.iter();
                entries
                    .map(|(key, value)| (key.clone(), Self::Whole(value.clone())))
                    .collect()
            }
            _ => Vec::new(),
        }
    }
}

/// Returns all calls of a program in the order of its source.
pub(crate) fn call_sites(subject: &Subject<'_>, spans: &[Span]) -> Vec<CallSite> {
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
