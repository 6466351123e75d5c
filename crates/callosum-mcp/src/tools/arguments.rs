//! Arguments of calls: parsed as the tool's own type. Each fault is reported with the argument's
//! name and the values that are allowed.
//!
//! Start with [`read`]. The allowed values come from the schema that the tool is listed with; the
//! faults come from its type.

use callosum_mesh::addressee::Addressee;
use callosum_mesh::agent::AgentName;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{shorten, whole_schema};
use callosum_app::{CommandError, Exit};

/// So many characters of a value are shown.
const MOST_SHOWN: usize = 80;

/// A call's arguments; else which of them is wrong, and what is allowed.
pub(super) fn read<A: DeserializeOwned + JsonSchema>(arguments: Value) -> Result<A, CommandError> {
    let error = match serde_json::from_value(arguments.clone()) {
        Ok(read) => return Ok(read),
        Err(error) => error.to_string(),
    };
    let schema = whole_schema::<A>();
    let wrong = arguments
        .as_object()
        .and_then(|arguments| wrong::<A>(arguments, &schema, &error));
    let what = wrong.unwrap_or_else(|| format!("invalid arguments: {error}"));
    Err(CommandError::new(Exit::Usage, what))
}

/// An argument without which this cannot be done.
pub(super) fn needed(value: Option<String>, key: &str, what: &str) -> Result<String, CommandError> {
    value.ok_or_else(|| {
        let what = format!("`{key}` is missing: {what}");
        CommandError::new(Exit::Usage, what)
    })
}

/// The agent of this name.
pub(super) fn agent(name: &str) -> Result<AgentName, CommandError> {
    let agent = name.parse();
    agent.map_err(|error| CommandError::from_error(Exit::Usage, &error))
}

/// An agent, or one session of it.
pub(super) fn addressee(name: &str) -> Result<Addressee, CommandError> {
    let addressee = name.parse();
    addressee.map_err(|error| CommandError::from_error(Exit::Usage, &error))
}

/// Describes the fault; `None` if it is not about one argument.
fn wrong<A: DeserializeOwned>(
    arguments: &Map<String, Value>,
    schema: &Value,
    error: &str,
) -> Option<String> {
    let properties = schema["properties"].as_object()?;
    if error.starts_with("missing field") {
        let mut required = schema["required"].as_array()?.iter();
        let missing = required.find_map(|key| {
            let key = key.as_str()?;
            (!arguments.contains_key(key)).then_some(key)
        })?;
        let allowed = allowed(&properties[missing]);
        return Some(format!("`{missing}` is missing (allowed: {allowed})"));
    }
    let (key, value) = first_with::<A>(arguments, error)?;
    let shown: String = value.to_string().chars().take(MOST_SHOWN).collect();
    let Some(property) = properties.get(key) else {
        let known: Vec<&str> = properties.keys().map(String::as_str).collect();
        let known = known.join(", ");
        return Some(format!("`{key}` is not known (allowed: {known})"));
    };
    Some(format!(
        "`{key}` is {shown} (allowed: {})",
        allowed(property)
    ))
}

/// The argument at which reading stops with this error: they are read in their order.
fn first_with<'a, A: DeserializeOwned>(
    arguments: &'a Map<String, Value>,
    error: &str,
) -> Option<(&'a str, &'a Value)> {
    let mut before = Map::new();
    arguments.iter().find_map(|(key, value)| {
        before.insert(key.clone(), value.clone());
        let read = serde_json::from_value::<A>(before.clone().into());
        let stops = read.is_err_and(|stopped| stopped.to_string() == error);
        stops.then_some((key.as_str(), value))
    })
}

/// Describes the values that a schema allows.
fn allowed(schema: &Value) -> String {
    let least = schema["minimum"].as_i64();
    let mut short = schema.clone();
    shorten(&mut short);
    if let Some(names) = short["enum"].as_array() {
        let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
        return names.join(", ");
    }
    match (short["type"].as_str(), least) {
        (Some("integer"), Some(least)) => format!("a whole number from {least}"),
        (Some("integer"), None) => "a whole number".to_owned(),
        (Some("number"), _) => "a number".to_owned(),
        (Some("boolean"), _) => "true or false".to_owned(),
        (Some("array"), _) => format!("a list, each item {}", allowed(&schema["items"])),
        (Some("object"), _) => "an object".to_owned(),
        _ => "a text".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "what is read well is not looked at")]
    struct Arguments {
        r#do: Deed,
        id: Option<String>,
        budget: Option<u64>,
        priority: Option<i64>,
        needs: Option<Vec<String>>,
        #[serde(default)]
        fresh: bool,
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Deed {
        List,
        Add,
    }

    /// CALC-PAT-2: any fault of an argument is reported with its name and the values that are
    /// allowed.
    #[test]
    fn what_is_wrong_is_named_with_what_is_allowed() {
        for (arguments, wanted) in [
            (json!({}), "`do` is missing (allowed: list, add)"),
            (json!({"do": "ad"}), "`do` is \"ad\" (allowed: list, add)"),
            (json!({"do": "add", "id": 5}), "`id` is 5 (allowed: a text)"),
            (json!({"id": 5, "needs": 5}), "`id` is 5 (allowed: a text)"),
            (
                json!({"do": "add", "budget": -1}),
                "`budget` is -1 (allowed: a whole number from 0)",
            ),
            (
                json!({"do": "add", "priority": "high"}),
                "`priority` is \"high\" (allowed: a whole number)",
            ),
            (
                json!({"do": "add", "needs": "a"}),
                "`needs` is \"a\" (allowed: a list, each item a text)",
            ),
            (
                json!({"do": "add", "needs": ["a", 1]}),
                "`needs` is [\"a\",1] (allowed: a list, each item a text)",
            ),
            (
                json!({"do": "add", "fresh": null}),
                "`fresh` is null (allowed: true or false)",
            ),
            (
                json!({"do": "add", "nme": 1}),
                "`nme` is not known (allowed: do, id, budget, priority, needs, fresh)",
            ),
            (
                json!("add"),
                "invalid arguments: invalid type: string \"add\", expected struct Arguments",
            ),
        ] {
            let error = read::<Arguments>(arguments.clone()).unwrap_err();
            assert_eq!(error.one_line(), wanted, "{arguments}");
        }
    }
}
