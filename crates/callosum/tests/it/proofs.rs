//! Checkpoints, proofs, and what a stranger can check without us.

use std::{os::unix::fs::PermissionsExt as _, path::PathBuf};

use callosum_host::Disk;
use callosum_testkit::{Output, Schema, TestEnv};

use crate::projects::two_languages;

/// A project with so many entries.
fn with_entries(count: usize) -> TestEnv {
    let env = two_languages();
    for number in 0..count {
        env.run(["delegate", &format!("about {number}"), "--kind", "scan"])
            .success();
    }
    env
}

/// What `verify` says is wrong: fault and file.
fn problems(env: &TestEnv) -> Vec<(String, String)> {
    let output = env.run(["ledger", "verify", "--json"]).json();
    let problems = output["problems"].as_array().unwrap().iter();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    problems
        .map(|problem| (text(&problem["fault"]), text(&problem["path"])))
        .collect()
}

fn key_file(env: &TestEnv) -> PathBuf {
    env.machine_home().join("keys/ledger-ed25519")
}

fn show_key(env: &TestEnv) -> String {
    let shown = env.run(["audit", "checkpoint", "--show-key"]).success();
    shown.stdout.trim_end().to_owned()
}

/// CAL-GOV-4: each command that writes signs what it wrote, outside the project.
#[test]
fn every_writing_command_leaves_a_checkpoint() {
    let env = with_entries(2);
    let verified = env.run(["ledger", "verify", "--json"]).success().json();
    assert_eq!(verified["checkpoints"], 2, "{verified}");
    // The last record tells of the last checkpoint.
    let records = verified["records"].as_u64().unwrap();
    assert_eq!(verified["signed_records"], records - 1);
    let mode = std::fs::metadata(key_file(&env))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let tail = env
        .run(["audit", "tail", "-n", "1", "--json"])
        .success()
        .json();
    assert_eq!(tail["records"][0]["event"], "checkpoint");
    env.run(["ledger", "query"]).success();
    let again = env.run(["ledger", "verify", "--json"]).success().json();
    assert_eq!(again["records"], records, "reading records nothing");
}

/// CAL-GOV-4: whoever rewrites the whole project, so that it fits together, is found out.
#[test]
fn a_project_that_was_put_back_to_an_earlier_state_is_named() {
    let env = with_entries(1);
    let names = [
        ".cal_memory.json",
        ".cal_hashlog",
        "cal_audit/2026-01-02.jsonl",
    ];
    let before = names.map(|name| env.read(name));
    env.run(["delegate", "more", "--kind", "api"]).success();
    for (name, content) in names.iter().zip(&before) {
        env.write(name, content);
    }
    std::fs::remove_file(env.project().join(".cal_lock/watermark")).ok();
    env.run(["replay"]).success();
    let found = problems(&env);
    assert_eq!(found[0].0, "tail cut", "{found:?}");
    let doctor = env.run(["doctor", "-v"]).ended_with(1);
    assert!(doctor.stdout.contains("ledger verify"), "{}", doctor.stdout);
    // Nothing is written on to it until somebody says that it is right.
    let journal = env.read(names[2]);
    let refused = env
        .run(["delegate", "again", "--kind", "deps"])
        .ended_with(3);
    assert!(refused.stderr.contains("--reset"), "{}", refused.stderr);
    assert_eq!(env.read(names[2]), journal);
    env.run(["audit", "checkpoint"]).ended_with(1);
    env.run(["audit", "checkpoint", "--reset"]).success();
    assert_eq!(problems(&env), []);
    env.run(["delegate", "on", "--kind", "scan"]).success();
    assert_eq!(problems(&env), []);
}

/// CAL-GOV-4: what vouches for a cut journal is not set aside by a command that then fails, and the
/// way back that is told leads back.
#[test]
fn beginning_anew_over_a_journal_that_does_not_open_changes_nothing() {
    let env = with_entries(3);
    let day = "cal_audit/2026-01-02.jsonl";
    let lines: Vec<String> = env.read(day).lines().map(str::to_owned).collect();
    env.write(day, format!("{}\n", lines[..12].join("\n")));
    std::fs::remove_file(env.project().join(".cal_lock/watermark")).ok();
    let is_cut = |found: &[(String, String)]| found.iter().any(|(fault, _)| fault == "tail cut");
    assert!(is_cut(&problems(&env)), "{:?}", problems(&env));
    env.run(["audit", "checkpoint", "--reset"]).ended_with(3);
    assert!(is_cut(&problems(&env)), "{:?}", problems(&env));
    let verified = env.run(["ledger", "verify"]).ended_with(1);
    for step in [
        "callosum ledger recover --new-journal --force",
        "callosum audit checkpoint --reset",
    ] {
        assert!(verified.stderr.contains(step), "{}", verified.stderr);
        let words: Vec<&str> = step.split(' ').skip(1).collect();
        env.run(words).success();
    }
    assert_eq!(problems(&env), []);
    let entries = env.run(["ledger", "query", "--json"]).success().json();
    assert_eq!(entries["entries"].as_array().unwrap().len(), 3);
}

/// CAL-GOV-4: checkpoints that are gone are missed; a key that others may read is not used.
#[test]
fn lost_checkpoints_and_an_exposed_key_are_told() {
    let env = with_entries(1);
    let key = std::fs::read(key_file(&env)).unwrap();
    Disk::real().replace(&key_file(&env), &key, 0o644).unwrap();
    // Its public half is enough to check what was signed.
    assert_eq!(problems(&env), []);
    let warned = env.run(["delegate", "map"]).success().stderr;
    assert!(warned.contains("chmod 600"), "{warned}");
    Disk::real()
        .remove_file(&key_file(&env).with_extension("pub"))
        .unwrap();
    let refused = env.run(["ledger", "verify"]).ended_with(3).stderr;
    assert!(refused.contains("mode 644"), "{refused}");
    std::fs::remove_dir_all(env.machine_home().join("ledgers")).unwrap();
    Disk::real().replace(&key_file(&env), &key, 0o600).unwrap();
    let found = problems(&env);
    assert_eq!(found[0].0, "checkpoint missing", "{found:?}");
    let warned = env
        .run(["delegate", "again", "--no-cache"])
        .success()
        .stderr;
    assert!(warned.contains("this machine has none of them"), "{warned}");
}

/// CAL-GOV-4: the key is the machine's: changed in one project, it signs the next checkpoint of
/// another, whose proofs until then are checked with the key that signed them.
#[test]
fn a_key_that_was_changed_in_another_project_is_shown_as_the_next() {
    let env = with_entries(1);
    let old = show_key(&env);
    let other = two_languages();
    let elsewhere = |arguments: &[&str]| {
        let home = env.machine_home();
        let run = other
            .callosum()
            .arguments(arguments)
            .env("CALLOSUM_HOME", home)
            .run();
        run.success();
    };
    elsewhere(&["delegate", "map"]);
    elsewhere(&["audit", "checkpoint", "--new-key"]);
    assert_eq!(show_key(&env), old);
    let shown = env
        .run(["audit", "checkpoint", "--show-key"])
        .success()
        .stderr;
    assert!(
        shown.contains("the next checkpoint will be signed with"),
        "{shown}"
    );
    let id = "cal_2026_01_02_0001";
    env.run(["ledger", "prove", id, "--output", "x.proof"])
        .success();
    let check = ["ledger", "check-proof", "x.proof", "--key", &old];
    env.run(check).success();
    env.run(["delegate", "again", "--no-cache"]).success();
    let new = show_key(&env);
    assert_ne!(new, old);
    let tail = env
        .run(["audit", "tail", "-n", "1", "--json"])
        .success()
        .json();
    assert_eq!(tail["records"][0]["details"]["previous_key"], old.as_str());
    env.run(["ledger", "prove", id, "--output", "y.proof"])
        .success();
    env.run(["ledger", "check-proof", "y.proof", "--key", &new])
        .success();
    assert_eq!(problems(&env), []);
}

/// CAL-GOV-4: a new key signs on, and what the old one signed still counts.
#[test]
fn a_new_key_takes_over() {
    let env = with_entries(1);
    let old = show_key(&env);
    let made = env.run(["audit", "checkpoint", "--new-key", "--json"]);
    let made = made.success().json();
    assert_eq!(made["previous_key"], old.as_str());
    assert_eq!(made["key"], show_key(&env).as_str());
    env.run(["delegate", "map"]).success();
    assert_eq!(problems(&env), []);
}

/// CAL-GOV-4: the checkpoints travel with the repository where that is asked for.
#[test]
fn checkpoints_are_kept_in_a_git_ref_on_demand() {
    let env = with_entries(1);
    let hook = "#!/bin/sh\ntouch hooked\n";
    let path = env.project().join(".git/hooks/reference-transaction");
    Disk::real().create_dir_all(path.parent().unwrap()).unwrap();
    Disk::real().replace(&path, hook.as_bytes(), 0o755).unwrap();
    let kept = env.run(["audit", "checkpoint", "--git-ref", "--json"]);
    let object = kept.success().json()["git_object"].clone();
    assert!(!env.project().join("hooked").exists(), "a hook ran");
    std::fs::remove_file(path).unwrap();
    let named = env.git(&["rev-parse", "refs/callosum/checkpoints"]);
    assert_eq!(object, named.trim());
    let notes = env.git(&["cat-file", "blob", "refs/callosum/checkpoints"]);
    assert!(notes.starts_with("callosum.invalid/"), "{notes}");
    let outside = TestEnv::new();
    outside.run(["init", "--all", "--share"]).success();
    let refused = outside.run(["audit", "checkpoint", "--git-ref"]);
    refused.ended_with(3);
}

/// Checks a proof with Python's standard library alone.
fn independent(env: &TestEnv, file: &str, key: Option<&str>) -> Output {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/check_proof.py");
    env.program("python3".into())
        .arguments([script, file])
        .arguments(key)
        .run()
}

/// CAL-GOV-5: a proof is checked by us, and by somebody who has only its bytes and the page on it.
#[test]
fn a_proof_holds_for_us_and_for_a_stranger() {
    let env = with_entries(3);
    let key = show_key(&env);
    for number in 1..=3 {
        let id = format!("cal_2026_01_02_000{number}");
        let name = format!("{number}.tlog-proof");
        env.run(["ledger", "prove", &id, "--output", &name])
            .success();
        // What is there is left alone, be it the ledger.
        for taken in [name.as_str(), ".cal_memory.json"] {
            let before = env.read(taken);
            env.run(["ledger", "prove", &id, "--output", taken])
                .ended_with(2);
            assert_eq!(env.read(taken), before);
        }
        let alone = TestEnv::new();
        alone.write("p.tlog-proof", env.read(&name));
        let checked = alone
            .run(["ledger", "check-proof", "p.tlog-proof", "--json"])
            .success()
            .json();
        assert_eq!(checked["task_id"], id.as_str());
        assert_eq!(checked["key"], key.as_str());
        assert_eq!(checked["key_known"], false);
        alone
            .run(["ledger", "check-proof", "p.tlog-proof", "--key", &key])
            .success();
        let stranger = independent(&alone, "p.tlog-proof", Some(&key)).success();
        let checksum = checked["checksum"].as_str().unwrap();
        assert_eq!(stranger.stdout.trim_end(), format!("{id} {checksum}"));
    }
    env.run(["ledger", "prove", "cal_2026_01_02_0009"])
        .ended_with(1);
    env.run(["ledger", "prove", "not-an-id"]).ended_with(2);
}

/// CAL-GOV-5: a program reads the proof together with what checking it finds.
#[test]
fn the_json_of_a_proof_has_the_proof_and_its_check() {
    let env = with_entries(1);
    let task = "cal_2026_01_02_0001";
    let proved = env.run(["ledger", "prove", task, "--json"]);
    let proved = proved.success().json();
    assert_eq!(
        Schema::published("output-ledger-prove").fault(&proved),
        None
    );
    assert_eq!(proved["task_id"], task);
    assert_eq!(proved["key"], show_key(&env).as_str());
    env.write("p.tlog-proof", proved["proof"].as_str().unwrap());
    let checked = env.run(["ledger", "check-proof", "p.tlog-proof", "--json"]);
    assert_eq!(checked.success().json()["checksum"], proved["checksum"]);
}

/// CAL-GOV-5: a proof that was changed, or is another's, holds for nobody.
#[test]
fn a_false_proof_holds_for_nobody() {
    let env = with_entries(1);
    let proof = env
        .run(["ledger", "prove", "cal_2026_01_02_0001"])
        .success();
    let lines: Vec<&str> = proof.stdout.lines().collect();
    let other = with_entries(1);
    let other_key = show_key(&other);
    let with = |at: usize, line: &str| {
        let mut lines = lines.clone();
        lines[at] = line;
        lines.join("\n") + "\n"
    };
    let size = lines.iter().position(|line| line.is_empty()).unwrap() + 2;
    for wrong in [
        with(2, "index 1"),
        with(3, lines[4]),
        with(size, "99"),
        String::new(),
    ] {
        env.write("wrong.tlog-proof", wrong);
        env.run(["ledger", "check-proof", "wrong.tlog-proof"])
            .ended_with(1);
        independent(&env, "wrong.tlog-proof", None).ended_with(1);
    }
    env.write("right.tlog-proof", &proof.stdout);
    for key in [other_key, show_key(&env).replace("callosum", "calIosum")] {
        let check = ["ledger", "check-proof", "right.tlog-proof", "--key", &key];
        assert_ne!(env.run(check).code, 0);
        independent(&env, "right.tlog-proof", Some(&key)).ended_with(1);
    }
    independent(&env, "right.tlog-proof", None).success();
    env.run(["ledger", "check-proof", "nowhere"]).ended_with(2);
}

/// CAL-SUM-1: the one line of Python on the page of the ledger's format checks every checksum.
#[test]
fn the_pages_own_line_of_python_checks_the_ledger() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/formats/ledger.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, rest) = page.split_once("```sh\npython3 -c '").unwrap();
    let (line, _) = rest.split_once("'\n```").unwrap();
    let env = with_entries(2);
    let run = || {
        let python = env.program("python3".into());
        python.arguments(["-c", line]).run().success().stdout
    };
    assert_eq!(run(), "cal_2026_01_02_0001 ok\ncal_2026_01_02_0002 ok\n");
    let text = env.read(".cal_memory.json");
    env.write(".cal_memory.json", text.replacen("about 1", "about 7", 1));
    assert_eq!(run(), "cal_2026_01_02_0001 ok\ncal_2026_01_02_0002 WRONG\n");
}
