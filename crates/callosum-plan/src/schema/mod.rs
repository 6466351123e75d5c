//! [`Schema`]: a type expression, which a value fits or not when the program runs.
//!
//! `Int`, `:int`, `[:vector String]`, `[:map [:a Int] [:b String ?]]`, `[:and Int [:> 0]]`. Nothing
//! is inferred: what has no type next to it takes any value. Capabilities describe with the same
//! expressions what they take and give. Start with [`Schema`]; `reading` reads one, `fit` compares
//! a value with it, `inclusion` another type.

mod fit;
mod inclusion;
mod interval;
mod known;
mod part;
mod reading;

use thiserror::Error;

pub use self::inclusion::Excluded;
use self::{
    fit::Misfit,
    reading::{shape, simple},
};
use crate::{
    finding::{Finding, Rule},
    form::{Form, FormKind},
    regular_expression::RegularExpression,
    value::{Key, Value},
};

/// A type, with the text it was written as.
#[derive(Clone, Debug)]
pub struct Schema {
    shape: Shape,
    text: String,
}

#[derive(Clone, Debug)]
enum Shape {
    Any,
    Never,
    Nil,
    Bool,
    Int,
    Float,
    Number,
    Text,
    Keyword,
    Function,
    AnyVector,
    AnyMap,
    Vector(Box<Shape>),
    Tuple(Vec<Shape>),
    Record(Vec<(Key, Shape, Presence)>),
    MapOf(Box<Shape>, Box<Shape>),
    Union(Vec<Shape>),
    Literals(Vec<Value>),
    And(Box<Shape>, Vec<Predicate>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Presence {
    Required,
    Optional,
}

#[derive(Clone, Debug)]
enum Predicate {
    Compare(Comparison, Value),
    Equal(Value),
    NotEqual(Value),
    InRange(Value, Value),
    Length(Comparison, usize),
    Matches(RegularExpression),
    HasKeys(Vec<Key>),
    OnlyKeys(Vec<Key>),
}

#[derive(Clone, Copy, Debug)]
enum Comparison {
    Less,
    AtMost,
    Exactly,
    AtLeast,
    More,
}

/// Reason that a text is no type.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("`{text}` is not a type: {reason}")]
pub struct SchemaError {
    /// The text.
    pub text: String,
    /// The fault.
    pub reason: String,
}

/// The simple types, by the names that may stand for them.
const SIMPLE: [(&str, &str, Shape); 14] = [
    ("Any", "any", Shape::Any),
    ("Never", "never", Shape::Never),
    ("Nil", "nil", Shape::Nil),
    ("Bool", "bool", Shape::Bool),
    ("Boolean", "boolean", Shape::Bool),
    ("Int", "int", Shape::Int),
    ("Integer", "integer", Shape::Int),
    ("Float", "float", Shape::Float),
    ("Number", "number", Shape::Number),
    ("String", "string", Shape::Text),
    ("Keyword", "keyword", Shape::Keyword),
    ("Function", "function", Shape::Function),
    ("Vector", "vector", Shape::AnyVector),
    ("Map", "map", Shape::AnyMap),
];

impl Schema {
    /// Returns whether a keyword names a simple type, so that it may be next to a name as one.
    pub(crate) fn is_simple(name: &str) -> bool {
        simple(name).is_some()
    }

    /// Parses a type expression.
    pub fn of_form(form: &Form) -> Result<Self, Finding> {
        if patterns_in(form) > MAX_PATTERNS {
            return Err(too_many_patterns(form));
        }
        Ok(Self {
            shape: shape(form)?,
            text: form.to_string(),
        })
    }

    /// Returns the first thing about a value that doesn't fit, as `the value{:a}[2] is a string, so …`.
    ///
    /// `permit` is asked before each part that is looked at; its error ends the look.
    pub(crate) fn mismatch<E>(
        &self,
        value: &Value,
        permit: &mut impl FnMut(u64) -> Result<(), E>,
    ) -> Result<Option<String>, E> {
        let mut misfit = Misfit::default();
        let fits = self.shape.fits(value, &mut misfit, permit)?;
        Ok((!fits).then(|| self.mismatch_text(misfit)))
    }

    fn mismatch_text(&self, misfit: Misfit) -> String {
        let Misfit { way, why } = misfit;
        let shown = self.shown();
        if way.is_empty() {
            format!("the value is not of type {shown}")
        } else {
            format!("the value{way} {why}, so the whole is not of type {shown}")
        }
    }

    fn too_large_text(&self) -> String {
        let shown = self.shown();
        format!("the value is too large to check against {shown}")
    }

    /// The type for a message, its beginning where it is long.
    fn shown(&self) -> String {
        match self.text.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}…", &self.text[..end]),
            None => self.text.clone(),
        }
    }

    /// Returns the type of a vector whose items are of this type.
    pub(crate) fn of_each(self) -> Self {
        Self {
            text: format!("[:vector {}]", self.text),
            shape: Shape::Vector(Box::new(self.shape)),
        }
    }

    /// Parses a type expression from its text.
    pub fn read(text: &str) -> Result<Self, SchemaError> {
        let refuse = |reason: String| SchemaError {
            text: text.to_owned(),
            reason,
        };
        let form = crate::reader::read_one(text).map_err(|error| refuse(error.message))?;
        Self::of_form(&form).map_err(|finding| refuse(finding.message))
    }

    /// Returns the first thing about a value that doesn't fit, and nothing where it fits.
    ///
    /// Looks at no more than `work` parts; a value that has more does not fit.
    pub fn mismatch_within(&self, value: &Value, work: u64) -> Option<String> {
        let mut left = work;
        let mut permit = |parts: u64| {
            left = left.checked_sub(parts).ok_or(())?;
            Ok::<(), ()>(())
        };
        self.mismatch(value, &mut permit)
            .unwrap_or_else(|()| Some(self.too_large_text()))
    }

    /// Returns the type as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// Most characters of a type in a message.
const SHOWN: usize = 200;

/// Most patterns of text that the types of a program may have together.
pub(crate) const MAX_PATTERNS: usize = 20;

pub(crate) fn too_many_patterns(form: &Form) -> Finding {
    Finding::new(
        form.span,
        Rule::TooLarge,
        format!("the types have more than {MAX_PATTERNS} text patterns"),
    )
    .with_hint("check the text with `re-matches` in the body")
}

/// Returns the number of a type's patterns of text; each takes memory when it is made.
pub(crate) fn patterns_in(form: &Form) -> usize {
    match &form.kind {
        FormKind::Keyword(name) => usize::from(&**name == "matches-regex"),
        FormKind::Vector(items) | FormKind::List(items) => items.iter().map(patterns_in).sum(),
        FormKind::Map(entries) => entries
            .iter()
            .map(|(key, value)| patterns_in(key) + patterns_in(value))
            .sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use crate::reader::read_one;

    fn mismatch_of(schema: &str, value: &str) -> Option<String> {
        let schema = Schema::of_form(&read_one(schema).unwrap()).unwrap();
        let value = Value::read(value).unwrap();
        schema
            .mismatch(&value, &mut |_| Ok::<(), Infallible>(()))
            .unwrap()
    }

    /// CCOS-RTFS-1: types are checked when the program runs; a map may have more than its type says.
    #[test]
    fn values_fit_their_types_and_no_others() {
        for (schema, fits, doesnt) in [
            ("Int", "1", "1.0"),
            (":float", "1.5", "1"),
            ("Number", "1", "\"1\""),
            ("Any", "nil", ""),
            ("String?", "nil", "1"),
            ("[:vector Int]", "[1 2]", "[1 :a]"),
            ("[:tuple Int String]", "[1 \"a\"]", "[1]"),
            (
                "[:map [:a Int] [:b String ?]]",
                "{:a 1 :c 2}",
                "{:a 1 :b 2}",
            ),
            ("[:record [:a Int]]", "{:a 1}", "{}"),
            ("[:map-of Keyword Int]", "{:a 1}", "{\"a\" 1}"),
            ("[:union Int Nil]", "nil", "true"),
            ("[:enum :a :b]", ":b", ":c"),
            ("[:val 3]", "3", "4"),
            ("[:and Int [:> 0] [:<= 10]]", "10", "11"),
            ("[:and String [:matches-regex \"^a+$\"]]", "\"aa\"", "\"b\""),
            ("[:and String [:min-length 2]]", "\"aé\"", "\"é\""),
            (
                "[:and Map [:required-keys [:a :b]]]",
                "{:a 1 :b 2}",
                "{:a 1}",
            ),
            ("[:and [:vector Any] [:non-empty]]", "[nil]", "[]"),
            ("[:and Map [:only-keys [:a \"b\"]]]", "{\"b\" 1}", "{:b 1}"),
            ("[:and Map [:only-keys []]]", "{}", "{:a 1}"),
        ] {
            assert_eq!(mismatch_of(schema, fits), None, "{schema} {fits}");
            if !doesnt.is_empty() {
                assert!(mismatch_of(schema, doesnt).is_some(), "{schema} {doesnt}");
            }
        }
        assert_eq!(
            mismatch_of("[:vector [:map [:a Int]]]", "[{:a 1} {:a :x}]").as_deref(),
            Some(
                "the value[1]{:a} is a keyword, so the whole is not of type [:vector [:map [:a Int]]]"
            )
        );
        let query = "[:union Nil [:map [:query String] [:page Int ?]]]";
        for (value, start) in [
            ("{}", "the value{:query} is missing"),
            ("{:query 3}", "the value{:query} is an integer"),
            ("{:query \"x\" :page nil}", "the value{:page} is nil"),
        ] {
            let message = mismatch_of(query, value).unwrap();
            assert_eq!(
                message,
                format!("{start}, so the whole is not of type {query}")
            );
        }
        let kind = "[:map [:kind [:union Nil [:enum :scan :deps]]]]";
        let message = mismatch_of(kind, "{:kind :sacn}").unwrap();
        let why = "the value{:kind} is not one of the allowed values, so";
        assert!(message.starts_with(why), "{message}");
        let only = "[:vector [:and Map [:only-keys [:a]]]]";
        assert_eq!(
            mismatch_of(only, "[{:a 1} {:a 2 :b 3}]").as_deref(),
            Some(
                "the value[1]{:b} is an unexpected key, so the whole is not of type [:vector [:and Map [:only-keys [:a]]]]"
            )
        );
    }

    #[test]
    fn what_is_no_type_is_refused() {
        for schema in [
            "Foo",
            "[]",
            "[:vector]",
            "[:map [a Int]]",
            "(Int)",
            "[:and Int [:x 1]]",
            "3",
            "[:and String [:matches-regex \"(\"]]",
        ] {
            let form = read_one(schema).unwrap();
            assert!(Schema::of_form(&form).is_err(), "{schema}");
        }
    }
}
