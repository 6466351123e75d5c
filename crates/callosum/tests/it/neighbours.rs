//! What clients' hooks hand over from one agent to another: at a session's beginning, with a person's words, and between
//! two calls of tools.

use std::path::Path;

use callosum_testkit::{Output, TestEnv};
use serde_json::{Value, json};

use crate::contested_files::{before_write, denied};

/// The clients, the agent that each is, and its recorded payloads: of a session that begins, and of
/// a tool that has run.
pub(crate) const CLIENTS: [(&str, &str, &str, &str); 4] = [
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

pub(crate) fn tell(env: &TestEnv, client: &str, word: &str, recorded: &str) -> Output {
    let mut event: Value = serde_json::from_str(recorded).expect("it is JSON");
    event["cwd"] = env.project().display().to_string().into();
    let hook = env.callosum().arguments(["hook", client, word]);
    hook.input(event.to_string()).run()
}

/// What the model is told, under the client's own name of the event.
#[track_caller]
pub(crate) fn context(output: &Output, recorded: &str) -> String {
    assert_eq!((output.stderr.as_str(), output.code), ("", 0));
    let event: Value = serde_json::from_str(recorded).unwrap();
    let said = output.json();
    let said = &said["hookSpecificOutput"];
    assert_eq!(said["hookEventName"], event["hook_event_name"]);
    said["additionalContext"].as_str().unwrap().to_owned()
}

#[track_caller]
pub(crate) fn is_silent(client: &str, output: &Output) {
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
    assert!(callosum_citation::tokens::estimate(&told) <= 400, "{told}");
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
    assert!(told.ends_with(": run `callosum doctor`.\n"), "{told}");
    let journal = env.machine_home().join("journal/audit");
    let files = callosum_host::Disk::real().list_dir(&journal).unwrap();
    let told = files.iter().map(|file| env.read(journal.join(&file.name)));
    let told: String = told.collect();
    assert!(
        told.contains("does not contain the id of the log"),
        "{told}"
    );
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
        let digest = env.run(["mesh", "digest", "--to", agent]).success();
        digest.stdout
    };
    let told = digest("gemini");
    assert!(told.contains("\"first\""), "{told}");
    assert!(!told.contains("no source"), "{told}");
    env.run(["delegate", "Map it all"]).success();
    let told = context(&tell(&env, client, "session-start", begins), begins);
    assert!(
        told.contains(
            "- new in the ledger (`callosum ledger show ID`): \"cal_2026_01_02_0001 (scout)\""
        ),
        "{told}"
    );
    assert!(!told.contains("no source"), "{told}");
    assert!(told.contains("use the tools `task`"), "{told}");
    env.run([
        "session",
        "handoff",
        "--to",
        "gemini",
        "--reason",
        "too small",
    ])
    .success();
    env.run(["session", "handoff", "--to", "gemini"]).success();
    let told = digest("gemini");
    assert!(
        told.contains("- hand-off to you from ") && told.contains("\"too small\""),
        "{told}"
    );
    assert!(told.contains("(`callosum session recover`)\n"), "{told}");
    env.write(".cal_memory.json", "{ broken");
    discover("second");
    let told = context(&tell(&env, client, "session-start", begins), begins);
    assert!(told.contains("\"second\""), "{told}");
    assert!(
        told.contains("- cannot read the project's ledger: "),
        "{told}"
    );
    assert!(digest("gemini").contains("cannot read the project's ledger"));
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

/// CALC-BOOT-1, CALC-FAIL-1: a configuration that cannot be used is told to a session that begins, also where nothing else
/// is, and fails no digest.
#[test]
fn a_broken_configuration_is_told_and_fails_no_digest() {
    let env = TestEnv::new();
    env.run(["mesh", "task", "list"]).success();
    env.write(env.configuration(), "[mesh]\nleases = \n");
    for (client, _, begins, _) in CLIENTS {
        let told = context(&tell(&env, client, "session-start", begins), begins);
        assert!(told.contains(": run `callosum doctor`"), "{client}: {told}");
    }
    let digest = ["mesh", "digest", "--to", "claude"];
    let told = env.run(digest).success();
    assert_eq!(told.stdout, "");
    assert!(
        told.stderr.contains("cannot use the mesh configuration"),
        "{}",
        told.stderr
    );
    env.write(env.configuration(), "");
    let send = ["mesh", "message", "send", "claude", "look", "--as", "codex"];
    env.run(send).success();
    env.write(env.configuration(), "[mesh]\nleases = \n");
    let told = env.run(digest).success().stdout;
    assert!(
        told.contains("look") && told.contains("is not valid TOML"),
        "{told}"
    );
    let lists: [&[&str]; 5] = [
        &["message", "list"],
        &["message", "read", "--peek", "--as", "claude"],
        &["task", "list"],
        &["discovery", "list"],
        &["lease", "list"],
    ];
    for words in lists {
        let told = env.run([&["mesh"], words].concat()).success();
        assert!(told.stderr.contains("is not valid TOML"), "{}", told.stderr);
        assert!(words[0] != "message" || told.stdout.contains("look"));
    }
    let refused = env.run(["mesh", "route", "--json"]).ended_with(3);
    assert!(
        refused.stdout.contains("is not valid TOML"),
        "{}",
        refused.stdout
    );
    // Who tells others something, or is told, need not know who does what.
    let verbs: [&[&str]; 8] = [
        &[
            "message", "send", "claude", "more", "--as", "codex", "--id", "m-2",
        ],
        &["message", "read", "--as", "claude"],
        &["discovery", "share", "found", "--as", "codex"],
        &["lease", "take", "a.rs", "--as", "codex"],
        &["publish", "calc.note", "--as", "codex"],
        &["tail"],
        &["bridge"],
        &["task", "list"],
    ];
    for words in verbs {
        let told = env.run([&["mesh"], words].concat()).success();
        assert!(told.stderr.contains("is not valid TOML"), "{}", told.stderr);
    }
    let add = ["mesh", "task", "add", "work", "--category", "synthesis"];
    let refused = env.run(add).ended_with(3);
    assert!(
        refused.stderr.contains("is not valid TOML"),
        "{}",
        refused.stderr
    );
}
