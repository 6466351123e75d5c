//! Values as JSON, for programs that don't read the language's notation.
//!
//! The way there loses what JSON has no word for: keywords become strings with their colon off, so
//! that `{:a 1}` is `{"a":1}`. The way back gives strings as keys, or, of what is meant as a call's arguments,
//! the keys that a plan would write.

use std::{collections::BTreeMap, convert::Infallible};

use thiserror::Error;

use super::{Key, Value};

/// Reason that a value has no JSON, or a text of JSON no value.
#[derive(Debug, Error)]
pub enum JsonError {
    /// Not JSON, or nested deeper than 128.
    #[error("not JSON: {0}")]
    Read(#[from] serde_json::Error),
    /// A whole number beyond 64 bits.
    #[error("the number {0} does not fit in 64 bits")]
    Number(String),
    /// Infinite, or not a number.
    #[error("JSON has no number for {0}")]
    NotFinite(Value),
    /// A function.
    #[error("a function has no JSON form")]
    Function,
    /// Two keys that are one in JSON.
    #[error("two keys of one map are `{0}` in JSON")]
    KeyTwice(String),
}

impl Value {
    /// Returns the value of a JSON value, objects with strings as keys.
    ///
    /// Recurs as deep as the JSON is, which its parser bounds.
    pub fn of_json(json: &serde_json::Value) -> Result<Self, JsonError> {
        Self::of_json_with(json, |key| Key::Text(key.into()))
    }

    /// The same with the keys that a plan would write: [`Key::of_name`].
    pub fn of_json_arguments(json: &serde_json::Value) -> Result<Self, JsonError> {
        Self::of_json_with(json, Key::of_name)
    }

    fn of_json_with(json: &serde_json::Value, key_of: fn(&str) -> Key) -> Result<Self, JsonError> {
        Ok(match json {
            serde_json::Value::Null => Self::Nil,
            serde_json::Value::Bool(value) => Self::Boolean(*value),
            serde_json::Value::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(whole), _) => Self::Integer(whole),
                (None, Some(float)) if !number.is_u64() => Self::Float(float),
                _ => return Err(JsonError::Number(number.to_string())),
            },
            serde_json::Value::String(text) => Self::text(text.as_str()),
            serde_json::Value::Array(items) => {
                let items = items.iter().map(|item| Self::of_json_with(item, key_of));
                Self::vector(items.collect::<Result<_, _>>()?)
            }
            serde_json::Value::Object(entries) => {
                let mut map = BTreeMap::new();
                for (key, value) in entries {
                    map.insert(key_of(key), Self::of_json_with(value, key_of)?);
                }
                Self::map(map)
            }
        })
    }

    /// Writes the value as JSON, on one line or, with `indent`, with a line for each part.
    ///
    /// Costs as much as the weight says; ask for that first.
    pub fn to_json(&self, indent: Option<usize>) -> Result<String, JsonError> {
        match self.to_json_within(indent, |_| Ok::<(), Infallible>(())) {
            Ok(written) => written,
            Err(never) => match never {},
        }
    }

    /// As `to_json`, asking `permit` before each line for the bytes that indent it.
    pub(crate) fn to_json_within<E>(
        &self,
        indent: Option<usize>,
        mut permit: impl FnMut(u64) -> Result<(), E>,
    ) -> Result<Result<String, JsonError>, E> {
        enum Part<'a> {
            Value(&'a Value, usize),
            Word(&'static str),
            Line(usize),
            Key(String),
        }
        let mut out = String::new();
        let mut parts = vec![Part::Value(self, 0)];
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        while let Some(part) = parts.pop() {
            match part {
                Part::Word(word) => out.push_str(word),
                Part::Key(key) => {
                    let gap = if indent.is_some() { " " } else { "" };
                    out.push_str(&quoted(&key));
                    out.push(':');
                    out.push_str(gap);
                }
                Part::Line(depth) => {
                    if let Some(width) = indent {
                        permit(width as u64 * depth as u64)?;
                        out.push('\n');
                        out.extend(std::iter::repeat_n(' ', width * depth));
                    }
                }
                Part::Value(value, depth) => match value {
                    Self::Nil => out.push_str("null"),
                    Self::Boolean(value) => out.push_str(if *value { "true" } else { "false" }),
                    Self::Integer(value) => out.push_str(&value.to_string()),
                    Self::Float(value) => match serde_json::Number::from_f64(*value) {
                        Some(number) => out.push_str(&number.to_string()),
                        None => return Ok(Err(JsonError::NotFinite(Self::Float(*value)))),
                    },
                    Self::Text(text) | Self::Keyword(text) => out.push_str(&quoted(text)),
                    Self::Function(_) => return Ok(Err(JsonError::Function)),
                    Self::Vector(items) => {
                        out.push('[');
                        parts.push(Part::Word("]"));
                        if !items.is_empty() {
                            parts.push(Part::Line(depth));
                        }
                        for (index, item) in items.iter().enumerate().rev() {
                            parts.push(Part::Value(item, depth + 1));
                            parts.push(Part::Line(depth + 1));
                            if index > 0 {
                                parts.push(Part::Word(","));
                            }
                        }
                    }
                    Self::Map(entries) => {
                        out.push('{');
                        parts.push(Part::Word("}"));
                        if !entries.is_empty() {
                            parts.push(Part::Line(depth));
                        }
                        let mut seen = std::collections::BTreeSet::new();
                        for (index, (key, value)) in entries.iter().enumerate().rev() {
                            let key = match key {
                                Key::Boolean(value) => value.to_string(),
                                Key::Integer(value) => value.to_string(),
                                Key::Keyword(text) | Key::Text(text) => text.to_string(),
                            };
                            if !seen.insert(key.clone()) {
                                return Ok(Err(JsonError::KeyTwice(key)));
                            }
                            parts.push(Part::Value(value, depth + 1));
                            parts.push(Part::Key(key));
                            parts.push(Part::Line(depth + 1));
                            if index > 0 {
                                parts.push(Part::Word(","));
                            }
                        }
                    }
                },
            }
        }
        Ok(Ok(out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_written_and_read() {
        let value = Value::read("{:a [1 2.5 nil {}] \"b\" :c}").unwrap();
        let json = value.to_json(None).unwrap();
        assert_eq!(json, r#"{"a":[1,2.5,null,{}],"b":"c"}"#);
        let pretty = value.to_json(Some(2)).unwrap();
        let parsed: serde_json::Value = serde_json::from_str(&pretty).unwrap();
        assert_eq!(pretty, serde_json::to_string_pretty(&parsed).unwrap());
        assert_eq!(
            Value::of_json(&parsed).unwrap().to_string(),
            r#"{"a" [1 2.5 nil {}] "b" "c"}"#
        );
    }

    #[test]
    fn what_json_cannot_say_is_refused() {
        for source in ["##NaN", "[##Inf]", "{:a 1 \"a\" 2}"] {
            assert!(
                Value::read(source).unwrap().to_json(None).is_err(),
                "{source}"
            );
        }
        let large = serde_json::from_str("18446744073709551615").unwrap();
        assert!(Value::of_json(&large).is_err());
    }
}
