//! `hook`: what agents are answered, whatever they send, and what the journal is told of it.

use std::{ffi::OsStr, path::PathBuf};

use callosum_testkit::{Output, TestEnv};
use serde_json::{Value, json};

/// The clients that have hooks, and each one's own name for the moment before a tool runs.
pub(super) const CLIENTS: [(&str, &str); 4] = [
    ("claude", "pre-tool-use"),
    ("codex", "pre-tool-use"),
    ("gemini", "before-tool"),
    ("qwen", "PreToolUse"),
];

pub(super) fn repository() -> TestEnv {
    let env = TestEnv::new();
    env.write("src/lib.rs", "pub fn one() -> u8 { 1 }\n");
    env.git_init_with_work();
    env.write("untracked.txt", "mine\n");
    env
}

pub(super) fn event(env: &TestEnv, tool: &str, input: Value) -> Value {
    json!({
        "session_id": "s-1", "transcript_path": "/nowhere", "cwd": env.project(),
        "permission_mode": "default", "tool_name": tool, "tool_input": input,
        "tool_use_id": "call-1", "field_of_tomorrow": {"a": [1, 2]},
    })
}

pub(super) fn command(env: &TestEnv, client: &str, command: &str) -> Value {
    let tool = match client {
        "claude" | "codex" => "Bash",
        _ => "run_shell_command",
    };
    event(env, tool, json!({"command": command}))
}

pub(super) fn ask(env: &TestEnv, client: &str, moment: &str, event: impl AsRef<[u8]>) -> Output {
    let hook = env.callosum().arguments(["hook", client, moment]);
    hook.input(event.as_ref()).run()
}

pub(super) fn decide(env: &TestEnv, client: &str, event: &Value) -> Output {
    let moment = CLIENTS
        .iter()
        .find(|(known, _)| *known == client)
        .unwrap()
        .1;
    ask(env, client, moment, event.to_string())
}

/// The reason, where the answer is one that this client takes for a denial.
pub(super) fn denied(client: &str, output: &Output) -> Option<String> {
    if matches!(client, "codex" | "qwen") {
        return (output.code == 2).then(|| output.stderr.clone());
    }
    assert_eq!((output.stderr.as_str(), output.code), ("", 0));
    let said = output.json();
    if client == "gemini" {
        return (said["decision"] == "deny").then(|| said["reason"].as_str().unwrap().to_owned());
    }
    let said = &said["hookSpecificOutput"];
    (said["permissionDecision"] == "deny").then(|| {
        said["permissionDecisionReason"]
            .as_str()
            .unwrap()
            .to_owned()
    })
}

#[track_caller]
pub(super) fn passes(output: &Output) {
    let silent = (output.stdout.as_str(), output.stderr.as_str(), output.code);
    assert_eq!(silent, ("{}\n", "", 0));
}

pub(super) fn records(env: &TestEnv, folder: PathBuf) -> Vec<Value> {
    let day = folder.join("2026-01-02.jsonl");
    let Ok(text) = std::fs::read_to_string(&day) else {
        return Vec::new();
    };
    assert!(env.folder().exists());
    let records = text.lines().map(|line| serde_json::from_str(line).unwrap());
    records
        .filter(|record: &Value| record["event"] == "guard")
        .collect()
}

pub(super) fn machine_records(env: &TestEnv) -> Vec<Value> {
    records(env, env.machine_home().join("journal/audit"))
}

/// CAKE-SHIM-1, CAKE-ADP-1: the dangerous command is stopped in every client, with the reason, and
/// the harmless one passes.
#[test]
fn a_dangerous_command_is_stopped_in_every_client_and_a_harmless_one_passes() {
    let env = repository();
    for (client, _) in CLIENTS {
        let stopped = decide(&env, client, &command(&env, client, "git reset --hard"));
        let reason = denied(client, &stopped).unwrap_or_else(|| panic!("{client}: {stopped:?}"));
        assert!(reason.contains("callosum guard, rule"), "{reason}");
        passes(&decide(&env, client, &command(&env, client, "ls -la")));
    }
}

/// CAKE-SHIM-1: files that steer the guard and its clients are not for the agent to write.
#[test]
fn a_file_that_steers_the_guard_is_not_written() {
    let env = repository();
    for path in [".git/config", ".calrc", ".claude/settings.json"] {
        let written = event(&env, "Write", json!({"file_path": path, "content": ""}));
        let asked = decide(&env, "claude", &written);
        assert!(
            asked.stdout.contains("permissionDecision"),
            "{path}: {asked:?}"
        );
    }
    let patch = "*** Begin Patch\n*** Update File: .git/hooks/pre-commit\n+x\n*** End Patch";
    let patched = event(&env, "apply_patch", json!({"command": patch}));
    assert!(denied("codex", &decide(&env, "codex", &patched)).is_some());
    let source = event(
        &env,
        "Write",
        json!({"file_path": "src/lib.rs", "content": ""}),
    );
    passes(&decide(&env, "claude", &source));
}

/// CAKE-SHIM-1: whatever comes, a hook that decides does not say yes, and says it as the client
/// reads it.
#[test]
fn what_cannot_be_read_never_passes() {
    let env = repository();
    let deep = format!("{{\"tool_name\": \"Bash\", \"x\": {}}}", "[".repeat(50_000));
    for (client, moment) in CLIENTS {
        for bytes in [
            &b""[..],
            b"{",
            b"[]",
            b"null",
            b"{}",
            b"\0\0",
            b"{\"tool_name\": \"\xff\xfe\"}",
            deep.as_bytes(),
        ] {
            let output = ask(&env, client, moment, bytes);
            if client == "claude" {
                let decision = &output.json()["hookSpecificOutput"]["permissionDecision"];
                assert_eq!(decision, "ask", "{output:?}");
            } else {
                assert!(denied(client, &output).is_some(), "{client} {output:?}");
            }
        }
        let nothing_to_run = command(&env, client, "")
            .to_string()
            .replace("\"command\":\"\"", "\"c\":1");
        let output = ask(&env, client, moment, nothing_to_run);
        assert!(
            output.stdout.contains("\"ask\"") || denied(client, &output).is_some(),
            "{output:?}"
        );
    }
    // Of each the journal was told.
    assert_eq!(machine_records(&env).len(), CLIENTS.len() * 9);
}

/// CAKE-SHIM-1: a person is only asked where one is there.
#[test]
fn where_nobody_is_asked_what_should_be_asked_about_is_denied() {
    let env = repository();
    let wanting = json!({"permission_mode": "bypassPermissions", "tool_name": "Bash"});
    let output = ask(&env, "claude", "pre-tool-use", wanting.to_string());
    // An event that cannot be read has no mode.
    assert!(output.stdout.contains("\"ask\""), "{output:?}");
    let mut curl = command(&env, "claude", "git reset --hard");
    curl["permission_mode"] = "bypassPermissions".into();
    assert!(denied("claude", &decide(&env, "claude", &curl)).is_some());
}

/// CAKE-SHIM-1: ten megabytes, NUL, hostile ids.
#[test]
fn hostile_events_are_answered() {
    let env = repository();
    let long = format!("echo {}; rm -rf /", "x ".repeat(5_000_000));
    for (client, _) in CLIENTS {
        for hostile in [long.as_str(), "rm\0 -rf /", "git reset --hard # \u{202e}"] {
            let mut event = command(&env, client, hostile);
            event["permission_mode"] = "bypassPermissions".into();
            let output = decide(&env, client, &event);
            let is_asked = output.stdout.contains("\"ask\"");
            let is_stopped = is_asked || denied(client, &output).is_some();
            assert!(is_stopped, "{client} {:.20}: {}", hostile, output.code);
        }
        let mut ids = command(&env, client, "ls");
        ids["session_id"] = format!("../../{}", "\u{1b}[2J".repeat(1000)).into();
        ids["tool_use_id"] = json!({"not": "an id"});
        ids["cwd"] = "relative/../..".into();
        passes(&decide(&env, client, &ids));
        ids["cwd"] = "/no/such/folder".into();
        passes(&decide(&env, client, &ids));
    }
    assert!(machine_records(&env).iter().all(|record| {
        let session = record["details"]["session_id"].as_str().unwrap_or_default();
        record.to_string().len() < 100_000 && session.chars().count() <= 200
    }));
}

/// CAKE-SHIM-1: what other shells would do is seen as far as their commands look alike; texts that no
/// shell would finish are answered, and all of it is on the trail.
#[test]
fn other_shells_and_unfinished_texts_are_answered() {
    let env = repository();
    let deep = format!("{}rm -rf /{}", "$(".repeat(5_000), ")".repeat(5_000));
    let dangerous = [
        "if test -d /; rm -rf /; end",
        "rm -rf /; and echo done",
        "function f; rm -rf /; end; f",
        "begin; git reset --hard; end",
        "Remove-Item -Recurse -Force C:\\Users; if ($?) { git reset --hard }",
        "echo 'unfinished; rm -rf /",
        "cat <<EOF; rm -rf /",
        "case x in x) git reset --hard",
        deep.as_str(),
    ];
    let harmless = [
        "set -x PATH /opt $PATH; ls",
        "Get-ChildItem | Select-Object Name",
        "ls \\",
    ];
    for (client, _) in CLIENTS {
        for text in dangerous {
            let mut event = command(&env, client, text);
            event["permission_mode"] = "bypassPermissions".into();
            let output = decide(&env, client, &event);
            let reason = denied(client, &output);
            assert!(reason.is_some(), "{client} {text:.60}: {output:?}");
        }
        for text in harmless {
            passes(&decide(&env, client, &command(&env, client, text)));
        }
    }
    let told = machine_records(&env).len();
    assert_eq!(told, CLIENTS.len() * (dangerous.len() + harmless.len()));
}

/// CAKE-SHIM-1: a client that never ends what it sends is answered all the same.
#[test]
fn an_event_without_an_end_is_denied_in_time() {
    let env = repository();
    let program = callosum_testkit::fakes::program("callosum");
    // Nobody writes to the pipe, and it has no end, because the shell itself could.
    let script = format!(
        "mkfifo pipe && exec 3<>pipe && '{}' hook codex pre-tool-use <&3",
        program.display()
    );
    let shell = env.program(PathBuf::from("/bin/sh"));
    let shell = shell.without("CALLOSUM_TEST_PATIENCE");
    let output = shell.arguments(["-c", &script]).run();
    let reason = denied("codex", &output).unwrap();
    assert!(reason.contains("took too long"), "{reason}");
    let found = machine_records(&env);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["executor"], "codex");
    assert_eq!(found[0]["details"]["rule"], "hook.too-late");
}

/// CAKE-ADP-1: a hook that only watches says nothing, whatever happens.
#[test]
fn who_only_watches_never_disturbs() {
    let env = repository();
    let claude = json!({"hook_event_name": "SessionStart", "source": "startup"}).to_string();
    for (client, moment) in [
        ("claude", "session-start"),
        ("codex", "post-tool-use"),
        ("qwen", "no-such-event"),
        ("gemini", "after-tool"),
        ("nobody", "stop"),
    ] {
        for input in [claude.as_bytes(), b"", b"\xff", b"{\"hook_event_name\": 7}"] {
            let output = ask(&env, client, moment, input);
            let silence = if client == "gemini" { "{}\n" } else { "" };
            let said = (output.stdout.as_str(), output.stderr.as_str(), output.code);
            assert_eq!(said, (silence, "", 0), "{client}");
        }
    }
}

/// CAKE-ADP-1: an event is known by what the client says of it where its name says nothing.
#[test]
fn an_event_without_a_known_name_is_what_it_says_it_is() {
    let env = repository();
    let mut dangerous = command(&env, "codex", "git reset --hard");
    dangerous["hook_event_name"] = "PreToolUse".into();
    let output = env.callosum().arguments(["hook", "codex"]);
    let output = output.input(dangerous.to_string()).run();
    assert!(denied("codex", &output).is_some());
    let unknown = ask(&env, "some-client", "pre-tool-use", dangerous.to_string());
    assert_eq!(unknown.code, 2);
}

/// CAKE-SNAP-1: while a person is asked, the tree is kept as it is, without anybody waiting for it.
#[test]
fn while_a_person_is_asked_a_snapshot_is_taken() {
    let env = repository();
    env.write("src/lib.rs", "pub fn hours_of_work() {}\n");
    let startup = env.home().join(".bashrc");
    let startup = event(&env, "Write", json!({"file_path": startup, "content": ""}));
    let asked = decide(&env, "claude", &startup);
    assert!(asked.stdout.contains("\"ask\""), "{asked:?}");
    let list = || {
        let listed = env.run(["snapshot", "list", "--json"]).success().json();
        listed["snapshots"].as_array().unwrap().clone()
    };
    let mut looks = std::iter::repeat_with(list).take(5000);
    let listed = looks.find(|listed| !listed.is_empty()).unwrap();
    let label = listed[0]["label"].as_str().unwrap();
    assert!(label.starts_with("before: /"), "{label}");
    assert_eq!(
        listed[0]["dirty_files"],
        json!(["src/lib.rs", "untracked.txt", "work.txt"])
    );
}

/// The program's own help is not taken for an event.
#[test]
fn the_manual_of_the_hook_is_its_own() {
    let env = TestEnv::new();
    for arguments in [&["hook", "--help"][..], &["hook", "claude", "--help"]] {
        let help = env.run(arguments.iter().map(OsStr::new)).success();
        assert!(help.stdout.contains("pre-tool-use"), "{}", help.stdout);
    }
    env.run(["hook"]).ended_with(2);
}

/// CAKE-SHIM-1: an answer that nobody can read, because standard output is closed or full, denies by the
/// exit code, and lets pass what it has nothing against.
#[test]
fn an_answer_that_nobody_can_read_denies() {
    let env = repository();
    for output in [">&-", "> /dev/null", "> /dev/full"] {
        for client in ["claude", "gemini"] {
            let program = callosum_testkit::fakes::program("callosum");
            let line = format!(
                "exec '{}' hook {client} pre-tool-use {output}",
                program.display()
            );
            let hook = |asked: &str| {
                let hook = env.program("/bin/sh".into()).arguments(["-c", &line]);
                hook.input(command(&env, client, asked).to_string()).run()
            };
            let denied = hook("git reset --hard");
            assert_eq!(denied.code, 2, "{client} {output}");
            assert!(denied.stderr.starts_with("denied; "), "{client} {output}");
            assert_eq!(hook("ls").code, 0, "{client} {output}");
        }
        // What is only told keeps nobody from anything.
        let told = json!({"hook_event_name": "SessionStart", "session_id": "s", "cwd": env.project(), "source": "startup"});
        let program = callosum_testkit::fakes::program("callosum");
        let line = format!(
            "exec '{}' hook codex session-start {output}",
            program.display()
        );
        let hook = env.program("/bin/sh".into()).arguments(["-c", &line]);
        assert_eq!(hook.input(told.to_string()).run().code, 0, "{output}");
    }
}

/// CAKE-SHIM-1: a tool of which nothing says when it runs is decided on before it does.
#[test]
fn an_event_without_a_name_is_decided_on() {
    let env = repository();
    let dangerous = json!({"tool_name": "Bash", "tool_input": {"command": "git reset --hard"}});
    let hook = |event: &Value| {
        env.callosum()
            .arguments(["hook", "claude"])
            .input(event.to_string())
            .run()
    };
    let output = hook(&dangerous);
    assert!(denied("claude", &output).is_some(), "{output:?}");
    for (name, is_denied) in [("PreToolCall", true), ("PostToolUse", false)] {
        let mut event = dangerous.clone();
        event["hook_event_name"] = json!(name);
        let output = hook(&event);
        assert_eq!(output.stdout.contains("deny"), is_denied, "{name}");
    }
}

/// CAKE-SHIM-1: our records are not put aside with what git does not keep, unless git passes them over.
#[test]
fn records_are_not_put_aside_unless_git_passes_them_over() {
    let env = repository();
    env.write(".calrc", "{}");
    let put_aside = command(&env, "codex", "git stash -u");
    let reason = denied("codex", &decide(&env, "codex", &put_aside)).unwrap();
    assert!(reason.contains("protect.state"), "{reason}");
    env.write(".git/info/exclude", "/.cal_lock/\n/cal_audit/\n");
    passes(&decide(&env, "codex", &put_aside));
    let all = command(&env, "codex", "git stash --all");
    assert!(denied("codex", &decide(&env, "codex", &all)).is_some());
}
