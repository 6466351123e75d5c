//! Arithmetic and order. Integers stay integers as long as they are exact, and never wrap.

use std::cmp::Ordering;

use super::{EvalContext, MANY, Row, integer, wrong};
use crate::{
    failure::{Failure, FailureKind},
    value::Value,
};

pub(super) const FUNCTIONS: &[Row] = &[
    ("+", 1, MANY, |_, arguments| {
        fold(
            "+",
            arguments,
            Value::Integer(0),
            i64::checked_add,
            |a, b| a + b,
        )
    }),
    ("*", 1, MANY, |_, arguments| {
        fold(
            "*",
            arguments,
            Value::Integer(1),
            i64::checked_mul,
            |a, b| a * b,
        )
    }),
    ("-", 1, MANY, subtract),
    ("/", 1, MANY, divide),
    ("mod", 2, 2, |_, arguments| {
        remainder("mod", arguments, i64::checked_rem_euclid, f64::rem_euclid)
    }),
    ("rem", 2, 2, |_, arguments| {
        remainder("rem", arguments, i64::checked_rem, |a, b| a % b)
    }),
    ("quot", 2, 2, |_, arguments| quotient(arguments)),
    ("inc", 1, 1, |_, arguments| {
        sum("inc", &arguments[0], &Value::Integer(1))
    }),
    ("dec", 1, 1, |_, arguments| {
        sum("dec", &arguments[0], &Value::Integer(-1))
    }),
    ("abs", 1, 1, |_, arguments| match &arguments[0] {
        Value::Integer(value) => value
            .checked_abs()
            .map(Value::Integer)
            .ok_or_else(|| overflow("abs")),
        Value::Float(value) => Ok(Value::Float(value.abs())),
        other => Err(wrong("abs", "numbers", other)),
    }),
    ("max", 1, MANY, |_, arguments| {
        extreme("max", arguments, Ordering::Greater)
    }),
    ("min", 1, MANY, |_, arguments| {
        extreme("min", arguments, Ordering::Less)
    }),
    ("sqrt", 1, 1, |_, arguments| {
        let value = float("sqrt", &arguments[0])?;
        if value < 0.0 {
            return Err(Failure::argument("`sqrt` takes no negative number"));
        }
        Ok(Value::Float(value.sqrt()))
    }),
    ("pow", 2, 2, |_, arguments| power(arguments)),
    ("factorial", 1, 1, |_, arguments| {
        let value = super::count("factorial", &arguments[0])?;
        // 21! is more than 64 bits.
        let product = (1..=21_i64).take(value).try_fold(1_i64, i64::checked_mul);
        product
            .map(Value::Integer)
            .ok_or_else(|| overflow("factorial"))
    }),
    ("<", 1, MANY, |_, arguments| {
        ordered("<", arguments, |order| order == Ordering::Less)
    }),
    (">", 1, MANY, |_, arguments| {
        ordered(">", arguments, |order| order == Ordering::Greater)
    }),
    ("<=", 1, MANY, |_, arguments| {
        ordered("<=", arguments, |order| order != Ordering::Greater)
    }),
    (">=", 1, MANY, |_, arguments| {
        ordered(">=", arguments, |order| order != Ordering::Less)
    }),
    ("=", 1, MANY, |workshop, arguments| {
        Ok(Value::Boolean(equal(workshop, arguments)?))
    }),
    ("not=", 1, MANY, |workshop, arguments| {
        Ok(Value::Boolean(!equal(workshop, arguments)?))
    }),
];

pub(super) fn overflow(name: &str) -> Failure {
    Failure::new(
        FailureKind::IntegerOverflow,
        format!("the result of `{name}` does not fit in 64 bits"),
    )
    .with_hint("convert one of the numbers with `float` if the result need not be exact")
}

fn division_by_zero() -> Failure {
    Failure::new(FailureKind::DivisionByZero, "division by zero")
}

fn float(name: &str, value: &Value) -> Result<f64, Failure> {
    match value {
        Value::Integer(value) => Ok(*value as f64),
        Value::Float(value) => Ok(*value),
        other => Err(wrong(name, "numbers", other)),
    }
}

/// The integer that a float is, where it is one that both hold exactly.
pub(super) fn whole(value: f64) -> Option<Value> {
    // Both bounds are floats; the upper one is itself outside.
    let fits = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&value);
    (fits && value.fract() == 0.0).then_some(Value::Integer(value as i64))
}

fn combine(
    name: &str,
    one: &Value,
    other: &Value,
    exact: fn(i64, i64) -> Option<i64>,
    rough: fn(f64, f64) -> f64,
) -> Result<Value, Failure> {
    match (one, other) {
        (Value::Integer(one), Value::Integer(other)) => exact(*one, *other)
            .map(Value::Integer)
            .ok_or_else(|| overflow(name)),
        _ => Ok(Value::Float(rough(float(name, one)?, float(name, other)?))),
    }
}

fn sum(name: &str, one: &Value, other: &Value) -> Result<Value, Failure> {
    combine(name, one, other, i64::checked_add, |a, b| a + b)
}

fn fold(
    name: &str,
    arguments: &[Value],
    start: Value,
    exact: fn(i64, i64) -> Option<i64>,
    rough: fn(f64, f64) -> f64,
) -> Result<Value, Failure> {
    arguments.iter().try_fold(start, |total, value| {
        combine(name, &total, value, exact, rough)
    })
}

fn subtract(_: &mut EvalContext, arguments: &mut [Value]) -> Result<Value, Failure> {
    let exact = i64::checked_sub;
    let rough = |a, b| a - b;
    match arguments {
        [only] => combine("-", &Value::Integer(0), only, exact, rough),
        [first, rest @ ..] => fold("-", rest, first.clone(), exact, rough),
        [] => Ok(Value::Integer(0)),
    }
}

fn divide(_: &mut EvalContext, arguments: &mut [Value]) -> Result<Value, Failure> {
    match arguments {
        [only] => quotient_of(&Value::Integer(1), only),
        [first, rest @ ..] => rest
            .iter()
            .try_fold(first.clone(), |total, value| quotient_of(&total, value)),
        [] => Ok(Value::Integer(1)),
    }
}

/// An integer where the quotient is whole, else a float.
fn quotient_of(one: &Value, other: &Value) -> Result<Value, Failure> {
    if let (Value::Integer(one), Value::Integer(other)) = (one, other) {
        if *other == 0 {
            return Err(division_by_zero());
        }
        let exact = one.checked_rem(*other).map_or_else(
            || Some(Err(overflow("/"))),
            |rest| {
                (rest == 0).then(|| {
                    let quotient = one.checked_div(*other);
                    quotient.map(Value::Integer).ok_or_else(|| overflow("/"))
                })
            },
        );
        return exact.unwrap_or(Ok(Value::Float(*one as f64 / *other as f64)));
    }
    let (one, other) = (float("/", one)?, float("/", other)?);
    if other == 0.0 {
        return Err(division_by_zero());
    }
    let quotient = one / other;
    Ok(whole(quotient).unwrap_or(Value::Float(quotient)))
}

fn quotient(arguments: &[Value]) -> Result<Value, Failure> {
    let one = integer("quot", &arguments[0])?;
    let other = integer("quot", &arguments[1])?;
    if other == 0 {
        return Err(division_by_zero());
    }
    one.checked_div(other)
        .map(Value::Integer)
        .ok_or_else(|| overflow("quot"))
}

fn remainder(
    name: &str,
    arguments: &[Value],
    exact: fn(i64, i64) -> Option<i64>,
    rough: fn(f64, f64) -> f64,
) -> Result<Value, Failure> {
    let (one, other) = (&arguments[0], &arguments[1]);
    if let (Value::Integer(one), Value::Integer(other)) = (one, other) {
        if *other == 0 {
            return Err(division_by_zero());
        }
        // The least integer by -1 has no quotient in 64 bits, but a remainder.
        return Ok(Value::Integer(exact(*one, *other).unwrap_or(0)));
    }
    let (one, other) = (float(name, one)?, float(name, other)?);
    if other == 0.0 {
        return Err(division_by_zero());
    }
    Ok(Value::Float(rough(one, other)))
}

fn power(arguments: &[Value]) -> Result<Value, Failure> {
    if let (Value::Integer(base), Value::Integer(exponent)) = (&arguments[0], &arguments[1])
        && let Ok(exponent) = u64::try_from(*exponent)
    {
        // Bases whose powers never grow have any exponent; others none beyond 63.
        let exponent = match base {
            0 => exponent.min(1) as u32,
            1 | -1 => (exponent % 2) as u32,
            _ => exponent.min(64) as u32,
        };
        return base
            .checked_pow(exponent)
            .map(Value::Integer)
            .ok_or_else(|| overflow("pow"));
    }
    let base = float("pow", &arguments[0])?;
    Ok(Value::Float(base.powf(float("pow", &arguments[1])?)))
}

fn is_number(value: &Value) -> bool {
    matches!(value, Value::Integer(_) | Value::Float(_))
}

/// Compares two numbers, exactly even if one is a float; `None` if one is not a number.
pub(crate) fn compare_numbers(one: &Value, other: &Value) -> Option<Ordering> {
    match (one, other) {
        (Value::Integer(one), Value::Integer(other)) => Some(one.cmp(other)),
        (Value::Float(one), Value::Float(other)) => one.partial_cmp(other),
        (Value::Integer(one), Value::Float(other)) => compare_mixed(*one, *other),
        (Value::Float(one), Value::Integer(other)) => {
            compare_mixed(*other, *one).map(Ordering::reverse)
        }
        _ => None,
    }
}

fn compare_mixed(one: i64, other: f64) -> Option<Ordering> {
    if other.is_nan() {
        return None;
    }
    match whole(other.floor()) {
        Some(Value::Integer(floor)) if one == floor => Some(if other.fract() == 0.0 {
            Ordering::Equal
        } else {
            Ordering::Less
        }),
        Some(Value::Integer(floor)) => Some(one.cmp(&floor)),
        _ if other > 0.0 => Some(Ordering::Less),
        _ => Some(Ordering::Greater),
    }
}

fn ordered(name: &str, arguments: &[Value], holds: fn(Ordering) -> bool) -> Result<Value, Failure> {
    if let [only] = arguments {
        float(name, only)?;
    }
    for pair in arguments.windows(2) {
        let order = match (&pair[0], &pair[1]) {
            (Value::Text(one), Value::Text(other)) => Some(one.cmp(other)),
            (one, other) if is_number(one) && is_number(other) => compare_numbers(one, other),
            (one, other) => {
                let stranger = if is_number(one) { other } else { one };
                return Err(wrong(name, "only numbers or only strings", stranger));
            }
        };
        if !order.is_some_and(holds) {
            return Ok(Value::Boolean(false));
        }
    }
    Ok(Value::Boolean(true))
}

fn extreme(name: &str, arguments: &[Value], wanted: Ordering) -> Result<Value, Failure> {
    let mut best = &arguments[0];
    float(name, best)?;
    for value in &arguments[1..] {
        float(name, value)?;
        let order = compare_numbers(value, best);
        if order == Some(wanted) {
            best = value;
        }
    }
    Ok(best.clone())
}

fn equal(workshop: &mut EvalContext, arguments: &[Value]) -> Result<bool, Failure> {
    for pair in arguments.windows(2) {
        let budget = &mut workshop.budget;
        if !pair[0].equals(&pair[1], |work| budget.spend(work))? {
            return Ok(false);
        }
    }
    Ok(true)
}
