//! When two values are equal: of one kind and of one content; `1` and `1.0` are not.

use std::{cmp::Ordering, convert::Infallible};

use super::{Callable, Function, Value};

impl Value {
    /// Returns whether two values are equal, asking `permit` before each pair that is looked at, with
    /// the units of work that it takes.
    ///
    /// Parts that are one in memory are equal without a look. Functions are equal only where they
    /// are one.
    pub(crate) fn equals<E>(
        &self,
        other: &Self,
        mut permit: impl FnMut(u64) -> Result<(), E>,
    ) -> Result<bool, E> {
        let mut pending = vec![(self, other)];
        while let Some(pair) = pending.pop() {
            permit(match pair {
                (Self::Text(one) | Self::Keyword(one), _) => 1 + one.len() as u64 / 256,
                (Self::Map(one), _) => 1 + one.len() as u64 / 4 + one.weight() / 1024,
                _ => 1,
            })?;
            let alike = match pair {
                (Self::Nil, Self::Nil) => true,
                (Self::Boolean(one), Self::Boolean(other)) => one == other,
                (Self::Integer(one), Self::Integer(other)) => one == other,
                (Self::Float(one), Self::Float(other)) => {
                    one.partial_cmp(other) == Some(Ordering::Equal)
                }
                (Self::Text(one), Self::Text(other))
                | (Self::Keyword(one), Self::Keyword(other)) => one == other,
                (Self::Vector(one), Self::Vector(other)) => {
                    if one.is_same(other) {
                        true
                    } else if one.len() == other.len() && one.weight() == other.weight() {
                        pending.extend(one.iter().zip(other.iter()).rev());
                        true
                    } else {
                        false
                    }
                }
                (Self::Map(one), Self::Map(other)) => {
                    if one.is_same(other) {
                        true
                    } else if one.weight() == other.weight() && one.keys().eq(other.keys()) {
                        pending.extend(one.values().zip(other.values()).rev());
                        true
                    } else {
                        false
                    }
                }
                (Self::Function(one), Self::Function(other)) => one.is(other),
                _ => false,
            };
            if !alike {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Function {
    fn is(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Callable::Library(one), Callable::Library(other)) => one == other,
            (Callable::Closure(group, member), Callable::Closure(other, which)) => {
                std::sync::Arc::ptr_eq(group, other) && member == which
            }
            _ => false,
        }
    }
}

/// As the language's `=`. Without a bound: two values that share much, apart from each other, take
/// as long as they would be when written out.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match self.equals(other, |_| Ok::<(), Infallible>(())) {
            Ok(equal) => equal,
            Err(never) => match never {},
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_never_equal_and_not_a_number_equals_nothing() {
        assert!(Value::Integer(1) != Value::Float(1.0));
        assert!(Value::Float(f64::NAN) != Value::Float(f64::NAN));
        assert!(Value::text("a") != Value::keyword("a"));
        assert!(Value::vector(vec![]) != Value::Nil);
    }

    #[test]
    fn looking_ends_where_it_is_not_permitted() {
        let twice = |times: usize| {
            (0..times).fold(Value::Nil, |inner, _| {
                Value::vector(vec![inner.clone(), inner])
            })
        };
        let (one, other) = (twice(40), twice(40));
        let mut left = 1000;
        let looked = one.equals(&other, |_| {
            left -= 1;
            if left == 0 { Err(()) } else { Ok(()) }
        });
        assert_eq!(looked, Err(()));
    }
}
