//! [`Schema`]: a type expression, which a value fits or not when the program runs.
//!
//! `Int`, `:int`, `[:vector String]`, `[:map [:a Int] [:b String ?]]`, `[:and Int [:> 0]]`. Nothing is
//! inferred: what has no type beside it takes any value. Capabilities say with the same expressions
//! what they take and give.

use std::cmp::Ordering;

use thiserror::Error;

use crate::{
    finding::{Finding, Rule},
    form::{Form, FormKind},
    library::compare_numbers,
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

/// Why a text is no type.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("`{text}` is no type: {reason}")]
pub struct SchemaError {
    /// The text.
    pub text: String,
    /// What is wrong with it.
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
    /// Returns whether a keyword names a simple type, so that it may stand beside a name as one.
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

    /// Returns the first thing about a value that doesn't fit, as `the value{:a}[2] is a string, so that …`.
    ///
    /// `permit` is asked before each part that is looked at; its error ends the look.
    pub(crate) fn mismatch<E>(
        &self,
        value: &Value,
        permit: &mut impl FnMut(u64) -> Result<(), E>,
    ) -> Result<Option<String>, E> {
        let mut misfit = Misfit::default();
        let fits = self.shape.fits(value, &mut misfit, permit)?;
        let Misfit { way, why } = misfit;
        Ok((!fits).then(|| {
            let shown = self.shown();
            if way.is_empty() {
                format!("the value is not of type {shown}")
            } else {
                format!("the value{way} {why}, so that the whole is not of type {shown}")
            }
        }))
    }

    /// The type for a message, its beginning where it is long.
    fn shown(&self) -> String {
        match self.text.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}…", &self.text[..end]),
            None => self.text.clone(),
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
        self.mismatch(value, &mut permit).unwrap_or_else(|()| {
            Some(format!(
                "the value is too large to be held against {}",
                self.shown()
            ))
        })
    }

    /// Returns the type as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// How many characters of a type stand in a message.
const SHOWN: usize = 200;

/// How many patterns of text the types of a program may have together.
pub(crate) const MAX_PATTERNS: usize = 20;

pub(crate) fn too_many_patterns(form: &Form) -> Finding {
    Finding::new(
        form.span,
        Rule::TooLarge,
        format!("the types have more than {MAX_PATTERNS} patterns of text"),
    )
    .with_hint("look at the text with `re-matches` in the body")
}

/// How many patterns of text a type has, each of which takes memory when it is made.
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

fn simple(name: &str) -> Option<Shape> {
    SIMPLE
        .iter()
        .find(|(upper, lower, _)| *upper == name || *lower == name)
        .map(|(_, _, shape)| shape.clone())
}

fn malformed(form: &Form, message: impl Into<String>) -> Finding {
    Finding::new(form.span, Rule::MalformedType, message).with_hint(
        "types are as Int, String, [:vector Int], [:map [:key String] [:other Int ?]], [:union Int Nil], Int?",
    )
}

fn shape(form: &Form) -> Result<Shape, Finding> {
    match &form.kind {
        FormKind::Nil => Ok(Shape::Nil),
        FormKind::Symbol(name) | FormKind::Keyword(name) => {
            if let Some(shape) = simple(name) {
                return Ok(shape);
            }
            if let Some(shape) = name.strip_suffix('?').and_then(simple) {
                return Ok(Shape::Union(vec![shape, Shape::Nil]));
            }
            let refused = malformed(form, format!("there is no type `{form}`"));
            Err(match &**name {
                "Timestamp" | "timestamp" | "Uuid" | "UUID" | "uuid" | "Resource" | "resource" => {
                    refused.with_hint("timestamps, uuids and resources are strings: String")
                }
                "Symbol" | "symbol" => {
                    refused.with_hint("no value is a symbol; take Keyword or String")
                }
                "List" | "list" => refused.with_hint("lists are vectors: Vector or [:vector Int]"),
                "Error" | "error" => refused.with_hint(
                    "what `catch` names is a map: [:map [:type Keyword] [:message String]]",
                ),
                _ => refused,
            })
        }
        FormKind::Vector(items) => {
            let Some((head, rest)) = items.split_first() else {
                return Err(malformed(form, "an empty vector is no type"));
            };
            let Some(name) = head.as_keyword() else {
                return Err(malformed(head, "a type in brackets begins with a keyword"));
            };
            compound(form, name, rest)
        }
        _ => Err(malformed(form, format!("{} is no type", form.noun()))),
    }
}

fn shapes(forms: &[Form]) -> Result<Vec<Shape>, Finding> {
    forms.iter().map(shape).collect()
}

fn compound(form: &Form, name: &str, rest: &[Form]) -> Result<Shape, Finding> {
    match (name, rest) {
        ("vector" | "list", [item]) => Ok(Shape::Vector(Box::new(shape(item)?))),
        ("tuple", items) => Ok(Shape::Tuple(shapes(items)?)),
        ("union", items) if !items.is_empty() => Ok(Shape::Union(shapes(items)?)),
        ("optional", [item]) => Ok(Shape::Union(vec![shape(item)?, Shape::Nil])),
        ("map-of" | "dict", [key, value]) => {
            Ok(Shape::MapOf(Box::new(shape(key)?), Box::new(shape(value)?)))
        }
        ("fn", _) => Ok(Shape::Function),
        ("val", [literal]) => Ok(Shape::Literals(vec![value(literal)?])),
        ("enum", literals) if !literals.is_empty() => {
            let literals: Result<Vec<Value>, Finding> = literals.iter().map(value).collect();
            Ok(Shape::Literals(literals?))
        }
        ("map" | "record", entries) => {
            let entries: Result<Vec<_>, Finding> = entries.iter().map(entry).collect();
            Ok(Shape::Record(entries?))
        }
        ("and", [base, predicates @ ..]) => {
            let predicates: Result<Vec<_>, Finding> = predicates.iter().map(predicate).collect();
            Ok(Shape::And(Box::new(shape(base)?), predicates?))
        }
        ("array", [item, ..]) => Err(malformed(form, format!("`{form}` is no type")).with_hint(
            format!("write [:vector {item}], or [:and [:vector {item}] [:length 3]]"),
        )),
        ("resource", _) => Err(malformed(form, format!("`{form}` is no type"))
            .with_hint("timestamps, uuids and resources are strings: String")),
        _ => Err(malformed(form, format!("`{form}` is no type"))),
    }
}

/// `[:key Type]` or `[:key Type ?]`.
fn entry(form: &Form) -> Result<(Key, Shape, Presence), Finding> {
    let refuse = || {
        malformed(
            form,
            "an entry of a map's type is `[:key Type]` or `[:key Type ?]`",
        )
    };
    let FormKind::Vector(parts) = &form.kind else {
        return Err(refuse());
    };
    let key = parts.first().map(value).transpose()?;
    let key = key.as_ref().and_then(Key::of).ok_or_else(refuse)?;
    match parts.as_slice() {
        [_, of] => Ok((key, shape(of)?, Presence::Required)),
        [_, of, mark] if mark.as_symbol() == Some("?") => Ok((key, shape(of)?, Presence::Optional)),
        _ => Err(refuse()),
    }
}

fn value(form: &Form) -> Result<Value, Finding> {
    Value::of_form(form).map_err(|error| malformed(form, error.to_string()))
}

fn predicate(form: &Form) -> Result<Predicate, Finding> {
    let refuse = || malformed(form, format!("`{form}` is no predicate on a type"));
    let FormKind::Vector(parts) = &form.kind else {
        return Err(refuse());
    };
    let Some((head, arguments)) = parts.split_first() else {
        return Err(refuse());
    };
    let Some(name) = head.as_keyword() else {
        return Err(refuse());
    };
    let number = |form: &Form| match form.kind {
        FormKind::Integer(value) => Ok(Value::Integer(value)),
        FormKind::Float(value) => Ok(Value::Float(value)),
        _ => Err(refuse()),
    };
    let count = |form: &Form| match form.kind {
        FormKind::Integer(value) => usize::try_from(value).map_err(|_| refuse()),
        _ => Err(refuse()),
    };
    let key = |form: &Form| Key::of(&value(form)?).ok_or_else(refuse);
    Ok(match (name, arguments) {
        (">", [n]) => Predicate::Compare(Comparison::More, number(n)?),
        (">=", [n]) => Predicate::Compare(Comparison::AtLeast, number(n)?),
        ("<", [n]) => Predicate::Compare(Comparison::Less, number(n)?),
        ("<=", [n]) => Predicate::Compare(Comparison::AtMost, number(n)?),
        ("=", [literal]) => Predicate::Equal(value(literal)?),
        ("!=", [literal]) => Predicate::NotEqual(value(literal)?),
        ("in-range", [from, to]) => Predicate::InRange(number(from)?, number(to)?),
        ("min-length" | "min-count", [n]) => Predicate::Length(Comparison::AtLeast, count(n)?),
        ("max-length" | "max-count", [n]) => Predicate::Length(Comparison::AtMost, count(n)?),
        ("length" | "count", [n]) => Predicate::Length(Comparison::Exactly, count(n)?),
        ("non-empty", []) => Predicate::Length(Comparison::AtLeast, 1),
        ("has-key", [k]) => Predicate::HasKeys(vec![key(k)?]),
        (
            "required-keys" | "only-keys",
            [
                Form {
                    kind: FormKind::Vector(keys),
                    ..
                },
            ],
        ) => {
            let keys: Result<Vec<Key>, Finding> = keys.iter().map(key).collect();
            if name == "only-keys" {
                Predicate::OnlyKeys(keys?)
            } else {
                Predicate::HasKeys(keys?)
            }
        }
        (
            "matches-regex",
            [
                Form {
                    kind: FormKind::Text(pattern),
                    ..
                },
            ],
        ) => {
            let built = RegularExpression::parse(pattern);
            Predicate::Matches(built.map_err(|why| {
                malformed(
                    form,
                    format!("`{form}` has a pattern that can't be used: {why}"),
                )
            })?)
        }
        _ => return Err(refuse()),
    })
}

impl Shape {
    /// As deep as the type was written, whatever the value's depth.
    fn fits<E>(
        &self,
        value: &Value,
        misfit: &mut Misfit,
        permit: &mut impl FnMut(u64) -> Result<(), E>,
    ) -> Result<bool, E> {
        permit(1)?;
        Ok(match (self, value) {
            (Self::Any, _)
            | (Self::Nil, Value::Nil)
            | (Self::Bool, Value::Boolean(_))
            | (Self::Int, Value::Integer(_))
            | (Self::Float, Value::Float(_))
            | (Self::Number, Value::Integer(_) | Value::Float(_))
            | (Self::Text, Value::Text(_))
            | (Self::Keyword, Value::Keyword(_))
            | (Self::Function, Value::Function(_))
            | (Self::AnyVector, Value::Vector(_))
            | (Self::AnyMap, Value::Map(_)) => true,
            (Self::Vector(item), Value::Vector(items)) => {
                for (index, value) in items.iter().enumerate() {
                    if !within(item, value, misfit, || format!("[{index}]"), permit)? {
                        return Ok(false);
                    }
                }
                true
            }
            (Self::Tuple(shapes), Value::Vector(items)) => {
                if shapes.len() != items.len() {
                    return Ok(false);
                }
                for (index, (shape, value)) in shapes.iter().zip(items.iter()).enumerate() {
                    if !within(shape, value, misfit, || format!("[{index}]"), permit)? {
                        return Ok(false);
                    }
                }
                true
            }
            (Self::Record(entries), Value::Map(map)) => {
                for (key, shape, presence) in entries {
                    permit(1 + key.weight() / 256)?;
                    let step = || at_key(key);
                    let Some(value) = map.get(key) else {
                        if *presence == Presence::Required {
                            *misfit = Misfit::new(step(), "is missing");
                            return Ok(false);
                        }
                        continue;
                    };
                    if !within(shape, value, misfit, step, permit)? {
                        return Ok(false);
                    }
                }
                true
            }
            (Self::MapOf(key_shape, shape), Value::Map(map)) => {
                for (key, value) in map.iter() {
                    permit(1 + key.weight() / 256)?;
                    let step = || at_key(key);
                    if !within(key_shape, &key.to_value(), misfit, step, permit)?
                        || !within(shape, value, misfit, step, permit)?
                    {
                        return Ok(false);
                    }
                }
                true
            }
            (Self::Union(shapes), value) => {
                for shape in shapes {
                    let mut of_shape = Misfit::default();
                    if shape.fits(value, &mut of_shape, permit)? {
                        return Ok(true);
                    }
                    // The one that fits furthest is probably the one that was meant.
                    if of_shape.way.len() > misfit.way.len() {
                        *misfit = of_shape;
                    }
                }
                return Ok(false);
            }
            (Self::Literals(literals), value) => {
                for literal in literals {
                    if literal.equals(value, &mut *permit)? {
                        return Ok(true);
                    }
                }
                false
            }
            (Self::And(base, predicates), value) => {
                if !base.fits(value, misfit, permit)? {
                    return Ok(false);
                }
                for predicate in predicates {
                    if !predicate.holds(value, permit)? {
                        if let (Predicate::OnlyKeys(keys), Value::Map(map)) = (predicate, value) {
                            let other = map.keys().find(|key| !keys.contains(key));
                            let other = other.map(at_key).unwrap_or_default();
                            *misfit = Misfit::new(other, "is a key too many");
                        }
                        return Ok(false);
                    }
                }
                true
            }
            _ => false,
        })
    }
}

/// What of a value does not fit.
#[derive(Debug, Default)]
struct Misfit {
    /// The way to it from the whole; empty where it is the whole.
    way: String,
    /// What is wrong with it, behind that.
    why: String,
}

impl Misfit {
    fn new(way: String, why: &str) -> Self {
        Self {
            way,
            why: why.to_owned(),
        }
    }
}

/// Whether a part fits; where it does not, the way to it is put before what is told of it.
fn within<E>(
    shape: &Shape,
    value: &Value,
    misfit: &mut Misfit,
    step: impl Fn() -> String,
    permit: &mut impl FnMut(u64) -> Result<(), E>,
) -> Result<bool, E> {
    let fits = shape.fits(value, misfit, permit)?;
    if !fits {
        if misfit.way.is_empty() {
            misfit.why = format!("is {}", value.noun());
        }
        misfit.way.insert_str(0, &step());
    }
    Ok(fits)
}

/// A key as a step of a way, its beginning where it is long.
fn at_key(key: &Key) -> String {
    let key = match key {
        Key::Text(text) if text.len() > SHOWN => {
            Value::text(text.chars().take(SHOWN).collect::<String>())
        }
        other => other.to_value(),
    };
    format!("{{{key}}}")
}

impl Predicate {
    fn holds<E>(
        &self,
        value: &Value,
        permit: &mut impl FnMut(u64) -> Result<(), E>,
    ) -> Result<bool, E> {
        let compare = |how: Comparison, bound: &Value| {
            compare_numbers(value, bound).is_some_and(|order| how.allows(order))
        };
        let length = match value {
            Value::Text(text) => {
                permit(text.len() as u64 / 256)?;
                Some(text.chars().count())
            }
            Value::Vector(items) => Some(items.len()),
            Value::Map(map) => Some(map.len()),
            _ => None,
        };
        Ok(match self {
            Self::Compare(how, bound) => compare(*how, bound),
            Self::InRange(from, to) => {
                compare(Comparison::AtLeast, from) && compare(Comparison::AtMost, to)
            }
            Self::Length(how, bound) => length.is_some_and(|length| how.allows(length.cmp(bound))),
            Self::Equal(literal) => literal.equals(value, &mut *permit)?,
            Self::NotEqual(literal) => !literal.equals(value, &mut *permit)?,
            Self::Matches(pattern) => match value {
                Value::Text(text) => {
                    permit(pattern.look(text.len()))?;
                    pattern.regex().is_match(text)
                }
                _ => false,
            },
            Self::HasKeys(keys) => match value {
                Value::Map(map) => {
                    let looks = keys.iter().map(|key| 1 + key.weight() / 256);
                    permit(looks.sum())?;
                    keys.iter().all(|key| map.contains_key(key))
                }
                _ => false,
            },
            Self::OnlyKeys(keys) => match value {
                Value::Map(map) => {
                    let looks = map.keys().map(|key| 1 + key.weight() / 256);
                    permit(looks.sum::<u64>().saturating_mul(1 + keys.len() as u64))?;
                    map.keys().all(|key| keys.contains(key))
                }
                _ => false,
            },
        })
    }
}

impl Comparison {
    fn allows(self, order: Ordering) -> bool {
        match self {
            Self::Less => order.is_lt(),
            Self::AtMost => order.is_le(),
            Self::Exactly => order.is_eq(),
            Self::AtLeast => order.is_ge(),
            Self::More => order.is_gt(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use crate::reader::read_one;

    fn said(schema: &str, value: &str) -> Option<String> {
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
            assert_eq!(said(schema, fits), None, "{schema} {fits}");
            if !doesnt.is_empty() {
                assert!(said(schema, doesnt).is_some(), "{schema} {doesnt}");
            }
        }
        assert_eq!(
            said("[:vector [:map [:a Int]]]", "[{:a 1} {:a :x}]").as_deref(),
            Some(
                "the value[1]{:a} is a keyword, so that the whole is not of type [:vector [:map [:a Int]]]"
            )
        );
        let query = "[:union Nil [:map [:query String] [:page Int ?]]]";
        for (value, told) in [
            ("{}", "the value{:query} is missing"),
            ("{:query 3}", "the value{:query} is an integer"),
            ("{:query \"x\" :page nil}", "the value{:page} is nil"),
        ] {
            let said = said(query, value).unwrap();
            assert_eq!(
                said,
                format!("{told}, so that the whole is not of type {query}")
            );
        }
        let only = "[:vector [:and Map [:only-keys [:a]]]]";
        assert_eq!(
            said(only, "[{:a 1} {:a 2 :b 3}]").as_deref(),
            Some(
                "the value[1]{:b} is a key too many, so that the whole is not of type [:vector [:and Map [:only-keys [:a]]]]"
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
