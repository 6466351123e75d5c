//! Settings as people and clients leave them; some keep a hook from being called.

use callosum_executor::{client::Client, output_format::Dialect};

use super::*;

fn hooks(dialect: Dialect) -> Hooks {
    Client::of(dialect).unwrap().hooks.unwrap()
}

fn entry(matcher: &str, more: &str) -> String {
    format!(
        "{{\"matcher\": \"{matcher}\", \"hooks\": [{{\"type\": \"command\", \
         \"command\": \"/opt/callosum hook claude pre-tool-use\"{more}}}]}}"
    )
}

fn of(text: &str) -> Vec<HookIssue> {
    of_entries("claude", &hooks(Dialect::Claude), text)
}

/// CAKE-ADP-1: an entry for some tools only, or one whose answer the client does not wait for, is
/// no guard.
#[test]
fn an_entry_that_is_asked_too_seldom_is_doubted() {
    let settings = |entry: String| format!("{{\"hooks\": {{\"PreToolUse\": [{entry}]}}}}");
    for (entry, expected) in [
        (entry("*", ", \"timeout\": 10"), None),
        (entry(".*", ""), None),
        (
            entry("Bash|Write", ""),
            Some(HookIssue::Narrow {
                matcher: "Bash|Write".to_owned(),
            }),
        ),
        (
            entry("*", ", \"async\": true"),
            Some(HookIssue::NotWaitedFor),
        ),
        (entry("*", ", \"async\": false"), None),
        (
            entry("*", ", \"timeout\": 2"),
            Some(HookIssue::Impatient {
                timeout: "2".to_owned(),
            }),
        ),
        (
            entry("*", ", \"if\": \"Bash(git *)\""),
            Some(HookIssue::Conditional {
                condition: "Bash(git *)".to_owned(),
            }),
        ),
        (
            entry("*", ", \"type\": \"http\""),
            Some(HookIssue::NoCommand),
        ),
    ] {
        let found = of(&settings(entry.clone()));
        assert_eq!(found, Vec::from_iter(expected), "{entry}");
    }
    let other = settings(entry("Bash", "").replace("callosum hook", "other ask"));
    assert_eq!(of(&other), []);
    assert_eq!(of("{ broken"), []);
    let gemini = "{\"hooks\": {\"BeforeTool\": [{\"hooks\": [{\"timeout\": 900, \
                  \"command\": \"callosum hook gemini pre-tool-use\"}]}]}}";
    let found = of_entries("gemini", &hooks(Dialect::Gemini), gemini);
    let timeout = "900".to_owned();
    assert_eq!(found, [HookIssue::Impatient { timeout }]);
}

/// CAKE-ADP-1: of a key that is there twice a client takes the last.
#[test]
fn a_key_that_is_there_twice_may_hide_the_entry() {
    let ours = format!("{{\"PreToolUse\": [{}]}}", entry("*", ""));
    let twice = |key: &str, hides| {
        let key = key.to_owned();
        vec![HookIssue::Twice { key, hides }]
    };
    let text = format!("{{\"hooks\": {ours}, \"hooks\": {{}}}}");
    assert_eq!(of(&text), twice("hooks", true));
    let text = format!("{{\"hooks\": {{}}, \"hooks\": {ours}}}");
    assert_eq!(of(&text), twice("hooks", false));
    let list = entry("*", "");
    let text =
        format!("{{\"hooks\": {{\"PreToolUse\": [{list}], \"Stop\": [], \"PreToolUse\": []}}}}");
    assert_eq!(of(&text), twice("hooks.PreToolUse", true));
    assert!(of(&text)[0].is_fatal());
}

/// CAKE-ADP-1: each client's own switch is known, and the settings that count most decide.
#[test]
fn switches_of_clients_turn_all_hooks_off() {
    let off = |key: &str, value| {
        let key = key.to_owned();
        HookIssue::Off { key, value }
    };
    let all = "{\"disableAllHooks\": true}";
    let config = "{\"hooksConfig\": {\"enabled\": false}}";
    for (client, text, expected) in [
        ("claude", all, Some(off("disableAllHooks", true))),
        ("qwen", all, Some(off("disableAllHooks", true))),
        ("gemini", all, None),
        ("qwen", config, Some(off("hooksConfig.enabled", false))),
        ("gemini", config, Some(off("hooksConfig.enabled", false))),
        ("claude", config, None),
        (
            "gemini",
            "{\"tools\": {\"enableHooks\": false}}",
            Some(off("tools.enableHooks", false)),
        ),
        (
            "gemini",
            "{\"hooksConfig\": {\"disabled\": [\"other\", \"callosum\"]}}",
            Some(HookIssue::OffByName {
                key: "hooksConfig.disabled".to_owned(),
            }),
        ),
        (
            "claude",
            "{\"allowManagedHooksOnly\": true}",
            Some(HookIssue::ManagedOnly {
                key: "allowManagedHooksOnly".to_owned(),
            }),
        ),
        ("claude", "{\"disableAllHooks\": false}", None),
        (
            "codex",
            "model = \"x\"\n[features]\nhooks = false # for now\n",
            Some(off("features.hooks", false)),
        ),
        (
            "codex",
            "[features]\ncodex_hooks = false\n[x]\nhooks = true",
            Some(off("features.hooks", false)),
        ),
        (
            "codex",
            "features = { a = true, hooks = false }",
            Some(off("features.hooks", false)),
        ),
        (
            "codex",
            "features.hooks = false",
            Some(off("features.hooks", false)),
        ),
        (
            "codex",
            "[features]\nhooks = true\n[other]\nhooks = false",
            None,
        ),
        ("claude", "{ broken", None),
    ] {
        let found = of_switches(client, &[text.to_owned()]);
        let expected: Vec<_> = expected.into_iter().map(|doubt| (0, doubt)).collect();
        assert_eq!(found, expected, "{client}: {text}");
    }
    let both = ["{\"disableAllHooks\": false}", all].map(str::to_owned);
    assert_eq!(of_switches("claude", &both), []);
    let both = ["{}", all].map(str::to_owned);
    assert_eq!(of_switches("claude", &both)[0].0, 1);
}

#[test]
fn codex_notes_a_hook_that_is_turned_off() {
    let hooks = Path::new("/h/.codex/hooks.json");
    let key = "/h/.codex/hooks.json:pre_tool_use:0:0";
    let off = format!("[hooks.state.\"{key}\"]\ntrusted_hash = \"x\"\nenabled = false\n");
    assert!(is_off_in_codex(&off, hooks, (0, 0)));
    assert!(!is_off_in_codex(&off, hooks, (0, 1)));
    assert!(!is_off_in_codex(
        &off.replace("false", "true"),
        hooks,
        (0, 0)
    ));
}
