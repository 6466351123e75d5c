//! [`input_of`]: the type of what a tool of a server takes, from the JSON Schema that the server tells.
//!
//! Only what is sure becomes a type: names, which of them must be there, and simple types. What is not
//! understood is `Any`, and the server is the one who refuses it. Keys are fine that the schema does not
//! name, whatever it says of them.

use std::fmt::Write as _;

use callosum_plan::{Schema, SchemaError, Value};
use serde_json::{Map, Value as Json};

/// What a call without arguments is held against.
const NOTHING: &str = "[:vector Never]";

/// How deep lists of lists are looked into.
const DEEPEST: usize = 8;

/// Returns the type of what a tool takes: one map, or nothing where no key must be there. A schema that
/// makes no type, by a name that is too long for one, takes any map.
pub(super) fn input_of(schema: &Map<String, Json>) -> Result<Schema, SchemaError> {
    Schema::read(&written(schema)).or_else(|_| Schema::read(&written(&Map::new())))
}

fn written(schema: &Map<String, Json>) -> String {
    let properties = schema.get("properties").and_then(Json::as_object);
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Json::as_array)
        .into_iter()
        .flatten()
        .filter_map(Json::as_str)
        .collect();
    let mut map = String::new();
    for (name, of) in properties.into_iter().flatten() {
        let mark = if required.contains(&name.as_str()) {
            ""
        } else {
            " ?"
        };
        let _ = write!(map, " [{} {}{mark}]", key(name), type_of(of, DEEPEST));
    }
    let is_told = |name: &&&str| properties.is_some_and(|all| all.contains_key(**name));
    for name in required.iter().filter(|name| !is_told(name)) {
        let _ = write!(map, " [{} Any]", key(name));
    }
    let map = match map.as_str() {
        "" => "Map".to_owned(),
        entries => format!("[:map{entries}]"),
    };
    if required.is_empty() {
        format!("[:union {map} {NOTHING}]")
    } else {
        map
    }
}

/// The key that a plan writes for a name: a keyword where it can be one, else the text.
fn key(name: &str) -> String {
    let is_word = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    if is_word {
        format!(":{name}")
    } else {
        Value::text(name).to_string()
    }
}

fn type_of(schema: &Json, depth: usize) -> String {
    let any = || "Any".to_owned();
    if depth == 0 {
        return any();
    }
    if let Some(allowed) = schema.get("enum").and_then(Json::as_array) {
        let texts: Option<Vec<String>> = allowed
            .iter()
            .map(|one| Some(Value::text(one.as_str()?).to_string()))
            .collect();
        return match texts {
            Some(texts) if !texts.is_empty() => format!("[:enum {}]", texts.join(" ")),
            _ => any(),
        };
    }
    match schema.get("type") {
        Some(Json::String(name)) => named(name, schema, depth),
        Some(Json::Array(names)) if !names.is_empty() => {
            let types = names.iter().map(|name| match name.as_str() {
                Some(name) => named(name, schema, depth),
                None => any(),
            });
            format!("[:union {}]", types.collect::<Vec<_>>().join(" "))
        }
        _ => any(),
    }
}

fn named(name: &str, schema: &Json, depth: usize) -> String {
    match (name, schema.get("items")) {
        ("string", _) => "String".to_owned(),
        ("integer", _) => "Int".to_owned(),
        ("number", _) => "Number".to_owned(),
        ("boolean", _) => "Bool".to_owned(),
        ("null", _) => "Nil".to_owned(),
        ("object", _) => "Map".to_owned(),
        ("array", Some(items)) => format!("[:vector {}]", type_of(items, depth - 1)),
        ("array", None) => "Vector".to_owned(),
        _ => "Any".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(schema: &Json, expected: &str) {
        let read = input_of(schema.as_object().unwrap()).unwrap();
        assert_eq!(read.as_str(), expected, "{schema}");
    }

    /// CCOS-CAP-1: what a tool takes is what its server says, as far as that is understood.
    #[test]
    fn what_a_tool_takes_is_read_from_its_schema() {
        let page = json!({"type": "string"});
        check(
            &json!({"properties": {"page": page, "n": {"type": "integer"}}, "required": ["page"]}),
            "[:map [:page String] [:n Int ?]]",
        );
        check(
            &json!({"properties": {
                "a": {"type": ["number", "null"]}, "b": {"type": "array", "items": {"type": "boolean"}},
                "c": {"type": "array"}, "d": {"type": "object"}, "e": {"enum": ["x", "y z"]},
                "f": {"anyOf": []}, "g": true, "h": {"enum": [1]}, "i": {"type": "wave"}}}),
            "[:union [:map [:a [:union Number Nil] ?] [:b [:vector Bool] ?] [:c Vector ?] [:d Map ?] \
             [:e [:enum \"x\" \"y z\"] ?] [:f Any ?] [:g Any ?] [:h Any ?] [:i Any ?]] [:vector Never]]",
        );
        check(&json!({}), "[:union Map [:vector Never]]");
        check(
            &json!({"type": "object", "required": ["a"]}),
            "[:map [:a Any]]",
        );
        check(
            &json!({"properties": 3, "required": {}}),
            "[:union Map [:vector Never]]",
        );
    }

    /// CCOS-CAP-1: a name of a server's is a name, whatever stands in it.
    #[test]
    fn a_hostile_name_stays_a_key() {
        let hostile = r#"a] (call :x) "b\"#;
        let schema = json!({"properties": {(hostile): {"type": "string"}}, "required": [hostile]});
        let read = input_of(schema.as_object().unwrap()).unwrap();
        let key = Value::text(hostile);
        let fits = |value: &str| {
            let map = Value::read(&format!("{{{key} {value}}}")).unwrap();
            read.mismatch_within(&map, 1000).is_none()
        };
        assert!(fits("\"x\"") && !fits("1"), "{}", read.as_str());
        let mut nested = json!({"type": "string"});
        for _ in 0..100 {
            nested = json!({"type": "array", "items": nested});
        }
        let schema = json!({"properties": {"deep": nested}});
        assert!(input_of(schema.as_object().unwrap()).is_ok());
    }
}
