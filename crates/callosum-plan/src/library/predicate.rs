//! Tests of a value's kind.

use super::{Row, count, wrong};
use crate::{failure::Failure, value::Value};

pub(super) const FUNCTIONS: &[Row] = &[
    ("not", 1, 1, |_, arguments| {
        Ok(Value::Boolean(!arguments[0].is_truthy()))
    }),
    ("nil?", 1, 1, |_, arguments| {
        Ok(Value::Boolean(matches!(arguments[0], Value::Nil)))
    }),
    ("string?", 1, 1, |_, arguments| {
        Ok(Value::Boolean(matches!(arguments[0], Value::Text(_))))
    }),
    ("number?", 1, 1, |_, arguments| {
        Ok(Value::Boolean(matches!(
            arguments[0],
            Value::Integer(_) | Value::Float(_)
        )))
    }),
    ("int?", 1, 1, |_, arguments| {
        Ok(Value::Boolean(matches!(arguments[0], Value::Integer(_))))
    }),
    ("float?", 1, 1, |_, arguments| {
        Ok(Value::Boolean(matches!(arguments[0], Value::Float(_))))
    }),
    ("bool?", 1, 1, |_, arguments| {
        Ok(Value::Boolean(matches!(arguments[0], Value::Boolean(_))))
    }),
    ("keyword?", 1, 1, |_, arguments| {
        Ok(Value::Boolean(matches!(arguments[0], Value::Keyword(_))))
    }),
    ("vector?", 1, 1, |_, arguments| {
        Ok(Value::Boolean(matches!(arguments[0], Value::Vector(_))))
    }),
    ("map?", 1, 1, |_, arguments| {
        Ok(Value::Boolean(matches!(arguments[0], Value::Map(_))))
    }),
    ("fn?", 1, 1, |_, arguments| {
        Ok(Value::Boolean(matches!(arguments[0], Value::Function(_))))
    }),
    ("even?", 1, 1, |_, arguments| {
        parity("even?", &arguments[0], 0)
    }),
    ("odd?", 1, 1, |_, arguments| {
        parity("odd?", &arguments[0], 1)
    }),
    ("zero?", 1, 1, |_, arguments| {
        sign("zero?", &arguments[0], |value| value == 0.0)
    }),
    ("pos?", 1, 1, |_, arguments| {
        sign("pos?", &arguments[0], |value| value > 0.0)
    }),
    ("neg?", 1, 1, |_, arguments| {
        sign("neg?", &arguments[0], |value| value < 0.0)
    }),
    ("type-name", 1, 1, |_, arguments| {
        Ok(Value::text(arguments[0].type_name()))
    }),
    ("empty?", 1, 1, |_, arguments| match &arguments[0] {
        Value::Nil => Ok(Value::Boolean(true)),
        Value::Text(text) => Ok(Value::Boolean(text.is_empty())),
        Value::Vector(items) => Ok(Value::Boolean(items.is_empty())),
        Value::Map(map) => Ok(Value::Boolean(map.is_empty())),
        other => Err(wrong("empty?", "a collection or a string", other)),
    }),
    ("contains?", 2, 2, |_, arguments| {
        match (&arguments[0], &arguments[1]) {
        (Value::Nil, _) => Ok(Value::Boolean(false)),
        (Value::Map(map), key) => {
            let key = crate::value::Key::of(key);
            Ok(Value::Boolean(key.is_some_and(|key| map.contains_key(&key))))
        }
        (Value::Vector(items), place) => {
            let held = count("contains?", place)? < items.len();
            Ok(Value::Boolean(held))
        }
        (other, _) => Err(wrong("contains?", "a map or a vector", other)
            .with_hint("with a vector, it looks for an index; use `some?` for a value, `string-contains` for a string")),
    }
    }),
];

fn parity(name: &str, value: &Value, rest: i64) -> Result<Value, Failure> {
    let value = super::integer(name, value)?;
    Ok(Value::Boolean(value.rem_euclid(2) == rest))
}

fn sign(name: &str, value: &Value, test: fn(f64) -> bool) -> Result<Value, Failure> {
    match value {
        // Signs of integers survive the way to floats.
        Value::Integer(value) => Ok(Value::Boolean(test(*value as f64))),
        Value::Float(value) => Ok(Value::Boolean(test(*value))),
        other => Err(wrong(name, "a number", other)),
    }
}
