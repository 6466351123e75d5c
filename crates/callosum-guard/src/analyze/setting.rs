//! Settings of git: their sources besides files, and their effect on git.

use super::{state::State, value::Arg};

/// A setting that holds for one command: its key in lower case, and its value.
pub(crate) type Setting = (String, String);

/// Under which name the state keeps what `git config` set before.
pub(super) const KEPT: &str = "git ";

/// Key for the variable `GIT_DIR`, as if it were a setting, and the setting that `GIT_WORK_TREE`
/// overrides.
const GIT_DIR: &str = "git dir";
const WORK_TREE: &str = "core.worktree";

/// The settings of a command of git: those that were set before it, its environment's, its own.
pub(super) fn settings(words: &[Arg], state: &State) -> Vec<Setting> {
    let mut all: Vec<Setting> = state
        .aliases
        .range(KEPT.to_owned()..)
        .map_while(|(name, value)| Some((name.strip_prefix(KEPT)?.to_owned(), value.clone())))
        .collect();
    let count = state
        .known("GIT_CONFIG_COUNT")
        .and_then(|count| count.parse().ok());
    for number in 0..count.unwrap_or(0usize).min(32) {
        let key = state.known(&format!("GIT_CONFIG_KEY_{number}"));
        let value = state.known(&format!("GIT_CONFIG_VALUE_{number}"));
        all.extend(key.map(|key| (lowered(key), value.unwrap_or("").to_owned())));
    }
    for (variable, key) in [("GIT_DIR", GIT_DIR), ("GIT_WORK_TREE", WORK_TREE)] {
        let given = state.get(variable).and_then(|values| values.first());
        all.extend(given.map(|value| (key.to_owned(), value.text.clone())));
    }
    // `'core.pager=x' 'a.b'='c'`
    if let Some(given) = state.known("GIT_CONFIG_PARAMETERS") {
        let given = given.replace("'='", "=");
        let pieces = given.split('\'').filter_map(|piece| piece.split_once('='));
        all.extend(pieces.map(|(key, value)| (lowered(key), value.to_owned())));
    }
    for [option, given] in words.array_windows() {
        let pair = given.text.split_once('=');
        match (option.text.as_str(), pair) {
            ("-c", Some((key, value))) => all.push((lowered(key), value.to_owned())),
            // One without a value is true.
            ("-c", None) => all.push((lowered(&given.text), "true".to_owned())),
            ("--config-env", Some((key, name))) => {
                let value = state.known(name).unwrap_or("");
                all.push((lowered(key), value.to_owned()));
            }
            _ => {}
        }
    }
    all
}

/// Returns the key and value that `git config` sets, of the words behind `config`.
pub(crate) fn set_by(words: &[Arg]) -> Option<Setting> {
    let mut operands = Vec::new();
    let mut rest = words.iter().map(|word| word.text.as_str());
    while let Some(word) = rest.next() {
        match word {
            "-f" | "--file" | "--blob" | "--type" | "--comment" | "--value" => {
                rest.next();
            }
            "--get" | "--get-all" | "--get-regexp" | "--list" | "-l" | "--unset"
            | "--unset-all" | "--get-urlmatch" => return None,
            option if option.starts_with('-') => {}
            operand => operands.push(operand),
        }
    }
    match operands.as_slice() {
        ["get" | "list" | "unset" | "edit", ..] => None,
        ["set", key, value, ..] | [key, value, ..] => Some((lowered(key), (*value).to_owned())),
        _ => None,
    }
}

/// Whether git works on another repository, or tree, than that of the folder that it is in.
pub(crate) fn is_moved(settings: &[Setting]) -> bool {
    let mut settings = settings.iter();
    settings.any(|(key, value)| matches!(key.as_str(), GIT_DIR | WORK_TREE) && !value.is_empty())
}

/// Whether git runs the value of this setting, as a shell would.
pub(crate) fn runs(key: &str) -> bool {
    matches!(
        key,
        "core.pager"
            | "core.editor"
            | "core.sshcommand"
            | "core.fsmonitor"
            | "sequence.editor"
            | "diff.external"
            | "credential.helper"
            | "core.askpass"
            | "core.alternaterefscommand"
            | "core.gitproxy"
            | "interactive.difffilter"
            | "uploadpack.packobjectshook"
    ) || key.starts_with("pager.")
        || key.starts_with("filter.")
        || key.starts_with("credential.") && key.ends_with(".helper")
        || key.starts_with("gpg.") && key.ends_with("program")
        || [".textconv", ".cmd", ".driver", ".command"]
            .iter()
            .any(|end| key.ends_with(end))
}

/// Whether git takes further settings, hooks or programs from where this setting says.
pub(crate) fn loads(key: &str, value: &str) -> bool {
    match key {
        "core.hookspath" | "init.templatedir" | "include.path" => {
            !matches!(value, "" | "/dev/null")
        }
        "protocol.ext.allow" | "protocol.allow" => value == "always",
        _ => key.starts_with("includeif."),
    }
}

/// Whether git loses by this setting what it keeps otherwise, or overwrites what was pushed.
pub(crate) fn unguards(key: &str, value: &str) -> bool {
    let of_remote = match key.strip_prefix("remote.") {
        Some(rest) => rest.rsplit('.').next().unwrap_or(""),
        None => "",
    };
    match key {
        "clean.requireforce" => is_false(value),
        "gc.pruneexpire" | "gc.reflogexpire" | "gc.reflogexpireunreachable" => {
            matches!(value, "now" | "all" | "0")
        }
        _ => match of_remote {
            "push" => value.starts_with(['+', ':']),
            "mirror" => !is_false(value),
            _ => false,
        },
    }
}

/// Whether a value is one of those that stand for no.
pub(crate) fn is_false(value: &str) -> bool {
    matches!(value, "false" | "no" | "off" | "0" | "")
}

fn lowered(key: &str) -> String {
    key.trim().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::{set_by, settings};
    use crate::analyze::{
        state::State,
        value::{Arg, Value},
    };

    /// CAKE-SHIM-1: a setting is known wherever git takes it from.
    #[test]
    fn settings_are_taken_from_words_and_environment() {
        let mut state = State::default();
        for (name, value) in [
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", "Clean.requireForce"),
            ("GIT_CONFIG_VALUE_0", "false"),
            ("GIT_CONFIG_PARAMETERS", "'a.b=1' 'c.d'='2'"),
        ] {
            state.set(name, Value::known(value));
        }
        let words: Vec<Arg> = "git -c e.F=3 -c g.h".split(' ').map(Arg::plain).collect();
        let found = settings(&words, &state);
        let found: Vec<String> = found
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        assert_eq!(
            found,
            [
                "clean.requireforce=false",
                "a.b=1",
                "c.d=2",
                "e.f=3",
                "g.h=true"
            ]
        );
    }

    /// CAKE-SHIM-1: a setting that `git config` sets differs from one that it reads.
    #[test]
    fn a_setting_that_is_set_differs_from_one_that_is_read() {
        let of = |line: &str| {
            let words: Vec<Arg> = line.split(' ').map(Arg::plain).collect();
            set_by(&words).map(|(key, value)| format!("{key}={value}"))
        };
        for line in [
            "A.b c",
            "--global A.b c",
            "set A.b c",
            "-f x A.b c",
            "--add A.b c",
        ] {
            assert_eq!(of(line).as_deref(), Some("a.b=c"), "{line}");
        }
        for line in [
            "a.b",
            "get a.b",
            "--get a.b c",
            "--unset a.b c",
            "-f x --list",
            "-f x a.b",
        ] {
            assert_eq!(of(line), None, "{line}");
        }
    }
}
