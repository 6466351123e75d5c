//! Reading one JSON object from foreign bytes, with reasons that can be shown.

use std::{fmt, str::Utf8Error};

use callosum_json::canonical::CanonicalError;
use serde_json::{Map, Value};

use crate::json::read_value;

/// Reason why bytes are not one JSON object with the requested fields.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// There is nothing but blanks.
    #[error("the answer is empty")]
    Empty,
    /// The bytes are no text.
    #[error("the answer is not UTF-8 (at byte {at})")]
    NotUtf8 {
        /// The first byte that does not belong.
        at: usize,
    },
    /// The text is not JSON, has a duplicate key, or holds an impossible number.
    #[error("the answer is not JSON: {fault}")]
    NotJson {
        /// The fault, with its place.
        fault: CanonicalError,
    },
    /// It is JSON, but no object.
    #[error("the answer is {found}, not an object")]
    NotAnObject {
        /// The actual type.
        found: JsonType,
    },
    /// A field is not there.
    #[error("the answer has no `{field}`")]
    Missing {
        /// The field.
        field: &'static str,
    },
    /// A field is of another type.
    #[error("`{field}` is {found}, not {expected}")]
    WrongType {
        /// The field.
        field: &'static str,
        /// The expected type, with its article.
        expected: &'static str,
        /// The actual type.
        found: JsonType,
    },
}

/// The type of a JSON value; prints with its article.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonType {
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// A number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl JsonType {
    /// The type of `value`.
    pub fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Boolean,
            Value::Number(_) => Self::Number,
            Value::String(_) => Self::String,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        }
    }
}

impl fmt::Display for JsonType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        })
    }
}

/// Reads one object; duplicate keys are rejected, since two readers may believe different ones.
pub(super) fn read_object(bytes: &[u8]) -> Result<Map<String, Value>, Unreadable> {
    let text = std::str::from_utf8(bytes).map_err(|error: Utf8Error| Unreadable::NotUtf8 {
        at: error.valid_up_to(),
    })?;
    if text.trim().is_empty() {
        return Err(Unreadable::Empty);
    }
    match read_value(bytes).map_err(|fault| Unreadable::NotJson { fault })? {
        Value::Object(object) => Ok(object),
        other => Err(Unreadable::NotAnObject {
            found: JsonType::of(&other),
        }),
    }
}

/// The field's value as `read` takes it.
pub(super) fn field<'o, T>(
    object: &'o Map<String, Value>,
    field: &'static str,
    expected: &'static str,
    read: impl FnOnce(&'o Value) -> Option<T>,
) -> Result<T, Unreadable> {
    let value = object.get(field).ok_or(Unreadable::Missing { field })?;
    read(value).ok_or(Unreadable::WrongType {
        field,
        expected,
        found: JsonType::of(value),
    })
}
