//! Edits of files that another agent works on: clients' hooks tell of them, or keep from them.

use std::path::Path;

use callosum_testkit::{Output, TestEnv};
use serde_json::{Value, json};

use crate::neighbours::{CLIENTS, context, is_silent, tell};

/// CALC-FUT-1: who edits a file that another works on is told so, and takes the lease of one that nobody has.
#[test]
fn who_edits_what_another_works_on_is_told() {
    let env = TestEnv::new();
    env.write("src/a.rs", "fn a() {}\n");
    env.write("src/b.rs", "fn b() {}\n");
    let take = [
        "mesh", "lease", "take", "src/a.rs", "--reason", "renaming", "--as", "codex",
    ];
    env.run(take).success();
    let edit = |path: &str| {
        let event = serde_json::json!({
            "hook_event_name": "PostToolUse", "session_id": "s1", "cwd": env.project(),
            "tool_name": "Edit", "tool_input": {"file_path": env.project().join(path)},
        });
        let hook = env
            .callosum()
            .arguments(["hook", "claude", "post-tool-use"]);
        hook.input(event.to_string()).run()
    };
    let told = edit("src/a.rs");
    let told = told.json()["hookSpecificOutput"]["additionalContext"].clone();
    let told = told.as_str().unwrap();
    assert!(told.starts_with("codex works on \""), "{told}");
    assert!(
        told.contains("src/a.rs\" until ") && told.contains(": \"renaming\""),
        "{told}"
    );
    is_silent("claude", &edit("src/b.rs"));
    is_silent("claude", &edit("src/b.rs"));
    let leases = env
        .run(["mesh", "lease", "list", "--json"])
        .success()
        .json();
    let by: Vec<_> = leases["leases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|lease| lease["by"].as_str().unwrap())
        .collect();
    assert_eq!(by, ["codex", "claude-code"]);
    let taken = env
        .run(["mesh", "tail", "--topic", "calc.lease.*"])
        .success()
        .stdout;
    assert_eq!(taken.lines().count(), 2, "{taken}");
    let refused = env
        .run(["mesh", "lease", "take", "src/b.rs", "--as", "gemini"])
        .ended_with(1);
    assert!(
        refused.stderr.contains("claude-code works on"),
        "{}",
        refused.stderr
    );
}

/// What each client's hook is told before its model writes a file.
pub(crate) fn before_write(env: &TestEnv, client: &str, path: &Path) -> Output {
    let patch = format!(
        "*** Begin Patch\n*** Update File: {}\n@@\n-a\n+b\n*** End Patch",
        path.display()
    );
    let (event, tool, input) = match client {
        "claude" => ("PreToolUse", "Edit", serde_json::json!({"file_path": path})),
        "codex" => (
            "PreToolUse",
            "apply_patch",
            serde_json::json!({"command": patch}),
        ),
        "gemini" => (
            "BeforeTool",
            "replace",
            serde_json::json!({"file_path": path}),
        ),
        _ => (
            "PreToolUse",
            "write_file",
            serde_json::json!({"file_path": path}),
        ),
    };
    let event = serde_json::json!({
        "hook_event_name": event, "session_id": "s1", "cwd": env.project(),
        "tool_name": tool, "tool_input": input,
    });
    let hook = env.callosum().arguments(["hook", client, "pre-tool-use"]);
    hook.input(event.to_string()).run()
}

/// Why a write is denied; `None` where it is not.
pub(crate) fn denied(output: &Output) -> Option<String> {
    if output.code == 2 {
        return Some(output.stderr.clone());
    }
    let said = output.json();
    if said["decision"] == "deny" {
        return Some(said["reason"].as_str().unwrap().to_owned());
    }
    let said = &said["hookSpecificOutput"];
    (said["permissionDecision"] == "deny").then(|| {
        said["permissionDecisionReason"]
            .as_str()
            .unwrap()
            .to_owned()
    })
}

/// CALC-FUT-1: where the user wants it, a second agent is kept from a file that another works on, and told who, why and until when;
/// nobody is where they do not.
#[test]
fn an_edit_of_a_leased_file_is_blocked_where_the_user_wants_it() {
    for (client, agent, _, _) in CLIENTS {
        let env = TestEnv::new();
        env.write("src/a.rs", "fn a() {}\n");
        let path = env.project().join("src/a.rs");
        let take = [
            "mesh", "lease", "take", "src/a.rs", "--reason", "renaming", "--as", "reviewer",
        ];
        env.run(take).success();
        assert_eq!(denied(&before_write(&env, client, &path)), None, "{client}");
        let config = env.configuration();
        env.write(&config, "[mesh]\nleases = \"block\"\n");
        let told = denied(&before_write(&env, client, &path)).unwrap();
        assert!(told.starts_with("reviewer works on \""), "{client}: {told}");
        assert!(
            told.contains(": 'renaming'") || told.contains(": \"renaming\""),
            "{told}"
        );
        assert!(told.contains("callosum guard, rule mesh.lease"), "{told}");
        let other = env.project().join("src/b.rs");
        assert_eq!(
            denied(&before_write(&env, client, &other)),
            None,
            "{client}"
        );
        // A file that is broken never loosens, and is named.
        env.write(&config, "[mesh]\nleases = 3\n");
        let told = denied(&before_write(&env, client, &path)).unwrap();
        assert!(
            told.contains("`mesh.leases` is 3 (allowed: warn or block)"),
            "{told}"
        );
        let refused = env.run(["mesh", "task", "claim"]).ended_with(3);
        assert!(
            refused.stderr.contains("`mesh.leases` is 3"),
            "{}",
            refused.stderr
        );
        env.write(&config, "[mesh]\nleases = \"block\"\n");
        env.run(["mesh", "lease", "release", "src/a.rs", "--as", "reviewer"])
            .success();
        env.run(["mesh", "lease", "take", "src/a.rs", "--as", agent])
            .success();
        assert_eq!(denied(&before_write(&env, client, &path)), None, "{client}");
    }
}

/// CALC-FUT-1: of two who are about to edit a file the second is kept from it, though neither has edited yet.
#[test]
fn of_two_who_are_about_to_edit_one_is_kept_from_it() {
    let env = TestEnv::new();
    env.write("src/a.rs", "fn a() {}\n");
    env.run(["mesh", "task", "list"]).success();
    env.write(env.configuration(), "[mesh]\nleases = \"block\"\n");
    for name in ["src/a.rs", "src/new.rs"] {
        let path = env.project().join(name);
        assert_eq!(denied(&before_write(&env, "claude", &path)), None, "{name}");
        assert_eq!(denied(&before_write(&env, "claude", &path)), None, "{name}");
        let told = denied(&before_write(&env, "codex", &path)).unwrap();
        assert!(told.starts_with("claude-code works on \""), "{told}");
    }
}

/// CALC-FUT-1: the guard, the hook after a tool and the verbs know a file by one path, also before it is there: links are
/// resolved, and `..` leads from where they lead.
#[test]
fn a_file_is_leased_by_one_path_however_it_is_named() {
    let env = TestEnv::new();
    env.git_init();
    env.write("kept/deep/a.rs", "fn a() {}\n");
    let link = env.project().join("link");
    std::os::unix::fs::symlink(env.project().join("kept/deep"), link).unwrap();
    env.write(env.configuration(), "[mesh]\nleases = \"block\"\n");
    for file in ["kept/deep/a.rs", "kept/b.rs", "kept/deep/new/c.rs", "d.rs"] {
        env.run(["mesh", "lease", "take", file, "--as", "codex"])
            .success();
    }
    for name in [
        "link/a.rs",
        "link/../deep/a.rs",
        "link/../b.rs",
        "link/new/c.rs",
        "kept/deep/new/../new/c.rs",
    ] {
        let path = env.project().join(name);
        let told = denied(&before_write(&env, "claude", &path)).unwrap_or_default();
        assert!(told.contains("rule mesh.lease"), "{name}: {told}");
        let run = format!("printf x | tee {name}");
        let told = denied(&command(&env, "PreToolUse", &run)).unwrap_or_default();
        assert!(told.contains("rule mesh.lease"), "{run}: {told}");
        let told = command(&env, "PostToolUse", &run);
        assert!(told.stdout.contains("codex works on"), "{run}: {told:?}");
    }
    // By its words alone this would be the one in the project's own folder.
    let other = env.project().join("link/../d.rs");
    assert_eq!(denied(&before_write(&env, "claude", &other)), None);
}

/// CALC-PAT-2, CALC-FUT-1: an agent at work hears between two calls of a task that was left for it, and that another edits what
/// it holds.
#[test]
fn who_is_at_work_hears_of_tasks_and_of_who_edits_its_files() {
    let env = TestEnv::new();
    env.write("src/a.rs", "fn a() {}\n");
    env.run(["mesh", "task", "list"]).success();
    let (_, _, begin, tool) = CLIENTS[0];
    tell(&env, "claude", "session-start", begin);
    let mut event: Value = serde_json::from_str(tool).unwrap();
    event["tool_name"] = "Edit".into();
    event["tool_input"] = json!({"file_path": env.project().join("src/a.rs")});
    is_silent(
        "claude",
        &tell(&env, "claude", "post-tool-use", &event.to_string()),
    );
    let add = [
        "mesh",
        "task",
        "add",
        "look at b",
        "--to",
        "claude",
        "--as",
        "codex",
    ];
    env.run(add).success();
    let told = tell(&env, "claude", "post-tool-use", tool);
    let told = context(&told, tool);
    assert!(told.contains("task for you from codex"), "{told}");
    let (_, _, _, other) = CLIENTS[2];
    let mut event: Value = serde_json::from_str(other).unwrap();
    event["tool_name"] = "replace".into();
    event["tool_input"] = json!({"file_path": env.project().join("src/a.rs")});
    tell(&env, "gemini", "after-tool", &event.to_string());
    let told = tell(&env, "claude", "post-tool-use", tool);
    let told = context(&told, tool);
    assert!(told.contains("gemini-cli edited"), "{told}");
    is_silent("claude", &tell(&env, "claude", "post-tool-use", tool));
}

/// What a client's hook is told of a command of its model's.
pub(crate) fn command(env: &TestEnv, word: &str, command: &str) -> Output {
    let event = json!({
        "hook_event_name": word, "session_id": "s1", "cwd": env.project(), "tool_name": "Bash",
        "tool_input": {"command": command}, "tool_response": {"stdout": ""},
    });
    let hook = env.callosum().arguments(["hook", "claude", word]);
    hook.input(event.to_string()).run()
}

/// CALC-FUT-1: a command of a shell's that changes a file on which another works is told so as an edit is, is blocked
/// where the user wants it, and takes the lease of a file of the project's that nobody has.
#[test]
fn a_command_that_changes_what_another_works_on_is_an_edit() {
    let env = TestEnv::new();
    env.git_init();
    for file in ["a", "b", "c"] {
        env.write(format!("src/{file}.rs"), "fn f() {}\n");
    }
    let take = [
        "mesh", "lease", "take", "src/a.rs", "--reason", "renaming", "--as", "codex",
    ];
    env.run(take).success();
    let changes = [
        "sed -i s/f/g/ src/a.rs",
        "echo x >> src/a.rs",
        "cd src && mv a.rs d.rs",
        "printf x | tee src/a.rs",
        "git checkout -- src/a.rs",
        "rm -r src",
    ];
    for run in changes {
        let told = command(&env, "PostToolUse", run);
        assert!(told.stdout.contains("codex works on"), "{run}: {told:?}");
        let before = command(&env, "PreToolUse", run);
        assert!(!before.stdout.contains("codex works on"), "{run}");
    }
    env.write(env.configuration(), "[mesh]\nleases = \"block\"\n");
    for run in changes {
        let told = denied(&command(&env, "PreToolUse", run)).unwrap_or_default();
        assert!(told.contains("rule mesh.lease"), "{run}: {told}");
    }
    for run in ["cat src/a.rs", "sed -i s/f/g/ src/b.rs", "cargo build"] {
        assert_eq!(denied(&command(&env, "PreToolUse", run)), None, "{run}");
        is_silent("claude", &command(&env, "PostToolUse", run));
    }
    command(
        &env,
        "PostToolUse",
        "cp src/b.rs src/c.rs; echo x > ../out.txt",
    )
    .success();
    let leases = env
        .run(["mesh", "lease", "list", "--json"])
        .success()
        .json();
    let leases = leases["leases"].as_array().unwrap().iter();
    let of = |lease: &Value| {
        let path = lease["path"].as_str().unwrap().rsplit('/').next().unwrap();
        format!("{path} {}", lease["by"].as_str().unwrap())
    };
    let leases: Vec<String> = leases.map(of).collect();
    assert_eq!(
        leases,
        ["a.rs codex", "b.rs claude-code", "c.rs claude-code"]
    );
}
