//! `cake_config.yaml`: what it changes, who may say what, and what a broken one does.

use callosum_testkit::{Output, TestEnv};
use serde_json::{Value, json};

pub(super) fn config(strictness: &str, more: &str) -> String {
    format!(
        "version: \"1.0\"\nstrictness: {strictness}\nescalation:\n  max_strikes: 4\n  \
         cooldown_minutes: 5\n  human_notification: {{enabled: false}}\nperformance:\n  \
         max_latency_ms: 300\n  max_memory_mb: 1024\nsafety:\n  require_confirmation: false\n  \
         audit_all_commands: true\n{more}"
    )
}

fn user(env: &TestEnv, text: &str) {
    let path = env.configuration().with_file_name("cake_config.yaml");
    std::fs::write(path, text).unwrap();
}

/// What Claude Code is told: `allow`, `ask` or `deny`, and why.
fn hook(env: &TestEnv, tool: &str, input: Value) -> (String, String) {
    let event = json!({
        "cwd": env.project(), "permission_mode": "default", "tool_name": tool, "tool_input": input,
    });
    let hook = env.callosum().arguments(["hook", "claude", "pre-tool-use"]);
    let output: Output = hook.input(event.to_string()).run();
    let said = output.json();
    let said = &said["hookSpecificOutput"];
    let text = |key: &str| said[key].as_str().unwrap_or_default().to_owned();
    let decision = text("permissionDecision");
    let decision = if decision.is_empty() {
        "allow".to_owned()
    } else {
        decision
    };
    (decision, text("permissionDecisionReason"))
}

fn shell(env: &TestEnv, command: &str) -> (String, String) {
    hook(env, "Bash", json!({"command": command}))
}

fn last_record(env: &TestEnv) -> Value {
    let path = env.machine_home().join("journal/audit/2026-01-02.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    serde_json::from_str(text.lines().last().unwrap()).unwrap()
}

/// CAKE-CFG-1: the user's file counts at the hook and at the command line, a project's where it is
/// stricter.
#[test]
fn the_stricter_of_both_files_is_obeyed() {
    let env = TestEnv::new();
    env.git_init_with_work();
    let says = |command: &str| {
        let checked = env.run(["guard", "check", "--json", "--", command]).json();
        let hooked = shell(&env, command).0;
        let same = [("allow", "allow"), ("ask", "ask"), ("block", "deny")];
        let both = (checked["decision"].as_str().unwrap(), hooked.as_str());
        assert!(same.contains(&both), "{both:?}");
        hooked
    };
    assert_eq!(says("git reset --hard"), "deny");
    user(&env, &config("minimal", ""));
    assert_eq!(says("git reset --hard"), "ask");
    assert_eq!(says("git branch -D old"), "allow");
    let rule = "rules:\n  - {id: my.deploy, tools: [deploy], when: [prod], severity: block, \
                reason: people deploy, alternative: deploy test}\n";
    env.write("cake_config.yaml", config("balanced", rule));
    assert_eq!(says("git reset --hard"), "deny");
    assert_eq!(says("deploy prod"), "deny");
    assert_eq!(says("deploy test"), "allow");
    assert!(
        shell(&env, "deploy prod")
            .1
            .contains("people deploy. Instead: deploy test")
    );
    env.write("cake_config.yaml", config("paranoid", ""));
    assert_eq!(says("git branch -D old"), "deny");
    assert_eq!(last_record(&env)["details"]["strictness"], "paranoid");
}

/// CAKE-CFG-1: a project's file that would loosen the guard does not, and is named on the trail, by
/// `doctor` and by `config check`.
#[test]
fn a_project_that_would_loosen_the_guard_is_named() {
    let env = TestEnv::new();
    env.git_init_with_work();
    env.write("cake_config.yaml", config("minimal", ""));
    assert_eq!(shell(&env, "git reset --hard").0, "deny");
    let told = last_record(&env)["details"]["configuration"][0].clone();
    assert!(told.as_str().unwrap().contains("`strictness` is ignored"));
    for command in [&["doctor", "--json"][..], &["config", "check", "--json"]] {
        let output = env.run(command);
        assert!(
            output.stdout.contains("`strictness` is ignored"),
            "{output:?}"
        );
    }
}

/// CAKE-CFG-1: a broken file neither loosens the guard nor keeps the client from working; the
/// command line says file, key, value and what is allowed.
#[test]
fn a_broken_file_is_told_and_neither_loosens_nor_bricks() {
    let env = TestEnv::new();
    env.git_init_with_work();
    let broken = config("minimal", "").replace("max_strikes: 4", "max_strikes: 40");
    let users = env.configuration().with_file_name("cake_config.yaml");
    let projects = env.project().join("cake_config.yaml");
    for (path, other) in [(&users, &projects), (&projects, &users)] {
        drop(std::fs::remove_file(other));
        std::fs::write(path, &broken).unwrap();
        let (decision, reason) = shell(&env, "git reset --hard");
        assert_eq!(decision, "deny");
        let problem = format!(
            "{}: `escalation.max_strikes` is 40, expected a whole number from 1 to 10",
            path.display()
        );
        assert!(reason.contains(&problem), "{reason}");
        assert_eq!(shell(&env, "ls").0, "allow");
        assert_eq!(last_record(&env)["details"]["configuration"][0], *problem);
        let checked = env.run(["guard", "check", "--", "ls"]).ended_with(3);
        assert!(checked.stderr.contains(&problem), "{checked:?}");
        for command in ["doctor", "config check"] {
            let output = env.run(command.split(' ').chain(["--json"])).ended_with(1);
            assert!(output.stdout.contains("max_strikes"), "{output:?}");
        }
    }
    std::fs::remove_file(&projects).unwrap();
    std::fs::create_dir(&projects).unwrap();
    assert_eq!(shell(&env, "git reset --hard").0, "deny");
    assert_eq!(shell(&env, "ls").0, "allow");
}

/// CAKE-CFG-1: who wants to confirm everything is asked about everything, and who wants no record
/// of what is allowed has none.
#[test]
fn what_the_user_says_of_safety_is_obeyed() {
    let env = TestEnv::new();
    env.git_init_with_work();
    let safety = config("balanced", "").replace("confirmation: false", "confirmation: true");
    user(&env, &safety);
    assert_eq!(shell(&env, "ls").0, "ask");
    assert_eq!(hook(&env, "Write", json!({"file_path": "a.txt"})).0, "ask");
    assert_eq!(shell(&env, "git reset --hard").0, "deny");
    let quiet = config("balanced", "").replace("all_commands: true", "all_commands: false");
    user(&env, &quiet);
    shell(&env, "git reset --hard");
    assert_eq!(shell(&env, "ls").0, "allow");
    assert_eq!(last_record(&env)["status"], "blocked");
    env.write("cake_config.yaml", config("balanced", ""));
    shell(&env, "ls");
    assert_eq!(last_record(&env)["status"], "allowed");
}

/// CAKE-CFG-1: a rule that is refused is named with its line, and what is wrong with it alone.
#[test]
fn a_rule_that_is_refused_is_named_with_its_line() {
    let env = TestEnv::new();
    let rule = "rules:\n  - {id: my.deploy, tools: [deploy], when: [\"@nowhere\"], severity: block, \
                reason: people deploy, catches: [deploy prod]}\n";
    let text = config("balanced", rule);
    let line = text
        .lines()
        .position(|line| line.contains("my.deploy"))
        .unwrap()
        + 1;
    env.write("cake_config.yaml", &text);
    let output = env.run(["config", "check"]);
    let named = format!("line {line}: `rules[0].when[0]`");
    assert!(output.stderr.contains(&named), "{output:?}");
    assert!(!output.stderr.contains("catches"), "{output:?}");
    let refused = env.run(["config", "check", "--json"]).json();
    assert_eq!(refused["refused"][0]["line"], line, "{refused}");
}
