//! Files that two agents edit at the same time.

use std::fs;

use callosum_testkit::{Output, Schema, TestEnv};
use serde_json::{Value, json};

use super::json as mesh_json;
use crate::agent_calls::Agent;

const BASE: &str = "one\ntwo\nthree\nfour\nfive\n";
const BY_CODEX: &str = "ONE\ntwo\nthree\nfour\nfive\n";
const BY_CLAUDE: &str = "one\ntwo\nthree\nfour\nFIVE\n";
const BOTH: &str = "ONE\ntwo\nthree\nfour\nFIVE\n";

/// A repository with one file, and a mesh.
fn repository() -> TestEnv {
    let env = TestEnv::new();
    env.write("src/a.txt", BASE);
    env.git_init();
    env.run(["mesh", "lease", "list"]).success();
    env.run(["mesh", "discovery", "share", "x", "--as", "reviewer"])
        .success();
    env
}

/// The input of a client's tool that writes a file.
fn input(env: &TestEnv, client: &str) -> (&'static str, Value) {
    let path = env.project().join("src/a.txt");
    match client {
        "claude" => ("Write", json!({"file_path": path, "content": "x"})),
        "codex" => (
            "apply_patch",
            json!({"command": "*** Begin Patch\n*** Update File: src/a.txt\n@@\n-a\n+b\n*** End Patch"}),
        ),
        _ => ("write_file", json!({"file_path": path, "content": "x"})),
    }
}

fn before(agent: &Agent<'_>, env: &TestEnv, client: &str) -> Value {
    let (tool, input) = input(env, client);
    agent.before(tool, &input)
}

fn write(env: &TestEnv, content: &str) {
    fs::write(env.project().join("src/a.txt"), content).unwrap();
}

/// Edits the file with one agent's tool, and returns what its model reads after it.
fn edit(agent: &Agent<'_>, env: &TestEnv, client: &str, content: &str) -> String {
    let event = before(agent, env, client);
    write(env, content);
    context(&agent.after(&event))
}

fn context(output: &Output) -> String {
    let text = output.stdout.trim();
    if text.is_empty() {
        return String::new();
    }
    let answer: Value = serde_json::from_str(text).unwrap();
    let context = answer["hookSpecificOutput"]["additionalContext"].as_str();
    context.unwrap_or_default().to_owned()
}

/// What an agent's model reads after a tool that edits nothing.
fn next_call(agent: &Agent<'_>, client: &str) -> String {
    let (tool, input) = match client {
        "gemini" => ("run_shell_command", json!({"command": "true"})),
        _ => ("Bash", json!({"command": "true"})),
    };
    let event = agent.before(tool, &input);
    context(&agent.after(&event))
}

fn content(env: &TestEnv) -> String {
    fs::read_to_string(env.project().join("src/a.txt")).unwrap()
}

#[track_caller]
fn only(env: &TestEnv) -> Value {
    let listed = mesh_json(env, &["conflicts", "list"]);
    assert_eq!(
        Schema::published("output-mesh-conflicts").fault(&listed),
        None
    );
    let conflicts = listed["conflicts"].as_array().unwrap();
    assert_eq!(conflicts.len(), 1, "{listed}");
    conflicts[0].clone()
}

/// CALC-FUT-1: of two agents that edit one file each reads the other's change with its next tool call, the one that knows the file
/// better is proposed as its owner, the other gets a task, and a resolution leaves a clean tree.
#[test]
fn both_agents_read_what_the_other_changed() {
    for (first_client, second_client) in [
        ("codex", "claude"),
        ("claude", "gemini"),
        ("gemini", "codex"),
    ] {
        let env = repository();
        let first = Agent::new(&env, first_client, "s-first");
        let second = Agent::new(&env, second_client, "s-second");
        assert_eq!(edit(&first, &env, first_client, BY_CODEX), "");
        let read = edit(&second, &env, second_client, BOTH);
        assert!(read.contains("  -one\n  +ONE\n"), "{first_client}: {read}");
        assert!(!read.contains("FIVE"), "{read}");
        assert!(
            read.contains("is the proposed owner (both have the same context"),
            "{read}"
        );
        let heard = next_call(&first, first_client);
        assert!(
            heard.contains("edited \"src/a.txt\", which you edit too"),
            "{heard}"
        );
        assert!(heard.contains("  -five\n  +FIVE\n"), "{heard}");
        assert!(heard.contains("you are the proposed owner"), "{heard}");
        // Each change is passed on once.
        assert!(!next_call(&first, first_client).contains("Conflict "));
        let conflict = only(&env);
        assert_eq!(conflict["is_change_missing"], false);
        assert_eq!(conflict["first"]["lines_written"], 1, "{conflict}");
        let id = conflict["id"].as_str().unwrap();
        assert!(read.contains(id) && heard.contains(id));
        let task = mesh_json(&env, &["task", "show", conflict["task"].as_str().unwrap()]);
        assert_eq!(task["assigned_to"], conflict["second"]["agent"]);
        assert_eq!(task["status"], "pending");
        let shown = mesh_json(&env, &["conflicts", "show", &id[..8]]);
        assert_eq!(
            Schema::published("output-mesh-conflict").fault(&shown),
            None
        );
        assert!(shown["first_change"].as_str().unwrap().contains("+ONE"));
        assert!(
            !shown["second_change"].as_str().unwrap().contains("ONE"),
            "{shown}"
        );
        let version = |side: &str| {
            env.run(["mesh", "conflicts", "show", id, "--version", side])
                .success()
                .stdout
        };
        assert_eq!(
            (
                version("base").as_str(),
                version("first").as_str(),
                version("second").as_str()
            ),
            (BASE, BY_CODEX, BOTH)
        );
        let done = mesh_json(&env, &["conflicts", "resolve", id]);
        assert_eq!(
            Schema::published("output-mesh-conflict-resolved").fault(&done),
            None
        );
        assert_eq!(done["resolution"]["how"], "kept");
        assert_eq!(content(&env), BOTH);
        assert_eq!(env.git(&["status", "--porcelain"]), " M src/a.txt\n");
        let task = mesh_json(&env, &["task", "show", conflict["task"].as_str().unwrap()]);
        assert_eq!(task["status"], "complete");
        assert_eq!(
            mesh_json(&env, &["conflicts", "list"])["conflicts"],
            json!([])
        );
        let all = mesh_json(&env, &["conflicts", "list", "--all"]);
        assert_eq!(all["conflicts"][0]["resolution"]["how"], "kept");
        let again = env.run(["mesh", "conflicts", "resolve", id]).ended_with(1);
        assert!(
            again.stderr.contains("is resolved already"),
            "{}",
            again.stderr
        );
    }
}

/// CALC-FUT-1: a tool that writes a whole file from an older version drops the other's change; both versions are kept, both
/// agents are warned, and the merge has both changes.
#[test]
fn a_dropped_change_is_noticed_and_merged() {
    let env = repository();
    let codex = Agent::new(&env, "codex", "s-codex");
    let claude = Agent::new(&env, "claude", "s-claude");
    let begin = json!({"session_id": "s-claude", "cwd": env.project(), "hook_event_name": "SessionStart",
                       "source": "startup"});
    claude.hook("SessionStart", &begin).success();
    // Both tools run at once, and claude's writes what it had read before codex's.
    let (one, other) = (
        before(&codex, &env, "codex"),
        before(&claude, &env, "claude"),
    );
    write(&env, BY_CODEX);
    codex.after(&one);
    write(&env, BY_CLAUDE);
    let read = context(&claude.after(&other));
    assert!(read.contains("+ONE"), "{read}");
    assert!(read.contains("a change is missing from it"), "{read}");
    let heard = next_call(&codex, "codex");
    assert!(
        heard.contains("+FIVE") && heard.contains("a change is missing"),
        "{heard}"
    );
    let conflict = only(&env);
    assert_eq!(conflict["is_change_missing"], true);
    let id = conflict["id"].as_str().unwrap();
    // Work after the conflict stays, and adds no noise beyond a few notices.
    let later = BY_CLAUDE.replace("three", "THREE");
    for _ in 0..7 {
        edit(&claude, &env, "claude", &later);
    }
    let heard = next_call(&codex, "codex");
    assert!(heard.matches("Conflict ").count() <= 5, "{heard}");
    let file = env.project().join("src/a.txt");
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let done = mesh_json(
        &env,
        &[
            "conflicts",
            "resolve",
            id,
            "--as",
            "codex",
            "--reason",
            "both are needed",
        ],
    );
    assert_eq!(done["resolution"]["how"], "merged", "{done}");
    assert_eq!(done["resolution"]["by"], "codex");
    assert_eq!(content(&env), BOTH.replace("three", "THREE"));
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&file).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o755);
    let replaced = done["resolution"]["replaced"].as_str().unwrap();
    assert_eq!(fs::read_to_string(replaced).unwrap(), later);
    assert_eq!(env.git(&["status", "--porcelain"]), " M src/a.txt\n");
    let news = next_call(&claude, "claude");
    assert!(news.contains("is resolved: merged"), "{news}");
}

/// CALC-FUT-1: two changes of the same lines are for someone to decide: nothing is written until they do.
#[test]
fn changes_of_the_same_lines_need_a_choice() {
    let env = repository();
    let codex = Agent::new(&env, "codex", "s-codex");
    let claude = Agent::new(&env, "claude", "s-claude");
    let (one, other) = (
        before(&codex, &env, "codex"),
        before(&claude, &env, "claude"),
    );
    write(&env, BY_CODEX);
    codex.after(&one);
    let by_claude = BASE.replace("one", "uno");
    write(&env, &by_claude);
    claude.after(&other);
    let id = only(&env)["id"].as_str().unwrap().to_owned();
    let refused = env.run(["mesh", "conflicts", "resolve", &id]).ended_with(1);
    assert!(
        refused
            .stderr
            .contains("both agents changed the same lines"),
        "{}",
        refused.stderr
    );
    assert_eq!(content(&env), by_claude);
    let wrong = env
        .run(["mesh", "conflicts", "resolve", &id, "--take", "gemini"])
        .ended_with(2);
    assert!(
        wrong.stderr.contains("allowed are codex, claude-code"),
        "{}",
        wrong.stderr
    );
    let done = mesh_json(&env, &["conflicts", "resolve", &id, "--take", "codex"]);
    assert_eq!(done["resolution"]["how"], "taken");
    assert_eq!(done["resolution"]["from"], "codex");
    assert_eq!(content(&env), BY_CODEX);
}

/// CALC-FUT-1: an agent that has a task about the file, or wrote more of it, is the proposed owner, though another holds the
/// lease.
#[test]
fn the_agent_that_knows_the_file_better_is_proposed() {
    let env = repository();
    let add = [
        "mesh",
        "task",
        "add",
        "Rework src/a.txt",
        "--id",
        "t",
        "--as",
        "person",
    ];
    env.run(add).success();
    let claim = [
        "mesh",
        "task",
        "claim",
        "t",
        "--as",
        "claude",
        "--session",
        "s-claude",
    ];
    env.run(claim).success();
    let codex = Agent::new(&env, "codex", "s-codex");
    let claude = Agent::new(&env, "claude", "s-claude");
    edit(&codex, &env, "codex", BY_CODEX);
    let read = edit(&claude, &env, "claude", BOTH);
    assert!(read.contains("you are the proposed owner (1 line written, a task that names the file, against 1 line written)"), "{read}");
    let conflict = only(&env);
    assert_eq!(conflict["owner"], "second");
    let task = mesh_json(&env, &["task", "show", conflict["task"].as_str().unwrap()]);
    assert_eq!(task["assigned_to"], "codex");
}

/// CALC-FUT-1: decisions that cite the file count for the agent under whose name, or in whose session, they were recorded.
#[test]
fn decisions_about_the_file_count() {
    let env = repository();
    for more in [["--as", "claude-code"], ["--session", "s-claude"]] {
        let decide = [
            "session",
            "decide",
            "Keep the order",
            "--cite",
            "src/a.txt:1",
        ];
        env.run([&decide[..], &more].concat()).success();
    }
    let other = ["session", "decide", "Not this one", "--cite", "src/a.txt:2"];
    env.run(other).success();
    let codex = Agent::new(&env, "codex", "s-codex");
    let claude = Agent::new(&env, "claude", "s-claude");
    edit(&codex, &env, "codex", BY_CODEX);
    edit(&claude, &env, "claude", BOTH);
    let conflict = only(&env);
    assert_eq!(conflict["second"]["decisions"], 2, "{conflict}");
    assert_eq!(conflict["first"]["decisions"], 0, "{conflict}");
    assert_eq!(conflict["owner"], "second");
}

/// CALC-FUT-1: agents that edit a file in two work trees of a repository read of each other before the branches meet.
#[test]
fn the_same_file_in_two_work_trees_is_noticed() {
    let env = repository();
    env.git(&["worktree", "add", "--quiet", "../linked"]);
    let codex = Agent::new(&env, "codex", "s-codex");
    edit(&codex, &env, "codex", BY_CODEX);
    let linked = env
        .project()
        .parent()
        .unwrap()
        .join("linked")
        .canonicalize()
        .unwrap();
    let event = |name: &str| {
        json!({
            "session_id": "s-claude", "cwd": linked, "hook_event_name": name, "tool_use_id": "1",
            "tool_name": "Write", "tool_input": {"file_path": linked.join("src/a.txt"), "content": "x"},
            "tool_response": {"stdout": "done"},
        })
    };
    let hook = |word: &str| {
        let hook = env.callosum().without("CALLOSUM_TEST_IDS");
        hook.arguments(["hook", "claude", word])
            .input(event(word).to_string())
            .run()
            .success()
    };
    hook("PreToolUse");
    fs::write(linked.join("src/a.txt"), BY_CLAUDE).unwrap();
    let read = context(&hook("PostToolUse"));
    assert!(read.contains("in another work tree"), "{read}");
    assert!(read.contains("+ONE"), "{read}");
    let heard = next_call(&codex, "codex");
    assert!(
        heard.contains("in another work tree") && heard.contains("+FIVE"),
        "{heard}"
    );
    let conflict = only(&env);
    assert_eq!(conflict["task"], Value::Null);
    let id = conflict["id"].as_str().unwrap();
    mesh_json(&env, &["conflicts", "resolve", id, "--keep"]);
    assert_eq!(content(&env), BY_CODEX);
    assert_eq!(
        fs::read_to_string(linked.join("src/a.txt")).unwrap(),
        BY_CLAUDE
    );
}

/// CALC-FUT-1, CALC-SEC-1: an edit by a command, a binary file, a file that is gone and a link in its place end in a message and
/// not in a lost file.
#[test]
fn what_is_not_recorded_or_gone_is_said() {
    let env = repository();
    let codex = Agent::new(&env, "codex", "s-codex");
    let claude = Agent::new(&env, "claude", "s-claude");
    edit(&codex, &env, "codex", BY_CODEX);
    let command = json!({"command": "sed -i s/five/FIVE/ src/a.txt"});
    let event = claude.before("Bash", &command);
    write(&env, BOTH);
    let read = context(&claude.after(&event));
    assert!(read.contains("Conflict "), "{read}");
    let id = only(&env)["id"].as_str().unwrap().to_owned();
    let file = env.project().join("src/a.txt");
    fs::remove_file(&file).unwrap();
    let gone = env.run(["mesh", "conflicts", "resolve", &id]).ended_with(1);
    assert!(
        gone.stderr.contains("the file does not exist"),
        "{}",
        gone.stderr
    );
    let outside = env.home().join("outside.txt");
    fs::write(&outside, "outside").unwrap();
    std::os::unix::fs::symlink(&outside, &file).unwrap();
    let link = env
        .run(["mesh", "conflicts", "resolve", &id, "--take", "second"])
        .ended_with(1);
    assert!(
        link.stderr.contains("not a regular file"),
        "{}",
        link.stderr
    );
    assert_eq!(fs::read_to_string(&outside).unwrap(), "outside");
    assert_eq!(only(&env)["id"], id.as_str());
    env.run(["mesh", "conflicts", "resolve", &id, "--keep"])
        .success();
}
