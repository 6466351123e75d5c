//! Sessions in linked git worktrees: of their own where the branch has files of theirs, else the main one's.

use std::path::{Path, PathBuf};

use callosum_testkit::{Output, TestEnv};

use crate::session::project;

/// A linked worktree of the project as it is committed, beside it.
pub(crate) fn link(env: &TestEnv) -> PathBuf {
    let linked = env.folder().join("linked");
    let name = linked.to_str().unwrap();
    env.git(&["worktree", "add", "--quiet", name, "-b", "other"]);
    linked
}

pub(crate) fn inside<const N: usize>(env: &TestEnv, folder: &Path, arguments: [&str; N]) -> Output {
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
    assert!(check.contains("1 of 1 decision has evidence"), "{check}");

    let by_hand = "### Decision Log\n#### 2026-01-02T05:00:00Z - By hand\n**Decision**: By hand\n";
    env.write(&notes, said.replacen("### Decision Log\n", by_hand, 1));
    let check = inside(&env, &linked, ["session", "check"]).ended_with(1);
    let check = check.stdout;
    assert!(check.contains(": By hand (no evidence)\n"), "{check}");
    inside(&env, &linked, ["hook", "claude", "pre-clear"]).ended_with(2);
    env.run(["hook", "claude", "pre-clear"]).success();

    std::fs::remove_file(&notes).unwrap();
    let healed = inside(&env, &linked, ["session", "heal"]).success().stdout;
    assert!(healed.contains("missing, repaired from git"), "{healed}");
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
    assert!(told.contains("Use one [quote found]"), "{told}");
    inside(
        &env,
        &linked,
        ["session", "decide", "Also here", "--source=assumption"],
    )
    .success();
    assert!(env.read("loa-grimoire/NOTES.md").contains("- Also here"));
    assert!(!linked.join("loa-grimoire").exists());
}

/// LOA-ZONE-1, LOA-HEAL-1: a linked worktree that has lost all files of sessions that its branch has goes on with its own, as git
/// has them, and never with those of the main one; whoever asks first heals them.
#[test]
fn a_linked_worktree_that_lost_its_files_of_sessions_heals_them() {
    let env = project();
    env.run(["bead", "create", "Work", "--id", "bd-1"])
        .success();
    env.run(["session", "decide", "Unproven"]).success();
    env.write(".loa.config.yaml", "grounding_enforcement: strict\n");
    env.git_init();
    let linked = link(&env);
    env.run(["session", "cite", &first_time(&env), "src/a.rs:1"])
        .success();
    env.run(["session", "check"]).success();
    let lose = || {
        for name in ["loa-grimoire", ".beads", ".loa.config.yaml"] {
            let path = linked.join(name);
            if path.is_dir() {
                std::fs::remove_dir_all(path).unwrap();
            } else if path.exists() {
                std::fs::remove_file(path).unwrap();
            }
        }
    };
    lose();
    let status = inside(&env, &linked, ["session", "status"])
        .success()
        .stdout;
    assert!(
        status.contains("are missing from the working tree: callosum session heal\n"),
        "{status}"
    );
    let healed = inside(&env, &linked, ["session", "heal"]).success().stdout;
    assert!(
        healed.contains(".loa.config.yaml: missing, repaired from git"),
        "{healed}"
    );
    let settings = linked.join(".loa.config.yaml");
    assert_eq!(env.read(&settings), "grounding_enforcement: strict\n");
    std::fs::remove_file(&settings).unwrap();
    assert_eq!(
        inside(&env, &linked, ["session", "heal"]).success().stdout,
        ""
    );
    assert!(
        healed.contains("NOTES.md: missing, repaired from git"),
        "{healed}"
    );
    assert!(
        env.read(linked.join("loa-grimoire/NOTES.md"))
            .contains("- Unproven\n")
    );
    lose();
    let check = inside(&env, &linked, ["session", "check"]).ended_with(1);
    assert!(
        check.stdout.contains(": Unproven (no evidence)\n"),
        "{}",
        check.stdout
    );
    assert!(
        check.stderr.contains("repaired from git"),
        "{}",
        check.stderr
    );
    lose();
    inside(&env, &linked, ["hook", "claude", "pre-clear"]).ended_with(2);
    lose();
    inside(
        &env,
        &linked,
        ["session", "decide", "Also here", "--source=assumption"],
    )
    .success();
    let notes = env.read(linked.join("loa-grimoire/NOTES.md"));
    assert!(
        notes.contains("- Unproven\n") && notes.contains("- Also here\n"),
        "{notes}"
    );
    assert!(!env.read("loa-grimoire/NOTES.md").contains("Also here"));
    lose();
    let branch = linked.to_str().unwrap();
    env.run([
        "session",
        "handoff",
        "--repo",
        branch,
        "--reason",
        "go on there",
    ])
    .success();
    assert!(
        env.read(linked.join("loa-grimoire/NOTES.md"))
            .contains("- Unproven\n")
    );
}

fn first_time(env: &TestEnv) -> String {
    let notes = env.read("loa-grimoire/NOTES.md");
    let heading = notes.lines().find_map(|line| line.strip_prefix("#### "));
    heading.unwrap().split(' ').next().unwrap().to_owned()
}

/// LOA-HOOK-1, LOA-ZONE-1: the hooks of a client that goes on naming the tree it was started in ask the one that it works in, and
/// the main one where the branch has no sessions.
#[test]
fn hooks_ask_the_worktree_that_a_client_works_in() {
    let env = project();
    env.run(["session", "decide", "Use one", "--cite", "src/a.rs:1"])
        .success();
    env.git_init();
    let linked = link(&env);
    inside(&env, &linked, ["session", "decide", "Branch off"]).success();
    let hook = |folder: &Path, word: &str, cwd: &Path| {
        let run = env
            .callosum()
            .in_folder(folder)
            .env("CLAUDE_PROJECT_DIR", env.project());
        let event = serde_json::json!({
            "session_id": "s1", "transcript_path": "/nowhere", "cwd": cwd, "hook_event_name": "SessionStart",
            "source": "startup",
        });
        run.arguments(["hook", "claude", word])
            .input(event.to_string())
            .run()
    };
    let main = env.project().clone();
    hook(&linked, "pre-clear", &linked).ended_with(2);
    hook(&main, "pre-clear", &main).success();
    hook(&main, "pre-clear", &linked).ended_with(2);
    hook(&linked, "pre-clear", &main).success();
    let told = hook(&main, "session-start", &linked).success().stdout;
    assert!(told.contains("Branch off (no evidence)"), "{told}");
    let told = hook(&main, "session-start", &main).success().stdout;
    assert!(
        told.contains("Use one (src/a.rs:1) [quote found]") && !told.contains("Branch off"),
        "{told}"
    );
    let none = env.folder().join("none");
    let name = none.to_str().unwrap();
    env.git(&["rm", "--quiet", "--cached", "-r", "loa-grimoire"]);
    env.git(&["commit", "--quiet", "--message=no sessions"]);
    env.git(&["worktree", "add", "--quiet", name, "-b", "none"]);
    let told = hook(&none, "session-start", &none).success().stdout;
    assert!(
        told.contains("Use one (src/a.rs:1) [quote found]"),
        "{told}"
    );
}

/// LOA-HEAL-1: a checkout of a project without beads has nothing to heal, since git keeps no empty folder.
#[test]
fn a_checkout_without_a_folder_of_beads_has_nothing_to_heal() {
    let env = project();
    env.run(["session", "decide", "Use one", "--cite", "src/a.rs:1"])
        .success();
    env.git_init();
    let linked = link(&env);
    assert_eq!(
        inside(&env, &linked, ["session", "heal"]).success().stdout,
        ""
    );
    assert!(linked.join(".beads").is_dir());
}

/// LOA-CHK-1: a check that says what the last one said writes nothing, so that what git has stashed comes back over it.
#[test]
fn a_check_that_says_nothing_new_leaves_committed_files_as_they_are() {
    let env = project();
    env.run(["session", "decide", "Use one", "--cite", "src/a.rs:1"])
        .success();
    env.run(["session", "check"]).success();
    env.git_init();
    env.run(["session", "decide", "Retry"]).success();
    env.git(&["stash", "--quiet"]);
    env.run(["session", "check"]).success();
    env.run(["hook", "claude", "pre-clear"]).success();
    assert_eq!(env.git(&["status", "--porcelain"]), "");
    env.git(&["stash", "pop", "--quiet"]);
    let check = env.run(["session", "check"]).ended_with(1).stdout;
    assert!(check.contains(": Retry (no evidence)\n"), "{check}");
}

/// LOA-FUT-1: a hand-off reaches a linked worktree that has sessions of its own, and never the project itself.
#[test]
fn a_hand_off_reaches_a_linked_worktree_with_sessions_of_its_own() {
    let env = project();
    env.run(["session", "decide", "Use one", "--cite", "src/a.rs:1"])
        .success();
    env.git_init();
    let linked = link(&env);
    let branch = linked.to_str().unwrap();
    let words = "go on with the branch";
    env.run(["session", "handoff", "--repo", branch, "--reason", words])
        .success();
    let files = std::fs::read_dir(linked.join("loa-grimoire/a2a/trajectory")).unwrap();
    let told: String = files.map(|file| env.read(file.unwrap().path())).collect();
    assert!(
        told.contains("\"handoff_received\"") && told.contains(words),
        "{told}"
    );
    let own = env.project().to_str().unwrap().to_owned();
    let refused = env.run(["session", "handoff", "--force", "--repo", &own]);
    assert!(
        refused
            .ended_with(2)
            .stderr
            .contains("is this project itself")
    );
}
