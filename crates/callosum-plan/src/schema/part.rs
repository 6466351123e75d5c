//! [`Part`]: values of one shape that hold to predicates, as `inclusion` compares them.

use super::{Predicate, Presence, Shape, interval::counts};
use crate::value::{Key, Value};

/// Values of one shape that hold to predicates.
#[derive(Clone)]
pub(super) struct Part<'s> {
    pub(super) base: &'s Shape,
    pub(super) predicates: Vec<&'s Predicate>,
}

impl<'s> Part<'s> {
    pub(super) fn of(base: &'s Shape) -> Self {
        Self {
            base,
            predicates: Vec::new(),
        }
    }

    pub(super) fn with(&self, base: &'s Shape) -> Self {
        Self {
            base,
            predicates: self.predicates.clone(),
        }
    }

    /// The keys that its maps may have, if the type limits them.
    pub(super) fn possible_keys(&self) -> Option<Vec<Key>> {
        let only = |predicate: &&'s Predicate| match predicate {
            Predicate::OnlyKeys(keys) => Some(keys.clone()),
            _ => None,
        };
        let named = match self.base {
            Shape::MapOf(key, _) => match key.as_ref() {
                Shape::Literals(literals) => Some(literals.iter().filter_map(Key::of).collect()),
                _ => None,
            },
            _ => None,
        };
        let mut limits = self.predicates.iter().filter_map(only).chain(named);
        let mut keys = limits.next()?;
        for limit in limits {
            keys.retain(|key| limit.contains(key));
        }
        keys.sort();
        keys.dedup();
        Some(keys)
    }

    /// Whether each of its maps has a key.
    pub(super) fn requires(&self, key: &Key) -> bool {
        let by_entry = match self.base {
            Shape::Record(entries) => entries
                .iter()
                .any(|(own, _, presence)| own == key && *presence == Presence::Required),
            _ => false,
        };
        by_entry
            || self.predicates.iter().any(|predicate| match predicate {
                Predicate::HasKeys(keys) => keys.contains(key),
                _ => false,
            })
    }

    /// The types that the value of a key must have, all of them.
    pub(super) fn types_of(&self, key: &Key) -> Vec<&'s Shape> {
        match self.base {
            Shape::Record(entries) => {
                let own = entries.iter().filter(|(own, ..)| own == key);
                own.map(|(_, shape, _)| shape).collect()
            }
            Shape::MapOf(_, value) => vec![value],
            _ => Vec::new(),
        }
    }

    pub(super) fn required_keys(&self) -> Vec<Key> {
        let mut keys: Vec<Key> = match self.base {
            Shape::Record(entries) => {
                let required = entries
                    .iter()
                    .filter(|(.., presence)| *presence == Presence::Required);
                required.map(|(key, ..)| key.clone()).collect()
            }
            _ => Vec::new(),
        };
        for predicate in &self.predicates {
            if let Predicate::HasKeys(own) = predicate {
                keys.extend(own.iter().cloned());
            }
        }
        keys.sort();
        keys.dedup();
        keys
    }

    /// The least and the greatest number of its items, keys or characters.
    pub(super) fn counts(&self) -> (usize, Option<usize>) {
        let (least, most) = match self.base {
            Shape::Tuple(items) => (items.len(), Some(items.len())),
            Shape::AnyMap | Shape::Record(_) | Shape::MapOf(..) => (
                self.required_keys().len(),
                self.possible_keys().map(|keys| keys.len()),
            ),
            _ => (0, None),
        };
        counts(&self.predicates, least, most)
    }

    /// The one value that it is if it holds nothing.
    pub(super) fn nothing(&self) -> Option<Value> {
        match self.base {
            Shape::Text => Some(Value::text("")),
            Shape::AnyVector | Shape::Vector(_) | Shape::Tuple(_) => {
                Some(Value::vector(Vec::new()))
            }
            Shape::AnyMap | Shape::Record(_) | Shape::MapOf(..) => {
                Some(Value::map(std::collections::BTreeMap::new()))
            }
            _ => None,
        }
    }

    /// Returns its name in messages.
    pub(super) fn noun(&self) -> &'static str {
        match self.base {
            Shape::Nil => "nil",
            Shape::Bool => "a boolean",
            Shape::Int => "an integer",
            Shape::Float => "a float",
            Shape::Number => "a number",
            Shape::Text => "a string",
            Shape::Keyword => "a keyword",
            Shape::Function => "a function",
            Shape::AnyVector | Shape::Vector(_) | Shape::Tuple(_) => "a vector",
            Shape::AnyMap | Shape::Record(_) | Shape::MapOf(..) => "a map",
            _ => "a value",
        }
    }
}

pub(super) fn is_map(shape: &Shape) -> bool {
    matches!(shape, Shape::AnyMap | Shape::Record(_) | Shape::MapOf(..))
}
