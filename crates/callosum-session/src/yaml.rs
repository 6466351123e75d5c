//! [`read`]: parses YAML, or returns the problem and its line in words of our own; and
//! [`read_as_written`], which never turns a person's words into a number or a boolean.
//!
//! The parser's own messages are about its options and its scanner, for developers who use it.

use std::{fmt, ops::Range};

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Number, Value};
use serde_saphyr::{Error, Options, Spanned, options::NonFiniteFloatPolicy};

/// Most values that aliases may expand to: a person has a few, and each anchor may hold others.
const MOST_REPEATED: usize = 10_000;

/// Error for a text that is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NotYaml {
    /// Description of the problem.
    what: String,
    /// The line, counted from 1.
    line: usize,
}

impl fmt::Display for NotYaml {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (line {})", self.what, self.line)
    }
}

/// Reads a text. Duplicate keys, tabs that indent, and anchors that expand without end are refused.
pub(crate) fn read(text: &str) -> Result<Value, NotYaml> {
    bounded(text)
}

/// The same, but a value that would print differently as a number or a boolean stays a text: `no`,
/// `1.10`, `007`.
pub(crate) fn read_as_written(text: &str) -> Result<Value, NotYaml> {
    let node: Node = bounded(text)?;
    Ok(node.value(text))
}

fn bounded<T: DeserializeOwned>(text: &str) -> Result<T, NotYaml> {
    let mut options = Options::default();
    options.alias_limits.max_total_replayed_events = MOST_REPEATED;
    options.non_finite_float_policy = NonFiniteFloatPolicy::PassThrough;
    serde_saphyr::from_str_with_options(text, options).map_err(|error| describe_error(text, &error))
}

/// A value, and which bytes of the text it was written in.
struct Node {
    at: Option<Range<usize>>,
    content: NodeValue,
}

/// Content of a node.
enum NodeValue {
    Value(Value),
    /// A number that JSON cannot represent.
    OddNumber,
    List(Vec<Node>),
    Members(Vec<(String, Node)>),
}

impl Node {
    fn value(self, text: &str) -> Value {
        let written = self.at.and_then(|at| text.get(at));
        // A tag sets the type of a value.
        let is_bare = |text: &&str| {
            !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || "'\"!&*".contains(c))
        };
        let written = written.filter(is_bare);
        match self.content {
            NodeValue::Value(value @ (Value::Bool(_) | Value::Number(_))) => match written {
                Some(written) if value.to_string().as_str() != written => written.into(),
                _ => value,
            },
            NodeValue::Value(value) => value,
            NodeValue::OddNumber => written.map_or(Value::Null, Value::from),
            NodeValue::List(items) => items.into_iter().map(|item| item.value(text)).collect(),
            NodeValue::Members(members) => {
                let members = members.into_iter();
                let members: Map<String, Value> =
                    members.map(|(key, node)| (key, node.value(text))).collect();
                Value::Object(members)
            }
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<NodeValue>::deserialize(deserializer)?;
        let span = spanned.defined.span();
        let place = span.byte_offset().zip(span.byte_len());
        let place = place.and_then(|(from, len)| {
            let (from, len) = (usize::try_from(from).ok()?, usize::try_from(len).ok()?);
            Some(from..from.checked_add(len)?)
        });
        Ok(Self {
            at: place,
            content: spanned.value,
        })
    }
}

impl<'de> Deserialize<'de> for NodeValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OfAnything)
    }
}

struct OfAnything;

impl<'de> Visitor<'de> for OfAnything {
    type Value = NodeValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<NodeValue, E> {
        Ok(NodeValue::Value(Value::Null))
    }

    fn visit_none<E>(self) -> Result<NodeValue, E> {
        Ok(NodeValue::Value(Value::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<NodeValue, D::Error> {
        NodeValue::deserialize(deserializer)
    }

    fn visit_bool<E>(self, yes: bool) -> Result<NodeValue, E> {
        Ok(NodeValue::Value(yes.into()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<NodeValue, E> {
        Ok(NodeValue::Value(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<NodeValue, E> {
        Ok(NodeValue::Value(number.into()))
    }

    fn visit_i128<E>(self, _: i128) -> Result<NodeValue, E> {
        Ok(NodeValue::OddNumber)
    }

    fn visit_u128<E>(self, _: u128) -> Result<NodeValue, E> {
        Ok(NodeValue::OddNumber)
    }

    fn visit_f64<E>(self, number: f64) -> Result<NodeValue, E> {
        let number = Number::from_f64(number).map(Value::Number);
        Ok(number.map_or(NodeValue::OddNumber, NodeValue::Value))
    }

    fn visit_str<E>(self, text: &str) -> Result<NodeValue, E> {
        Ok(NodeValue::Value(text.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<NodeValue, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = items.next_element()? {
            all.push(item);
        }
        Ok(NodeValue::List(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<NodeValue, A::Error> {
        let mut all = Vec::new();
        while let Some(member) = members.next_entry()? {
            all.push(member);
        }
        Ok(NodeValue::Members(all))
    }
}

fn describe_error(text: &str, error: &Error) -> NotYaml {
    let mut error = error.without_snippet();
    // Unwraps the error of an alias's target.
    while let Error::AliasError { error: inner, .. } = error {
        error = inner.without_snippet();
    }
    let named = error.location().map_or(0, |at| at.line());
    let line = usize::try_from(named).unwrap_or(usize::MAX).max(1);
    let what = match error {
        Error::DuplicateMappingKey { key: Some(key), .. } => {
            format!("duplicate key `{key}`")
        }
        Error::DuplicateMappingKey { key: None, .. } => "duplicate key".to_owned(),
        Error::UnknownAnchor { .. } => "alias without an anchor before it".to_owned(),
        Error::MultipleDocuments { .. } => "a second document begins here".to_owned(),
        Error::Budget { .. }
        | Error::AliasReplayCounterOverflow { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => {
            "it expands beyond the size limit".to_owned()
        }
        _ => {
            let is_indented = |line: &str| {
                let indent = line.len() - line.trim_start().len();
                line[..indent].contains('\t') && indent < line.len()
            };
            return match text.lines().position(is_indented) {
                Some(tab) => NotYaml {
                    what: "indented with a tab instead of spaces".to_owned(),
                    line: tab + 1,
                },
                None => NotYaml {
                    what: "invalid YAML here, or something that began earlier has no end"
                        .to_owned(),
                    line: line.min(text.lines().count().max(1)),
                },
            };
        }
    };
    NotYaml { what, line }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LOA-FMT-1: what is not understood is named with its line, in words that a person can act on.
    #[test]
    fn invalid_yaml_is_reported_in_our_own_words() {
        for (text, message) in [
            (
                "id: 1\ntitle: a\ntitle: b\n",
                "duplicate key `title` (line 3)",
            ),
            (
                "id: 1\n\ttitle: x\n",
                "indented with a tab instead of spaces (line 2)",
            ),
            (
                "id: 1\ntitle: *b\n",
                "alias without an anchor before it (line 2)",
            ),
            (
                "id: 1\n---\nid: 2\n",
                "a second document begins here (line 3)",
            ),
        ] {
            assert_eq!(read(text).unwrap_err().to_string(), message, "{text}");
        }
        for text in [
            "id: 1\ntitle: \"x\n  - y: [\n",
            "id: 1\ntitle: {a\n",
            "a: b: c\n",
        ] {
            let message = read(text).unwrap_err().to_string();
            assert!(
                message.starts_with("invalid YAML here, or something that began earlier"),
                "{message}"
            );
            assert!(!message.contains("error"), "{message}");
        }
        let aliases = vec!["*a"; 99].join(", ");
        assert!(read_as_written(&format!("a: &a [x, y]\nb: [{aliases}]\n")).is_ok());
        let mut bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
        for to in b'b'..=b'k' {
            let (to, from) = (char::from(to), char::from(to - 1));
            let line = format!("{to}: &{to} [{}]\n", format!("*{from},").repeat(10));
            bomb.push_str(&line);
        }
        let message = read(&bomb).unwrap_err().to_string();
        assert!(
            message.starts_with("it expands beyond the size limit"),
            "{message}"
        );
    }

    /// LOA-FMT-1: words stay as they were written, even if some version of YAML reads them as
    /// another type; numbers that read the same stay numbers.
    #[test]
    fn words_stay_as_they_were_written() {
        let text = "no: no\nn: N\nv: 1.10\nz: 007\nx: 0x10\ni: .inf\ny: y\nb: True\nt: true\np: 2\nf: 0.95\n\
                    e: 1e3\nl: [on, 1.0, \"no\", ~, 1_000, -0]\nbig: 99999999999999999999999999\na: &a 010\nc: *a\n\
                    s: \"7\"\nd: 2026-01-02\nq: null\n\u{e9}: 01\nm: {k: off}\n";
        let message = read_as_written(text).unwrap();
        let expected = serde_json::json!({
            "no": "no", "n": "N", "v": "1.10", "z": "007", "x": "0x10", "i": ".inf", "y": "y", "b": "True",
            "t": true, "p": 2, "f": 0.95, "e": "1e3", "l": ["on", 1.0, "no", null, "1_000", "-0"],
            "big": "99999999999999999999999999", "a": "010", "c": "010", "s": "7", "d": "2026-01-02",
            "q": null, "\u{e9}": "01", "m": {"k": "off"},
        });
        assert_eq!(message, expected);
        let marked = read_as_written("\u{feff}a: no\r\nb: 1.10\r\n").unwrap();
        assert_eq!(marked, serde_json::json!({"a": "no", "b": "1.10"}));
    }
}
