//! [`shape`]: a type as it is written, read.

use super::{Comparison, Predicate, Presence, SIMPLE, Shape};
use crate::{
    finding::{Finding, Rule},
    form::{Form, FormKind},
    regular_expression::RegularExpression,
    value::{Key, Value},
};

pub(super) fn simple(name: &str) -> Option<Shape> {
    SIMPLE
        .iter()
        .find(|(upper, lower, _)| *upper == name || *lower == name)
        .map(|(_, _, shape)| shape.clone())
}

fn malformed(form: &Form, message: impl Into<String>) -> Finding {
    Finding::new(form.span, Rule::MalformedType, message).with_hint(
        "types look like Int, String, [:vector Int], [:map [:key String] [:other Int ?]], [:union Int Nil], Int?",
    )
}

pub(super) fn shape(form: &Form) -> Result<Shape, Finding> {
    match &form.kind {
        FormKind::Nil => Ok(Shape::Nil),
        FormKind::Symbol(name) | FormKind::Keyword(name) => {
            if let Some(shape) = simple(name) {
                return Ok(shape);
            }
            if let Some(shape) = name.strip_suffix('?').and_then(simple) {
                return Ok(Shape::Union(vec![shape, Shape::Nil]));
            }
            let refused = malformed(form, format!("unknown type `{form}`"));
            Err(match &**name {
                "Timestamp" | "timestamp" | "Uuid" | "UUID" | "uuid" | "Resource" | "resource" => {
                    refused.with_hint("timestamps, uuids and resources are strings: String")
                }
                "Symbol" | "symbol" => {
                    refused.with_hint("no value is a symbol; use Keyword or String")
                }
                "List" | "list" => refused.with_hint("lists are vectors: Vector or [:vector Int]"),
                "Error" | "error" => refused
                    .with_hint("`catch` binds a map: [:map [:type Keyword] [:message String]]"),
                _ => refused,
            })
        }
        FormKind::Vector(items) => {
            let Some((head, rest)) = items.split_first() else {
                return Err(malformed(form, "an empty vector is not a type"));
            };
            let Some(name) = head.as_keyword() else {
                return Err(malformed(
                    head,
                    "a type in brackets must start with a keyword",
                ));
            };
            compound(form, name, rest)
        }
        _ => Err(malformed(form, format!("{} is not a type", form.noun()))),
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
        ("array", [item, ..]) => Err(
            malformed(form, format!("`{form}` is not a type")).with_hint(format!(
                "write [:vector {item}], or [:and [:vector {item}] [:length 3]]"
            )),
        ),
        ("resource", _) => Err(malformed(form, format!("`{form}` is not a type"))
            .with_hint("timestamps, uuids and resources are strings: String")),
        _ => Err(malformed(form, format!("`{form}` is not a type"))),
    }
}

/// `[:key Type]` or `[:key Type ?]`.
fn entry(form: &Form) -> Result<(Key, Shape, Presence), Finding> {
    let refuse = || {
        malformed(
            form,
            "an entry of a map's type must be `[:key Type]` or `[:key Type ?]`",
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
    let refuse = || malformed(form, format!("`{form}` is not a predicate on a type"));
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
                malformed(form, format!("`{form}` has an invalid pattern: {why}"))
            })?)
        }
        _ => return Err(refuse()),
    })
}
