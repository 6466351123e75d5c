//! `uninstall`: what is shown and asked, what `--purge` removes, and what `--move-out` keeps.

use std::path::PathBuf;

use callosum_testkit::{Output, TestEnv};

/// A repository with one file, which `init` set up, with a result, a decision, a bead, a snapshot and a checkpoint.
fn used_project() -> TestEnv {
    let env = TestEnv::new();
    env.write("src/a.rs", "pub fn one() {}\n");
    env.git_init();
    env.write(".git/info/exclude", "# mine\n/scratch/\n/cal_audit/\n");
    std::fs::copy("/bin/true", env.programs().join("claude")).unwrap();
    run(&env, &["init", "--all", "--yes"]).success();
    use_it(&env);
    env
}

fn use_it(env: &TestEnv) {
    for words in [
        &["delegate", "--kind", "scan", "Map it"][..],
        &["session", "decide", "Use one", "--cite", "src/a.rs:1"],
        &["bead", "create", "Work", "--id", "bd-1"],
        &["ledger", "backup"],
        &["ledger", "rotate"],
        &["delegate", "--kind", "deps", "Map it"],
        &["snapshot", "create"],
        &["audit", "checkpoint"],
        &["find", "one"],
    ] {
        run(env, words).success();
    }
}

/// Runs a verb as a user does: with the defaults.
fn run(env: &TestEnv, words: &[&str]) -> Output {
    let run = env.callosum().arguments(words);
    run.without("CALLOSUM_STATE")
        .without("CALLOSUM_ASSUME_YES")
        .run()
}

/// All files below a folder, from it, but those below `.git`.
fn files(folder: &std::path::Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with(".git") {
                folders.push(path);
            } else if path.is_file() {
                let named = path.strip_prefix(folder).unwrap();
                found.push(named.to_str().unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

/// The machine's folder of the project's state.
fn folder(env: &TestEnv) -> PathBuf {
    let projects = env.machine_home().join("projects");
    let mut found = std::fs::read_dir(projects).unwrap();
    found.next().unwrap().unwrap().path()
}

/// Without a terminal and without `--yes`, `uninstall` prints its plan in short lines, changes nothing and exits with 1.
#[test]
fn uninstall_without_an_answer_changes_nothing() {
    let env = used_project();
    let before = files(&env.project());
    let settings = std::fs::read(env.home().join(".claude/settings.json")).unwrap();
    for words in [
        &["uninstall"][..],
        &["uninstall", "--purge"],
        &["uninstall", "--move-out"],
    ] {
        let plan = run(&env, words).ended_with(1).stderr;
        let longest = plan.lines().map(str::len).max().unwrap();
        assert!(longest < 200, "{longest}: {plan}");
        for line in [
            "claude: the guard would be removed from ",
            "callosum uninstall --yes",
        ] {
            assert!(plan.contains(line), "{line} in {plan}");
        }
        assert!(plan.contains(".claude/ (16 files)"), "{plan}");
        assert_eq!(files(&env.project()), before, "{words:?}");
    }
    let after = std::fs::read(env.home().join(".claude/settings.json")).unwrap();
    assert_eq!(after, settings);
    let plan = run(&env, &["uninstall", "--dry-run"]).success().stderr;
    for group in [
        "ledger",
        "session files",
        "snapshots",
        "checkpoints",
        "search index",
    ] {
        let start = format!("\n  {group}: ");
        assert!(plan.contains(&start), "{group} in {plan}");
    }
}

/// `--purge` leaves nothing of the project, neither in its tree nor on the machine, and every file of the user's.
#[test]
fn purge_removes_all_of_ours_and_nothing_else() {
    let env = used_project();
    for name in [
        "cal_audit/report.md",
        "loa-grimoire/prd.md",
        ".beads/config.yaml",
        ".cal_backup/x",
    ] {
        env.write(name, "mine");
    }
    let output = run(&env, &["uninstall", "--purge", "--yes", "--json"])
        .success()
        .json();
    assert_eq!(
        files(&env.project()),
        [
            ".beads/config.yaml",
            ".cal_backup/x",
            "cal_audit/report.md",
            "loa-grimoire/prd.md",
            "src/a.rs"
        ]
    );
    assert_eq!(output["foreign"].as_array().unwrap().len(), 4, "{output}");
    let kinds = output["removed"].as_array().unwrap().iter();
    let kinds: Vec<&str> = kinds.map(|group| group["what"].as_str().unwrap()).collect();
    for kind in [
        "ledger",
        "session files",
        "snapshots",
        "checkpoints",
        "search index",
    ] {
        assert!(kinds.contains(&kind), "{kind} in {kinds:?}");
    }
    let exclude = env.read(".git/info/exclude");
    assert_eq!(exclude, "# mine\n/scratch/\n/cal_audit/\n");
    let left = files(&env.machine_home());
    let keys = ["keys/ledger-ed25519", "keys/ledger-ed25519.pub"];
    assert_eq!(left, keys, "only the machine's own key is left");
    let again = run(&env, &["uninstall", "--purge", "--yes"])
        .success()
        .stderr;
    assert!(
        again.contains("no client settings mention Callosum"),
        "{again}"
    );
}

/// What is kept of another project on this machine stays.
#[test]
fn purge_of_one_project_leaves_another_alone() {
    let env = used_project();
    let other = env.project().parent().unwrap().join("other");
    std::fs::create_dir(&other).unwrap();
    let at = other.to_str().unwrap();
    run(&env, &["-C", at, "delegate", "--kind", "scan", "Map it"]).success();
    run(&env, &["uninstall", "--purge", "--yes"]).success();
    let found = run(&env, &["-C", at, "ledger", "query"]).success().stdout;
    assert!(found.contains("cal_2026_01_02_0001"), "{found}");
    run(&env, &["-C", at, "ledger", "verify"]).success();
    run(&env, &["-C", at, "uninstall", "--purge", "--yes"]).success();
    let kept = files(&env.machine_home());
    assert!(
        kept.iter().all(|name| name.starts_with("keys/")),
        "{kept:?}"
    );
}

/// `--move-out` leaves a project that works on as one that was not initialized, and `init` brings everything back.
#[test]
fn a_project_moved_out_goes_on_and_can_be_moved_in_again() {
    let env = used_project();
    let all = ["ledger", "query", "--json", "--limit", "9"];
    let before = run(&env, &all).success().stdout;
    let moved = run(&env, &["uninstall", "--move-out", "--yes"])
        .success()
        .stderr;
    assert!(moved.contains("moved "), "{moved}");
    assert_eq!(files(&env.project()), ["src/a.rs"]);
    assert_eq!(
        env.read(".git/info/exclude"),
        "# mine\n/scratch/\n/cal_audit/\n"
    );
    let check = || {
        assert_eq!(run(&env, &all).success().stdout, before);
        run(&env, &["ledger", "verify"]).success();
        run(&env, &["audit", "verify"]).success();
        run(&env, &["replay"]).success();
        let told = run(&env, &["session", "recover"]).success().stdout;
        assert!(told.contains("Use one"), "{told}");
        let beads = run(&env, &["bead", "list"]).success().stdout;
        assert!(beads.contains("bd-1"), "{beads}");
    };
    check();
    assert_eq!(files(&env.project()), ["src/a.rs"]);
    assert!(folder(&env).join(".cal_memory.json").is_file());
    run(&env, &["init", "--ledger", "--sessions", "--yes"]).success();
    assert!(env.project().join(".cal_memory.json").is_file());
    check();
    run(&env, &["uninstall", "--move-out", "--yes"]).success();
    check();
    run(&env, &["delegate", "--kind", "tests", "Again"]).success();
    run(&env, &["ledger", "verify"]).success();
    assert_eq!(files(&env.project()), ["src/a.rs"]);
}

/// A ledger is not moved while a file of the user's is among its files, and session files not while they are committed.
#[test]
fn what_cannot_be_moved_out_is_named_and_stays() {
    let env = used_project();
    env.write("cal_audit/report.md", "mine");
    let refused = run(&env, &["uninstall", "--move-out", "--yes"])
        .ended_with(1)
        .stderr;
    assert!(
        refused.contains("cal_audit/report.md` is not Callosum's"),
        "{refused}"
    );
    assert!(
        env.home().join(".claude/settings.json").exists(),
        "nothing else was done"
    );
    std::fs::remove_file(env.project().join("cal_audit/report.md")).unwrap();
    env.git(&["add", "--force", "loa-grimoire/NOTES.md"]);
    let told = run(&env, &["uninstall", "--move-out", "--yes"])
        .success()
        .stderr;
    assert!(
        told.contains("session files stay in the tree: they are committed"),
        "{told}"
    );
    assert!(!env.project().join(".cal_memory.json").exists());
    assert!(env.read("loa-grimoire/NOTES.md").contains("Use one"));
    let told = run(&env, &["session", "recover"]).success().stdout;
    assert!(told.contains("Use one"), "{told}");
}
