//! Records of our own in the memory of past sessions: ledger entries, decisions, messages, tasks, discoveries and plans.

use std::fs;
use std::path::{Path, PathBuf};

use callosum_testkit::{Schema, TestEnv};
use serde_json::{Value, json};

/// Secret that is in a message.
const SECRET: &str = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";

/// Makes a record of each kind about pelicans.
pub(crate) fn with_records() -> TestEnv {
    let env = TestEnv::new();
    env.write("src/queue.py", "def push(job):\n    return job\n");
    env.run(["delegate", "Explain where pelicans are counted"])
        .success();
    let decide = [
        "session",
        "decide",
        "Pelicans are pushed one by one",
        "--reason",
        "a batch loses the order",
        "--cite",
        "src/queue.py:1",
    ];
    env.run(decide).success();
    let content = format!("The pelican job needs {SECRET} to push");
    let send = ["mesh", "message", "send", "codex", &content];
    env.run([&send[..], &["--as", "person"]].concat()).success();
    let task = "Count pelicans in src/queue.py";
    let add = [
        "mesh", "task", "add", task, "--to", "codex", "--id", "count",
    ];
    env.run([&add[..], &["--as", "person"]].concat()).success();
    let share = ["mesh", "discovery", "share", "Pelicans arrive twice"];
    env.run([&share[..], &["--as", "codex"]].concat()).success();
    env.run(["plan", "run", "-e", "(str \"pelican \" \"plan\")"])
        .success();
    env
}

fn find(env: &TestEnv, question: &str, more: &[&str]) -> Value {
    let find = ["find", "--sessions", "--limit", "20", "--json", question];
    let out = env.run([&find[..], more].concat());
    let out: Value = serde_json::from_str(&out.stdout).unwrap();
    assert_eq!(Schema::published("output-find-sessions").fault(&out), None);
    out
}

/// Returns the kinds of what is found, sorted.
fn kinds(found: &Value) -> Vec<String> {
    let hits = found["sessions"].as_array().unwrap().iter();
    let mut kinds: Vec<String> = hits
        .map(|hit| hit["agent"].as_str().unwrap().to_owned())
        .collect();
    kinds.sort_unstable();
    kinds
}

fn hit(found: &Value, kind: &str) -> Value {
    let hits = found["sessions"].as_array().unwrap().iter();
    let mut hits = hits.filter(|hit| hit["agent"] == kind);
    let hit = hits.next().unwrap_or_else(|| panic!("no {kind}: {found}"));
    hit.clone()
}

/// Returns the files below a folder whose names fit.
fn files(folder: &Path, fits: &dyn Fn(&str) -> bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, fits));
        } else if fits(path.file_name().unwrap().to_str().unwrap()) {
            found.push(path);
        }
    }
    found
}

/// CALC-L5-1: each kind of record is found beside the turns of sessions, with the command that shows it.
#[test]
fn records_are_found_with_what_shows_them() {
    let env = with_records();
    env.run(["memory", "on"]).success();
    let found = find(&env, "pelicans", &[]);
    let all = ["decision", "discovery", "ledger", "message", "plan", "task"];
    assert_eq!(kinds(&found), all);
    let words = |kind: &str| {
        let hit = hit(&found, kind);
        let id = hit["session"].as_str().unwrap().to_owned();
        let words = hit["resume"].as_array().unwrap().iter();
        let words: Vec<String> = words
            .map(|word| word.as_str().unwrap().to_owned())
            .collect();
        (id, words)
    };
    for kind in all {
        let (id, words) = words(kind);
        assert_eq!(words[0], "callosum", "{words:?}");
        let shown = env.run(&words[1..]).success().stdout;
        assert!(
            shown.to_lowercase().contains("pelican"),
            "{kind} {id}: {shown}"
        );
    }
    assert_eq!(words("task").0, "count");
    assert_eq!(hit(&found, "decision")["verified"], "verified");
    env.write("src/queue.py", "def enqueue(job):\n    return job\n");
    let found = find(&env, "pelicans", &["--agent", "decision"]);
    assert_eq!(kinds(&found), ["decision"]);
    assert_eq!(hit(&found, "decision")["verified"], "refuted");
    let exported = env.run(["memory", "export"]).success().stdout;
    assert!(
        !exported.contains(SECRET) && exported.contains("[secret"),
        "{exported}"
    );
    let status = env.run(["memory", "status", "--json"]).success().json();
    assert_eq!(
        Schema::published("output-memory-status").fault(&status),
        None
    );
    let records = status["records"].as_array().unwrap().iter();
    let counts: Vec<u64> = records
        .map(|kind| kind["records"].as_u64().unwrap())
        .collect();
    assert_eq!(counts, [1; 6]);
}

/// CALC-L5-1: an update reads what is new, and nothing twice.
#[test]
fn only_new_records_are_read() {
    let env = with_records();
    let said = env.run(["memory", "on"]).success().stderr;
    assert!(said.contains("turns in 6 sessions"), "{said}");
    let added = |env: &TestEnv| find(env, "pelicans", &[])["added_turns"].as_u64().unwrap();
    assert_eq!(added(&env), 0);
    let send = ["mesh", "message", "send", "codex", "Pelicans again", "--as"];
    let send = env.callosum().arguments([&send[..], &["person"]].concat());
    send.without("CALLOSUM_TEST_IDS").run().success();
    assert_eq!(added(&env), 1);
    let delegate = ["delegate", "Explain where pelicans sleep"];
    let delegate = env.callosum().arguments(delegate);
    delegate.without("CALLOSUM_TEST_IDS").run().success();
    assert_eq!(added(&env), 2, "a request and its answer");
    env.run(["session", "decide", "Pelicans sleep", "--source", "user"])
        .success();
    assert_eq!(added(&env), 1);
    env.run(["mesh", "task", "claim", "count", "--as", "codex"])
        .success();
    let done = ["mesh", "task", "done", "count", "--result", "Two pelicans"];
    env.run([&done[..], &["--as", "codex"]].concat()).success();
    assert_eq!(added(&env), 1);
    let plan = ["plan", "run", "-e", "(str \"pelican \" \"again\")"];
    let plan = env.callosum().arguments(plan);
    plan.without("CALLOSUM_TEST_IDS").run().success();
    assert!(added(&env) > 0);
    assert_eq!(added(&env), 0);
    let found = find(&env, "pelicans", &[]);
    let task = hit(&found, "task");
    assert_eq!(task["turns"].as_array().unwrap().len(), 2, "{task}");
}

/// CALC-L5-2: a record that is gone from its store goes from the memory, and so does one that is forgotten or excluded.
#[test]
fn a_record_that_is_gone_is_not_found() {
    let env = with_records();
    env.run(["memory", "on"]).success();
    let found = find(&env, "pelicans", &[]);
    let id = |kind: &str| hit(&found, kind)["session"].as_str().unwrap().to_owned();
    let (message, discovery, run) = (id("message"), id("discovery"), id("plan"));
    env.run(["mesh", "message", "drop", &message, "--as", "person"])
        .success();
    env.run(["mesh", "discovery", "remove", &discovery, "--as", "codex"])
        .success();
    assert_eq!(
        kinds(&find(&env, "pelicans", &[])),
        ["decision", "ledger", "plan", "task"]
    );
    // The notes lose a decision, and the project its ledger.
    let state = files(&env.folder(), &|name| name == "NOTES.md").remove(0);
    let notes = fs::read_to_string(&state).unwrap();
    fs::write(&state, notes.replace("Pelicans are pushed", "Herons fly")).unwrap();
    assert_eq!(
        kinds(&find(&env, "pelicans", &[])),
        ["ledger", "plan", "task"]
    );
    fs::write(&state, notes).unwrap();
    env.run(["memory", "forget", &run]).success();
    env.run(["memory", "rebuild"]).success();
    assert_eq!(
        kinds(&find(&env, "pelicans", &[])),
        ["decision", "ledger", "task"]
    );
    env.run(["memory", "exclude", "."]).success();
    assert_eq!(kinds(&find(&env, "pelicans", &[])), [""; 0]);
    env.run(["memory", "exclude", ".", "--end"]).success();
    assert_eq!(
        kinds(&find(&env, "pelicans", &[])),
        ["decision", "ledger", "task"]
    );
    // The project itself is gone.
    let elsewhere = env.home().join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    fs::rename(env.project(), env.home().join("moved")).unwrap();
    let find = ["find", "--sessions", "pelicans", "--all-projects", "--json"];
    let find = env.callosum().arguments(find).in_folder(&elsewhere);
    let found: Value = serde_json::from_str(&find.run().stdout).unwrap();
    assert_eq!(kinds(&found), ["task"], "the mesh is the machine's");
}

/// CALC-L5-2: records of other projects are for people who ask for them.
#[test]
fn records_of_other_projects_are_found_if_they_are_asked_for() {
    let env = with_records();
    env.run(["memory", "on"]).success();
    let other = env.home().join("other");
    fs::create_dir_all(&other).unwrap();
    let find = |more: &[&str]| {
        let find = ["find", "--sessions", "pelicans", "--json"];
        let run = env.callosum().arguments([&find[..], more].concat());
        let out = run.in_folder(&other).run();
        kinds(&serde_json::from_str(&out.stdout).unwrap()).len()
    };
    assert_eq!(find(&[]), 0);
    assert_eq!(find(&["--all-projects"]), 6);
    env.run(["find", "--sessions", "pelicans", "--agent", "cursor"])
        .ended_with(2);
}

/// CALC-L5-1: records of two projects with equal ids are two records.
#[test]
fn projects_with_equal_ids_are_kept_apart() {
    let env = with_records();
    env.run(["memory", "on"]).success();
    let other = env.home().join("other");
    fs::create_dir_all(&other).unwrap();
    let run = |arguments: &[&str]| {
        let run = env.callosum().arguments(arguments);
        run.in_folder(&other).run()
    };
    run(&["delegate", "Explain where pelicans fly"]).success();
    let find = ["find", "--sessions", "pelicans", "--agent", "ledger"];
    let out = run(&[&find[..], &["--all-projects", "--json"]].concat());
    let out = out.success().json();
    let hits = out["sessions"].as_array().unwrap();
    let of = |key: &str| -> Vec<&Value> { hits.iter().map(|hit| &hit[key]).collect() };
    assert_eq!(hits.len(), 2, "{out}");
    assert_ne!(of("folder")[0], of("folder")[1]);
    assert_eq!(of("agent"), [&json!("ledger"); 2]);
}

/// CALC-L5-2: with its ledger and journal, a project's entries and plans go.
#[test]
fn a_ledger_that_is_gone_takes_its_entries_along() {
    let env = with_records();
    env.run(["memory", "on"]).success();
    assert_eq!(
        kinds(&find(&env, "pelicans", &["--agent", "ledger"])).len(),
        1
    );
    let days = files(&env.folder(), &|_| true);
    let days = days
        .iter()
        .filter(|path| path.parent().unwrap().ends_with("cal_audit"));
    let ledger = files(&env.folder(), &|name| {
        [".cal_memory.json", ".cal_hashlog", "watermark"].contains(&name)
    });
    assert!(ledger.len() >= 2 && days.clone().count() > 0, "{ledger:?}");
    ledger
        .iter()
        .chain(days)
        .for_each(|path| fs::remove_file(path).unwrap());
    let left = kinds(&find(&env, "pelicans", &[]));
    assert_eq!(left, ["decision", "discovery", "message", "task"]);
}
