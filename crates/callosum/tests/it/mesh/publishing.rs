//! Events of any topic.

use callosum_testkit::TestEnv;

use super::{json, lines};

/// CALC-L1-2: a publisher with a dry run, a window of five seconds an agent, and an acknowledgement that says what it means.
#[test]
fn events_are_published_shown_and_held_back() {
    let env = TestEnv::new();
    let dry = env.run([
        "mesh",
        "publish",
        "agent.note",
        "--payload",
        "{\"a\": 1}",
        "--dry-run",
    ]);
    let dry = dry.success().json();
    assert_eq!(dry["payload"]["a"], 1);
    for tail in [&["tail"][..], &["tail", "--since", "1h"]] {
        let told = env.run([&["mesh"], tail].concat()).success();
        assert_eq!((&*told.stdout, told.stderr.trim()), ("", "no events"));
    }
    let told = json(
        &env,
        &[
            "publish",
            "agent.note",
            "--payload",
            "{\"key\": \"AKIAIOSFODNN7EXAMPLE\"}",
            "--as",
            "codex",
        ],
    );
    assert_eq!(told["durability"], "logged");
    assert_eq!(told["event"]["seq"], 1);
    let early = env
        .run(["mesh", "publish", "agent.note", "--as", "codex"])
        .ended_with(1);
    assert!(early.stderr.contains("five seconds"), "{}", early.stderr);
    // The window is each agent's own.
    let other = env.run([
        "mesh",
        "publish",
        "build.done",
        "--as",
        "gemini",
        "--durability",
        "synced",
    ]);
    assert!(other.success().stdout.ends_with(":2 synced\n"));
    let tail = env.run(["mesh", "tail", "--json"]).success();
    let events = lines(&tail.stdout);
    assert_eq!(events[0]["payload"]["key"], "[secret: aws access key]");
    assert_eq!(events[1]["source"], "gemini-cli");
    let some = env
        .run(["mesh", "tail", "--topic", "build.*", "--since", "1"])
        .success();
    assert!(some.stdout.starts_with("2 "), "{}", some.stdout);
    let wrong = env.run(["mesh", "publish", "a b"]).ended_with(2);
    assert!(wrong.stderr.contains("is not a topic"), "{}", wrong.stderr);
    env.run(["mesh", "publish", "a", "--payload", "[1]"])
        .ended_with(2);
    env.run(["mesh", "tail", "--since", "yesterday"])
        .ended_with(2);
}

/// CALC-L1-2: an event that is published again under its id is the one that stands there, and waits for no window.
#[test]
fn a_repeated_event_is_one() {
    let env = TestEnv::new();
    let publish = |agent: &str, id: &str| {
        let words = [
            "publish",
            "build.done",
            "--payload",
            "{\"n\": 1}",
            "--as",
            agent,
        ];
        json(&env, &[&words[..], &["--id", id]].concat())
    };
    let first = publish("codex", "build-1");
    let again = publish("codex", "build-1");
    assert_eq!(
        (&first["repeated"], &again["repeated"]),
        (&false.into(), &true.into())
    );
    assert_eq!(first["event"], again["event"]);
    assert_eq!(first["cursor"], again["cursor"]);
    // An id is its author's own.
    assert_eq!(publish("gemini", "build-1")["repeated"], false);
    let early = [
        "mesh",
        "publish",
        "build.done",
        "--as",
        "codex",
        "--id",
        "build-2",
    ];
    env.run(early).ended_with(1);
    let tail = env.run(["mesh", "tail", "--json"]).success().stdout;
    assert_eq!(lines(&tail).len(), 2);
    env.run(["mesh", "publish", "a", "--id", ""]).ended_with(2);
    // Another event under it is refused, also where nothing would be published, with where the first one stands.
    let other = [
        "mesh",
        "publish",
        "build.done",
        "--payload",
        "{\"n\": 2}",
        "--as",
        "codex",
        "--id",
        "build-1",
    ];
    for words in [other.to_vec(), [&other[..], &["--dry-run"]].concat()] {
        let refused = env.run(words).ended_with(1).stderr;
        let what = "`build-1` is already the id of another event of codex (number 1) with different content: use another id\nhint: callosum mesh tail --since 0\n";
        assert!(refused.contains(what), "{refused}");
    }
}

/// CALC-L1-2: of several that an agent publishes at the same moment one is let through.
#[test]
fn of_those_who_publish_at_once_one_does() {
    let env = TestEnv::new();
    env.run(["mesh", "task", "list"]).success();
    let codes: Vec<i32> = std::thread::scope(|scope| {
        let publish = || {
            let words = ["mesh", "publish", "agent.note", "--as", "codex"];
            env.run(words).code
        };
        let all: Vec<_> = (0..8).map(|_| scope.spawn(publish)).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let let_through = codes.iter().filter(|code| **code == 0).count();
    assert_eq!(let_through, 1, "{codes:?}");
    assert!(codes.iter().all(|code| [0, 1].contains(code)), "{codes:?}");
}

/// CALC-L1-2: whose clock was set back waits five seconds, and not until it is as late again.
#[test]
fn a_clock_that_was_set_back_keeps_nobody_for_longer_than_the_window() {
    let env = TestEnv::new();
    let publish = |time: &str| {
        let run = env.callosum();
        let run = run.arguments(["mesh", "publish", "a.b", "--as", "codex"]);
        run.env("CALLOSUM_TEST_CLOCK", time).run()
    };
    publish("2026-01-02T12:00:00Z").success();
    for _ in 0..2 {
        publish("2026-01-02T11:00:00Z").ended_with(1);
    }
    publish("2026-01-02T11:00:06Z").success();
}

/// CALC-L1-2: an event carries the session that published it, also where its client does not say which that is.
#[test]
fn an_event_carries_the_session_that_published_it() {
    for (client, mark) in [("gemini", "GEMINI_CLI"), ("codex", "NONE")] {
        let env = TestEnv::new();
        let send = ["mesh", "message", "send", "codex", "x", "--as", "person"];
        env.run(send).success();
        let event = serde_json::json!({
            "session_id": "s1", "cwd": env.project(), "hook_event_name": "SessionStart", "source": "startup",
        });
        let hook = env.callosum().arguments(["hook", client, "session-start"]);
        hook.input(event.to_string()).run().success();
        let publish = ["mesh", "publish", "a.b", "--as", client, "--json"];
        let run = env.callosum().arguments(publish).env(mark, "1");
        let told = run.run().success().json();
        assert_eq!(told["event"]["session_id"], "s1", "{client}");
    }
}
