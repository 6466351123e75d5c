//! [`CanonicalValue`]: a JSON value that has a canonical form.

use std::collections::BTreeMap;

/// A JSON value without anything that the canonical form has no text for.
#[derive(Clone, Debug, PartialEq)]
pub enum CanonicalValue {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// Decimal digits, perhaps after a minus sign; never `-0`.
    Integer(String),
    /// Finite.
    Float(f64),
    /// Text.
    String(String),
    /// Values in their order.
    Array(Vec<CanonicalValue>),
    /// Ordered by code point, which is also the order of the UTF-8 bytes.
    Object(BTreeMap<String, CanonicalValue>),
}

impl CanonicalValue {
    /// Takes a field out of an object.
    pub fn remove(&mut self, key: &str) -> Option<Self> {
        match self {
            Self::Object(fields) => fields.remove(key),
            _ => None,
        }
    }

    /// The first key of an object that has any.
    pub fn first_key(&self) -> Option<&str> {
        match self {
            Self::Object(fields) => fields.keys().next().map(String::as_str),
            _ => None,
        }
    }

    /// Puts a text into an object, replacing a field of this name.
    pub fn insert(&mut self, key: &str, text: String) {
        if let Self::Object(fields) = self {
            fields.insert(key.to_owned(), Self::String(text));
        }
    }
}
