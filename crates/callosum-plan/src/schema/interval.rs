//! Bounds that predicates set together: of integers, of floats, of lengths.
//!
//! Used by `inclusion`. Integers are exact; of floats each bound is looked at alone.

use std::cmp::Ordering;

use super::{Comparison, Predicate, Shape, part::Part};
use crate::{library::compare_numbers, value::Value};

/// The least and the greatest integer that predicates leave; the greatest is below the least if there is none.
pub(super) fn integers(predicates: &[&Predicate]) -> (i128, i128) {
    let (mut least, mut most) = (i128::from(i64::MIN), i128::from(i64::MAX));
    let mut narrow = |how: Comparison, bound: &Value| {
        let (floor, is_whole) = match bound {
            Value::Integer(bound) => (i128::from(*bound), true),
            // Saturates, which is beyond every integer of 64 bits.
            Value::Float(bound) if !bound.is_nan() => (bound.floor() as i128, bound.fract() == 0.0),
            _ => {
                (least, most) = (0, -1);
                return;
            }
        };
        match how {
            Comparison::More => least = least.max(floor.saturating_add(1)),
            Comparison::AtLeast => {
                least = least.max(floor.saturating_add(i128::from(!is_whole)));
            }
            Comparison::Less => most = most.min(floor.saturating_sub(i128::from(is_whole))),
            Comparison::AtMost => most = most.min(floor),
            Comparison::Exactly => {}
        }
    };
    for predicate in predicates {
        match predicate {
            Predicate::Compare(how, bound) => narrow(*how, bound),
            Predicate::InRange(from, to) => {
                narrow(Comparison::AtLeast, from);
                narrow(Comparison::AtMost, to);
            }
            _ => {}
        }
    }
    (least, most)
}

/// Whether each number of a part is on that side of a bound.
pub(super) fn is_bounded_by(part: &Part<'_>, how: Comparison, bound: &Value) -> bool {
    match part.base {
        Shape::Int => {
            let (least, most) = integers(&part.predicates);
            let outermost = match how {
                Comparison::More | Comparison::AtLeast => least,
                Comparison::Less | Comparison::AtMost => most,
                Comparison::Exactly => return false,
            };
            let outermost = i64::try_from(outermost).map(Value::Integer);
            outermost.is_ok_and(|outermost| {
                compare_numbers(&outermost, bound).is_some_and(|order| how.allows(order))
            })
        }
        Shape::Float => {
            let mut limits = part
                .predicates
                .iter()
                .flat_map(|predicate| match predicate {
                    Predicate::Compare(own, limit) => vec![(*own, limit)],
                    Predicate::InRange(from, to) => {
                        vec![(Comparison::AtLeast, from), (Comparison::AtMost, to)]
                    }
                    _ => Vec::new(),
                });
            limits.any(|(own, limit)| is_as_narrow(own, limit, how, bound))
        }
        _ => false,
    }
}

/// Whether one bound of floats keeps to another.
fn is_as_narrow(own: Comparison, limit: &Value, how: Comparison, bound: &Value) -> bool {
    let Some(order) = compare_numbers(limit, bound) else {
        return false;
    };
    match (own, how) {
        (Comparison::More, Comparison::More | Comparison::AtLeast)
        | (Comparison::AtLeast, Comparison::AtLeast) => order != Ordering::Less,
        (Comparison::AtLeast, Comparison::More) => order == Ordering::Greater,
        (Comparison::Less, Comparison::Less | Comparison::AtMost)
        | (Comparison::AtMost, Comparison::AtMost) => order != Ordering::Greater,
        (Comparison::AtMost, Comparison::Less) => order == Ordering::Less,
        _ => false,
    }
}

/// The least and the greatest length that predicates leave of a range.
pub(super) fn counts(
    predicates: &[&Predicate],
    mut least: usize,
    mut most: Option<usize>,
) -> (usize, Option<usize>) {
    for predicate in predicates {
        let Predicate::Length(how, bound) = predicate else {
            continue;
        };
        let at_most = |most: Option<usize>| Some(most.map_or(*bound, |most| most.min(*bound)));
        match how {
            Comparison::AtLeast => least = least.max(*bound),
            Comparison::More => least = least.max(bound.saturating_add(1)),
            Comparison::AtMost => most = at_most(most),
            Comparison::Less => most = Some(at_most(most).unwrap_or(0).saturating_sub(1)),
            Comparison::Exactly => {
                least = least.max(*bound);
                most = at_most(most);
            }
        }
    }
    (least, most)
}
