//! Ledgers that were archived: what is told of them, and what happens when one is gone.

use crate::projects::{three_entries, two_languages};

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
    assert!(text.contains("validated: 1 ledger, 3 entries"), "{text}");
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
    // It may be one that the journal told of before its end was lost.
    let hint = &found.stderr;
    assert!(
        hint.contains("keep a copy before you move it away"),
        "{hint}"
    );
    env.run(["ledger", "recover", "--from-audit"]).success();
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

/// CAL-LED-2, CAL-SUM-2: what was taken over with the ledger and is lost comes back from a copy only,
/// and that is what is said.
#[test]
fn a_lost_archive_of_an_older_program_is_not_promised_from_the_journal() {
    let env = two_languages();
    let archive = ".cal_memory_history/cal_memory_20250102_030405.json";
    let task = r#"{"task_id":"cal_2025_01_02_0001","executor":"other","summary":"old","tokens_used":1,
        "linked_tasks":[],"timestamp":"2025-01-02T03:04:05Z","metadata":{}}"#;
    env.write(archive, format!(r#"{{"version":"1.2","tasks":[{task}]}}"#));
    env.run(["init", "--all", "--share"]).success();
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
    env.run(["init", "--all", "--share"]).success();
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
