//! What people and later sessions learn about errors: notifications, lines at the start of a session, metrics.

use std::{net::TcpListener, os::unix::fs::PermissionsExt as _};

use callosum_testkit::{Output, TestEnv};
use serde_json::{Value, json};

use crate::{
    interventions::{MISSING, after, context},
    neighbours::is_silent,
    serving::sinks::Discord,
};

/// Writes the user's configuration.
fn configure(env: &TestEnv, text: &str) {
    let config = env.configuration().with_file_name("cake_config.yaml");
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    std::fs::write(config, text).unwrap();
}

/// Starts a session of Claude Code, and returns its output.
fn begin(env: &TestEnv) -> Output {
    let event = json!({
        "hook_event_name": "SessionStart", "session_id": "later", "cwd": env.project(), "source": "startup",
    });
    let hook = env
        .callosum()
        .arguments(["hook", "claude", "session-start"]);
    hook.input(event.to_string()).run()
}

/// Puts a program of this name first on the path; it writes its arguments to `name.log`.
fn recorder(env: &TestEnv, name: &str) {
    let program = env.programs().join(name);
    let log = env.home().join(format!("{name}.log"));
    let script = format!("#!/bin/sh\nprintf '%s\\n' \"$@\" >> '{}'\n", log.display());
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// CAKE-OP-2: at the last strike a person is notified by webhook and on the desktop, once, and no secret is in it.
#[test]
fn a_person_is_notified_at_the_last_strike() {
    let env = TestEnv::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let webhook = Discord::start(listener, &["500 Busy\r\n\r\n"]);
    recorder(&env, "notify-send");
    configure(
        &env,
        &format!(
            "interventions: all\nescalation:\n  max_strikes: 1\n  cooldown_minutes: 1\n  human_notification:\n    \
             enabled: true\n    webhook: http://{}/hook\n    desktop: true\n",
            webhook.address
        ),
    );
    let secret = format!("ghp_{}", "a1B2c3D4".repeat(5));
    let output = MISSING.replace("'requests'", &format!("'requests' {secret}"));
    let message = context(&after(&env, "claude", "s1", "python app.py", &output, true));
    assert!(message.starts_with("Operator (CAKE): Stop. "), "{message}");
    // The first try is refused.
    let posted = webhook.wait_for(2);
    let notice = &posted[1].1;
    assert_eq!(notice["event"], "operator.escalated");
    assert_eq!(notice["error"]["error_type"], "ModuleNotFoundError");
    assert_eq!(notice["error"]["strikes"], 1);
    assert_eq!(notice["text"], notice["content"]);
    let shown = notice["text"].as_str().unwrap();
    assert!(
        shown.contains("claude has hit ModuleNotFoundError in app.py"),
        "{shown}"
    );
    assert!(!notice.to_string().contains(&secret), "{notice}");
    let desktop = std::fs::read_to_string(env.home().join("notify-send.log")).unwrap();
    assert!(desktop.contains(shown), "{desktop}");
    // A second agent that hits it has strikes of its own, and a second strike notifies no one again.
    after(&env, "claude", "s1", "python app.py", &output, true);
    assert_eq!(webhook.wait_for(2).len(), 2);
}

/// CAKE-OP-2: `operator notify` sends a test, and fails with a reason if it is off or nothing answers.
#[test]
fn a_test_notification_shows_whether_it_works() {
    let env = TestEnv::new();
    let off = env.run(["operator", "notify"]).ended_with(1);
    assert!(
        off.stderr.contains("notifications are off"),
        "{}",
        off.stderr
    );
    recorder(&env, "notify-send");
    configure(
        &env,
        "escalation: {human_notification: {enabled: true, desktop: true}}\n",
    );
    env.run(["operator", "notify"]).success();
    let desktop = std::fs::read_to_string(env.home().join("notify-send.log")).unwrap();
    assert!(desktop.contains("TestNotification"), "{desktop}");
    let unknown = env.run(["operator", "notify", "../x"]).ended_with(3);
    assert!(
        unknown.stderr.contains("there is no notice"),
        "{}",
        unknown.stderr
    );
}

/// CAKE-KNOW-1: a session starts with the failures of the project whose fix is known.
#[test]
fn a_session_starts_with_known_failures() {
    let env = TestEnv::new();
    env.git_init();
    is_silent("claude", &begin(&env));
    for (command, output, failed) in [
        ("python app.py", MISSING, true),
        ("pip install requests", "", false),
        ("python app.py", "", false),
    ] {
        is_silent(
            "codex",
            &after(&env, "codex", "s1", command, output, failed),
        );
    }
    let told = context(&begin(&env));
    assert!(
        told.starts_with("Known failures and their fixes: ModuleNotFoundError")
            && told.contains("`pip install requests`"),
        "{told}"
    );
    assert_eq!(told.lines().count(), 1, "{told}");
    // Another project has nothing of it.
    let other = env.project().with_file_name("other");
    std::fs::create_dir(&other).unwrap();
    let event = json!({"hook_event_name": "SessionStart", "session_id": "x", "cwd": other, "source": "startup"});
    let hook = env
        .callosum()
        .arguments(["hook", "claude", "session-start"]);
    is_silent(
        "claude",
        &hook.in_folder(&other).input(event.to_string()).run(),
    );
}

/// CAKE-PAT-1: an edit outside of the paths that a claimed task names is recorded and told to the next session; it is never blocked.
#[test]
fn an_edit_outside_of_the_task_is_recorded() {
    let env = TestEnv::new();
    env.git_init();
    let edit = |path: &str, session: &str| {
        let event = json!({
            "hook_event_name": "PostToolUse", "session_id": session, "cwd": env.project(), "tool_name": "Edit",
            "tool_input": {"file_path": env.project().join(path), "old_string": "a", "new_string": "b"},
            "tool_response": {},
        });
        let hook = env
            .callosum()
            .arguments(["hook", "claude", "post-tool-use"]);
        let output = hook.input(event.to_string()).run();
        assert_eq!(output.code, 0, "{}", output.stderr);
        assert!(!output.stdout.contains("\"block\""), "{}", output.stdout);
    };
    // Without a task every edit is within.
    edit("src/main.rs", "s1");
    for words in [
        &[
            "task",
            "add",
            "Fix `src/auth.rs`",
            "--id",
            "t1",
            "--as",
            "person",
        ][..],
        &["task", "claim", "t1", "--as", "claude"],
    ] {
        let run = env.callosum().arguments(["mesh"]).arguments(words);
        run.without("CALLOSUM_TEST_IDS").run().success();
    }
    edit("src/auth.rs", "s1");
    edit("tests/auth_test.rs", "s1");
    assert!(!env.machine_home().join("recall.db").exists());
    edit("src/main.rs", "s1");
    edit("src/main.rs", "s1");
    let told = context(&begin(&env));
    let line = told.lines().find(|line| line.starts_with("Edited outside"));
    assert_eq!(
        line,
        Some("Edited outside of tasks: src/main.rs by claude in task t1."),
        "{told}"
    );
}

/// CAKE-MET-1, CAKE-SHIM-1: what agents did after a refusal, and the messages that they got, are counted.
#[test]
fn reactions_and_messages_are_counted() {
    let env = TestEnv::new();
    env.git_init_with_work();
    configure(&env, "interventions: all\n");
    let decide = |command: &str| -> Value {
        let event = json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": env.project(),
            "session_id": "s1", "tool_input": {"command": command}});
        let hook = env.callosum().arguments(["hook", "claude"]);
        hook.input(event.to_string()).run().json()
    };
    for command in [
        "git reset --hard",
        "git stash",
        "git reset --hard",
        "bash -c 'git reset --hard'",
    ] {
        decide(command);
    }
    let metrics = env.run(["guard", "metrics", "--json"]).success().json();
    let reactions = &metrics["cake_refusal_reactions_total"][0];
    assert_eq!(reactions["rule"], "git.reset-hard");
    assert_eq!(reactions["refusals"], 2, "{metrics}");
    assert_eq!(reactions["took_alternative"], 1, "{metrics}");
    assert_eq!(reactions["went_around"], 1, "{metrics}");
    context(&after(&env, "claude", "s1", "python app.py", MISSING, true));
    let served = env.run(["metrics"]).success().stdout;
    for line in [
        "cake_interventions_total{type=\"message\",severity=\"high\",success=\"unknown\"} 1",
        "cake_response_latency_seconds_count{component=\"operator\",operation=\"message\"} 1",
        "cake_refusal_reactions_total{rule=\"git.reset-hard\",reaction=\"took_alternative\"} 1",
        "cake_unread_projects 0",
    ] {
        assert!(
            served.lines().any(|found| found == line),
            "{line}\n{served}"
        );
    }
    assert!(
        served.contains("cake_voice_similarity_score{message_type=\"level_1\"} "),
        "{served}"
    );
    let families = env.run(["metrics", "--json"]).success().json();
    let names = families["families"].as_array().unwrap().iter();
    assert!(
        names
            .clone()
            .any(|family| family["name"] == "cake_voice_similarity")
    );
}

/// CAKE-SNAP-1: at the last strike a snapshot is taken and linked to the error; it is kept until the error is fixed.
#[test]
fn a_snapshot_is_linked_to_an_error_until_it_is_fixed() {
    let env = TestEnv::new();
    env.git_init_with_work();
    configure(&env, "interventions: all\nescalation: {max_strikes: 1}\n");
    context(&after(&env, "claude", "s1", "python app.py", MISSING, true));
    let list = || {
        let listed = env.run(["snapshot", "list", "--json"]).success().json();
        listed["snapshots"].as_array().unwrap().clone()
    };
    let began = std::time::Instant::now();
    while list().is_empty() {
        assert!(began.elapsed().as_secs() < 60, "no snapshot is taken");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let error = env.run(["recall", "list", "--json"]).success().json();
    let signature = error["errors"][0]["error_signature"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(list()[0]["linked_errors"], json!([signature]));
    let clean = ["snapshot", "clean", "--older-than", "0s"];
    env.run(clean).success();
    assert_eq!(list().len(), 1, "it is kept while the error is open");
    for (command, output, failed) in [
        ("pip install requests", "", false),
        ("python app.py", "", false),
    ] {
        is_silent(
            "claude",
            &after(&env, "claude", "s1", command, output, failed),
        );
    }
    let later = env.callosum().arguments(clean);
    later
        .env("CALLOSUM_TEST_CLOCK", "2026-01-02T05:04:05Z")
        .run()
        .success();
    assert_eq!(list(), [Value::Null; 0]);
}
