//! `callosum memory` and `callosum find --sessions`, over the session files of clients.

use std::fs;

use callosum_testkit::{Schema, TestEnv};
use serde_json::{Value, json};

/// Writes a session of Claude Code that ran in the project.
fn write_session(env: &TestEnv, session: &str, texts: &[&str]) {
    let lines = texts.iter().enumerate().map(|(at, text)| {
        let speaker = if at % 2 == 0 { "user" } else { "assistant" };
        let line = json!({
            "type": speaker, "uuid": format!("{session}-{at}"), "sessionId": session, "cwd": env.project(),
            "timestamp": format!("2026-01-01T10:{at:02}:00Z"), "message": { "role": speaker, "content": text },
        });
        format!("{line}\n")
    });
    let text: String = lines.collect();
    let folder = env.home().join(".claude/projects/-p");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(format!("{session}.jsonl")), text).unwrap();
}

pub(crate) fn two_sessions() -> TestEnv {
    let env = TestEnv::new();
    env.write("src/queue.py", "def push(job):\n    return job\n");
    write_session(
        &env,
        "aaa",
        &[
            "Which broker do we need?",
            "None: jobs go to a table, see `def push(job):` [src/queue.py:1].",
        ],
    );
    write_session(
        &env,
        "bbb",
        &[
            "Paint the fence",
            "Green, with token ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        ],
    );
    env
}

fn found(env: &TestEnv, question: &str) -> Vec<Value> {
    let out = env.run(["find", "--sessions", "--json", question]);
    let out: Value = serde_json::from_str(&out.stdout).unwrap();
    assert_eq!(Schema::published("output-find-sessions").fault(&out), None);
    out["sessions"].as_array().unwrap().clone()
}

/// CALC-L5-2: nothing is read before the person turns the memory on.
#[test]
fn the_memory_is_off_until_it_is_turned_on() {
    let env = two_sessions();
    let refused = env.run(["find", "--sessions", "broker"]).ended_with(2);
    assert!(
        refused.stderr.contains("callosum memory on"),
        "{}",
        refused.stderr
    );
    assert!(!env.machine_home().join("memory").exists());
    let status = env.run(["memory", "status", "--json"]).success().json();
    assert_eq!(
        (&status["on"], &status["turns"]),
        (&json!(false), &json!(0))
    );
    assert_eq!(
        Schema::published("output-memory-status").fault(&status),
        None
    );
}

/// CALC-L5-1: a session is found with its origin and the command that resumes it; what was added is found at once.
#[test]
fn a_session_is_found_and_can_be_resumed() {
    let env = two_sessions();
    let said = env.run(["memory", "on"]).success().stderr;
    assert!(said.contains("4 turns in 2 sessions"), "{said}");
    let hits = found(&env, "why no broker");
    assert_eq!(hits[0]["session"], "aaa");
    assert_eq!(hits[0]["resume"], json!(["claude", "--resume", "aaa"]));
    assert_eq!(hits[0]["agent"], "claude-code");
    let text = env.run(["find", "--sessions", "broker"]).success().stdout;
    assert!(
        text.contains("user: Which broker") && text.contains("claude --resume aaa"),
        "{text}"
    );
    write_session(&env, "ccc", &["Deploy on Fridays?", "Never"]);
    assert_eq!(found(&env, "fridays")[0]["session"], "ccc");
    env.run(["find", "--sessions", "xylophone"]).ended_with(1);
}

/// CALC-L5-2: the citations of a hit are checked against the files as they are now.
#[test]
fn citations_of_a_session_are_checked_again() {
    let env = two_sessions();
    env.run(["memory", "on"]).success();
    assert_eq!(found(&env, "broker")[0]["verified"], "verified");
    env.write("src/queue.py", "def enqueue(job):\n    return job\n");
    assert_eq!(found(&env, "broker")[0]["verified"], "refuted");
    assert_eq!(found(&env, "fence")[0]["verified"], "not verified");
}

/// CALC-L5-2: no secret is stored, and the index is readable by its user alone.
#[test]
fn secrets_are_masked_before_they_are_stored() {
    use std::os::unix::fs::PermissionsExt as _;
    let env = two_sessions();
    env.run(["memory", "on"]).success();
    let exported = env.run(["memory", "export"]).success().stdout;
    assert_eq!(exported.lines().count(), 4);
    assert!(exported.contains("Green, with token [secret"), "{exported}");
    let folder = env.machine_home().join("memory");
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        let has = bytes.windows(10).any(|part| part == b"ghp_abcdef");
        assert!(!has, "{}", path.display());
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o077,
            0,
            "{}",
            path.display()
        );
    }
}

/// CALC-L5-2: a session, a folder and the whole index can be forgotten.
#[test]
fn sessions_and_folders_are_forgotten() {
    let env = two_sessions();
    env.run(["memory", "on"]).success();
    let out = env
        .run(["memory", "forget", "aaa", "--json"])
        .success()
        .json();
    assert_eq!(out["removed"], 2);
    assert_eq!(Schema::published("output-memory-change").fault(&out), None);
    assert_eq!(found(&env, "broker"), [] as [Value; 0]);
    env.run(["memory", "forget", "aaa"]).ended_with(1);
    env.run(["memory", "exclude", "."]).success();
    assert_eq!(found(&env, "fence"), [] as [Value; 0]);
    env.run(["memory", "exclude", ".", "--end"]).success();
    assert_eq!(found(&env, "fence").len(), 1);
    env.run(["memory", "exclude", ".", "--end"]).ended_with(2);
    env.run(["memory", "rebuild"]).success();
    assert_eq!(
        found(&env, "broker"),
        [] as [Value; 0],
        "a forgotten session is not read again"
    );
    env.run(["memory", "forget", "--all"]).success();
    assert!(!env.machine_home().join("memory/turns.db").exists());
    env.run(["find", "--sessions", "fence"]).ended_with(2);
}

/// CALC-L5-1: sessions of other projects are found with `--all-projects` alone.
#[test]
fn other_projects_are_found_if_they_are_asked_for() {
    let env = two_sessions();
    env.run(["memory", "on"]).success();
    fs::create_dir_all(env.home().join("other")).unwrap();
    let other = env.home().join("other");
    let other = other.to_str().unwrap();
    env.run(["-C", other, "find", "--sessions", "fence"])
        .ended_with(1);
    let out = env
        .run(["-C", other, "find", "--sessions", "fence", "--all-projects"])
        .success()
        .stdout;
    assert!(
        out.contains("cd ") && out.contains("claude --resume bbb"),
        "{out}"
    );
    env.run(["find", "--sessions", "fence", "--agent", "codex"])
        .ended_with(1);
    env.run(["find", "--sessions", "fence", "--since", "2026-01-02"])
        .ended_with(1);
    let refused = env
        .run(["find", "--sessions", "fence", "--agent", "cursor"])
        .ended_with(2);
    assert!(
        refused.stderr.contains("allowed: claude-code, codex"),
        "{}",
        refused.stderr
    );
}

/// CALC-L5-1: a model is installed only if its files have the hashes that are known; what pip may not see is not passed on.
#[test]
fn a_model_with_another_hash_is_refused() {
    let env = two_sessions();
    let pip = env.programs().join("python3");
    let script = "#!/bin/sh\nenv > seen.txt\ncase $2 in\n pip) : > wordllama.whl ;;\n\
         zipfile) mkdir -p wordllama/weights wordllama/tokenizers; echo x > wordllama/weights/l2_supercat_256.safetensors;\n\
         grep -q TOKEN seen.txt && echo y >&2 && exit 1; cp wordllama/weights/* wordllama/tokenizers/ ;;\nesac\n";
    fs::write(&pip, script).unwrap();
    make_executable(&pip);
    let install = env
        .callosum()
        .arguments(["memory", "model", "install"])
        .env("MY_TOKEN", "secret");
    let refused = install.run().ended_with(3);
    assert!(
        refused.stderr.contains("has the SHA-256")
            && refused.stderr.contains("nothing was installed"),
        "{}",
        refused.stderr
    );
    assert!(!env.configuration().with_file_name("model").exists());
    fs::write(&pip, "#!/bin/sh\necho 'no network' >&2\nexit 1\n").unwrap();
    let refused = env.run(["memory", "model", "install"]).ended_with(3);
    assert!(
        refused.stderr.contains("no network") && refused.stderr.contains("hint:"),
        "{}",
        refused.stderr
    );
    env.write(
        env.configuration()
            .with_file_name("model")
            .join("tokenizer.json"),
        "{}",
    );
    let refused = env.run(["memory", "model", "install"]).ended_with(3);
    assert!(
        refused.stderr.contains("of another model"),
        "{}",
        refused.stderr
    );
    env.run(["memory", "on"]).ended_with(0);
}

fn make_executable(path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}
