//! Sessions in linked git worktrees: of their own where the branch has files of theirs, else the main one's.

use std::path::{Path, PathBuf};

use callosum_testkit::{Output, TestEnv};

use crate::session::project;

/// A linked worktree of the project as it is committed, beside it.
fn link(env: &TestEnv) -> PathBuf {
    let linked = env.folder().join("linked");
    let name = linked.to_str().unwrap();
    env.git(&["worktree", "add", "--quiet", name, "-b", "other"]);
    linked
}

fn inside<const N: usize>(env: &TestEnv, folder: &Path, arguments: [&str; N]) -> Output {
    let run = env.callosum().in_folder(folder);
    run.arguments(arguments).run()
}

/// LOA-ZONE-1, LOA-GRD-1: what is decided and shown in a linked worktree neither blocks the main one nor stands in its
/// notes, and what a person writes into the worktree's notes counts there, and there alone.
#[test]
fn a_linked_worktree_with_notes_of_its_own_has_sessions_of_its_own() {
    let env = project();
    env.run(["session", "decide", "Use one", "--cite", "src/a.rs:1"])
        .success();
    env.git_init();
    let linked = link(&env);
    env.write(linked.join("src/b.rs"), "pub fn of_the_branch() {}\n");
    let arguments = ["session", "decide", "Branch off", "--cite", "src/b.rs:1"];
    inside(&env, &linked, arguments).success();
    let notes = linked.join("loa-grimoire/NOTES.md");
    let said = env.read(&notes);
    assert!(said.contains("- Use one\n") && said.contains("- Branch off\n"));
    assert!(!env.read("loa-grimoire/NOTES.md").contains("Branch off"));
    inside(&env, &linked, ["session", "check"]).success();
    let check = env.run(["session", "check"]).success().stdout;
    assert!(check.contains("1 of 1 decisions have evidence"), "{check}");

    let by_hand = "### Decision Log\n#### 2026-01-02T05:00:00Z - By hand\n**Decision**: By hand\n";
    env.write(&notes, said.replacen("### Decision Log\n", by_hand, 1));
    let check = inside(&env, &linked, ["session", "check"]).ended_with(1);
    let check = check.stdout;
    assert!(check.contains(": By hand (no evidence)\n"), "{check}");
    inside(&env, &linked, ["hook", "claude", "pre-clear"]).ended_with(2);
    env.run(["hook", "claude", "pre-clear"]).success();

    std::fs::remove_file(&notes).unwrap();
    let healed = inside(&env, &linked, ["session", "heal"]).success().stdout;
    assert!(healed.contains("missing, healed from git"), "{healed}");
    assert!(env.read(&notes).contains("- Branch off\n"));
}

/// LOA-ZONE-1: a linked worktree whose branch has no files of sessions goes on with those of the main one.
#[test]
fn a_linked_worktree_without_files_of_sessions_shares_those_of_the_main_one() {
    let env = project();
    env.git_init();
    let linked = link(&env);
    env.run(["session", "decide", "Use one", "--cite", "src/a.rs:1"])
        .success();
    let told = inside(&env, &linked, ["session", "recover"])
        .success()
        .stdout;
    assert!(told.contains("Use one [verified]"), "{told}");
    inside(
        &env,
        &linked,
        ["session", "decide", "Also here", "--assume"],
    )
    .success();
    assert!(env.read("loa-grimoire/NOTES.md").contains("- Also here"));
    assert!(!linked.join("loa-grimoire").exists());
}
