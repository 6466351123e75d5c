//! The server as an object below `mcpServers`.

use jsonc_parser::cst::{CstInputValue, CstObject, CstObjectProp};

use super::{
    super::hook_entry::{Entered, Made, SettingsError, every, not, parse, printed, remove},
    ARGUMENTS, NAME, Server, is_ours, not_ours,
};

/// Key of the servers.
const LIST: &str = "mcpServers";

pub(super) fn enter(text: &str, server: &Server) -> Result<Option<Entered>, SettingsError> {
    let root = parse(text)?;
    let settings = root
        .object_value_or_create()
        .ok_or(SettingsError::NotAnObject)?;
    alone(&settings)?;
    let mut made = Made::default();
    if settings.get(LIST).is_none() {
        made.keys.push(LIST.to_owned());
    }
    let list = settings
        .object_value_or_create(LIST)
        .ok_or_else(|| not(LIST, "an object"))?;
    if list.get(NAME).is_some() {
        let program = named(&list).ok_or_else(|| not_ours(LIST))?;
        if program == server.program {
            return Ok(None);
        }
        let command = list.object_value(NAME).and_then(|ours| ours.get("command"));
        let command = command.ok_or_else(|| not_ours(LIST))?;
        command.set_value(CstInputValue::String(server.program.clone()));
    } else {
        list.append(NAME, value(server));
    }
    let text = printed(text, &root);
    Ok(Some(Entered { text, made }))
}

pub(super) fn take_out(text: &str, made: &Made) -> Result<Option<String>, SettingsError> {
    let root = parse(text)?;
    let Some(settings) = root.object_value() else {
        return Ok(None);
    };
    let Some(list) = settings.object_value(LIST) else {
        return Ok(None);
    };
    if named(&list).is_none() {
        return Ok(None);
    }
    remove(&list, NAME);
    if list.properties().is_empty() && made.keys.iter().any(|key| key == LIST) {
        remove(&settings, LIST);
    }
    Ok(Some(printed(text, &root)))
}

pub(super) fn program(text: &str) -> Result<Option<String>, SettingsError> {
    let root = parse(text)?;
    let settings = root.object_value();
    let list = settings.and_then(|settings| settings.object_value(LIST));
    Ok(list.as_ref().and_then(named))
}

/// Returns the program of our server in a list; `None` if there is none, or it is not ours.
fn named(list: &CstObject) -> Option<String> {
    let ours = list.object_value(NAME)?;
    let text = |value: jsonc_parser::cst::CstNode| value.as_string_lit()?.decoded_value().ok();
    let program = text(ours.get("command")?.value()?)?;
    let arguments = ours.array_value("args")?.elements();
    let arguments: Option<Vec<String>> = arguments.into_iter().map(text).collect();
    is_ours(&program, &arguments?).then_some(program)
}

fn value(server: &Server) -> CstInputValue {
    let text = |text: &str| CstInputValue::String(text.to_owned());
    let mut fields = vec![
        ("command".to_owned(), text(&server.program)),
        (
            "args".to_owned(),
            CstInputValue::Array(ARGUMENTS.map(text).into()),
        ),
    ];
    if server.typed {
        fields.insert(0, ("type".to_owned(), text("stdio")));
    }
    CstInputValue::Object(fields)
}

/// Fails if a key that will be written below occurs more than once.
fn alone(settings: &CstObject) -> Result<(), SettingsError> {
    let lists = every(settings, LIST);
    let inner = lists.first().and_then(CstObjectProp::object_value);
    let key = if lists.len() > 1 {
        LIST.to_owned()
    } else if inner.is_some_and(|inner| every(&inner, NAME).len() > 1) {
        format!("{LIST}.{NAME}")
    } else {
        return Ok(());
    };
    Err(SettingsError::Twice { key })
}
