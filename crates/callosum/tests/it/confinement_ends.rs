//! How the confined end, with whatever they started, and what holds where less can be had.
//!
//! The scripts are those of [`confinement`](crate::confinement).

#![cfg(target_os = "linux")]

use std::path::PathBuf;

use callosum_host::Disk;
use callosum_json::Checksum;
use callosum_testkit::{fakes, with_time_enough};
use serde_json::Value;

use crate::{
    confinement::{delegate, in_container, is_held, project, reached, records, summary},
    projects::register_with,
};

/// A number of seconds that no other process sleeps.
fn lullaby() -> String {
    let number = Checksum::of(format!("{:?}", std::thread::current().id()).as_bytes());
    let digits: String = number
        .to_string()
        .bytes()
        .take(6)
        .map(|b| char::from(b'0' + b % 10))
        .collect();
    format!("7{:07}{digits}", std::process::id())
}

/// How many processes sleep that long.
fn sleepers(lullaby: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap();
    processes
        .filter_map(|process| {
            Disk::real()
                .read(&process.ok()?.path().join("cmdline"))
                .ok()
        })
        .filter(|words| {
            words
                .split(|byte| *byte == 0)
                .any(|word| word == lullaby.as_bytes())
        })
        .count()
}

/// CAL-ERR-2: a grandchild in a session of its own that holds standard output goes as well, with
/// and without namespaces. When the command returns, it is gone.
#[test]
fn a_grandchild_with_its_own_session_does_not_survive_the_deadline() {
    for policy in ["best-effort", "off"] {
        let name = lullaby();
        let env = project(
            &format!(
                r#"
child = subprocess.Popen(["sleep", "{name}"], start_new_session=True)
print("started", file=sys.stderr, flush=True)
child.wait()
"#
            ),
            &["--sandbox", policy],
        );
        with_time_enough(|milliseconds| {
            let total = ["--timeout", &format!("{milliseconds}ms")];
            let bounds = [&["--sandbox", policy][..], &total].concat();
            register_with(&env, "probe", "python3 tools/probe.py", &bounds);
            let output = delegate(&env);
            assert!(output.stdout.contains("E002"), "{}", output.stdout);
            assert_eq!(sleepers(&name), 0, "{policy}");
            let told = records(&env, "error");
            let said = |one: &Value| one["details"]["said"].to_string();
            let has_started = told.iter().any(|one| said(one).contains("started"));
            has_started.then_some(())
        });
    }
}

/// What an executor does to its guard, and what it leaves: somebody in a session of its own, and itself.
const AGAINST_ITS_GUARD: &str = r#"
import signal
subprocess.Popen(["setsid", "--fork", "sleep", "{name}"], {options})
server = int(open(f"/proc/{os.getppid()}/stat").read().rsplit(")")[1].split()[1])
def against(signal, *processes):
    for process in processes:
        os.kill(process, signal)
{deed}
time.sleep({name})
"#;

/// Has an executor act against its guard without namespaces, with and without what else there is to hold
/// it; the errors that were told.
fn acting_against_its_guard(deed: &str, options: &str, timeout: &str) -> Vec<String> {
    let told = ["off", "best-effort"].map(|policy| {
        let name = lullaby();
        let script = AGAINST_ITS_GUARD
            .replace("{name}", &name)
            .replace("{options}", options)
            .replace("{deed}", deed);
        let env = project(&script, &["--sandbox", policy, "--timeout", timeout]);
        let output = in_container(&env, DELEGATE).ended_with(1).json();
        assert_eq!(sleepers(&name), 0, "{policy}: {output}");
        output["error"].to_string()
    });
    told.to_vec()
}

/// CAL-SEC-1, CAL-ERR-1: who ends its guard is ended all the same, with what it left to nobody, and it is
/// told that the guard was ended.
#[test]
fn an_executor_that_kills_its_guard_does_not_go_on() {
    let deed = "against(signal.SIGKILL, os.getppid())";
    for told in acting_against_its_guard(deed, "env={}", "5m") {
        assert!(told.contains("E001"), "{told}");
        assert!(told.contains("another program killed its guard"), "{told}");
    }
}

/// CAL-ERR-2: who stops its guard has the same deadline.
#[test]
fn an_executor_that_stops_its_guard_does_not_outlive_its_deadline() {
    let deed = "against(signal.SIGSTOP, os.getppid())";
    for told in acting_against_its_guard(deed, "env={}", "2s") {
        assert!(told.contains("E002"), "{told}");
    }
}

/// CAL-ERR-2: nor does one that holds up whoever could adopt what it leaves.
#[test]
fn an_executor_that_ends_the_fork_server_too_does_not_go_on() {
    for deed in [
        "against(signal.SIGKILL, server, os.getppid())",
        "against(signal.SIGSTOP, server, os.getppid())",
    ] {
        acting_against_its_guard(deed, "", "2s");
    }
}

/// CAL-EXE-2: a fork server that somebody stopped keeps nobody from a result.
#[test]
fn a_stopped_fork_server_is_ended_and_the_result_kept() {
    let script = r#"
import signal
server = int(open(f"/proc/{os.getppid()}/stat").read().rsplit(")")[1].split()[1])
found.append(str(server))
os.kill(server, signal.SIGSTOP)
"#;
    let env = project(script, &["--sandbox", "off"]);
    let server = summary(&env);
    let folder = PathBuf::from("/proc").join(&server);
    assert!(!folder.exists(), "{server} is still there");
    env.run(["ledger", "show", "cal_2026_01_02_0001"]).success();
}

/// CAL-SEC-1: what a killed controller started ends with it, in whatever session.
#[test]
fn everything_inside_ends_with_a_killed_controller() {
    for policy in ["best-effort", "off"] {
        let name = lullaby();
        let env = project(
            &format!(
                r#"
subprocess.Popen(["sleep", "{name}"], start_new_session=True)
open("target/started", "w").close()
time.sleep({name})
"#
            ),
            &["--sandbox", policy, "--allow-write", "target/"],
        );
        let killed = env
            .program(PathBuf::from("python3"))
            .arguments(["-c", KILLING_THE_CONTROLLER])
            .arguments([fakes::program("callosum")])
            .run();
        assert_eq!(killed.code, 0, "{}", killed.stderr);
        // Nobody waits for those that are ending; how long the system takes is not ours to say.
        let patience = std::time::Instant::now() + std::time::Duration::from_mins(5);
        while sleepers(&name) > 0 {
            assert!(std::time::Instant::now() < patience, "{policy}: it goes on");
            std::thread::yield_now();
        }
    }
}

/// Starts a delegation, and kills it once its executor has begun.
const KILLING_THE_CONTROLLER: &str = r#"
import os, subprocess, sys, time
controller = subprocess.Popen([sys.argv[1], "delegate", "x", "--executor", "probe"])
while not os.path.exists("target/started"):
    assert controller.poll() is None, "it ended by itself"
    time.sleep(0.005)
controller.kill()
controller.wait()
"#;

const DELEGATE: &[&str] = &["delegate", "x", "--executor", "probe", "--json"];

/// CAL-SEC-1: what runs away ends before it has taken the machine.
#[test]
fn files_and_memory_have_bounds() {
    let env = project(
        r#"
import resource
for name in ["CORE", "FSIZE", "DATA", "NPROC"]:
    most = resource.getrlimit(getattr(resource, "RLIMIT_" + name))[1]
    found.append(f"{name} {0 <= most < 1 << 50}")
with open(os.environ["TMPDIR"] + "/x", "w") as file:
    tried("long", lambda: os.truncate(file.fileno(), 1 << 32))
"#,
        &[],
    );
    delegate(&env);
    if !is_held(&env) {
        return;
    }
    let found = summary(&env);
    let bounds = "CORE True; FSIZE True; DATA True; NPROC True; long: OSError 27";
    assert_eq!(found, bounds);
}

/// CAL-SEC-1: a container that refuses namespaces gets what is left, and the reason is on the record.
#[test]
fn without_namespaces_the_rest_holds_and_the_reason_is_kept() {
    let env = project(
        r#"
tried("key", lambda: open(os.path.expanduser("~/.ssh/id")).read())
tried("ledger", lambda: open(".cal_memory.json", "a").write("x"))
tried("network", lambda: socket.socket(socket.AF_INET))
tried("own", lambda: open(os.path.join(os.environ["TMPDIR"], "x"), "w").write("x"))
"#,
        &[],
    );
    let output = in_container(&env, DELEGATE).success().json();
    let found = output["summary"].as_str().unwrap();
    let reached = reached(&env);
    assert_eq!(reached["level"], "partial", "{reached}");
    let missing = reached["missing"][0].as_str().unwrap();
    assert!(
        missing.contains("namespaces: Operation not permitted"),
        "{missing}"
    );
    if reached["layers"].to_string().contains("landlock") {
        assert_eq!(
            found,
            "key: PermissionError 13; ledger: PermissionError 13; network: PermissionError 1; own: 1"
        );
    }
    let doctor = in_container(&env, &["doctor", "--json"]).success().json();
    let checks = doctor["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["name"] == "confinement");
    let check = check.unwrap();
    assert_eq!(check["outcome"], "warning", "{check}");
    assert!(
        check["hint"].as_str().unwrap().contains("unshare"),
        "{check}"
    );
}

/// CAL-SEC-1: `required` does not run with less, and says what is missing.
#[test]
fn what_requires_confinement_does_not_run_without() {
    let env = project("tried('ran', lambda: 1)", &["--sandbox", "required"]);
    // It was registered where it could be confined, or not at all.
    let refused = in_container(&env, DELEGATE).ended_with(1).json();
    let message = refused["error"]["message"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let details = refused["error"]["details"].as_str().unwrap_or_default();
    assert!(
        (message + details)
            .contains("this system lacks namespaces (namespaces: Operation not permitted"),
        "{refused}"
    );
    let hint = refused["error"]["hint"].as_str().unwrap_or_default();
    assert!(hint.contains("allow user namespaces: sysctl"), "{refused}");
    assert!(
        hint.ends_with("callosum executor register probe --sandbox best-effort"),
        "{refused}"
    );
}

/// CAL-SEC-1: it needs no right of root's to hold an executor.
#[test]
fn another_user_than_root_holds_executors_too() {
    let env = project(
        r#"
tried("user", lambda: os.getuid() > 0)
tried("key", lambda: open(os.path.expanduser("~/.ssh/id")).read())
tried("ledger", lambda: open(".cal_memory.json", "a").write("x"))
tried("processes", lambda: len([name for name in os.listdir("/proc") if name.isdigit()]))
"#,
        &[],
    );
    let folder = env.folder().display().to_string();
    let run = env
        .program(PathBuf::from("python3"))
        .arguments(["-c", AS_NOBODY, &folder])
        .arguments([fakes::program("callosum")])
        .arguments(DELEGATE)
        .run();
    if run.code == 77 {
        println!("nobody cannot run the program where it was built");
        return;
    }
    let output = run.success().json();
    let found = output["summary"].as_str().unwrap();
    assert!(found.contains("user: True"), "{found}");
    if is_held(&env) {
        assert_eq!(
            found,
            "user: True; key: FileNotFoundError 2; ledger: OSError 30; processes: 2"
        );
    }
}

/// Becomes a user without rights, who owns the folder, and runs the rest.
const AS_NOBODY: &str = r"
import os, sys
folder, program = sys.argv[1:3]
if os.getuid() == 0:
    for place, folders, files in os.walk(folder):
        for name in [place] + [os.path.join(place, file) for file in files]:
            os.chown(name, 65534, 65534, follow_symlinks=False)
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
if not os.access(program, os.X_OK):
    sys.exit(77)
os.execv(program, sys.argv[2:])
";
