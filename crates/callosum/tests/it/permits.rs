//! What a person has permitted, what the guard makes of it, and what it has decided.

use callosum_testkit::{Output, TestEnv};
use serde_json::{Value, json};

const ASKED_ABOUT: &str = "git branch -D old";

fn hook(env: &TestEnv, command: &str) -> Output {
    let event = json!({
        "cwd": env.project(), "permission_mode": "default", "tool_name": "Bash",
        "tool_input": {"command": command}, "session_id": "s-1",
    });
    let hook = env.callosum().arguments(["hook", "claude", "pre-tool-use"]);
    hook.input(event.to_string()).run()
}

fn asks(env: &TestEnv, command: &str) -> bool {
    let output = hook(env, command);
    let said = output.json();
    let decision = &said["hookSpecificOutput"]["permissionDecision"];
    assert!(decision.is_null() || *decision == "ask", "{output:?}");
    *decision == "ask"
}

fn allow(env: &TestEnv, arguments: &[&str]) -> String {
    let all = ["guard", "allow", "--json"].iter().chain(arguments);
    let said = env.run(all).success().json();
    said["id"].as_str().unwrap().to_owned()
}

fn log(env: &TestEnv, arguments: &[&str]) -> Vec<Value> {
    let all = ["guard", "log", "--json"].iter().chain(arguments);
    let said = env.run(all).success().json();
    said["decisions"].as_array().unwrap().clone()
}

/// CAKE-SHIM-1: what a person has permitted is allowed until they take it back, whatever it is
/// wrapped in, and nothing else is.
#[test]
fn what_is_permitted_is_allowed_until_it_is_taken_back() {
    let env = TestEnv::new();
    env.git_init_with_work();
    assert!(asks(&env, ASKED_ABOUT));
    let id = allow(&env, &["git branch -D *"]);
    assert!(!asks(&env, ASKED_ABOUT));
    assert!(!asks(&env, &format!("env X=1 bash -c '{ASKED_ABOUT}'")));
    assert!(asks(&env, &format!("{ASKED_ABOUT}; git stash drop")));
    env.run(["guard", "check", "--", ASKED_ABOUT]).success();
    let listed = env.run(["guard", "allow", "--list", "--json"]).success();
    let listed = listed.json();
    assert_eq!(listed["permissions"][0]["pattern"], "git branch -D *");
    assert_eq!(listed["permissions"][0]["scope"], "project");
    env.run(["guard", "revoke", &id[..8]]).success();
    assert!(asks(&env, ASKED_ABOUT));
    env.run(["guard", "revoke", &id]).ended_with(2);
    let pattern = env.run(["guard", "revoke", "git branch -D *"]);
    let refused = pattern.ended_with(2).stderr;
    assert!(
        refused.contains("is not the id of a permission"),
        "{refused}"
    );
    assert!(refused.contains("callosum guard allow --list"), "{refused}");
    let verdicts: Vec<Value> = log(&env, &[])
        .into_iter()
        .map(|decision| decision["verdict"].clone())
        .collect();
    let expected = [
        "asked",
        "permitted",
        "allowed",
        "allowed",
        "asked",
        "revoked",
        "asked",
    ];
    assert_eq!(verdicts, expected);
    assert_eq!(log(&env, &["--verdict", "allowed"])[0]["permitted"][0], *id);
}

/// CAKE-SHIM-1: the reason is that of the rule which still decides, not of one that a person has
/// lifted.
#[test]
fn the_reason_names_the_rule_that_still_decides() {
    let env = TestEnv::new();
    env.git_init_with_work();
    let both = format!("{ASKED_ABOUT}; git stash drop");
    let reason = |output: &Output| {
        let said = output.json();
        let reason = &said["hookSpecificOutput"]["permissionDecisionReason"];
        reason.as_str().unwrap().to_owned()
    };
    assert!(reason(&hook(&env, &both)).contains("git.branch-delete"));
    allow(&env, &["git branch -D *", "--once"]);
    let said = reason(&hook(&env, &both));
    assert!(said.contains("git.stash-drop"), "{said}");
    assert!(!said.contains("git.branch-delete"), "{said}");
    assert_eq!(log(&env, &["-n", "1"])[0]["rule"], "git.stash-drop");
    // What was not of use is not used up.
    assert!(!asks(&env, ASKED_ABOUT));
}

/// CAKE-SHIM-1: where nobody can be asked, the reason says who can permit it, and does not tell the
/// agent to.
#[test]
fn where_nobody_is_asked_the_reason_says_who_can_permit_it() {
    let env = TestEnv::new();
    env.git_init_with_work();
    for client in ["codex", "gemini", "qwen"] {
        let event = json!({
            "cwd": env.project(), "tool_name": "Bash", "tool_input": {"command": ASKED_ABOUT},
        });
        let hook = env.callosum().arguments(["hook", client, "pre-tool-use"]);
        // Gemini takes a denial from standard output, and calls an exit code 2 a hook that failed.
        let code = if client == "gemini" { 0 } else { 2 };
        let output = hook.input(event.to_string()).run().ended_with(code);
        let said = output.stdout + &output.stderr;
        assert!(said.contains("tell the user"), "{said}");
        assert!(said.contains("`callosum guard allow`"), "{said}");
    }
    let event = json!({
        "cwd": env.project(), "permission_mode": "bypassPermissions", "tool_name": "Write",
        "tool_input": {"file_path": env.home().join(".bashrc")},
    });
    let hook = env.callosum().arguments(["hook", "claude", "pre-tool-use"]);
    let said = hook.input(event.to_string()).run().stdout;
    assert!(
        said.contains("\"deny\"") && said.contains("by hand"),
        "{said}"
    );
    // Where one is asked, and where it is blocked, there is no such way.
    let asked = self::hook(&env, ASKED_ABOUT).stdout;
    assert!(!asked.contains("guard allow"), "{asked}");
    let blocked = self::hook(&env, "git reset --hard").stdout;
    assert!(!blocked.contains("guard allow"), "{blocked}");
}

/// CAKE-SHIM-1: a block always wins, and nobody is let believe otherwise.
#[test]
fn a_block_wins_over_a_permission() {
    let env = TestEnv::new();
    env.git_init_with_work();
    let refused = env
        .run(["guard", "allow", "git reset --hard"])
        .ended_with(1);
    assert!(refused.stderr.contains("git.reset-hard"), "{refused:?}");
    // One that would only cover it among others is kept, and lifts nothing of it.
    allow(&env, &["git *"]);
    let output = hook(&env, "git reset --hard");
    assert!(output.stdout.contains("\"deny\""), "{output:?}");
    for wrong in ["*", "a; b", "rm $X", ""] {
        env.run(["guard", "allow", wrong]).ended_with(2);
    }
    env.run(["guard", "allow"]).ended_with(2);
    env.run(["guard", "allow", "x", "--for", "0m"])
        .ended_with(2);
}

/// CAKE-SHIM-1: what is for one time is used up by one of many hooks at once; what is for minutes
/// ends with them; what is for this project ends at it.
#[test]
fn a_permission_ends_as_was_said() {
    let env = TestEnv::new();
    env.git_init_with_work();
    allow(&env, &["git branch -D *", "--once"]);
    let allowed = std::thread::scope(|scope| {
        let hooks = (0..6).map(|_| scope.spawn(|| !asks(&env, ASKED_ABOUT)));
        let hooks: Vec<_> = hooks.collect();
        let allowed = hooks.into_iter().map(|hook| hook.join().unwrap());
        allowed.filter(|&allowed| allowed).count()
    });
    assert_eq!(allowed, 1);
    allow(&env, &["git branch -D *", "--for", "10m"]);
    let at = |clock: &str| {
        let check = ["guard", "check", "--", ASKED_ABOUT];
        let run = env.callosum().arguments(check);
        run.env("CALLOSUM_TEST_CLOCK", clock).run()
    };
    at("2026-01-02T03:14:00Z").success();
    at("2026-01-02T03:14:06Z").ended_with(1);
    env.write("inner/.calrc", "{}");
    let elsewhere = env.project().join("inner");
    let check = || {
        let check = ["guard", "check", "--", ASKED_ABOUT];
        env.callosum()
            .arguments(["-C", elsewhere.to_str().unwrap()])
            .arguments(check)
            .run()
    };
    check().ended_with(1);
    allow(&env, &["git branch -D *", "--scope", "user"]);
    check().success();
}

/// CAKE-SHIM-1: what an agent may do is not for the agent to say.
#[test]
fn an_agent_permits_itself_nothing() {
    let env = TestEnv::new();
    for command in [
        "callosum guard allow 'git *'",
        "callosum trust --yes",
        "callosum uninstall",
        "callosum config set ledger_path x",
        "echo x > cake_config.yaml",
    ] {
        let output = hook(&env, command);
        assert!(output.stdout.contains("\"deny\""), "{command}: {output:?}");
    }
}

/// CAKE-SHIM-1: permissions that cannot be read permit nothing, and that is told.
#[test]
fn permissions_that_cannot_be_read_permit_nothing() {
    let env = TestEnv::new();
    env.git_init_with_work();
    allow(&env, &["git branch -D *", "--scope", "user"]);
    let file = env.machine_home().join("permissions/user.json");
    std::fs::write(&file, "{").unwrap();
    let output = hook(&env, ASKED_ABOUT);
    assert!(output.stdout.contains("is damaged"), "{output:?}");
    let told = log(&env, &["-n", "1"]);
    assert!(
        told[0]["configuration"][0]
            .as_str()
            .unwrap()
            .contains("user.json")
    );
    env.run(["guard", "check", "--", "ls"]).ended_with(3);
}

/// CAKE-SHIM-1, CAKE-MET-1: the log shows what was decided, filtered, and the metrics count it.
#[test]
fn the_log_and_the_metrics_show_what_was_decided() {
    let env = TestEnv::new();
    env.git_init_with_work();
    hook(&env, "ls");
    env.run(["init", "--ledger", "--sessions", "--share"])
        .success();
    hook(&env, "git reset --hard");
    hook(
        &env,
        &format!("{ASKED_ABOUT} --token ghp_0123456789abcdefghijklmnopqrstuvwxyz"),
    );
    let all = log(&env, &[]);
    let verdicts: Vec<_> = all
        .iter()
        .map(|one| one["verdict"].as_str().unwrap())
        .collect();
    assert_eq!(verdicts, ["allowed", "blocked", "asked"]);
    assert!(!all[2].to_string().contains("0123456789abcdef"));
    assert_eq!(log(&env, &["--verdict", "blocked"]).len(), 1);
    assert_eq!(log(&env, &["--rule", "git"]).len(), 2);
    assert_eq!(log(&env, &["--rule", "git.reset-hard"]).len(), 1);
    assert_eq!(log(&env, &["--rule", "gi"]).len(), 0);
    assert_eq!(log(&env, &["-n", "1"])[0]["verdict"], "asked");
    assert_eq!(log(&env, &["--since", "2026-01-03T00:00:00Z"]).len(), 0);
    let shown = env.run(["guard", "log"]).success().stdout;
    assert!(shown.contains("git.reset-hard"), "{shown}");
    let metrics = env.run(["guard", "metrics"]).success().stdout;
    for line in [
        "cake_interventions_total{type=\"command\",severity=\"block\",success=\"true\"} 1",
        "cake_errors_prevented_total{error_type=\"git.reset-hard\"} 1",
        "cake_response_latency_seconds_count{component=\"guard\",operation=\"command\"} 3",
    ] {
        assert!(metrics.contains(line), "{metrics}");
    }
    // What was decided elsewhere on this machine is told where it is asked for.
    let elsewhere =
        json!({"cwd": env.home(), "tool_name": "Bash", "tool_input": {"command": "ls"}});
    let hook = env.callosum().arguments(["hook", "codex", "pre-tool-use"]);
    let hook = hook.env("CLAUDE_PROJECT_DIR", env.home());
    hook.input(elsewhere.to_string()).run();
    assert_eq!(log(&env, &[]).len(), 3);
    assert_eq!(log(&env, &["--all-projects"]).len(), 4);
}
