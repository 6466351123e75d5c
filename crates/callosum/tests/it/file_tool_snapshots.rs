//! Snapshots of files that a file tool writes over and that git has no copy of.

use callosum_testkit::{Output, TestEnv};
use serde_json::{Value, json};

/// The events of each client's tool that write over `path`.
fn writes(env: &TestEnv, path: &str) -> Vec<(&'static str, Value)> {
    let absolute = env.project().join(path);
    let patch = format!("*** Begin Patch\n*** Update File: {path}\n@@\n-a\n+b\n*** End Patch");
    let event = |tool: &str, input: Value| {
        json!({"cwd": env.project(), "session_id": "s-1", "permission_mode": "default",
               "tool_name": tool, "tool_input": input})
    };
    vec![
        (
            "claude",
            event("Write", json!({"file_path": absolute, "content": "x"})),
        ),
        (
            "claude",
            event(
                "Edit",
                json!({"file_path": absolute, "old_string": "a", "new_string": "b"}),
            ),
        ),
        (
            "claude",
            event("MultiEdit", json!({"file_path": absolute, "edits": []})),
        ),
        (
            "claude",
            event(
                "NotebookEdit",
                json!({"notebook_path": absolute, "new_source": "x"}),
            ),
        ),
        ("codex", event("apply_patch", json!({"command": patch}))),
        (
            "gemini",
            event("write_file", json!({"file_path": absolute, "content": "x"})),
        ),
        (
            "gemini",
            event(
                "replace",
                json!({"file_path": path, "old_string": "a", "new_string": "b"}),
            ),
        ),
        (
            "qwen",
            event("write_file", json!({"file_path": absolute, "content": "x"})),
        ),
        (
            "qwen",
            event(
                "edit",
                json!({"file_path": absolute, "old_string": "a", "new_string": "b"}),
            ),
        ),
        (
            "claude",
            event(
                "mcp__files__write_file",
                json!({"path": absolute, "content": "x"}),
            ),
        ),
    ]
}

fn ask(env: &TestEnv, client: &str, event: &Value) -> Output {
    let hook = env.callosum().without("CALLOSUM_TEST_IDS");
    let hook = hook.arguments(["hook", client, "pre-tool-use"]);
    hook.input(event.to_string()).run()
}

/// Asks about a write that must pass in silence.
#[track_caller]
fn passes(env: &TestEnv, client: &str, event: &Value) {
    let output = ask(env, client, event);
    let silent = (output.stdout.as_str(), output.stderr.as_str(), output.code);
    assert_eq!(silent, ("{}\n", "", 0), "{client}: {event}");
}

fn snapshots(env: &TestEnv) -> Vec<Value> {
    let listed = env.run(["snapshot", "list", "--limit", "100", "--json"]);
    let listed = listed.success().json();
    listed["snapshots"].as_array().unwrap().clone()
}

fn restore_newest(env: &TestEnv) {
    let newest = snapshots(env).remove(0);
    let id = newest["snapshot_id"].as_str().unwrap();
    let restore = env.callosum().without("CALLOSUM_TEST_IDS");
    let restore = restore.arguments(["snapshot", "restore", id, "--yes"]);
    restore.run().success();
}

/// A repository with a file that git ignores, one that it does not know, and one that was added and changed since.
fn repository() -> TestEnv {
    let env = TestEnv::new();
    env.write(".gitignore", ".env\ntarget/\n");
    env.write("src/lib.rs", "pub fn one() {}\n");
    env.git_init();
    env.write(".env", "KEY=sk_live_1\n");
    env.write("notes.md", "mine\n");
    env.write("new.rs", "fn first() {}\n");
    env.git(&["add", "new.rs"]);
    env.write("new.rs", "fn second() {}\n");
    env
}

/// CAKE-SNAP-1: before a file tool writes over what git has no copy of, a snapshot holds it, in every client.
#[test]
fn a_file_that_git_has_no_copy_of_can_be_restored_after_a_file_tool() {
    for path in [".env", "notes.md", "new.rs"] {
        let env = repository();
        let before = env.read(path);
        for (taken, (client, event)) in writes(&env, path).iter().enumerate() {
            passes(&env, client, event);
            assert_eq!(snapshots(&env).len(), taken + 1, "{client}: {event}");
        }
        env.write(path, "KEY=***\n");
        restore_newest(&env);
        assert_eq!(env.read(path), before);
        // The clock stands still here, so the snapshot that restoring takes may be anywhere among them.
        let labels = snapshots(&env);
        let labels = labels.iter().map(|one| one["label"].as_str().unwrap());
        let taken = labels.filter(|label| label.starts_with("before: ")).count();
        assert_eq!(taken, writes(&env, path).len());
    }
}

/// CAKE-SNAP-1: nothing is held of what git has, of what is not there or empty, of what a build makes, and of what is denied.
#[test]
fn no_snapshot_is_taken_of_what_git_has() {
    let env = repository();
    env.write("target/debug/out.d", "made\n");
    env.write("empty.md", "");
    for path in [
        "src/lib.rs",
        "not-there.md",
        "empty.md",
        "target/debug/out.d",
    ] {
        for (client, event) in writes(&env, path) {
            passes(&env, client, &event);
        }
    }
    // One that was committed and changed since is in git, as it was committed.
    env.write("src/lib.rs", "pub fn two() {}\n");
    for (client, event) in writes(&env, "src/lib.rs") {
        passes(&env, client, &event);
    }
    env.write(".git/hooks/pre-commit", "#!/bin/sh\n");
    for (client, event) in writes(&env, ".git/hooks/pre-commit") {
        ask(&env, client, &event);
    }
    env.write("large.bin", vec![b'a'; 9 * 1024 * 1024]);
    let (client, event) = writes(&env, "large.bin").remove(0);
    passes(&env, client, &event);
    assert_eq!(snapshots(&env), Vec::<Value>::new());
}

/// CAKE-SNAP-1: the same in a linked worktree, through a link, and where there is no repository.
#[test]
fn the_same_holds_in_a_worktree_through_a_link_and_without_git() {
    let env = repository();
    env.git(&["worktree", "add", "-q", "-b", "side", "../side"]);
    let side = env.folder().join("side");
    env.write("../side/.env", "KEY=side\n");
    let event = |folder: &std::path::Path, path: &str| {
        json!({"cwd": folder, "session_id": "s-1", "tool_name": "Write",
               "tool_input": {"file_path": folder.join(path), "content": "x"}})
    };
    passes(&env, "claude", &event(&side, "src/lib.rs"));
    passes(&env, "claude", &event(&side, ".env"));
    let list = env.callosum().in_folder(&side);
    let list = list.arguments(["snapshot", "list", "--json"]).run();
    let listed = list.success().json();
    assert_eq!(listed["snapshots"].as_array().unwrap().len(), 1, "{listed}");
    std::os::unix::fs::symlink(".env", env.project().join("link")).unwrap();
    passes(&env, "claude", &event(&env.project(), "link"));
    env.write(".env", "KEY=***\n");
    restore_newest(&env);
    assert_eq!(env.read(".env"), "KEY=sk_live_1\n");

    let plain = TestEnv::new();
    plain.write("notes.md", "mine\n");
    passes(&plain, "qwen", &event(&plain.project(), "notes.md"));
    plain.write("notes.md", "theirs\n");
    restore_newest(&plain);
    assert_eq!(plain.read("notes.md"), "mine\n");
}
