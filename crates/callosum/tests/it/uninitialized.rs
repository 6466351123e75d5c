//! A project that was not initialized: what verbs write, and how its state is moved into the tree.

use std::path::{Path, PathBuf};

use callosum_testkit::{Output, TestEnv};

/// A repository with one file, and none of ours.
fn repository() -> TestEnv {
    let env = TestEnv::new();
    env.write("src/a.rs", "pub fn one() {}\n");
    env.git_init();
    env
}

/// Runs a verb as a new user does: with the defaults.
fn run(env: &TestEnv, words: &[&str]) -> Output {
    let run = env.callosum().arguments(words);
    run.without("CALLOSUM_STATE")
        .without("CALLOSUM_ASSUME_YES")
        .run()
}

/// All that git does not know, ignored or not.
fn litter(env: &TestEnv) -> String {
    env.git(&[
        "status",
        "--porcelain",
        "--ignored",
        "--untracked-files=all",
    ])
}

/// The machine's folder of the project's state.
fn folder(env: &TestEnv) -> PathBuf {
    let projects = env.machine_home().join("projects");
    let mut found = std::fs::read_dir(projects).unwrap();
    found.next().unwrap().unwrap().path()
}

/// A ledger that does not exist yet is no error.
#[test]
fn doctor_reports_no_error_for_a_ledger_that_does_not_exist() {
    let env = repository();
    let doctor = run(&env, &["doctor", "-v"]).success();
    assert!(
        !doctor.stderr.contains("cannot open the ledger"),
        "{}",
        doctor.stderr
    );
    assert!(
        doctor.stdout.contains("ledger: none yet"),
        "{}",
        doctor.stdout
    );
}

/// No verb writes anything into a tree that was not initialized, and what they keep is found again.
#[test]
fn no_verb_writes_into_a_tree_that_was_not_initialized() {
    let env = repository();
    for words in [
        &["delegate", "--kind", "scan", "Map it"][..],
        &["delegate", "--kind", "deps", "Map it"],
        &["find", "one"],
        &["status"],
        &["doctor"],
        &["ledger", "query"],
        &["ledger", "verify"],
        &["ledger", "stats"],
        &["ledger", "rotate"],
        &["ledger", "backup"],
        &["audit", "verify"],
        &["replay"],
        &["config", "list"],
        &["config", "set", "retry_max", "2"],
        &["executor", "list"],
        &["executor", "register", "sh", "--", "sh", "-c", "cat"],
        &["trust", "--list"],
        &["guard", "check", "--", "rm", "-rf", "src"],
        &["guard", "log"],
        &["guard", "rules"],
        &["snapshot", "list"],
        &["session", "decide", "Use one", "--cite", "src/a.rs:1"],
        &["session", "check"],
        &["session", "recover"],
        &["session", "handoff"],
        &["session", "status"],
        &["bead", "create", "Work", "--id", "bd-1"],
        &["bead", "list"],
        &["mesh", "message", "send", "x", "--to", "codex"],
        &["mesh", "task", "add", "x"],
        &["plan", "list"],
        &["init", "--dry-run"],
        &["init"],
    ] {
        let output = run(&env, words);
        assert!(output.code < 4, "{words:?}: {}", output.stderr);
        assert_eq!(litter(&env), "", "{words:?}");
    }
    let found = run(&env, &["ledger", "query"]).success().stdout;
    assert!(found.contains("cal_2026_01_02_0001"), "{found}");
    let told = run(&env, &["session", "recover"]).success().stdout;
    assert!(told.contains("Use one"), "{told}");
    let root = std::fs::read(folder(&env).join("root")).unwrap();
    assert!(Path::new(std::str::from_utf8(&root).unwrap()).ends_with("project"));
}

/// Without a terminal and without `--yes`, `init` prints its plan, writes nothing and exits with 1.
#[test]
fn init_without_an_answer_writes_nothing() {
    let env = repository();
    let refused = run(&env, &["init"]).ended_with(1);
    assert!(
        refused.stderr.contains("would create in"),
        "{}",
        refused.stderr
    );
    assert!(
        refused.stderr.contains("callosum init --yes"),
        "{}",
        refused.stderr
    );
    assert!(!env.home().join(".claude").exists());
    assert_eq!(litter(&env), "");
}

/// The names in the project's root that are not the repository's own.
fn names(env: &TestEnv) -> Vec<String> {
    let found = std::fs::read_dir(env.project()).unwrap();
    let names = found.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names
        .filter(|name| name != ".git" && name != "src")
        .collect();
    names.sort();
    names
}

const LEDGER: [&str; 7] = [
    ".cal_hashlog",
    ".cal_lock",
    ".cal_memory.json",
    ".cal_memory_history",
    ".calrc",
    "cal_audit",
    "registry.json",
];

/// Each part of `init` creates its own files, and git sees none of them unless they are shared.
#[test]
fn each_part_of_init_creates_its_own_files() {
    let sessions = [
        ".beads",
        ".claude",
        ".loa.config.yaml",
        "CLAUDE.md",
        "loa-grimoire",
    ];
    for (parts, expected) in [
        (&["--guard", "--client", "claude"][..], vec![]),
        (&["--mcp", "--client", "claude"], vec![]),
        (&["--gate", "--client", "claude"], vec![]),
        (&["--ledger"], LEDGER.to_vec()),
        (&["--client", "claude"], LEDGER.to_vec()),
        (&["--sessions"], sessions.to_vec()),
    ] {
        let env = repository();
        let words = [&["init", "--yes"], parts].concat();
        run(&env, &words).success();
        assert_eq!(names(&env), expected, "{parts:?}");
        run(&env, &words).success();
        assert_eq!(names(&env), expected, "{parts:?} again");
        env.git(&["add", "--all"]);
        let staged = env.git(&["diff", "--cached", "--name-only"]);
        let is_text = |name: &str| name == "CLAUDE.md" || name == "AGENTS.md";
        assert!(staged.lines().all(is_text), "{parts:?}: {staged}");
    }
}

/// `init` brings in what was kept on the machine: the ledger verifies and replays, and sessions go on.
#[test]
fn init_moves_in_what_was_kept_before() {
    let env = repository();
    run(&env, &["delegate", "--kind", "scan", "Map it"]).success();
    run(&env, &["config", "set", "retry_max", "2"]).success();
    run(
        &env,
        &["session", "decide", "Use one", "--cite", "src/a.rs:1"],
    )
    .success();
    let before = run(&env, &["ledger", "query", "--json"]).success().stdout;
    let moved = run(&env, &["init", "--ledger", "--yes"]).success().stderr;
    assert!(moved.contains("moved "), "{moved}");
    assert_eq!(names(&env), LEDGER);
    assert_eq!(
        run(&env, &["ledger", "query", "--json"]).success().stdout,
        before
    );
    run(&env, &["ledger", "verify"]).success();
    run(&env, &["replay"]).success();
    assert!(env.read(".calrc").contains("\"retry_max\": 2"));
    let told = run(&env, &["session", "recover"]).success().stdout;
    assert!(
        told.contains("Use one"),
        "session files stay until they are chosen: {told}"
    );
    run(&env, &["init", "--sessions", "--yes"]).success();
    assert!(env.read("loa-grimoire/NOTES.md").contains("Use one"));
    let told = run(&env, &["session", "recover"]).success().stdout;
    assert!(told.contains("Use one"), "{told}");
    run(&env, &["delegate", "--kind", "deps", "Again"]).success();
    let after = run(&env, &["ledger", "query"]).success().stdout;
    assert!(after.contains("0001") && after.contains("0002"), "{after}");
}

/// A process that found the state on the machine before it was moved fails at its lock.
#[test]
fn the_folder_that_the_state_left_takes_no_more() {
    let env = repository();
    run(&env, &["delegate", "--kind", "scan", "Map it"]).success();
    let left = folder(&env);
    run(&env, &["init", "--ledger", "--yes"]).success();
    assert!(left.join(".cal_lock").is_file());
    assert!(!left.join(".cal_memory.json").exists());
}
