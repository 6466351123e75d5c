//! Codex's notes of hooks that a person has trusted.
//!
//! Codex silently ignores any other hook. The note is a table in its settings for each hook, by the
//! file, the event and the places in its lists, with a hash of the trusted hook. [`trust`] reads
//! it, and compares the hash with that of the hook as it is now ([`hash`]).

use std::{collections::BTreeMap, path::Path};

use callosum_json::Checksum;
use serde_json::{Value, json};

/// Name of the hash in the table of a trusted hook.
const TRUSTED: &str = "trusted_hash";

/// Codex's timeout for a hook that names none, in seconds.
const TIMEOUT: u64 = 600;

/// Events whose groups have no matcher: Codex passes over one that is there.
const UNMATCHED: [&str; 2] = ["UserPromptSubmit", "Stop"];

/// Whether a person has trusted a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// They have trusted it as it is.
    Trusted,
    /// They have trusted another hook in the same place, so that Codex passes this one over.
    Stale,
    /// They have not trusted it.
    Missing,
}

/// Returns a person's trust in the hook at these places of an event's lists, whose hash is `hash`,
/// as the settings note it. Without a hash to compare, any that is noted counts.
pub(super) fn trust(
    settings: &str,
    hooks: &Path,
    (event, group, handler): (&str, usize, usize),
    hash: Option<&str>,
) -> Trust {
    let event = in_a_key(event);
    let key = format!("{}:{event}:{group}:{handler}", hooks.display());
    // As a TOML string writes it, between either kind of quotes.
    let escaped = key.replace('\\', r"\\").replace('"', "\\\"");
    for (key, quote) in [(key, '\''), (escaped, '"')] {
        let named = format!("{quote}{key}{quote}");
        for (at, _) in settings.match_indices(&named) {
            let behind = &settings[at + named.len()..];
            // Up to the next table.
            let end = behind.find("\n[").unwrap_or(behind.len());
            let Some((_, noted)) = behind[..end].split_once(TRUSTED) else {
                continue;
            };
            let noted = noted.lines().next().unwrap_or_default();
            return match hash {
                Some(hash) if !noted.contains(hash) => Trust::Stale,
                _ => Trust::Trusted,
            };
        }
    }
    Trust::Missing
}

/// Returns the hash by which Codex knows the hook at these places: SHA-256 over the event, matcher and handler as JSON
/// without blanks and with sorted keys. So it is in 0.169.0 and 0.171.0. `None` if there is no such command.
pub(super) fn hash(hooks: &Value, (event, group, handler): (&str, usize, usize)) -> Option<String> {
    let group = hooks.get("hooks")?.get(event)?.get(group)?;
    let handler = group.get("hooks")?.get(handler)?;
    let timeout = handler.get("timeout").and_then(Value::as_u64);
    let is_async = handler.get("async").and_then(Value::as_bool);
    let mut identity = BTreeMap::from([
        ("async", json!(is_async.unwrap_or(false))),
        ("command", json!(handler.get("command")?.as_str()?)),
        ("timeout", json!(timeout.unwrap_or(TIMEOUT).max(1))),
        ("type", json!("command")),
    ]);
    for key in ["commandWindows", "statusMessage"] {
        if let Some(text) = handler.get(key).and_then(Value::as_str) {
            identity.insert(key, json!(text));
        }
    }
    let mut hashed = BTreeMap::from([
        ("event_name", json!(in_a_key(event))),
        ("hooks", json!([identity])),
    ]);
    let matcher = group.get("matcher").and_then(Value::as_str);
    if let Some(matcher) = matcher.filter(|_| !UNMATCHED.contains(&event)) {
        hashed.insert("matcher", json!(matcher));
    }
    let text = serde_json::to_vec(&hashed).ok()?;
    Some(format!("sha256:{}", Checksum::of(&text)))
}

/// Whether the settings say that a person has trusted the project that has one of these roots. Settings that cannot be
/// read say nothing against it.
pub(super) fn trusts_project(settings: &str, roots: &[&Path]) -> bool {
    let Ok(settings) = settings.parse::<toml::Table>() else {
        return true;
    };
    let projects = settings.get("projects");
    roots.iter().any(|root| {
        let project = root.to_str().and_then(|root| projects?.get(root));
        let level = project.and_then(|project| project.get("trust_level")?.as_str());
        level == Some("trusted")
    })
}

/// Returns an event's name as it is in a key: `PreToolUse` as `pre_tool_use`.
fn in_a_key(event: &str) -> String {
    let mut key = String::new();
    for letter in event.chars() {
        if letter.is_ascii_uppercase() && !key.is_empty() {
            key.push('_');
        }
        key.push(letter.to_ascii_lowercase());
    }
    key
}

/// Whether the settings name hooks of their own, in addition to those in their own file.
pub(super) fn names_hooks(settings: &str) -> bool {
    settings
        .lines()
        .any(|line| line.trim_start().starts_with("[[hooks."))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAKE-ADP-1: a project is trusted by its own root, in either form of a table, and in no other words.
    #[test]
    fn a_project_is_trusted_by_its_root() {
        let roots = ["/h/p", "/h/real"].map(Path::new);
        for (settings, trusted) in [
            ("", false),
            ("[projects.\"/h/p\"]\ntrust_level = \"trusted\"\n", true),
            ("[projects.'/h/real']\ntrust_level = 'trusted'\n", true),
            (
                "[projects]\n\"/h/p\" = { trust_level = \"trusted\" }\n",
                true,
            ),
            ("[projects.\"/h/p\"]\ntrust_level = \"untrusted\"\n", false),
            ("[projects.\"/h\"]\ntrust_level = \"trusted\"\n", false),
            ("projects = 1\n", false),
            ("not = toml = at all", true),
        ] {
            assert_eq!(trusts_project(settings, &roots), trusted, "{settings}");
        }
    }

    /// CAKE-ADP-1: a hook is trusted if a person has trusted that one, and not another.
    #[test]
    fn a_hook_is_trusted_by_its_own_key() {
        let settings = "model = \"x\"\n\n[hooks.state.\"/h/.codex/hooks.json:pre_tool_use:0:0\"]\n\
                        trusted_hash = \"sha256:1\"\n\n[hooks.state.\"/h/.codex/hooks.json:stop:1:0\"]\n\
                        trusted_hash = \"sha256:2\"\n[hooks.state.'/h/.codex/hooks.json:pre_tool_use:2:0']\n\
                        enabled = false\n[hooks.state.\"/p \\\"q\\\"/hooks.json:pre_tool_use:0:0\"]\n\
                        trusted_hash = \"sha256:3\"\n";
        let hooks = Path::new("/h/.codex/hooks.json");
        for (hooks, place, trusted) in [
            (hooks, ("PreToolUse", 0, 0), true),
            (hooks, ("PreToolUse", 1, 0), false),
            (hooks, ("Stop", 1, 0), true),
            (hooks, ("PreToolUse", 2, 0), false),
            (Path::new("/other/hooks.json"), ("PreToolUse", 0, 0), false),
            (Path::new("/p \"q\"/hooks.json"), ("PreToolUse", 0, 0), true),
        ] {
            let found = trust(settings, hooks, place, None);
            let expected = if trusted {
                Trust::Trusted
            } else {
                Trust::Missing
            };
            assert_eq!(found, expected, "{place:?}");
        }
        assert!(!names_hooks(settings));
        assert!(names_hooks("a = 1\n [[hooks.PreToolUse]]\n"));
    }

    /// CAKE-ADP-1: the hash is the one that Codex 0.171.0 prints for these hooks (`hooks/list` of its app server), and
    /// another one in its settings is stale.
    #[test]
    fn the_hash_of_a_hook_is_the_one_that_codex_computes() {
        let hooks = json!({"hooks": {
            "PreToolUse": [{"matcher": "*", "hooks": [
                {"type": "command", "command": "/opt/callosum hook codex pre-tool-use", "timeout": 10}]}],
            "SessionStart": [{"hooks": [
                {"type": "command", "command": "/opt/callosum hook codex session-start", "timeout": 10}]}],
            "UserPromptSubmit": [{"matcher": "x", "hooks": [
                {"type": "command", "command": "echo \u{e9}", "timeout": 5, "statusMessage": "hi"},
                {"type": "command", "command": "b"}]}],
            "Stop": [{"matcher": "*", "hooks": [
                {"command": "/opt/callosum hook codex stop", "timeout": 10, "async": false, "type": "command"}]}],
        }});
        for (place, expected) in [
            (
                ("PreToolUse", 0, 0),
                "df58aa9d6d3e9144bd7794f4d6362dd989135e2e1ea6b818b653a14ddcae1a5a",
            ),
            (
                ("SessionStart", 0, 0),
                "064f0cc33a996b444ec6d8234c21ea63ea48cbfabed313307d9cbc752b751c24",
            ),
            (
                ("UserPromptSubmit", 0, 0),
                "a2d98811a3ef85abd35ae578124cffd860d022f8a43d6f75fcbaec2cd80c8603",
            ),
            (
                ("UserPromptSubmit", 0, 1),
                "69824ff972468b6c8c6e1d06f9d696624894059ac0255f2fa105438ab90b261d",
            ),
            (
                ("Stop", 0, 0),
                "1042e46adfb008c640797bd4381a0dfc6517682621da129cd099ee64b41192b3",
            ),
        ] {
            let hash = hash(&hooks, place).unwrap();
            assert_eq!(hash, format!("sha256:{expected}"));
            let (event, group, handler) = place;
            let key = format!("/h/hooks.json:{}:{group}:{handler}", in_a_key(event));
            for (noted, trusted) in [
                (hash.as_str(), Trust::Trusted),
                ("sha256:00", Trust::Stale),
                ("", Trust::Stale),
            ] {
                let settings = format!("[hooks.state.\"{key}\"]\ntrusted_hash = \"{noted}\"\n");
                let found = trust(&settings, Path::new("/h/hooks.json"), place, Some(&hash));
                assert_eq!(found, trusted, "{settings}");
            }
        }
        assert_eq!(hash(&hooks, ("PreToolUse", 1, 0)), None);
    }
}
