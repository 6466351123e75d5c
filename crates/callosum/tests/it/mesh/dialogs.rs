//! Dialogs of clients, as their hooks report them for `mesh panes`.

use std::fs;

use callosum_testkit::TestEnv;
use serde_json::{Value, json};

use crate::neighbours::{CLIENTS, tell};

/// The state that is noted of the only session.
fn noted(env: &TestEnv) -> Option<Value> {
    let folder = env.machine_home().join("hook-events");
    let mut files = fs::read_dir(folder).ok()?;
    let file = files.next()?.unwrap().path();
    assert!(files.next().is_none());
    Some(serde_json::from_str(&env.read(file)).unwrap())
}

/// CALC-L4-1: a client that asks a person is blocked, and works again once its tool has run.
#[test]
fn a_dialog_that_a_hook_reports_is_a_state() {
    for (client, _, begin, after_tool) in CLIENTS {
        let env = TestEnv::new();
        let begin: Value = serde_json::from_str(begin).unwrap();
        let event = |name: &str, more: Value| {
            let mut event = json!({"session_id": begin["session_id"], "hook_event_name": name});
            event
                .as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            event.to_string()
        };
        let command = json!({"tool_name": "Bash", "tool_input": {"command": "touch yy"}});
        let tool = json!({"tool_name": "mcp__x__y", "tool_input": {}});
        let kind = if client == "gemini" {
            "ToolPermission"
        } else {
            "permission_prompt"
        };
        for (word, name, more) in [
            ("permission-request", "PermissionRequest", command),
            ("permission-request", "PermissionRequest", tool),
            (
                "notification",
                "Notification",
                json!({"notification_type": kind}),
            ),
        ] {
            tell(&env, client, word, &event(name, more));
            let state = noted(&env).unwrap();
            assert_eq!(state["state"], "BLOCKED_ON_APPROVAL", "{client} {word}");
            assert_eq!(state["event"], name);
            let mut after: Value = serde_json::from_str(after_tool).unwrap();
            after["session_id"] = begin["session_id"].clone();
            tell(&env, client, "post-tool-use", &after.to_string());
            assert_eq!(noted(&env).unwrap()["state"], "WORKING", "{client} {word}");
        }
        // Any other notification says nothing about the state.
        let idle = json!({"notification_type": "idle_prompt"});
        tell(&env, client, "notification", &event("Notification", idle));
        assert_eq!(noted(&env).unwrap()["state"], "WORKING", "{client}");
    }
}

/// CALC-L4-1: a command that the guard denies asks nobody.
#[test]
fn a_denied_request_is_no_dialog() {
    let env = TestEnv::new();
    let event = json!({"session_id": "s", "hook_event_name": "PermissionRequest", "tool_name": "Bash",
        "tool_input": {"command": "rm -rf /"}});
    tell(&env, "codex", "permission-request", &event.to_string());
    assert_eq!(noted(&env), None);
}
