//! Delegations that go on by themselves: started, listed, waited for, fetched, cancelled, killed.

use std::{
    thread,
    time::{Duration, Instant},
};

use callosum_host::Disk;
use callosum_testkit::TestEnv;
use serde_json::Value;

use crate::projects::{register_with, two_languages};

/// An answer with a citation that holds.
const ANSWER: &str = "It begins in `mod sum;` [src/main.rs:3].";

/// A project with an executor `slow` that answers once the file `go` is in the folder of the test.
fn with_slow() -> TestEnv {
    let env = two_languages();
    let file = env.programs().join("slow");
    let text = format!(
        "#!/bin/sh\ncase \"$1\" in --version) echo 1.0; exit;; esac\ncat >/dev/null\n\
         while [ ! -e '{}' ]; do sleep 0.05; done\necho '{ANSWER}'\n",
        env.folder().join("go").display()
    );
    Disk::real().replace(&file, text.as_bytes(), 0o755).unwrap();
    let options = ["--protocol", "text", "--sandbox", "off"];
    register_with(&env, "slow", &file.display().to_string(), &options);
    env
}

fn go(env: &TestEnv) {
    let file = env.folder().join("go");
    Disk::real().replace(&file, b"", 0o644).unwrap();
}

/// Orders a run, and returns its id.
fn detach(env: &TestEnv, prompt: &str) -> String {
    let run = env.run([
        "delegate",
        prompt,
        "--executor",
        "slow",
        "--detach",
        "--json",
    ]);
    run.success().json()["run"].as_str().unwrap().to_owned()
}

fn state(env: &TestEnv, run: &str) -> String {
    let listed = env.run(["executor", "runs", "--json"]).success().json();
    let runs = listed["runs"].as_array().unwrap();
    let one = runs.iter().find(|one| one["run"] == run);
    one.unwrap_or_else(|| panic!("{listed}"))["state"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// Waits until a run has this state.
fn wait_for(env: &TestEnv, run: &str, wanted: &str) {
    let until = Instant::now() + Duration::from_mins(1);
    loop {
        let now = state(env, run);
        if now == wanted {
            return;
        }
        assert!(Instant::now() < until, "{run} is {now}");
        thread::sleep(Duration::from_millis(50));
    }
}

/// Returns the processes of this test whose command line names a run. Tests that run beside it have the same ids of runs,
/// and another home.
fn processes(env: &TestEnv, run: &str) -> Vec<u32> {
    let folder = env.folder().display().to_string();
    let listed = std::fs::read_dir("/proc").unwrap();
    let pids = listed.filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
    pids.filter(|pid| {
        let has = |file: &str, text: &str| {
            let bytes = std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
            String::from_utf8_lossy(&bytes).contains(text)
        };
        has("cmdline", run) && has("environ", &folder)
    })
    .collect()
}

fn fetched(env: &TestEnv, run: &str, code: i32) -> Value {
    let output = env.run(["executor", "runs", "fetch", run, "--json"]);
    output.ended_with(code).json()
}

/// A detached delegation survives its caller, and its result is fetched as `delegate` would have printed it.
#[test]
fn a_detached_delegation_is_waited_for_and_fetched() {
    let env = with_slow();
    let run = detach(&env, "Where does it begin?");
    wait_for(&env, &run, "running");
    let early = env.run(["executor", "runs", "fetch", &run]).ended_with(5);
    assert!(early.stderr.contains("no result yet"), "{}", early.stderr);
    let waited = env.run(["executor", "runs", "wait", &run, "--timeout", "1s"]);
    waited.ended_with(5);
    go(&env);
    let waited = env.run(["executor", "runs", "wait", &run]).success();
    assert_eq!(waited.stdout.trim(), ANSWER);
    let output = fetched(&env, &run, 0);
    assert_eq!(output["summary"], ANSWER, "{output}");
    assert_eq!(output["citations"]["verified"], 1, "{output}");
    assert_eq!(state(&env, &run), "succeeded");
    let id = output["task_id"].as_str().unwrap();
    env.run(["ledger", "show", id]).success();
    env.run(["ledger", "verify"]).success();
}

/// Several at once have ids of their own, and do not disturb one another.
#[test]
fn detached_delegations_at_once_do_not_disturb_one_another() {
    let env = with_slow();
    let runs = ["one?", "two?", "three?"].map(|prompt| detach(&env, prompt));
    assert!(runs[0] != runs[1] && runs[1] != runs[2] && runs[0] != runs[2]);
    go(&env);
    for run in &runs {
        env.run(["executor", "runs", "wait", run]).success();
        assert_eq!(fetched(&env, run, 0)["summary"], ANSWER);
    }
    let listed = env.run(["executor", "runs", "--json"]).success().json();
    assert_eq!(listed["runs"].as_array().unwrap().len(), 3, "{listed}");
    env.run(["ledger", "verify"]).success();
}

/// A run is cancelled by its id; what it started ends with it.
#[test]
fn a_detached_delegation_is_cancelled() {
    let env = with_slow();
    let run = detach(&env, "Where does it begin?");
    wait_for(&env, &run, "running");
    let cancelled = env.run(["executor", "runs", "cancel", &run, "--json"]);
    assert_eq!(cancelled.success().json()["state"], "cancelled");
    assert_eq!(fetched(&env, &run, 1)["status"], "cancelled");
    // Once more changes nothing.
    env.run(["executor", "runs", "cancel", &run]).success();
    let unknown = env
        .run(["executor", "runs", "cancel", "../x"])
        .ended_with(2);
    assert!(
        unknown.stderr.contains("no detached run"),
        "{}",
        unknown.stderr
    );
}

/// A run whose process was killed is told as such, and not as one that works.
#[test]
fn a_killed_run_is_reported_as_killed() {
    let env = with_slow();
    let run = detach(&env, "Where does it begin?");
    wait_for(&env, &run, "running");
    for pid in processes(&env, &run) {
        let kill = env.program("kill".into());
        kill.arguments(["-9", &pid.to_string()]).run().success();
    }
    go(&env);
    wait_for(&env, &run, "killed");
    let waited = env.run(["executor", "runs", "wait", &run]).ended_with(1);
    assert!(waited.stderr.contains("was killed"), "{}", waited.stderr);
}

/// What cannot be run at all is a result, too.
#[test]
fn a_detached_delegation_that_is_refused_has_a_result() {
    let env = two_languages();
    let ordered = env.run(["delegate", "x", "--executor", "none", "--detach"]);
    let run = ordered.success().stdout.trim().to_owned();
    let waited = env.run(["executor", "runs", "wait", &run]).ended_with(1);
    assert!(waited.stderr.contains("none"), "{}", waited.stderr);
    assert_eq!(state(&env, &run), "failed");
}
