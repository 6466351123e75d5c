//! Tasks and files come back whose owners have ended, whether they said so or were killed.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Stdio},
};

use callosum_testkit::{Output, TestEnv, fakes};
use serde_json::{Value, json};

/// A client that begins a session by its hook, claims a task and takes a lease as its model does, by a shell,
/// says so, and works on.
const CLIENT: &str = r#"
import json, os, subprocess, sys, time
program, project = sys.argv[1:]
event = {"hook_event_name": "SessionStart", "session_id": "s-1", "cwd": project, "source": "startup"}
hook = f"'{program}' hook codex session-start"
subprocess.run(hook, shell=True, input=json.dumps(event), text=True, check=True, stdout=subprocess.DEVNULL)
os.environ["CODEX_THREAD_ID"] = "s-1"
for words in ["task claim t1", "lease take src/a.rs --reason renaming"]:
    subprocess.run(f"'{program}' mesh {words}; true", shell=True, check=True, stdout=subprocess.DEVNULL)
print("at work", flush=True)
time.sleep(600)
"#;

pub(crate) struct Client(pub(crate) Child);

impl Client {
    pub(crate) fn at_work(env: &TestEnv) -> Self {
        let run = env.program("python3".into()).arguments(["-c", CLIENT]);
        let run = run
            .arguments([fakes::program("callosum")])
            .arguments([env.project()]);
        let mut command = run.without("CALLOSUM_TEST_IDS").command();
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let output = child.stdout.take().unwrap();
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line).unwrap();
        assert_eq!(line, "at work\n");
        Self(child)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // A test that failed leaves none behind.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

pub(crate) fn with_a_task() -> TestEnv {
    let env = TestEnv::new();
    env.write("src/a.rs", "fn a() {}\n");
    let add = [
        "mesh", "task", "add", "Count", "--id", "t1", "--as", "person",
    ];
    env.run(add).success();
    env
}

fn mesh(env: &TestEnv, words: &[&str]) -> Value {
    let words = [&["mesh"], words, &["--json"]].concat();
    env.run(words).success().json()
}

fn task(env: &TestEnv) -> Value {
    mesh(env, &["task", "show", "t1"])
}

fn leases(env: &TestEnv) -> usize {
    let listed = mesh(env, &["lease", "list"]);
    listed["leases"].as_array().unwrap().len()
}

fn done(env: &TestEnv, more: &[&str]) -> Output {
    let done = ["mesh", "task", "done", "t1", "--as", "codex"];
    env.run(done.iter().chain(more))
}

/// CALC-FAIL-1, CALC-PAT-2: a task whose owner was killed goes back to the queue at the next look at it, and the owner's
/// number is worth nothing any more.
#[cfg(target_os = "linux")]
#[test]
fn what_a_killed_client_held_comes_back() {
    let env = with_a_task();
    let mut client = Client::at_work(&env);
    let claimed = task(&env);
    assert_eq!(claimed["status"], "in_progress");
    assert_eq!(claimed["claimed_by"], "codex");
    let token = claimed["token"].to_string();
    assert_eq!(leases(&env), 1);
    let other = ["mesh", "task", "claim", "t1", "--as", "gemini"];
    env.run(other).ended_with(1);
    client.0.kill().unwrap();
    // Nobody has asked yet how it ended.
    assert_eq!(task(&env)["status"], "pending");
    assert_eq!(leases(&env), 0);
    let told = env.run(["mesh", "tail", "--topic", "session.end", "--json"]);
    let told: Value = serde_json::from_str(&told.success().stdout).unwrap();
    assert_eq!(told["source"], "codex");
    assert_eq!(told["session_id"], "s-1");
    assert_eq!(told["payload"]["reason"], "its process has ended");
    let lost = done(&env, &["--token", &token]).ended_with(1);
    assert!(
        lost.stderr.contains("went back to the queue"),
        "{}",
        lost.stderr
    );
    env.run(other).success();
    let stale = done(&env, &["--token", &token, "--force"]).ended_with(1);
    assert!(
        stale.stderr.contains("lost and taken again"),
        "{}",
        stale.stderr
    );
    let now = task(&env)["token"].to_string();
    assert!(now.parse::<u64>().unwrap() > token.parse::<u64>().unwrap());
    let as_gemini = [
        "mesh", "task", "done", "t1", "--as", "gemini", "--token", &now,
    ];
    env.run(as_gemini).success();
}

/// CALC-PAT-2: a session that ends gives back what it has, whatever becomes of its client's process.
#[cfg(target_os = "linux")]
#[test]
fn what_a_session_held_comes_back_when_it_ends() {
    let env = with_a_task();
    let _client = Client::at_work(&env);
    let end = json!({"hook_event_name": "SessionEnd", "session_id": "s-1", "cwd": env.project(), "reason": "clear"});
    let hook = env.callosum().arguments(["hook", "codex", "session-end"]);
    hook.input(end.to_string()).run().success();
    assert_eq!(task(&env)["status"], "pending");
    assert_eq!(leases(&env), 0);
}

/// CALC-PAT-2: two sessions of one agent are two to one another; what one has claimed the other neither claims nor ends.
#[test]
fn two_sessions_of_an_agent_do_not_take_from_one_another() {
    let env = with_a_task();
    let speak = |words: &[&str], session: &str| {
        let words = [&["mesh"], words, &["--as", "claude", "--session", session]].concat();
        env.run(words)
    };
    speak(&["task", "claim", "t1"], "one").success();
    let token = task(&env)["token"].clone();
    // Claimed anew by the same it is the same claim.
    speak(&["task", "claim", "t1"], "one").success();
    assert_eq!(task(&env)["token"], token);
    speak(&["task", "claim", "t1"], "two").ended_with(1);
    speak(&["task", "done", "t1"], "two").ended_with(1);
    speak(&["lease", "take", "src/a.rs"], "one").success();
    speak(&["lease", "take", "src/a.rs"], "two").ended_with(1);
    let held = mesh(&env, &["lease", "list"])["leases"][0]["token"].as_u64();
    let other = (held.unwrap() + 1).to_string();
    let stale = speak(&["lease", "release", "src/a.rs", "--token", &other], "one");
    let stale = stale.ended_with(1).stderr;
    assert!(stale.contains("is now held under token"), "{stale}");
    speak(&["task", "done", "t1"], "one").success();
}
