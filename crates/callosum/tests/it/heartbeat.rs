//! `doctor` says when each client's hook was last asked, and which session ran commands without asking it.

use callosum_testkit::TestEnv;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    clients::with_clients,
    guard_config::config,
    hook::{command, decide},
};

/// The check of a client, as `doctor --json` has it: outcome and finding.
fn heartbeat(env: &TestEnv, client: &str) -> (String, String) {
    let json = env.run(["doctor", "--json"]).json();
    let name = format!("guard of {client}, heartbeat");
    let checks = json["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["name"] == name);
    let check = check.unwrap_or_else(|| panic!("no `{name}` in {json}"));
    let text = |key: &str| check[key].as_str().unwrap().to_owned();
    (text("outcome"), text("found"))
}

/// A transcript of Claude Code: one command of a session, and how it ended.
fn transcript(env: &TestEnv, session: &str, folder: &str, (at, is_error): (Timestamp, bool)) {
    let call =
        json!({"type": "tool_use", "id": "call-1", "name": "Bash", "input": {"command": "ls"}});
    let result = json!({"type": "tool_result", "tool_use_id": "call-1", "is_error": is_error});
    let line = |content: Value| {
        json!({
            "sessionId": session, "cwd": folder, "timestamp": at.to_string(),
            "message": {"content": [content]},
        })
    };
    let text = format!("{}\n{}\n", line(call), line(result));
    let path = format!(".claude/projects/-p/{session}.jsonl");
    env.write(env.home().join(path), text);
}

/// A moment after the hooks were registered.
fn soon() -> Timestamp {
    Timestamp::now() + std::time::Duration::from_mins(1)
}

/// CAKE-ADP-1: the last question of a client is shown with its session, in local time for people.
#[test]
fn the_last_question_of_each_client_is_shown() {
    let env = with_clients();
    env.run(["init", "--all", "--share"]).success();
    for client in ["claude", "codex"] {
        decide(&env, client, &command(&env, client, "ls"));
    }
    let asked = "last hook call at 2026-01-02T03:04:05Z, in session s-1";
    for client in ["claude", "codex"] {
        assert_eq!(heartbeat(&env, client), ("ok".to_owned(), asked.to_owned()));
    }
    let (outcome, found) = heartbeat(&env, "qwen");
    assert_eq!(
        (outcome.as_str(), found.as_str()),
        ("ok", "no hook call in the last 7 days")
    );
    let doctor = env.callosum().arguments(["doctor", "-v"]);
    let doctor = doctor.env("TZ", "XYZ-5:30").run().stdout;
    let local =
        "Claude Code guard, heartbeat: last hook call at 2026-01-02 08:34, in session s-1\n";
    assert!(doctor.contains(local), "{doctor}");
}

/// CAKE-ADP-1: a session that ran a command after the hook was registered, and did not ask it, is a problem.
#[test]
fn a_session_that_did_not_ask_is_named() {
    let env = with_clients();
    env.run(["init", "--all", "--share"]).success();
    let project = env.project().display().to_string();
    transcript(&env, "s-2", &project, (soon(), false));
    let (outcome, found) = heartbeat(&env, "claude");
    assert_eq!(outcome, "warning", "{found}");
    assert!(
        found.starts_with("session s-2 ran 1 command since "),
        "{found}"
    );
    let summary = env.run(["doctor"]).stdout;
    let problem = "warning Claude Code guard, heartbeat: session s-2 ran 1 command since ";
    assert!(summary.contains(problem), "{summary}");
    // Another client's hook is none of this session's.
    decide(&env, "codex", &command(&env, "codex", "ls"));
    assert_eq!(heartbeat(&env, "claude").0, "warning");
    assert_eq!(heartbeat(&env, "codex").0, "ok");
}

/// CAKE-ADP-1: no session is named of which it is not certain that it should have asked.
#[test]
fn a_session_is_named_only_if_it_is_certain() {
    let env = with_clients();
    env.run(["init", "--all", "--share"]).success();
    let project = env.project().display().to_string();
    let before: Timestamp = "2026-01-02T00:00:00Z".parse().unwrap();
    for (session, folder, at, is_error) in [
        ("began-before-the-hook", project.as_str(), before, false),
        ("of-another-project", "/somewhere/else", soon(), false),
        ("failed-before-it-ran", &project, soon(), true),
    ] {
        transcript(&env, session, folder, (at, is_error));
        let (outcome, found) = heartbeat(&env, "claude");
        assert_eq!(outcome, "ok", "{session}: {found}");
    }
    // Its hook is not registered for commands.
    let path = env.home().join(".claude/settings.json");
    let settings = env.read(&path);
    transcript(&env, "asks-for-files-alone", &project, (soon(), false));
    env.write(
        &path,
        settings.replace("\"matcher\": \"*\"", "\"matcher\": \"Write\""),
    );
    assert_eq!(heartbeat(&env, "claude").0, "ok");
    env.write(&path, settings);
    std::fs::remove_file(
        env.home()
            .join(".claude/projects/-p/asks-for-files-alone.jsonl"),
    )
    .unwrap();
    // It has asked.
    transcript(&env, "s-1", &project, (soon(), false));
    assert_eq!(heartbeat(&env, "claude").0, "warning");
    decide(&env, "claude", &command(&env, "claude", "ls"));
    assert_eq!(heartbeat(&env, "claude").0, "ok");
}

/// CAKE-ADP-1: without records of what is allowed, nobody can tell who has asked.
#[test]
fn without_records_of_what_is_allowed_no_session_is_named() {
    let env = with_clients();
    env.run(["init", "--all", "--share"]).success();
    let project = env.project().display().to_string();
    transcript(&env, "s-2", &project, (soon(), false));
    assert_eq!(heartbeat(&env, "claude").0, "warning");
    let user = env.configuration().with_file_name("cake_config.yaml");
    env.write(&user, config("balanced", ""));
    assert_eq!(heartbeat(&env, "claude").0, "warning");
    let quiet = config("balanced", "").replace("all_commands: true", "all_commands: false");
    env.write(&user, quiet);
    assert_eq!(heartbeat(&env, "claude").0, "ok");
}
