//! Bringing a ledger back that is torn, lost, edited or replaced.

use serde_json::Value;

use crate::projects::{three_entries, two_languages};

/// A kill at any moment: what was acknowledged is there, and the next command goes on.
#[test]
fn a_torn_ledger_is_mended_from_the_journal() {
    let env = three_entries();
    let whole = env.read(".cal_memory.json");
    env.write(".cal_memory.json", &whole[..whole.len() - 40]);
    let mended = env.run(["delegate", "map"]).success();
    assert!(mended.stderr.contains("repaired"), "{}", mended.stderr);
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
    assert_eq!(output["imported"], 1, "{output}");
    assert_eq!(env.read(".cal_memory.json"), whole);
    env.run(["ledger", "verify"]).success();
    env.run(["replay"]).success();
    env.run(["ledger", "recover"]).ended_with(2);
    env.run(["ledger", "recover", "--from-audit", "--import-appended"])
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
    for said in [
        "cal_2026_01_02_0003",
        "--import-appended",
        "a checkpoint signed",
    ] {
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
    }
    assert_eq!(env.read(".cal_memory.json"), whole);
    let taken = env
        .run(["ledger", "recover", "--import-appended"])
        .success();
    assert!(taken.stderr.contains("--reset"), "{}", taken.stderr);
    assert_eq!(env.read(".cal_memory.json"), whole);
    env.run(["audit", "checkpoint", "--reset"]).success();
    env.run(["ledger", "verify"]).success();
    env.run(["delegate", "map"]).success();
}

/// REQ-ERR-001: where there is nothing to back up, or no such day to replay, that is what is said.
#[test]
fn what_is_not_there_is_said_to_be_missing() {
    let env = two_languages();
    let refused = env.run(["ledger", "backup"]).ended_with(3).stderr;
    assert!(refused.contains("there is no ledger in"), "{refused}");
    assert!(refused.contains("hint: callosum init"), "{refused}");
    assert!(!env.project().join(".cal_lock").exists());
    env.run(["init", "--all", "--share"]).success();
    let day = "cal_audit/2020-01-01.jsonl";
    let refused = env.run(["replay", day]).ended_with(2).stderr;
    assert!(refused.contains("does not exist"), "{refused}");
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
        text.contains("no longer in the ledger: cal_2026_01_02_0004"),
        "{text}"
    );
    std::fs::copy(file, env.project().join("copy.json")).unwrap();
    let refused = env.run(["ledger", "recover", "copy.json"]).ended_with(1);
    assert!(
        refused.stderr.contains("--skip-verify"),
        "{}",
        refused.stderr
    );
    env.run(["ledger", "recover", "copy.json", "--skip-verify"])
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

/// CAL-GOV-4: an entry that somebody put into the ledger, with a right checksum, is not shown as if it
/// had been committed.
#[test]
fn what_nobody_vouches_for_is_not_shown_without_a_word() {
    let env = three_entries();
    let said = env.run(["ledger", "query"]).success().stderr;
    assert!(!said.contains("unverified"), "{said}");
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
        assert!(
            said.contains("showing unverified data"),
            "{command:?}: {said}"
        );
    }
    std::fs::remove_dir_all(env.project().join("cal_audit")).unwrap();
    let said = env.run(["ledger", "query"]).success().stderr;
    assert!(said.contains("showing unverified data"), "{said}");
    let said = env.run(["ledger", "verify"]).ended_with(1).stderr;
    assert!(said.contains("--new-journal"), "{said}");
    env.run(["ledger", "recover", "--new-journal"]).success();
    let said = env.run(["audit", "verify"]).ended_with(1).stderr;
    assert!(said.contains("--reset"), "{said}");
    env.run(["audit", "checkpoint", "--reset"]).success();
    env.run(["audit", "verify"]).success();
}

/// CAL-LED-2: where journal, ledger and hashlog are lost, the archives are left; the ways back that are
/// named lead on.
#[test]
fn archives_alone_are_a_way_back() {
    let env = three_entries();
    env.run(["ledger", "rotate"]).success();
    std::fs::remove_dir_all(env.project().join("cal_audit")).unwrap();
    for name in [".cal_memory.json", ".cal_hashlog"] {
        std::fs::remove_file(env.project().join(name)).unwrap();
    }
    let refused = env.run(["ledger", "recover", "--from-audit"]).ended_with(3);
    assert!(
        refused.stderr.contains("--new-journal"),
        "{}",
        refused.stderr
    );
    env.run(["ledger", "recover", "--new-journal"]).success();
    env.run(["ledger", "show", "cal_2026_01_02_0001"]).success();

    // Of an archive that was taken over, the journal has the hash alone.
    let folder = env.project().join(".cal_memory_history");
    let archive = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .find(|name| name.strip_suffix(".json").is_some())
        .unwrap();
    let name = format!(".cal_memory_history/{archive}");
    let whole = env.read(&name);
    env.write(&name, &whole[..whole.len() / 2]);
    let run = || env.run(["ledger", "recover", "--from-audit", "--json"]);
    let answer = run().ended_with(1);
    assert_eq!(answer.json()["not_in_journal"][0], name.as_str());
    assert!(
        answer.stderr.contains("differs from the imported file"),
        "{}",
        answer.stderr
    );
    env.write(&name, &whole);
    run().success();
}

/// Where there is no ledger, there is nothing to verify either: what helps is a first task.
#[test]
fn a_replay_without_a_ledger_says_what_begins_one() {
    let env = two_languages();
    let said = env.run(["replay"]).ended_with(3).stderr;
    assert!(said.contains("there is no ledger in"), "{said}");
    assert!(
        said.ends_with("hint: the first answer creates it: callosum delegate\n"),
        "{said}"
    );
}
