//! Our hooks merged into a client's settings file (`settings.json`): one entry for each event that
//! the client reports. Everything around them stays, byte for byte.
//!
//! All four clients keep hooks in one form: `hooks`, below it the event's name, below it a list of
//! groups, each with a list of commands. Some of them allow comments, so all are read as if they
//! did.

use std::path::Path;

use callosum_executor::{
    client::{Client, Hooks},
    output_format::Dialect,
};
use jsonc_parser::{
    ParseOptions,
    cst::{CstArray, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode, CstStringLit},
};

/// Deeper than this no settings are.
const DEEPEST: usize = 100;

/// Byte order mark that some editors put before a text.
const MARK: &str = "\u{feff}";

/// Name of our entry in clients that show names.
const NAME: &str = "callosum";

/// The containers of our entries that were not there before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Made {
    /// The lists of these events.
    pub(super) events: Vec<String>,
    /// The object `hooks`.
    pub(super) hooks: bool,
    /// Lists next to it.
    pub(super) keys: Vec<String>,
}

/// Settings with our entries in them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entered {
    pub(super) text: String,
    pub(super) made: Made,
}

/// The reason why settings stay as they are.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// They are not what their client reads.
    #[error("it is not JSON: {reason}")]
    NotJson {
        /// The reader's words.
        reason: String,
    },
    /// They are not what Codex reads.
    #[error("it is not TOML: {reason}")]
    NotToml {
        /// The reader's words.
        reason: String,
    },
    /// They are no object.
    #[error("it is not a JSON object")]
    NotAnObject,
    /// A key that we would write below is there more than once, and clients take only the last.
    #[error("`{key}` occurs more than once")]
    Twice {
        /// The key.
        key: String,
    },
    /// Something else is in the place of hooks.
    #[error("`{key}` is not {expected}")]
    Shape {
        /// The key.
        key: String,
        /// The expected type.
        expected: &'static str,
    },
}

/// The command that a client is to run, up to the word of the event.
pub fn command_of(program: &Path, client: &str) -> Option<String> {
    let program = program.to_str()?;
    let quoted = shlex::try_quote(program).ok()?;
    Some(format!("{quoted} hook {client}"))
}

/// Returns whether a command is one of ours for this client: `PROGRAM hook CLIENT EVENT`, with a
/// word that we register.
///
/// The program may have any name: people rename it, link it, and keep several versions side by
/// side. Under our own name any event counts, as a person may have registered it by hand.
pub(super) fn is_ours(command: &str, client: &str) -> bool {
    let Some(words) = shlex::split(command) else {
        return false;
    };
    match words.as_slice() {
        [program, hook, named, event] if hook == "hook" && named == client => {
            let name = Path::new(program).file_name();
            name.is_some_and(|name| name == "callosum") || is_registered(event, client)
        }
        _ => false,
    }
}

/// Returns whether we register this word for an event of the client.
fn is_registered(word: &str, client: &str) -> bool {
    let clients = Dialect::ALL.into_iter().filter_map(Client::of);
    let mut hooks = clients
        .filter(|known| known.program == client)
        .filter_map(|known| known.hooks);
    hooks.any(|hooks| hooks.all_events().any(|(_, known)| known == word))
}

/// Returns the settings with our entries, each with the command and its event's word. An entry with
/// another command of ours gets this one. `None` if all are there already.
pub(super) fn enter(
    text: &str,
    hooks: &Hooks,
    client: &str,
    command: &str,
) -> Result<Option<Entered>, SettingsError> {
    enter_events(text, hooks, client, command, &mut hooks.events())
}

/// Returns the same with an entry for commands of files that are typed.
pub(super) fn enter_with_typed(
    text: &str,
    hooks: &Hooks,
    client: &str,
    command: &str,
) -> Result<Option<Entered>, SettingsError> {
    enter_events(text, hooks, client, command, &mut hooks.all_events())
}

fn enter_events(
    text: &str,
    hooks: &Hooks,
    client: &str,
    command: &str,
    events: &mut dyn Iterator<Item = (&'static str, &'static str)>,
) -> Result<Option<Entered>, SettingsError> {
    let root = parse(text)?;
    let mut made = Made::default();
    let mut is_changed = false;
    for (event, word) in events {
        let command = format!("{command} {word}");
        alone(&root, event)?;
        let mut ours = ours_in(&root, event, client)?;
        if let Some(last) = ours.pop() {
            if last.command.decoded_value().as_deref() != Ok(command.as_str()) {
                last.command.set_raw_value(json_text(&command));
                is_changed = true;
            }
            if let Some((key, value)) = on_failure(hooks, event)
                && last.handler.get(key).is_none()
            {
                let value = CstInputValue::String(value.to_owned());
                last.handler.append(key, value);
                is_changed = true;
            }
            // Further entries have an earlier path of the program, or would be called twice.
            is_changed |= !ours.is_empty();
            ours.into_iter().for_each(Ours::remove);
            continue;
        }
        let settings = root
            .object_value_or_create()
            .ok_or(SettingsError::NotAnObject)?;
        made.hooks |= settings.get("hooks").is_none();
        let all = settings
            .object_value_or_create("hooks")
            .ok_or_else(|| not("hooks", "an object"))?;
        if all.get(event).is_none() {
            made.events.push(event.to_owned());
        }
        let groups = all
            .array_value_or_create(event)
            .ok_or_else(|| not(&format!("hooks.{event}"), "a list"))?;
        groups.append(group(hooks, event, &command));
        is_changed = true;
    }
    let text = || printed(text, &root);
    Ok(is_changed.then(|| Entered { text: text(), made }))
}

/// Returns the settings without any entry of ours; `None` if there is none.
///
/// Empty containers are removed too, if they are among `made`.
pub(super) fn take_out(
    text: &str,
    hooks: &Hooks,
    client: &str,
    made: &Made,
) -> Result<Option<String>, SettingsError> {
    let root = parse(text)?;
    let mut is_there = false;
    for (event, _) in hooks.all_events() {
        for entry in ours_in(&root, event, client)? {
            is_there = true;
            entry.remove();
        }
    }
    if !is_there {
        return Ok(None);
    }
    let settings = root.object_value().ok_or(SettingsError::NotAnObject)?;
    if let Some(all) = settings.object_value("hooks") {
        for event in &made.events {
            let groups = all.array_value(event);
            if groups.is_some_and(|groups| groups.elements().is_empty()) {
                remove(&all, event);
            }
        }
        if made.hooks && all.properties().is_empty() {
            remove(&settings, "hooks");
        }
    }
    Ok(Some(printed(text, &root)))
}

/// The commands of ours that are registered there for an event.
pub(super) fn commands(
    text: &str,
    event: &str,
    client: &str,
) -> Result<Vec<String>, SettingsError> {
    let ours = ours_in(&parse(text)?, event, client)?;
    let commands = ours.iter().map(|entry| entry.command.decoded_value());
    Ok(commands.filter_map(Result::ok).collect())
}

/// Returns the places of our entries for an event: the index of the group, and of the command in
/// it.
pub(super) fn standing(
    text: &str,
    event: &str,
    client: &str,
) -> Result<Vec<(usize, usize)>, SettingsError> {
    let ours = ours_in(&parse(text)?, event, client)?;
    Ok(ours.iter().map(|entry| entry.at).collect())
}

/// An entry of ours, with its place.
struct Ours {
    at: (usize, usize),
    group: CstObject,
    commands: CstArray,
    handler: CstObject,
    command: CstStringLit,
}

impl Ours {
    /// Removes it, and its group if nothing else is in it.
    fn remove(self) {
        if self.commands.elements().len() == 1 {
            self.group.remove();
        } else {
            self.handler.remove();
        }
    }
}

fn ours_in(root: &CstRootNode, event: &str, client: &str) -> Result<Vec<Ours>, SettingsError> {
    let Some(value) = root.value() else {
        return Ok(Vec::new());
    };
    let settings = value.as_object().ok_or(SettingsError::NotAnObject)?;
    let mut ours = Vec::new();
    // Also in duplicate keys: a client ignores one of them.
    for hooks in every(&settings, "hooks") {
        let Some(object) = hooks.object_value() else {
            continue;
        };
        for list in every(&object, event) {
            let groups = list.value().and_then(|value| value.as_array());
            let groups = groups.iter().flat_map(CstArray::elements);
            for (at, group) in groups.enumerate() {
                let group = group.as_object();
                ours.extend(group.into_iter().flat_map(|group| {
                    let found = ours_of(&group, client).into_iter();
                    found.map(move |(within, commands, handler, command)| Ours {
                        at: (at, within),
                        group: group.clone(),
                        commands,
                        handler,
                        command,
                    })
                }));
            }
        }
    }
    Ok(ours)
}

/// The entries of ours in a group: which it is, the list, the entry, and its command.
fn ours_of(group: &CstObject, client: &str) -> Vec<(usize, CstArray, CstObject, CstStringLit)> {
    let Some(commands) = group.array_value("hooks") else {
        return Vec::new();
    };
    let handlers = commands.elements().into_iter().enumerate();
    let of = |(within, handler): (usize, CstNode)| {
        let handler = handler.as_object()?;
        let command = handler.get("command")?.value()?;
        let command = command.as_string_lit()?;
        let is_ours = is_ours(&command.decoded_value().ok()?, client);
        is_ours.then(|| (within, commands.clone(), handler, command))
    };
    handlers.filter_map(of).collect()
}

/// Fails if a key that will be written below occurs more than once.
fn alone(root: &CstRootNode, event: &str) -> Result<(), SettingsError> {
    let Some(settings) = root.object_value() else {
        return Ok(());
    };
    let twice = |key: String| Err(SettingsError::Twice { key });
    let all = every(&settings, "hooks");
    match all.as_slice() {
        [] => Ok(()),
        [one] => match one.object_value() {
            Some(object) if every(&object, event).len() > 1 => twice(format!("hooks.{event}")),
            _ => Ok(()),
        },
        _ => twice("hooks".to_owned()),
    }
}

/// Returns all properties of this name. There should be at most one.
pub(super) fn every(object: &CstObject, name: &str) -> Vec<CstObjectProp> {
    let mut properties = object.properties();
    properties.retain(|property| property.decoded_name().as_deref() == Some(name));
    properties
}

fn group(hooks: &Hooks, event: &str, command: &str) -> CstInputValue {
    let text = |text: &str| CstInputValue::String(text.to_owned());
    let mut handler = vec![
        ("type".to_owned(), text("command")),
        ("command".to_owned(), text(command)),
        (
            "timeout".to_owned(),
            CstInputValue::Number(hooks.timeout(event).to_string()),
        ),
    ];
    if let Some((key, value)) = on_failure(hooks, event) {
        handler.push((key.to_owned(), text(value)));
    }
    if hooks.names {
        handler.insert(0, ("name".to_owned(), text(NAME)));
    }
    let handlers = CstInputValue::Array(vec![CstInputValue::Object(handler)]);
    let mut group = vec![("hooks".to_owned(), handlers)];
    // Without a matcher, the hook runs for every event of that kind.
    if let Some(matcher) = hooks.matcher(event) {
        group.insert(0, ("matcher".to_owned(), text(matcher)));
    }
    CstInputValue::Object(group)
}

/// Returns what our entry for this event says of a hook that fails.
fn on_failure(hooks: &Hooks, event: &str) -> Option<(&'static str, &'static str)> {
    hooks.on_failure.filter(|_| hooks.decides(event))
}

pub(super) fn parse(text: &str) -> Result<CstRootNode, SettingsError> {
    if deepest(text) > DEEPEST {
        let reason = format!("it is nested more than {DEEPEST} levels deep");
        return Err(SettingsError::NotJson { reason });
    }
    let text = text.strip_prefix(MARK).unwrap_or(text);
    CstRootNode::parse(text, &ParseOptions::default()).map_err(|error| SettingsError::NotJson {
        reason: error.to_string(),
    })
}

/// Returns settings as a text, with the byte order mark that they had before.
pub(super) fn printed(before: &str, root: &CstRootNode) -> String {
    let mark = if before.starts_with(MARK) { MARK } else { "" };
    format!("{mark}{root}")
}

/// Returns the nesting depth of a text at most; brackets in its strings and comments count as well.
fn deepest(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for byte in text.bytes() {
        match byte {
            b'{' | b'[' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// Returns settings as a value; `None` if they cannot be read or are empty.
pub(super) fn value(text: &str) -> Option<serde_json::Value> {
    parse(text).ok()?.to_serde_value()
}

/// Whether two texts of settings say the same, however they are laid out.
pub(super) fn says_the_same(one: &str, other: &str) -> bool {
    let value = |text: &str| parse(text).ok().map(|root| root.to_serde_value());
    value(one).is_some_and(|one| value(other) == Some(one))
}

pub(super) fn remove(object: &CstObject, key: &str) {
    if let Some(property) = object.get(key) {
        property.remove();
    }
}

pub(super) fn not(key: &str, expected: &'static str) -> SettingsError {
    SettingsError::Shape {
        key: key.to_owned(),
        expected,
    }
}

fn json_text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests;
