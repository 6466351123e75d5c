//! The setting of Gemini CLI that names the files with instructions: `context.fileName`; everything around it stays, byte for byte.

use jsonc_parser::cst::{CstInputValue, CstNode};

use super::hook_entry::{Entered, Made, SettingsError, every, not, parse, printed, remove};

/// The object that has the setting.
const OBJECT: &str = "context";

/// The setting.
const KEY: &str = "fileName";

/// Name of the setting in our notes of added lists.
const NOTED: &str = "context.fileName";

/// The file that all clients are to read.
const AGENTS: &str = "AGENTS.md";

/// Returns the settings with a list of `AGENTS.md` and the client's own file; `None` if they name `AGENTS.md` already.
///
/// Fails if they name other files: that is a person's choice.
pub(super) fn enter(text: &str, own: &str) -> Result<Option<Entered>, SettingsError> {
    if named(text)?.is_some_and(|names| names.iter().any(|name| name == AGENTS)) {
        return Ok(None);
    }
    let root = parse(text)?;
    let settings = root
        .object_value_or_create()
        .ok_or(SettingsError::NotAnObject)?;
    let mut made = Made::default();
    if settings.get(OBJECT).is_none() {
        made.keys.push(OBJECT.to_owned());
    }
    let object = settings
        .object_value_or_create(OBJECT)
        .ok_or_else(|| not(OBJECT, "an object"))?;
    if object.get(KEY).is_some() {
        return Err(not(NOTED, "a list with `AGENTS.md`"));
    }
    let names = [AGENTS, own].map(|name| CstInputValue::String(name.to_owned()));
    object.append(KEY, CstInputValue::Array(names.into()));
    made.keys.push(NOTED.to_owned());
    let text = printed(text, &root);
    Ok(Some(Entered { text, made }))
}

/// Returns the settings without the list, if it is among `made` and no one changed it; `None` if there is nothing to do.
pub(super) fn take_out(text: &str, made: &Made) -> Result<Option<String>, SettingsError> {
    let is_made = |name: &str| made.keys.iter().any(|key| key == name);
    let is_ours = |names: &Vec<String>| names.len() == 2 && names[0] == AGENTS;
    if !is_made(NOTED) || !named(text)?.as_ref().is_some_and(is_ours) {
        return Ok(None);
    }
    let root = parse(text)?;
    let settings = root.object_value();
    let Some((settings, object)) =
        settings.and_then(|settings| Some((settings.clone(), settings.object_value(OBJECT)?)))
    else {
        return Ok(None);
    };
    remove(&object, KEY);
    if is_made(OBJECT) && object.properties().is_empty() {
        remove(&settings, OBJECT);
    }
    Ok(Some(printed(text, &root)))
}

/// Returns the files that the settings name; `None` if they name none.
pub(super) fn named(text: &str) -> Result<Option<Vec<String>>, SettingsError> {
    let root = parse(text)?;
    let Some(settings) = root.object_value() else {
        return Ok(None);
    };
    if every(&settings, OBJECT).len() > 1 {
        let key = OBJECT.to_owned();
        return Err(SettingsError::Twice { key });
    }
    let value = settings
        .object_value(OBJECT)
        .and_then(|object| object.get(KEY)?.value());
    let name = |node: &CstNode| node.as_string_lit()?.decoded_value().ok();
    Ok(value.map(|value| match value.as_array() {
        Some(list) => list.elements().iter().filter_map(name).collect(),
        None => name(&value).into_iter().collect(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_added_once_and_removed_to_the_byte() {
        for text in [
            "",
            "{}\n",
            "{\n  // mine\n  \"ui\": {\"theme\": \"x\"},\n}\n",
            "{\n  \"context\": {\"loadMemoryFromIncludeDirectories\": true}\n}",
        ] {
            let entered = enter(text, "GEMINI.md").unwrap().unwrap();
            let names = named(&entered.text).unwrap().unwrap();
            assert_eq!(names, ["AGENTS.md", "GEMINI.md"], "{}", entered.text);
            assert_eq!(enter(&entered.text, "GEMINI.md"), Ok(None));
            let without = take_out(&entered.text, &entered.made).unwrap().unwrap();
            assert_eq!(named(&without), Ok(None));
            assert!(text.is_empty() || without.contains("mine") == text.contains("mine"));
            // Not ours, as far as is known.
            assert_eq!(take_out(&entered.text, &Made::default()), Ok(None));
        }
    }

    #[test]
    fn names_that_a_person_chose_are_left() {
        for text in [
            r#"{"context": {"fileName": "CONTEXT.md"}}"#,
            r#"{"context": {"fileName": ["A.md", "B.md"]}}"#,
        ] {
            assert!(enter(text, "GEMINI.md").is_err(), "{text}");
        }
        for text in [
            r#"{"context": {"fileName": "AGENTS.md"}}"#,
            r#"{"context": {"fileName": ["B.md", "AGENTS.md"]}}"#,
        ] {
            assert_eq!(enter(text, "GEMINI.md"), Ok(None), "{text}");
        }
    }
}
