//! Hooks that a client runs twice for one call, and hooks that may write no file.

use callosum_testkit::{Output, TestEnv};
use serde_json::{Value, json};

use super::hook::{CLIENTS, command, decide, denied, repository};

const ASKED_ABOUT: &str = "git branch -D old";

fn event(env: &TestEnv, call: &str, command: &str) -> String {
    json!({
        "cwd": env.project(), "permission_mode": "default", "tool_name": "Bash", "session_id": "s-1",
        "tool_input": {"command": command}, "tool_use_id": call,
    })
    .to_string()
}

fn ask(env: &TestEnv, call: &str, command: &str) -> Output {
    let hook = env.callosum().without("CALLOSUM_TEST_IDS");
    let hook = hook.arguments(["hook", "claude", "pre-tool-use"]);
    hook.input(event(env, call, command)).run()
}

fn is_asked(output: &Output) -> bool {
    output.json()["hookSpecificOutput"]["permissionDecision"] == "ask"
}

fn allow_once(env: &TestEnv) {
    let allow = env.callosum().without("CALLOSUM_TEST_IDS");
    let allow = allow.arguments(["guard", "allow", ASKED_ABOUT, "--once"]);
    allow.run().success();
}

fn verdicts(env: &TestEnv) -> Vec<Value> {
    let log = env.run(["guard", "log", "--json"]).success().json();
    let all = log["decisions"].as_array().unwrap().iter();
    all.map(|one| one["verdict"].clone()).collect()
}

/// CAKE-SHIM-1: a call that is asked about twice uses up one permission, and the next call is asked about.
#[test]
fn one_call_uses_up_one_permission_however_often_its_hook_runs() {
    let env = repository();
    allow_once(&env);
    assert!(!is_asked(&ask(&env, "call-1", ASKED_ABOUT)));
    assert!(!is_asked(&ask(&env, "call-1", ASKED_ABOUT)));
    // The same id with other words is another call, and so is another id.
    assert!(is_asked(&ask(&env, "call-1", "git branch -D  other old")));
    assert!(is_asked(&ask(&env, "call-2", ASKED_ABOUT)));
    // A second permission is left to the next call.
    allow_once(&env);
    allow_once(&env);
    for call in ["call-3", "call-3", "call-4", "call-4"] {
        assert!(!is_asked(&ask(&env, call, ASKED_ABOUT)), "{call}");
    }
    assert!(is_asked(&ask(&env, "call-5", ASKED_ABOUT)));
}

/// CAKE-SHIM-1: so it is if both hooks run at the same time.
#[test]
fn hooks_of_one_call_at_the_same_time_share_a_permission() {
    let env = repository();
    for round in 0..4 {
        allow_once(&env);
        let call = format!("call-{round}");
        std::thread::scope(|scope| {
            let hooks: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| is_asked(&ask(&env, &call, ASKED_ABOUT))))
                .collect();
            for hook in hooks {
                assert!(!hook.join().unwrap(), "{call}");
            }
        });
        assert!(is_asked(&ask(&env, &format!("next-{round}"), ASKED_ABOUT)));
    }
}

/// CAKE-SHIM-1: one call leaves one record.
#[test]
fn one_call_leaves_one_record_however_often_its_hook_runs() {
    let env = repository();
    for call in ["call-1", "call-1", "call-2"] {
        assert!(is_asked(&ask(&env, call, ASKED_ABOUT)));
    }
    allow_once(&env);
    for _ in 0..2 {
        assert!(!is_asked(&ask(&env, "call-3", ASKED_ABOUT)));
        ask(&env, "call-4", "git reset --hard");
    }
    let expected = ["asked", "asked", "permitted", "allowed", "blocked"];
    assert_eq!(verdicts(&env), expected);
}

/// CAKE-SHIM-1: a process that may write no file (`ulimit -f 0`) still gets the guard's answer, in every client. The
/// kernel ends a process that writes past that limit unless it takes the signal.
#[test]
fn the_answer_comes_where_no_file_may_be_written() {
    let env = repository();
    for (client, moment) in CLIENTS {
        let program = callosum_testkit::fakes::program("callosum");
        let limited = |event: Value| {
            let script = format!(
                "ulimit -f 0; '{}' hook {client} {moment}",
                program.display()
            );
            let shell = env.program("/bin/sh".into()).arguments(["-c", &script]);
            shell.input(event.to_string()).run()
        };
        let stopped = limited(command(&env, client, "git reset --hard"));
        assert!(denied(client, &stopped).is_some(), "{client}: {stopped:?}");
        let passed = limited(command(&env, client, "ls"));
        assert_eq!(
            (passed.stdout.as_str(), passed.code),
            ("{}\n", 0),
            "{client}"
        );
        let begun = limited(
            json!({"cwd": env.project(), "session_id": "s", "hook_event_name": "SessionStart"}),
        );
        assert!(
            begun.stdout.is_empty() || begun.stdout.starts_with('{'),
            "{begun:?}"
        );
        // Without the limit the answer is the same.
        let free = decide(&env, client, &command(&env, client, "git reset --hard"));
        assert_eq!(denied(client, &free), denied(client, &stopped));
    }
}
