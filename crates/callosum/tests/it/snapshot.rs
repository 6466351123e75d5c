//! `snapshot`: the tree is kept, shown, brought back and let go.

use callosum_testkit::{Run, TestEnv};
use serde_json::Value;

fn repository() -> TestEnv {
    let env = TestEnv::new();
    env.write("src/lib.rs", "pub fn one() -> u8 { 1 }\n");
    env.write(".gitignore", "target/\n");
    env.git_init();
    env.write("target/out", "built");
    env
}

fn snapshot(env: &TestEnv, arguments: &[&str]) -> Run {
    // Ids that count up would be the same in each process.
    let run = env.callosum().without("CALLOSUM_TEST_IDS");
    run.arguments(["snapshot"]).arguments(arguments)
}

fn create(env: &TestEnv, label: &str) -> Value {
    let created = snapshot(env, &["create", label, "--json"]).run();
    created.success().json()
}

/// CAKE-SNAP-1: a file that was thrown away comes back, and bringing it back can be undone.
#[test]
fn work_that_was_thrown_away_comes_back() {
    let env = repository();
    env.write("src/lib.rs", "pub fn two() -> u8 { 2 }\n");
    let created = create(&env, "before reset");
    let id = created["snapshot_id"].as_str().unwrap();
    assert_eq!(created["dirty_files"], serde_json::json!(["src/lib.rs"]));
    assert_eq!(
        created["not_covered"]["ignored"],
        serde_json::json!(["target/"])
    );
    env.git(&["reset", "--quiet", "--hard"]);
    let status = env.git(&["status", "--porcelain"]);
    let shown = snapshot(&env, &["diff", &id[..8]]).run().success();
    assert_eq!(shown.stdout, "rewrite  src/lib.rs\n");
    let patch = snapshot(&env, &["diff", id, "--patch"]).run().success();
    assert!(patch.stdout.contains("+pub fn two()"), "{}", patch.stdout);
    assert_eq!(env.git(&["status", "--porcelain"]), status);
    // Nobody can be asked.
    let unasked = snapshot(&env, &["restore", id]).run().ended_with(2);
    assert!(unasked.stdout.contains("rewrite"), "{}", unasked.stdout);
    assert!(env.read("src/lib.rs").contains("one"));
    let restored = snapshot(&env, &["restore", id, "--yes", "--json"]).run();
    let restored = restored.success().json();
    assert!(env.read("src/lib.rs").contains("two"));
    let before = restored["before"].as_str().unwrap();
    snapshot(&env, &["restore", before, "--yes"])
        .run()
        .success();
    assert!(env.read("src/lib.rs").contains("one"));
}

#[test]
fn snapshots_are_listed_and_let_go() {
    let env = repository();
    let none = snapshot(&env, &["list", "--json"]).run().success().json();
    assert_eq!(none["snapshots"], serde_json::json!([]));
    create(&env, "one");
    create(&env, "two");
    let kept = ["create", "kept", "--checkpoint"];
    let said = snapshot(&env, &kept).run().success();
    assert_eq!(said.stdout.trim().len(), 36);
    assert!(
        said.stderr.contains("not in it: 1 ignored path (target/)"),
        "{}",
        said.stderr
    );
    let listed = snapshot(&env, &["list", "--limit", "2", "--json"]).run();
    assert_eq!(
        listed.success().json()["snapshots"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    let clean = ["clean", "--max-bytes", "0", "--json"];
    let cleaned = snapshot(&env, &clean).run().success().json();
    assert_eq!(cleaned["removed"].as_array().unwrap().len(), 2);
    let left = snapshot(&env, &["list"]).run().success();
    assert!(left.stdout.contains("kept"), "{}", left.stdout);
    snapshot(&env, &["diff", "nothing"]).run().ended_with(2);
}
