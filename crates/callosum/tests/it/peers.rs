//! Coding agents that speak the Agent Client Protocol, run as executors.

use callosum_testkit::{TestEnv, fakes};
use serde_json::Value;

use crate::projects::two_languages;

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
        (
            "--logged-out",
            "E001",
            "is not logged in: Authentication required",
        ),
    ] {
        let name = options.trim_start_matches('-');
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
        check.stdout.contains("speaks version 0"),
        "{}",
        check.stdout
    );
}
