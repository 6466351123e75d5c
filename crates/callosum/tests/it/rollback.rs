//! `callosum session rollback`: notes, beads and trajectories as they were at a time, and back again.

use callosum_testkit::TestEnv;

use crate::session::project;

/// Runs a command at a time of the day.
fn at(env: &TestEnv, time: &str, arguments: &[&str]) -> callosum_testkit::Run {
    let clock = format!("2026-01-02T{time}Z");
    env.callosum()
        .arguments(arguments)
        .env("CALLOSUM_TEST_CLOCK", &clock)
}

/// Commits all, at a time of the day.
fn commit(env: &TestEnv, time: &str) {
    let when = format!("2026-01-02T{time}Z");
    env.git(&["add", "-A"]);
    let run = env.program("git".into());
    let run = run.arguments([
        "-c",
        "user.name=A",
        "-c",
        "user.email=a@example.com",
        "commit",
        "-qm",
        "Save",
    ]);
    run.env("GIT_COMMITTER_DATE", &when)
        .env("GIT_AUTHOR_DATE", &when)
        .run()
        .success();
}

/// LOA-FUT-1: a rollback is shown first, asks, takes out what came later, survives the next session's healing though the later
/// state is committed, and is undone.
#[test]
fn a_rollback_is_shown_done_kept_by_healing_and_undone() {
    let env = project();
    env.git_init();
    at(&env, "01:00:00", &["session", "decide", "Use one pool"])
        .run()
        .success();
    let early = env.read("loa-grimoire/NOTES.md");
    at(&env, "01:10:00", &["session", "decide", "Retry twice"])
        .run()
        .success();
    let create = ["bead", "create", "Rewrite", "--id", "bd-1"];
    at(&env, "01:11:00", &create).run().success();
    commit(&env, "01:12:00");
    let late = env.read("loa-grimoire/NOTES.md");
    let back = ["session", "rollback", "2026-01-02T01:05:00Z"];
    let shown = at(&env, "01:20:00", &back).run().ended_with(2);
    assert!(
        shown
            .stdout
            .contains("  - 2026-01-02T01:10:00Z Retry twice\n"),
        "{}",
        shown.stdout
    );
    assert!(
        shown.stderr.contains("no terminal to confirm on"),
        "{}",
        shown.stderr
    );
    assert_eq!(env.read("loa-grimoire/NOTES.md"), late);
    let back = [&back[..], &["--yes", "--json"]].concat();
    let done = at(&env, "01:20:00", &back).run().success().json();
    assert_eq!(done["applied"], true);
    assert_eq!(done["unknown"].as_array().unwrap().len(), 0, "{done}");
    assert_eq!(env.read("loa-grimoire/NOTES.md"), early);
    assert!(!env.project().join(".beads/bd-1.yaml").exists());
    let healed = at(&env, "01:21:00", &["session", "heal"]).run().success();
    assert_eq!(healed.stdout, "");
    assert_eq!(env.read("loa-grimoire/NOTES.md"), early);
    at(&env, "01:22:00", &["session", "decide", "Retry once"])
        .run()
        .success();
    let undo = ["session", "rollback", "--undo", "--yes"];
    at(&env, "01:23:00", &undo).run().success();
    let notes = env.read("loa-grimoire/NOTES.md");
    for words in ["Use one pool", "Retry twice", "Retry once"] {
        assert!(notes.contains(words), "{words} is not in:\n{notes}");
    }
    assert!(env.project().join(".beads/bd-1.yaml").exists());
    at(&env, "01:24:00", &undo).run().ended_with(1);
}

/// LOA-FUT-1: without a kept version, an earlier state comes from the commit of its time.
#[test]
fn an_earlier_state_comes_from_git() {
    let env = project();
    env.git_init();
    at(&env, "01:00:00", &["session", "decide", "Use one pool"])
        .run()
        .success();
    commit(&env, "01:01:00");
    let early = env.read("loa-grimoire/NOTES.md");
    at(&env, "01:10:00", &["session", "decide", "Retry twice"])
        .run()
        .success();
    commit(&env, "01:11:00");
    std::fs::remove_dir_all(env.project().join("loa-grimoire/.session/versions")).unwrap();
    let back = ["session", "rollback", "2026-01-02T01:05:00Z", "--yes"];
    let done = at(&env, "01:20:00", &back).run().success();
    assert!(done.stdout.contains("from git "), "{}", done.stdout);
    assert_eq!(env.read("loa-grimoire/NOTES.md"), early);
}

/// LOA-FUT-1: a time in the future is refused, and so is a time that is none.
#[test]
fn a_time_that_cannot_be_gone_back_to_is_refused() {
    let env = project();
    let refused = at(
        &env,
        "01:00:00",
        &["session", "rollback", "2030-01-01", "--yes"],
    )
    .run();
    let refused = refused.ended_with(2);
    assert!(
        refused.stderr.contains("is in the future"),
        "{}",
        refused.stderr
    );
    let refused = at(&env, "01:00:00", &["session", "rollback", "yesterday"])
        .run()
        .ended_with(2);
    assert!(
        refused.stderr.contains("allowed: a date"),
        "{}",
        refused.stderr
    );
}
