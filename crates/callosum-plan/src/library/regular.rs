//! Regular expressions, which take time in proportion to text and pattern, with any pattern.

use std::sync::Arc;

use regex::Captures;

use super::{EvalContext, Row, string};
use crate::{failure::Failure, regular_expression::RegularExpression, value::Value};

pub(super) const FUNCTIONS: &[Row] = &[
    ("re-find", 2, 2, |workshop, arguments| {
        let (pattern, text) = prepare("re-find", workshop, arguments)?;
        let pattern = pattern.regex();
        Ok(pattern
            .captures(&text)
            .map_or(Value::Nil, |captures| found(&captures)))
    }),
    ("re-matches", 2, 2, |workshop, arguments| {
        let (pattern, text) = prepare("re-matches", workshop, arguments)?;
        let whole = pattern
            .regex()
            .captures(&text)
            .filter(|captures| captures.get(0).is_some_and(|all| all.len() == text.len()));
        Ok(whole.map_or(Value::Nil, |captures| found(&captures)))
    }),
    ("re-seq", 2, 2, |workshop, arguments| {
        let (pattern, text) = prepare("re-seq", workshop, arguments)?;
        let mut items = Vec::new();
        for captures in pattern.regex().captures_iter(&text) {
            // The next may look through all of the text that is left.
            let end = captures.get(0).map_or(0, |all| all.end());
            let left = text.len() - end;
            workshop.budget.spend(1 + pattern.next_look(left))?;
            workshop.budget.allocate(64 * captures.len() as u64)?;
            items.push(found(&captures));
        }
        workshop.budget.vector(items)
    }),
];

/// Patterns that were compiled lately, since programs use the same ones again and again.
#[derive(Default)]
pub(crate) struct Patterns {
    compiled: Vec<(Arc<str>, RegularExpression)>,
}

/// Number of patterns that are kept.
const KEPT: usize = 16;

/// Cost of compiling one, in units of work.
const COMPILING: u64 = 50_000;

/// The pattern and the text to look at, paid for.
fn prepare(
    name: &str,
    workshop: &mut EvalContext,
    arguments: &[Value],
) -> Result<(RegularExpression, Arc<str>), Failure> {
    let pattern = string(name, &arguments[0])?;
    let text = string(name, &arguments[1])?;
    workshop.budget.allocate(text.len() as u64)?;
    let kept = &workshop.patterns.compiled;
    if let Some((_, compiled)) = kept.iter().find(|(own, _)| own == pattern) {
        workshop.budget.spend(compiled.look(text.len()))?;
        return Ok((compiled.clone(), Arc::clone(text)));
    }
    workshop.budget.spend(COMPILING)?;
    let compiled = RegularExpression::parse(pattern)
        .map_err(|why| Failure::argument(format!("invalid pattern: {why}")))?;
    workshop.budget.spend(compiled.look(text.len()))?;
    let kept = &mut workshop.patterns.compiled;
    if kept.len() == KEPT {
        kept.remove(0);
    }
    kept.push((Arc::clone(pattern), compiled.clone()));
    Ok((compiled, Arc::clone(text)))
}

/// The match, or where the pattern has groups, a vector of match and groups.
fn found(captures: &Captures<'_>) -> Value {
    let mut parts = captures.iter().map(|part| match part {
        Some(part) => Value::text(part.as_str()),
        None => Value::Nil,
    });
    if captures.len() == 1 {
        return parts.next().unwrap_or_default();
    }
    Value::vector(parts.collect())
}
