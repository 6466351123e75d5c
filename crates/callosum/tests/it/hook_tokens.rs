//! What hooks add to models' contexts is counted, by client and session.

use callosum_citation::tokens::estimate;
use callosum_testkit::TestEnv;
use serde_json::{Value, json};

use crate::hook::{command, decide};

/// A project with something to tell.
fn with_a_decision() -> TestEnv {
    let env = TestEnv::new();
    env.write("src/a.rs", "pub fn one() {}\n");
    env.git_init();
    env.run(["init", "--ledger", "--sessions", "--share"])
        .success();
    env.run(["session", "decide", "Use one pool", "--cite", "src/a.rs:1"])
        .success();
    env
}

/// A session begins; what its model is told.
fn begins(env: &TestEnv, client: &str, session: &str) -> String {
    let event = json!({
        "hook_event_name": "SessionStart", "session_id": session, "source": "startup",
        "cwd": env.project().display().to_string(),
    });
    let hook = env.callosum().arguments(["hook", client, "session-start"]);
    let said = hook.input(event.to_string()).run().success().json();
    let said = &said["hookSpecificOutput"]["additionalContext"];
    said.as_str().unwrap().to_owned()
}

fn counted(env: &TestEnv) -> Value {
    env.run(["status", "--json"]).success().json()["hook_tokens"].clone()
}

/// LOA-BUD-1: the tokens of each text are counted by client and session, and shown by `status` and `doctor -v`.
#[test]
fn what_a_session_is_told_is_counted() {
    let env = with_a_decision();
    assert_eq!(counted(&env), json!([]));
    let first = estimate(&begins(&env, "claude", "one"));
    assert!(first > 10);
    let second = estimate(&begins(&env, "claude", "two"));
    let other = estimate(&begins(&env, "codex", "three"));
    let expected = json!([
        {"client": "claude", "session_id": "two", "session_tokens": second, "today_tokens": first + second},
        {"client": "codex", "session_id": "three", "session_tokens": other, "today_tokens": other},
    ]);
    assert_eq!(counted(&env), expected);
    let line = format!(
        "added {second} tokens in the last session (Claude Code), {} today; added {other} tokens in the last session \
         (Codex), {other} today\n",
        first + second
    );
    let status = env.run(["status"]).success().stdout;
    assert!(status.contains(&format!("hooks     {line}")), "{status}");
    let doctor = env.run(["doctor", "-v"]).stdout;
    assert!(
        doctor.contains(&format!("hook tokens: hooks {line}")),
        "{doctor}"
    );
    // A day later, nothing was added today.
    let later = env.callosum().arguments(["status", "--json"]);
    let later = later
        .env("CALLOSUM_TEST_CLOCK", "2026-01-03T03:04:05Z")
        .run();
    assert_eq!(later.json()["hook_tokens"][0]["today_tokens"], 0);
    // Another project has none of it.
    let folder = env.folder().join("other");
    std::fs::create_dir(&folder).unwrap();
    let elsewhere = env.callosum().arguments(["status", "--json"]);
    let elsewhere = elsewhere.in_folder(folder).run().success().json();
    assert_eq!(elsewhere["hook_tokens"], json!([]));
}

/// CAKE-SHIM-1: a tool call about which nothing is said writes no count.
#[test]
fn a_tool_call_without_a_note_writes_no_count() {
    let env = with_a_decision();
    decide(&env, "claude", &command(&env, "claude", "ls"));
    decide(&env, "claude", &command(&env, "claude", "git reset --hard"));
    assert!(!env.machine_home().join("hook-tokens").exists());
    begins(&env, "claude", "one");
    let day = env.machine_home().join("hook-tokens/2026-01-02.jsonl");
    let before = std::fs::read(&day).unwrap();
    decide(&env, "claude", &command(&env, "claude", "ls"));
    assert_eq!(std::fs::read(&day).unwrap(), before);
}

/// LOA-BUD-1: a torn line costs only itself, hooks that begin at once lose none, and old days go.
#[test]
fn counts_outlive_a_torn_line_and_hooks_at_once() {
    let env = with_a_decision();
    let folder = env.machine_home().join("hook-tokens");
    std::fs::create_dir_all(&folder).unwrap();
    for day in 10..30 {
        env.write(folder.join(format!("2025-11-{day}.jsonl")), "{\"torn\n");
    }
    std::thread::scope(|threads| {
        for session in 0..6 {
            let env = &env;
            threads.spawn(move || begins(env, "claude", &format!("s-{session}")));
        }
    });
    let text = std::fs::read_to_string(folder.join("2026-01-02.jsonl")).unwrap();
    assert_eq!(text.lines().count(), 6, "{text}");
    let days = std::fs::read_dir(&folder).unwrap();
    let days = days.filter(|day| {
        let name = day.as_ref().unwrap().file_name();
        name.to_string_lossy().ends_with(".jsonl")
    });
    assert_eq!(days.count(), 14);
    assert_eq!(counted(&env)[0]["client"], "claude");
}
