//! [`Value`]: value of an expression, immutable and shared.
//!
//! A program may build values deeper than any host's stack, and values that are small because their
//! parts are shared though they would be endless when written out. Nothing here recurs over a
//! value. Each container knows how much it would be when written out, its weight, so that code that
//! prints or compares can refuse before beginning.

mod container;
mod equality;
mod json;
mod notation;

use std::{collections::BTreeMap, sync::Arc};

pub(crate) use self::container::Known;
pub use self::{
    container::{Map, Vector},
    json::JsonError,
    notation::NotationError,
};
use crate::{form::Name, reader::MAX_NAME};

/// Value of an expression.
#[derive(Clone, Default)]
pub enum Value {
    /// `nil`.
    #[default]
    Nil,
    /// `true` or `false`.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// A number with a point.
    Float(f64),
    /// A string.
    Text(Arc<str>),
    /// A keyword, its name without the colon.
    Keyword(Name),
    /// Values in order.
    Vector(Vector),
    /// Values by key.
    Map(Map),
    /// A function; it has no meaning outside of the program that made it.
    Function(Function),
}

/// Key of a map's value. The order of keys is that of the kinds, then the natural one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// `true` or `false`.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// A keyword, its name without the colon.
    Keyword(Name),
    /// A string.
    Text(Arc<str>),
}

/// A function of the library, or one that the program made.
#[derive(Clone)]
pub struct Function(pub(crate) Callable);

#[derive(Clone)]
pub(crate) enum Callable {
    /// By its place in the library.
    Library(u32),
    /// A member of a group that was made together.
    Closure(Arc<Group>, u32),
}

/// Functions that were made together, which may call one another, with what they caught.
///
/// A member finds its siblings through the group, so that no group holds itself.
pub(crate) struct Group {
    /// Place of the group in its program.
    pub(crate) definition: u32,
    /// Values of the surroundings.
    pub(crate) captured: Vec<Value>,
}

impl Value {
    /// Makes a string.
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Self::Text(text.into())
    }

    /// Makes a keyword of a name without its colon.
    pub fn keyword(name: impl Into<Name>) -> Self {
        Self::Keyword(name.into())
    }

    /// Makes a vector.
    pub fn vector(items: Vec<Value>) -> Self {
        Self::Vector(Vector::new(items))
    }

    /// Makes a map.
    pub fn map(entries: BTreeMap<Key, Value>) -> Self {
        Self::Map(Map::new(entries))
    }

    /// Returns whether a condition takes it for true: all but `nil` and `false`.
    pub fn is_truthy(&self) -> bool {
        !matches!(self, Self::Nil | Self::Boolean(false))
    }

    /// Returns about how many bytes it would have when written out, shared parts counted each time.
    pub fn weight(&self) -> u64 {
        match self {
            Self::Nil | Self::Boolean(_) => 5,
            Self::Integer(_) | Self::Float(_) => 8,
            Self::Text(text) | Self::Keyword(text) => text.len() as u64 + 3,
            Self::Vector(vector) => vector.weight(),
            Self::Map(map) => map.weight(),
            Self::Function(_) => 12,
        }
    }

    /// Returns the value in containers of its own, which are not shared.
    ///
    /// Costs as much as the weight says; ask for that first.
    pub(crate) fn detached(&self) -> Self {
        enum Part<'a> {
            Value(&'a Value),
            Vector(usize),
            Map(&'a Map),
        }
        let mut parts = vec![Part::Value(self)];
        let mut made: Vec<Self> = Vec::new();
        while let Some(part) = parts.pop() {
            match part {
                Part::Value(Self::Vector(items)) => {
                    parts.push(Part::Vector(items.len()));
                    parts.extend(items.iter().rev().map(Part::Value));
                }
                Part::Value(Self::Map(map)) => {
                    parts.push(Part::Map(map));
                    parts.extend(map.values().rev().map(Part::Value));
                }
                Part::Value(other) => made.push(other.clone()),
                Part::Vector(count) => {
                    let items = made.split_off(made.len() - count);
                    made.push(Self::vector(items));
                }
                Part::Map(map) => {
                    let values = made.split_off(made.len() - map.len());
                    made.push(Self::map(map.keys().cloned().zip(values).collect()));
                }
            }
        }
        made.pop().unwrap_or_default()
    }

    /// Returns what it is, for messages: `a vector`.
    pub fn noun(&self) -> &'static str {
        match self {
            Self::Nil => "nil",
            Self::Boolean(_) => "a boolean",
            Self::Integer(_) => "an integer",
            Self::Float(_) => "a float",
            Self::Text(_) => "a string",
            Self::Keyword(_) => "a keyword",
            Self::Vector(_) => "a vector",
            Self::Map(_) => "a map",
            Self::Function(_) => "a function",
        }
    }

    /// Returns the name of its type, as `type-name` returns it. A type expression takes the same name.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Nil => "nil",
            Self::Boolean(_) => "boolean",
            Self::Integer(_) => "integer",
            Self::Float(_) => "float",
            Self::Text(_) => "string",
            Self::Keyword(_) => "keyword",
            Self::Vector(_) => "vector",
            Self::Map(_) => "map",
            Self::Function(_) => "function",
        }
    }

    /// Whether dropping it may drop others.
    fn holds_values(&self) -> bool {
        matches!(
            self,
            Self::Vector(_) | Self::Map(_) | Self::Function(Function(Callable::Closure(..)))
        )
    }
}

impl Key {
    /// Returns the key that a value makes, where it makes one.
    pub fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Boolean(value) => Some(Self::Boolean(*value)),
            Value::Integer(value) => Some(Self::Integer(*value)),
            Value::Keyword(name) => Some(Self::Keyword(Arc::clone(name))),
            Value::Text(text) => Some(Self::Text(Arc::clone(text))),
            _ => None,
        }
    }

    /// Returns the key that a plan writes for a name of JSON's: a keyword where it is a letter, then letters,
    /// digits, `_` and `-`, else the text.
    pub fn of_name(name: &str) -> Self {
        let is_word = name.len() < MAX_NAME
            && name.starts_with(|first: char| first.is_ascii_alphabetic())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        if is_word {
            Self::Keyword(name.into())
        } else {
            Self::Text(name.into())
        }
    }

    /// Returns the key as a value.
    pub fn to_value(&self) -> Value {
        match self {
            Self::Boolean(value) => Value::Boolean(*value),
            Self::Integer(value) => Value::Integer(*value),
            Self::Keyword(name) => Value::Keyword(Arc::clone(name)),
            Self::Text(text) => Value::Text(Arc::clone(text)),
        }
    }

    pub(crate) fn weight(&self) -> u64 {
        match self {
            Self::Boolean(_) => 5,
            Self::Integer(_) => 8,
            Self::Keyword(text) | Self::Text(text) => text.len() as u64 + 3,
        }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(depth: usize) -> Value {
        (0..depth).fold(Value::Nil, |inner, _| Value::vector(vec![inner]))
    }

    #[test]
    fn a_value_of_any_depth_is_written_compared_and_dropped() {
        let (one, other) = (nested(300_000), nested(300_000));
        assert!(one == other);
        assert_eq!(one.to_text(u64::MAX).unwrap().len(), 600_003);
        drop(one);
        let mapped = (0..300_000).fold(other, |inner, _| {
            Value::map(BTreeMap::from([(Key::Integer(1), inner)]))
        });
        drop(mapped);
    }

    #[test]
    fn a_value_that_shares_without_end_is_made_and_dropped_but_not_written() {
        let shared = (0..200).fold(Value::Nil, |inner, _| {
            Value::vector(vec![inner.clone(), inner])
        });
        assert_eq!(shared.weight(), u64::MAX);
        assert!(shared.to_text(1 << 30).is_err());
        assert!(shared == shared.clone());
    }
}
