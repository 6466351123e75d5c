//! Strings, and JSON in strings. Places in strings are counted in characters.

use super::{EvalContext, MANY, Row, count, counted, items_of, string, wrong};
use crate::{failure::Failure, value::Value};
use callosum_json::UniqueKeys;

pub(super) const FUNCTIONS: &[Row] = &[
    ("str", 0, MANY, |workshop, arguments| {
        let text = joined(workshop, arguments, "")?;
        workshop.budget.text(text)
    }),
    ("string-length", 1, 1, |_, arguments| {
        let text = string("string-length", &arguments[0])?;
        Ok(counted(text.chars().count()))
    }),
    ("substring", 2, 3, substring),
    ("string-contains", 2, 2, |_, arguments| {
        test("string-contains", arguments, |text, part| {
            text.contains(part)
        })
    }),
    ("starts-with?", 2, 2, |_, arguments| {
        test("starts-with?", arguments, |text, part| {
            text.starts_with(part)
        })
    }),
    ("ends-with?", 2, 2, |_, arguments| {
        test("ends-with?", arguments, |text, part| text.ends_with(part))
    }),
    ("string-upper", 1, 1, |workshop, arguments| {
        let text = string("string-upper", &arguments[0])?;
        workshop.budget.text(text.to_uppercase())
    }),
    ("string-lower", 1, 1, |workshop, arguments| {
        let text = string("string-lower", &arguments[0])?;
        workshop.budget.text(text.to_lowercase())
    }),
    ("string-trim", 1, 1, |workshop, arguments| {
        let text = string("string-trim", &arguments[0])?;
        workshop.budget.text(text.trim())
    }),
    ("split", 2, 2, |workshop, arguments| {
        let text = string("split", &arguments[0])?;
        let by = string("split", &arguments[1])?;
        let count = if by.is_empty() {
            text.chars().count()
        } else {
            text.matches(&**by).count() + 1
        };
        // Each piece is an allocation of its own, paid for before any is made.
        workshop
            .budget
            .allocate(count as u64 * 40 + text.len() as u64)?;
        let pieces = text.split(&**by).map(Value::text);
        let pieces = if by.is_empty() {
            pieces.skip(1).take(count).collect()
        } else {
            pieces.collect()
        };
        workshop.budget.vector(pieces)
    }),
    ("join", 1, 2, |workshop, arguments| {
        join("join", workshop, arguments)
    }),
    ("string-join", 1, 2, |workshop, arguments| {
        join("string-join", workshop, arguments)
    }),
    ("keyword", 1, 1, |workshop, arguments| {
        let text = string("keyword", &arguments[0])?;
        let name = text.strip_prefix(':').unwrap_or(text);
        if let Some(name) = crate::reader::keyword_of(name) {
            workshop.budget.allocate(name.len() as u64 + 16)?;
            return Ok(Value::Keyword(name));
        }
        let shown: String = text.chars().take(60).collect();
        Err(Failure::argument(format!("{shown:?} is not a keyword")))
    }),
    ("name", 1, 1, |_, arguments| match &arguments[0] {
        Value::Keyword(name) | Value::Text(name) => Ok(Value::Text(name.clone())),
        other => Err(wrong("name", "a keyword", other)),
    }),
    ("parse-json", 1, 1, |workshop, arguments| {
        let text = string("parse-json", &arguments[0])?;
        // A value takes up to some thirty times its text: `[0,0,…]`.
        workshop.budget.allocate(text.len() as u64 * 32)?;
        let json = serde_json::from_str(text).map_err(crate::value::JsonError::from);
        json.and_then(|UniqueKeys(json)| Value::of_json(&json))
            .map_err(|error| Failure::argument(error.to_string()))
    }),
    ("serialize-json", 1, 1, |workshop, arguments| {
        json(workshop, &arguments[0], None)
    }),
    ("serialize-json-pretty", 1, 1, |workshop, arguments| {
        json(workshop, &arguments[0], Some(2))
    }),
];

fn json(
    workshop: &mut EvalContext,
    value: &Value,
    indent: Option<usize>,
) -> Result<Value, Failure> {
    workshop.budget.allocate(value.weight())?;
    // Lines are indented by their depth, which the weight knows nothing of.
    let text = value.to_json_within(indent, |bytes| workshop.budget.allocate(bytes))?;
    match text {
        Ok(text) => workshop.budget.text(text),
        Err(error) => Err(Failure::type_error(error.to_string())),
    }
}

/// The texts of values one after another: strings as they are, nil as nothing.
fn joined(workshop: &mut EvalContext, values: &[Value], between: &str) -> Result<String, Failure> {
    let each = between.len() as u64;
    let total = values.iter().fold(0, |sum: u64, value| {
        sum.saturating_add(value.weight()).saturating_add(each)
    });
    workshop.budget.allocate(total)?;
    let mut text = String::new();
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            text.push_str(between);
        }
        match value {
            Value::Nil => {}
            Value::Text(part) => text.push_str(part),
            other => {
                let part = other.to_text(total);
                text.push_str(&part.map_err(|error| Failure::argument(error.to_string()))?);
            }
        }
    }
    Ok(text)
}

/// `(join "," items)` or `(join items ",")`, both are written.
fn join(name: &str, workshop: &mut EvalContext, arguments: &mut [Value]) -> Result<Value, Failure> {
    let (between, items) = match arguments {
        [Value::Text(between), items] | [items, Value::Text(between)] => (between.clone(), items),
        [items] => ("".into(), items),
        [other, ..] => return Err(wrong(name, "a collection and a string", other)),
        [] => return Ok(Value::text("")),
    };
    let items = items_of(name, &mut workshop.budget, std::mem::take(items))?;
    let text = joined(workshop, &items, &between)?;
    workshop.budget.text(text)
}

fn substring(workshop: &mut EvalContext, arguments: &mut [Value]) -> Result<Value, Failure> {
    let text = string("substring", &arguments[0])?;
    workshop.budget.spend(text.len() as u64 / 64)?;
    let length = text.chars().count();
    let from = count("substring", &arguments[1])?;
    let to = match arguments.get(2) {
        Some(to) => count("substring", to)?,
        None => length,
    };
    if from > to || to > length {
        return Err(Failure::argument(format!(
            "range {from} to {to} is out of bounds: the number of characters is {length}"
        )));
    }
    let part: String = text.chars().skip(from).take(to - from).collect();
    workshop.budget.text(part)
}

fn test(name: &str, arguments: &[Value], holds: fn(&str, &str) -> bool) -> Result<Value, Failure> {
    let text = string(name, &arguments[0])?;
    let part = string(name, &arguments[1])?;
    Ok(Value::Boolean(holds(text, part)))
}
