//! Looking at the ledger and the journal, and finding out what was done to them.

use callosum_ledger::Checksum;
use callosum_testkit::TestEnv;
use serde_json::Value;

use crate::projects::two_languages;

/// A project with three entries.
fn three_entries() -> TestEnv {
    let env = two_languages();
    for kind in ["scan", "deps", "api"] {
        env.run(["delegate", &format!("about {kind}"), "--kind", kind])
            .success();
    }
    env
}

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

/// CAL-GOV-1: a record that is gone breaks the chain.
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

/// A kill at any moment: what was acknowledged is there, and the next command goes on.
#[test]
fn a_torn_ledger_is_mended_from_the_journal() {
    let env = three_entries();
    let whole = env.read(".cal_memory.json");
    env.write(".cal_memory.json", &whole[..whole.len() - 40]);
    let mended = env.run(["delegate", "map"]).success();
    assert!(mended.stderr.contains("mended"), "{}", mended.stderr);
    env.run(["ledger", "verify"]).success();
    assert_eq!(
        env.run(["ledger", "stats", "--json"]).success().json()["entries"],
        4
    );
}

/// CAL-LED-1, CAL-LED-2, REQ-LED-003: archived, backed up, damaged and brought back.
#[test]
fn a_ledger_is_archived_backed_up_and_recovered() {
    let env = three_entries();
    let rotated = env.run(["ledger", "rotate", "--json"]).success().json();
    assert_eq!(rotated["entries"], 3);
    let shown = env.run(["ledger", "show", "cal_2026_01_02_0001"]).success();
    assert!(
        shown.stdout.contains("archived in cal_memory_"),
        "{}",
        shown.stdout
    );
    env.run(["ledger", "rotate"]).success();
    env.run(["delegate", "after the rotation"]).success();
    let replay = env.run(["replay", "--json"]).success().json();
    assert_eq!(
        (
            &replay["archives"],
            &replay["archived_entries"],
            &replay["entries"]
        ),
        (&1.into(), &3.into(), &1.into())
    );
    let backup = env.run(["ledger", "backup", "--json"]).success().json();
    let whole = env.read(".cal_memory.json");
    env.write(
        ".cal_memory.json",
        whole.replacen("after the", "AFTER THE", 1),
    );
    let refused = env.run(["delegate", "map"]).ended_with(3);
    assert!(
        refused.stderr.contains("ledger recover"),
        "{}",
        refused.stderr
    );
    let output = env
        .run(["ledger", "recover", "--from-audit", "--json"])
        .success()
        .json();
    assert_eq!(output["restored"][0], ".cal_memory.json", "{output}");
    assert_eq!(env.read(".cal_memory.json"), whole);
    env.run(["delegate", "after the backup"]).success();
    let file = backup["path"].as_str().unwrap();
    let output = env
        .run(["ledger", "recover", file, "--json"])
        .success()
        .json();
    assert_eq!(output["taken_in"], 1, "{output}");
    assert_eq!(env.read(".cal_memory.json"), whole);
    env.run(["ledger", "verify"]).success();
    env.run(["replay"]).success();
    env.run(["ledger", "recover"]).ended_with(2);
    env.run(["ledger", "recover", "--from-audit", "--appended"])
        .ended_with(2);
    let used_wrongly = [".cal_memory.json", "src", "/nope", "README.md"];
    for file in used_wrongly {
        env.run(["ledger", "recover", file]).ended_with(2);
    }
    let refused = env
        .run(["ledger", "recover", "--new-journal"])
        .ended_with(1);
    assert!(refused.stderr.contains("--force"), "{}", refused.stderr);
}

/// CAL-LED-2, CAL-GOV-1: an entry whose last record was damaged is brought back by the command that
/// the refusal names; what was signed is not given up in silence.
#[test]
fn an_entry_that_the_journal_lost_is_taken_in_again() {
    let env = three_entries();
    let whole = env.read(".cal_memory.json");
    let day = "cal_audit/2026-01-02.jsonl";
    let journal = env.read(day);
    let commit = journal.rfind(r#""event":"commit""#).unwrap();
    let line = journal[..commit].rfind('\n').map_or(0, |at| at + 1);
    env.write(day, &journal[..line]);
    let refused = env.run(["ledger", "recover", "--from-audit"]).ended_with(1);
    for said in ["cal_2026_01_02_0003", "--appended", "a checkpoint signed"] {
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
    }
    assert_eq!(env.read(".cal_memory.json"), whole);
    let taken = env.run(["ledger", "recover", "--appended"]).success();
    assert!(taken.stderr.contains("--begin-anew"), "{}", taken.stderr);
    assert_eq!(env.read(".cal_memory.json"), whole);
    env.run(["audit", "checkpoint", "--begin-anew"]).success();
    env.run(["ledger", "verify"]).success();
    env.run(["delegate", "map"]).success();
}

/// CAL-LED-2, CAL-SEC-1: a ledger file of which nothing says what it is needs somebody to vouch for
/// it; and what a backup brings back says what it does not.
#[test]
fn a_backup_says_what_it_leaves_out_and_a_file_is_vouched_for() {
    let env = three_entries();
    let backup = env.run(["ledger", "backup", "--json"]).success().json();
    let file = backup["path"].as_str().unwrap();
    env.run(["delegate", "after the backup"]).success();
    let text = env.run(["ledger", "recover", file]).success().stdout;
    assert!(
        text.contains("not in the ledger any more: cal_2026_01_02_0004"),
        "{text}"
    );
    std::fs::copy(file, env.project().join("copy.json")).unwrap();
    let refused = env.run(["ledger", "recover", "copy.json"]).ended_with(1);
    assert!(
        refused.stderr.contains("--unverified"),
        "{}",
        refused.stderr
    );
    env.run(["ledger", "recover", "copy.json", "--unverified"])
        .success();
    env.run(["ledger", "verify"]).success();
}

/// CAL-ERR-4, CAL-LED-2, REQ-ERR-004: an entry that was edited by hand stops everything that writes,
/// until it is rolled back as the hint says; what was edited is kept.
#[test]
fn an_entry_edited_by_hand_is_rolled_back() {
    let env = three_entries();
    let right = env.read(".cal_memory.json");
    let edited = right.replacen("about deps", "about DEPS", 1);
    env.write(".cal_memory.json", &edited);
    let refused = env.run(["delegate", "map"]).ended_with(3);
    let hint = "callosum ledger recover --from-audit";
    assert!(refused.stderr.contains(hint), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("cal_2026_01_02_0002"),
        "{}",
        refused.stderr
    );
    assert_eq!(env.read(".cal_memory.json"), edited);
    let found = env.run(["ledger", "verify"]).ended_with(1);
    assert!(found.stderr.contains(hint), "{}", found.stderr);

    let output = env
        .run(["ledger", "recover", "--from-audit", "--json"])
        .success()
        .json();
    let kept = output["set_aside"][0].as_str().unwrap();
    assert!(kept.starts_with(".cal_quarantine/"), "{output}");
    assert_eq!(env.read(kept), edited);
    assert_eq!(env.read(".cal_memory.json"), right);
    env.run(["ledger", "verify"]).success();
    env.run(["delegate", "map"]).success();
}

/// CAL-LED-1, REQ-LED-002: the states of the seed's life cycle are counted, and those who commit
/// are told when the ledger is archived.
#[test]
fn the_states_of_ledgers_are_shown() {
    let env = three_entries();
    env.run(["ledger", "rotate"]).success();
    env.run(["delegate", "after the rotation"]).success();
    let states = || env.run(["ledger", "stats", "--json"]).success().json()["states"].clone();
    let of =
        |ledgers: u64, entries: u64| serde_json::json!({"ledgers": ledgers, "entries": entries});
    assert_eq!(states()["active"], of(1, 1));
    assert_eq!(states()["validated"], of(1, 3));
    assert_eq!(states()["archived"], of(0, 0));
    let text = env.run(["ledger", "stats"]).success().stdout;
    assert!(text.contains("validated: 1 ledgers, 3 entries"), "{text}");
    let folder = env.project().join(".cal_memory_history");
    let archive = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .find(|name| name.strip_suffix(".json").is_some())
        .unwrap();
    let name = format!(".cal_memory_history/{archive}");
    let text = env.read(&name).replacen("about deps", "about DEPS", 1);
    env.write(&name, &text);
    assert_eq!(states()["archived"], of(1, 3));
}

/// CAL-GOV-4: a file that was put among the archives is read by no command, and named.
#[test]
fn a_file_among_the_archives_is_no_archive() {
    let env = three_entries();
    let forged = env
        .read(".cal_memory.json")
        .replace("cal_2026_01_02", "cal_2026_01_01");
    env.run(["ledger", "rotate"]).success();
    env.write(".cal_memory_history/notes.json", "{}");
    env.write(
        ".cal_memory_history/cal_memory_20260101_000000.json",
        forged,
    );
    assert_eq!(
        env.run(["ledger", "stats", "--json"]).success().json()["entries"],
        3
    );
    env.run(["ledger", "show", "cal_2026_01_01_0001"])
        .ended_with(1);
    env.run(["ledger", "show", "cal_2026_01_02_0001"]).success();
    env.run(["ledger", "export"]).success();
    let found = env.run(["ledger", "verify"]).ended_with(1);
    assert!(
        found.stdout.contains("notes.json: inserted"),
        "{}",
        found.stdout
    );
    assert!(found.stderr.contains("move it away"), "{}", found.stderr);
}

/// CAL-LED-1: an archive that is gone comes back from the journal with the next command.
#[test]
fn an_archive_that_was_removed_is_made_anew() {
    let env = three_entries();
    env.run(["ledger", "rotate"]).success();
    let archive = env
        .project()
        .join(".cal_memory_history/cal_memory_20260102_030405.json");
    std::fs::remove_file(&archive).unwrap();
    let shown = env.run(["ledger", "show", "cal_2026_01_02_0001"]).success();
    assert!(
        shown.stderr.contains("cal_memory_20260102_030405"),
        "{}",
        shown.stderr
    );
    assert!(archive.is_file());
}

/// CAL-GOV-4: an entry that somebody put into the ledger, with a right checksum, is not shown as if it
/// had been committed.
#[test]
fn what_nobody_vouches_for_is_not_shown_without_a_word() {
    let env = three_entries();
    let said = env.run(["ledger", "query"]).success().stderr;
    assert!(!said.contains("vouches"), "{said}");
    let mut ledger: Value = serde_json::from_str(&env.read(".cal_memory.json")).unwrap();
    let mut entry = ledger["tasks"][2].clone();
    entry["task_id"] = "cal_2026_01_02_0004".into();
    entry.as_object_mut().unwrap().remove("checksum");
    ledger["tasks"].as_array_mut().unwrap().push(entry);
    env.write(".cal_memory.json", ledger.to_string());
    for command in [
        &["ledger", "query"][..],
        &["ledger", "show", "cal_2026_01_02_0001"],
        &["ledger", "export"],
    ] {
        let said = env.run(command).success().stderr;
        assert!(said.contains("nothing vouches"), "{command:?}: {said}");
    }
    std::fs::remove_dir_all(env.project().join("cal_audit")).unwrap();
    let said = env.run(["ledger", "query"]).success().stderr;
    assert!(said.contains("nothing vouches"), "{said}");
    let said = env.run(["ledger", "verify"]).ended_with(1).stderr;
    assert!(said.contains("--new-journal"), "{said}");
    env.run(["ledger", "recover", "--new-journal"]).success();
    let said = env.run(["audit", "verify"]).ended_with(1).stderr;
    assert!(said.contains("--begin-anew"), "{said}");
    env.run(["audit", "checkpoint", "--begin-anew"]).success();
    env.run(["audit", "verify"]).success();
}

/// CAL-LED-2, CAL-SUM-2: what was taken over with the ledger and is lost comes back from a copy only,
/// and that is what is said.
#[test]
fn a_lost_archive_of_an_older_program_is_not_promised_from_the_journal() {
    let env = two_languages();
    let archive = ".cal_memory_history/cal_memory_20250102_030405.json";
    let task = r#"{"task_id":"cal_2025_01_02_0001","executor":"other","summary":"old","tokens_used":1,
        "linked_tasks":[],"timestamp":"2025-01-02T03:04:05Z","metadata":{}}"#;
    env.write(archive, format!(r#"{{"version":"1.2","tasks":[{task}]}}"#));
    env.run(["init"]).success();
    let then = env.run(["ledger", "at", "0s", "--json"]).success().json();
    assert_eq!(then["adopted_entries"], 1);
    assert_eq!(then["entries"].as_array().unwrap().len(), 0);
    let then = env.run(["ledger", "at", "0s"]).success();
    assert!(then.stderr.contains("ledger query"), "{}", then.stderr);
    let copy = env.read(archive);
    std::fs::remove_file(env.project().join(archive)).unwrap();
    for command in [
        &["ledger", "query"][..],
        &["ledger", "show", "cal_2025_01_02_0001"],
        &["ledger", "verify", "--all"],
        &["ledger", "recover", "--from-audit"],
    ] {
        let said = env.run(command).stderr;
        assert!(said.contains("from a copy"), "{command:?}: {said}");
        assert!(!said.contains("--from-audit"), "{command:?}: {said}");
    }
    env.write(archive, copy);
    env.run(["ledger", "show", "cal_2025_01_02_0001"]).success();
    env.run(["ledger", "verify", "--all"]).success();
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
    env.run(["init"]).success();
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

/// CAL-LED-1, CAL-CFG-1: whoever finds the ledger so large is told where it went, on standard error.
#[test]
fn an_archived_ledger_is_told_of_by_the_command_that_finds_it_so_large() {
    let env = two_languages();
    let task = |number: u32| {
        format!(
            r#"{{"task_id":"cal_2025_01_02_{number:04}","executor":"other","summary":"{}",
            "tokens_used":1,"linked_tasks":[],"timestamp":"2025-01-02T03:04:05Z","metadata":{{}}}}"#,
            "x".repeat(10_000)
        )
    };
    let tasks: Vec<_> = (1..=110).map(task).collect();
    let ledger = format!(r#"{{"version":"1.2","tasks":[{}]}}"#, tasks.join(","));
    env.write(".cal_memory.json", ledger);
    env.run(["init"]).success();
    let small = env.run(["delegate", "not that large"]).success();
    assert!(!small.stderr.contains("archived"), "{}", small.stderr);
    let told = env
        .callosum()
        .arguments(["delegate", "too large"])
        .env("CAL_ROTATION_THRESHOLD_MB", "1")
        .run()
        .success();
    let line = "archived the ledger: 111 entries";
    let lines = told.stderr.lines().filter(|said| said.contains(line));
    assert_eq!(lines.count(), 1, "{}", told.stderr);
    assert!(
        told.stderr
            .contains(".cal_memory_history/cal_memory_20260102_030405.json"),
        "{}",
        told.stderr
    );
    assert!(
        !told.stdout.contains("archived the ledger"),
        "{}",
        told.stdout
    );
    let stats = env.run(["ledger", "stats", "--json"]).success().json();
    assert_eq!(
        (&stats["entries"], &stats["archives"]),
        (&112.into(), &1.into())
    );
}

/// CAL-LED-1, CAL-CFG-1: where archives are compressed, every command reads them as it did before.
#[test]
fn compressed_archives_are_read_like_others() {
    let env = three_entries();
    let whole = env.read(".cal_memory.json");
    let gzip = ("CAL_ARCHIVE_COMPRESSION", "gzip");
    let rotated = env
        .callosum()
        .arguments(["ledger", "rotate"])
        .env(gzip.0, gzip.1)
        .run();
    rotated.success();
    let folder = env.project().join(".cal_memory_history");
    let names = || {
        let listed = std::fs::read_dir(&folder).unwrap();
        let mut names: Vec<_> = listed
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    let archive = "cal_memory_20260102_030405.json.gz";
    assert_eq!(names(), ["cal_memory_20260102_030405.hashlog", archive]);
    let inflated = std::process::Command::new("gzip")
        .arg("-dc")
        .arg(folder.join(archive))
        .output();
    if let Ok(inflated) = inflated {
        assert_eq!(String::from_utf8(inflated.stdout).unwrap(), whole);
    }
    env.run(["delegate", "after the rotation"]).success();
    let shown = env.run(["ledger", "show", "cal_2026_01_02_0002"]).success();
    assert!(shown.stdout.contains(archive), "{}", shown.stdout);
    let found = env.run(["ledger", "query", "--json"]).success().json();
    assert_eq!(found["entries"].as_array().unwrap().len(), 4);
    env.run(["ledger", "verify", "--all"]).success();
    env.run(["replay"]).success();
    let then = env.run(["ledger", "at", "2026-01-02", "--json"]).success();
    assert_eq!(then.json()["entries"].as_array().unwrap().len(), 4);
    assert_eq!(
        env.run(["ledger", "export"])
            .success()
            .stdout
            .lines()
            .count(),
        4
    );

    let mut bytes = std::fs::read(folder.join(archive)).unwrap();
    bytes[40] ^= 1;
    std::fs::write(folder.join(archive), &bytes).unwrap();
    env.run(["ledger", "verify", "--all"]).ended_with(1);
    env.run(["ledger", "recover", "--from-audit"]).success();
    env.run(["ledger", "verify", "--all"]).success();
    assert!(!names().contains(&archive.to_owned()));
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
