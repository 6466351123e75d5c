//! The hook looks at the state of a repository before it stops a command, and a person can set a rule's level.

use callosum_testkit::{Output, TestEnv};
use serde_json::{Value, json};

fn hook(env: &TestEnv, command: &str) -> Output {
    let event = json!({
        "cwd": env.project(), "permission_mode": "default", "tool_name": "Bash",
        "tool_input": {"command": command}, "session_id": "s-1",
    });
    let hook = env.callosum().arguments(["hook", "claude", "pre-tool-use"]);
    hook.input(event.to_string()).run().success()
}

/// What the hook answers: `allow` stands for silence.
fn decision(env: &TestEnv, command: &str) -> String {
    let output = hook(env, command);
    if output.stdout.trim().is_empty() {
        return "allow".to_owned();
    }
    let said: Value = output.json();
    let decision = said["hookSpecificOutput"]["permissionDecision"].as_str();
    decision.unwrap_or("allow").to_owned()
}

/// A repository with one commit, in which `target` is ignored.
fn repository() -> TestEnv {
    let env = TestEnv::new();
    env.write("src/a.rs", "fn a() {}\n");
    env.write("docs/a.md", "# A\n");
    env.write(".gitignore", "/.env\n/.cal*\n/cal_audit\n/registry.json\n");
    env.git_init();
    env
}

/// CAKE-SHIM-1: in a clean tree nothing is lost by going back to what is committed; with a change, a new file or a commit
/// of its own, something is.
#[test]
fn a_clean_tree_may_be_reset_and_a_changed_one_may_not() {
    let env = repository();
    let commands = [
        "git reset --hard",
        "git checkout -- .",
        "git restore src/a.rs",
        "git clean -fd",
        "cd src && git checkout .",
        "git stash drop",
        "git branch -D gone",
    ];
    for command in commands {
        assert_eq!(decision(&env, command), "allow", "{command}");
    }
    env.write("src/a.rs", "fn b() {}\n");
    env.write("notes.txt", "mine\n");
    for command in &commands[..5] {
        assert_ne!(decision(&env, command), "allow", "{command}");
    }
    for command in ["git checkout -- docs", "git stash && git reset --hard"] {
        assert_eq!(decision(&env, command), "allow", "{command}");
    }
    env.git(&["stash", "push", "--quiet", "-u"]);
    assert_eq!(decision(&env, "git reset --hard"), "allow");
    assert_ne!(decision(&env, "git stash drop"), "allow");
    assert_ne!(decision(&env, "git stash pop && git reset --hard"), "allow");
    env.write(".env", "KEY=1\n");
    assert_eq!(decision(&env, "git clean -fd"), "allow");
    assert_ne!(decision(&env, "git clean -fdx"), "allow");
}

/// CAKE-SHIM-1: a branch may be deleted whose commits are all elsewhere, and a commit left that another branch holds.
#[test]
fn a_merged_branch_may_be_deleted_and_one_with_commits_of_its_own_may_not() {
    let env = repository();
    env.git(&["branch", "merged"]);
    env.git(&["branch", "-M", "main"]);
    env.git(&["checkout", "--quiet", "-b", "own"]);
    env.write("src/own.rs", "fn own() {}\n");
    env.git(&["add", "."]);
    env.git(&["commit", "--quiet", "-m", "own"]);
    assert_ne!(decision(&env, "git reset --hard main"), "allow");
    env.git(&["branch", "twin"]);
    assert_eq!(decision(&env, "git reset --hard main"), "allow");
    env.git(&["checkout", "--quiet", "main"]);
    for (command, expected) in [
        ("git branch -D merged", true),
        ("git branch -D own", true),
        ("git branch -D own twin", false),
        ("git branch -D own; git branch -D twin", false),
        ("git branch -D twin && git checkout -B own", false),
        ("git branch -f merged HEAD", true),
    ] {
        assert_eq!(decision(&env, command) == "allow", expected, "{command}");
    }
    env.git(&["pack-refs", "--all"]);
    assert_ne!(decision(&env, "git branch -D own twin"), "allow");
    let packed = decision(&env, "git branch -D merged");
    assert_eq!(packed, "allow");
}

/// CAKE-SHIM-1: a path that does not exist may be deleted; one that a link names exists.
#[test]
fn what_does_not_exist_may_be_deleted() {
    let env = repository();
    let outside = env.folder().join("outside");
    let command = format!("rm -rf {}", outside.display());
    env.write(env.home().join("notes/a.md"), "mine\n");
    let notes = format!("rm -rf {}", env.home().join("notes").display());
    let gone = format!("rm -rf {}", env.home().join("gone").display());
    assert_eq!(decision(&env, &gone), "allow");
    assert_ne!(decision(&env, &notes), "allow");
    assert_eq!(decision(&env, &command), "allow");
    let link = env.home().join("link");
    std::os::unix::fs::symlink("/nowhere", &link).unwrap();
    let both = format!("{gone} {}", env.home().join("notes").display());
    assert_ne!(decision(&env, &both), "allow");
}

/// CAKE-SHIM-1: a person sets what a rule decides, for a time, here or everywhere; an agent cannot, and the rules that
/// protect the guard itself stay.
#[test]
fn a_person_sets_what_a_rule_decides_and_an_agent_cannot() {
    let env = repository();
    env.write("src/a.rs", "fn b() {}\n");
    let command = "git reset --hard";
    assert_eq!(decision(&env, command), "deny");
    env.run(["guard", "rule", "git.reset-hard", "ask"])
        .success();
    assert_eq!(decision(&env, command), "ask");
    let rule = [
        "guard",
        "rule",
        "git.reset-hard",
        "allow",
        "--project",
        "--for",
        "10m",
    ];
    env.run(rule).success();
    assert_eq!(decision(&env, command), "allow");
    let shown = env
        .run(["guard", "rules", "--set", "--json"])
        .success()
        .json();
    assert_eq!(shown["rules"].as_array().unwrap().len(), 1);
    assert_eq!(shown["rules"][0]["set_for"], "project");
    assert!(shown["rules"][0]["until"].is_string());
    env.run(["guard", "rule", "git.reset-hard", "default", "--project"])
        .success();
    assert_eq!(decision(&env, command), "ask");
    env.run(["guard", "rule", "git.reset-hard", "default"])
        .success();
    assert_eq!(decision(&env, command), "deny");
    // A rule can be raised as well.
    env.run(["guard", "rule", "rm.unknown", "block"]).success();
    assert_eq!(decision(&env, "rm -rf \"$DIR\""), "deny");

    assert_eq!(
        decision(&env, "callosum guard rule git.reset-hard allow"),
        "deny"
    );
    assert_eq!(
        decision(&env, "callosum guard rule git.reset-hard"),
        "allow"
    );
    for arguments in [
        ["guard", "rule", "git.reset-hard", "allow"],
        ["guard", "allow", "git branch -D *", "--once"],
    ] {
        let refused = env.callosum().env("CLAUDECODE", "1").arguments(arguments);
        let refused = refused.run().ended_with(1);
        assert!(
            refused.stderr.contains("claude-code cannot change"),
            "{refused:?}"
        );
    }
    let fixed = env
        .run(["guard", "rule", "protect.hooks", "allow"])
        .ended_with(1);
    assert!(fixed.stderr.contains("cannot be lowered"), "{fixed:?}");
    let unknown = env
        .run(["guard", "rule", "reset-hard", "ask"])
        .ended_with(2);
    assert!(
        unknown
            .stderr
            .contains("callosum guard rule git.reset-hard"),
        "{unknown:?}"
    );
}

/// CAKE-SHIM-1: `guard allow` says which rule stands above a permission, and how to lower it.
#[test]
fn a_permission_below_a_block_names_the_rule_to_lower() {
    let env = repository();
    env.write("src/a.rs", "fn b() {}\n");
    let refused = env
        .run(["guard", "allow", "git reset --hard"])
        .ended_with(1);
    assert!(
        refused
            .stderr
            .contains("callosum guard rule git.reset-hard ask --for 10m"),
        "{refused:?}"
    );
    env.run(["guard", "rule", "git.reset-hard", "ask"])
        .success();
    env.run(["guard", "allow", "git reset --hard"]).success();
    assert_eq!(decision(&env, "git reset --hard"), "allow");
}

/// CAKE-SHIM-1: `sudo` is asked about, and what it runs is judged by itself.
#[test]
fn sudo_is_judged_by_what_it_runs() {
    let env = repository();
    for (command, expected) in [
        ("sudo apt-get update", "ask"),
        ("sudo ls /root", "ask"),
        ("sudo rm -rf /", "deny"),
        ("sudo bash -c 'mkfs.ext4 /dev/sda'", "deny"),
    ] {
        assert_eq!(decision(&env, command), expected, "{command}");
    }
}

/// CAKE-SHIM-1: the reason says how many files are at stake, and how many of them no commit has.
#[test]
fn the_reason_names_the_blast_radius() {
    let env = repository();
    env.write("notes.txt", "mine\n");
    env.write("src/a.rs", "fn b() {}\n");
    let reason = |command: &str| {
        let said = hook(&env, command).json();
        let reason = &said["hookSpecificOutput"]["permissionDecisionReason"];
        reason.as_str().unwrap_or_default().to_owned()
    };
    let said = reason("git reset --hard");
    assert!(said.contains(": 1 file with changes"), "{said}");
    env.write("more/a.txt", "");
    env.write("more/b.txt", "");
    let said = reason("git clean -fd");
    assert!(said.contains(": 3 files, none of them committed"), "{said}");
    env.write(env.home().join("notes/a.md"), "");
    env.write(env.home().join("notes/deep/b.md"), "");
    let said = reason(&format!("rm -rf {}", env.home().join("notes").display()));
    assert!(said.contains(": 2 files, never committed"), "{said}");
    let said = reason(&format!("rm -rf {}", env.project().display()));
    assert!(said.contains("of them never committed"), "{said}");
}
