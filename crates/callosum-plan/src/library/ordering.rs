//! [`sorted_by`]: values that may be put in an order together, and the order.

use std::cmp::Ordering;

use super::number::compare_numbers;
use crate::{
    budget::Budget,
    failure::{Failure, FailureKind},
    value::Value,
};

/// Items in the order of their keys, those of equal keys as they were.
pub(crate) fn sorted_by(
    name: &str,
    budget: &mut Budget,
    items: Vec<Value>,
    keys: Vec<Value>,
) -> Result<Value, Failure> {
    let weight = keys
        .iter()
        .fold(0, |sum: u64, key| sum.saturating_add(key.weight()));
    let rounds = u64::from(items.len().max(2).ilog2());
    let looks = (weight / 16).saturating_mul(rounds);
    budget.spend(looks.saturating_add(items.len() as u64 * rounds / 4))?;
    // Beforehand, since an order that is none would not do to sort by.
    let first = keys.first().map(class);
    for key in &keys {
        if class(key).is_none() || Some(class(key)) != first {
            return Err(unordered(name, key));
        }
    }
    // The pairs, and what it takes to bring half of them in order.
    budget.allocate_values(3 * items.len())?;
    let mut pairs: Vec<(Value, Value)> = keys.into_iter().zip(items).collect();
    pairs.sort_by(|(one, _), (other, _)| order(one, other));
    budget.vector(pairs.into_iter().map(|(_, item)| item).collect())
}

/// Returns the class of values that may be ordered together.
fn class(value: &Value) -> Option<u8> {
    match value {
        Value::Integer(_) | Value::Float(_) => Some(0),
        Value::Text(_) => Some(1),
        Value::Keyword(_) => Some(2),
        Value::Boolean(_) => Some(3),
        _ => None,
    }
}

fn unordered(name: &str, value: &Value) -> Failure {
    Failure::new(
        FailureKind::TypeError,
        format!(
            "`{name}` orders only numbers, only strings, only keywords or only booleans, but got {}",
            value.noun()
        ),
    )
}

/// Returns the order within a class; NaN is last, so that it is one order.
fn order(one: &Value, other: &Value) -> Ordering {
    let is_nan = |value: &Value| matches!(value, Value::Float(value) if value.is_nan());
    match (one, other) {
        (Value::Text(one), Value::Text(other)) | (Value::Keyword(one), Value::Keyword(other)) => {
            one.cmp(other)
        }
        (Value::Boolean(one), Value::Boolean(other)) => one.cmp(other),
        _ => compare_numbers(one, other).unwrap_or_else(|| is_nan(one).cmp(&is_nan(other))),
    }
}
