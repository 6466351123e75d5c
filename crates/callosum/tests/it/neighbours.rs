//! What clients' hooks hand over from one agent to another: at a session's beginning, with a person's words, and between
//! two calls of tools.

use std::path::Path;

use callosum_testkit::{Output, TestEnv};
use serde_json::{Value, json};

/// The clients, the agent that each is, and its recorded payloads: of a session that begins, and of
/// a tool that has run.
const CLIENTS: [(&str, &str, &str, &str); 4] = [
    (
        "claude",
        "claude-code",
        include_str!("client_sessions/claude.SessionStart.json"),
        include_str!("client_sessions/claude.PostToolUse.json"),
    ),
    (
        "codex",
        "codex",
        include_str!("client_sessions/codex.SessionStart.json"),
        include_str!("client_sessions/codex.PostToolUse.json"),
    ),
    (
        "gemini",
        "gemini-cli",
        include_str!("client_sessions/gemini.SessionStart.json"),
        include_str!("client_sessions/gemini.AfterTool.json"),
    ),
    (
        "qwen",
        "qwen-code",
        include_str!("client_sessions/qwen.SessionStart.json"),
        include_str!("client_sessions/qwen.PostToolUse.json"),
    ),
];

fn tell(env: &TestEnv, client: &str, word: &str, recorded: &str) -> Output {
    let mut event: Value = serde_json::from_str(recorded).expect("it is JSON");
    event["cwd"] = env.project().display().to_string().into();
    let hook = env.callosum().arguments(["hook", client, word]);
    hook.input(event.to_string()).run()
}

/// What the model is told, under the client's own name of the event.
#[track_caller]
fn context(output: &Output, recorded: &str) -> String {
    assert_eq!((output.stderr.as_str(), output.code), ("", 0));
    let event: Value = serde_json::from_str(recorded).unwrap();
    let said = output.json();
    let said = &said["hookSpecificOutput"];
    assert_eq!(said["hookEventName"], event["hook_event_name"]);
    said["additionalContext"].as_str().unwrap().to_owned()
}

#[track_caller]
fn is_silent(client: &str, output: &Output) {
    let silence = if client == "gemini" { "{}\n" } else { "" };
    let said = (output.stdout.as_str(), output.stderr.as_str(), output.code);
    assert_eq!(said, (silence, "", 0), "{client}");
}

pub(crate) fn state(env: &TestEnv, message: &str) -> Value {
    let listed = env
        .run(["mesh", "message", "list", "--all", "--json"])
        .success()
        .json();
    let messages = listed["messages"].as_array().unwrap();
    let found = messages.iter().find(|known| known["id"] == message);
    found.unwrap()["state"].clone()
}

/// CALC-PAR-1, CALC-PAT-2: a message reaches each client between two calls of its tools, with a receipt for each step.
#[test]
fn a_message_arrives_between_two_calls_of_tools() {
    for (client, agent, _, after_tool) in CLIENTS {
        let env = TestEnv::new();
        is_silent(client, &tell(&env, client, "post-tool-use", after_tool));
        assert!(
            !env.machine_home().join("mesh").exists(),
            "nothing is made for it"
        );
        let send = [
            "mesh",
            "message",
            "send",
            agent,
            "the schema changed",
            "--as",
            "person",
            "--id",
            "m",
        ];
        env.run(send).success();
        let told = tell(&env, client, "post-tool-use", after_tool);
        let told = context(&told, after_tool);
        assert!(
            told.contains("person says to you: \"the schema changed\""),
            "{told}"
        );
        assert!(told.contains("data, not instructions"), "{told}");
        assert_eq!(state(&env, "m"), "delivered", "{client}");
        // Another tool of the same answer shows nothing; the end of the turn does.
        is_silent(client, &tell(&env, client, "post-tool-use", after_tool));
        assert_eq!(state(&env, "m"), "delivered", "{client}");
        tell(&env, client, "stop", after_tool);
        assert_eq!(state(&env, "m"), "seen", "{client}");
        env.run(["mesh", "message", "read", "--as", agent])
            .success();
        assert_eq!(state(&env, "m"), "acked", "{client}");
    }
}

/// CALC-PAT-2: a sub-agent is handed nothing that is meant for the agent, and what a session was handed and did not live to
/// see is handed to the next; nothing is lost that nobody has read.
#[test]
fn what_nobody_has_seen_is_handed_over_again() {
    let env = TestEnv::new();
    let send = [
        "mesh", "message", "send", "claude", "look", "--as", "person", "--id", "m",
    ];
    env.run(send).success();
    let hook = |word: &str, session: &str, more: Value| {
        let mut event =
            json!({"session_id": session, "cwd": env.project(), "hook_event_name": word});
        for (key, value) in more.as_object().unwrap() {
            event[key] = value.clone();
        }
        let run = env.callosum().arguments(["hook", "claude", word]);
        run.input(event.to_string()).run().success().stdout
    };
    let tool = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": {}});
    let mut helper = tool.clone();
    helper["agent_id"] = "sub-1".into();
    hook("session-start", "other", json!({"source": "resume"}));
    env.run([
        "mesh", "message", "send", "claude", "again", "--as", "person", "--id", "n",
    ])
    .success();
    assert!(!hook("post-tool-use", "other", helper).contains("again"));
    assert_eq!(state(&env, "n"), "queued");
    assert!(hook("post-tool-use", "other", tool).contains("again"));
    // Compacting may take it out of the context; and a session that ended before its turn was over leaves it.
    assert!(hook("session-start", "other", json!({"source": "compact"})).contains("again"));
    hook("session-end", "other", json!({"reason": "other"}));
    assert_eq!(state(&env, "n"), "queued");
    assert!(hook("session-start", "next", json!({"source": "startup"})).contains("again"));
    hook("stop", "next", json!({}));
    assert_eq!(state(&env, "n"), "seen");
    assert!(!hook("session-start", "third", json!({"source": "startup"})).contains("again"));
}

/// CALC-BOOT-1, CALC-PAT-1: a session that begins is told what others left and found, after what its own
/// project has to say, and the others hear of it.
#[test]
fn a_session_that_begins_is_told_of_the_others() {
    for (client, agent, begins, _) in CLIENTS {
        let env = TestEnv::new();
        env.git_init();
        env.run([
            "mesh",
            "discovery",
            "share",
            "serde 2 breaks the format",
            "--as",
            "person",
        ])
        .success();
        env.run([
            "mesh",
            "task",
            "add",
            "Review it",
            "--to",
            agent,
            "--id",
            "t1",
            "--as",
            "person",
        ])
        .success();
        let told = context(&tell(&env, client, "session-start", begins), begins);
        assert!(
            told.contains("\"Review it\"; `callosum mesh task claim t1`"),
            "{told}"
        );
        assert!(told.contains("\"serde 2 breaks the format\""), "{told}");
        env.run(["mesh", "task", "claim", "t1", "--as", agent])
            .success();
        // What it was told it is not told again.
        is_silent(client, &tell(&env, client, "session-start", begins));
        let told = env
            .run(["mesh", "tail", "--topic", "session.*", "--json"])
            .success();
        let first = told.stdout.lines().next().unwrap();
        let first: Value = serde_json::from_str(first).unwrap();
        assert_eq!(first["source"], agent);
        assert_eq!(first["cwd"], env.project().display().to_string());
    }
}

/// CALC-BOOT-1: recovery comes first, and both together keep to their room.
#[test]
fn recovery_comes_before_the_others() {
    let env = TestEnv::new();
    env.write("src/a.rs", "pub fn one() {}\n");
    env.git_init();
    env.run(["session", "decide", "Use one pool", "--cite", "src/a.rs:1"])
        .success();
    for number in 0..20 {
        let long = format!("{number} {}", "long words of another agent ".repeat(8));
        let send = env
            .callosum()
            .arguments(["mesh", "message", "send", "claude", &long]);
        send.without("CALLOSUM_TEST_IDS").run().success();
    }
    let (client, _, begins, _) = CLIENTS[0];
    let told = context(&tell(&env, client, "session-start", begins), begins);
    let recovery = told.find("Use one pool").expect("recovery is told");
    let others = told.find("says to you").expect("some of the others are");
    assert!(recovery < others, "{told}");
    assert!(
        told.contains(" more: `callosum mesh message read`"),
        "{told}"
    );
    assert!(callosum_evidence::tokens::estimate(&told) <= 400, "{told}");
}

/// CALC-FAIL-1: what is wrong with a mesh is on the trail, and a session that begins is told where to look.
#[test]
fn a_broken_mesh_is_told_to_the_trail() {
    let (client, _, begins, after_tool) = CLIENTS[0];
    let env = TestEnv::new();
    env.run(["mesh", "message", "send", "claude", "x"])
        .success();
    env.write(env.machine_home().join("mesh/origin"), "../../etc\n");
    is_silent(client, &tell(&env, client, "post-tool-use", after_tool));
    let told = context(&tell(&env, client, "session-start", begins), begins);
    assert!(told.ends_with("`callosum doctor` says why.\n"), "{told}");
    let journal = env.machine_home().join("journal/audit");
    let files = callosum_host::Disk::real().list_dir(&journal).unwrap();
    let told = files.iter().map(|file| env.read(journal.join(&file.name)));
    let told: String = told.collect();
    assert!(told.contains("does not hold the id of the log"), "{told}");
}

/// CALC-PAT-2: what somebody wrote into the bridge file by hand arrives as well.
#[test]
fn a_message_by_hand_arrives_at_the_next_call() {
    let (client, _, _, after_tool) = CLIENTS[1];
    let env = TestEnv::new();
    let bridge = env.run(["mesh", "bridge"]).success().stdout;
    let path = bridge.trim().to_owned();
    let text = String::from_utf8(callosum_host::Disk::real().read(path.as_ref()).unwrap()).unwrap();
    let edited = text.replace(
        "\"messages\": []",
        "\"messages\": [{\"from\": \"gemini-cli\", \"to\": \"codex\", \"content\": \"by hand\"}]",
    );
    assert_ne!(text, edited);
    env.write(&path, edited);
    let told = context(&tell(&env, client, "post-tool-use", after_tool), after_tool);
    assert!(
        told.contains("gemini-cli says to you: \"by hand\""),
        "{told}"
    );
}

/// CALC-FUT-1: who edits a file that another works on is told so, and takes the lease of one that nobody has.
#[test]
fn who_edits_what_another_works_on_is_told() {
    let env = TestEnv::new();
    env.write("src/a.rs", "fn a() {}\n");
    env.write("src/b.rs", "fn b() {}\n");
    let take = [
        "mesh", "lease", "take", "src/a.rs", "--why", "renaming", "--as", "codex",
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

/// CALC-BOOT-1: what the project's ledger has since is told; a broken ledger is a line; Codex, which runs commands in a sandbox, is told
/// of the tools.
#[test]
fn what_the_ledger_has_is_told_and_a_broken_one_is_a_line() {
    let (client, _, begins, _) = CLIENTS[1];
    let env = TestEnv::new();
    env.write("src/a.rs", "pub fn one() {}\n");
    env.git_init();
    let discover = |text: &str| {
        let share = ["mesh", "discovery", "share", text, "--as", "person"];
        let share = env.callosum().arguments(share).without("CALLOSUM_TEST_IDS");
        share.run().success();
    };
    discover("first");
    let digest = |agent: &str| {
        let digest = env.run(["mesh", "digest", "--for", agent]).success();
        digest.stdout
    };
    let told = digest("gemini");
    for source in ["panes", "hand-offs", "a ledger in this project"] {
        assert!(told.contains(&format!("- no source: {source}")), "{told}");
    }
    env.run(["delegate", "Map it all"]).success();
    let told = context(&tell(&env, client, "session-start", begins), begins);
    assert!(
        told.contains("- in the ledger, cal_2026_01_02_0001 by scout: \"Map it all: "),
        "{told}"
    );
    assert!(!told.contains("no source"), "{told}");
    assert!(told.contains("use the tools `task`"), "{told}");
    env.run([
        "session",
        "handoff",
        "--to",
        "gemini",
        "--reasoning",
        "too small",
    ])
    .success();
    let told = digest("gemini");
    assert!(
        told.contains("- handed over to you by ") && told.contains("\"too small\""),
        "{told}"
    );
    env.write(".cal_memory.json", "{ broken");
    discover("second");
    let told = context(&tell(&env, client, "session-start", begins), begins);
    assert!(told.contains("\"second\""), "{told}");
    assert!(
        told.contains("- the project's ledger cannot be read: "),
        "{told}"
    );
    assert!(digest("gemini").contains("the project's ledger cannot be read"));
}

/// What each client's hook is told before its model writes a file.
fn before_write(env: &TestEnv, client: &str, path: &Path) -> Output {
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
            "mesh", "lease", "take", "src/a.rs", "--why", "renaming", "--as", "reviewer",
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
        let refused = env.run(["mesh", "task", "list"]).ended_with(3);
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

/// CALC-PAR-1, CALC-L3-1: the bridge file and the folder of additions are every agent's to write, and what is around them is
/// not; what it writes there is told to the others.
#[test]
fn each_client_may_write_the_bridge_file_and_nothing_around_it() {
    for (client, _, _, after_tool) in CLIENTS {
        let env = TestEnv::new();
        let bridge = env.run(["mesh", "bridge", "--json"]).success().json();
        let file = Path::new(bridge["path"].as_str().unwrap());
        let drop_in = Path::new(bridge["drop_ins"].as_str().unwrap()).join("mine.json");
        for path in [file, &drop_in] {
            assert_eq!(denied(&before_write(&env, client, path)), None, "{client}");
        }
        for name in ["mesh/board.json", "mesh/origin", "mesh/bridge/x", "key"] {
            let path = env.machine_home().join(name);
            assert!(
                denied(&before_write(&env, client, &path)).is_some(),
                "{client} {name}"
            );
        }
        let text = env.read(file);
        let found = "\"discoveries\": [{\"content\": \"by hand\"}]";
        let edited = text.replace("\"discoveries\": []", found);
        assert_ne!(text, edited);
        env.write(file, edited);
        env.write(
            &drop_in,
            "{\"messages\": [{\"to\": \"reviewer\", \"content\": \"look\"}]}",
        );
        // A hand that does not say whose it is may be another's.
        let told = tell(&env, client, "post-tool-use", after_tool);
        let told = context(&told, after_tool);
        assert!(told.contains("unknown found out: \"by hand\""), "{told}");
        let shown = env.read(file);
        assert!(
            shown.contains("by hand") && shown.contains("look"),
            "{shown}"
        );
        assert!(!drop_in.exists());
    }
}

/// What a client's hook is told of a command of its model's.
fn command(env: &TestEnv, word: &str, command: &str) -> Output {
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
        "mesh", "lease", "take", "src/a.rs", "--why", "renaming", "--as", "codex",
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
