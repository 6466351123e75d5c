//! Settings as people write them, with our entry put in and taken out again.

use callosum_executor::{client::Client, output_format::Dialect};
use proptest::prelude::*;

use super::*;

const COMMAND: &str = "/opt/callosum hook claude";

/// The command in the settings for the event before a tool.
const BEFORE_TOOL: &str = "/opt/callosum hook claude pre-tool-use";

fn claude() -> Hooks {
    Client::of(Dialect::Claude).unwrap().hooks.unwrap()
}

fn entered(text: &str) -> Entered {
    enter(text, &claude(), "claude", COMMAND).unwrap().unwrap()
}

fn taken_out(text: &str, made: &Made) -> String {
    let text = take_out(text, &claude(), "claude", made).unwrap();
    text.unwrap()
}

#[test]
fn settings_that_are_not_there_yet_hold_our_entries_alone() {
    let begins = "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n        \"matcher\": \"*\",\n        \
         \"hooks\": [\n          {\n            \"type\": \"command\",\n            \"command\": \
         \"/opt/callosum hook claude pre-tool-use\",\n            \"timeout\": 10,\n            \
         \"onFailure\": \"block\"\n          }\n        \
         ]\n      }\n    ],\n";
    for empty in ["", "\n"] {
        let text = entered(empty).text;
        assert!(text.starts_with(begins), "{text}");
        let settings: serde_json::Value = serde_json::from_str(&text).unwrap();
        let hooks = settings["hooks"].as_object().unwrap();
        let events: Vec<_> = claude().events().map(|(event, _)| event).collect();
        assert_eq!(hooks.keys().collect::<Vec<_>>(), events);
        let handler = serde_json::json!({"type": "command", "timeout": 10,
            "command": "/opt/callosum hook claude session-start"});
        assert_eq!(
            hooks["SessionStart"],
            serde_json::json!([{"hooks": [handler]}])
        );
    }
}

#[test]
fn a_client_that_names_its_hooks_and_counts_milliseconds_gets_both() {
    let gemini = Client::of(Dialect::Gemini).unwrap().hooks.unwrap();
    let entered = enter("{}", &gemini, "gemini", "callosum hook gemini");
    let text = entered.unwrap().unwrap().text;
    let settings: serde_json::Value = serde_json::from_str(&text).unwrap();
    let handler = &settings["hooks"]["BeforeTool"][0]["hooks"][0];
    assert_eq!(handler["name"], "callosum");
    assert_eq!(handler["timeout"], 10_000);
}

/// CAKE-ADP-1: a client with a lower maximum timeout at an event, which rejects higher ones, gets
/// no more than that.
#[test]
fn a_client_with_a_shorter_timeout_at_an_event_gets_no_more() {
    let codex = Client::of(Dialect::Codex).unwrap().hooks.unwrap();
    let entered = enter("{}", &codex, "codex", "callosum hook codex");
    let text = entered.unwrap().unwrap().text;
    let settings: serde_json::Value = serde_json::from_str(&text).unwrap();
    let timeout = |event: &str| settings["hooks"][event][0]["hooks"][0]["timeout"].clone();
    assert_eq!(timeout("SessionEnd"), 3);
    assert_eq!(timeout("PreToolUse"), 10);
}

/// Settings written by people: comments, tabs, odd spacing, other hooks, no line feed at the end.
const WRITTEN: [&str; 9] = [
    "{}",
    "{ }\n",
    "{\n  // mine\n  \"model\": \"opus\", /* why not */\n\t\"permissions\": {\"allow\": [\"Bash(ls:*)\"]}\n}\n",
    "{\n\t\"z\": 1,\n\t\"a\": 1.50e3\n}",
    "{\r\n  \"a\": true\r\n}\r\n",
    "{\"a\":{\"b\":[1,2,{\"c\":null}]}}",
    "{\n    \"hooks\": {\n        \"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"bell\"}]}]\n    }\n}\n",
    "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n        \"matcher\": \"Bash\",\n        \"hooks\": [\n          { \"type\": \"command\", \"command\": \"other-guard\" }\n        ]\n      }\n    ]\n  },\n  \"b\": \"é\\u00e9 \\\"q\\\"\"\n}\n",
    "{\n  \"hooks\": {},\n  \"list\": [\n    1,\n    2\n  ]\n}\n",
];

/// CAKE-ADP-1: what is put in is taken out, and everything else is left, to the byte.
#[test]
fn foreign_settings_stay_byte_for_byte() {
    for before in WRITTEN {
        let Entered { text, made } = entered(before);
        for line in before.lines().map(str::trim).filter(|line| line.len() > 2) {
            // An object on one line gets more of them.
            let kept = line.trim_end_matches(&['{', '}', '[', ']', ' ', ','][..]);
            let kept = kept.trim_start_matches('{');
            assert!(text.contains(kept), "{line} in\n{text}");
        }
        assert_eq!(
            commands(&text, "PreToolUse", "claude"),
            Ok(vec![BEFORE_TOOL.to_owned()])
        );
        let again = enter(&text, &claude(), "claude", COMMAND);
        assert_eq!(again, Ok(None), "idempotent");
        let after = taken_out(&text, &made);
        let values = |text: &str| {
            CstRootNode::parse(text, &ParseOptions::default()).map(|root| root.to_serde_value())
        };
        assert_eq!(values(&after).unwrap(), values(before).unwrap());
        assert_eq!(take_out(&after, &claude(), "claude", &made), Ok(None));
    }
}

/// CAKE-ADP-1: concurrent additions of others stay.
#[test]
fn only_our_entry_is_taken_out() {
    let Entered { text, made } = entered("{}");
    let beside = text.replace(
        "\"timeout\": 10\n          }",
        "\"timeout\": 10\n          },\n          {\"type\": \"command\", \"command\": \"other\"}",
    );
    assert_ne!(beside, text);
    let after = taken_out(&beside, &made);
    assert!(after.contains("\"other\""), "{after}");
    assert!(!after.contains("callosum"), "{after}");
    // Lists that were there before stay, empty as they were.
    let listed = "{\"hooks\": {\"PreToolUse\": []}}";
    let Entered { text, made } = entered(listed);
    assert!(!made.hooks && !made.events.contains(&"PreToolUse".to_owned()));
    assert_eq!(
        taken_out(&text, &made).replace([' ', '\n'], ""),
        listed.replace(' ', "")
    );
}

#[test]
fn an_entry_of_another_place_of_ours_is_made_this_one() {
    let elsewhere = entered("{}").text.replace("/opt/", "/usr/local/bin/");
    let Entered { text, .. } = entered(&elsewhere);
    assert_eq!(
        commands(&text, "PreToolUse", "claude"),
        Ok(vec![BEFORE_TOOL.to_owned()])
    );
}

#[test]
fn what_is_ours_is_known_by_its_words() {
    for (command, ours) in [
        (BEFORE_TOOL, true),
        ("'/my tools/callosum' hook claude PreToolUse", true),
        ("callosum hook codex pre-tool-use", false),
        ("/opt/cal-0.1.0 hook claude pre-tool-use", true),
        ("'/my tools/cal' hook claude pre-skill-shell-command", true),
        ("/opt/cal hook claude PreToolUse", false),
        ("/opt/cal hook codex session-end", false),
        ("/opt/cal hooks claude stop", false),
        ("callosum hook claude", false),
        ("echo callosum hook claude pre-tool-use", false),
        ("callosum hook claude pre-tool-use && other", false),
        ("'unfinished", false),
    ] {
        assert_eq!(is_ours(command, "claude"), ours, "{command}");
    }
    let spaced = command_of(Path::new("/my tools/callosum"), "claude").unwrap();
    assert!(is_ours(&format!("{spaced} stop"), "claude"), "{spaced}");
}

/// CAKE-ADP-1: a program of another name finds the entries that an earlier one made; one of them is
/// left.
#[test]
fn entries_of_a_renamed_program_are_made_one_and_taken_out() {
    let first = entered("{}");
    let renamed = "/opt/cal-0.2 hook claude";
    let second = enter(&first.text, &claude(), "claude", renamed)
        .unwrap()
        .unwrap();
    assert_eq!(
        commands(&second.text, "PreToolUse", "claude"),
        Ok(vec![format!("{renamed} pre-tool-use")])
    );
    // Added by a version that did not know the first entries.
    let both = second.text.replace(
        "\"PreToolUse\": [",
        "\"PreToolUse\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"/a/b hook claude pre-tool-use\"}]},",
    );
    let merged = enter(&both, &claude(), "claude", COMMAND).unwrap().unwrap();
    for (event, word) in claude().events() {
        let found = commands(&merged.text, event, "claude").unwrap();
        assert_eq!(found, [format!("{COMMAND} {word}")]);
    }
    let after = taken_out(&both, &first.made);
    assert_eq!(after.replace([' ', '\n'], ""), "{}");
}

/// CAKE-ADP-1: an entry from before the client could stop a tool for a hook that fails is brought up to date; what a person
/// has set stays.
#[test]
fn an_older_entry_gets_what_stops_the_tool_when_the_hook_fails() {
    let text = entered("{}").text;
    let older = text.replace(",\n            \"onFailure\": \"block\"", "");
    assert!(!older.contains("onFailure"), "{older}");
    let value = |text: &str| -> serde_json::Value { serde_json::from_str(text).unwrap() };
    assert_eq!(value(&entered(&older).text), value(&text));
    assert_eq!(
        value(&text)["hooks"]["Stop"][0]["hooks"][0].get("onFailure"),
        None
    );
    let own = text.replace("\"onFailure\": \"block\"", "\"onFailure\": \"continue\"");
    assert_eq!(enter(&own, &claude(), "claude", COMMAND), Ok(None));
}

#[test]
fn settings_of_another_shape_are_left_alone() {
    let refused = |text: &str| enter(text, &claude(), "claude", COMMAND).unwrap_err();
    assert!(matches!(refused("{"), SettingsError::NotJson { .. }));
    assert!(matches!(
        refused(&"[".repeat(100_000)),
        SettingsError::NotJson { .. }
    ));
    assert_eq!(refused("[]"), SettingsError::NotAnObject);
    assert_eq!(
        refused("{\"hooks\": []}").to_string(),
        "`hooks` is not an object"
    );
    assert_eq!(
        refused("{\"hooks\": {\"PreToolUse\": 7}}").to_string(),
        "`hooks.PreToolUse` is not a list"
    );
}

proptest! {
    /// CAKE-ADP-1: any existing text is kept or refused.
    #[test]
    fn no_text_is_lost_or_makes_it_panic(text in "[\\[\\]{},:\" a-z0-9/*\\n]{0,60}") {
        if let Ok(Some(Entered { text: with, made })) = enter(&text, &claude(), "claude", COMMAND) {
            let after = take_out(&with, &claude(), "claude", &made).unwrap().unwrap();
            let value = |text: &str| {
                let root = CstRootNode::parse(text, &ParseOptions::default()).unwrap();
                root.to_serde_value()
            };
            let (before, after) = (value(&text), value(&after));
            prop_assert!(before == after || before.is_none(), "{:?} {:?}", before, after);
        }
    }
}
