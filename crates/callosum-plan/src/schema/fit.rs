//! [`Shape::fits`]: a value, held against a type, and [`Misfit`], what of it does not fit.

use std::cmp::Ordering;

use super::{Comparison, Predicate, Presence, SHOWN, Shape};
use crate::{
    library::compare_numbers,
    value::{Key, Value},
};

impl Shape {
    /// Recurs as deep as the type was written, with any depth of the value.
    pub(super) fn fits<E>(
        &self,
        value: &Value,
        misfit: &mut Misfit,
        permit: &mut impl FnMut(u64) -> Result<(), E>,
    ) -> Result<bool, E> {
        permit(1)?;
        Ok(match (self, value) {
            (Self::Any, _)
            | (Self::Nil, Value::Nil)
            | (Self::Bool, Value::Boolean(_))
            | (Self::Int, Value::Integer(_))
            | (Self::Float, Value::Float(_))
            | (Self::Number, Value::Integer(_) | Value::Float(_))
            | (Self::Text, Value::Text(_))
            | (Self::Keyword, Value::Keyword(_))
            | (Self::Function, Value::Function(_))
            | (Self::AnyVector, Value::Vector(_))
            | (Self::AnyMap, Value::Map(_)) => true,
            (Self::Vector(item), Value::Vector(items)) => {
                for (index, value) in items.iter().enumerate() {
                    if !within(item, value, misfit, || format!("[{index}]"), permit)? {
                        return Ok(false);
                    }
                }
                true
            }
            (Self::Tuple(shapes), Value::Vector(items)) => {
                if shapes.len() != items.len() {
                    return Ok(false);
                }
                for (index, (shape, value)) in shapes.iter().zip(items.iter()).enumerate() {
                    if !within(shape, value, misfit, || format!("[{index}]"), permit)? {
                        return Ok(false);
                    }
                }
                true
            }
            (Self::Record(entries), Value::Map(map)) => {
                for (key, shape, presence) in entries {
                    permit(1 + key.weight() / 256)?;
                    let step = || at_key(key);
                    let Some(value) = map.get(key) else {
                        if *presence == Presence::Required {
                            *misfit = Misfit::new(step(), "is missing");
                            return Ok(false);
                        }
                        continue;
                    };
                    if !within(shape, value, misfit, step, permit)? {
                        return Ok(false);
                    }
                }
                true
            }
            (Self::MapOf(key_shape, shape), Value::Map(map)) => {
                for (key, value) in map.iter() {
                    permit(1 + key.weight() / 256)?;
                    let step = || at_key(key);
                    if !within(key_shape, &key.to_value(), misfit, step, permit)?
                        || !within(shape, value, misfit, step, permit)?
                    {
                        return Ok(false);
                    }
                }
                true
            }
            (Self::Union(shapes), value) => {
                for shape in shapes {
                    let mut of_shape = Misfit::default();
                    if shape.fits(value, &mut of_shape, permit)? {
                        return Ok(true);
                    }
                    of_shape.replace_if_further(misfit);
                }
                return Ok(false);
            }
            (Self::Literals(literals), value) => {
                for literal in literals {
                    if literal.equals(value, &mut *permit)? {
                        return Ok(true);
                    }
                }
                *misfit = Misfit::new(String::new(), "is not one of the allowed values");
                false
            }
            (Self::And(base, predicates), value) => {
                if !base.fits(value, misfit, permit)? {
                    return Ok(false);
                }
                for predicate in predicates {
                    if !predicate.holds(value, permit)? {
                        if let (Predicate::OnlyKeys(keys), Value::Map(map)) = (predicate, value) {
                            let other = map.keys().find(|key| !keys.contains(key));
                            let other = other.map(at_key).unwrap_or_default();
                            *misfit = Misfit::new(other, "is an unexpected key");
                        }
                        return Ok(false);
                    }
                }
                true
            }
            _ => false,
        })
    }
}

/// Part of a value that does not fit.
#[derive(Debug, Default)]
pub(super) struct Misfit {
    /// The way to it from the whole; empty where it is the whole.
    pub(super) way: String,
    /// Description of the fault, behind that.
    pub(super) why: String,
}

impl Misfit {
    pub(super) fn new(way: String, why: &str) -> Self {
        Self {
            way,
            why: why.to_owned(),
        }
    }

    /// Takes the other's place if it is further in: the type that fits furthest is probably the one that was meant.
    pub(super) fn replace_if_further(self, other: &mut Self) {
        if self.way.len() > other.way.len() || other.why.is_empty() {
            *other = self;
        }
    }
}

/// Whether a part fits; if it does not, the way to it is put before the description of the fault.
fn within<E>(
    shape: &Shape,
    value: &Value,
    misfit: &mut Misfit,
    step: impl Fn() -> String,
    permit: &mut impl FnMut(u64) -> Result<(), E>,
) -> Result<bool, E> {
    let fits = shape.fits(value, misfit, permit)?;
    if !fits {
        if misfit.why.is_empty() {
            misfit.why = format!("is {}", value.noun());
        }
        misfit.way.insert_str(0, &step());
    }
    Ok(fits)
}

/// A key as a step of a way, its beginning where it is long.
pub(super) fn at_key(key: &Key) -> String {
    let key = match key {
        Key::Text(text) if text.len() > SHOWN => {
            Value::text(text.chars().take(SHOWN).collect::<String>())
        }
        other => other.to_value(),
    };
    format!("{{{key}}}")
}

impl Predicate {
    pub(super) fn holds<E>(
        &self,
        value: &Value,
        permit: &mut impl FnMut(u64) -> Result<(), E>,
    ) -> Result<bool, E> {
        let compare = |how: Comparison, bound: &Value| {
            compare_numbers(value, bound).is_some_and(|order| how.allows(order))
        };
        let length = match value {
            Value::Text(text) => {
                permit(text.len() as u64 / 256)?;
                Some(text.chars().count())
            }
            Value::Vector(items) => Some(items.len()),
            Value::Map(map) => Some(map.len()),
            _ => None,
        };
        Ok(match self {
            Self::Compare(how, bound) => compare(*how, bound),
            Self::InRange(from, to) => {
                compare(Comparison::AtLeast, from) && compare(Comparison::AtMost, to)
            }
            Self::Length(how, bound) => length.is_some_and(|length| how.allows(length.cmp(bound))),
            Self::Equal(literal) => literal.equals(value, &mut *permit)?,
            Self::NotEqual(literal) => !literal.equals(value, &mut *permit)?,
            Self::Matches(pattern) => match value {
                Value::Text(text) => {
                    permit(pattern.look(text.len()))?;
                    pattern.regex().is_match(text)
                }
                _ => false,
            },
            Self::HasKeys(keys) => match value {
                Value::Map(map) => {
                    let looks = keys.iter().map(|key| 1 + key.weight() / 256);
                    permit(looks.sum())?;
                    keys.iter().all(|key| map.contains_key(key))
                }
                _ => false,
            },
            Self::OnlyKeys(keys) => match value {
                Value::Map(map) => {
                    let looks = map.keys().map(|key| 1 + key.weight() / 256);
                    permit(looks.sum::<u64>().saturating_mul(1 + keys.len() as u64))?;
                    map.keys().all(|key| keys.contains(key))
                }
                _ => false,
            },
        })
    }
}

impl Comparison {
    pub(super) fn allows(self, order: Ordering) -> bool {
        match self {
            Self::Less => order.is_lt(),
            Self::AtMost => order.is_le(),
            Self::Exactly => order.is_eq(),
            Self::AtLeast => order.is_ge(),
            Self::More => order.is_gt(),
        }
    }
}
