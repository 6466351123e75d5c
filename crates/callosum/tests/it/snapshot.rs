//! `snapshot`: the tree is kept, shown, brought back and let go.

use callosum_testkit::{Run, Schema, TestEnv};
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
        created["snapshot_missing"]["ignored"],
        serde_json::json!(["target/"])
    );
    env.git(&["reset", "--quiet", "--hard"]);
    let status = env.git(&["status", "--porcelain"]);
    let shown = snapshot(&env, &["diff", &id[..8]]).run().success();
    assert_eq!(shown.stdout, "rewrite  src/lib.rs\n");
    let patch = snapshot(&env, &["diff", id, "--patch"]).run().success();
    assert!(patch.stdout.contains("+pub fn two()"), "{}", patch.stdout);
    let json = snapshot(&env, &["diff", id, "--patch", "--json"]).run();
    let json = json.success().json();
    assert_eq!(json["patch"], patch.stdout.as_str());
    assert_eq!(json["changes"][0]["path"], "src/lib.rs");
    assert_eq!(
        Schema::published("output-snapshot-restore").fault(&json),
        None
    );
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

/// CAKE-SNAP-1: undoing leaves nothing behind that going back has made, and nothing goes that was
/// there before.
#[test]
fn undoing_leaves_the_tree_as_it_was() {
    let env = repository();
    env.write("new/one.rs", "1\n");
    let id = create(&env, "before")["snapshot_id"].clone();
    let id = id.as_str().unwrap();
    std::fs::remove_dir_all(env.project().join("new")).unwrap();
    env.write("since.txt", "since\n");
    let status = env.git(&["status", "--porcelain"]);
    let patch = snapshot(&env, &["diff", id, "--patch"]).run().success();
    assert!(!patch.stdout.contains("since"), "{}", patch.stdout);
    let restored = snapshot(&env, &["restore", id, "--yes", "--json"]).run();
    let before = restored.success().json()["before"].clone();
    assert_eq!(env.read("new/one.rs"), "1\n");
    let shown = snapshot(&env, &["diff", before.as_str().unwrap()]).run();
    assert_eq!(shown.success().stdout, "remove   new/one.rs\n");
    let undone = snapshot(&env, &["restore", before.as_str().unwrap(), "--yes"]).run();
    assert!(undone.success().stderr.contains("removed 1 that"));
    assert!(!env.project().join("new").exists());
    assert_eq!(env.git(&["status", "--porcelain"]), status);
}

/// CAKE-SNAP-1: a file that is not put back is named, and that is a no.
#[test]
fn a_file_that_is_not_put_back_is_named() {
    let env = repository();
    env.write("notes.txt", "hours of work\n");
    let id = create(&env, "before")["snapshot_id"].clone();
    let id = id.as_str().unwrap();
    env.write(".git/info/exclude", "notes.txt\n");
    std::fs::remove_file(env.project().join("notes.txt")).unwrap();
    create(&env, "without it");
    env.write("notes.txt", "ignored now\n");
    let refused = snapshot(&env, &["restore", id, "--yes"]).run();
    let refused = refused.ended_with(1);
    assert!(
        refused.stderr.contains("`notes.txt` was not restored"),
        "{}",
        refused.stderr
    );
    assert_eq!(env.read("notes.txt"), "ignored now\n");
    let refused = snapshot(&env, &["restore", id, "--yes", "--json"]).run();
    let changes = refused.ended_with(1).json()["changes"].clone();
    assert_eq!(changes[0]["change"], "refuse");
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
        said.stderr
            .contains("not included: 1 ignored path (target/)"),
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
    let token = format!("ghp_{}", "a1B2".repeat(9));
    assert!(!create(&env, &token).to_string().contains(&token));
    let clean = ["clean", "--max-bytes", "0", "--json"];
    let cleaned = snapshot(&env, &clean).run().success().json();
    assert_eq!(cleaned["removed"].as_array().unwrap().len(), 3);
    let left = snapshot(&env, &["list"]).run().success();
    assert!(left.stdout.contains("kept"), "{}", left.stdout);
    snapshot(&env, &["diff", "nothing"]).run().ended_with(2);
}

/// CAKE-SNAP-1: after 72 hours, or those that `cake_config.yaml` says, the next snapshot lets the
/// old ones go by itself; those for an error and checkpoints stay.
#[test]
fn what_is_too_old_goes_with_the_next_snapshot() {
    let env = repository();
    create(&env, "old");
    snapshot(&env, &["create", "for an error", "--error", "e1"])
        .run()
        .success();
    snapshot(&env, &["create", "kept", "--checkpoint"])
        .run()
        .success();
    let labels = || {
        let listed = snapshot(&env, &["list", "--json"]).run().success().json();
        let listed = listed["snapshots"].as_array().unwrap().clone();
        let mut labels: Vec<_> = listed
            .iter()
            .map(|snapshot| snapshot["label"].as_str().unwrap().to_owned())
            .collect();
        labels.sort();
        labels
    };
    let create_at = |clock: &str, label: &str| {
        let run = snapshot(&env, &["create", label]);
        run.env("CALLOSUM_TEST_CLOCK", clock).run().success();
    };
    create_at("2026-01-05T03:00:00Z", "within");
    assert_eq!(labels(), ["for an error", "kept", "old", "within"]);
    create_at("2026-01-05T03:05:00Z", "after");
    assert_eq!(labels(), ["after", "for an error", "kept", "within"]);
    let text = "version: \"1.0\"\nstrictness: balanced\nescalation: {max_strikes: 4, \
                cooldown_minutes: 5, human_notification: {enabled: false}}\nperformance: \
                {max_latency_ms: 300, max_memory_mb: 1024}\nsafety: {require_confirmation: false, \
                audit_all_commands: true}\nsnapshot: {retention_hours: 1}\n";
    let users = env.configuration().with_file_name("cake_config.yaml");
    std::fs::write(&users, text.replace("hours: 1", "hours: 0")).unwrap();
    create_at("2026-01-05T06:00:00Z", "broken");
    assert_eq!(labels().len(), 5);
    std::fs::write(&users, text).unwrap();
    create_at("2026-01-05T06:30:00Z", "later");
    assert_eq!(labels(), ["broken", "for an error", "kept", "later"]);
}

/// CAKE-SNAP-1: a list that is cut short says so, and a row is a line whatever a label holds.
#[test]
fn a_list_says_how_many_it_leaves_out() {
    let env = repository();
    for _ in 0..3 {
        create(&env, "one\nlabel\u{1b}[2J");
    }
    let listed = snapshot(&env, &["list", "--limit", "2"]).run().success();
    assert_eq!(listed.stdout.lines().count(), 3, "{}", listed.stdout);
    assert!(listed.stdout.contains("one\\nlabel"), "{}", listed.stdout);
    assert!(
        listed.stderr.contains("1 older one not shown"),
        "{}",
        listed.stderr
    );
    let json = snapshot(&env, &["list", "--limit", "2", "--json"]).run();
    assert_eq!(json.success().json()["total"], 3);
    let all = snapshot(&env, &["list"]).run().success();
    assert_eq!(all.stderr, "");
}

/// CAKE-SNAP-1: files that are named are kept alone, ignored ones too.
#[test]
fn a_snapshot_of_named_files_holds_them_alone() {
    let env = repository();
    let created = snapshot(&env, &["create", "--only", "target/out", "--json"]).run();
    let created = created.success().json();
    assert_eq!(created["dirty_files"], serde_json::json!(["target/out"]));
    assert_eq!(created["only"], serde_json::json!(["target/out"]));
    env.write("target/out", "gone");
    env.write("src/lib.rs", "changed");
    let id = created["snapshot_id"].as_str().unwrap();
    snapshot(&env, &["restore", id, "--yes"]).run().success();
    assert_eq!(env.read("target/out"), "built");
    assert_eq!(env.read("src/lib.rs"), "changed");
}

/// CAKE-SNAP-1: who goes back, or looks what that would do, is told what the snapshot does not hold, and not of what
/// it holds though git ignores it.
#[test]
fn what_a_snapshot_does_not_hold_is_told_where_one_goes_back() {
    let env = repository();
    env.write("target/many/a", "built");
    let big = std::fs::File::create(env.project().join("big.bin")).unwrap();
    big.set_len(60_000_000).unwrap();
    let also = ["create", "--also", "big.bin", "--also", "target", "--json"];
    let held = snapshot(&env, &also).run().success().json();
    assert_eq!(held["snapshot_missing"]["ignored"], serde_json::json!([]));
    let id = create(&env, "plain")["snapshot_id"].clone();
    let held = held["snapshot_id"].as_str().unwrap();
    let plain = id.as_str().unwrap();
    std::fs::remove_dir_all(env.project().join("target")).unwrap();
    for (id, lacks) in [
        (plain, "1 ignored path (target/); big.bin (too large)"),
        (held, "big.bin (too large)"),
    ] {
        for arguments in [&["diff", id][..], &["restore", id, "--yes"]] {
            let told = snapshot(&env, arguments).run().success();
            let line = format!("not included: {lacks}\n");
            assert!(told.stderr.starts_with(&line), "{arguments:?}: {told:?}");
            assert!(!told.stdout.contains("the tree is as it was"), "{told:?}");
        }
        let refused = snapshot(&env, &["restore", id]).run().ended_with(2);
        assert!(refused.stderr.contains(lacks), "{refused:?}");
        let shown = snapshot(&env, &["restore", id, "--yes", "--json"]).run();
        let shown = shown.success().json();
        assert_eq!(shown["snapshot_missing"]["too_large"][0], "big.bin");
    }
}
