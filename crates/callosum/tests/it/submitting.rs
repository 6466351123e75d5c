//! Tasks that build on one another, and what is refused before anything runs.

use callosum_testkit::fakes;
use serde_json::{Value, json};

use crate::projects::{two_languages, with_executor};

/// CAL-ARB-1, CAL-ARB-3, REQ-ARB-003: a chain runs in order, ids are mapped, links are kept.
#[test]
fn a_task_file_runs_its_chain_in_order() {
    let env = two_languages();
    env.write(
        "tasks.json",
        json!({"tasks": [
            {"id": "c", "prompt": "third", "kind": "tests", "links": ["b"]},
            {"id": "a", "prompt": "first"},
            {"id": "b", "prompt": "second", "kind": "deps", "links": ["a"]},
        ]})
        .to_string(),
    );
    let output = env
        .run(["delegate", "--tasks", "tasks.json", "--json"])
        .success()
        .json();
    let id = |name: &str| {
        let tasks = output["tasks"].as_array().unwrap();
        tasks.iter().find(|task| task["id"] == name).unwrap()["task_id"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert!(id("a") < id("b") && id("b") < id("c"), "{output}");
    let third = env
        .run(["ledger", "show", &id("c"), "--json"])
        .success()
        .json();
    assert_eq!(third["linked_tasks"], json!([id("b")]));
    assert_eq!(third["metadata"]["mode"], "sequential");
}

/// CAL-SCH-4: what does not exist is refused before anything is written.
#[test]
fn cycles_and_unknown_links_are_refused_at_submission() {
    let env = two_languages();
    let refused = |tasks: Value| {
        env.write("tasks.json", tasks.to_string());
        env.run(["delegate", "--tasks", "tasks.json"])
            .ended_with(2)
            .stderr
    };
    let cycle = refused(json!({"tasks": [
        {"id": "a", "prompt": "x", "links": ["b"]},
        {"id": "b", "prompt": "x", "links": ["a"]},
    ]}));
    assert!(cycle.contains("`a` -> `b` -> `a`"), "{cycle}");
    let unknown = refused(json!({"tasks": [{"id": "a", "prompt": "x", "links": ["nobody"]}]}));
    assert!(unknown.contains("`nobody`"), "{unknown}");
    let link = env
        .run(["delegate", "x", "--link", "cal_2026_01_01_0001"])
        .ended_with(2)
        .stderr;
    assert!(link.contains("cal_2026_01_01_0001"), "{link}");
    let executor = env
        .run(["delegate", "x", "--executor", "nobody"])
        .ended_with(2)
        .stderr;
    assert!(executor.contains("`nobody`"), "{executor}");
    for (task, wrong) in [
        (
            json!({"id": "b", "prompt": "x", "executor": "nobody"}),
            "`nobody`",
        ),
        (
            json!({"id": "b", "prompt": "x", "paths": ["nowhere"]}),
            "`nowhere`",
        ),
        (
            json!({"id": "b", "prompt": "x", "paths": ["../up"]}),
            "`../up`",
        ),
        (json!({"id": "b", "prompt": "x", "kind": "poem"}), "`poem`"),
        (json!({"id": "b", "prompt": "x", "links": ["z"]}), "`z`"),
    ] {
        let said = refused(json!({"tasks": [{"id": "a", "prompt": "x"}, task]}));
        assert!(
            said.contains("task 2 (`b`)") && said.contains(wrong),
            "{said}"
        );
    }
    assert_eq!(
        env.run(["ledger", "stats", "--json"]).success().json()["entries"],
        0
    );
}

/// REQ-ERR-001, REQ-GOV-001: what is refused before it begins is on the record of a ledger that is
/// there, and begins none that is not.
#[test]
fn a_refused_delegation_is_on_the_record() {
    let env = two_languages();
    env.run(["delegate", "x", "--path", "nowhere"])
        .ended_with(2);
    assert!(!env.project().join(".cal_memory.json").exists());
    env.run(["init", "--all", "--share"]).success();
    for arguments in [
        ["delegate", "x", "--path", "nowhere"],
        ["delegate", "x", "--path", "/etc"],
        ["delegate", "x", "--executor", "nobody"],
        ["delegate", "x", "--link", "cal_2026_01_01_0001"],
    ] {
        env.run(arguments).ended_with(2);
        let told = env
            .run(["audit", "query", "--event", "error", "--json"])
            .success()
            .json();
        let record = told["records"].as_array().unwrap().last().unwrap();
        assert_eq!(record["status"], "refused", "{arguments:?}: {told}");
        let message = record["details"]["message"].as_str().unwrap();
        assert!(message.contains(arguments[3]), "{arguments:?}: {message}");
    }
    env.run(["audit", "verify"]).success();
}

/// Whoever asks for JSON gets one object, whatever is wrong with the asking.
#[test]
fn wrong_usage_is_one_json_object_as_well() {
    let env = two_languages();
    env.write(
        "tasks.json",
        r#"{"tasks": [{"id": "a", "prompt": "x", "links": ["a"]}]}"#,
    );
    let tasks = env.run(["delegate", "--tasks", "tasks.json", "--json"]);
    let tasks = tasks.ended_with(2).json();
    assert_eq!(tasks["tasks"], json!([]), "{tasks}");
    assert!(
        tasks["error"]["message"]
            .as_str()
            .unwrap()
            .contains("cycle"),
        "{tasks}"
    );
    let tasks = env.run([
        "delegate",
        "--tasks",
        "tasks.json",
        "--kind",
        "deps",
        "--json",
    ]);
    assert_eq!(tasks.ended_with(2).json()["tasks"], json!([]));
    let single = env
        .run(["delegate", "x", "--kind", "poem", "--json"])
        .ended_with(2)
        .json();
    assert_eq!(single["status"], "error", "{single}");
    let message = single["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("poem") && !message.contains('\n'),
        "{message}"
    );
    let other = env.run(["--json", "ledger", "shwo"]).ended_with(2).json();
    assert!(
        other["error"]["message"].as_str().unwrap().contains("shwo"),
        "{other}"
    );
    assert_eq!(
        env.run(["delegate", "--kind", "poem"]).ended_with(2).stdout,
        ""
    );
    assert!(
        env.run(["ledger", "--help", "--json"])
            .success()
            .stdout
            .contains("Usage")
    );
}

/// CAL-FLOW-1: a task may build on one of an earlier call.
#[test]
fn a_link_to_the_ledger_is_kept_and_its_summary_handed_on() {
    let env = with_executor(&fakes::fake("--context"));
    let first = env
        .run(["delegate", "map", "--executor", "scout", "--json"])
        .success()
        .json();
    let first = first["task_id"].as_str().unwrap();
    let second = env
        .run(["delegate", "go on", "--link", first, "--json"])
        .success()
        .json();
    assert!(
        second["summary"].as_str().unwrap().contains(first),
        "{second}"
    );
    let shown = env.run([
        "ledger",
        "show",
        second["task_id"].as_str().unwrap(),
        "--json",
    ]);
    assert_eq!(shown.success().json()["linked_tasks"], json!([first]));
}

/// A clone of a project that shares its ledger has no folder for locks: a delegation works there, and so does the record
/// of a refusal (REQ-ERR-001).
#[test]
fn a_ledger_without_its_folder_for_locks_takes_a_delegation() {
    let env = two_languages();
    env.run(["scan"]).success();
    let locks = env.project().join(".cal_lock");
    std::fs::remove_dir_all(&locks).unwrap();
    env.run(["delegate", "again", "--link", "cal_2020_01_01_0001"])
        .ended_with(2);
    std::fs::remove_dir_all(&locks).unwrap();
    env.run(["scan", "--no-cache"]).success();
    let journal = env.run(["audit", "query", "--json"]).success().stdout;
    assert!(journal.contains("cal_2020_01_01_0001"), "{journal}");
    let verified = env.run(["ledger", "verify"]).success().stdout;
    assert!(verified.starts_with("2 entries, "), "{verified}");
}
