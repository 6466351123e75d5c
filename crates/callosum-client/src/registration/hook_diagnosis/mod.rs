//! [`HookIssue`]: a reason why a client may not call the hook, although our entry is in its settings.
//!
//! Each client has switches of its own that turn hooks off, and an entry can be limited to some
//! tools, or to none. Pure: callers pass the texts of settings. Codex's are TOML, and only searched
//! for these switches.

mod trusted_folders;

use std::{fmt, path::Path};

use callosum_executor::client::{Hooks, TimeUnit};
use jsonc_parser::cst::{CstArray, CstNode, CstObject, CstObjectProp};

pub(crate) use self::trusted_folders::{claude_trusts, gemini_trusts};
use super::hook_entry::{every, is_ours, parse};

/// The least that a client must wait for a hook, in seconds: it answers within four.
const LEAST_WAIT: f64 = 5.0;

/// Matchers that every tool fits.
const EVERY: [&str; 6] = ["", "*", ".*", "^.*$", ".+", "^.+$"];

/// A key by which a client's hooks are turned off, and the value that does it.
type Switch = (&'static [&'static str], bool);

/// Variables that determine our homes, the configuration, or the time.
const STEERING: [&str; 6] = [
    "CALLOSUM_HOME",
    "CALLOSUM_CONFIG",
    "CALLOSUM_TEST_CLOCK",
    "HOME",
    "XDG_STATE_HOME",
    "XDG_CONFIG_HOME",
];

/// The reason why a client may not call the hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookIssue {
    /// Hooks are turned off.
    Off {
        /// The key.
        key: String,
        /// Its value.
        value: bool,
    },
    /// This hook is turned off by its name or its place.
    OffByName {
        /// The key.
        key: String,
    },
    /// Only hooks of the machine's managers are run.
    ManagedOnly {
        /// The key.
        key: String,
    },
    /// A key is there twice, and clients take the last.
    Twice {
        /// The key.
        key: String,
        /// Whether our entry is in the one that is ignored.
        hides: bool,
    },
    /// It asks about some tools only.
    Narrow {
        /// The matcher of the tools.
        matcher: String,
    },
    /// It asks under a condition only.
    Conditional {
        /// The condition.
        condition: String,
    },
    /// It does not wait for the answer.
    NotWaitedFor,
    /// It goes on with the tool before an answer may come.
    Impatient {
        /// Timeout, in the client's own unit.
        timeout: String,
    },
    /// It is no command.
    NoCommand,
    /// The project has hooks run with another home, configuration or time than the user's.
    Steered {
        /// The variable.
        variable: &'static str,
    },
    /// It reads nothing of a project's that a person has not trusted there.
    ProjectNotTrusted {
        /// The project's root.
        project: String,
    },
    /// Its terminal runs no hook of the project until a person has trusted the folder.
    FolderNotTrusted {
        /// The project's root.
        project: String,
    },
}

impl HookIssue {
    /// Whether the client does not ask at all.
    pub const fn is_fatal(&self) -> bool {
        match self {
            Self::Off { .. }
            | Self::OffByName { .. }
            | Self::ManagedOnly { .. }
            | Self::NotWaitedFor
            | Self::NoCommand
            | Self::ProjectNotTrusted { .. } => true,
            Self::Twice { hides, .. } => *hides,
            Self::Narrow { .. }
            | Self::Conditional { .. }
            | Self::Impatient { .. }
            | Self::Steered { .. }
            | Self::FolderNotTrusted { .. } => false,
        }
    }

    /// Returns the remedy, for these settings.
    pub fn hint(&self, settings: &Path, client: &str) -> String {
        let settings = settings.display();
        match self {
            Self::Off { key, value } => format!("set `{key}` to {} in {settings}", !value),
            Self::OffByName { key } => format!("remove it from `{key}` in {settings}"),
            Self::ManagedOnly { .. } => {
                format!("ask the administrator of this machine to add the hook to {settings}")
            }
            Self::ProjectNotTrusted { project } => format!(
                "start {client} once in a terminal in {project}, then trust that folder and the hook"
            ),
            Self::FolderNotTrusted { project } => {
                format!("start {client} once in a terminal in {project} and trust that folder")
            }
            Self::Steered { variable } => format!("remove `{variable}` from {settings}"),
            Self::Twice { key, .. } => format!("merge both `{key}` entries in {settings}"),
            Self::Narrow { .. }
            | Self::Conditional { .. }
            | Self::NotWaitedFor
            | Self::Impatient { .. }
            | Self::NoCommand => {
                format!("callosum uninstall --client {client} && callosum init --client {client}")
            }
        }
    }
}

impl fmt::Display for HookIssue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off { key, value } => write!(f, "`{key}` is {value}, which turns all hooks off"),
            Self::OffByName { key } => write!(f, "`{key}` turns this hook off"),
            Self::ManagedOnly { key } => {
                write!(
                    f,
                    "`{key}` ignores all hooks except those in managed settings"
                )
            }
            Self::ProjectNotTrusted { project } => write!(
                f,
                "`projects.\"{project}\".trust_level` is not \"trusted\", so all settings of this project \
                 are ignored"
            ),
            Self::FolderNotTrusted { project } => write!(
                f,
                "{project} is not trusted, so the project's settings are ignored until a person trusts it"
            ),
            Self::Twice { key, hides: true } => write!(
                f,
                "`{key}` occurs twice; only the last one counts, and the hook is in the other"
            ),
            Self::Twice { key, hides: false } => {
                write!(f, "`{key}` occurs twice; only the last one counts")
            }
            Self::Narrow { matcher } => {
                write!(
                    f,
                    "it checks only tools that match `{matcher}`; all others run unchecked"
                )
            }
            Self::Conditional { condition } => {
                write!(
                    f,
                    "it checks only if `{condition}` is true; everything else runs unchecked"
                )
            }
            Self::Steered { variable } => write!(
                f,
                "the project sets `{variable}`, so its hooks use a different configuration than yours"
            ),
            Self::NotWaitedFor => {
                f.write_str("the entry sets `async`, so the client does not wait for an answer")
            }
            Self::Impatient { timeout } => write!(
                f,
                "the entry sets `timeout` to {timeout}, after which the tool runs unchecked"
            ),
            Self::NoCommand => f.write_str("the entry has a `type` other than `command`"),
        }
    }
}

/// By what this client turns hooks off.
fn switches(client: &str) -> &'static [Switch] {
    match client {
        "claude" => &[(&["disableAllHooks"], true)],
        // The second in versions before that had the first.
        "qwen" => &[
            (&["disableAllHooks"], true),
            (&["hooksConfig", "enabled"], false),
        ],
        "gemini" => &[
            (&["hooksConfig", "enabled"], false),
            (&["tools", "enableHooks"], false),
        ],
        _ => &[],
    }
}

/// Returns the doubts that a client's switches raise, over its settings from highest precedence to
/// lowest: for each doubt, the index of its text. Settings that cannot be read are ignored.
pub(super) fn of_switches(client: &str, settings: &[String]) -> Vec<(usize, HookIssue)> {
    if client == "codex" {
        let values = settings.iter().enumerate();
        let mut values = values.filter_map(|(at, text)| Some((at, features_hooks(text)?)));
        let off = values.next().filter(|(_, is_on)| !is_on);
        let doubt = |(at, value)| {
            let key = "features.hooks".to_owned();
            (at, HookIssue::Off { key, value })
        };
        return off.map(doubt).into_iter().collect();
    }
    let parsed: Vec<Option<CstObject>> = settings
        .iter()
        .map(|text| parse(text).ok()?.object_value())
        .collect();
    let objects = || {
        let parsed = parsed.iter().enumerate();
        parsed.filter_map(|(at, object)| Some((at, object.as_ref()?)))
    };
    let mut doubts = Vec::new();
    for (path, off) in switches(client) {
        let mut values = objects().filter_map(|(at, object)| {
            let value = value_at(object, path)?.as_boolean_lit()?.value();
            Some((at, value))
        });
        if let Some((at, value)) = values.next().filter(|(_, value)| value == off) {
            let key = path.join(".");
            doubts.push((at, HookIssue::Off { key, value }));
        }
    }
    for (at, object) in objects() {
        let managed = "allowManagedHooksOnly";
        let holds = value_at(object, &[managed]).and_then(|value| value.as_boolean_lit());
        if client == "claude" && holds.is_some_and(|holds| holds.value()) {
            let key = managed.to_owned();
            doubts.push((at, HookIssue::ManagedOnly { key }));
        }
        let disabled = value_at(object, &["hooksConfig", "disabled"]);
        let disabled = disabled.and_then(|value| value.as_array());
        let names = disabled.iter().flat_map(CstArray::elements);
        let mut names = names.filter_map(|name| name.as_string_lit()?.decoded_value().ok());
        if client == "gemini" && names.any(|name| name == "callosum" || is_ours(&name, client)) {
            let key = "hooksConfig.disabled".to_owned();
            doubts.push((at, HookIssue::OffByName { key }));
        }
    }
    doubts
}

/// Returns the variables of ours that a project sets for hooks: in the `env` of a client's settings
/// there, or in a file of variables that its clients read.
pub(super) fn of_variables(text: &str) -> Vec<HookIssue> {
    let settings = parse(text).ok().and_then(|root| root.object_value());
    let sets = |variable: &str| match &settings {
        Some(settings) => value_at(settings, &["env", variable]).is_some(),
        None => text.lines().any(|line| {
            let line = line.trim_start();
            let line = line.strip_prefix("export ").unwrap_or(line).trim_start();
            let rest = line.strip_prefix(variable);
            rest.is_some_and(|rest| rest.trim_start().starts_with('='))
        }),
    };
    let set = STEERING.into_iter().filter(|variable| sets(variable));
    set.map(|variable| HookIssue::Steered { variable })
        .collect()
}

/// Returns the doubts about our entries in a text of settings. A text that cannot be read has none
/// of our entries.
pub(super) fn of_entries(client: &str, hooks: &Hooks, text: &str) -> Vec<HookIssue> {
    let Ok(root) = parse(text) else {
        return Vec::new();
    };
    let Some(settings) = root.object_value() else {
        return Vec::new();
    };
    let (all, event) = (every(&settings, "hooks"), hooks.before_tool);
    let mut twice: Vec<(String, bool)> = Vec::new();
    if all.len() > 1 {
        twice.push(("hooks".to_owned(), false));
    }
    let mut doubts = Vec::new();
    for (nth, property) in all.iter().enumerate() {
        let Some(object) = property.object_value() else {
            continue;
        };
        let lists = every(&object, event);
        let key = format!("hooks.{event}");
        if lists.len() > 1 && !twice.iter().any(|(known, _)| *known == key) {
            twice.push((key.clone(), false));
        }
        for (at, list) in lists.iter().enumerate() {
            let groups = list.value().and_then(|value| value.as_array());
            let groups = groups.iter().flat_map(CstArray::elements);
            for group in groups.filter_map(|group| group.as_object()) {
                let handlers = group.array_value("hooks");
                let handlers = handlers.iter().flat_map(CstArray::elements);
                for handler in handlers.filter_map(|handler| handler.as_object()) {
                    let command = text_of(&handler, "command").unwrap_or_default();
                    if !is_ours(&command, client) {
                        continue;
                    }
                    for (twice, hides) in &mut twice {
                        *hides |= twice == "hooks" && nth + 1 < all.len();
                        *hides |= *twice == key && at + 1 < lists.len();
                    }
                    doubts.extend(of_entry(hooks, &group, &handler));
                }
            }
        }
    }
    let twice = twice.into_iter();
    doubts.extend(twice.map(|(key, hides)| HookIssue::Twice { key, hides }));
    doubts
}

fn of_entry(hooks: &Hooks, group: &CstObject, handler: &CstObject) -> Vec<HookIssue> {
    let mut doubts = Vec::new();
    let matcher = text_of(group, "matcher").unwrap_or_default();
    if !EVERY.contains(&matcher.as_str()) {
        doubts.push(HookIssue::Narrow { matcher });
    }
    if let Some(condition) = text_of(handler, "if") {
        doubts.push(HookIssue::Conditional { condition });
    }
    if text_of(handler, "type").is_some_and(|kind| kind != "command") {
        doubts.push(HookIssue::NoCommand);
    }
    let value = |name: &str| last(handler, name).and_then(|property| property.value());
    let is_async = value("async").and_then(|value| value.as_boolean_lit());
    if is_async.is_some_and(|is_async| is_async.value()) {
        doubts.push(HookIssue::NotWaitedFor);
    }
    if let Some(timeout) = value("timeout").and_then(|value| value.as_number_lit()) {
        let timeout = timeout.to_string();
        let unit = match hooks.time_unit {
            TimeUnit::Seconds => 1.0,
            TimeUnit::Milliseconds => 1000.0,
        };
        let waits = timeout.parse::<f64>().map(|timeout| timeout / unit);
        if waits.is_ok_and(|seconds| seconds < LEAST_WAIT) {
            doubts.push(HookIssue::Impatient { timeout });
        }
    }
    doubts
}

/// Whether Codex's settings turn this hook off, which they note next to its trust.
pub(super) fn is_off_in_codex(settings: &str, hooks: &Path, place: (usize, usize)) -> bool {
    let key = format!("{}:pre_tool_use:{}:{}", hooks.display(), place.0, place.1);
    let mut within = false;
    for line in settings.lines().map(str::trim) {
        if line.starts_with('[') {
            within = line.starts_with("[hooks.state.") && line.contains(&key);
        } else if within && is_set(line, &["enabled"]) == Some(false) {
            return true;
        }
    }
    false
}

/// Returns whether Codex's settings turn the hooks feature on, if they set it.
fn features_hooks(settings: &str) -> Option<bool> {
    let mut table = "";
    let mut is_on = None;
    for line in settings.lines().map(str::trim) {
        if line.starts_with('[') {
            table = line.trim_matches(['[', ']', ' ']);
            continue;
        }
        let here = match table {
            "features" => is_set(line, &["hooks", "codex_hooks"]),
            "" => is_set(line, &["features.hooks", "features.codex_hooks"]).or_else(|| {
                let inline = line.strip_prefix("features")?.trim_start();
                let inline = inline.strip_prefix('=')?.trim().trim_matches(['{', '}']);
                let mut pairs = inline.split(',');
                pairs.find_map(|pair| is_set(pair.trim(), &["hooks", "codex_hooks"]))
            }),
            _ => None,
        };
        is_on = here.or(is_on);
    }
    is_on
}

/// Returns the value of one of these keys in a line of TOML, if it is a boolean.
fn is_set(line: &str, keys: &[&str]) -> Option<bool> {
    let (key, value) = line.split_once('=')?;
    let key = key.trim().replace(['"', '\''], "");
    if !keys.contains(&key.as_str()) {
        return None;
    }
    let value = value.split('#').next().unwrap_or_default().trim();
    value.parse().ok()
}

fn value_at(object: &CstObject, path: &[&str]) -> Option<CstNode> {
    let (name, rest) = path.split_first()?;
    let property = last(object, name)?;
    if rest.is_empty() {
        return property.value();
    }
    value_at(&property.object_value()?, rest)
}

fn text_of(object: &CstObject, name: &str) -> Option<String> {
    last(object, name)?
        .value()?
        .as_string_lit()?
        .decoded_value()
        .ok()
}

/// The property of this name that a client takes, of several the last.
fn last(object: &CstObject, name: &str) -> Option<CstObjectProp> {
    every(object, name).pop()
}

#[cfg(test)]
mod tests;
