//! The three zones: what `init` lays, what it leaves alone, and whether the seed's scripts do what
//! the seed's own did.

use callosum_testkit::{Output, TestEnv};

/// A project in which the program is found by name.
fn laid() -> TestEnv {
    let env = TestEnv::new();
    env.git_init();
    std::os::unix::fs::symlink(
        env!("CARGO_BIN_EXE_callosum"),
        env.programs().join("callosum"),
    )
    .unwrap();
    env.run(["init", "--ledger", "--sessions", "--share"])
        .success();
    env
}

fn script(env: &TestEnv, name: &str, arguments: &[&str]) -> Output {
    let path = env.project().join(".claude").join(name);
    env.program(path).arguments(arguments).run()
}

/// LOA-ZONE-1, LOA-FILE-1: the zones are laid once; again changes nothing.
#[test]
fn init_lays_the_three_zones_once() {
    let env = TestEnv::new();
    let dry = env
        .run([
            "init",
            "--ledger",
            "--sessions",
            "--share",
            "--dry-run",
            "--json",
        ])
        .success()
        .json();
    assert!(!env.project().join(".claude").exists());
    let output = env
        .run(["init", "--ledger", "--sessions", "--share", "--json"])
        .success()
        .json();
    for path in [
        ".claude/protocols/session-continuity.md",
        ".claude/protocols/grounding-enforcement.md",
        ".claude/scripts/grounding-check.sh",
        ".claude/hooks/pre-clear.sh",
        ".claude/commands/ride.md",
        ".claude/commands/callosum-undo.md",
        ".claude/skills/session-continuity/SKILL.md",
        "CLAUDE.md",
        "loa-grimoire/NOTES.md",
        "loa-grimoire/analytics/",
        "loa-grimoire/a2a/trajectory/",
        ".beads/",
        ".loa.config.yaml",
    ] {
        for told in [&dry, &output] {
            let created = told["created"].as_array().unwrap();
            assert!(created.iter().any(|name| name == path), "{path} in {told}");
        }
        assert!(env.project().join(path).exists(), "{path}");
    }
    let again = env
        .run(["init", "--ledger", "--sessions", "--share", "--json"])
        .success()
        .json();
    assert_eq!(again["created"], serde_json::json!([]));
    assert_eq!(again["zones"], serde_json::json!([]));
    let without = TestEnv::new();
    without.run(["init", "--ledger", "--share"]).success();
    assert!(!without.project().join(".claude").exists());
    assert!(!without.project().join("loa-grimoire").exists());
}

/// `init` names a file that git tracks and will show as changed.
#[test]
fn an_extended_file_that_git_tracks_is_named_as_changed() {
    let env = TestEnv::new();
    env.write("CLAUDE.md", "# Mine\n");
    env.git(&["init", "-q"]);
    env.git(&["add", "CLAUDE.md"]);
    let printed = env.run(["init", "--sessions"]).success().stderr;
    let named = "CLAUDE.md: extended; git tracks it and will show it as changed";
    assert!(printed.contains(named), "{printed}");
}

/// LOA-ZONE-1: what somebody changed of ours is reported by `init` and `doctor`, and stays.
#[test]
fn a_changed_file_of_the_system_zone_is_reported_and_stays() {
    let env = laid();
    let doctor = env.run(["doctor", "-v"]).stdout;
    assert!(doctor.contains("unchanged since init"), "{doctor}");
    let script = ".claude/scripts/grounding-check.sh";
    env.write(script, "#!/bin/sh\nexit 0\n");
    let output = env
        .run(["init", "--ledger", "--sessions", "--share", "--json"])
        .success()
        .json();
    assert_eq!(output["zones"][0]["path"], script);
    assert_eq!(output["zones"][0]["standing"], "changed by someone");
    assert_eq!(env.read(script), "#!/bin/sh\nexit 0\n");
    let doctor = env.run(["doctor", "-v"]).stdout;
    let told = format!("edited: {script}");
    assert!(doctor.contains(&told), "{doctor}");
    std::fs::remove_file(env.project().join(script)).unwrap();
    env.run(["init", "--ledger", "--sessions", "--share"])
        .success();
    assert!(env.read(script).contains("session grounding"));
}

/// LOA-FILE-1: files that people had are added to, and keep every byte.
#[test]
fn files_that_people_had_are_added_to_and_never_replaced() {
    let env = TestEnv::new();
    let mine = [
        ("CLAUDE.md", "# Mine\nNever push.\n"),
        (".claude/commands/ride.md", "My own ride.\n"),
        ("loa-grimoire/NOTES.md", "# Notes\n\nWords.\n"),
        (
            ".loa.config.yaml",
            "grounding_enforcement: warn # for now\n",
        ),
    ];
    for (path, text) in mine {
        env.write(path, text);
    }
    env.write(".claude/scripts/self-heal-state.sh", "echo mine\n");
    let output = env
        .run(["init", "--ledger", "--sessions", "--share", "--json"])
        .success()
        .json();
    let zones = output["zones"].as_array().unwrap();
    for (path, text) in mine {
        let now = env.read(path);
        assert!(text.lines().all(|line| now.contains(line)), "{path}: {now}");
        assert!(env.read(path).len() > text.len(), "{path}");
        let told = zones.iter().find(|zone| zone["path"] == path).unwrap();
        assert_eq!(told["standing"], "extended", "{path}");
    }
    assert_eq!(
        env.read(".claude/scripts/self-heal-state.sh"),
        "echo mine\n"
    );
    let before: Vec<String> = mine.iter().map(|(path, _)| env.read(path)).collect();
    env.run(["init", "--ledger", "--sessions", "--share"])
        .success();
    let after: Vec<String> = mine.iter().map(|(path, _)| env.read(path)).collect();
    assert_eq!(before, after);
}

/// LOA-GRD-1: the installed script has the seed's arguments, lines and exit codes.
#[test]
fn the_installed_scripts_answer_as_the_seeds_do() {
    let env = laid();
    let none = script(&env, "scripts/grounding-check.sh", &[]).success();
    assert_eq!(none.stdout, "No trajectory log found for today\n");
    env.write("a.rs", "fn one() {}\n");
    env.run(["session", "decide", "One", "--cite", "a.rs:1"])
        .success();
    let passed = script(
        &env,
        "scripts/grounding-check.sh",
        &["implementing-tasks", "0.95"],
    );
    assert_eq!(
        passed.success().stdout,
        "total_claims=1\ngrounded_claims=1\nassumptions=0\ngrounding_ratio=1.00\nstatus=pass\n"
    );
    script(&env, "hooks/pre-clear.sh", &[]).success();
    env.run(["session", "decide", "Nothing shows it"]).success();
    let failed = script(&env, "scripts/grounding-check.sh", &[]).ended_with(1);
    assert!(
        failed
            .stdout
            .contains("status=fail\nmessage=Grounding ratio 0.50")
    );
    script(
        &env,
        "scripts/grounding-check.sh",
        &["implementing-tasks", "0.4"],
    )
    .success();
    script(&env, "scripts/grounding-check.sh", &["../../x"]).ended_with(2);
    script(&env, "scripts/grounding-check.sh", &["a", "1.50"]).ended_with(2);
    for option in ["--help", "--json", "-C/tmp", "-v"] {
        script(&env, "scripts/grounding-check.sh", &[option]).ended_with(2);
        script(&env, "scripts/synthesis-checkpoint.sh", &[option]).ended_with(2);
    }
    let blocked = script(&env, "hooks/pre-clear.sh", &[]).ended_with(1);
    assert!(
        blocked
            .stdout
            .contains("Cannot clear: 1 decision lacks evidence")
    );
    std::fs::remove_file(env.project().join("loa-grimoire/NOTES.md")).unwrap();
    let checked = script(&env, "scripts/self-heal-state.sh", &["--check-only"]).ended_with(1);
    assert!(
        checked.stdout.contains("NOTES.md: missing"),
        "{}",
        checked.stdout
    );
    assert!(!env.project().join("loa-grimoire/NOTES.md").exists());
    script(&env, "scripts/self-heal-state.sh", &["--json"]).ended_with(2);
    let healed = script(&env, "scripts/self-heal-state.sh", &[]).success();
    assert!(healed.stdout.contains("NOTES.md"), "{}", healed.stdout);
    script(&env, "scripts/self-heal-state.sh", &["--check-only"]).success();
    std::fs::remove_file(env.programs().join("callosum")).unwrap();
    script(&env, "scripts/grounding-check.sh", &[]).ended_with(2);
}

/// LOA-SEC-1: a zone that a link leads out of the project is named and not written.
#[test]
fn a_zone_outside_of_the_project_is_left_alone() {
    let env = TestEnv::new();
    let elsewhere = env.folder().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, env.project().join(".claude")).unwrap();
    let output = env
        .run(["init", "--ledger", "--sessions", "--share", "--json"])
        .success()
        .json();
    let zones = output["zones"].as_array().unwrap();
    let outside = zones
        .iter()
        .filter(|zone| zone["standing"] == "outside of the project");
    assert_eq!(outside.count(), 16);
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
}

/// LOA-CMD-1: Codex, Gemini CLI and Qwen Code get the command and the skill in the forms that they read, and
/// only where they are meant.
#[test]
fn other_clients_get_their_own_forms() {
    let env = TestEnv::new();
    let forms = [
        ".agents/skills/session-continuity/SKILL.md",
        ".agents/skills/ride/SKILL.md",
        ".gemini/commands/ride.toml",
        ".qwen/commands/ride.md",
    ];
    let there = || forms.map(|form| env.project().join(form).exists());
    env.run(["init", "--all", "--share", "--client", "claude"])
        .success();
    assert_eq!(there(), [false, false, false, false]);
    env.run(["init", "--all", "--share", "--client", "qwen"])
        .success();
    assert_eq!(there(), [true, false, false, true]);
    env.run(["init", "--all", "--share", "--client", "gemini"])
        .success();
    assert_eq!(there(), [true, false, true, true]);
    env.run(["init", "--all", "--share", "--client", "codex"])
        .success();
    assert_eq!(there(), [true, true, true, true]);
    let command = env.read(forms[2]);
    assert!(command.contains("Work on: {{args}}"), "{command}");
    // A text of three quotes, in which nothing has to be escaped.
    assert_eq!(command.matches("\"\"\"").count(), 2, "{command}");
    assert!(!command.contains('\\') && command.contains("callosum session recover"));
    let command = env.read(forms[3]);
    assert!(command.starts_with("---\ndescription: "), "{command}");
    assert!(command.contains("\nWork on: {{args}}\n"), "{command}");
    let skill = env.read(forms[1]);
    assert!(
        skill.starts_with("---\nname: ride\ndescription: "),
        "{skill}"
    );
    // What somebody changed is left, and named.
    env.write(forms[1], "mine\n");
    let again = ["init", "--all", "--share", "--client", "codex", "--json"];
    let again = env.run(again).success().json();
    assert_eq!(again["zones"][0]["path"], forms[1]);
    assert_eq!(env.read(forms[1]), "mine\n");
    env.run(["uninstall"]).success();
    assert_eq!(there(), [false, true, false, false]);
}

/// Each client gets a command that shows what it changed, about itself alone, and that restores nothing.
#[test]
fn each_client_gets_a_command_that_shows_what_undo_would_do() {
    let env = TestEnv::new();
    let commands = [
        ("claude", ".claude/commands/callosum-undo.md"),
        ("codex", ".agents/skills/callosum-undo/SKILL.md"),
        ("gemini", ".gemini/commands/callosum-undo.toml"),
        ("qwen", ".qwen/commands/callosum-undo.md"),
    ];
    let init = ["init", "--sessions", "--share"].into_iter();
    let clients = commands.iter().flat_map(|(client, _)| ["--client", client]);
    let init: Vec<&str> = init.chain(clients).collect();
    let dry = env.run(init.iter().chain(&["--dry-run", "--json"]));
    let planned = dry.success().json()["created"].to_string();
    env.run(&init).success();
    for (client, path) in commands {
        let command = env.read(path);
        let line = format!("callosum undo --agent {client} --dry-run");
        assert!(command.contains(&line), "{command}");
        assert!(!command.contains("--yes"), "{command}");
        assert!(planned.contains(path), "{planned}");
    }
    env.run(["uninstall"]).success();
    for (_, path) in commands {
        assert!(!env.project().join(path).exists(), "{path}");
    }
}

/// LOA-ZONE-1: what `init` laid is taken out again, what people wrote is as it was, and what somebody
/// changed of ours stays and is named.
#[test]
fn uninstall_takes_the_system_zone_out_and_keeps_what_people_wrote() {
    let env = TestEnv::new();
    env.git_init();
    let mine = "# Mine\n\nwords without an end";
    env.write("CLAUDE.md", mine);
    env.write(".claude/settings.local.json", "{}\n");
    let before = env.git(&["status", "--porcelain", "--untracked-files=all"]);
    env.run(["init", "--ledger", "--sessions", "--share"])
        .success();
    env.write(".claude/hooks/pre-clear.sh", "#!/bin/sh\n# mine\n");
    let dry = env.run(["uninstall", "--dry-run", "--json"]).success();
    let output = env.run(["uninstall", "--json"]).success().json();
    assert_eq!(dry.json()["zone"], output["zone"]);
    let change = |path: &str| {
        let zone = output["zone"].as_array().unwrap().iter();
        let found = zone.clone().find(|lifted| lifted["path"] == path);
        found.unwrap()["change"].as_str().unwrap().to_owned()
    };
    assert_eq!(change("CLAUDE.md"), "restored");
    assert_eq!(change(".claude/scripts/grounding-check.sh"), "removed");
    assert_eq!(change(".claude/hooks/pre-clear.sh"), "kept");
    assert_eq!(env.read("CLAUDE.md"), mine);
    assert!(!env.project().join(".claude/protocols").exists());
    assert!(env.project().join("loa-grimoire/NOTES.md").exists());
    std::fs::remove_file(env.project().join(".claude/hooks/pre-clear.sh")).unwrap();
    env.run(["uninstall"]).success();
    let left = env.git(&["status", "--porcelain", "--untracked-files=all"]);
    let left: Vec<&str> = left
        .lines()
        .filter(|line| line.contains("claude"))
        .collect();
    let before: Vec<&str> = before
        .lines()
        .filter(|line| line.contains("claude"))
        .collect();
    assert!(before.iter().all(|line| left.contains(line)), "{left:?}");
}
