//! `callosum mesh inject` over the routes that need no keys: a client's own mailbox, and hooks.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};

use callosum_testkit::{Output, Schema};
use serde_json::{Value, json};

use super::panes::{Stage, screen};
use crate::neighbours::{is_silent, state};

/// A program that listens at `PID.sock` as Claude Code does, keeps its session file, and shows each message as a prompt.
const CLAUDE: &str = r#"
import json, os, socket, sys, time
sessions, sockets, screen, log = sys.argv[1:]
pid = os.getpid()
path = f"{sockets}/{pid}.sock"
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
listener.listen()
start = open("/proc/self/stat").read().rsplit(")", 1)[1].split()[19]
def report(status):
    text = {"pid": pid, "sessionId": "s1", "procStart": start, "messagingSocketPath": path,
            "status": status, "statusUpdatedAt": int(time.time() * 1000)}
    open(f"{sessions}/new", "w").write(json.dumps(text))
    os.rename(f"{sessions}/new", f"{sessions}/{pid}.json")
report("idle")
print("\033[H\033[2J" + open(screen).read().replace("\n", "\r\n"), flush=True)
while True:
    stream, _ = listener.accept()
    line = stream.makefile().readline()
    if line:
        open(log, "a").write(line)
        report("busy")
"#;

/// Starts the program in a pane with a screen, and returns the pane and the file of its messages.
fn claude(stage: &Stage, text: &str) -> (String, PathBuf) {
    let folder = stage.env.folder();
    let sessions = stage.env.home().join(".claude/sessions");
    let sockets = folder.join("sockets");
    for made in [&sessions, &sockets] {
        fs::create_dir_all(made).unwrap();
    }
    fs::set_permissions(&sockets, fs::Permissions::from_mode(0o700)).unwrap();
    let (script, shown) = (folder.join("client.py"), folder.join("shown"));
    let log = folder.join("messages");
    fs::write(&script, CLAUDE).unwrap();
    fs::write(&shown, text).unwrap();
    // A `python3` in `PATH` may be a script that picks one, and scripts lose the name.
    let python = Command::new("python3")
        .args(["-c", "import sys; print(sys.executable)"])
        .output()
        .expect("python3 is installed");
    let python = String::from_utf8(python.stdout).unwrap();
    let line = format!(
        "bash -c 'exec -a claude {} {} {} {} {} {}'",
        python.trim(),
        script.display(),
        sessions.display(),
        sockets.display(),
        shown.display(),
        log.display()
    );
    let pane = stage.tmux(&["new-window", "-d", "-P", "-F", "#{pane_id}", &line]);
    (pane, log)
}

/// Returns the start time of a pane's client, as the system counts it.
fn start_of(pane: &Value) -> String {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pane["pid"])).unwrap();
    let start = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(19);
    start.unwrap().to_owned()
}

/// Looks until the session file of a pane's client is known.
fn has_session(stage: &Stage, pane: &str) {
    let until = Instant::now() + Duration::from_secs(10);
    let is_known = |panes: Value| {
        let panes = panes["panes"].as_array().unwrap().clone();
        panes
            .iter()
            .any(|one| one["pane"] == pane && one["session_id"] == "s1")
    };
    while !is_known(stage.panes(&[])) {
        assert!(Instant::now() < until, "{}", stage.panes(&[]));
        thread::sleep(Duration::from_millis(50));
    }
}

fn inject(stage: &Stage, words: &[&str]) -> Output {
    stage.run(&[&["mesh", "inject"], words, &["--json"]].concat())
}

fn hook(stage: &Stage, name: &str, word: &str, more: Value) -> Output {
    let mut event = json!({
        "hook_event_name": name, "session_id": "s1", "cwd": stage.env.project(),
        "transcript_path": "/none",
    });
    for (key, value) in more.as_object().unwrap() {
        event[key] = value.clone();
    }
    let hook = stage.env.callosum().arguments(["hook", "claude", word]);
    hook.without("CALLOSUM_TEST_CLOCK")
        .input(event.to_string())
        .run()
}

/// Reports another call of a tool.
fn tool_has_run(stage: &Stage) -> Output {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let call = CALLS.fetch_add(1, Ordering::Relaxed);
    let more = json!({
        "tool_name": "Bash", "tool_use_id": format!("call-{call}"), "tool_input": {"command": "ls"},
        "tool_response": {"stdout": "", "stderr": "", "interrupted": false},
    });
    hook(stage, "PostToolUse", "post-tool-use", more)
}

/// CALC-PAT-3: Claude Code gets a text at its socket, without a key, and its session file is the evidence.
#[test]
fn a_text_reaches_the_socket_of_claude_code() {
    let stage = Stage::new();
    let (pane, log) = claude(&stage, &screen("claude-code", "small-idle-fresh"));
    has_session(&stage, &pane);
    let dry = inject(&stage, &[&pane, "Run the tests", "--dry-run"]).success();
    assert_eq!(dry.json()["route"], "claude-socket");
    let sent = inject(&stage, &[&pane, "Run the tests"]).success().json();
    assert_eq!(Schema::published("output-mesh-inject").fault(&sent), None);
    assert_eq!(
        (&sent["route"], &sent["outcome"], &sent["enters"]),
        (&"claude-socket".into(), &"submitted".into(), &0.into()),
        "{sent}"
    );
    let messages = stage.env.read(&log);
    let message: Value = serde_json::from_str(&messages).expect("one message");
    assert_eq!(message["message"]["content"], "Run the tests");
    let log = stage.run(&["mesh", "tail", "--topic", "pane.inject", "--json"]);
    let log = log.success().stdout;
    assert!(
        log.contains("\"route\":\"claude-socket\"") && !log.contains("Run the tests"),
        "{log}"
    );
}

/// CALC-PAT-3: a socket in a folder of others is not used, and the text is typed by tmux instead or not at all.
#[test]
fn a_socket_in_an_open_folder_is_skipped() {
    let stage = Stage::new();
    let (pane, log) = claude(&stage, &screen("claude-code", "small-idle-fresh"));
    has_session(&stage, &pane);
    let open = fs::Permissions::from_mode(0o755);
    fs::set_permissions(stage.env.folder().join("sockets"), open).unwrap();
    let sent = inject(&stage, &[&pane, "Run the tests", "--route", "native"]).ended_with(1);
    assert!(
        sent.stderr.contains("not this user's alone"),
        "{}",
        sent.stderr
    );
    assert!(!log.exists());
}

/// CALC-PAT-3: `codex queue` gets the text for the thread that a hook named. Its exit code is no evidence; the screen is.
#[test]
fn a_text_reaches_the_queue_of_codex() {
    let stage = Stage::new();
    let (pane, file) = stage.client("codex");
    let idle = screen("codex", "small-idle-fresh");
    fs::write(&file, &idle).unwrap();
    let known = stage.reaches(&pane, "TRULY_IDLE");
    let thread = "0199a0b0-7c1e-7d10-8f00-0123456789ab";
    let event = json!({
        "client": "codex", "session_id": thread, "event": "SessionStart", "state": "TRULY_IDLE",
        "at": known["last_active"], "pid": known["pid"],
        "started": start_of(&known).parse::<u64>().unwrap(), "cwd": null, "last_prompt": null,
    });
    let events = stage.env.machine_home().join("hook-events");
    stage.env.write(
        events.join(format!("codex.{thread}.json")),
        event.to_string(),
    );
    let programs = stage.env.folder().join("programs");
    let words = stage.env.folder().join("words");
    let program = |after: &str| {
        let script = format!(
            "#!/bin/sh\nprintf '%s\\n' \"$@\" >> '{}'\n{after}\n",
            words.display()
        );
        stage.env.write(programs.join("codex"), script);
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(programs.join("codex"), executable).unwrap();
    };
    let run = |words: &[&str]| {
        let words = [&["mesh", "inject", &pane], words, &["--json"]].concat();
        let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
        let run = stage.env.callosum().arguments(words).env("PATH", path);
        run.env("TMUX_TMPDIR", stage.tmux_folder())
            .without("CALLOSUM_TEST_CLOCK")
            .run()
    };
    let next = stage.env.folder().join("next");
    fs::write(
        &next,
        idle.replacen("\n\n\n\n", "\n\n› Run the tests\n\n", 1),
    )
    .unwrap();
    program(&format!("cp '{}' '{}'", next.display(), file.display()));
    let sent = run(&["Run the tests"]).success().json();
    assert_eq!(
        (&sent["route"], &sent["outcome"]),
        (&"codex-queue".into(), &"submitted".into()),
        "{sent}"
    );
    let expected = format!("queue\n--thread\n{thread}\n--message=Run the tests\n");
    assert_eq!(stage.env.read(&words), expected);
    // It fails after it may have stored the message: no second route is tried.
    program("exit 1");
    let failed = run(&["Run the linter"]).ended_with(1).json();
    assert_eq!(
        (&failed["outcome"], &failed["route"]),
        (&"unconfirmed".into(), &"codex-queue".into()),
        "{failed}"
    );
    let shown = stage.tmux(&["capture-pane", "-p", "-t", &pane]);
    assert!(!shown.contains("Run the linter"), "{shown}");
    // A version without `queue` leaves the way for keys, which reach no client here.
    program("exit 2");
    let typed = run(&["Run the formatter"]).ended_with(1).json();
    assert_eq!(typed["route"], "tmux", "{typed}");
    assert_eq!(typed["skipped"][0]["route"], "codex-queue");
}

/// CALC-PAT-3, CALC-PAT-2: an agent that works gets the text at its next tool call, and the receipt follows what hooks
/// and the agent report.
#[test]
fn an_agent_that_works_gets_a_text_by_its_hook() {
    let stage = Stage::new();
    let (pane, file) = stage.client("claude");
    fs::write(&file, screen("claude-code", "small-working-streaming")).unwrap();
    let known = stage.reaches(&pane, "WORKING");
    let session = json!({
        "pid": known["pid"], "sessionId": "s1", "procStart": start_of(&known), "status": "busy",
    });
    let sessions = stage.env.home().join(".claude/sessions");
    let path = sessions.join(format!("{}.json", known["pid"]));
    stage.env.write(path, session.to_string());
    has_session(&stage, &pane);
    let refused = inject(&stage, &[&pane, "The schema changed"]).ended_with(1);
    assert_eq!(refused.json()["outcome"], "refused", "no hook reports s1");
    hook(
        &stage,
        "SessionStart",
        "session-start",
        json!({"source": "startup"}),
    )
    .success();
    let prompt = json!({"prompt": "Fix it"});
    hook(&stage, "UserPromptSubmit", "user-prompt-submit", prompt).success();
    let queued = inject(&stage, &[&pane, "The schema changed"])
        .ended_with(1)
        .json();
    assert_eq!(
        (&queued["route"], &queued["outcome"]),
        (&"hook".into(), &"queued".into()),
        "{queued}"
    );
    let message = queued["message"].as_str().unwrap();
    assert_eq!(state(&stage.env, message), "queued");
    let told = tool_has_run(&stage).success().stdout;
    assert!(told.contains("The schema changed"), "{told}");
    assert_eq!(state(&stage.env, message), "delivered");
    is_silent("claude", &tool_has_run(&stage));
    let seen = thread::scope(|scope| {
        let inject = scope.spawn(|| inject(&stage, &[&pane, "It changed again", "--wait", "20s"]));
        let until = Instant::now() + Duration::from_secs(20);
        while !tool_has_run(&stage)
            .success()
            .stdout
            .contains("It changed again")
        {
            assert!(
                !inject.is_finished(),
                "{:?}",
                inject.join().map(|done| (done.stdout, done.stderr))
            );
            assert!(Instant::now() < until, "the message never came");
            thread::sleep(Duration::from_millis(50));
        }
        inject.join().unwrap()
    });
    let seen = seen.success().json();
    assert_eq!(seen["outcome"], "seen", "{seen}");
    let steps = seen["steps"].as_array().unwrap();
    assert_eq!(steps.last().unwrap()["phase"], "seen");
    let read = [
        "mesh",
        "message",
        "read",
        "--as",
        "claude",
        "--session",
        "s1",
    ];
    stage.env.run(read).success();
    assert_eq!(state(&stage.env, message), "acked");
}

/// CALC-PAT-3: an agent in no pane gets the text by its hook, a name that no agent has gets nothing, and neither does a
/// client with an open dialog.
#[test]
fn an_agent_in_no_pane_gets_a_text_by_its_hook() {
    let stage = Stage::new();
    // No pane is ever one of Qwen Code, so no client that runs on this machine has the name.
    let unknown = inject(&stage, &["qwen", "x"]).ended_with(2).stderr;
    assert!(unknown.contains("there is no pane `qwen`"), "{unknown}");
    let publish = |agent: &str| {
        let words = ["mesh", "publish", "session.start", "--as", agent];
        let words = [&words[..], &["--session", "s7", "--wait"]].concat();
        stage.run(&words).success();
    };
    publish("qwen");
    let queued = inject(&stage, &["qwen", "Rebase first", "--as", "codex"]);
    let queued = queued.ended_with(1).json();
    assert_eq!(
        (&queued["outcome"], &queued["pane"]),
        (&"queued".into(), &"qwen-code".into()),
        "{queued}"
    );
    let dry = inject(&stage, &["qwen", "Rebase first", "--dry-run"]).success();
    assert_eq!(dry.json()["message"], Value::Null);
    let typed = inject(&stage, &["qwen", "Rebase first", "--route", "tmux"]);
    typed.ended_with(2);
}

/// A process that ends with the test.
struct Watch(Child);

impl Drop for Watch {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// CALC-PAT-3: an agent whose limit has ended gets one "continue", with a receipt, and no second one from another process.
#[test]
fn an_agent_is_resumed_once_after_its_limit() {
    let stage = Stage::new();
    let limited = screen("claude-code", "usage-limit-five-hour");
    let lines: Vec<&str> = limited.lines().filter(|line| !line.is_empty()).collect();
    let (pane, log) = claude(&stage, &lines.join("\n"));
    has_session(&stage, &pane);
    stage.reaches(&pane, "USAGE_LIMITED");
    let watch = |words: &[&str]| {
        let words = [&["mesh", "panes", "--watch", "--json"], words].concat();
        let mut command = stage
            .env
            .callosum()
            .arguments(words)
            .env("TMUX_TMPDIR", stage.tmux_folder())
            .without("CALLOSUM_TEST_CLOCK")
            .command();
        Watch(
            command
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap(),
        )
    };
    // The limit ended two minutes ago, as an earlier process knew.
    let end_limit = || {
        let path = stage.env.machine_home().join("pane_registry.json");
        let mut registry: Value = serde_json::from_str(&stage.env.read(&path)).unwrap();
        let panes = registry["panes"].as_array_mut().unwrap();
        let known = panes.iter_mut().find(|one| one["pane"] == pane.as_str());
        let ago = jiff::Timestamp::now() - jiff::SignedDuration::from_secs(120);
        known.unwrap()["resets_at"] = ago.to_string().into();
        stage.env.write(&path, registry.to_string());
    };
    end_limit();
    let without = watch(&[]);
    thread::sleep(Duration::from_secs(2));
    drop(without);
    assert!(!log.exists(), "it is off unless it is asked for");
    end_limit();
    let resuming = [
        watch(&["--resume-after-limit"]),
        watch(&["--resume-after-limit"]),
    ];
    let until = Instant::now() + Duration::from_secs(20);
    let receipts = || {
        let log = stage.run(&["mesh", "tail", "--topic", "pane.inject", "--json"]);
        log.success().stdout
    };
    while receipts().is_empty() {
        assert!(Instant::now() < until, "no receipt");
        thread::sleep(Duration::from_millis(100));
    }
    thread::sleep(Duration::from_secs(2));
    drop(resuming);
    let messages = stage.env.read(&log);
    let message: Value = serde_json::from_str(&messages).expect("one message");
    assert_eq!(message["message"]["content"], "continue");
    let receipt: Value = serde_json::from_str(&receipts()).expect("one receipt");
    let payload = &receipt["payload"];
    assert_eq!(
        (&payload["cause"], &payload["outcome"], &receipt["source"]),
        (
            &"resume-after-limit".into(),
            &"submitted".into(),
            &"callosum".into()
        ),
        "{receipt}"
    );
}
