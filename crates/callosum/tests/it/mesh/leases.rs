//! Leases on files.

use callosum_testkit::TestEnv;

use super::json;

/// CALC-FUT-1: leases are taken, shown, refused and given back.
#[test]
fn a_lease_is_refused_to_a_second_agent() {
    let env = TestEnv::new();
    env.write("src/a.rs", "fn a() {}\n");
    let taken = json(
        &env,
        &[
            "lease", "take", "src/a.rs", "--reason", "renaming", "--as", "codex",
        ],
    );
    assert_eq!(taken["leases"][0]["by"], "codex");
    let held = env
        .run(["mesh", "lease", "take", "src/a.rs", "--as", "gemini"])
        .ended_with(1);
    assert!(held.stderr.contains("codex works on"), "{}", held.stderr);
    assert!(held.stderr.contains("renaming"), "{}", held.stderr);
    env.run(["mesh", "lease", "release", "src/a.rs", "--as", "codex"])
        .success();
    assert_eq!(
        json(&env, &["lease", "list"])["leases"],
        serde_json::json!([])
    );
    env.run(["mesh", "lease", "take", "src/new.rs", "--as", "gemini"])
        .success();
}

/// CALC-FUT-1, CALC-PAT-2: who holds a file, or has claimed a task, can be written to by the session that is told, whether hooks told of
/// that session or not.
#[test]
fn who_holds_something_can_be_written_to() {
    let env = TestEnv::new();
    let take = [
        "mesh",
        "lease",
        "take",
        "a.rs",
        "--as",
        "codex",
        "--session",
        "s1",
    ];
    env.run(take).success();
    env.run(["mesh", "task", "add", "b", "--id", "b", "--as", "claude"])
        .success();
    let claim = [
        "mesh",
        "task",
        "claim",
        "b",
        "--as",
        "codex",
        "--session",
        "s2",
    ];
    env.run(claim).success();
    let send = |to: &str| {
        env.run([
            "mesh", "message", "send", to, "hello", "--id", to, "--as", "claude",
        ])
    };
    send("codex@s1").success();
    send("codex@s2").success();
    let refused = send("codex@s3").ended_with(1).stderr;
    assert!(
        refused.contains("session s3 of codex is not active"),
        "{refused}"
    );
    let shown = json(&env, &["task", "show", "b"]);
    assert_eq!(shown["claimed_session"], "s2");
    let read = env.run([
        "mesh",
        "message",
        "read",
        "--as",
        "codex",
        "--session",
        "s1",
    ]);
    assert!(read.success().stdout.contains("hello"));
}

/// CALC-FUT-1: a configuration that cannot be used is told of once, and a lease is taken all the same.
#[test]
fn a_broken_configuration_is_told_of_once_by_who_takes_a_lease() {
    let env = TestEnv::new();
    env.write(env.configuration(), "[mesh]\nleases = \"never\"\n");
    let take = ["mesh", "lease", "take", "a.rs", "--as", "codex"];
    let taken = env.run(take).success();
    assert!(
        taken.stdout.contains("a.rs codex until"),
        "{}",
        taken.stdout
    );
    assert_eq!(
        taken
            .stderr
            .matches("cannot use the mesh configuration")
            .count(),
        1,
        "{}",
        taken.stderr
    );
}

/// CALC-FUT-1: a file that is to be made has one lease, whatever it is called.
#[test]
fn a_lease_on_a_file_that_is_not_there_has_one_name() {
    let env = TestEnv::new();
    std::fs::create_dir_all(env.project().join("src")).unwrap();
    env.run(["mesh", "lease", "take", "src/New.rs", "--as", "codex"])
        .success();
    for path in ["./src/../src/New.rs", "src/none/../New.rs"] {
        let refused = env
            .run(["mesh", "lease", "take", path, "--as", "gemini"])
            .ended_with(1);
        assert!(
            refused.stderr.contains("codex works on"),
            "{}",
            refused.stderr
        );
    }
    let leases = json(&env, &["lease", "list"]);
    assert_eq!(leases["leases"].as_array().unwrap().len(), 1, "{leases}");
}

/// CALC-SEC-1: a file whose name looks like a secret has no lease, which would be told to others and be another file's too.
#[test]
fn a_file_that_is_named_like_a_secret_has_no_lease() {
    let env = TestEnv::new();
    for verb in ["take", "release"] {
        let words = ["mesh", "lease", verb, "AKIAIOSFODNN7EXAMPLE.md"];
        let refused = env.run(words).ended_with(2).stderr;
        assert!(refused.contains("looks like a secret"), "{refused}");
        assert!(!refused.contains("AKIAIOSFODNN7EXAMPLE"), "{refused}");
    }
}
