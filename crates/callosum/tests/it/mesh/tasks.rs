//! Tasks, and who does which.

use callosum_testkit::TestEnv;
use serde_json::Value;

use super::json;

/// CALC-PAT-2: who leaves a task once more under its id, in the same words, has left it; in others they are refused.
#[test]
fn a_task_that_is_left_twice_is_one() {
    let env = TestEnv::new();
    let add = |words: &str| env.run(["mesh", "task", "add", words, "--id", "t1", "--as", "codex"]);
    assert_eq!(add("Review").success().stdout, "t1\n");
    let again = add("Review").success();
    assert_eq!(again.stdout, "t1\n");
    let note = "task `t1` already exists and is pending; nothing was added";
    assert!(again.stderr.contains(note), "{}", again.stderr);
    let refused = add("Review all").ended_with(1).stderr;
    assert!(refused.contains("task `t1` already exists"), "{refused}");
    let added = env.run([
        "mesh", "tail", "--since", "0", "--topic", "calc.**", "--json",
    ]);
    let added = added.success().stdout;
    assert_eq!(added.lines().count(), 1, "{added}");
}

/// CALC-PAT-2: a task is left, claimed, done, and its author reads the result.
#[test]
fn a_task_goes_from_one_agent_to_another() {
    let env = TestEnv::new();
    let words = [
        "mesh",
        "task",
        "add",
        "Review the parser",
        "--to",
        "gemini",
        "--id",
        "t1",
        "--as",
        "claude",
    ];
    assert_eq!(env.run(words).success().stdout, "t1\n");
    env.run([
        "mesh",
        "task",
        "add",
        "Later",
        "--add-dep",
        "t1",
        "--id",
        "t2",
    ])
    .success();
    env.run(["mesh", "task", "claim", "--as", "codex"])
        .ended_with(1);
    let meant = env
        .run(["mesh", "task", "claim", "t1", "--as", "codex"])
        .ended_with(1);
    assert!(
        meant.stderr.contains("assigned to gemini-cli"),
        "{}",
        meant.stderr
    );
    let claimed = json(&env, &["task", "claim", "--as", "gemini"]);
    assert_eq!(claimed["id"], "t1");
    assert_eq!(claimed["claimed_by"], "gemini-cli");
    let listed = env.run(["mesh", "task", "list"]).success();
    assert_eq!(
        listed.stdout,
        "t1 P5 in_progress by gemini-cli: Review the parser\nt2 P5 pending: Later (waits for t1)\n"
    );
    env.run([
        "mesh", "task", "done", "t1", "--result", "x", "--as", "codex",
    ])
    .ended_with(1);
    env.run([
        "mesh",
        "task",
        "done",
        "t1",
        "--result",
        "no panics",
        "--as",
        "gemini",
    ])
    .success();
    assert_eq!(json(&env, &["task", "show", "t1"])["result"], "no panics");
    assert_eq!(json(&env, &["task", "claim", "--as", "codex"])["id"], "t2");
    env.run(["mesh", "task", "release", "t2", "--as", "codex"])
        .success();
    env.run(["mesh", "task", "cancel", "t2"]).success();
    assert_eq!(
        json(&env, &["task", "list"])["tasks"],
        serde_json::json!([])
    );
    env.run(["mesh", "task", "show", "none"]).ended_with(1);
}

/// CALC §2: a person moves a pending task to another agent; a claimed one keeps its agent.
#[test]
fn a_pending_task_is_assigned_to_another_agent() {
    let env = TestEnv::new();
    env.run([
        "mesh", "task", "add", "Review", "--id", "t1", "--to", "gemini",
    ])
    .success();
    let assigned = json(&env, &["task", "assign", "t1", "--to", "codex"]);
    assert_eq!(assigned["assigned_to"], "codex");
    // Without a category there is no other agent that it moved away from.
    assert_eq!(assigned["reassigned"], Value::Null);
    env.run(["mesh", "task", "claim", "t1", "--as", "gemini"])
        .ended_with(1);
    let anyone = json(&env, &["task", "assign", "t1", "--anyone"]);
    assert_eq!(anyone["assigned_to"], Value::Null);
    env.run(["mesh", "task", "claim", "t1", "--as", "gemini"])
        .success();
    let refused = env.run(["mesh", "task", "assign", "t1", "--to", "codex"]);
    let refused = refused.ended_with(1).stderr;
    assert!(
        refused.contains("task `t1` is in progress")
            && refused.contains("callosum mesh task release t1 --force"),
        "{refused}"
    );
    env.run(["mesh", "task", "assign", "none", "--to", "codex"])
        .ended_with(1);
    env.run(["mesh", "task", "assign", "t1"]).ended_with(2);
}

/// CALC-ROUTE-1: a task that a person assigned does not fall back to the second agent of its category.
#[test]
fn an_assigned_task_of_a_category_stays_with_its_agent() {
    let env = TestEnv::new();
    env.run(["mesh", "route", "init"]).success();
    let at = |time: &str, words: &[&str]| {
        let run = env
            .callosum()
            .arguments([&["mesh", "task"], words].concat());
        let time = format!("2026-01-02T{time}Z");
        run.env("CALLOSUM_TEST_CLOCK", &*time)
            .run()
            .success()
            .stdout
    };
    for id in ["left", "assigned"] {
        let words = ["add", "Count", "--id", id, "--category", "dependency-scan"];
        at("03:00:00", &words);
    }
    at("03:01:00", &["assign", "assigned", "--to", "codex"]);
    at("03:02:00", &["assign", "assigned", "--to", "gemini"]);
    let shown = |id: &str| -> Value {
        serde_json::from_str(&at("04:00:00", &["show", id, "--json"])).unwrap()
    };
    // The first agent of the category had 15 minutes.
    assert_eq!(shown("left")["assigned_to"], "codex");
    let assigned = shown("assigned");
    assert_eq!(assigned["assigned_to"], "gemini-cli");
    assert_eq!(assigned["reassigned"], "assigned by person");
}

/// CALC-ROUTE-1, CALC-BOOT-1: a task by its category reaches the agent that is best at it, which is told.
#[test]
fn a_task_of_a_category_is_told_to_whom_it_is_for() {
    let env = TestEnv::new();
    let none = env.run(["mesh", "route", "large-review"]).ended_with(2);
    assert!(
        none.stderr.contains("none are configured"),
        "{}",
        none.stderr
    );
    env.run(["mesh", "route", "init"]).success();
    let again = env.run(["mesh", "route", "init"]).ended_with(1);
    assert!(
        again.stderr.contains("already configures"),
        "{}",
        again.stderr
    );
    env.run([
        "mesh",
        "task",
        "add",
        "What depends on serde?",
        "--category",
        "dependency-scan",
        "--as",
        "codex",
        "--id",
        "t",
    ])
    .success();
    let wrong = env
        .run(["mesh", "task", "add", "x", "--category", "cooking"])
        .ended_with(2);
    assert!(
        wrong.stderr.contains("allowed: architecture, "),
        "{}",
        wrong.stderr
    );
    assert_eq!(
        env.run(["mesh", "digest", "--to", "codex"])
            .success()
            .stdout,
        ""
    );
    let told = env.run(["mesh", "digest", "--to", "gemini"]).success();
    assert!(
        told.stdout.contains("callosum mesh task claim t"),
        "{}",
        told.stdout
    );
    let none = env
        .run(["mesh", "digest", "--to", "gemini", "--budget", "3"])
        .success();
    assert_eq!(none.stdout, "");
    assert_eq!(
        json(&env, &["route", "large-review"])["routes"][0]["sla_seconds"],
        900
    );
    env.run(["mesh", "route", "cooking"]).ended_with(2);
}

/// CALC-ROUTE-1: who does what is configured by the user, and the accounts that stand in the bridge file are kept and shown.
#[test]
fn the_matrix_is_the_users_and_accounts_are_shown() {
    let env = TestEnv::new();
    let config = "[mesh.routes.large-review]\nprimary = \"codex\"\nminutes = 1\n";
    env.write(env.configuration(), config);
    let add = [
        "mesh",
        "task",
        "add",
        "Review it",
        "--category",
        "large-review",
    ];
    let words = [&add[..], &["--id", "t", "--as", "person"]].concat();
    env.run(words).success();
    assert_eq!(json(&env, &["task", "show", "t"])["assigned_to"], "codex");
    let route = json(&env, &["route", "large-review"]);
    assert_eq!(route["routes"][0]["sla_seconds"], 60);
    assert_eq!(route["accounts"], Value::Null);
    let path = json(&env, &["bridge"])["path"].as_str().unwrap().to_owned();
    let account = "\"account_state\": {\"mac1\": {\"email\": \"a@b.c\", \"status\": \"active\"}}";
    let text = env.read(&path);
    env.write(&path, text.replace("\"account_state\": {}", account));
    let shown = env.run(["mesh", "route"]).success().stdout;
    assert!(shown.contains("account mac1 active a@b.c\n"), "{shown}");
    let route = json(&env, &["route"]);
    assert_eq!(route["accounts"]["mac1"]["status"], "active");
    assert!(env.read(&path).contains("a@b.c"));
}

/// CALC-ROUTE-1: a task that is not begun in time goes to the other agent at the next look, and the log tells of it.
#[test]
fn a_task_that_nobody_begins_goes_to_the_other() {
    let env = TestEnv::new();
    env.run(["mesh", "route", "init"]).success();
    let at = |time: &str, words: &[&str]| {
        let words = [&["mesh"], words].concat();
        let run = env.callosum().arguments(words);
        run.env("CALLOSUM_TEST_CLOCK", time).run().success()
    };
    let add = [
        "task",
        "add",
        "Map",
        "--category",
        "dependency-scan",
        "--id",
        "t",
    ];
    at("2026-01-02T03:00:00Z", &add);
    let waits = at("2026-01-02T03:14:00Z", &["task", "list"]).stdout;
    assert!(waits.contains("for gemini-cli"), "{waits}");
    let over = at("2026-01-02T03:16:00Z", &["task", "list"]).stdout;
    assert!(over.contains("for codex"), "{over}");
    let shown = at("2026-01-02T03:16:00Z", &["task", "show", "t"]).stdout;
    let why = "reassigned: gemini-cli did not begin it within 15 minutes";
    assert!(shown.contains(why), "{shown}");
    let told = at(
        "2026-01-02T03:17:00Z",
        &["tail", "--topic", "calc.task.changed", "--json"],
    );
    assert_eq!(told.stdout.lines().count(), 1, "{}", told.stdout);
    assert!(
        told.stdout.contains("\"source\":\"callosum\""),
        "{}",
        told.stdout
    );
}

/// CALC-PAT-2: who is refused is told what to type for what they wanted.
#[test]
fn a_refusal_says_what_to_type_for_what_was_wanted() {
    let env = TestEnv::new();
    env.run(["mesh", "task", "add", "count", "--to", "codex", "--id", "t"])
        .success();
    for (words, hint) in [
        (&["claim", "t"][..], "callosum mesh task claim t --force"),
        (&["done", "t"], "callosum mesh task done t --force"),
        (&["claim"], "callosum mesh task list"),
    ] {
        let words = [&["mesh", "task"], words, &["--as", "gemini"]].concat();
        let refused = env.run(&words).ended_with(1).stderr;
        assert!(
            refused.contains(&format!("hint: {hint}\n")),
            "{words:?}: {refused}"
        );
    }
    env.run(["mesh", "task", "done", "t", "--as", "gemini", "--force"])
        .success();
}

/// CALC-PAT-2: a task whose need was taken back is told from one that waits.
#[test]
fn a_task_that_waits_in_vain_says_so() {
    let env = TestEnv::new();
    for words in [
        &["add", "a", "--id", "t1"][..],
        &["add", "b", "--add-dep", "t1", "--id", "t2"],
        &["cancel", "t1"],
    ] {
        env.run([&["mesh", "task"], words].concat()).success();
    }
    let listed = env.run(["mesh", "task", "list"]).success();
    assert_eq!(
        listed.stdout,
        "t2 P5 pending: b (waits for t1; t1 canceled, will never complete)\n"
    );
    let shown = json(&env, &["task", "show", "t2"]);
    assert_eq!(shown["unsatisfiable_needs"], serde_json::json!(["t1"]));
}

/// CALC-ROUTE-1: an agent that is out of quota, blocked or gone loses its turn at once, if a fallback is at work; an old
/// registry is not believed.
#[test]
fn an_agent_that_cannot_work_loses_its_turn_at_once() {
    for (state, seen_at, other, expected) in [
        (
            "USAGE_LIMITED",
            "03:00:00",
            "codex",
            Some("has used up its limit in %1"),
        ),
        ("SESSION_ENDED", "03:00:00", "codex", Some("ended in %1")),
        (
            "BLOCKED_ON_APPROVAL",
            "03:00:00",
            "codex",
            Some("waits for a person's approval in %1"),
        ),
        ("WORKING", "03:00:00", "codex", None),
        ("USAGE_LIMITED", "02:49:00", "codex", None),
        ("BLOCKED_ON_APPROVAL", "02:58:30", "codex", None),
        ("USAGE_LIMITED", "03:00:00", "claude", None),
    ] {
        let env = TestEnv::new();
        env.run(["mesh", "route", "init"]).success();
        let at = |words: &[&str]| {
            let run = env.callosum().arguments([&["mesh"], words].concat());
            let run = run.env("CALLOSUM_TEST_CLOCK", "2026-01-02T03:00:01Z");
            run.run().success().stdout
        };
        let pane = |name: &str, agent: &str, state: &str| {
            serde_json::json!({
                "pane": name, "tty": null, "pid": 1, "session_id": null, "project": null, "cwd": null,
                "last_prompt": null, "status": "active", "activity_state": "WORKING", "quadrant": null,
                "last_active": "2026-01-02T02:58:00Z", "agent": agent, "runtime": agent, "state": state,
                "detail": null, "since": "2026-01-02T02:58:00Z", "resets_at": null, "resets": null,
                "has_draft": false, "evidence": [],
            })
        };
        let registry = serde_json::json!({
            "version": "1.0.0", "updated_at": format!("2026-01-02T{seen_at}Z"), "writer": 1,
            "panes": [pane("%1", "gemini", state), pane("%2", other, "TRULY_IDLE")],
        });
        let path = env.machine_home().join("pane_registry.json");
        env.write(&path, registry.to_string());
        let what = format!("{state} seen at {seen_at}, {other} idle");
        at(&[
            "task",
            "add",
            "Map",
            "--category",
            "dependency-scan",
            "--id",
            "t",
        ]);
        let task = at(&["task", "show", "t", "--json"]);
        let task: Value = serde_json::from_str(&task).unwrap();
        let why = task["reassigned"].as_str();
        match expected {
            Some(part) => {
                assert_eq!(task["assigned_to"], "codex", "{what}");
                assert_eq!(why, Some(&*format!("gemini-cli {part}")), "{what}");
                let shown = at(&["task", "show", "t"]);
                assert!(shown.contains("reassigned: gemini-cli "), "{shown}");
            }
            None => assert_eq!(
                (task["assigned_to"].as_str(), why),
                (Some("gemini-cli"), None),
                "{what}"
            ),
        }
        let route = at(&["route", "dependency-scan", "--json"]);
        let route: Value = serde_json::from_str(&route).unwrap();
        let absent = route["routes"][0]["primary_absent"].as_str();
        let is_absent = expected.is_some() || other == "claude";
        assert_eq!(absent.is_some(), is_absent, "{what}: {absent:?}");
    }
}
