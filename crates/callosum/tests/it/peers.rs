//! Coding agents that speak the Agent Client Protocol, run as executors.

use callosum_executor::{
    protocol::Request,
    registry::Executor,
    runner::{self, RunError, Sign},
};
use callosum_host::Disk;
use callosum_testkit::{TestEnv, fakes, with_time_enough};
use serde_json::Value;

use crate::projects::{surroundings, two_languages};

/// How long the agents that fall silent may, in milliseconds.
const QUIET: u64 = 1500;

fn register(env: &TestEnv, name: &str, options: &str) -> i32 {
    let is_silent = options.contains("--stall");
    register_with(env, name, options, if is_silent { QUIET } else { 60_000 })
}

fn register_with(env: &TestEnv, name: &str, options: &str, quiet_ms: u64) -> i32 {
    let quiet = format!("{quiet_ms}ms");
    let command = format!("'{}' {options}", fakes::program("fake-acp").display());
    let arguments = [
        "executor",
        "register",
        name,
        "--protocol",
        "acp",
        "--idle-timeout",
        &quiet,
        "--allow-write",
        "notes/",
    ];
    env.run(arguments.into_iter().chain(["--command", &command]))
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

/// LOA-SEC-1: an agent that nothing confines is set to a mode in which it asks before it writes; one that offers none is
/// not asked at all. A notice of its adapter is no part of the answer.
#[test]
fn an_agent_that_is_not_confined_must_ask_before_it_writes() {
    let env = two_languages();
    let register = |name: &str, options: &str| {
        let command = format!("'{}' {options}", fakes::program("fake-acp").display());
        let arguments = ["executor", "register", name, "--protocol", "acp"];
        let arguments = arguments.into_iter().chain(["--sandbox", "off"]);
        env.run(arguments.chain(["--command", &command])).success();
    };
    register("open", "");
    let output = delegate(&env, "open", 0);
    assert_eq!(
        output["summary"],
        "It adds: `mod sum;` [src/main.rs:3]. Granted: false."
    );
    assert!(!env.project().join("written-unasked").exists());
    register("bold", "--no-modes");
    let output = delegate(&env, "bold", 1);
    let told = |key: &str| output["error"][key].as_str().unwrap_or_default().to_owned();
    assert!(
        told("message").contains("may write without asking"),
        "{output}"
    );
    assert_eq!(
        told("hint"),
        "callosum executor register bold --sandbox best-effort",
        "{output}"
    );
    assert!(!env.project().join("written-unasked").exists());
}

/// CAL-EXE-2: a client that speaks the protocol itself is started to speak it where no command is named; for
/// one that does not, it is said what does.
#[test]
fn a_known_client_is_registered_by_its_own_command_for_the_protocol() {
    let env = two_languages();
    let program = fakes::program("fake-acp");
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = --acp ] && exec '{}'\n",
        program.display()
    );
    Disk::real()
        .replace(&env.programs().join("gemini"), script.as_bytes(), 0o755)
        .unwrap();
    let folder = program.parent().unwrap().to_str().unwrap();
    let acp = ["--protocol", "acp"];
    let arguments = ["executor", "register", "gemini", "--allow-read", folder];
    env.run(arguments.into_iter().chain(acp)).success();
    assert!(env.read("registry.json").contains("gemini --acp"));
    for (name, says) in [
        (
            "claude",
            "register claude --protocol acp --command claude-agent-acp",
        ),
        ("codex", "register codex --protocol acp --command codex-acp"),
        (
            "ollama",
            "register ollama --protocol acp --command TEMPLATE",
        ),
    ] {
        let run = env.run(["executor", "register", name].into_iter().chain(acp));
        let stderr = run.ended_with(2).stderr;
        assert!(
            stderr.contains("does not speak the Agent Client Protocol"),
            "{stderr}"
        );
        assert!(stderr.contains(says), "{stderr}");
    }
}

/// CAL-ERR-1, CAL-ERR-3: an agent that says no word of the protocol is told of with its exit code and what it
/// said last, wherever it is asked.
#[test]
fn an_agent_that_does_not_begin_is_told_of_with_its_own_words() {
    let env = two_languages();
    let script = "#!/bin/sh\nprintf '\\033[31mbad config\\033[0m\\n    at a (file:///a.js:1:2)\\n' >&2\nexit 3\n";
    Disk::real()
        .replace(&env.programs().join("odd"), script.as_bytes(), 0o755)
        .unwrap();
    let register = ["executor", "register", "odd", "--protocol", "acp"];
    let registered = env.run(register.into_iter().chain(["--command", "odd"]));
    let checked = env.run(["executor", "check", "odd"]);
    for told in [
        registered.ended_with(1).stderr,
        checked.ended_with(1).stdout,
    ] {
        let says = "the agent ended with exit code 3 and wrote nothing; its output: bad config";
        assert!(told.contains(says), "{told}");
        assert!(!told.contains("a.js"), "{told}");
    }
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
    env.write("notes/heard", "");
    let output = with_time_enough(|milliseconds| {
        let options = "--stall --heard notes/heard";
        assert_eq!(register_with(&env, "agent", options, milliseconds), 0);
        let output = delegate(&env, "agent", 1);
        assert_eq!(output["error"]["code"], "E002", "{output}");
        let is_told = env.read("notes/heard").contains("session/cancel");
        is_told.then_some(output)
    });
    let details = output["error"]["details"].as_str().unwrap();
    let (_, hash) = details
        .split_once("the partial answer is stored as ")
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
