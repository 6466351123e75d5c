//! Executors that try to get further than they were let, run by the built program.
//!
//! Each is a Python script of the project whose summary is what it found. Where the system cannot
//! hold anybody, which `doctor` would say, the tests of full confinement have nothing to look at.

#![cfg(target_os = "linux")]

use callosum_host::Disk;
use callosum_testkit::{Output, TestEnv, fakes};
use serde_json::Value;

use crate::projects::{register_with, two_languages};

/// What every script begins with: `tried` says what came of something, `tunnel` says hello to a host by way
/// of the proxy, and `answer` ends.
const PRELUDE: &str = r#"
import json, os, socket, subprocess, sys, time, urllib.request
request = json.load(sys.stdin)
found = []
def tried(name, attempt):
    try:
        found.append(f"{name}: {attempt()}")
    except Exception as error:
        found.append(f"{name}: {type(error).__name__} {getattr(error, 'errno', '')}".strip())
def tunnel(to):
    host, port = os.environ["HTTPS_PROXY"].removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), 60) as s:
        s.sendall(f"CONNECT {to} HTTP/1.1\r\n\r\n".encode())
        head = s.recv(1000).decode()
        if " 200 " not in head:
            return head.split("\r\n")[0]
        s.sendall(b"hello")
        return s.recv(5).decode()
def answer():
    print(json.dumps({"summary": "; ".join(found) or "nothing", "tokens_used": 1, "status": "success"}))
    sys.exit()
if request["prompt"] == "capabilities":
    print(json.dumps({"capabilities": {"prompt_input": True, "json_output": True}}))
    sys.exit()
if request["prompt"] == "ping":
    answer()
"#;

/// A project with a script as its executor `probe`, and a secret in the home folder.
pub(super) fn project(script: &str, options: &[&str]) -> TestEnv {
    let env = two_languages();
    env.write(env.home().join(".ssh/id"), "canary of the home folder");
    env.write("tools/probe.py", format!("{PRELUDE}{script}\nanswer()\n"));
    env.run(["init", "--all", "--share"]).success();
    register_with(&env, "probe", "python3 tools/probe.py", options);
    env
}

pub(super) fn delegate(env: &TestEnv) -> Output {
    env.callosum()
        .env("CANARY_SECRET", "canary of the environment")
        .env("LD_PRELOAD", "/nowhere/canary.so")
        .env("CAL_RETRY_MAX", "0")
        .arguments(["delegate", "x", "--executor", "probe", "--json"])
        .run()
}

pub(super) fn summary(env: &TestEnv) -> String {
    let output = delegate(env).success().json();
    output["summary"].as_str().unwrap().to_owned()
}

/// How far the only entry of the ledger says that its executor was confined.
pub(super) fn reached(env: &TestEnv) -> Value {
    let shown = env.run(["ledger", "show", "cal_2026_01_02_0001", "--json"]);
    shown.success().json()["metadata"]["confinement"].clone()
}

pub(super) fn is_held(env: &TestEnv) -> bool {
    reached(env)["level"] == "full"
}

pub(super) fn records(env: &TestEnv, event: &str) -> Vec<Value> {
    let told = env.run(["audit", "query", "--event", event, "--json"]);
    let told = told.success().json();
    told["records"].as_array().unwrap().clone()
}

/// Runs the program as a container would that refuses new namespaces.
pub(super) fn in_container(env: &TestEnv, words: &[&str]) -> Output {
    let run = env.callosum().env("CAL_RETRY_MAX", "0").arguments(words);
    run.run_in_container()
}

/// LOA-SEC-1, CAL-SEC-1, REQ-SEC-003: no secret arrives, by whatever way one is looked for.
#[test]
fn a_canary_never_arrives() {
    let env = project(
        r#"
import glob
seen = [str(dict(os.environ))]
for pattern in ["~/.ssh/*", "/proc/*/environ", "/proc/*/cmdline", "/root/*", "/home/*/*"]:
    for path in glob.glob(os.path.expanduser(pattern)):
        try:
            seen.append(open(path, errors="replace").read(100000))
        except OSError:
            pass
found.append(f"canaries: {'canary' in ' '.join(seen).replace('canaries', '')}")
tried("home", lambda: sorted(os.listdir(os.path.expanduser("~"))))
tried("preload", lambda: os.environ.get("LD_PRELOAD"))
open(os.path.expanduser("~/.cache"), "w").write("x")
"#,
        &[],
    );
    let found = summary(&env);
    assert!(found.contains("preload: None"), "{found}");
    if is_held(&env) {
        assert!(found.contains("canaries: False"), "{found}");
        // On the way to its temporary folder, and empty but for that.
        assert!(found.contains("home: ['state']"), "{found}");
    }
    assert!(!env.home().join(".cache").exists() || !is_held(&env));
}

/// LOA-SEC-1: what git and agents obey in a repository within the project cannot be written where the rest of it can.
#[test]
fn what_a_repository_within_the_project_obeys_is_read_only() {
    let obeyed = [
        "sub/.git/hooks/post-checkout",
        "sub/.git/config",
        "sub/.claude/settings.json",
        "sub/.mcp.json",
        "sub/deep/in/.git",
    ];
    let script = format!(
        r#"
for path in {obeyed:?}:
    tried(path, lambda: open(path, "a").write("x"))
tried("source", lambda: open("sub/src/a.rs", "a").write("x"))
"#
    );
    let env = project(&script, &["--allow-write", "sub/"]);
    for path in obeyed.iter().chain(&["sub/src/a.rs"]) {
        env.write(path, "y");
    }
    let found = summary(&env);
    if is_held(&env) {
        let denied = obeyed.map(|path| format!("{path}: OSError 30"));
        assert_eq!(found, format!("{}; source: 1", denied.join("; ")));
        assert_eq!(env.read("sub/.git/config"), "y");
    }
}

/// LOA-SEC-1: tools that run commands in a terminal get one, and see none of the machine's.
#[test]
fn a_terminal_of_its_own_is_there() {
    let env = project(
        r#"
import pty
def run():
    child, main = pty.fork()
    if child == 0:
        os.execv("/bin/sh", ["sh", "-c", "test -t 0 && echo a terminal"])
    said = os.read(main, 100).decode().strip()
    os.waitpid(child, 0)
    return said
tried("terminals", lambda: os.listdir("/dev/pts"))
tried("run", run)
"#,
        &[],
    );
    let found = summary(&env);
    if is_held(&env) && !found.contains("FileNotFoundError") {
        assert_eq!(found, "terminals: ['ptmx']; run: a terminal");
    }
}

/// CAL-SEC-1: a coding agent that is held leaves nothing in the home folder that it would obey when it
/// is not, whether its settings were there before or not, and what it says of its login stays.
#[test]
fn a_held_client_plants_nothing_for_its_next_run() {
    let env = two_languages();
    env.run(["delegate", "map"]).success();
    if !is_held(&env) {
        return;
    }
    let planted = [
        ".claude/settings.json",
        ".claude/settings.local.json",
        ".claude/plugins/x/plugin.json",
        ".claude/skills/x/SKILL.md",
        ".claude.json",
    ];
    let program = format!(
        r#"#!/bin/sh
case "$1" in
--version) echo "2.1.330 (Claude Code)"; exit ;;
--help) echo "-p --setting-sources --safe-mode --output-format --verbose --include-partial-messages --json-schema"; exit ;;
esac
for path in {}; do
    mkdir -p "$(dirname "$HOME/$path")"
    echo planted > "$HOME/$path"
done
cd "$HOME/.claude"
sed 's/old/renewed/' .credentials.json > renewed.json
mv renewed.json .credentials.json
echo "settings: $(cat "$HOME/.claude/settings.json"), state: $(cat "$HOME/.claude.json")" >&2
exit 1
"#,
        planted.join(" ")
    );
    let path = env.programs().join("claude");
    Disk::real()
        .replace(&path, program.as_bytes(), 0o755)
        .unwrap();
    let at_home = |name: &str| env.home().join(name);
    env.write(
        at_home(".claude/.credentials.json"),
        r#"{"access": "old", "expires": 1}"#,
    );
    env.run(["executor", "register", "claude"]).success();
    let attempt = |sees: &str| {
        let run = env.callosum().env("CAL_RETRY_MAX", "0");
        let run = run.arguments(["delegate", "x", "--executor", "claude", "--no-cache"]);
        let said = run.run().ended_with(1).stderr;
        assert!(said.contains(sees), "{said}");
        let login = env.read(at_home(".claude/.credentials.json"));
        assert_eq!(login, r#"{"access": "renewed", "expires": 1}"#);
    };
    attempt("settings: planted, state: planted");
    for name in planted {
        assert!(!at_home(name).exists(), "{name}");
    }
    for name in [".claude/settings.json", ".claude.json"] {
        env.write(at_home(name), "{}");
    }
    attempt("settings: planted, state: planted");
    for name in planted {
        let found = std::fs::read_to_string(at_home(name)).ok();
        let was_there = [".claude/settings.json", ".claude.json"].contains(&name);
        assert_eq!(found.as_deref(), was_there.then_some("{}"), "{name}");
    }
}

/// CAL-SEC-1: a coding agent that is held sees no key of the servers of tools that its person has set up, nor
/// any other variable of a `.env` than its own, and sees its settings.
#[test]
fn a_held_client_sees_no_keys_of_others() {
    let json = r#"{
        // Comments are allowed.
        "theme": "kept",
        "mcpServers": {"s": {"command": "x", "args": ["canary"], "env": {"K": "canary"}, "headers": {"A": "canary"}}},
        "mcp": {"s": {"type": "local", "environment": {"K": "canary"}, "headers": {"A": "canary"}}}
    }"#;
    let toml = "model = \"kept\"\n[mcp_servers.s]\nurl = \"https://u\"\nbearer_token = \"canary\"\n\
        [mcp_servers.s.env]\nK = \"canary\"\n[mcp_servers.s.http_headers]\nX = \"canary\"\n";
    for (client, version, files) in [
        (
            "claude",
            "2.1.330",
            vec![
                (".claude.json", json),
                (".claude/settings.json", json),
                (
                    ".claude/.credentials.json",
                    r#"{"claudeAiOauth": {"k": "kept"}, "mcpOAuth": {"s": "canary"}}"#,
                ),
            ],
        ),
        (
            "codex",
            "codex-cli 0.169.0",
            vec![(".codex/config.toml", toml)],
        ),
        (
            "gemini",
            "0.61.0",
            vec![
                (".gemini/settings.json", json),
                (".gemini/.env", "GEMINI_API_KEY=kept\nOTHER=canary\n"),
            ],
        ),
        (
            "qwen",
            "0.24.4",
            vec![
                (".qwen/settings.json", json),
                (".qwen/.env", "OPENAI_API_KEY=kept\nOTHER=canary\n"),
            ],
        ),
        (
            "opencode",
            "1.18.33",
            vec![
                (".config/opencode/opencode.json", json),
                (".config/opencode/opencode.jsonc", json),
            ],
        ),
    ] {
        let env = two_languages();
        env.run(["delegate", "map"]).success();
        if !is_held(&env) {
            return;
        }
        let program = format!(
            r#"#!/bin/sh
case "$*" in
*--version*) echo "{version}"; exit ;;
*--help*) echo "-p --setting-sources --safe-mode --output-format --verbose --include-partial-messages --json-schema --json --format --sandbox --output-schema --skip-git-repo-check --skip-trust"; exit ;;
esac
kept=$(grep -rl kept "$HOME" | wc -l)
echo "kept in $kept, others': $(grep -rc canary "$HOME" | grep -v ':0$' | tr '\n' ' ')." >&2
exit 1
"#
        );
        let path = env.programs().join(client);
        Disk::real()
            .replace(&path, program.as_bytes(), 0o755)
            .unwrap();
        for (name, text) in &files {
            env.write(env.home().join(name), text);
        }
        env.run(["executor", "register", client]).success();
        let run = env.callosum().env("CAL_RETRY_MAX", "0");
        let run = run.arguments(["delegate", "x", "--executor", client, "--no-cache"]);
        let said = run.run().ended_with(1).stderr;
        let expected = format!("kept in {}, others': .", files.len());
        assert!(said.contains(&expected), "{client}: {said}");
        for (name, text) in &files {
            assert_eq!(env.read(env.home().join(name)), *text, "{client}: {name}");
        }
    }
}

/// CAL-SEC-1: what was open where the program was started is not open to an executor, confined or not.
#[test]
fn nothing_that_is_open_already_is_passed_on() {
    for options in [&[][..], &["--sandbox", "off"]] {
        let env = project(
            r#"
for number in range(3, 64):
    try:
        found.append(f"{number}: {os.fstat(number).st_mode:o}")
    except OSError:
        pass
"#,
            options,
        );
        env.write("outside.txt", "secret of the outside");
        let script = r#"exec 7<outside.txt 8>>outside.txt 9<.; exec "$0" "$@""#;
        let run = env
            .program("bash".into())
            .arguments(["-c", script])
            .arguments([fakes::program("callosum")])
            .arguments(["delegate", "x", "--executor", "probe"])
            .run();
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert_eq!(summary(&env), "nothing", "{options:?}");
    }
}

/// What was reached is kept with the entry and on the trail; `off` reaches nothing, and the task is
/// done.
#[test]
fn the_level_is_recorded_with_the_task() {
    let env = project("", &["--sandbox", "off"]);
    assert_eq!(summary(&env), "nothing");
    let off = reached(&env);
    assert_eq!(
        (off["policy"].as_str(), off["level"].as_str()),
        (Some("off"), Some("none"))
    );
    assert_eq!(records(&env, "spawn")[0]["details"]["confinement"], off);
    let scout = env.run(["delegate", "x", "--executor", "scout", "--json"]);
    let id = scout.success().json()["task_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let entry = env.run(["ledger", "show", &id, "--json"]).success().json();
    let scout = &entry["metadata"]["confinement"];
    assert_eq!(scout["policy"], "best-effort");
    assert!(scout["level"].is_string());
}

/// CAL-SEC-1: what an entry wants beyond its command is seen before it is trusted, and in the list how
/// far it is held.
#[test]
fn what_an_entry_wants_is_seen_before_it_is_trusted() {
    let env = two_languages();
    env.write(
        "registry.json",
        r#"{"executors": [
            {"id": "free", "type": "cli", "status": "active", "command_template": "a",
             "confinement": "off"},
            {"id": "wide", "type": "cli", "status": "active", "command_template": "a",
             "readable": ["~/.ssh"], "writable": ["~/"], "network": ["*"]}]}"#,
    );
    let shown = env.run(["trust", "--list"]).success().stdout;
    for said in [
        "and runs without a sandbox",
        "and may read: ~/.ssh",
        "and may write: ~/\n",
        "and may connect to: *",
    ] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
    let listed = env.run(["executor", "list", "--json"]).success().json();
    let free = &listed["executors"][0]["confinement"];
    assert_eq!(
        (free["policy"].as_str(), free["level"].as_str()),
        (Some("off"), Some("none"))
    );
    let wide = &listed["executors"][1];
    assert_eq!(wide["confinement"]["policy"], "best-effort");
    assert_eq!(wide["network"][0], "*");
    let unconfined = in_container(&env, &["executor", "list", "--json"])
        .success()
        .json();
    let missing = &unconfined["executors"][1]["confinement"]["missing"];
    assert!(
        missing[0].as_str().unwrap().contains("namespaces"),
        "{missing}"
    );
}

/// CAL-EXE-1: a program that the confined executor does not see leads to the option that shows it.
#[cfg(target_os = "linux")]
#[test]
fn what_a_shim_does_not_see_is_named_with_what_helps() {
    let env = two_languages();
    env.run(["delegate", "map"]).success();
    if !is_held(&env) {
        return;
    }
    let hidden = env.home().join(".versions/bin");
    std::fs::create_dir_all(&hidden).unwrap();
    std::fs::copy(fakes::program("fake-executor"), hidden.join("fake")).unwrap();
    let shim = env.programs().join("shim");
    let text = format!("#!/bin/sh\nexec {}/fake \"$@\"\n", hidden.display());
    Disk::real().replace(&shim, text.as_bytes(), 0o755).unwrap();
    let register = ["executor", "register", "shimmed", "--command", "shim"];
    let refused = env.run(register).ended_with(1).stderr;
    let helps = "hint: callosum executor register shimmed --command shim --allow-read ~/.versions/";
    assert!(refused.contains(helps), "{refused}");
    let more = ["--allow-read", "~/.versions/"];
    env.run(register.iter().chain(&more)).success();
    let gone = [
        "executor",
        "register",
        "gone",
        "--command",
        "no-such-program",
    ];
    let refused = env.run(gone).ended_with(1).stderr;
    assert!(
        refused.contains("hint: install `no-such-program`"),
        "{refused}"
    );
}
