//! Citations of files that were moved: found again, and told apart from files that only look alike.

use callosum_testkit::TestEnv;

use crate::session::{project, trajectory};

const NOTE: &str = "src/a.rs moved to src/b.rs";

fn decide(env: &TestEnv) {
    env.run(["session", "decide", "Use one", "--cite", "src/a.rs:1"])
        .success();
}

fn rename(env: &TestEnv, from: &str, to: &str) {
    let path = |name: &str| env.project().join(name);
    std::fs::create_dir_all(path(to).parent().unwrap()).unwrap();
    std::fs::rename(path(from), path(to)).unwrap();
}

fn commit(env: &TestEnv) {
    env.git(&["add", "--all"]);
    env.git(&["commit", "--quiet", "--message=next"]);
}

/// Checks that the citation is found again once, and stays so.
fn follows(env: &TestEnv, note: &str, place: &str) {
    let checked = env.run(["session", "check"]).success().stdout;
    assert!(checked.contains(&format!("   {note}\n")), "{checked}");
    let notes = env.read("loa-grimoire/NOTES.md");
    let cited = format!("- `pub fn one() {{}}` [${{PROJECT_ROOT}}/{place}]\n");
    assert!(notes.contains(&cited), "{notes}");
    assert!(!notes.contains("`pub fn one() {}` [${PROJECT_ROOT}/src/a.rs:1]"));
    let again = env.run(["session", "check"]).success().stdout;
    assert!(!again.contains("moved to"), "{again}");
    let grounded = env.run(["session", "grounding"]).success().stdout;
    assert!(
        grounded.starts_with("total_claims=1\ngrounded_claims=1\n"),
        "{grounded}"
    );
}

/// LOA-GRD-1: git knows a rename that is staged, committed, or not yet told to it.
#[test]
fn a_citation_follows_a_file_that_git_knows() {
    let moved: [fn(&TestEnv); 5] = [
        |env| drop(env.git(&["mv", "src/a.rs", "src/b.rs"])),
        |env| {
            env.git(&["mv", "src/a.rs", "src/b.rs"]);
            commit(env);
        },
        |env| rename(env, "src/a.rs", "src/b.rs"),
        |env| {
            rename(env, "src/a.rs", "src/b.rs");
            env.git(&["add", "--all"]);
        },
        |env| {
            rename(env, "src/a.rs", "src/c.rs");
            commit(env);
            env.git(&["mv", "src/c.rs", "src/b.rs"]);
        },
    ];
    for (number, moved) in moved.into_iter().enumerate() {
        let env = project();
        // Without it, only git can know.
        decide(&env);
        env.git_init();
        std::fs::remove_file(env.project().join("loa-grimoire/.session/cited")).unwrap();
        moved(&env);
        println!("case {number}");
        follows(&env, NOTE, "src/b.rs:1");
    }
}

/// LOA-GRD-1: lines that were added in the same commit do not hide where the quote is now.
#[test]
fn a_citation_follows_a_renamed_file_that_was_edited() {
    let env = project();
    decide(&env);
    env.git_init();
    env.git(&["mv", "src/a.rs", "src/b.rs"]);
    let text = env.read("src/b.rs");
    env.write("src/b.rs", format!("use x;\n\n{text}"));
    commit(&env);
    follows(&env, NOTE, "src/b.rs:3");
}

/// LOA-GRD-1: without git, or before a file is known to it, the content tells where the file is.
#[test]
fn a_citation_follows_a_file_by_its_content() {
    let env = project();
    decide(&env);
    rename(&env, "src/a.rs", "lib/a.rs");
    follows(&env, "src/a.rs moved to lib/a.rs", "lib/a.rs:1");

    let env = project();
    std::fs::rename(
        env.project().join("src/a.rs"),
        env.project().join("kept.rs"),
    )
    .unwrap();
    env.git_init();
    rename(&env, "kept.rs", "src/a.rs");
    decide(&env);
    env.write("src/a.rs", "pub fn one() {}\npub fn edited() {}\n");
    env.run(["session", "check"]).success();
    rename(&env, "src/a.rs", "src/b.rs");
    follows(&env, NOTE, "src/b.rs:1");
}

/// LOA-GRD-1: a file that was deleted is missing, whatever else has the cited line; of two copies no one knows which it is.
#[test]
fn a_deleted_file_is_not_found_in_one_that_looks_alike() {
    let alike = "pub fn one() {}\npub fn other() {}\n\nstruct Four;\n";
    let gone = |env: &TestEnv| {
        let checked = env.run(["session", "check"]).ended_with(1).stdout;
        let missing = "${PROJECT_ROOT}/src/a.rs:1 MISSING_FILE";
        assert!(checked.contains(missing), "{checked}");
        assert!(!checked.contains("moved to"), "{checked}");
    };
    for has_git in [false, true] {
        let env = project();
        decide(&env);
        env.write("src/twin.rs", env.read("src/a.rs"));
        if has_git {
            env.git_init();
        }
        std::fs::remove_file(env.project().join("src/a.rs")).unwrap();
        env.write("src/b.rs", alike);
        if has_git {
            // The copy was committed beside it.
            gone(&env);
            commit(&env);
        } else {
            env.write("src/second.rs", env.read("src/twin.rs"));
        }
        gone(&env);
    }
}

/// LOA-GRD-1: evidence that is added does not take the place of a citation whose file was moved.
#[test]
fn adding_evidence_keeps_a_citation_of_a_moved_file() {
    let env = project();
    decide(&env);
    env.git_init();
    env.git(&["mv", "src/a.rs", "src/b.rs"]);
    let cite = ["session", "cite", "2026-01-02T03:04:05Z", "src/b.rs:2"];
    let cited = env.run(cite).success();
    assert!(cited.stderr.contains(NOTE), "{}", cited.stderr);
    assert!(
        !cited.stderr.contains("no longer relies on"),
        "{}",
        cited.stderr
    );
    let notes = env.read("loa-grimoire/NOTES.md");
    assert!(notes.contains("${PROJECT_ROOT}/src/b.rs:1]"), "{notes}");
    assert!(notes.contains("${PROJECT_ROOT}/src/b.rs:2]"), "{notes}");
    env.run(["session", "check"]).success();
}

/// LOA-GRD-1: what changed beside a moved file goes on lacking evidence, and what a person marked keeps the mark.
#[test]
fn following_a_move_proves_nothing_else() {
    let env = project();
    env.write("src/c.rs", "fn three_of_three() {}\n");
    let both = ["--cite", "src/a.rs:1", "--cite", "src/c.rs:1"];
    env.run([&["session", "decide", "Use one"][..], &both].concat())
        .success();
    env.git_init();
    env.git(&["mv", "src/a.rs", "src/b.rs"]);
    env.write("src/c.rs", "fn four() {}\n");
    let checked = env.run(["session", "check"]).ended_with(1).stdout;
    assert!(checked.contains(NOTE), "{checked}");
    let changed = "${PROJECT_ROOT}/src/c.rs:1 CHANGED";
    assert!(checked.contains(changed), "{checked}");
    assert!(!checked.contains("MISSING_FILE"), "{checked}");
    let records = env.read(trajectory());
    assert!(records.contains("src/c.rs"), "{records}");
}

/// LOA-CHK-1: the gate of a client, a hand-off and the end of a session follow moves as the check does.
#[test]
fn hooks_and_hand_offs_follow_a_moved_file() {
    const ENDED: &str = "{\"hook_event_name\":\"SessionEnd\",\"session_id\":\"s\"}";
    let ways: [fn(&TestEnv); 3] = [
        |env| drop(env.run(["hook", "claude", "pre-clear"]).success()),
        |env| drop(env.run(["session", "handoff"]).success()),
        |env| {
            let hook = env.callosum().arguments(["hook", "claude", "session-end"]);
            hook.input(ENDED).run().success();
        },
    ];
    for (number, way) in ways.into_iter().enumerate() {
        let env = project();
        decide(&env);
        env.git_init();
        env.git(&["mv", "src/a.rs", "src/b.rs"]);
        way(&env);
        println!("case {number}");
        let last = env.read(trajectory());
        assert!(last.contains("${PROJECT_ROOT}/src/b.rs"), "{last}");
        let is_over = last.contains("\"session_handoff\"");
        assert_eq!(is_over, number > 0, "{last}");
        env.run(["session", "check"]).success();
    }
}
