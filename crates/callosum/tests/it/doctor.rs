//! `doctor` and `status`: what is wrong is named, with how to mend it.

use callosum_testkit::{Output, TestEnv};
use serde_json::Value;

use crate::{faults::SmallDisk, projects::two_languages};

/// The check of this name, as `doctor --json` has it.
fn check(doctor: &Output, name: &str) -> Value {
    let json = doctor.json();
    let checks = json["checks"].as_array().unwrap();
    let found = checks.iter().find(|check| check["name"] == name);
    found
        .unwrap_or_else(|| panic!("no `{name}` in {json}"))
        .clone()
}

/// REQ-DEP-001, REQ-DEP-002, REQ-DEP-003, REQ-DEP-004, REQ-DEP-005, CAL-CFG-2: each requirement of
/// an installation is a line of the doctor's.
#[test]
fn a_healthy_machine_meets_every_requirement() {
    let env = two_languages();
    let fresh = env.run(["doctor", "--json"]).success();
    let folders = check(&fresh, "project files");
    assert!(
        folders["found"].as_str().unwrap().contains("cal_audit"),
        "{folders}"
    );
    assert!(
        folders["hint"].as_str().unwrap().contains("callosum init"),
        "{folders}"
    );
    env.run(["init", "--all", "--share"]).success();
    let doctor = env.run(["doctor", "--json"]).success();
    for name in [
        "python",
        "writing",
        "project files",
        "ledger",
        "executor scout",
    ] {
        let check = check(&doctor, name);
        assert_eq!(check["outcome"], "ok", "{check}");
    }
    assert!(
        check(&doctor, "python")["found"]
            .as_str()
            .unwrap()
            .contains("not needed")
    );
    assert!(
        check(&doctor, "disk space")["found"]
            .as_str()
            .unwrap()
            .contains("MB free")
    );
}

/// CAL-CFG-2: what another machine signed of a journal is no fault; what this one signed elsewhere is told with what to do.
#[test]
fn a_clone_and_a_moved_project_are_told_apart() {
    let env = two_languages();
    env.run(["delegate", "map"]).success();
    let elsewhere = env.folder().join("another-machine");
    let doctor = env.callosum().arguments(["doctor", "--json"]);
    let doctor = doctor.env("CALLOSUM_HOME", elsewhere).run();
    let ledger = check(&doctor, "ledger");
    let found = ledger["found"].as_str().unwrap();
    assert_eq!(ledger["outcome"], "ok", "{found}");
    assert!(
        found.contains("signed by another user or on another machine"),
        "{found}"
    );
    let moved = env.folder().join("moved");
    std::fs::rename(env.project(), &moved).unwrap();
    let doctor = env.callosum().arguments(["doctor", "--json"]);
    let doctor = doctor.in_folder(&moved).run().ended_with(1);
    std::fs::rename(&moved, env.project()).unwrap();
    let ledger = check(&doctor, "ledger");
    let found = ledger["found"].as_str().unwrap();
    assert!(
        found.contains("as after cloning or moving the project"),
        "{found}"
    );
    let hint = ledger["hint"].as_str().unwrap();
    assert!(
        hint.ends_with("; callosum audit checkpoint --reset"),
        "{hint}"
    );
    // What was damaged is no clone.
    let journal = std::fs::read_dir(env.project().join("cal_audit")).unwrap();
    let day = journal.map(|entry| entry.unwrap().path());
    let day = day.filter(|path| path.extension().is_some_and(|it| it == "jsonl"));
    let day = day.last().unwrap();
    let text = std::fs::read_to_string(&day).unwrap();
    std::fs::write(&day, text.replacen("scout", "sc0ut", 1)).unwrap();
    let doctor = env.run(["doctor", "--json"]).ended_with(1);
    let found = check(&doctor, "ledger").to_string();
    assert!(!found.contains("cloning"), "{found}");
}

/// CAKE-ADP-1: agents that run commands in a login shell are to find the program there.
#[test]
fn a_login_shell_that_does_not_find_the_program_is_told_of() {
    let env = two_languages();
    std::fs::copy("/bin/true", env.programs().join("codex")).unwrap();
    env.write(env.home().join(".profile"), "echo hello\n");
    let shell = check(&env.run(["doctor", "--json"]), "login shell");
    assert_eq!(shell["outcome"], "warning", "{shell}");
    let hint = shell["hint"].as_str().unwrap();
    assert!(hint.ends_with(":$PATH\"' >> ~/.profile"), "{hint}");
    std::fs::copy("/bin/true", env.programs().join("callosum")).unwrap();
    let profile = format!(
        "echo hello\nexport PATH=\"{}:$PATH\"\n",
        env.programs().display()
    );
    env.write(env.home().join(".profile"), profile);
    let shell = check(&env.run(["doctor", "--json"]), "login shell");
    assert_eq!(shell["outcome"], "ok", "{shell}");
}

/// REQ-DEP-003, REQ-DEP-004: less room than recommended, and a folder that cannot be written, are
/// named with what to do.
#[test]
fn a_small_and_a_read_only_disk_are_named() {
    let disk = SmallDisk::with_a_project();
    disk.run(&["delegate", "map"]).success();
    let room = check(&disk.run(&["doctor", "--json"]).success(), "disk space");
    assert_eq!(room["outcome"], "warning", "{room}");
    assert!(
        room["hint"].as_str().unwrap().starts_with("df -h "),
        "{room}"
    );
    disk.make_read_only();
    let writing = check(&disk.run(&["doctor", "--json"]).ended_with(1), "writing");
    assert_eq!(writing["outcome"], "failed", "{writing}");
    assert!(
        writing["found"].as_str().unwrap().contains("ead-only"),
        "{writing}"
    );
    assert!(writing["hint"].is_string(), "{writing}");
}

/// REQ-DEP-003, CALC-FAIL-1: a full disk is named, also where only the machine's home is on it.
#[test]
fn a_full_disk_of_the_machine_home_is_named() {
    let disk = SmallDisk::with_a_machine_home();
    let env = disk.env();
    env.run(["mesh", "task", "list"]).success();
    assert!(std::fs::write(env.machine_home().join("rest"), vec![0; 1024 * 1024]).is_err());
    let doctor = env.run(["doctor", "--json"]);
    let room = check(&doctor, "machine home, disk space");
    assert_eq!(room["outcome"], "warning", "{room}");
    assert_eq!(room["found"], "less than 1 MB free", "{room}");
    assert!(
        room["hint"].as_str().unwrap().starts_with("df -h "),
        "{room}"
    );
    assert_eq!(check(&doctor, "disk space")["outcome"], "ok", "{doctor:?}");
}

/// REQ-DEP-003, CALC-FAIL-1: a machine home that cannot be written is told as that. What needs it to be tried is not said to fail.
#[test]
fn a_machine_home_that_cannot_be_written_is_the_one_fault() {
    let disk = SmallDisk::with_a_machine_home();
    let env = disk.env();
    env.run(["init", "--all", "--share", "--client", "claude"])
        .success();
    disk.make_read_only();
    let doctor = env.run(["doctor", "--json"]).ended_with(1);
    let home = check(&doctor, "machine home");
    assert_eq!(home["outcome"], "failed", "{home}");
    assert!(
        home["found"].as_str().unwrap().contains("ead-only"),
        "{home}"
    );
    for name in ["guard of claude", "tools of claude", "sessions of claude"] {
        let tried = check(&doctor, name);
        assert_eq!(tried["outcome"], "warning", "{tried}");
        assert!(
            tried["found"].as_str().unwrap().starts_with("not tested: "),
            "{tried}"
        );
    }
}

/// CAL-SEC-1: what holds executors here is said, and where something is missing also what helps.
#[test]
fn what_confines_executors_here_is_said() {
    let env = TestEnv::new();
    let report = env.run(["doctor", "--json"]).success();
    let confinement = check(&report, "confinement");
    let found = confinement["found"].as_str().unwrap();
    match confinement["outcome"].as_str().unwrap() {
        "ok" => assert!(found.contains("namespaces"), "{confinement}"),
        _ => assert!(found.starts_with("lacks "), "{confinement}"),
    }
}

/// CAL-SCH-1: why a newer ledger is read and not written.
#[test]
fn a_newer_ledger_is_explained() {
    let env = two_languages();
    env.run(["delegate", "map"]).success();
    let newer = env
        .read(".cal_memory.json")
        .replacen("\"1.2\"", "\"1.9\"", 1);
    env.write(".cal_memory.json", &newer);
    let ledger = check(&env.run(["doctor", "--json"]).ended_with(1), "ledger");
    let found = ledger["found"].as_str().unwrap();
    assert!(found.contains("1.9") && found.contains("1.2"), "{found}");
    assert!(found.contains("Use the newer callosum"), "{found}");
    assert_eq!(ledger["hint"], "callosum ledger query", "{ledger}");
    assert_eq!(env.read(".cal_memory.json"), newer);
}

/// Where the ledger's file is gone and cannot be rebuilt at once, nobody says that there never was
/// one.
#[test]
fn a_ledger_that_is_gone_is_not_a_ledger_that_never_was() {
    let disk = SmallDisk::with_a_project();
    disk.run(&["delegate", "map"]).success();
    std::fs::remove_file(disk.path(".cal_memory.json")).unwrap();
    disk.make_read_only();
    let status = disk.run(&["status", "--json"]).success().json();
    let attention = status["attention"].to_string();
    assert!(
        attention.contains("missing") && attention.contains("callosum init"),
        "{status}"
    );
    assert_eq!(status["initialized"], true, "{status}");
    let ledger = check(&disk.run(&["doctor", "--json"]).ended_with(1), "ledger");
    assert_eq!(ledger["hint"], "callosum init", "{ledger}");
}
