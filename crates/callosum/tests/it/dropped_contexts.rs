//! Clients that do not put before their model what a hook says at each beginning of a context.

use callosum_testkit::{Output, TestEnv};
use serde_json::{Value, json};

use crate::neighbours::state;

/// A project with a decision, and a message for Gemini CLI.
fn laid_out(env: &TestEnv) {
    env.write("src/a.rs", "pub fn one() {}\n");
    env.git_init();
    env.run(["session", "decide", "Use one pool", "--cite", "src/a.rs:1"])
        .success();
    send(env, "m", "the schema changed");
}

fn send(env: &TestEnv, id: &str, text: &str) {
    let send = [
        "mesh", "message", "send", "gemini", text, "--as", "person", "--id", id,
    ];
    env.run(send).success();
}

fn hook(
    env: &TestEnv,
    client: &str,
    (name, word): (&str, &str),
    session: &str,
    more: &Value,
) -> Output {
    let mut event = json!({"session_id": session, "cwd": env.project(), "hook_event_name": name});
    for (key, value) in more.as_object().unwrap() {
        event[key] = value.clone();
    }
    let run = env.callosum().arguments(["hook", client, word]);
    run.input(event.to_string()).run().success()
}

const START: (&str, &str) = ("SessionStart", "session-start");
const PROMPT: (&str, &str) = ("BeforeAgent", "user-prompt-submit");
const AFTER_TOOL: (&str, &str) = ("AfterTool", "post-tool-use");
const STOP: (&str, &str) = ("AfterAgent", "stop");
const END: (&str, &str) = ("SessionEnd", "session-end");
const COMPRESS: (&str, &str) = ("PreCompress", "pre-compact");

#[track_caller]
fn told(output: &Output, name: &str) -> String {
    let said = output.json();
    let said = &said["hookSpecificOutput"];
    assert_eq!(said["hookEventName"], name, "{}", output.stdout);
    said["additionalContext"].as_str().unwrap().to_owned()
}

/// LOA-LIFE-1, CALC-PAT-2: Gemini CLI drops what is said at a clear, so its first prompt after it is told where things stand
/// and what waits, once; until then nothing counts as delivered.
#[test]
fn after_a_clear_gemini_is_told_at_the_next_prompt() {
    for source in ["clear", "compact", ""] {
        let env = TestEnv::new();
        laid_out(&env);
        let started = hook(&env, "gemini", START, "s1", &json!({"source": "startup"}));
        assert!(told(&started, "SessionStart").contains("the schema changed"));
        hook(&env, "gemini", STOP, "s1", &json!({}));
        assert_eq!(state(&env, "m"), "seen");
        hook(&env, "gemini", END, "s1", &json!({"reason": "clear"}));
        send(&env, "n", "the port changed");
        let cleared = hook(&env, "gemini", START, "s2", &json!({"source": source}));
        assert_eq!(cleared.stdout, "{}\n", "{source}");
        hook(&env, "gemini", STOP, "s2", &json!({}));
        assert_eq!(state(&env, "n"), "queued", "{source}");
        let prompt = hook(&env, "gemini", PROMPT, "s2", &json!({"prompt": "hi"}));
        let text = told(&prompt, "BeforeAgent");
        for part in ["Use one pool", "the port changed"] {
            assert!(text.contains(part), "{source}: {part}: {text}");
        }
        assert_eq!(state(&env, "n"), "delivered", "{source}");
        hook(&env, "gemini", STOP, "s2", &json!({}));
        assert_eq!(state(&env, "n"), "seen", "{source}");
        let prompt = hook(&env, "gemini", PROMPT, "s2", &json!({"prompt": "hi"}));
        assert_eq!(prompt.stdout, "{}\n", "{source}");
    }
}

/// LOA-LIFE-1: after a person has had the context compressed the next prompt is told where things stand; what Gemini CLI says of
/// each request is passed over.
#[test]
fn after_a_compression_by_hand_gemini_is_told_at_the_next_prompt() {
    let env = TestEnv::new();
    laid_out(&env);
    hook(&env, "gemini", START, "s1", &json!({"source": "resume"}));
    let passed = hook(&env, "gemini", COMPRESS, "s1", &json!({"trigger": "auto"}));
    assert_eq!(passed.stdout, "{}\n");
    let prompt = hook(&env, "gemini", PROMPT, "s1", &json!({"prompt": "hi"}));
    assert_eq!(prompt.stdout, "{}\n");
    hook(
        &env,
        "gemini",
        COMPRESS,
        "s1",
        &json!({"trigger": "manual"}),
    );
    // Between, a tool's end tells nothing of it, nor does another session.
    let other = hook(&env, "gemini", PROMPT, "s9", &json!({"prompt": "hi"}));
    assert_eq!(other.stdout, "{}\n");
    let tool = json!({"tool_name": "run_shell_command", "tool_input": {"command": "ls"}});
    let after = hook(&env, "gemini", AFTER_TOOL, "s1", &tool);
    assert_eq!(after.stdout, "{}\n");
    let prompt = hook(&env, "gemini", PROMPT, "s1", &json!({"prompt": "hi"}));
    let text = told(&prompt, "BeforeAgent");
    // What it was handed and has not shown to have seen may be gone from its context.
    for part in ["Use one pool", "the schema changed"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let prompt = hook(&env, "gemini", PROMPT, "s1", &json!({"prompt": "hi"}));
    assert_eq!(prompt.stdout, "{}\n");
}

/// LOA-LIFE-1: a session that is over, or was told as it was resumed, is told nothing of it later; other clients are told at once.
#[test]
fn what_was_told_or_is_over_is_not_told_later() {
    let env = TestEnv::new();
    laid_out(&env);
    hook(
        &env,
        "gemini",
        COMPRESS,
        "s1",
        &json!({"trigger": "manual"}),
    );
    let resumed = hook(&env, "gemini", START, "s1", &json!({"source": "resume"}));
    assert!(told(&resumed, "SessionStart").contains("Use one pool"));
    hook(&env, "gemini", STOP, "s1", &json!({}));
    let prompt = hook(&env, "gemini", PROMPT, "s1", &json!({"prompt": "hi"}));
    assert_eq!(prompt.stdout, "{}\n");
    hook(&env, "gemini", START, "s2", &json!({"source": "clear"}));
    hook(&env, "gemini", END, "s2", &json!({"reason": "exit"}));
    let prompt = hook(&env, "gemini", PROMPT, "s2", &json!({"prompt": "hi"}));
    assert!(!prompt.stdout.contains("Use one pool"), "{}", prompt.stdout);
    let cleared = hook(&env, "qwen", START, "s1", &json!({"source": "clear"}));
    assert!(told(&cleared, "SessionStart").contains("Use one pool"));
}

/// CALC-PAT-2: in a project without sessions and on a machine without a mesh nothing is written.
#[test]
fn a_clear_without_anything_to_tell_leaves_no_trace() {
    let env = TestEnv::new();
    hook(&env, "gemini", START, "s1", &json!({"source": "clear"}));
    assert!(!env.machine_home().join("untold").exists());
}

/// CALC-PAT-2: what one session of a client sends to its own kind, another is handed, whether it is said by a command or a hook is
/// the sender's own.
#[test]
fn a_message_of_one_session_is_handed_to_another_of_its_client() {
    let env = TestEnv::new();
    env.git_init();
    let send = env.callosum().arguments([
        "mesh",
        "message",
        "send",
        "claude",
        "the schema changed",
        "--id",
        "m",
        "--as",
        "claude",
        "--session",
        "s1",
    ]);
    send.run().success();
    let tool = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": {}});
    let after = ("PostToolUse", "post-tool-use");
    let own = hook(&env, "claude", after, "s1", &tool);
    assert!(!own.stdout.contains("the schema changed"), "{}", own.stdout);
    assert_eq!(state(&env, "m"), "queued");
    let read = [
        "mesh",
        "message",
        "read",
        "--as",
        "claude",
        "--session",
        "s1",
    ];
    assert_eq!(env.run(read).success().stdout, "");
    let other = hook(&env, "claude", after, "s2", &tool);
    assert!(
        other.stdout.contains("the schema changed"),
        "{}",
        other.stdout
    );
    hook(&env, "claude", ("Stop", "stop"), "s2", &json!({}));
    assert_eq!(state(&env, "m"), "seen");
}
