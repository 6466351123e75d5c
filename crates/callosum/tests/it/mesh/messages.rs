//! Messages, to an agent and to one session of it.

use callosum_testkit::TestEnv;

use super::json;

/// CALC-PAT-2: what waits is read once, and shown without obeying it.
#[test]
fn messages_are_read_and_acknowledged() {
    let env = TestEnv::new();
    let said = "look\u{1b}[2J\u{202e} here";
    env.run([
        "mesh", "message", "send", "codex", said, "--as", "claude", "--id", "m1",
    ])
    .success();
    let peeked = env
        .run(["mesh", "message", "read", "--as", "codex", "--peek"])
        .success();
    assert!(
        !peeked.stdout.contains(['\u{1b}', '\u{202e}']),
        "{:?}",
        peeked.stdout
    );
    assert!(
        peeked.stdout.starts_with("m1 2026-")
            && peeked.stdout.contains("Z claude-code to codex: look"),
        "{}",
        peeked.stdout
    );
    assert_eq!(
        env.run(["mesh", "message", "read", "--as", "gemini"])
            .success()
            .stdout,
        ""
    );
    let read = json(&env, &["message", "read", "--as", "codex"]);
    assert_eq!(read["messages"][0]["content"], said);
    assert_eq!(
        json(&env, &["message", "read", "--as", "codex"])["messages"],
        serde_json::json!([])
    );
    assert_eq!(
        json(&env, &["message", "list", "--all"])["messages"][0]["state"],
        "acked"
    );
    env.run(["mesh", "message", "retry", "m1"]).ended_with(1);
    env.run(["mesh", "message", "send", "codex", ""])
        .ended_with(2);
}

/// CALC-PAT-2, CALC-PAT-4: what is said may come from standard input, as words of several lines do.
#[test]
fn what_is_said_may_come_from_standard_input() {
    let env = TestEnv::new();
    let says = |words: &[&str]| {
        let words = [&["mesh"], words].concat();
        let said = env.callosum().arguments(words).input("one\n\"two\"\n");
        said.run()
    };
    says(&["message", "send", "codex", "-"]).success();
    says(&["discovery", "share", "-"]).success();
    says(&["task", "add", "-", "--id", "t"]).success();
    says(&["task", "done", "t", "--result", "-"]).success();
    let said = "one\n\"two\"";
    let first = |verb: &str, key: &str| json(&env, &[verb, "list"])[key][0]["content"].clone();
    assert_eq!(first("message", "messages"), said);
    assert_eq!(first("discovery", "discoveries"), said);
    let task = json(&env, &["task", "show", "t"]);
    assert_eq!(
        (&task["prompt"], &task["result"]),
        (&said.into(), &said.into())
    );
    let nothing = env.callosum().input("\n");
    nothing
        .arguments(["mesh", "message", "send", "codex", "-"])
        .run()
        .ended_with(2);
    let more = env.callosum().input(vec![b'x'; 70_000]);
    let more = more.arguments(["mesh", "message", "send", "codex", "-"]);
    let refused = more.run().ended_with(2).stderr;
    assert!(refused.contains("65536"), "{refused}");
}

/// CALC-PAT-2: a message may be addressed to one session of an agent, which alone reads it.
#[test]
fn a_message_may_be_for_one_session() {
    let env = TestEnv::new();
    let read = |session: &str| {
        let words = [
            "message",
            "read",
            "--peek",
            "--as",
            "codex",
            "--session",
            session,
        ];
        json(&env, &words)["messages"].as_array().unwrap().len()
    };
    for session in ["s1", "s2"] {
        env.run([
            "mesh",
            "publish",
            "session.start",
            "--as",
            "codex",
            "--session",
            session,
            "--wait",
        ])
        .success();
    }
    env.run(["mesh", "message", "send", "codex@s2", "look"])
        .success();
    assert_eq!((read("s1"), read("s2")), (0, 1));
    let nobody = env
        .run(["mesh", "message", "send", "codex@s9", "look", "--id", "m9"])
        .ended_with(1);
    assert!(
        nobody
            .stderr
            .contains("session s9 of codex is not active; active: s2, s1"),
        "{}",
        nobody.stderr
    );
    env.run(["mesh", "message", "send", "codex@-x", "look"])
        .ended_with(2);
}
