//! `guard auto-allow`: who turns it on, and what each client is answered then.

use callosum_testkit::{Output, TestEnv};
use serde_json::{Value, json};

use crate::hook::{ask, decide, event, repository};

fn auto_allow(env: &TestEnv, arguments: &[&str]) -> Output {
    let all = ["guard", "auto-allow"].iter().chain(arguments);
    env.run(all)
}

/// A project with documents, code, a file of secrets, and a link that leads out of it.
fn project() -> TestEnv {
    let env = repository();
    env.write("README.md", "# Shop\n");
    env.write("Makefile", "all:\n");
    env.write(".env", "KEY=1\n");
    let outside = env.home().join("diary.txt");
    std::fs::create_dir_all(env.home()).unwrap();
    std::fs::write(&outside, "mine\n").unwrap();
    std::os::unix::fs::symlink(&outside, env.project().join("diary.txt")).unwrap();
    std::os::unix::fs::symlink(
        env.home().join("not-there.txt"),
        env.project().join("new.txt"),
    )
    .unwrap();
    env
}

fn turn_on(env: &TestEnv) {
    auto_allow(env, &["add", "--preset", "rust"]).success();
    auto_allow(env, &["on"]).success();
}

/// The call of a shell as the client sends it.
fn call(env: &TestEnv, client: &str, command: &str) -> Value {
    match client {
        "claude" => event(
            env,
            "Bash",
            json!({"command": command, "description": "look"}),
        ),
        "codex" => event(env, "Bash", json!({"command": command})),
        "gemini" => event(
            env,
            "run_shell_command",
            json!({"command": command, "description": "look"}),
        ),
        _ => event(
            env,
            "run_shell_command",
            json!({"command": command, "description": "look", "is_background": false}),
        ),
    }
}

fn is_allowed(output: &Output) -> bool {
    assert_eq!((output.stderr.as_str(), output.code), ("", 0), "{output:?}");
    let said = &output.json()["hookSpecificOutput"];
    said["permissionDecision"] == "allow" || said["decision"]["behavior"] == "allow"
}

fn claude_allows(env: &TestEnv, command: &str) -> bool {
    is_allowed(&decide(env, "claude", &call(env, "claude", command)))
}

fn decisions(env: &TestEnv, arguments: &[&str]) -> Vec<Value> {
    let all = ["guard", "log", "--json"].iter().chain(arguments);
    let said = env.run(all).success().json();
    said["decisions"].as_array().unwrap().clone()
}

/// Off, the answer is what it was before; on, a compound line that is covered is allowed where the client obeys it.
#[test]
fn each_client_is_answered_in_the_form_that_it_obeys() {
    let env = project();
    let line = "git status --short && cargo test 2>&1 | tail -5";
    let moments = [
        ("claude", "pre-tool-use", true),
        ("claude", "permission-request", true),
        ("codex", "pre-tool-use", false),
        ("codex", "permission-request", true),
        ("gemini", "before-tool", false),
        ("qwen", "PreToolUse", false),
    ];
    for (client, moment, _) in moments {
        let output = ask(&env, client, moment, call(&env, client, line).to_string());
        assert_eq!(output.stdout, "{}\n", "{client} {moment}");
    }
    turn_on(&env);
    for (client, moment, obeys) in moments {
        let output = ask(&env, client, moment, call(&env, client, line).to_string());
        assert_eq!(is_allowed(&output), obeys, "{client} {moment}: {output:?}");
        if !obeys {
            assert_eq!(output.stdout, "{}\n", "{client} {moment}");
        }
        let output = ask(
            &env,
            client,
            moment,
            call(&env, client, "make all").to_string(),
        );
        assert_eq!(output.stdout, "{}\n", "{client} {moment}");
    }
    auto_allow(&env, &["off"]).success();
    assert!(!claude_allows(&env, line));
    let kept = auto_allow(&env, &["list", "--json"]).success().json();
    assert_eq!(kept["enabled"], false);
    assert!(
        kept["programs"]
            .as_array()
            .unwrap()
            .contains(&json!("cargo test *"))
    );
}

/// What is read and written is looked up on the disk: links lead out of the project, and patterns fit secrets.
#[test]
fn paths_are_judged_by_where_they_lead() {
    let env = project();
    turn_on(&env);
    for line in [
        "cat README.md",
        "cat *.md | wc -l",
        "cd src && cat lib.rs",
        "grep -rn one src",
        "cargo test > out.log 2>&1",
        "echo done > plan.md",
        "mkdir -p docs && touch docs/api.md",
        "git log --oneline -3",
    ] {
        assert!(claude_allows(&env, line), "{line}");
    }
    for line in [
        "cat diary.txt",
        "cat *.txt",
        "cat .e*",
        "grep -rn KEY .",
        "cat ../../etc/passwd",
        "echo x > diary.txt",
        "echo x > new.txt",
        "echo x > Makefile",
        "echo x >> README.md",
        "cd .. && ls",
        "cat README.md; rm README.md",
        "LD_PRELOAD=./x.so ls",
    ] {
        assert!(!claude_allows(&env, line), "{line}");
    }
}

/// A call that is unusual in any way goes to the client's prompt.
#[test]
fn an_unusual_call_is_left_to_the_client() {
    let env = project();
    turn_on(&env);
    let allowed = |event: &Value| is_allowed(&decide(&env, "claude", event));
    assert!(allowed(&event(
        &env,
        "Bash",
        json!({"command": "ls", "timeout": 60_000})
    )));
    assert!(allowed(&event(
        &env,
        "Bash",
        json!({"command": "ls", "run_in_background": false})
    )));
    for input in [
        json!({"command": "ls", "run_in_background": true}),
        json!({"command": "ls", "dangerouslyDisableSandbox": true}),
        json!({"command": "ls", "field_of_tomorrow": "x"}),
    ] {
        assert!(!allowed(&event(&env, "Bash", input.clone())), "{input}");
    }
    let mut planning = event(&env, "Bash", json!({"command": "ls"}));
    planning["permission_mode"] = "plan".into();
    assert!(!allowed(&planning));
    for tool in ["PowerShell", "mcp__shell__run"] {
        assert!(
            !allowed(&event(&env, tool, json!({"command": "ls"}))),
            "{tool}"
        );
    }
    let written = event(
        &env,
        "Write",
        json!({"file_path": env.project().join("x.md"), "content": "x"}),
    );
    assert!(!allowed(&written));
}

/// A project can turn it off; nothing in a project turns it on or adds to the list.
#[test]
fn a_project_can_only_turn_it_off() {
    let config = |auto_allow: bool| {
        format!(
            "version: \"1.0\"\nstrictness: balanced\nescalation:\n  max_strikes: 4\n  cooldown_minutes: 5\n  \
             human_notification: {{enabled: false}}\nperformance:\n  max_latency_ms: 300\n  max_memory_mb: 1024\n\
             safety:\n  require_confirmation: false\n  audit_all_commands: true\n  auto_allow: {auto_allow}\n"
        )
    };
    let env = project();
    env.write("cake_config.yaml", config(true));
    assert!(!claude_allows(&env, "ls"));
    turn_on(&env);
    assert!(claude_allows(&env, "ls"));
    env.write("cake_config.yaml", config(false));
    assert!(!claude_allows(&env, "ls"));
    let listed = auto_allow(&env, &["list", "--json"]).success().json();
    assert_eq!(
        (&listed["enabled"], &listed["enabled_here"]),
        (&json!(true), &json!(false))
    );
    // A configuration that cannot be read may have said so.
    env.write("cake_config.yaml", "safety: [");
    assert!(!claude_allows(&env, "ls"));
    // The settings of a client that come with a project can set variables.
    let env = project();
    let home = env.project().join("state");
    std::fs::create_dir_all(home.join("permissions")).unwrap();
    env.write(
        "state/permissions/auto-allow.json",
        "{\"version\": 1, \"enabled\": true, \"programs\": []}",
    );
    let hook = env.callosum().arguments(["hook", "claude", "pre-tool-use"]);
    let hook = hook.env("CALLOSUM_HOME", home.to_str().unwrap());
    let output = hook.input(call(&env, "claude", "ls").to_string()).run();
    assert!(!is_allowed(&output));
}

/// Every auto-allow is in the log, even if what is allowed is not recorded, and is counted.
#[test]
fn every_auto_allow_is_recorded_and_counted() {
    let env = project();
    turn_on(&env);
    assert!(claude_allows(&env, "git status"));
    assert!(!claude_allows(&env, "make all"));
    let logged = decisions(&env, &["--verdict", "auto-allowed"]);
    assert_eq!(logged.len(), 1);
    assert_eq!(
        (&logged[0]["command"], &logged[0]["auto_allowed"]),
        (&json!("git status"), &json!(true))
    );
    let last = decisions(&env, &["-n", "1"]);
    assert_eq!(
        (&last[0]["command"], &last[0]["auto_allowed"]),
        (&json!("make all"), &json!(false))
    );
    let shown = env.run(["guard", "log"]).success().stdout;
    assert!(shown.contains("auto-allowed"), "{shown}");
    let changes = decisions(&env, &[]);
    let changes = changes
        .iter()
        .filter(|decision| decision["verdict"] == "auto-allow");
    assert_eq!(changes.count(), 2);
    let metrics = env.run(["guard", "metrics"]).success().stdout;
    assert!(
        metrics
            .lines()
            .any(|line| line == "cake_auto_allowed_total 1"),
        "{metrics}"
    );
    let metrics = env.run(["guard", "metrics", "--json"]).success().json();
    assert_eq!(metrics["cake_auto_allowed_total"], 1);
}

/// An agent cannot change it: the guard blocks the command, the environment of a client refuses it, and the file is
/// protected.
#[test]
fn an_agent_cannot_change_it() {
    let env = project();
    for line in [
        "callosum guard auto-allow on",
        "callosum guard auto-allow add 'rm *'",
        "callosum -C . guard auto-allow off",
        "callosum guard auto-allow remove --preset rust",
        "bash -c 'callosum guard auto-allow add --preset rust'",
    ] {
        env.run(["guard", "check", "--", line]).ended_with(1);
    }
    env.run(["guard", "check", "--", "callosum guard auto-allow list"])
        .success();
    for mark in ["CLAUDECODE", "CODEX_THREAD_ID", "GEMINI_CLI", "QWEN_CODE"] {
        for change in [vec!["on"], vec!["add", "ls *"], vec!["off"]] {
            let run = env
                .callosum()
                .arguments(["guard", "auto-allow"])
                .arguments(change.clone());
            let refused = run.env(mark, "1").run().ended_with(1);
            assert!(
                refused.stderr.contains("only a person can change"),
                "{refused:?}"
            );
        }
        let listed = env
            .callosum()
            .arguments(["guard", "auto-allow", "list"])
            .env(mark, "1");
        listed.run().success();
    }
    let file = env.machine_home().join("permissions/auto-allow.json");
    assert!(!file.exists());
    let write = event(&env, "Write", json!({"file_path": file, "content": "{}"}));
    let said = decide(&env, "claude", &write).json();
    assert_eq!(said["hookSpecificOutput"]["permissionDecision"], "deny");
}

/// A pattern is one program that does not run its own words; what is not on the list cannot be removed.
#[test]
fn patterns_are_checked_as_they_are_added_and_removed() {
    let env = project();
    for pattern in ["bash *", "env *", "xargs *", "*", "ls | sh", "a > b", ""] {
        auto_allow(&env, &["add", pattern]).ended_with(2);
    }
    auto_allow(&env, &["add", "--preset", "cobol"]).ended_with(2);
    auto_allow(&env, &["add"]).ended_with(2);
    auto_allow(&env, &["add", "make lint", "make 'test x' *"]).success();
    let said = auto_allow(&env, &["add", "make lint", "--preset", "go", "--json"])
        .success()
        .json();
    let programs = said["programs"].as_array().unwrap();
    assert_eq!(
        programs[..2],
        [json!("make lint"), json!("make 'test x' *")]
    );
    assert!(programs.contains(&json!("go test *")));
    auto_allow(&env, &["remove", "make all"]).ended_with(2);
    auto_allow(&env, &["remove", "make lint"]).success();
    auto_allow(&env, &["remove", "--preset", "go"]).success();
    let listed = auto_allow(&env, &["list", "--json"]).success().json();
    assert_eq!(listed["programs"], json!(["make 'test x' *"]));
    let presets = auto_allow(&env, &["presets", "--json"]).success().json();
    let names: Vec<&str> = presets["presets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["go", "java", "node", "python", "ruby", "rust"]);
}
