//! Values in the language's own notation, and back.
//!
//! One value has one text: maps are written in the order of their keys, floats with a point, nothing
//! depends on how a value came about. So the text also serves where values are hashed.

use std::fmt::{self, Debug, Display, Formatter, Write as _};

use thiserror::Error;

use super::{Key, Value};
use crate::{
    form::{Form, FormKind},
    print::{write_float, write_text},
    reader::{ReadError, read_one},
};

/// Largest weight of a value that `Display` and `Debug` write; of a larger one they write the size
/// instead.
const SHOWN: u64 = 1 << 26;

/// Reason that a text is not a value, or a value has no text.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum NotationError {
    /// It can't be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Something in it would have to be evaluated.
    #[error("{noun} is not data: only literals, vectors and maps are")]
    NoData {
        /// Noun for what is there.
        noun: &'static str,
    },
    /// A map's key is none.
    #[error("{noun} is not a key: a key must be a keyword, a string, an integer or a boolean")]
    NoKey {
        /// Noun for what is there.
        noun: &'static str,
    },
    /// A map has a key twice.
    #[error("the key {key} occurs twice in one map")]
    KeyTwice {
        /// The key as it is written.
        key: String,
    },
    /// It is larger than asked for.
    #[error("the value has about {weight} bytes when written out, more than {limit}")]
    TooLarge {
        /// About how many bytes.
        weight: u64,
        /// Number that was allowed.
        limit: u64,
    },
}

impl Value {
    /// Reads one value of data in the language's notation.
    pub fn read(text: &str) -> Result<Self, NotationError> {
        Self::of_form(&read_one(text)?)
    }

    /// Returns the value that a form of literals is.
    pub fn of_form(form: &Form) -> Result<Self, NotationError> {
        Ok(match &form.kind {
            FormKind::Nil => Self::Nil,
            FormKind::Boolean(value) => Self::Boolean(*value),
            FormKind::Integer(value) => Self::Integer(*value),
            FormKind::Float(value) => Self::Float(*value),
            FormKind::Text(text) => Self::Text(text.clone()),
            FormKind::Keyword(name) => Self::Keyword(name.clone()),
            FormKind::Vector(items) => {
                let items: Result<Vec<Value>, _> = items.iter().map(Self::of_form).collect();
                Self::vector(items?)
            }
            FormKind::List(items) if items.is_empty() => Self::vector(Vec::new()),
            FormKind::Map(entries) => {
                let mut map = std::collections::BTreeMap::new();
                for (key, value) in entries {
                    let noun = key.noun();
                    let key = Self::of_form(key)
                        .ok()
                        .and_then(|key| Key::of(&key))
                        .ok_or(NotationError::NoKey { noun })?;
                    let written = key.to_value();
                    if map.insert(key, Self::of_form(value)?).is_some() {
                        let key = written.to_string();
                        return Err(NotationError::KeyTwice { key });
                    }
                }
                Self::map(map)
            }
            FormKind::Symbol(_) | FormKind::List(_) => {
                return Err(NotationError::NoData { noun: form.noun() });
            }
        })
    }

    /// Returns the value as a form of literals.
    ///
    /// As deep as the value is; for values that were read. Functions become `nil`.
    pub(crate) fn to_form(&self) -> Form {
        Form::built(match self {
            Self::Nil | Self::Function(_) => FormKind::Nil,
            Self::Boolean(value) => FormKind::Boolean(*value),
            Self::Integer(value) => FormKind::Integer(*value),
            Self::Float(value) => FormKind::Float(*value),
            Self::Text(text) => FormKind::Text(text.clone()),
            Self::Keyword(name) => FormKind::Keyword(name.clone()),
            Self::Vector(items) => FormKind::Vector(items.iter().map(Self::to_form).collect()),
            Self::Map(entries) => FormKind::Map(
                entries
                    .iter()
                    .map(|(key, value)| (key.to_value().to_form(), value.to_form()))
                    .collect(),
            ),
        })
    }

    /// Writes the value in the language's notation, unless it would have more than about `limit`
    /// bytes.
    ///
    /// What has no functions in it reads as what it was; a function is written `#<function>`.
    pub fn to_text(&self, limit: u64) -> Result<String, NotationError> {
        let weight = self.weight();
        if weight > limit {
            return Err(NotationError::TooLarge { weight, limit });
        }
        let mut text = String::new();
        self.write(&mut text)
            .map_err(|fmt::Error| NotationError::TooLarge { weight, limit })?;
        Ok(text)
    }

    fn write(&self, out: &mut String) -> fmt::Result {
        enum Part<'a> {
            Value(&'a Value),
            Word(&'static str),
            Key(&'a Key, &'static str),
        }
        let mut parts = vec![Part::Value(self)];
        while let Some(part) = parts.pop() {
            match part {
                Part::Word(word) => out.push_str(word),
                Part::Key(key, gap) => {
                    out.push_str(gap);
                    match key {
                        Key::Boolean(value) => write!(out, "{value} ")?,
                        Key::Integer(value) => write!(out, "{value} ")?,
                        Key::Keyword(name) => write!(out, ":{name} ")?,
                        Key::Text(text) => {
                            write_text(out, text)?;
                            out.push(' ');
                        }
                    }
                }
                Part::Value(value) => match value {
                    Self::Nil => out.push_str("nil"),
                    Self::Boolean(value) => write!(out, "{value}")?,
                    Self::Integer(value) => write!(out, "{value}")?,
                    Self::Float(value) => write_float(out, *value)?,
                    Self::Text(text) => write_text(out, text)?,
                    Self::Keyword(name) => write!(out, ":{name}")?,
                    Self::Function(_) => out.push_str("#<function>"),
                    Self::Vector(items) => {
                        out.push('[');
                        parts.push(Part::Word("]"));
                        for (index, item) in items.iter().enumerate().rev() {
                            parts.push(Part::Value(item));
                            if index > 0 {
                                parts.push(Part::Word(" "));
                            }
                        }
                    }
                    Self::Map(entries) => {
                        out.push('{');
                        parts.push(Part::Word("}"));
                        for (index, (key, value)) in entries.iter().enumerate().rev() {
                            parts.push(Part::Value(value));
                            parts.push(Part::Key(key, if index > 0 { " " } else { "" }));
                        }
                    }
                },
            }
        }
        Ok(())
    }
}

impl Display for Value {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self.to_text(SHOWN) {
            Ok(text) => formatter.write_str(&text),
            Err(_) => write!(formatter, "#<{} of {} bytes>", self.noun(), self.weight()),
        }
    }
}

impl Debug for Value {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(self, formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_has_one_text_in_any_order_of_its_keys() {
        let text = |source: &str| Value::read(source).unwrap().to_string();
        assert_eq!(text("{:b 1 :a [2.0 nil]}"), "{:a [2.0 nil] :b 1}");
        assert_eq!(
            text("{\"x\" 1 3 2 :k 0 true 5}"),
            "{true 5 3 2 :k 0 \"x\" 1}"
        );
        assert_eq!(text("()"), "[]");
    }

    #[test]
    fn what_would_have_to_be_evaluated_is_no_data() {
        for source in ["(f 1)", "x", "[1 (g)]", "{[1] 2}", "{:a 1 :a 2}", "1 2"] {
            assert!(Value::read(source).is_err(), "{source}");
        }
    }
}
