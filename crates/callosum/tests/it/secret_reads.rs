//! `guard secrets`: reading keys and passwords is asked about or blocked, once a person has turned that on.

use callosum_testkit::{Output, TestEnv};
use serde_json::{Value, json};

fn ask(env: &TestEnv, client: &str, tool: &str, input: &Value) -> Output {
    let event = json!({"cwd": env.project(), "session_id": "s-1", "permission_mode": "default",
                       "tool_name": tool, "tool_input": input});
    let hook = env.callosum().without("CALLOSUM_TEST_IDS");
    let hook = hook.arguments(["hook", client, "pre-tool-use"]);
    hook.input(event.to_string()).run()
}

/// What the client is answered: `allow`, `ask` or `deny`.
fn answer(output: &Output) -> &'static str {
    if output.code == 2 || output.stdout.contains("\"deny\"") {
        "deny"
    } else if output.stdout.contains("\"ask\"") {
        "ask"
    } else {
        assert_eq!((output.stdout.as_str(), output.code), ("{}\n", 0));
        "allow"
    }
}

/// The readings of a secret by each client's tools and shell.
fn readings(env: &TestEnv) -> Vec<(&'static str, &'static str, Value)> {
    let file = env.project().join(".env");
    let key = env.home().join(".ssh/id_ed25519");
    vec![
        ("claude", "Read", json!({"file_path": file})),
        ("claude", "Read", json!({"file_path": key})),
        ("claude", "Grep", json!({"pattern": "KEY", "path": file})),
        ("claude", "Grep", json!({"pattern": "KEY", "glob": ".env*"})),
        ("claude", "Bash", json!({"command": "cat .env"})),
        (
            "claude",
            "Bash",
            json!({"command": "cat ~/.ssh/id_ed25519"}),
        ),
        (
            "claude",
            "mcp__files__read_text_file",
            json!({"path": file}),
        ),
        ("codex", "Bash", json!({"command": "sed -n 1,5p .env"})),
        ("gemini", "read_file", json!({"absolute_path": file})),
        (
            "gemini",
            "read_many_files",
            json!({"paths": ["src", ".env"]}),
        ),
        (
            "gemini",
            "run_shell_command",
            json!({"command": "head .env"}),
        ),
        ("qwen", "read_file", json!({"absolute_path": file})),
    ]
}

fn project() -> TestEnv {
    let env = TestEnv::new();
    env.write(".gitignore", ".env\n");
    env.write(".env.example", "KEY=\n");
    env.git_init();
    env.write(".env", "KEY=one\n");
    env
}

#[test]
fn reading_secrets_is_asked_about_only_while_that_is_on() {
    let env = project();
    let all = |expected: &dyn Fn(&str) -> &'static str| {
        for (client, tool, input) in readings(&env) {
            let output = ask(&env, client, tool, &input);
            let told = format!("{client} {tool} {input}");
            assert_eq!(answer(&output), expected(client), "{told}: {output:?}");
        }
    };
    all(&|_| "allow");
    env.run(["guard", "secrets", "on"]).success();
    // The others cannot ask.
    all(&|client| if client == "claude" { "ask" } else { "deny" });
    for (tool, input) in [
        (
            "Read",
            json!({"file_path": env.project().join(".env.example")}),
        ),
        (
            "Read",
            json!({"file_path": env.home().join(".ssh/id_ed25519.pub")}),
        ),
        (
            "Bash",
            json!({"command": "test -f .env && ssh -i ~/.ssh/id_ed25519 host"}),
        ),
    ] {
        assert_eq!(
            answer(&ask(&env, "claude", tool, &input)),
            "allow",
            "{input}"
        );
    }
    env.run(["guard", "secrets", "on", "--block"]).success();
    all(&|_| "deny");
    env.run(["guard", "secrets", "off"]).success();
    all(&|_| "allow");
}

#[test]
fn the_list_is_changed_by_a_person_and_a_project_only_adds() {
    let env = project();
    let read = |path: &str| {
        let input = json!({"file_path": env.project().join(path)});
        answer(&ask(&env, "claude", "Read", &input))
    };
    env.run(["guard", "secrets", "add", "*.key"]).ended_with(1);
    env.write(".cal_secrets", "# ours\nvault\n!.env\n");
    assert_eq!(read("vault/x"), "allow");
    env.run(["guard", "secrets", "on"]).success();
    assert_eq!((read("vault/x"), read(".env")), ("ask", "ask"));
    env.run(["guard", "secrets", "add", "*.key"]).success();
    assert_eq!(read("a.key"), "ask");
    env.run(["guard", "secrets", "remove", "*.key"]).success();
    assert_eq!(read("a.key"), "allow");
    env.run(["guard", "secrets", "remove", "*.key"])
        .ended_with(2);
    env.run(["guard", "secrets", "add", "*"]).ended_with(2);
    env.run(["guard", "secrets", "add", "!.env.ci"]).success();
    assert_eq!((read(".env.ci"), read(".env.local")), ("allow", "ask"));
    let listed = env.run(["guard", "secrets", "list", "--json"]).json();
    assert_eq!(listed["decision"], "ask");
    let patterns = listed["patterns"].as_array().unwrap();
    assert!(patterns.contains(&json!("!.env.ci")), "{listed}");
    // A list that cannot be read is no list that is off.
    let file = env.configuration().with_file_name("secret_reads.json");
    std::fs::write(&file, "{ broken").unwrap();
    assert_eq!(read(".env"), "ask");
}

#[test]
fn an_agent_cannot_change_the_list() {
    let env = project();
    env.run(["guard", "secrets", "on"]).success();
    let file = env.configuration().with_file_name("secret_reads.json");
    for (tool, input) in [
        ("Bash", json!({"command": "callosum guard secrets off"})),
        (
            "Bash",
            json!({"command": "callosum guard secrets remove '.env*'"}),
        ),
        ("Bash", json!({"command": format!("rm {}", file.display())})),
        ("Write", json!({"file_path": file, "content": "{}"})),
    ] {
        let output = ask(&env, "claude", tool, &input);
        assert_eq!(answer(&output), "deny", "{input}: {output:?}");
    }
    let input = json!({"command": "callosum guard secrets list"});
    assert_eq!(answer(&ask(&env, "claude", "Bash", &input)), "allow");
}
