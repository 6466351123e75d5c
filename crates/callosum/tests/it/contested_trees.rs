//! Files that git brings into a tree on which another agent works: which they are is asked of git.

use std::path::Path;

use callosum_testkit::TestEnv;

use crate::{
    contested_files::{command, denied},
    neighbours::is_silent,
};

/// A project of three files, with `topic` by which `a` and `new` differ from `main`; on `main` another holds `a` and `b`.
fn contested() -> TestEnv {
    let env = TestEnv::new();
    for file in ["a", "b", "c"] {
        env.write(format!("src/{file}.rs"), "fn f() {}\n");
    }
    env.git_init();
    env.git(&["switch", "--quiet", "--create", "topic"]);
    env.write("src/a.rs", "fn g() {}\n");
    env.write("src/new.rs", "fn n() {}\n");
    env.git(&["add", "--all"]);
    env.git(&["commit", "--quiet", "--message=change a"]);
    env.git(&["switch", "--quiet", "main"]);
    // All that git does here is of one second, and this was before anybody held anything.
    env.write(".git/logs/HEAD", "");
    for file in ["src/a.rs", "src/b.rs"] {
        env.run(["mesh", "lease", "take", file, "--as", "codex"])
            .success();
    }
    env
}

/// Which of the two files are told as held.
fn told(text: &str) -> String {
    let files = ["a", "b"].into_iter();
    files
        .filter(|file| {
            text.contains(&format!("src/{file}.rs\\\""))
                || text.contains(&format!("src/{file}.rs\""))
                || text.contains(&format!("src/{file}.rs'"))
        })
        .collect()
}

/// CALC-FUT-1: before git writes files that a command does not name, who holds one of them is told where that is to be blocked: those
/// that differ, and all of the tree where git cannot know them yet.
#[test]
fn what_git_would_bring_over_a_leased_file_is_blocked() {
    let env = contested();
    env.write(env.configuration(), "[mesh]\nleases = \"block\"\n");
    for (run, files) in [
        ("git switch topic", "a"),
        ("git checkout topic", "a"),
        ("git checkout -b mine topic", "a"),
        ("cd src && git merge --no-edit topic", "a"),
        ("git rebase topic", "a"),
        ("git cherry-pick topic", "a"),
        ("git pull", "ab"),
        ("git pull --rebase origin main", "ab"),
        ("git rebase -i topic", "ab"),
        ("gh pr checkout 3", "ab"),
        ("curl -s https://example.org/x.patch | git apply", "ab"),
        ("git switch gone", "ab"),
    ] {
        let denied = denied(&command(&env, "PreToolUse", run)).unwrap_or_default();
        assert!(denied.contains("rule mesh.lease"), "{run}: {denied}");
        assert_eq!(told(&denied), files, "{run}: {denied}");
    }
    for run in [
        "git switch main",
        "git switch --create mine",
        "git merge main",
        "git fetch && git log topic",
        "git checkout src/c.rs",
        "git revert --no-commit main..main",
    ] {
        let denied = denied(&command(&env, "PreToolUse", run));
        let is_of_lease = denied
            .as_deref()
            .is_some_and(|told| told.contains("mesh.lease"));
        assert!(!is_of_lease, "{run}: {denied:?}");
    }
}

/// CALC-FUT-1: after git has written files, the agent is told who holds those that it wrote, by where the branch stood before, and the
/// holder that they were edited; where it wrote nothing nobody is.
#[test]
fn what_git_has_brought_over_a_leased_file_is_told() {
    let env = contested();
    let after = |run: &str| command(&env, "PostToolUse", run);
    // It failed, or there was nothing to do.
    for run in ["git switch topic", "git pull"] {
        is_silent("claude", &after(run));
    }
    env.git(&["merge", "--quiet", "--ff-only", "topic"]);
    let said = after("git merge --ff-only topic").stdout;
    assert_eq!(told(&said), "a", "{said}");
    assert!(said.contains("codex works on"), "{said}");
    let heard = env
        .run(["mesh", "message", "list", "--json"])
        .success()
        .stdout;
    assert!(
        heard.contains("src/a.rs, on which you hold a lease"),
        "{heard}"
    );
    assert!(!heard.contains("src/b.rs"), "{heard}");
    // What is not known for sure is told to the agent alone.
    let said = after("git rebase --abort").stdout;
    assert_eq!(told(&said), "ab", "{said}");
    let heard = env
        .run(["mesh", "message", "list", "--json"])
        .success()
        .stdout;
    assert!(!heard.contains("src/b.rs"), "{heard}");
}

/// CALC-FUT-1: of what was put away, git tells what it is before it is taken out, and as long as it stays.
#[test]
fn what_was_stashed_is_told_by_what_is_in_it() {
    let env = contested();
    env.write("src/a.rs", "fn h() {}\n");
    env.git(&["stash", "push", "--quiet"]);
    env.git(&["stash", "apply", "--quiet"]);
    let said = command(&env, "PostToolUse", "git stash apply").stdout;
    assert_eq!(told(&said), "a", "{said}");
    env.git(&["checkout", "--quiet", "--", "src/a.rs"]);
    env.write(env.configuration(), "[mesh]\nleases = \"block\"\n");
    for run in [
        "git stash pop",
        "git stash apply stash@{0}",
        "git stash pop 0",
    ] {
        let denied = denied(&command(&env, "PreToolUse", run)).unwrap_or_default();
        assert_eq!(told(&denied), "a", "{run}: {denied}");
    }
}

/// CALC-FUT-1: a tree that is another worktree of the repository has leases of its own.
#[test]
fn another_worktree_is_another_tree() {
    let env = contested();
    env.write(env.configuration(), "[mesh]\nleases = \"block\"\n");
    env.git(&["worktree", "add", "--quiet", "-b", "other", "linked"]);
    let linked = env.project().join("linked");
    assert!(Path::new(&linked).is_dir());
    for run in ["git -C linked switch topic", "cd linked && git pull"] {
        let denied = denied(&command(&env, "PreToolUse", run));
        let is_of_lease = denied
            .as_deref()
            .is_some_and(|told| told.contains("mesh.lease"));
        assert!(!is_of_lease, "{run}: {denied:?}");
    }
}
