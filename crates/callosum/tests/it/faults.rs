//! Executors that crash, hang, lie or flood, and disks that fail.

use std::path::PathBuf;
#[cfg(target_os = "linux")]
use std::{
    thread,
    time::{Duration, Instant},
};

use callosum_host::Disk;
use callosum_ledger::{LedgerPaths, locks::ExclusiveLedger};
use callosum_testkit::{Output, TestEnv, fakes};
use serde_json::{Value, json};

use crate::{
    projects::{register, register_with, two_languages, with_executor},
    scripts::script,
};

/// Delegates once to an executor that behaves like this, without retries.
fn delegate_to(options: &str) -> (TestEnv, Value) {
    let env = two_languages();
    env.run(["init", "--all", "--share"]).success();
    register(&env, "fake", &fakes::fake(options));
    let run = env
        .callosum()
        .arguments(["delegate", "map", "--executor", "fake", "--json"]);
    let mut run = run.env("CAL_RETRY_MAX", "0");
    if options == "--silent" {
        run = run.env("CAL_EXECUTOR_TIMEOUT_MS", "1000");
    }
    let output = run.run();
    let code = i32::from(output.json()["status"] != "success");
    let json = output.ended_with(code).json();
    (env, json)
}

/// The failure has this code, is on the audit trail, and left the ledger whole.
fn check(options: &str, code: &str, words: &str) {
    let (env, output) = delegate_to(options);
    assert_eq!(output["error"]["code"], code, "{options}: {output}");
    let message = output["error"]["message"].as_str().unwrap();
    assert!(message.contains(words), "{options}: {message}");
    let errors = env
        .run(["audit", "query", "--event", "error", "--json"])
        .success()
        .json();
    assert_eq!(
        errors["records"][0]["details"]["code"], code,
        "{options}: {errors}"
    );
    env.run(["ledger", "verify"]).success();
    env.run(["audit", "verify"]).success();
    assert_eq!(
        env.run(["ledger", "stats", "--json"]).success().json()["entries"],
        0
    );
}

/// CAL-ERR-1, REQ-ERR-001, REQ-TEST-002: a crash, by exit code and by signal.
#[test]
fn a_crash_is_e001() {
    check("--crash 7", "E001", "exit code 7");
    check("--abort", "E001", "signal");
}

/// CAL-ERR-2, CAL-COM-2, REQ-COM-003, REQ-TEST-002: silence is E002, and a grandchild that holds
/// the pipe changes nothing.
#[test]
fn silence_is_e002() {
    check("--silent", "E002", "silent for 1000 ms");
    let (_, output) = delegate_to("--grandchild");
    assert_eq!(output["status"], "success", "{output}");
}

/// CAL-ERR-3, REQ-COM-004, REQ-COM-001, REQ-TEST-002: whatever is not an answer.
#[test]
fn garbage_is_e003() {
    check("--garbage", "E003", "not JSON");
    check("--invalid-utf8", "E003", "not UTF-8");
    check("--empty", "E003", "empty");
    check("--malformed-checksum", "E003", "hexadecimal");
}

/// CAL-ERR-4, REQ-SEC-002, REQ-SEC-005, REQ-TEST-002: a wrong checksum is never stored.
#[test]
fn a_wrong_checksum_is_e004() {
    check("--wrong-checksum", "E004", "`checksum`");
}

/// CAL-ERR-6, REQ-TEST-002: a flood is cut off.
#[test]
fn fifty_megabytes_are_e006() {
    check("--huge 52428800", "E006", "bytes");
}

/// CAL-SCH-3: too long is asked again once; what is still too long is kept by its hash.
#[test]
fn a_long_summary_is_asked_to_be_shorter_and_never_lost() {
    let (_, output) = delegate_to("--long");
    assert_eq!(output["status"], "success", "{output}");
    let (env, output) = delegate_to("--always-long");
    assert_eq!(output["error"]["code"], "E003");
    let details = output["error"]["details"].as_str().unwrap();
    let (kept, shown) = details.rsplit_once(": ").unwrap();
    let hash = kept.rsplit(' ').next().unwrap();
    let whole = env.run(shown.split(' ').skip(1)).success().stdout;
    assert!(whole.len() > 10_240, "{whole}");
    let kept = env
        .project()
        .join(".cal_answers")
        .join(&hash[..2])
        .join(&hash[2..]);
    assert!(kept.is_file(), "{details}");
}

/// CAL-SCH-3: an executor that was asked for a shorter answer and gave none is not tried again.
#[test]
fn a_summary_that_stays_too_long_is_not_asked_for_a_third_time() {
    let env = with_executor(&fakes::fake("--always-long"));
    env.run(["delegate", "tell", "--json"]).ended_with(1);
    let retries = env.run(["audit", "query", "--event", "retry", "--json"]);
    let retries = retries.success().json();
    assert_eq!(retries["records"], json!([]), "{retries}");
}

/// REQ-GOV-004: what refused answers took counts for the bounds, and so does asking once more.
#[test]
fn answers_that_are_refused_count_for_the_budget() {
    let env = with_executor(&fakes::fake("--always-long"));
    for (bound, words) in [
        ("--max-spawns", "max_spawns of 1"),
        ("--max-tokens", "max_tokens of 1"),
    ] {
        let over = env.run(["delegate", "tell", bound, "1", "--json"]);
        let over = over.ended_with(1).json();
        let said = over["error"]["message"].as_str().unwrap();
        assert!(said.contains(words), "{over}");
    }
}

/// CAL-SCH-3: a short summary is marked, and refused where the project is strict.
#[test]
fn a_short_summary_is_marked_or_refused() {
    let (env, output) = delegate_to("");
    let id = output["task_id"].as_str().unwrap();
    let entry = env.run(["ledger", "show", id, "--json"]).success().json();
    assert_eq!(entry["metadata"]["short_summary"], true);
    env.run(["config", "set", "strict_summary", "true"])
        .success();
    let run = env
        .callosum()
        .arguments(["delegate", "map", "--executor", "fake", "--json"]);
    let output = run.env("CAL_RETRY_MAX", "0").run().ended_with(1).json();
    assert_eq!(output["error"]["code"], "E003");
}

/// REQ-SEC-004, Seed CAL §8.3: an executor sees what its entry lists and nothing else.
#[test]
fn an_executor_sees_a_clean_environment() {
    let env = two_languages();
    env.run(["init", "--all", "--share"]).success();
    register(&env, "fake", &fakes::fake("--env"));
    let run = env
        .callosum()
        .arguments(["delegate", "x", "--executor", "fake"]);
    let output = run
        .env("CANARY_API_KEY", "tweet")
        .env("EDITOR", "vi")
        .run()
        .success()
        .stdout;
    assert!(output.contains("PATH"), "{output}");
    assert!(
        !output.contains("CANARY_API_KEY") && !output.contains("EDITOR"),
        "{output}"
    );
}

/// CAL-SEC-1: what a killed run left in the machine's home is gone with the next one.
#[cfg(target_os = "linux")]
#[test]
fn the_temporary_files_of_a_killed_run_are_collected() {
    let env = two_languages();
    env.write("tools/kill.py", script(KILLING));
    let unconfined = &["--sandbox", "off"];
    register_with(&env, "killing", "python3 tools/kill.py", unconfined);
    let scratch = env.machine_home().join("scratch");
    let left = || std::fs::read_dir(&scratch).unwrap().count();
    assert_eq!(left(), 0);
    let killed = env.run(["delegate", "map", "--executor", "killing"]);
    assert_eq!(killed.code, 128 + 9, "{}", killed.stderr);
    assert_eq!(left(), 1);
    env.run(["delegate", "map", "--executor", "scout"])
        .success();
    assert_eq!(left(), 0);
    env.run(["ledger", "verify"]).success();
}

/// An executor that kills the controller, three processes up, once it has left a file.
#[cfg(target_os = "linux")]
const KILLING: &str = r#"
pathlib.Path(os.environ["TMPDIR"], "left").write_text("behind")
os.kill(parent(parent(os.getppid())), signal.SIGKILL)
"#;

/// CAL-ERR-1: who starts the executors may be killed, and another one takes its place.
#[cfg(target_os = "linux")]
#[test]
fn a_killed_fork_server_is_started_anew() {
    let env = two_languages();
    let killing = "os.kill(parent(os.getppid()), signal.SIGKILL)\nanswer('on')";
    env.write("tools/kill.py", script(killing));
    let unconfined = &["--sandbox", "off"];
    register_with(&env, "killing", "python3 tools/kill.py", unconfined);
    for _ in 0..2 {
        let output = env.run(["delegate", "map", "--executor", "killing", "--no-cache"]);
        assert_eq!(output.success().stdout.trim(), "on");
    }
    let tasks = r#"{"tasks": [{"id": "a", "prompt": "a", "executor": "killing"},
        {"id": "b", "prompt": "b", "executor": "killing", "links": ["a"]}]}"#;
    env.write("tasks.json", tasks);
    let output = env.run(["delegate", "--tasks", "tasks.json", "--json"]);
    let output = output.success().json();
    assert_eq!(output["tasks"][1]["summary"], "on", "{output}");
}

/// CAL-SEC-1: scout does not outlive a controller that was killed.
#[cfg(target_os = "linux")]
#[test]
fn scout_ends_with_a_controller_that_is_killed() {
    let env = two_languages();
    let run = env.program(PathBuf::from("python3"));
    let program = fakes::program("callosum");
    let output = run.arguments(["-c", KILLED]).arguments([program]).run();
    assert_eq!(output.code, 128 + 9, "{}", output.stderr);
    let scout = PathBuf::from("/proc").join(output.stdout.trim());
    let deadline = Instant::now() + Duration::from_mins(5);
    while scout.exists() {
        assert!(Instant::now() < deadline, "scout goes on");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A controller that starts scout, waits until it waits for its request, and kills itself. The
/// pipe stays open in scout itself, so that no end of input ends it.
#[cfg(target_os = "linux")]
const KILLED: &str = r#"
import os, pathlib, signal, subprocess, sys, time
read, write = os.pipe()
scout = subprocess.Popen([sys.argv[1], "executor", "run", "scout"], stdin=read, pass_fds=[write],
    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
waits_in = pathlib.Path(f"/proc/{scout.pid}/wchan")
while "pipe_read" not in waits_in.read_text():
    time.sleep(0.005)
print(scout.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"#;

/// CAL-ERR-5, REQ-TEST-002: a full disk is told, and what was there before is whole.
#[test]
fn a_full_disk_loses_nothing() {
    let disk = SmallDisk::with_a_project();
    disk.run(&["delegate", "map"]).success();
    let filler = disk.at.join("filler");
    let mut filled = std::fs::File::create(&filler).unwrap();
    let mut block = 1 << 16;
    while block > 0 {
        if std::io::Write::write_all(&mut filled, &vec![0; block]).is_err() {
            block /= 2;
        }
    }
    // What still fits into the last block of a file is stored.
    let mut stored = 1;
    let refused = loop {
        let output = disk.run(&["delegate", "map", "--no-cache", "--json"]);
        if output.code != 0 {
            break output.ended_with(3).json();
        }
        stored += 1;
        assert!(stored < 20, "the disk is full");
    };
    assert_eq!(refused["error"]["code"], "E005", "{refused}");
    let hint = refused["error"]["hint"].as_str().unwrap();
    assert!(hint.contains("once the disk has free space"), "{hint}");
    // What says so is written, and may still fit into a file's last block.
    let checks = || disk.run(&["executor", "check", "scout", "--json"]);
    let unwritten = std::iter::repeat_with(checks).take(20);
    let mut unwritten = unwritten.map(|output| output.json());
    let unwritten = unwritten.find(|output| output["error"]["code"] == "E005");
    let hint = unwritten.unwrap()["error"]["hint"].to_string();
    assert!(
        hint.contains("df -h ") && hint.contains("acknowledged writes are on disk"),
        "{hint}"
    );
    drop(filled);
    std::fs::remove_file(filler).unwrap();
    disk.run(&["ledger", "verify"]).success();
    disk.run(&["delegate", "map", "--no-cache"]).success();
    let stats = disk.run(&["ledger", "stats", "--json"]).success().json();
    assert_eq!(stats["entries"], stored + 1);
}

/// CAL-ERR-5: a disk that fills up while a task runs is told with the task's id.
#[test]
fn a_disk_that_fills_up_on_the_way_names_the_task() {
    let disk = SmallDisk::with_a_project();
    disk.env.write("fill.py", script(FILLING));
    disk.run(&["init", "--all", "--share"]).success();
    let unconfined = &["--sandbox", "off"];
    register_with(&disk.env, "filling", "python3 fill.py", unconfined);
    let run = disk.env.callosum().env("CAL_RETRY_MAX", "0");
    let run = run.arguments(["delegate", "map", "--executor", "filling", "--json"]);
    let output = run.run().ended_with(3).json();
    assert_eq!(output["error"]["code"], "E005", "{output}");
    assert_eq!(output["task_id"], "cal_2026_01_02_0001", "{output}");
    std::fs::remove_file(disk.path("filler")).unwrap();
    disk.run(&["ledger", "verify"]).success();
    let spawned = disk.run(&["audit", "query", "--event", "spawn", "--json"]);
    let spawned = spawned.success().json();
    assert_eq!(
        spawned["records"][0]["task_id"], output["task_id"],
        "{spawned}"
    );
}

/// An executor that leaves no room on the disk for its own answer.
const FILLING: &str = r#"
filler, block = open("filler", "wb", buffering=0), 1 << 16
while block:
    try:
        filler.write(b"0" * block)
    except OSError:
        block //= 2
answer("a word " * 400, 0)
"#;

/// CAL-ERR-7, REQ-MSP-003: an answer that is there when somebody else holds the ledger waits for it and is stored without
/// asking anew, however few retries are wanted; where it never can be, it is kept.
#[cfg(target_os = "linux")]
#[test]
fn an_answer_that_the_ledger_does_not_take_is_not_lost() {
    let env = crate::confinement::project(
        r#"
open("sub/asked", "a").write("x")
while not os.path.exists("src/go"):
    print("waits", file=sys.stderr, flush=True)
    time.sleep(0.05)
found.append("an answer that was paid for")
"#,
        &["--allow-write", "sub/"],
    );
    let paths = LedgerPaths::in_root(env.project());
    let asked = || std::fs::read_to_string(env.project().join("sub/asked")).unwrap_or_default();
    let delegated = |prompt: &str, times: usize, held_for: Duration| {
        thread::scope(|scope| {
            let arguments = ["delegate", prompt, "--executor", "probe", "--json"];
            let run = env.callosum().arguments(arguments);
            let run = run
                .env("CAL_RETRY_MAX", "0")
                .env("CAL_BACKOFF_BASE_MS", "1");
            let run = scope.spawn(move || run.run());
            while asked().len() < times && !run.is_finished() {
                thread::sleep(Duration::from_millis(10));
            }
            let disk = Disk::real();
            let held = ExclusiveLedger::acquire(&disk, &paths).unwrap();
            env.write("src/go", "");
            let until = Instant::now() + held_for;
            while Instant::now() < until && !run.is_finished() {
                thread::sleep(Duration::from_millis(10));
            }
            drop(held);
            std::fs::remove_file(env.project().join("src/go")).unwrap();
            run.join().unwrap()
        })
    };
    let never = delegated("x", 1, Duration::from_mins(2)).ended_with(3);
    let error = &never.json()["error"];
    assert_eq!(error["code"], "E007", "{error}");
    let hint = error["hint"].as_str().unwrap();
    let shown = "callosum ledger show cal_2026_01_02_0001 --answer";
    assert!(hint.ends_with(shown), "{hint}");
    assert!(
        error["details"].as_str().unwrap().contains("is stored as"),
        "{error}"
    );
    env.run(["delegate", "map", "--executor", "scout"])
        .success();
    let kept = env.run(["ledger", "show", "cal_2026_01_02_0001", "--answer"]);
    assert_eq!(
        kept.success().stdout.trim_end(),
        "an answer that was paid for"
    );
    let late = delegated("y", 2, Duration::from_millis(1_700)).success();
    assert_eq!(late.json()["summary"], "an answer that was paid for");
    assert_eq!(asked(), "xx", "nobody is asked anew");
}

/// CAL-ERR-7, CAL-MSP-2, REQ-TEST-002: a ledger that somebody else holds is E007, and says so.
#[test]
fn a_held_ledger_is_e007() {
    let env = two_languages();
    env.run(["init", "--all", "--share"]).success();
    let disk = Disk::real();
    let held = ExclusiveLedger::acquire(&disk, &LedgerPaths::in_root(env.project())).unwrap();
    let run = env.callosum().arguments(["delegate", "map", "--json"]);
    let refused = run.env("CAL_RETRY_MAX", "0").run().ended_with(3);
    assert_eq!(
        refused.json()["error"]["code"],
        "E007",
        "{}",
        refused.stdout
    );
    assert!(refused.stderr.contains("[E007]"), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("try again when"),
        "{}",
        refused.stderr
    );
    // It is tried as often as the configuration says.
    let run = env.callosum().arguments(["delegate", "map"]);
    let run = run
        .env("CAL_RETRY_MAX", "2")
        .env("CAL_BACKOFF_BASE_MS", "1");
    let refused = run.run().ended_with(3).stderr;
    assert_eq!(refused.matches("; retrying in").count(), 2, "{refused}");
    drop(held);
    env.run(["delegate", "map"]).success();
}

/// CAL-ERR-8, REQ-TEST-002: what cannot be recorded is not done.
#[test]
fn a_journal_that_cannot_be_written_is_e008() {
    let disk = SmallDisk::with_a_project();
    disk.run(&["init", "--all", "--share"]).success();
    let audit = disk.path("cal_audit");
    let audit = audit.to_str().unwrap();
    assert!(command("mount", &["--bind", audit, audit]));
    assert!(command("mount", &["-o", "remount,bind,ro", audit]));
    let output = disk.run(&["delegate", "map", "--json"]);
    assert!(command("umount", &[audit]));
    let output = output.ended_with(3).json();
    assert_eq!(output["error"]["code"], "E008", "{output}");
    // It waits outside of the project, and is told once the journal can be written again.
    disk.run(&["delegate", "again"]).success();
    let told = disk.run(&["audit", "query", "--event", "error", "--json"]);
    let told = told.success().json();
    assert_eq!(told["records"][0]["status"], "refused", "{told}");
    assert_eq!(told["records"][0]["details"]["code"], "E008", "{told}");
    assert_eq!(told["records"][0]["executor"], "scout", "{told}");
    let stats = disk.run(&["ledger", "stats", "--json"]).success().json();
    assert_eq!(stats["entries"], 1, "{stats}");
    disk.run(&["ledger", "verify"]).success();
}

/// A read-only project: what is there can be read, and nothing is pretended to be stored.
#[test]
fn a_read_only_project_can_be_read_and_says_why_not_more() {
    let disk = SmallDisk::with_a_project();
    disk.run(&["delegate", "map"]).success();
    disk.make_read_only();
    disk.run(&["ledger", "show", "cal_2026_01_02_0001"])
        .success();
    disk.run(&["ledger", "verify"]).success();
    for read in [
        &["ledger", "query"][..],
        &["ledger", "export"],
        &["ledger", "at", "0h"],
        &[
            "ledger",
            "diff",
            "cal_2026_01_02_0001",
            "cal_2026_01_02_0001",
        ],
    ] {
        let said = disk.run(read).success().stderr;
        assert!(!said.contains("warning"), "{read:?}: {said}");
    }
    let refused = disk.run(&["delegate", "map"]).ended_with(3).stderr;
    assert!(refused.contains("ead-only file system"), "{refused}");
}

/// A project, or a machine's home, on a small file system of its own, unmounted at the end.
pub(crate) struct SmallDisk {
    env: TestEnv,
    at: PathBuf,
}

impl SmallDisk {
    /// Panics where it cannot be mounted: tests run as root, who may.
    pub(crate) fn with_a_project() -> Self {
        let env = TestEnv::new();
        let disk = Self {
            at: env.project(),
            env,
        };
        disk.mount();
        disk.env.write("a.py", "def a():\n    return 1\n");
        disk
    }

    /// The same, of the machine's home.
    pub(crate) fn with_a_machine_home() -> Self {
        let env = TestEnv::new();
        let at = env.machine_home();
        std::fs::create_dir_all(&at).unwrap();
        let disk = Self { env, at };
        disk.mount();
        disk
    }

    fn mount(&self) {
        let at = self.at.to_str().unwrap();
        assert!(command(
            "mount",
            &["-t", "tmpfs", "-o", "size=512k", "callosum-test", at]
        ));
    }

    pub(crate) fn env(&self) -> &TestEnv {
        &self.env
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.env.run(arguments)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.at.join(name)
    }

    pub(crate) fn make_read_only(&self) {
        let at = self.at.to_str().unwrap();
        assert!(command("mount", &["-o", "remount,ro", at]));
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        command("umount", &["-l", self.at.to_str().unwrap_or_default()]);
    }
}

pub(crate) fn command(program: &str, arguments: &[&str]) -> bool {
    std::process::Command::new(program)
        .args(arguments)
        .status()
        .is_ok_and(|status| status.success())
}

/// CAL-ARB-2: a run waits, and says so, while others have every slot of an executor with a cap; it can be
/// interrupted then, and goes on when a slot is free.
#[cfg(target_os = "linux")]
#[test]
fn a_cap_holds_over_all_runs() {
    let env = two_languages();
    register_with(&env, "fake", &fakes::fake(""), &[]);
    env.run(["config", "set", "executors.fake.max_concurrent", "1"])
        .success();
    let ask = ["delegate", "map", "--executor", "fake", "--no-cache"];
    env.run(ask).success();
    let slots = std::fs::read_dir(env.machine_home().join("slots")).unwrap();
    let slot = slots
        .map(|entry| entry.unwrap().path().join("0"))
        .next()
        .unwrap();
    let disk = callosum_host::Disk::real();
    let held = callosum_host::FileLock::try_acquire(&disk, &slot).unwrap();
    assert!(held.is_some(), "nobody holds it any more");
    let waiting = env
        .program(PathBuf::from("python3"))
        .arguments(["-c", INTERRUPTED])
        .arguments([fakes::program("callosum")])
        .arguments(ask)
        .run();
    assert_eq!(waiting.stdout.trim(), "130", "{}", waiting.stderr);
    drop(held);
    let done = env.run(ask).success();
    assert!(!done.stderr.contains("slot"), "{}", done.stderr);
}

/// Interrupts a program as soon as it says that it waits for a slot, and tells how it ended.
#[cfg(target_os = "linux")]
const INTERRUPTED: &str = r#"
import signal, subprocess, sys
run = subprocess.Popen(sys.argv[1:], stderr=subprocess.PIPE, text=True)
for line in run.stderr:
    if "other runs use every slot of `fake` (max_concurrent 1)" in line:
        run.send_signal(signal.SIGINT)
print(run.wait())
"#;
