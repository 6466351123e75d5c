//! Looking at the ledger and the journal, and finding out what was done to them.

use callosum_json::Checksum;
use callosum_testkit::{Schema, TestEnv};
use serde_json::Value;

use crate::projects::{three_entries, two_languages};

/// CAL-FLOW-2, REQ-LED-005: by id, executor, text and time, newest first.
#[test]
fn entries_are_found_by_what_is_known_of_them() {
    let env = three_entries();
    let count = |arguments: &[&str]| {
        let all: Vec<&str> = ["ledger", "query", "--json"]
            .into_iter()
            .chain(arguments.iter().copied())
            .collect();
        env.run(all).success().json()["entries"]
            .as_array()
            .unwrap()
            .len()
    };
    assert_eq!(count(&[]), 3);
    assert_eq!(count(&["--limit", "2"]), 2);
    assert_eq!(count(&["--executor", "scout"]), 3);
    assert_eq!(count(&["--executor", "nobody"]), 0);
    assert_eq!(count(&["--text", "ABOUT DEPS"]), 1);
    assert_eq!(count(&["--since", "2026-01-02T03:04:05Z"]), 3);
    assert_eq!(count(&["--since", "2026-01-02T03:04:06Z"]), 0);
    assert_eq!(count(&["--until", "2026-01-01T00:00:00Z"]), 0);
    assert_eq!(count(&["--mode", "concurrent", "--branch", "main"]), 3);
    let entries = env.run(["ledger", "query", "--json"]).success().json();
    assert_eq!(entries["entries"][0]["task_id"], "cal_2026_01_02_0003");
    env.run(["ledger", "show", "cal_2026_01_02_0009"])
        .ended_with(1);
    env.run(["ledger", "show", "not-an-id"]).ended_with(2);
    let modes = env.run(["ledger", "query", "--mode", "nonsense"]);
    let modes = modes.ended_with(2).stderr;
    assert!(modes.contains("sequential, concurrent"), "{modes}");
}

/// CALC §2, LOA-FUT-1: tokens are summed up by day, executor and task; a filter leaves entries out.
#[test]
fn the_cost_of_entries_is_summed_up() {
    let env = three_entries();
    let cost = env.run(["ledger", "cost", "--json"]).success().json();
    let total = &cost["total"];
    assert_eq!(total["entries"], 3);
    let day = &cost["days"][0];
    assert_eq!(
        (&day["name"], &day["tokens_used"]),
        (&"2026-01-02".into(), &total["tokens_used"])
    );
    assert_eq!(cost["executors"][0]["name"], "scout");
    assert_eq!(cost["tasks"].as_array().unwrap().len(), 3);
    // The journal has the start of each.
    assert_eq!(total["timed"], 3);
    assert_eq!(cost["tasks"][0]["seconds"], 0.0);
    let none = ["ledger", "cost", "--executor", "nobody", "--json"];
    assert_eq!(env.run(none).success().json()["total"]["entries"], 0);
    let shown = env.run(["ledger", "cost"]).success().stdout;
    assert!(shown.contains("2026-01-02"), "{shown}");
}

/// CAL-SUM-1, REQ-TEST-005: one changed byte is found and named, and nothing is written over it.
#[test]
fn an_edited_entry_is_named() {
    let env = three_entries();
    let text = env.read(".cal_memory.json");
    env.write(
        ".cal_memory.json",
        text.replacen("about deps", "about DEPS", 1),
    );
    let output = env.run(["ledger", "verify", "--json"]).ended_with(1).json();
    assert_eq!(output["sound"], false);
    assert_eq!(output["problems"][0]["fault"], "edited", "{output}");
    assert_eq!(
        output["problems"][0]["task_id"], "cal_2026_01_02_0002",
        "{output}"
    );
    let replay = env.run(["replay", "--json"]).ended_with(1).json();
    assert_eq!(replay["identical"], false);
    env.run(["doctor"]).ended_with(1);
    let shown = env.run(["ledger", "show", "cal_2026_01_02_0002"]);
    assert_ne!(shown.code, 0, "{}", shown.stdout);
}

/// CAL-GOV-1: a record that is missing breaks the chain.
#[test]
fn a_deleted_record_is_noticed() {
    let env = three_entries();
    let journal = env.read("cal_audit/2026-01-02.jsonl");
    let kept: Vec<&str> = journal
        .lines()
        .enumerate()
        .filter(|(at, _)| *at != 4)
        .map(|(_, line)| line)
        .collect();
    env.write("cal_audit/2026-01-02.jsonl", kept.join("\n") + "\n");
    let output = env.run(["audit", "verify", "--json"]).ended_with(1).json();
    assert_eq!(output["sound"], false, "{output}");
}

/// CAL-GOV-2, REQ-GOV-003, REQ-TEST-004: all days, or one day, byte for byte.
#[test]
fn the_journal_alone_rebuilds_the_ledger() {
    let env = three_entries();
    let all = env.run(["replay", "--json"]).success().json();
    assert_eq!(
        (&all["identical"], &all["entries"]),
        (&Value::Bool(true), &Value::from(3))
    );
    env.run(["--replay-audit", "cal_audit/2026-01-02.jsonl"])
        .success();
    env.run(["audit", "replay"]).success();
    env.run(["replay", "README.md"]).ended_with(2);
}

/// CAL-GOV-3: the journal is exported record by record, each in its published form, and by time.
#[test]
fn the_whole_journal_is_exported() {
    let env = three_entries();
    let stored = env.read("cal_audit/2026-01-02.jsonl");
    let exported = env.run(["audit", "export"]).success().stdout;
    let records = |text: &str| {
        let lines = text.lines();
        let records = lines.map(|line| serde_json::from_str(line).unwrap());
        records.collect::<Vec<Value>>()
    };
    assert!(records(&exported) == records(&stored));
    let schema = Schema::published("audit-record");
    for record in records(&exported) {
        assert_eq!(schema.fault(&record), None, "{record}");
    }
    let later = ["audit", "export", "--since", "2026-01-02T03:04:06Z"];
    assert_eq!(env.run(later).success().stdout, "");
    env.write("cal_audit/2026-01-02.jsonl", stored + "torn\n");
    let torn = env.run(["audit", "export"]).success();
    assert_eq!(torn.stdout, exported);
    assert!(
        torn.stderr.contains("callosum audit verify"),
        "{}",
        torn.stderr
    );
}

/// CAL-SCH-1: a ledger of a later version can be read and is never written.
#[test]
fn a_newer_ledger_is_read_and_left_alone() {
    let env = three_entries();
    let newer = env
        .read(".cal_memory.json")
        .replacen("\"1.2\"", "\"1.9\"", 1);
    env.write(".cal_memory.json", &newer);
    env.run(["ledger", "show", "cal_2026_01_02_0001"]).success();
    let refused = env.run(["delegate", "map"]).ended_with(3);
    assert!(refused.stderr.contains("1.9"), "{}", refused.stderr);
    assert_eq!(env.read(".cal_memory.json"), newer);
}

/// CAL-GOV-1, CAL-MSP-1, REQ-GOV-001, REQ-ARB-005, REQ-SYS-004: every step is on the record, in
/// order, each with the SHA-256 of what it says and of the one before.
#[test]
fn a_task_leaves_its_whole_course_on_the_record() {
    let env = two_languages();
    env.run(["delegate", "map"]).success();
    let output = env
        .run(["audit", "query", "--task", "cal_2026_01_02_0001", "--json"])
        .success()
        .json();
    let course: Vec<String> = output["records"]
        .as_array()
        .unwrap()
        .iter()
        .map(|record| match record["event"].as_str().unwrap() {
            "state" => record["status"].as_str().unwrap().to_owned(),
            event => event.to_owned(),
        })
        .collect();
    assert_eq!(
        course,
        [
            "spawn",
            "decision",
            "running",
            "await_merge",
            "validated",
            "commit",
            "terminated",
            "idle"
        ]
    );
    let tail = env
        .run(["audit", "tail", "-n", "2", "--json"])
        .success()
        .json();
    assert_eq!(tail["records"][0]["status"], "idle");
    assert_eq!(tail["records"][1]["event"], "checkpoint");
    let mut before = "0".repeat(64);
    for line in env.read("cal_audit/2026-01-02.jsonl").lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        assert_eq!(record["prev"], before, "{line}");
        // As `docs/formats/audit-journal.md` says it.
        let body = line.split_once(",\"record\":\"").unwrap().0.as_bytes();
        let length = (body.len() as u64).to_be_bytes();
        let hashed = [b"callosum-audit-1".as_slice(), &length, body].concat();
        before = Checksum::of(&hashed).to_string();
        assert_eq!(record["record"], before, "{line}");
    }
}

/// CAL-SUM-1: `ledger checksum` agrees with Python on any JSON value.
#[test]
fn the_checksum_of_any_json_is_pythons() {
    let env = TestEnv::new();
    let run = |arguments: &[&str], input: &[u8]| {
        env.callosum()
            .arguments(["ledger", "checksum"])
            .arguments(arguments)
            .input(input)
            .run()
    };
    let value = r#"{"b": 1e-5, "a": ["é", 12345678901234567890123], "a": [-0.0, -0]}"#;
    let form = run(&["--canonical"], value.as_bytes()).success().stdout;
    assert_eq!(form, r#"{"a":[-0.0,0],"b":1e-05}"#);
    let sum = run(&[], br#"{"a": 1}"#).success().stdout;
    assert_eq!(
        sum,
        "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862  -\n"
    );
    let refused = run(&[], b"{\"a\":\n NaN}").ended_with(1).stderr;
    assert!(refused.contains("line 2"), "{refused}");
}

/// Like `sha256sum`: what can be summed is, what cannot is told, and no name feigns a line.
#[test]
fn checksums_go_on_after_a_file_that_cannot_be_read() {
    let env = TestEnv::new();
    env.write("a.json", "{}");
    env.write("b\nc.json", "[]");
    env.write("not.json", "{");
    std::fs::create_dir(env.project().join("folder")).unwrap();
    let files = ["nowhere.json", "folder", "not.json", "a.json", "b\nc.json"];
    let output = env
        .run(["ledger", "checksum"].iter().chain(&files))
        .ended_with(1);
    for name in &files[..3] {
        assert!(output.stderr.contains(name), "{name}: {}", output.stderr);
    }
    let lines: Vec<&str> = output.stdout.lines().collect();
    assert_eq!(lines.len(), 2, "{}", output.stdout);
    assert!(lines[0].ends_with("  a.json"), "{}", output.stdout);
    assert!(
        lines[1].starts_with('\\') && lines[1].ends_with("  b\\nc.json"),
        "{}",
        output.stdout
    );
    env.run(["ledger", "checksum", "--sha1"]).ended_with(2);
}

/// CAL-FLOW-2, CAL-SUM-2: an export that meets a bad entry says so, and what it printed is whole.
#[test]
fn an_export_that_meets_a_bad_entry_has_printed_whole_rows() {
    let env = two_languages();
    let task = |number: u32| {
        format!(
            r#"{{"task_id":"cal_2025_01_02_{number:04}","executor":"other","summary":"{}\n{number}",
            "tokens_used":1,"linked_tasks":[],"timestamp":"2025-01-02T03:04:05Z","metadata":{{}}}}"#,
            "x".repeat(5_000)
        )
    };
    let tasks: Vec<_> = (1..=60).map(task).collect();
    let ledger = format!(r#"{{"version":"1.2","tasks":[{}]}}"#, tasks.join(","));
    env.write(".cal_memory.json", ledger);
    env.run(["init", "--all", "--share"]).success();
    let text = env.read(".cal_memory.json");
    env.write(".cal_memory.json", text.replacen("x\\n9\"", "y\\n9\"", 1));
    let lines = env.run(["ledger", "export"]).ended_with(1);
    assert!(lines.stderr.contains("E004"), "{}", lines.stderr);
    let rows: Vec<Value> = lines
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(rows.len(), 51);
    assert!(lines.stdout.ends_with('\n'));
    let table = env
        .run(["ledger", "export", "--format", "csv"])
        .ended_with(1);
    assert!(table.stdout.ends_with("\r\n"));
    assert_eq!(table.stdout.matches("\r\n").count(), 52);
}

/// CAL-FLOW-2: two entries compared, entries for other programs, and the ledger of a time.
#[test]
fn entries_are_compared_exported_and_shown_as_of_then() {
    let env = three_entries();
    let (one, other) = ("cal_2026_01_02_0001", "cal_2026_01_02_0002");
    let output = env
        .run(["ledger", "diff", one, other, "--json"])
        .success()
        .json();
    let fields: Vec<&str> = output["fields"]
        .as_array()
        .unwrap()
        .iter()
        .map(|field| field["name"].as_str().unwrap())
        .collect();
    assert!(fields.contains(&"metadata.kind"), "{fields:?}");
    let text = env.run(["ledger", "diff", one, other]).success().stdout;
    assert!(text.contains("+++ cal_2026_01_02_0002"), "{text}");

    let lines = env.run(["ledger", "export"]).success().stdout;
    assert_eq!(lines.lines().count(), 3);
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!(first["task_id"], "cal_2026_01_02_0003");
    let table = env
        .run(["ledger", "export", "--format", "csv", "--limit", "1"])
        .success()
        .stdout;
    assert!(table.starts_with("task_id,timestamp,executor,"), "{table}");
    assert!(table.contains("cal_2026_01_02_0003,"), "{table}");

    let count = |time: &str| {
        let then = env.run(["ledger", "at", time, "--json"]).success().json();
        then["entries"].as_array().unwrap().len()
    };
    assert_eq!(count("2026-01-02"), 3);
    env.run(["ledger", "at", "2025-01-01"]).ended_with(1);
    env.run(["ledger", "at", "2026-01-03"]).ended_with(2);
    env.run(["ledger", "at", "2026-01-02", "--output", "then.json"])
        .success();
    assert_eq!(env.read("then.json"), env.read(".cal_memory.json"));
    env.run(["ledger", "at", "2026-01-02", "--output", "then.json"])
        .ended_with(2);
    env.run(["ledger", "query", "--since", "yesterday"])
        .ended_with(2);
    let recent = env
        .run(["ledger", "query", "--since", "1w", "--json"])
        .success()
        .json();
    assert_eq!(recent["entries"].as_array().unwrap().len(), 3);
}
