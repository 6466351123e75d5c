//! What Codex notes of hooks that a person has trusted.
//!
//! It passes any other hook over in silence. The note is a table of its settings for each hook, by
//! the file, the event and the places in its lists, with a hash of what was trusted. How that hash is
//! made is Codex's own affair: what is told here is that somebody has looked, not at what.

use std::path::Path;

/// What follows the key of a trusted hook.
const TRUSTED: &str = "trusted_hash";

/// Whether the settings say that the hook at these places of an event's lists is trusted.
pub(crate) fn is_trusted(
    settings: &str,
    hooks: &Path,
    (event, group, handler): (&str, usize, usize),
) -> bool {
    let event = in_a_key(event);
    let key = format!("{}:{event}:{group}:{handler}", hooks.display());
    // As a TOML string writes it, between either kind of quotes.
    let escaped = key.replace('\\', r"\\").replace('"', "\\\"");
    [(key, '\''), (escaped, '"')].iter().any(|(key, quote)| {
        let named = format!("{quote}{key}{quote}");
        settings.match_indices(&named).any(|(at, _)| {
            let behind = &settings[at + named.len()..];
            // Up to the next table.
            let end = behind.find("\n[").unwrap_or(behind.len());
            behind[..end].contains(TRUSTED)
        })
    })
}

/// Whether the settings say that a person has trusted the project that has one of these roots. Settings that cannot be
/// read say nothing against it.
pub(crate) fn trusts_project(settings: &str, roots: &[&Path]) -> bool {
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

/// How an event's name stands in a key: `PreToolUse` as `pre_tool_use`.
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

/// Whether the settings name hooks of their own, beside those in their own file.
pub(crate) fn names_hooks(settings: &str) -> bool {
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

    /// CAKE-ADP-1: a hook is trusted where a person has trusted that one, and not another.
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
            assert_eq!(is_trusted(settings, hooks, place), trusted, "{place:?}");
        }
        assert!(!names_hooks(settings));
        assert!(names_hooks("a = 1\n [[hooks.PreToolUse]]\n"));
    }
}
