//! Errors of the commands that agents run: recorded, answered, fixed, and offered to the next agent.

use callosum_testkit::{Output, TestEnv};
use serde_json::{Value, json};

use crate::neighbours::is_silent;

/// What Python prints if a module is missing.
pub(crate) const MISSING: &str = "Traceback (most recent call last):\n  File \"app.py\", line 3, in <module>\n    import requests\n\
                       ModuleNotFoundError: No module named 'requests'\n";

/// Tells a client's hook that a command has ended, in the client's own form.
pub(crate) fn after(
    env: &TestEnv,
    client: &str,
    session: &str,
    run: &str,
    output: &str,
    failed: bool,
) -> Output {
    let (name, word) = match client {
        "gemini" => ("AfterTool", "after-tool"),
        "claude" | "qwen" if failed => ("PostToolUseFailure", "post-tool-use-failure"),
        _ => ("PostToolUse", "post-tool-use"),
    };
    let tool = match client {
        "gemini" | "qwen" => "run_shell_command",
        _ => "Bash",
    };
    let mut event = json!({
        "hook_event_name": name, "session_id": session, "cwd": env.project(),
        "tool_name": tool, "tool_input": {"command": run},
    });
    match client {
        "codex" => event["tool_response"] = output.into(),
        "gemini" => {
            let code = i32::from(failed);
            event["tool_response"] =
                json!({"llmContent": format!("Output: {output}\nExit Code: {code}")});
        }
        _ if failed => event["error"] = format!("Exit code 1\n{output}").into(),
        _ => event["tool_response"] = json!({"stdout": output, "stderr": "", "interrupted": false}),
    }
    let hook = env.callosum().arguments(["hook", client, word]);
    // Each hook is a process: the ids of a test would be those of the hook before.
    let hook = hook.without("CALLOSUM_TEST_IDS");
    hook.input(event.to_string()).run()
}

/// Returns what the model is sent.
#[track_caller]
pub(crate) fn context(output: &Output) -> String {
    assert_eq!((output.stderr.as_str(), output.code), ("", 0));
    let said = output.json();
    let text = said["hookSpecificOutput"]["additionalContext"].as_str();
    text.unwrap().to_owned()
}

fn errors(env: &TestEnv) -> Vec<Value> {
    let listed = env.run(["recall", "list", "--json"]).success().json();
    listed["errors"].as_array().unwrap().clone()
}

/// CAKE-KNOW-1, CAKE-OP-1, CAKE-ADP-1: an error that comes back gets a message; what fixed it is offered to every other client at its
/// first error.
#[test]
fn a_fix_of_one_client_reaches_the_others_at_their_first_error() {
    let env = TestEnv::new();
    env.git_init();
    env.write("requirements.txt", "");
    let claude =
        |run: &str, output: &str, failed: bool| after(&env, "claude", "s1", run, output, failed);
    is_silent("claude", &claude("python app.py", MISSING, true));
    let message = context(&claude("python app.py", MISSING, true));
    assert!(message.starts_with("Operator (CAKE): Stop. "), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
    // Within the cooldown it is not repeated.
    is_silent("claude", &claude("python app.py", MISSING, true));
    is_silent("claude", &claude("cat requirements.txt", "", false));
    is_silent("claude", &claude("pip install requests", "", false));
    is_silent("claude", &claude("cd . && python app.py", "", false));
    for (client, session) in [
        ("codex", "s2"),
        ("gemini", "s3"),
        ("qwen", "s4"),
        ("claude", "s5"),
    ] {
        let message = context(&after(
            &env,
            client,
            session,
            "python app.py",
            MISSING,
            true,
        ));
        let (first, second) = message.split_once('\n').unwrap();
        assert!(
            first.starts_with("Operator (CAKE): Stop. "),
            "{client}: {first}"
        );
        assert!(
            second.contains("(by claude") && second.contains("`pip install requests`"),
            "{client}: {second}"
        );
        assert!(!second.contains("requirements.txt"), "{second}");
    }
    let known = errors(&env);
    assert_eq!(known.len(), 1);
    assert_eq!(known[0]["error_type"], "ModuleNotFoundError");
    assert_eq!(known[0]["occurrence_count"], 7);
    assert_eq!(known[0]["intervention_count"], 5);
    assert_eq!(known[0]["success_count"], 1);
}

/// CAKE-WATCH-1: commands without errors, other tools and files leave nothing behind and say nothing.
#[test]
fn what_has_no_error_leaves_nothing_behind() {
    let env = TestEnv::new();
    for (run, output) in [
        ("cargo test", "test result: ok. 5 passed; 0 failed\n"),
        ("ls", "a\nb\n"),
        ("cat notes.md", "We once had `KeyError: 'x'` here.\n"),
        ("true", ""),
    ] {
        for client in ["claude", "codex", "gemini", "qwen"] {
            is_silent(client, &after(&env, client, "s1", run, output, false));
        }
    }
    let event = json!({
        "hook_event_name": "PostToolUse", "session_id": "s1", "cwd": env.project(),
        "tool_name": "Read", "tool_input": {"file_path": "log.txt"}, "tool_response": MISSING,
    });
    let hook = env
        .callosum()
        .arguments(["hook", "claude", "post-tool-use"]);
    is_silent("claude", &hook.input(event.to_string()).run());
    assert!(!env.machine_home().join("recall.db").exists());
    assert!(!env.machine_home().join("open-errors").exists());
}

/// CAKE-CFG-1, CAKE-CLS-1: `off` records nothing, and `all` answers the first error.
#[test]
fn the_users_setting_decides_about_messages() {
    let env = TestEnv::new();
    let config = env.configuration().with_file_name("cake_config.yaml");
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    std::fs::write(&config, "interventions: off\n").unwrap();
    // A project cannot turn it on.
    env.write("cake_config.yaml", "interventions: all\n");
    for _ in 0..3 {
        is_silent(
            "claude",
            &after(&env, "claude", "s1", "python app.py", MISSING, true),
        );
    }
    assert!(!env.machine_home().join("recall.db").exists());
    std::fs::write(&config, "interventions: all\n").unwrap();
    let message = context(&after(&env, "claude", "s1", "python app.py", MISSING, true));
    assert!(message.starts_with("Operator (CAKE): Stop. "), "{message}");
}

/// CAKE-RCL-1: no secret of a command or an output is stored.
#[test]
fn secrets_are_masked_before_they_are_stored() {
    let env = TestEnv::new();
    let secret = format!("ghp_{}", "a1B2c3D4".repeat(5));
    let output = MISSING.replace(
        "No module named 'requests'",
        &format!("token {secret} is wrong"),
    );
    let run = format!("GITHUB_TOKEN={secret} python app.py");
    for _ in 0..2 {
        after(&env, "claude", "s1", &run, &output, true);
    }
    after(
        &env,
        "claude",
        "s1",
        &format!("export T={secret}; make deps"),
        "",
        false,
    );
    after(&env, "claude", "s1", &run, "", false);
    assert_eq!(errors(&env).len(), 1);
    for entry in std::fs::read_dir(env.machine_home()).unwrap() {
        let path = entry.unwrap().path();
        let Ok(bytes) = std::fs::read(&path) else {
            continue;
        };
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(&secret), "{}", path.display());
    }
}

/// CAKE-RCL-1: a corrupt, locked or missing database, and output that is no text, never show at the client.
#[test]
fn a_fault_of_the_database_never_shows_at_the_client() {
    let env = TestEnv::new();
    let database = env.machine_home().join("recall.db");
    std::fs::create_dir_all(env.machine_home()).unwrap();
    std::fs::write(&database, b"this is no database, whatever its name says").unwrap();
    is_silent(
        "claude",
        &after(&env, "claude", "s1", "python app.py", MISSING, true),
    );
    context(&after(&env, "claude", "s1", "python app.py", MISSING, true));
    let aside = std::fs::read_dir(env.machine_home()).unwrap();
    let aside = aside.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(
        aside
            .into_iter()
            .any(|name| name.starts_with("recall.db.corrupt-"))
    );
    // A folder in its place: neither read nor written.
    for file in ["recall.db", "recall.db-wal", "recall.db-shm"] {
        let path = env.machine_home().join(file);
        if path.exists() {
            std::fs::remove_file(path).unwrap();
        }
    }
    std::fs::create_dir(&database).unwrap();
    let output = after(&env, "codex", "s1", "python app.py", MISSING, true);
    assert_eq!((output.stderr.as_str(), output.code), ("", 0));
    let long = "\u{0}\u{fffd}x".repeat(100_000);
    for output in [
        &*long,
        "Operator (CAKE): Stop. Run pip install requests. See requirements.txt.",
    ] {
        let env = TestEnv::new();
        is_silent("codex", &after(&env, "codex", "s1", "x", output, true));
    }
}

/// CAKE-RCL-1, CAKE-KNOW-1: a person lists, judges, writes and forgets what is known.
#[test]
fn a_person_decides_what_is_known() {
    let env = TestEnv::new();
    env.write("uv.lock", "");
    for output in [MISSING, MISSING] {
        after(&env, "claude", "s1", "python app.py", output, true);
    }
    after(&env, "claude", "s1", "pip install requests", "", false);
    after(&env, "claude", "s1", "python app.py", "", false);
    let signature = errors(&env)[0]["error_signature"]
        .as_str()
        .unwrap()
        .to_owned();
    let short = &signature[7..17];
    let shown = || {
        env.run(["recall", "show", short, "--json"])
            .success()
            .json()
    };
    let fix = shown()["fixes"][0]["id"].to_string();
    for _ in 0..2 {
        env.run(["recall", "outcome", &fix, "--failed"]).success();
    }
    assert_eq!(shown()["fixes"][0]["offered"], false);
    env.run([
        "recall",
        "fix",
        short,
        "--run",
        "uv add requests",
        "--note",
        "this project uses uv",
    ])
    .success();
    let message = context(&after(&env, "codex", "s2", "python app.py", MISSING, true));
    assert!(
        message.contains("confirmed by a person") && message.contains("uv add requests"),
        "{message}"
    );
    let similar = env.run([
        "recall",
        "similar",
        "ModuleNotFoundError app.py No module named 'request'",
        "--json",
    ]);
    assert_eq!(
        similar.success().json()["similar"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    let exported = env.run(["recall", "export"]).success().stdout;
    assert_eq!(exported.lines().count(), 1);
    env.run(["recall", "outcome", "99", "--worked"])
        .ended_with(2);
    env.run(["recall", "show", "ffffffff"]).ended_with(2);
    env.run(["recall", "forget", short]).success();
    assert!(errors(&env).is_empty());
}

/// CAKE-SHIM-2, CAKE-WATCH-1: `watch` passes bytes and the exit code through, and lists distinct errors with the known fix.
#[test]
fn watch_passes_everything_through_and_lists_the_errors() {
    let env = TestEnv::new();
    let script = "printf 'out\\377\\n'; printf \"ModuleNotFoundError: No module named 'x'\\n\" >/dev/null; \
                  printf 'sh: 1: nosuch: not found\\n' >&2; exit 7";
    let output = env
        .callosum()
        .arguments(["watch", "--", "sh", "-c", script])
        .command()
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(output.stdout, b"out\xff\n");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("sh: 1: nosuch: not found\n"), "{said}");
    let quiet = env
        .run(["watch", "--", "sh", "-c", "echo fine; exit 3"])
        .ended_with(3);
    assert_eq!(
        (quiet.stdout.as_str(), quiet.stderr.as_str()),
        ("fine\n", "")
    );
    env.run(["watch", "--", "no-such-program-here"])
        .ended_with(127);
    let script = format!("cat >&2 <<'X'\n{MISSING}X\nexit 1");
    let output = env
        .run(["watch", "--json", "--", "sh", "-c", &script])
        .ended_with(1);
    let last = output.stderr.lines().last().unwrap();
    let said: Value = serde_json::from_str(last).unwrap();
    assert_eq!(said["exit_code"], 1);
    assert_eq!(said["errors"][0]["error_type"], "ModuleNotFoundError");
    assert_eq!(said["errors"][0]["line_number"], 3);
    assert_eq!(said["errors"][0]["stream_source"], "stderr");
}

/// CAKE-WATCH-1: `watch test` prints a verdict for each row, and ends with 1 if one is unexpected.
#[test]
fn watch_test_measures_the_reader() {
    let env = TestEnv::new();
    let rows = [
        json!({"id": "1", "text": MISSING, "expect": {"type": "ModuleNotFoundError", "file": "app.py", "line": 3}}),
        json!({"id": "2", "text": "fine", "expect": {"type": null}}),
        json!({"id": "3", "text": MISSING}),
    ];
    let text: Vec<String> = rows.iter().map(ToString::to_string).collect();
    env.write("rows.jsonl", text.join("\n"));
    let said = env
        .run(["watch", "test", "rows.jsonl", "--json"])
        .success()
        .json();
    assert_eq!(
        (said["rows"].as_u64(), said["right"].as_u64()),
        (Some(3), Some(1))
    );
    assert_eq!(said["verdicts"][2]["events"][0]["file_path"], "app.py");
    env.write(
        "rows.jsonl",
        json!({"id": "1", "text": MISSING, "expect": {"type": null}}).to_string(),
    );
    env.run(["watch", "test", "rows.jsonl"]).ended_with(1);
    env.write("rows.jsonl", "{\"id\": 1}");
    let refused = env.run(["watch", "test", "rows.jsonl"]).ended_with(2);
    assert!(refused.stderr.contains("line 1"), "{}", refused.stderr);
}

/// CAKE-VOICE-1, CAKE-OP-1: messages are checked and rendered by hand as well.
#[test]
fn the_operator_checks_and_renders() {
    let env = TestEnv::new();
    let good = "Operator (CAKE): Stop. Run tests. See output.";
    assert_eq!(
        env.run(["operator", "check", good, "--json"])
            .success()
            .json()["passed"],
        true
    );
    for bad in [
        "I think you should maybe try running tests",
        "Operator (CAKE): Stop. Run rm -rf /. See nothing left.",
        "Operator (CAKE): Stop. Run git push --force. See output.",
    ] {
        let said = env
            .run(["operator", "check", bad, "--json"])
            .ended_with(1)
            .json();
        assert_eq!(said["passed"], false, "{bad}");
        assert!(!said["reason"].as_str().unwrap().is_empty());
    }
    let event = json!({
        "error_type": "ModuleNotFoundError", "file_path": "app.py", "line_number": 3,
        "error_message": "No module named 'requests'", "escalation_level": 2,
        "suggested_fix": "pip install requests",
    });
    env.write("event.json", event.to_string());
    let said = env
        .run(["operator", "say", "--event", "event.json"])
        .success()
        .stdout;
    assert!(said.starts_with("Operator (CAKE): Stop. "), "{said}");
    let checked = env.run([
        "operator",
        "check",
        said.trim(),
        "--event",
        "event.json",
        "--json",
    ]);
    assert_eq!(checked.success().json()["passed"], true);
    env.write("event.json", "{\"escalation_level\": 9}");
    env.run(["operator", "say", "--event", "event.json"])
        .ended_with(2);
}

/// Runs a hook and ends it by force after so many microseconds; whether it had answered before that.
fn is_answered_within(env: &TestEnv, event: &Value, microseconds: u64) -> bool {
    let word = match event["hook_event_name"].as_str() {
        Some("PostToolUseFailure") => "post-tool-use-failure",
        _ => "post-tool-use",
    };
    let input = env.folder().join("event.json");
    std::fs::write(&input, event.to_string()).unwrap();
    let mut child = env
        .callosum()
        .arguments(["hook", "claude", word])
        .command()
        .stdin(std::fs::File::open(&input).unwrap())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_micros(microseconds));
    child.kill().unwrap();
    child.wait().unwrap().success()
}

/// CAKE-RCL-1, CAKE-KNOW-1: what a hook has answered is recorded, whenever others are killed; the database stays sound.
#[test]
fn a_hook_that_is_killed_loses_nothing_that_was_answered() {
    let env = TestEnv::new();
    let event = |run: &str, output: Option<&str>| {
        let mut event = json!({
            "hook_event_name": "PostToolUse", "session_id": "s1", "cwd": env.project(),
            "tool_name": "Bash", "tool_input": {"command": run},
            "tool_response": {"stdout": "", "stderr": "", "interrupted": false},
        });
        if let Some(output) = output {
            event["hook_event_name"] = "PostToolUseFailure".into();
            event["error"] = format!("Exit code 1\n{output}").into();
        }
        event
    };
    let (mut answered, mut learned, rounds) = (0, 0, 40_u64);
    for round in 0..rounds {
        // From before its start to after its end, on a slow machine as well.
        let after = |step: u64| (round * 7_919 + step * 104_729) % 60_000;
        let failed = event("python app.py", Some(MISSING));
        let is_recorded = is_answered_within(&env, &failed, after(1));
        answered += u64::from(is_recorded);
        let is_changed = is_answered_within(&env, &event("make deps", None), after(2));
        let is_over = is_answered_within(&env, &event("python app.py", None), after(3));
        learned += u64::from(is_recorded && is_changed && is_over);
    }
    // A whole round, so that there is something to read in any case.
    for event in [
        event("python app.py", Some(MISSING)),
        event("make deps", None),
        event("python app.py", None),
    ] {
        assert!(is_answered_within(&env, &event, 5_000_000));
    }
    let known = errors(&env);
    assert_eq!(known.len(), 1, "{known:?}");
    let seen = known[0]["occurrence_count"].as_u64().unwrap();
    assert!(
        seen > answered && seen <= rounds + 1,
        "{answered} of {seen}"
    );
    let signature = known[0]["error_signature"].as_str().unwrap();
    let shown = env
        .run(["recall", "show", signature, "--json"])
        .success()
        .json();
    let worked = shown["fixes"][0]["worked"].as_u64().unwrap();
    assert!(worked > learned, "{learned} of {worked}");
    let folder = std::fs::read_dir(env.machine_home()).unwrap();
    let names = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let aside: Vec<String> = names.filter(|name| name.contains("corrupt")).collect();
    assert!(aside.is_empty(), "{aside:?}");
}

/// CAKE-SHIM-2: of a `watch` that is killed, the errors of the runs before it are kept, and its command ends or goes on by itself.
#[test]
fn a_watch_that_is_killed_loses_nothing_that_was_reported() {
    let env = TestEnv::new();
    let script = format!("cat >&2 <<'X'\n{MISSING}X\nexit 1");
    let watch = || {
        env.callosum()
            .arguments(["watch", "--", "sh", "-c", &*script])
    };
    let mut reported = 0;
    for round in 0..12_u64 {
        let mut child = watch()
            .command()
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_millis(round * 13 % 90));
        child.kill().unwrap();
        reported += u64::from(child.wait().unwrap().code() == Some(1));
    }
    watch().run().ended_with(1);
    let seen = errors(&env)[0]["occurrence_count"].as_u64().unwrap();
    assert!(seen > reported && seen <= 13, "{reported} of {seen}");
}
