//! What the journals are told of each decision, and that it stands where none can be written.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::hook::{CLIENTS, command, decide, denied, machine_records, passes, records, repository};

/// CAKE-SHIM-1, CAL-ERR-7: where the project's journal cannot be written, the decision stands, and
/// what was decided waits for it.
#[test]
fn a_journal_that_cannot_be_written_loses_no_decision() {
    let env = repository();
    env.run(["init", "--ledger", "--sessions", "--share"])
        .success();
    let audit = env.project().join("cal_audit");
    let aside = env.folder().join("aside");
    std::fs::rename(&audit, &aside).unwrap();
    std::fs::write(&audit, "no folder").unwrap();
    for (client, _) in CLIENTS {
        let dangerous = command(&env, client, "git reset --hard");
        assert!(denied(client, &decide(&env, client, &dangerous)).is_some());
        passes(&decide(&env, client, &command(&env, client, "ls")));
    }
    std::fs::remove_file(&audit).unwrap();
    std::fs::rename(&aside, &audit).unwrap();
    env.run(["delegate", "map"]).success();
    let found = records(&env, audit);
    assert_eq!(found.len(), 2 * CLIENTS.len());
    env.run(["ledger", "verify"]).success();
}

/// CAKE-SHIM-1: each decision is a record of the project's journal, and the chain holds.
#[test]
fn decisions_are_records_of_the_projects_journal() {
    let env = repository();
    env.run(["init", "--ledger", "--sessions", "--share"])
        .success();
    decide(&env, "claude", &command(&env, "claude", "ls"));
    decide(&env, "claude", &command(&env, "claude", "git reset --hard"));
    env.run(["delegate", "map"]).success();
    let found = records(&env, env.project().join("cal_audit"));
    assert_eq!(found.len(), 2);
    assert_eq!(machine_records(&env), Vec::<Value>::new());
    let blocked = &found[1];
    assert_eq!(blocked["executor"], "claude");
    assert_eq!(blocked["status"], "blocked");
    let details = &blocked["details"];
    assert_eq!(details["command"], "git reset --hard");
    assert_eq!(details["decision"], "blocked");
    assert_eq!(details["user"], "claude");
    assert_eq!(details["session_id"], "s-1");
    assert_eq!(details["tool_use_id"], "call-1");
    let root = env.project().display().to_string();
    assert_eq!(details["facts"]["root"], root);
    assert_eq!(found[0]["status"], "allowed");
    env.run(["ledger", "verify"]).success();
}

/// CAKE-SHIM-1, CAL-SEC-1: a hook that holds everywhere litters no repository, and what it keeps is
/// for its user alone.
#[test]
fn outside_of_a_project_the_machines_journal_is_told() {
    let env = repository();
    let before = env.git(&["status", "--porcelain", "--ignored"]);
    decide(&env, "codex", &command(&env, "codex", "ls"));
    assert_eq!(env.git(&["status", "--porcelain", "--ignored"]), before);
    assert_eq!(machine_records(&env).len(), 1);
    let home = std::fs::metadata(env.machine_home()).unwrap();
    assert_eq!(home.permissions().mode() & 0o777, 0o700);
}

/// CAKE-SHIM-1: without a home, with a journal that cannot be written, in a folder that is gone, the
/// decision stands.
#[test]
fn the_decision_stands_without_a_home_and_without_a_journal() {
    let env = repository();
    let dangerous = command(&env, "codex", "git reset --hard").to_string();
    let hook = || {
        let hook = env.callosum().arguments(["hook", "codex", "pre-tool-use"]);
        hook.input(dangerous.as_bytes())
    };
    let homeless = hook().without("HOME").without("CALLOSUM_HOME");
    let nowhere = hook()
        .env("HOME", "/no/such/home")
        .env("CALLOSUM_HOME", "/dev/null/no");
    let senseless = hook()
        .env("CALLOSUM_HOME", "relative")
        .env("CAL_RETRY_MAX", "many");
    env.write(".calrc", "{ not json");
    for run in [homeless, nowhere, senseless] {
        let output = run.run();
        assert!(denied("codex", &output).is_some(), "{output:?}");
    }
}
