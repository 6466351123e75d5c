//! A careful form of a refused command runs in its place, where the user turned that on and the client obeys.

use callosum_testkit::TestEnv;
use serde_json::{Value, json};

const PUSH: &str = "git push --force origin main";
const LEASE: &str = "git push --force-with-lease origin main";

fn ask(env: &TestEnv, client: &str, command: &str, mode: &str) -> (Value, String, i32) {
    let (name, tool) = match client {
        "gemini" => ("BeforeTool", "run_shell_command"),
        "qwen" => ("PreToolUse", "run_shell_command"),
        _ => ("PreToolUse", "Bash"),
    };
    let event = json!({
        "hook_event_name": name, "session_id": "s", "cwd": env.project(), "permission_mode": mode, "tool_name": tool,
        "tool_input": {"command": command, "description": "publish"},
    });
    let hook = env.callosum().arguments(["hook", client]);
    let output = hook.input(event.to_string()).run();
    let said = serde_json::from_str(&output.stdout).unwrap_or(Value::Null);
    (said, output.stderr, output.code)
}

fn turn_on(env: &TestEnv) {
    let config = env.configuration().with_file_name("cake_config.yaml");
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    std::fs::write(config, "safety: {rewrite: true}\n").unwrap();
}

/// CAKE-ADP-2: each client that takes another input is given the careful command with the rest of its input; the record has both.
#[test]
fn each_client_is_given_the_careful_command() {
    let env = TestEnv::new();
    env.git_init_with_work();
    // A project cannot turn it on.
    env.write("cake_config.yaml", "safety: {rewrite: true}\n");
    let (said, ..) = ask(&env, "claude", PUSH, "bypassPermissions");
    assert_eq!(said["hookSpecificOutput"]["permissionDecision"], "deny");
    std::fs::remove_file(env.project().join("cake_config.yaml")).unwrap();
    turn_on(&env);
    let input = json!({"command": LEASE, "description": "publish"});
    for (client, mode, decision) in [
        ("claude", "default", "ask"),
        ("claude", "bypassPermissions", "allow"),
        ("codex", "default", "allow"),
    ] {
        let (said, stderr, code) = ask(&env, client, PUSH, mode);
        assert_eq!((stderr.as_str(), code), ("", 0), "{client}");
        let own = &said["hookSpecificOutput"];
        assert_eq!(own["updatedInput"], input, "{client}: {said}");
        assert_eq!(own["permissionDecision"], decision, "{client}: {said}");
        let note = own["additionalContext"].as_str().unwrap();
        assert!(note.contains(PUSH) && note.contains(LEASE), "{note}");
    }
    let (said, _, code) = ask(&env, "gemini", PUSH, "default");
    assert_eq!(code, 0);
    assert_eq!(said["hookSpecificOutput"]["tool_input"], input, "{said}");
    // Qwen Code was not seen to take one.
    let (_, stderr, code) = ask(&env, "qwen", PUSH, "default");
    assert!(code == 2 && stderr.contains(LEASE), "{stderr}");
    let log = env.run(["guard", "log", "--json"]).success().json();
    let rewritten: Vec<&Value> = log["decisions"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|decision| decision["rewritten_to"] == LEASE)
        .collect();
    assert_eq!(rewritten.len(), 4, "{log}");
    assert_eq!(rewritten[0]["command"], PUSH);
    assert_eq!(rewritten[0]["verdict"], "blocked");
}

/// CAKE-ADP-2: what is more than one plain command, or has no careful form, is refused as before.
#[test]
fn what_has_no_careful_form_is_refused() {
    let env = TestEnv::new();
    env.git_init_with_work();
    turn_on(&env);
    for command in [
        "cd . && git push --force origin main",
        "git push --force origin \"$(cat branch)\"",
        "rm -rf /",
        "git reset --hard",
    ] {
        let (said, ..) = ask(&env, "claude", command, "bypassPermissions");
        let own = &said["hookSpecificOutput"];
        assert_eq!(own["permissionDecision"], "deny", "{command}: {said}");
        assert!(own.get("updatedInput").is_none(), "{command}: {said}");
    }
}
