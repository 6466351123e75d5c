//! Coding agents that speak the Agent Client Protocol, run as executors.

use callosum_agents::{
    protocol::Request,
    registry::Executor,
    runner::{self, RunError, Sign},
};
use callosum_testkit::{TestEnv, fakes};
use serde_json::Value;

use crate::projects::{surroundings, two_languages};

fn register(env: &TestEnv, name: &str, options: &str) -> i32 {
    let command = format!("'{}' {options}", fakes::program("fake-acp").display());
    let arguments = [
        "executor",
        "register",
        name,
        "--protocol",
        "acp",
        "--quiet-ms",
        "1500",
        "--writable",
        "notes/",
    ];
    env.run(arguments.iter().copied().chain(["--command", &command]))
        .code
}

fn delegate(env: &TestEnv, executor: &str, code: i32) -> Value {
    let run = env.callosum();
    let run = run.arguments(["delegate", "Map it.", "--executor", executor, "--json"]);
    run.env("CAL_RETRY_MAX", "0").run().ended_with(code).json()
}

/// CAL-EXE-2, CAL-COM-1: an agent answers into the ledger, with its tokens; it reads the tree through
/// us, and what it wanted to write was refused.
#[test]
fn an_agent_answers_into_the_ledger_and_is_granted_nothing() {
    let env = two_languages();
    assert_eq!(register(&env, "agent", ""), 0);
    let output = delegate(&env, "agent", 0);
    assert_eq!(
        output["summary"],
        "It adds: `mod sum;` [src/main.rs:3]. Granted: false."
    );
    assert_eq!(output["tokens_used"], 120, "{output}");
    assert_eq!(output["citations"]["verified"], 1, "{output}");
    assert!(!env.project().join("owned-by-agent").exists());
    let listed = env.run(["executor", "list", "--json"]).success().stdout;
    assert!(listed.contains("3.1.0"), "{listed}");
}

/// CAL-ERR-1, CAL-ERR-2, CAL-ERR-3: each way of failing has its code and its cause in words.
#[test]
fn an_agent_that_fails_is_told_with_code_and_cause() {
    let env = two_languages();
    for (options, code, says) in [
        (
            "--crash",
            "E003",
            "was cut off in the middle of its answer: the agent ended",
        ),
        ("--stall", "E002", "was silent for 1500 ms"),
        ("--stall --deaf", "E002", "was silent for 1500 ms"),
        (
            "--logged-out",
            "E001",
            "is not logged in: Authentication required",
        ),
    ] {
        let name = options.replace([' ', '-'], "");
        let name = name.as_str();
        assert_eq!(register(&env, name, options), 0, "{options}");
        let output = delegate(&env, name, 1);
        assert_eq!(output["error"]["code"], code, "{output}");
        let message = output["error"]["message"].as_str().unwrap();
        assert!(message.contains(says), "{message}");
    }
    assert_eq!(register(&env, "old", "--old"), 1);
    let check = env
        .run(["executor", "check", "old", "--json"])
        .ended_with(1);
    assert!(
        check.stdout.contains("protocol version 0"),
        "{}",
        check.stdout
    );
}

/// CAL-ERR-2: at a deadline an agent is told that nobody waits any more, and what it had said by then
/// is kept.
#[test]
fn an_agent_is_told_before_it_is_ended() {
    let env = two_languages();
    assert_eq!(register(&env, "agent", "--stall --heard notes/heard"), 0);
    let output = delegate(&env, "agent", 1);
    assert_eq!(output["error"]["code"], "E002", "{output}");
    let heard = env.read("notes/heard");
    assert!(heard.contains("session/cancel"), "{heard}");
    let details = output["error"]["details"].as_str().unwrap();
    let (_, hash) = details
        .split_once("what had come of an answer is kept as ")
        .unwrap();
    let kept = env.read(format!(".cal_answers/{}/{}", &hash[..2], &hash[2..64]));
    assert_eq!(kept, "It adds:");
}

/// CAL-ERR-2: and so it is where somebody cancels.
#[test]
fn an_agent_is_told_that_somebody_cancelled() {
    let env = two_languages();
    env.write("heard", "");
    let program = fakes::program("fake-acp");
    let template = format!("'{}' --stall --heard heard", program.display());
    let mut executor = Executor::cli("agent", &template);
    executor.protocol = Some("acp".to_owned());
    let surroundings = surroundings(&env);
    let cancel = surroundings.cancel.clone();
    let answer = runner::run(&executor, &Request::bare("x"), &surroundings, &mut |sign| {
        // It does something, so it was asked.
        if matches!(sign, Sign::Doing(_)) {
            cancel.cancel();
        }
    });
    assert!(
        matches!(answer, Err(RunError::Cancelled { .. })),
        "{answer:?}"
    );
    let heard = env.read("heard");
    assert!(heard.contains("session/cancel"), "{heard}");
}
