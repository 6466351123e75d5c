//! Projects that more than one user works in, and a clock that was wrong: what each is told, and that nobody is locked out.

use std::{
    fs,
    os::unix::{
        fs::{MetadataExt as _, chown},
        process::CommandExt as _,
    },
    path::Path,
};

use callosum_testkit::{Output, Run, TestEnv};
use serde_json::Value;

use crate::projects::two_languages;

/// Another user, of whom the system need not know.
const OTHER: u32 = 65_534;

/// Whether these tests may become another user.
fn is_root() -> bool {
    fs::metadata(TestEnv::new().folder()).unwrap().uid() == 0
}

/// Gives a folder and all in it to a user.
fn give(path: &Path, user: u32) {
    chown(path, Some(user), Some(user)).unwrap();
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            give(&entry.unwrap().path(), user);
        }
    }
}

/// The files below a folder that are not the user's.
fn not_of(path: &Path, user: u32) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        let stat = fs::symlink_metadata(&path).unwrap();
        if stat.uid() != user {
            found.push(path.display().to_string());
        }
        if stat.is_dir() {
            found.extend(not_of(&path, user));
        }
    }
    found
}

fn verified(run: &Run) -> Value {
    let output: Output = run.run();
    serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{}", output.stderr))
}

/// CAL-GOV-4: checkpoints that another user signed are that user's to keep; one's own are missed.
#[test]
fn checkpoints_of_another_user_are_no_fault() {
    let env = two_languages();
    let theirs = env.folder().join("their-machine");
    let as_them = |words: &[&str]| {
        let run = env.callosum().arguments(words);
        run.env("CALLOSUM_HOME", theirs.clone())
    };
    env.run(["delegate", "map"]).success();
    as_them(&["delegate", "map", "--no-cache"]).run().success();
    env.run(["delegate", "map", "--no-cache"]).success();
    let verify = ["ledger", "verify", "--json"];
    for run in [env.callosum().arguments(verify), as_them(&verify)] {
        let found = verified(&run);
        assert_eq!(found["sound"], true, "{found}");
        let notice = found["notices"][0].as_str().unwrap();
        assert!(notice.contains("by another user"), "{notice}");
        assert!(found["signed_records"].as_u64().unwrap() > 0, "{found}");
    }
    fs::remove_dir_all(env.machine_home().join("ledgers")).unwrap();
    let found = verified(&env.callosum().arguments(verify));
    assert_eq!(
        found["problems"][0]["fault"], "checkpoint missing",
        "{found}"
    );
    assert_eq!(verified(&as_them(&verify))["sound"], true);
}

/// CAL-SEC-1: a command as root leaves nothing that the project's owner cannot write.
#[test]
fn the_owner_goes_on_after_a_command_of_root() {
    if !is_root() {
        return;
    }
    let env = TestEnv::new();
    env.write("src/a.rs", "fn a() {}\n");
    let roots = tempfile::tempdir().unwrap();
    give(&env.folder(), OTHER);
    for words in [&["delegate", "map"][..], &["ledger", "rotate"]] {
        let run = env.callosum().arguments(words);
        run.env("CALLOSUM_HOME", roots.path()).run().success();
    }
    assert_eq!(not_of(&env.project(), OTHER), Vec::<String>::new());
    for words in [
        &["delegate", "map", "--no-cache"][..],
        &["ledger", "verify"],
    ] {
        let mut command = env.callosum().arguments(words).command();
        let output = command.uid(OTHER).gid(OTHER).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {stderr}");
    }
}

/// CAL-SEC-1: `doctor` names a file that the owner cannot write, whose it is, and the command that mends it.
#[test]
fn doctor_names_files_that_are_not_the_owners() {
    if !is_root() {
        return;
    }
    let env = TestEnv::new();
    env.write("src/a.rs", "fn a() {}\n");
    env.run(["delegate", "map"]).success();
    let owners = |env: &TestEnv| {
        let told = env.run(["doctor", "--json"]).json();
        let checks = told["checks"].as_array().unwrap().clone();
        checks.into_iter().find(|check| check["name"] == "owners")
    };
    assert_eq!(owners(&env), None);
    give(&env.project(), OTHER);
    assert_eq!(owners(&env), None);
    let day = env.project().join("cal_audit/2026-01-02.jsonl");
    chown(&day, Some(0), Some(0)).unwrap();
    let found = owners(&env).unwrap();
    assert_eq!(found["outcome"], "failed");
    let said = found["found"].as_str().unwrap();
    assert!(said.contains("2026-01-02.jsonl (user 0)"), "{said}");
    let hint = format!("sudo chown {OTHER}:{OTHER} {}", day.display());
    assert_eq!(found["hint"], hint);
    let shell = std::process::Command::new("sh")
        .args(["-c", hint.strip_prefix("sudo ").unwrap()])
        .status();
    assert!(shell.unwrap().success());
    assert_eq!(owners(&env), None);
}

/// CAL-GOV-1: a clock that was a week ahead is told by `status` and `verify`, and stops no delegation.
#[test]
fn a_clock_that_was_ahead_is_told_and_locks_no_one_out() {
    let env = two_languages();
    let ahead = env.callosum().arguments(["delegate", "map", "--json"]);
    let ahead = ahead.env("CALLOSUM_TEST_CLOCK", "2026-01-09T03:04:05Z");
    let acknowledged = ahead.run().success().json();
    env.run(["delegate", "map", "--no-cache"]).success();
    let told = env.run(["status", "--json"]).success().json();
    let attention = told["attention"].to_string();
    assert!(
        attention.contains("2026-01-09.jsonl") && attention.contains("7 days ahead"),
        "{attention}"
    );
    let found = verified(&env.callosum().arguments(["audit", "verify", "--json"]));
    assert_eq!(found["sound"], true, "{found}");
    assert!(
        found["notices"].to_string().contains("7 days ahead"),
        "{found}"
    );
    let id = acknowledged["task_id"].as_str().unwrap();
    env.run(["ledger", "show", id]).success();
    let skew = ["audit", "query", "--event", "clock_skew", "--json"];
    let skew = env.run(skew).success().json();
    assert_eq!(skew["records"].as_array().unwrap().len(), 1, "{skew}");
}

/// CAL-LED-1: a beginning of an id that only one has stands for it, in every verb that takes one.
#[test]
fn an_id_may_be_given_by_its_beginning() {
    let env = two_languages();
    env.run(["delegate", "map"]).success();
    for words in [
        &["ledger", "show", "cal_2026"][..],
        &["ledger", "show", "cal_2026", "--answer"],
        &["ledger", "prove", "cal_2026"],
        &["audit", "query", "--task", "cal_2026"],
        &["ledger", "diff", "cal_2026", "cal_2026_01_02_0001"],
        &["delegate", "again", "--link", "cal_2026", "--no-cache"],
    ] {
        let output = env.run(words).success();
        assert!(!output.stderr.contains("several ids"), "{words:?}");
    }
    for words in [
        &["ledger", "show", "cal_2026"][..],
        &["ledger", "prove", "cal_2026_01_02_000"],
        &["audit", "query", "--task", "cal_"],
        &["delegate", "more", "--link", "cal_2026"],
    ] {
        let refused = env.run(words).ended_with(2).stderr;
        for id in ["cal_2026_01_02_0001", "cal_2026_01_02_0002"] {
            assert!(refused.contains(id), "{words:?}: {refused}");
        }
    }
    env.run(["ledger", "show", "cal_2025"]).ended_with(1);
    let refused = env.run(["ledger", "show", "T-1"]).ended_with(2).stderr;
    assert!(refused.contains("is not a task id"), "{refused}");
    // Archives are looked through as well.
    env.run(["ledger", "rotate"]).success();
    let shown = env.run(["ledger", "show", "cal_2026_01_02_0002"]).success();
    assert!(shown.stdout.contains("archived"), "{}", shown.stdout);
    env.run(["ledger", "show", "cal_2026_01_02_0001"]).success();
    env.run(["ledger", "show", "cal_"]).ended_with(2);
}

/// REQ-SEC-001: in a folder that every user may write to, another user's notes are no one else's, and no ledger is laid
/// beside them.
#[test]
fn notes_of_another_user_in_a_shared_folder_are_not_told() {
    use std::os::unix::fs::PermissionsExt as _;

    if !is_root() {
        return;
    }
    let env = TestEnv::new();
    env.run(["init"]).success();
    let id = env.run(["bead", "create", "mallory's words"]).success();
    let id = id.stdout.trim().to_owned();
    for words in [["--status", "in_progress"], ["--next", "mallory's words"]] {
        env.run(["bead", "update", &id].into_iter().chain(words))
            .success();
    }
    env.run(["bead", "update", &id, "--current"]).success();
    // Only what a session keeps: of the rest of the project nothing is there.
    for entry in fs::read_dir(env.project()).unwrap() {
        let path = entry.unwrap().path();
        if path.ends_with("loa-grimoire") || path.ends_with(".beads") {
            continue;
        }
        if path.is_dir() {
            fs::remove_dir_all(path).unwrap();
        } else {
            fs::remove_file(path).unwrap();
        }
    }
    for folder in ["loa-grimoire", ".beads"] {
        give(&env.project().join(folder), OTHER);
    }
    let event = serde_json::json!({
        "hook_event_name": "SessionStart",
        "session_id": "one",
        "source": "startup",
        "cwd": env.project(),
    });
    let begin = || {
        let run = env
            .callosum()
            .arguments(["hook", "claude", "session-start"]);
        run.input(event.to_string()).run().success().stdout
    };
    assert!(begin().contains("Session notes"), "{}", begin());
    fs::set_permissions(env.project(), fs::Permissions::from_mode(0o1777)).unwrap();
    assert!(!begin().contains("mallory"), "{}", begin());
    let refused = env.run(["delegate", "map"]).ended_with(3);
    assert!(
        refused.stderr.contains("another user"),
        "{}",
        refused.stderr
    );
    assert!(!env.project().join(".cal_memory.json").exists());
    env.run(["-C", ".", "session", "status"]).success();
}
