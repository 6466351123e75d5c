//! Values of a plan's parameters, as the command line gives them. They are values, and never become
//! source.

use std::collections::BTreeMap;

use callosum_executor::json::read_value;
use callosum_plan::{Key, StartError, Value};
use shlex::try_quote;

use crate::{CommandError, Exit};

/// The values of `--param NAME=VALUE`.
pub fn parameters(given: &[String]) -> Result<BTreeMap<String, Value>, CommandError> {
    let mut parameters = BTreeMap::new();
    for pair in given {
        let refuse = |why: String| {
            CommandError::new(Exit::Usage, format!("--param {pair}: {why}"))
                .hint("write values in the language's notation: `--param 'name=\"Ada\"'`")
        };
        let Some((name, value)) = pair.split_once('=') else {
            return Err(refuse("the `=` is missing".to_owned()));
        };
        let value = Value::read(value).map_err(|error| {
            // Most who write no value mean a text.
            let assigned = format!("{name}={}", Value::text(value));
            let assigned = try_quote(&assigned).unwrap_or_default().into_owned();
            CommandError::new(Exit::Usage, format!("--param {pair}: {error}"))
                .hint(format!("put text in quotation marks: --param {assigned}"))
        })?;
        if parameters.insert(name.to_owned(), value).is_some() {
            return Err(refuse(format!("`{name}` is given twice")));
        }
    }
    Ok(parameters)
}

/// Explains why a plan does not start with the values that were given.
pub fn unstartable(error: &StartError) -> CommandError {
    let names = match error {
        StartError::Missing(names) => names.as_slice(),
        StartError::Mismatch { name, .. } => std::slice::from_ref(name),
        StartError::Unknown { .. } => &[],
    };
    let explained = CommandError::from_error(Exit::Usage, error);
    let options = names.iter().map(|name| format!("--param '{name}=VALUE'"));
    match options.collect::<Vec<_>>().join(" ") {
        options if options.is_empty() => explained,
        options => explained.hint(format!("write VALUE in the language's notation: {options}")),
    }
}

/// The values of `--input JSON`, an object with a value for each parameter.
pub fn of_json(text: &str) -> Result<BTreeMap<String, Value>, CommandError> {
    let refuse = |why: String| {
        CommandError::new(Exit::Usage, format!("--input: {why}"))
            .hint(r#"give an object, with a value for each parameter: --input '{"name": "Ada"}'"#)
    };
    // Rejects duplicate keys, as with parameters.
    let json = read_value(text.as_bytes()).map_err(|error| refuse(error.to_string()))?;
    let value = Value::of_json(&json).map_err(|error| refuse(error.to_string()))?;
    let Value::Map(entries) = &value else {
        return Err(refuse(format!("{} is not an object", value.noun())));
    };
    let named = entries.iter().filter_map(|(key, value)| match key {
        Key::Text(name) => Some((name.to_string(), value.clone())),
        _ => None,
    });
    Ok(named.collect())
}
