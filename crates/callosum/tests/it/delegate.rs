//! The main job: a prompt in, a committed summary out.

use callosum_testkit::{TestEnv, fakes};
use serde_json::{Value, json};

use crate::{
    projects::{register, register_with, two_languages, with_executor},
    scripts::script,
};

/// CAL-FLOW-1, CAL-EXE-3: no init, no model, no network: the summary on stdout and nothing else.
#[test]
fn a_first_delegate_maps_the_repository() {
    let env = two_languages();
    let output = env.run(["delegate", "Map this repository"]).success();
    assert!(
        output.stdout.contains("- src/main.rs:"),
        "{}",
        output.stdout
    );
    assert!(
        output
            .stderr
            .contains("callosum ledger show cal_2026_01_02_0001"),
        "{}",
        output.stderr
    );
    assert!(output.stderr.contains("created in"), "{}", output.stderr);
    let shown = env
        .run(["ledger", "show", "cal_2026_01_02_0001", "--json"])
        .success()
        .json();
    assert_eq!(
        shown["summary"].as_str().unwrap().trim_end(),
        output.stdout.trim_end()
    );
    assert_eq!(shown["executor"], "scout");
    assert_eq!(shown["metadata"]["branch"], "main");
    env.run(["ledger", "verify"]).success();
    env.run(["audit", "verify"]).success();
    env.run(["replay"]).success();
}

/// CAL-SCH-1, CAL-EXE-3: every citation of scout's holds, for all four kinds.
#[test]
fn every_citation_of_every_kind_holds() {
    let env = two_languages();
    for kind in ["scan", "deps", "tests", "api"] {
        let output = env
            .run(["delegate", "look", "--kind", kind, "--json"])
            .success()
            .json();
        assert_eq!(output["status"], "success");
        assert_eq!(output["kind"], kind);
        assert_eq!(output["mode"], "concurrent");
        assert_eq!(output["error"], Value::Null);
        let (total, verified) = (
            &output["citations"]["total"],
            &output["citations"]["verified"],
        );
        assert!(total.as_u64().unwrap() > 0, "{kind}");
        assert_eq!(total, verified, "{kind}: {}", output["summary"]);
        assert!(output["summary"].as_str().unwrap().len() <= 10_240);
    }
}

/// REQ-TEST-004, REQ-GOV-004: same input, same entry, but for what tells two tasks apart.
#[test]
fn the_same_task_twice_gives_the_same_entry() {
    let env = two_languages();
    let mut entries = Vec::new();
    for _ in 0..2 {
        let task = env
            .run(["delegate", "map", "--no-cache", "--json"])
            .success()
            .json();
        let id = task["task_id"].as_str().unwrap().to_owned();
        let mut entry = env.run(["ledger", "show", &id, "--json"]).success().json();
        for field in ["task_id", "timestamp", "checksum"] {
            entry.as_object_mut().unwrap().remove(field);
        }
        entries.push(entry);
    }
    assert_eq!(entries[0], entries[1]);
}

/// REQ-SYS-002: a prompt is data, on standard input and in an argument alike.
#[test]
fn a_prompt_never_becomes_a_command() {
    let env = with_executor(&fakes::fake(""));
    let prompt = "a'b\"c\n$(touch owned) `touch owned` ; touch owned | {self} {prompt} é \u{1f600}";
    let output = env.run(["delegate", prompt, "--json"]).success().json();
    assert!(
        output["summary"]
            .as_str()
            .unwrap()
            .contains("$(touch owned)"),
        "{output}"
    );
    register(&env, "argued", &fakes::fake_with_prompt(""));
    let output = env
        .run(["delegate", prompt, "--executor", "argued", "--json"])
        .success()
        .json();
    assert!(
        output["summary"]
            .as_str()
            .unwrap()
            .contains("$(touch owned)"),
        "{output}"
    );
    assert!(!env.project().join("owned").exists());
}

#[test]
fn a_prompt_of_a_megabyte_goes_through_standard_input() {
    let env = with_executor(&fakes::fake("--no-checksum"));
    let prompt = "long ".repeat(200_000);
    let run = env
        .callosum()
        .arguments(["delegate", "-", "--json"])
        .input(prompt.clone());
    let output = run.run().success().json();
    assert_eq!(output["status"], "success");
    let id = output["task_id"].as_str().unwrap();
    let entry = env.run(["ledger", "show", id, "--json"]).success().json();
    let hash = entry["metadata"]["prompt_sha256"].as_str().unwrap();
    let kept = env.read(format!(".cal_answers/{}/{}", &hash[..2], &hash[2..]));
    assert_eq!(kept, prompt, "nothing of it is lost");
    register(&env, "argued", &fakes::fake_with_prompt(""));
    let run = env
        .callosum()
        .arguments(["delegate", "-", "--executor", "argued", "--json"]);
    let refused = run.input(prompt).run().ended_with(1).json();
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("bytes"), "{message}");
}

#[test]
fn a_path_limits_what_is_read_and_must_stand_in_the_tree() {
    let env = two_languages();
    let output = env.run(["delegate", "map", "--path", "tools"]).success();
    assert!(
        output.stdout.contains("tools/report.py"),
        "{}",
        output.stdout
    );
    assert!(!output.stdout.contains("src/main.rs"), "{}", output.stdout);
    let missing = env
        .run(["delegate", "map", "--path", "nowhere"])
        .ended_with(2);
    assert!(missing.stderr.contains("`nowhere`"), "{}", missing.stderr);
    let twice = [
        "--path",
        "tools",
        "--path",
        "./tools",
        "--path",
        "tools/report.py",
    ];
    let output = env.run(["delegate", "map"].iter().chain(&twice)).success();
    assert!(
        output.stdout.contains("Read 1 file below tools ("),
        "{}",
        output.stdout
    );
    assert!(output.stdout.contains(") of 1."), "{}", output.stdout);
    let outside = env.run(["delegate", "map", "--path", ".."]).ended_with(2);
    assert!(
        outside.stderr.contains("is not inside"),
        "{}",
        outside.stderr
    );
}

/// REQ-ERR-005, Seed CAL §12.2: two failures, then success, all on the record.
#[test]
fn a_task_that_fails_twice_then_succeeds_succeeds() {
    let env = two_languages();
    env.run(["init", "--all", "--share"]).success();
    let state = env.folder().join("counted");
    let template = fakes::fake(&format!("--fail-times 2 '{}/failures'", state.display()));
    let folder = format!("{}/", state.display());
    register_with(&env, "flaky", &template, &["--allow-write", &folder]);
    let run = env
        .callosum()
        .arguments(["delegate", "map", "--executor", "flaky", "--json"]);
    let output = run.env("CAL_BACKOFF_BASE_MS", "50").run().success().json();
    assert_eq!(output["status"], "success");
    let id = output["task_id"].as_str().unwrap();
    let events = env
        .run(["audit", "query", "--task", id, "--json"])
        .success()
        .json();
    let count = |event: &str| {
        let records = events["records"].as_array().unwrap();
        records
            .iter()
            .filter(|record| record["event"] == event)
            .count()
    };
    assert_eq!(
        (count("error"), count("retry"), count("commit")),
        (2, 2, 1),
        "{events}"
    );
    assert_eq!(count("recovery"), 1);
}

/// REQ-PERF-003, REQ-SYS-005, REQ-ARB-002: as many executors as are configured run at once: each
/// waits until it sees that many.
#[test]
fn as_many_executors_as_configured_run_at_once() {
    let env = two_languages();
    env.run(["init", "--all", "--share"]).success();
    env.write("tools/meet.py", script(MEETING));
    let where_they_meet = &["--allow-write", "target/"];
    register_with(&env, "meeting", "python3 tools/meet.py", where_they_meet);
    for limit in [3, 5, 12] {
        let task = |at| {
            let prompt = limit.to_string();
            json!({"id": format!("t{at}"), "prompt": prompt, "executor": "meeting"})
        };
        let tasks: Vec<Value> = (0..limit).map(task).collect();
        env.write("tasks.json", json!({"tasks": tasks}).to_string());
        let arguments = [
            "delegate",
            "--tasks",
            "tasks.json",
            "--mode",
            "concurrent",
            "--no-cache",
            "--json",
        ];
        let mut run = env.callosum().arguments(arguments);
        if limit != 5 {
            run = run.env("CAL_CONCURRENCY_LIMIT", limit.to_string());
        }
        let output = run.run().success().json();
        assert_eq!(output["tasks"].as_array().unwrap().len(), limit, "{output}");
    }
}

/// An executor that answers once as many as the prompt says are there with it.
const MEETING: &str = r#"
place = pathlib.Path("target") / prompt
place.mkdir(parents=True, exist_ok=True)
# In a PID namespace each of them has the same number.
(place / os.urandom(8).hex()).touch()
while len(list(place.iterdir())) < int(prompt):
    print("waiting", file=sys.stderr, flush=True)
    time.sleep(0.02)
answer("met", 0)
"#;

/// CAL-ARB-1: a failed task fails those that build on it, not the rest.
#[test]
fn a_failed_task_takes_down_its_dependants_only() {
    let env = two_languages();
    env.run(["init", "--all", "--share"]).success();
    register(&env, "broken", &fakes::fake("--error-status"));
    env.write(
        "tasks.json",
        json!({"tasks": [
            {"id": "bad", "prompt": "x", "executor": "broken"},
            {"id": "after", "prompt": "x", "executor": "scout", "links": ["bad"]},
            {"id": "apart", "prompt": "x", "executor": "scout"},
        ]})
        .to_string(),
    );
    let run = env
        .callosum()
        .arguments(["delegate", "--tasks", "tasks.json", "--json"]);
    let output = run.env("CAL_RETRY_MAX", "0").run().ended_with(1).json();
    let status = |at: usize| output["tasks"][at]["status"].as_str().unwrap();
    assert_eq!(
        (status(0), status(1), status(2)),
        ("error", "skipped", "success"),
        "{output}"
    );
    assert_eq!(output["tasks"][0]["error"]["code"], "E003");
    let reason = output["tasks"][1]["error"]["message"].as_str().unwrap();
    assert!(reason.contains("`bad`"), "{reason}");
}

/// Ctrl-C: what runs is ended, what is finished is kept, and both are on the record.
#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_ends_what_runs_and_keeps_what_is_finished() {
    let env = two_languages();
    env.write("tools/interrupt.py", script(INTERRUPTING));
    let unconfined = &["--sandbox", "off"];
    let template = "python3 tools/interrupt.py";
    register_with(&env, "interrupting", template, unconfined);
    env.write(
        "tasks.json",
        json!({"tasks": [
            {"id": "finished", "prompt": "x", "executor": "scout"},
            {"id": "running", "prompt": "x", "executor": "interrupting", "links": ["finished"]},
            {"id": "waiting", "prompt": "x", "executor": "scout", "links": ["running"]},
        ]})
        .to_string(),
    );
    let output = env.run(["delegate", "--tasks", "tasks.json", "--json"]);
    let output = output.ended_with(130).json();
    let status = |at: usize| output["tasks"][at]["status"].as_str().unwrap();
    assert_eq!((status(0), status(1)), ("success", "cancelled"), "{output}");
    assert_ne!(status(2), "success");
    let stats = env.run(["ledger", "stats", "--json"]).success().json();
    assert_eq!(stats["entries"], 1);
    let told = env.run(["audit", "query", "--event", "error", "--json"]);
    assert_eq!(told.success().json()["records"][0]["status"], "cancelled");
    env.run(["ledger", "verify"]).success();
}

/// An executor that presses Ctrl-C on the controller, three processes up, and goes on.
#[cfg(target_os = "linux")]
const INTERRUPTING: &str = "
os.kill(parent(parent(os.getppid())), signal.SIGINT)
time.sleep(60)
";

/// Two processes in one folder at once: no id is given twice and no entry is lost.
#[test]
fn two_delegates_at_once_lose_nothing() {
    let env = two_languages();
    env.run(["init", "--all", "--share"]).success();
    std::thread::scope(|scope| {
        for number in 0..4 {
            let env = &env;
            scope.spawn(move || env.run(["delegate", &format!("map {number}")]).success());
        }
    });
    assert_eq!(
        env.run(["ledger", "stats", "--json"]).success().json()["entries"],
        4
    );
    env.run(["ledger", "verify"]).success();
    env.run(["replay"]).success();
}

/// A subfolder, a linked worktree and a folder without git each find their root.
#[test]
fn the_root_is_found_from_wherever_one_stands() {
    let env = two_languages();
    let inside = env
        .callosum()
        .arguments(["delegate", "map"])
        .in_folder(env.project().join("src"));
    inside.run().success();
    assert!(env.project().join(".cal_memory.json").exists());
    let linked = env.folder().join("linked");
    env.git(&[
        "worktree",
        "add",
        "--quiet",
        &linked.display().to_string(),
        "-b",
        "other",
    ]);
    let only_there = linked.join("only_there.py");
    std::fs::copy(env.project().join("tools/report.py"), only_there).unwrap();
    let output = env
        .callosum()
        .arguments(["delegate", "map", "--json"])
        .in_folder(&linked)
        .run()
        .success();
    let output = output.json();
    assert!(
        output["summary"]
            .as_str()
            .unwrap()
            .contains("only_there.py"),
        "{output}"
    );
    assert!(!linked.join(".cal_memory.json").exists());
    let run = env.callosum().arguments(["status", "--json"]);
    let status = run.in_folder(&linked).run().success().json();
    assert_eq!(
        status["root"].as_str().unwrap(),
        env.project().to_str().unwrap()
    );
    assert_eq!(
        env.run(["ledger", "stats", "--json"]).success().json()["entries"],
        2
    );
    let plain = TestEnv::new();
    plain.write("hello.py", "def hello():\n    return 1\n");
    plain.run(["delegate", "map"]).success();
    assert!(plain.project().join(".cal_memory.json").exists());
}

/// CAL-SEC-1: no secret of a file or a prompt reaches the ledger or the journal.
#[test]
fn secrets_are_masked_before_anything_is_kept() {
    let env = with_executor(&fakes::fake(""));
    let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let output = env
        .run(["delegate", &format!("my token is {secret}"), "--json"])
        .success();
    assert!(!output.stdout.contains(&secret), "{}", output.stdout);
    assert!(!env.read(".cal_memory.json").contains(&secret));
    assert!(!env.read("cal_audit/2026-01-02.jsonl").contains(&secret));
}
