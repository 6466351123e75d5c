//! What a held executor may not write, nor lock, and what is on the record of that.

#![cfg(target_os = "linux")]

use std::{thread, time::Duration};

use callosum_json::Checksum;
use serde_json::json;

use crate::{
    agents::fake,
    confinement::{delegate, is_held, project, records, summary},
    projects::two_languages,
};

/// REQ-GOV-005, REQ-SEC-001, REQ-SYS-001, CAL-SEC-1: the operating system denies a write to what the
/// ledger consists of, also where the project is writable, and the trail has the executor's own words
/// and the ledger's hash before and after.
#[test]
fn a_write_to_the_ledger_is_denied_and_on_the_record() {
    let env = project(
        r#"
for path in ["registry.json", ".calrc", ".git/config", "cal_audit/x", ".cal_lock/x", "new", ".cal_hashlog"]:
    tried(path, lambda: open(path, "a").write("x"))
tried("replace", lambda: os.replace("src/main.rs", ".cal_memory.json"))
tried("remove", lambda: os.remove(".cal_memory.json"))
tried("source", lambda: open("src/main.rs", "a").write("x"))
print("; ".join(found), file=sys.stderr)
open(".cal_memory.json", "a").write("x")
"#,
        &["--allow-write", "."],
    );
    env.write(".calrc", "{}");
    let state = || {
        let names = [".cal_memory.json", "registry.json", ".calrc", ".git/config"];
        names.map(|name| env.read(name))
    };
    let before = state();
    let output = delegate(&env);
    let told = &records(&env, "error")[0];
    let said = told["details"]["said"].as_str().unwrap();
    let spawned = &records(&env, "spawn")[0]["details"]["confinement"];
    if spawned["level"] != "full" {
        return;
    }
    assert_eq!(output.code, 1, "{}", output.stderr);
    assert!(
        said.contains("Read-only file system: '.cal_memory.json'"),
        "{said}"
    );
    for denied in [
        "registry.json: OSError 30",
        ".git/config: OSError 30",
        "new: OSError 30",
    ] {
        assert!(said.contains(denied), "{denied}: {said}");
    }
    assert!(said.contains("source: 1"), "{said}");
    assert_eq!(state(), before);
    let hash = Checksum::of(env.read(".cal_memory.json").as_bytes()).to_string();
    assert_eq!(told["details"]["ledger_before"], hash, "{told}");
    assert_eq!(told["details"]["ledger_after"], hash, "{told}");
    env.run(["ledger", "verify"]).success();
}

/// CAL-SEC-1, REQ-MSP-001: an executor that locks whatever it may open keeps no other run waiting: the files whose locks
/// others wait for are not there, in the project, in another checkout within it, and where it may write.
#[test]
fn no_lock_of_the_project_can_be_held() {
    let env = project(
        r#"
import fcntl
held = []
for folder, _, names in os.walk("."):
    for name in names:
        try:
            file = open(os.path.join(folder, name))
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            held.append(file)
        except OSError:
            pass
for folder in [".cal_lock", "sub/.cal_lock", "loa-grimoire/.session"]:
    tried(folder, lambda: os.listdir(folder))
tried("ledger", lambda: os.path.exists(".cal_memory.json"))
tried("new", lambda: open(".cal_lock/cal_mutex", "w"))
open("sub/held", "w").close()
while not os.path.exists("src/go"):
    print("waits", file=sys.stderr, flush=True)
    time.sleep(0.05)
"#,
        &["--allow-write", "sub/"],
    );
    for path in ["sub/.cal_lock/cal_mutex", "loa-grimoire/.session/lock"] {
        env.write(path, "");
    }
    let (found, others) = thread::scope(|scope| {
        let run = scope.spawn(|| summary(&env));
        while !env.project().join("sub/held").exists() && !run.is_finished() {
            thread::sleep(Duration::from_millis(10));
        }
        let others = [
            env.run(["delegate", "map", "--executor", "scout"]),
            env.run(["ledger", "verify"]),
            env.run(["executor", "disable", "scout"]),
        ];
        env.write("src/go", "");
        (run.join().unwrap(), others)
    });
    if is_held(&env) {
        for other in others {
            other.success();
        }
        assert_eq!(
            found,
            ".cal_lock: []; sub/.cal_lock: []; loa-grimoire/.session: []; ledger: True; new: OSError 30"
        );
    }
}

/// REQ-GOV-005: who is denied a write to the ledger, and answers as if nothing had been, is on the
/// record like one that fails.
#[test]
fn a_denied_write_is_on_the_record_where_the_answer_is_good() {
    let env = project(
        r#"
def attempt():
    open(".cal_memory.json", "a").write("x")
try:
    attempt()
except OSError as error:
    print("cannot note it:", error, file=sys.stderr)
print("nothing else to say", file=sys.stderr)
"#,
        &["--allow-write", "."],
    );
    let before = env.read(".cal_memory.json");
    let output = delegate(&env);
    let spawned = &records(&env, "spawn")[0]["details"]["confinement"];
    if spawned["level"] != "full" {
        return;
    }
    assert_eq!(output.code, 0, "{}", output.stderr);
    let told = &records(&env, "error")[0];
    assert_eq!(told["status"], "denied", "{told}");
    let said = told["details"]["said"].as_str().unwrap();
    assert!(
        said.starts_with("cannot note it: [Errno 30] Read-only"),
        "{said}"
    );
    assert!(!said.contains("nothing else"), "{said}");
    let hash = Checksum::of(before.as_bytes()).to_string();
    assert_eq!(told["details"]["ledger_before"], hash, "{told}");
    assert_eq!(told["details"]["ledger_after"], hash, "{told}");
    let told = "it reports a denied write to the ledger: cannot note it";
    assert!(output.stderr.contains(told), "{}", output.stderr);
}

/// REQ-GOV-005: what was denied to a tool of a client, which tells its model alone, is on the record as what it says
/// itself; what a tool has read is not.
#[test]
fn a_write_that_was_denied_to_a_tool_is_on_the_record() {
    let env = two_languages();
    let used = |tool: &str, output: &str| {
        let part = json!({"tool": tool, "state": {"status": "completed", "output": output}});
        format!(
            "{}\n",
            json!({"type": "tool_use", "sessionID": "s", "part": part})
        )
    };
    let denied = "zsh:1: read-only file system: /p/.cal_memory.json";
    let mut client = fake("opencode", "ok", 0);
    let mut output = used("read", "rm: .cal_hashlog: Permission denied").into_bytes();
    output.extend(used("bash", &format!("$ echo x\n{denied}\n")).into_bytes());
    output.append(&mut client.output);
    client.output = output;
    client.install(&env);
    env.run(["executor", "discover"]).success();
    let before = env.read(".cal_memory.json");
    let run = env.run(["delegate", "map it", "--executor", "opencode", "--no-cache"]);
    let told = format!("it reports a denied write to the ledger: {denied}");
    assert!(run.success().stderr.contains(&told));
    let all = records(&env, "error");
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!(all[0]["status"], "denied", "{all:?}");
    assert_eq!(all[0]["details"]["said"], denied, "{all:?}");
    let hash = Checksum::of(before.as_bytes()).to_string();
    assert_eq!(all[0]["details"]["ledger_before"], hash, "{all:?}");
    assert_eq!(all[0]["details"]["ledger_after"], hash, "{all:?}");
}
