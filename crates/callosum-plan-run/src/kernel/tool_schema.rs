//! [`input_of`] and [`output_of`]: the types of what a tool of a server takes and answers, from the
//! JSON Schemas that the server lists.
//!
//! Only what is sure becomes a type: names, which of them must be there, whether there may be
//! others, simple types, their bounds, and all that within one another. If a schema asks for more,
//! the keyword is reported; the server is the one who refuses such arguments. Deliberately not
//! here: references and patterns.

use std::{collections::BTreeSet, fmt::Write as _};

use callosum_json::Checksum;
use callosum_plan::{Key, Schema, SchemaError, Value};
use serde_json::{Map, Value as Json};

use super::manifest::Unheld;

/// Type of the arguments of a call without any.
const NOTHING: &str = "[:vector Never]";

/// Deepest nesting of schemas that is read.
const DEEPEST: usize = 8;

/// Keywords that ask nothing of arguments, except for `format`, which most servers list and do not
/// enforce.
const SILENT: [&str; 15] = [
    "$comment",
    "$defs",
    "$id",
    "$schema",
    "contentEncoding",
    "contentMediaType",
    "default",
    "definitions",
    "deprecated",
    "description",
    "examples",
    "format",
    "readOnly",
    "title",
    "writeOnly",
];

/// Keywords that bound a number, and the predicates of ours that do.
const OF_NUMBERS: [(&str, &str); 4] = [
    ("minimum", ">="),
    ("maximum", "<="),
    ("exclusiveMinimum", ">"),
    ("exclusiveMaximum", "<"),
];
const OF_TEXTS: [(&str, &str); 2] = [("minLength", "min-length"), ("maxLength", "max-length")];
const OF_LISTS: [(&str, &str); 2] = [("minItems", "min-count"), ("maxItems", "max-count")];

/// Type of the answer of a tool whose server lists no schema for the structured content.
const UNLISTED: &str = "[:map [:text String] [:structured Any ?]]";

/// Type of what a tool takes, or answers.
#[derive(Debug)]
pub(super) struct ToolType {
    /// Of arguments one map, or nothing where no key must be there.
    pub(super) schema: Schema,
    /// The keywords of the server's schema that the type does not hold.
    pub(super) unheld: Unheld,
}

/// Returns what a tool takes. A schema that makes no type, by a name that is too long for one, takes any map.
pub(super) fn input_of(schema: &Map<String, Json>) -> Result<ToolType, SchemaError> {
    let mut reading = Reading::default();
    let text = reading.arguments(schema);
    if let Ok(read) = Schema::read(&text) {
        return Ok(ToolType {
            schema: read,
            unheld: reading.unheld(schema),
        });
    }
    let mut nothing = Reading::default();
    nothing.note(schema, &["type"]);
    Ok(ToolType {
        schema: Schema::read(&Reading::default().arguments(&Map::new()))?,
        unheld: nothing.unheld(schema),
    })
}

/// Returns what a tool answers: its texts, and its structured content, which must be there where the server has a
/// schema of it. One that makes no type is not held.
pub(super) fn output_of(schema: &Map<String, Json>) -> Result<ToolType, SchemaError> {
    let mut reading = Reading {
        keys: Keys::AsTheyAre,
        ..Reading::default()
    };
    if !schema.is_empty() {
        let structured = reading.type_of(&Json::Object(schema.clone()), DEEPEST);
        let text = format!("[:map [:text String] [:structured {structured}]]");
        if let Ok(read) = Schema::read(&text) {
            return Ok(ToolType {
                schema: read,
                unheld: reading.unheld(schema),
            });
        }
        reading.note(schema, &[]);
    }
    Ok(ToolType {
        schema: Schema::read(UNLISTED)?,
        unheld: reading.unheld(schema),
    })
}

/// Form of a schema's names in values.
#[derive(Clone, Copy, Default)]
enum Keys {
    /// As plans write them: keywords where they can be.
    #[default]
    AsWritten,
    /// As texts, which is what JSON has.
    AsTheyAre,
}

/// A schema as it is read: what of it no type holds.
#[derive(Default)]
struct Reading {
    keys: Keys,
    unheld: BTreeSet<String>,
    /// Demands of those keywords, each with its value.
    asked: Vec<String>,
}

impl Reading {
    fn arguments(&mut self, schema: &Map<String, Json>) -> String {
        let map = self.object(schema, DEEPEST);
        self.note(schema, &["type", "properties", "required"]);
        if required(schema).next().is_none() {
            format!("[:union {map} {NOTHING}]")
        } else {
            map
        }
    }

    /// Notes what a schema asks for by other keywords than these.
    fn note(&mut self, schema: &Map<String, Json>, held: &[&str]) {
        let asks = |keyword: &&String| {
            let keyword = keyword.as_str();
            // This one is noted where it isn't held.
            keyword != "additionalProperties"
                && !held.contains(&keyword)
                && !SILENT.contains(&keyword)
        };
        let asking: Vec<&String> = schema.keys().filter(asks).collect();
        for keyword in asking {
            self.note_one(keyword, &schema[keyword]);
        }
    }

    fn note_one(&mut self, keyword: &str, value: &Json) {
        self.unheld.insert(keyword.to_owned());
        self.asked.push(format!("{keyword} {value}"));
    }

    /// Returns the parts of a whole schema that no type holds. A reference asks for what the schema
    /// defines.
    fn unheld(mut self, schema: &Map<String, Json>) -> Unheld {
        if self.unheld.contains("$ref") {
            for keyword in ["$defs", "definitions"] {
                let defined = schema.get(keyword);
                self.asked
                    .extend(defined.map(|of| format!("{keyword} {of}")));
            }
        }
        self.asked.sort();
        let sha256 = Checksum::of(self.asked.join("\n").as_bytes());
        Unheld {
            sha256: (!self.unheld.is_empty()).then_some(sha256),
            keywords: self.unheld,
        }
    }

    fn type_of(&mut self, schema: &Json, depth: usize) -> String {
        let any = || "Any".to_owned();
        let schema = match schema {
            Json::Bool(false) => return "Never".to_owned(),
            Json::Object(schema) => schema,
            _ => return any(),
        };
        let Some(deeper) = depth.checked_sub(1) else {
            self.note(schema, &[]);
            return any();
        };
        if let Some(literals) = literals(schema) {
            self.note(schema, &["enum", "const", "type"]);
            return literals;
        }
        match schema.get("type") {
            Some(Json::String(name)) => self.named(&[name], schema, deeper),
            Some(Json::Array(names)) if !names.is_empty() => {
                let names: Vec<&str> = names.iter().filter_map(Json::as_str).collect();
                self.named(&names, schema, deeper)
            }
            _ => {
                let one_of = |keyword| Some((keyword, schema.get(keyword)?.as_array()?));
                let choice = one_of("anyOf").or_else(|| one_of("oneOf"));
                let Some((keyword, choices)) = choice.filter(|(_, choices)| !choices.is_empty())
                else {
                    self.note(schema, &[]);
                    return any();
                };
                self.note(schema, &[keyword]);
                let types = choices.iter().map(|choice| self.type_of(choice, deeper));
                format!("[:union {}]", types.collect::<Vec<_>>().join(" "))
            }
        }
    }

    /// A value of one of these types, which are looked at one level down.
    fn named(&mut self, names: &[&str], schema: &Map<String, Json>, depth: usize) -> String {
        let mut held = vec!["type"];
        let mut types = Vec::new();
        for &name in names {
            types.push(match name {
                "string" => bounded("String", schema, &OF_TEXTS, &mut held),
                "integer" => bounded("Int", schema, &OF_NUMBERS, &mut held),
                "number" => bounded("Number", schema, &OF_NUMBERS, &mut held),
                "boolean" => "Bool".to_owned(),
                "null" => "Nil".to_owned(),
                "object" => {
                    held.extend(["properties", "required"]);
                    self.object(schema, depth)
                }
                "array" => {
                    let items = schema.get("items").filter(|items| !items.is_array());
                    let list = match items {
                        Some(items) => {
                            held.push("items");
                            format!("[:vector {}]", self.type_of(items, depth))
                        }
                        None => "Vector".to_owned(),
                    };
                    bounded(&list, schema, &OF_LISTS, &mut held)
                }
                _ => {
                    self.note_one("type", &Json::from(name));
                    "Any".to_owned()
                }
            });
        }
        self.note(schema, &held);
        match types.as_slice() {
            [] => "Any".to_owned(),
            [one] => one.clone(),
            several => format!("[:union {}]", several.join(" ")),
        }
    }

    fn object(&mut self, schema: &Map<String, Json>, depth: usize) -> String {
        let properties = schema.get("properties").and_then(Json::as_object);
        let properties = || properties.into_iter().flatten();
        let is_required = |name: &str| required(schema).any(|required| required == name);
        let mut map = String::new();
        for (name, of) in properties() {
            let mark = if is_required(name) { "" } else { " ?" };
            let _ = write!(
                map,
                " [{} {}{mark}]",
                self.key(name),
                self.type_of(of, depth)
            );
        }
        let is_listed = |name: &str| properties().any(|(listed, _)| listed == name);
        for name in required(schema).filter(|name| !is_listed(name)) {
            let _ = write!(map, " [{} Any]", self.key(name));
        }
        let base = match map.as_str() {
            "" => "Map".to_owned(),
            entries => format!("[:map{entries}]"),
        };
        // A pattern may describe the name, which is not looked at.
        let others = match schema.get("additionalProperties") {
            None | Some(Json::Bool(true)) => return base,
            Some(others) if !schema.contains_key("patternProperties") => others,
            Some(_) => &Json::Null,
        };
        match others {
            Json::Bool(false) => {
                let keys: Vec<String> = properties().map(|(name, _)| self.key(name)).collect();
                format!("[:and {base} [:only-keys [{}]]]", keys.join(" "))
            }
            Json::Object(_) if map.is_empty() => {
                format!("[:map-of Any {}]", self.type_of(others, depth))
            }
            _ => {
                self.note_one("additionalProperties", others);
                base
            }
        }
    }

    /// The key that a name is, in the notation.
    fn key(&self, name: &str) -> String {
        match self.keys {
            Keys::AsWritten => key(name),
            Keys::AsTheyAre => Value::text(name).to_string(),
        }
    }
}

fn required(schema: &Map<String, Json>) -> impl Iterator<Item = &str> {
    let names = schema.get("required").and_then(Json::as_array);
    names.into_iter().flatten().filter_map(Json::as_str)
}

/// A type within the bounds that a schema has for it; what was held is added.
fn bounded<'k>(
    base: &str,
    schema: &Map<String, Json>,
    bounds: &[(&'k str, &str)],
    held: &mut Vec<&'k str>,
) -> String {
    let mut predicates = String::new();
    for (keyword, predicate) in bounds {
        let bound = schema.get(*keyword).filter(|bound| bound.is_number());
        let counts = predicate.starts_with(char::is_alphabetic);
        let Some(bound) = bound.filter(|bound| !counts || bound.is_u64()) else {
            continue;
        };
        if let Ok(bound) = Value::of_json(bound) {
            held.push(keyword);
            let _ = write!(predicates, " [:{predicate} {bound}]");
        }
    }
    if predicates.is_empty() {
        base.to_owned()
    } else {
        format!("[:and {base}{predicates}]")
    }
}

/// The values that a schema names, where each is one of the simple ones.
fn literals(schema: &Map<String, Json>) -> Option<String> {
    let literal = |one: &Json| {
        let is_simple = !(one.is_array() || one.is_object());
        let value = is_simple.then(|| Value::of_json(one).ok())??;
        Some(value.to_string())
    };
    if let Some(only) = schema.get("const") {
        return Some(format!("[:val {}]", literal(only)?));
    }
    let allowed = schema.get("enum")?.as_array()?;
    let literals: Option<Vec<String>> = allowed.iter().map(literal).collect();
    let literals = literals.filter(|literals| !literals.is_empty())?;
    Some(format!("[:enum {}]", literals.join(" ")))
}

/// The key that a plan writes for a name.
fn key(name: &str) -> String {
    Key::of_name(name).to_value().to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(schema: &Json, expected: &str) {
        check_with(schema, expected, &[]);
    }

    #[track_caller]
    fn check_with(schema: &Json, expected: &str, unheld: &[&str]) {
        let read = input_of(schema.as_object().unwrap()).unwrap();
        assert_eq!(read.schema.as_str(), expected, "{schema}");
        assert_eq!(
            read.unheld.keywords.iter().collect::<Vec<_>>(),
            unheld,
            "{schema}"
        );
    }

    /// CCOS-CAP-1: what a tool takes is what its server says, as far as that is understood.
    #[test]
    fn what_a_tool_takes_is_read_from_its_schema() {
        let page = json!({"type": "string"});
        check(
            &json!({"properties": {"page": page, "n": {"type": "integer"}}, "required": ["page"]}),
            "[:map [:page String] [:n Int ?]]",
        );
        check_with(
            &json!({"properties": {
                "a": {"type": ["number", "null"]}, "b": {"type": "array", "items": {"type": "boolean"}},
                "c": {"type": "array"}, "d": {"type": "object"}, "e": {"enum": ["x", "y z"]},
                "f": {"anyOf": []}, "g": true, "h": {"enum": [1, null, true]}, "i": {"type": "wave"}}}),
            "[:union [:map [:a [:union Number Nil] ?] [:b [:vector Bool] ?] [:c Vector ?] [:d Map ?] \
             [:e [:enum \"x\" \"y z\"] ?] [:f Any ?] [:g Any ?] [:h [:enum 1 nil true] ?] [:i Any ?]] [:vector Never]]",
            &["anyOf", "type"],
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

    /// CCOS-CAP-1: the type also holds the parts of an object or a list, and excludes any other.
    #[test]
    fn what_is_nested_is_held_and_what_is_more_is_refused() {
        let filter = json!({"type": "object", "additionalProperties": false, "required": ["by"], "properties": {
            "by": {"type": "string", "minLength": 1},
            "limit": {"anyOf": [{"type": "integer", "minimum": 1, "exclusiveMaximum": 10.5}, {"type": "null"}]}}});
        let schema = json!({"type": "object", "required": ["filters"], "additionalProperties": false, "properties": {
            "filters": {"type": "array", "items": filter, "maxItems": 2},
            "kind": {"const": "page"}, "labels": {"type": "object", "additionalProperties": {"type": "string"}}}});
        check(
            &schema,
            "[:and [:map [:filters [:and [:vector [:and [:map [:by [:and String [:min-length 1]]] [:limit [:union \
             [:and Int [:>= 1] [:< 10.5]] Nil] ?]] [:only-keys [:by :limit]]]] [:max-count 2]]] \
             [:kind [:val \"page\"] ?] [:labels [:map-of Any String] ?]] [:only-keys [:filters :kind :labels]]]",
        );
        let read = input_of(schema.as_object().unwrap()).unwrap().schema;
        let mismatch = |value: &str| read.mismatch_within(&Value::read(value).unwrap(), 10_000);
        for fits in [
            "{:filters [{:by \"a\" :limit 3} {:by \"b\" :limit nil}]}",
            "{:filters [] :kind \"page\" :labels {:a \"b\"}}",
        ] {
            assert_eq!(mismatch(fits), None, "{fits}");
        }
        for (wrong, place) in [
            ("{:filters [{:by \"\"}]}", "{:filters}[0]{:by} "),
            (
                "{:filters [{:by \"a\" :limit 0}]}",
                "{:filters}[0]{:limit} ",
            ),
            ("{:filters [{:by \"a\" :to 1}]}", "{:filters}[0]{:to} "),
            ("{:filters [{}]}", "{:filters}[0]{:by} "),
            ("{:filters [] :lables {}}", "{:lables} "),
            ("{:filters [] :labels {:a 1}}", "{:labels}{:a} "),
            ("{:filters [] :kind \"pages\"}", "{:kind} "),
        ] {
            let message = mismatch(wrong).unwrap();
            assert!(
                message.starts_with(&format!("the value{place}")),
                "{wrong}: {message}"
            );
        }
    }

    /// CCOS-CAP-1: what a type can't hold is listed, and refused by the server alone.
    #[test]
    fn what_is_not_held_is_listed() {
        check_with(
            &json!({"oneOf": [], "patternProperties": {}, "additionalProperties": false, "properties": {
                "a": {"$ref": "#/$defs/a"}, "b": {"type": "string", "pattern": "^x", "format": "uri", "title": "B"},
                "c": {"type": "array", "items": [{}], "minItems": -1}, "d": {"enum": [[1]]},
                "e": {"type": "object", "additionalProperties": {"type": "string"}, "required": ["f"]}}}),
            "[:union [:map [:a Any ?] [:b String ?] [:c Vector ?] [:d Any ?] [:e [:map [:f Any]] ?]] [:vector Never]]",
            &[
                "$ref",
                "additionalProperties",
                "enum",
                "items",
                "minItems",
                "oneOf",
                "pattern",
                "patternProperties",
            ],
        );
        let mut deep = json!({"type": "object", "required": ["x"]});
        for _ in 0..20 {
            deep = json!({"type": "object", "properties": {"deeper": deep}});
        }
        let read = input_of(deep.as_object().unwrap()).unwrap();
        assert!(read.unheld.keywords.contains("properties"), "{read:?}");
    }

    /// CCOS-CAP-1: what a tool answers is what its server says of its structured content, with names as JSON has them.
    #[test]
    fn what_a_tool_answers_is_read_from_its_schema() {
        let check = |schema: &Json, expected: &str, unheld: &[&str]| {
            let read = output_of(schema.as_object().unwrap()).unwrap();
            assert_eq!(read.schema.as_str(), expected, "{schema}");
            assert_eq!(
                read.unheld.keywords.iter().collect::<Vec<_>>(),
                unheld,
                "{schema}"
            );
        };
        check(&json!({}), UNLISTED, &[]);
        check(
            &json!({"type": "object", "required": ["n"], "properties": {
                "n": {"type": "integer", "minimum": 1}, "of": {"$ref": "#/$defs/of"}}, "$defs": {}}),
            "[:map [:text String] [:structured [:map [\"n\" [:and Int [:>= 1]]] [\"of\" Any ?]]]]",
            &["$ref"],
        );
        let long = "n".repeat(300);
        check(
            &json!({"type": "object", "properties": {"a": {"enum": [long]}}, "additionalProperties": false}),
            &format!(
                "[:map [:text String] [:structured [:and [:map [\"a\" [:enum \"{long}\"] ?]] [:only-keys [\"a\"]]]]]"
            ),
            &[],
        );
    }

    /// CCOS-CAP-1: a server's name is a name, with any content.
    #[test]
    fn a_hostile_name_stays_a_key() {
        let hostile = r#"a] (call :x) "b\"#;
        let schema = json!({"properties": {(hostile): {"type": "string"}}, "required": [hostile]});
        let read = input_of(schema.as_object().unwrap()).unwrap().schema;
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
