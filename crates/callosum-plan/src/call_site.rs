//! [`CallSite`]: one call as the source writes it, with the arguments that are known before the
//! program runs.

use std::collections::BTreeMap;

use crate::{
    capability::CapabilityName,
    form::Name,
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
