//! `callosum do`: proposals, lent intents, fallbacks, and plans that are used again.

use std::{
    fs,
    path::PathBuf,
    process::Stdio,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use callosum_testkit::{
    Schema, TestEnv,
    model::{ModelServer, ScriptTurn},
};
use serde_json::{Value, json};

use crate::{
    goals::{PLAN, plan, with_models},
    governing::HEADER,
};

const READ: &str = "(defplan read () (step :read (:lines (call :fs.read {:path \"README.md\"}))))";

/// A project with models that all propose to count the lines of the README.
fn counting(names: &[&str]) -> (TestEnv, ModelServer) {
    with_models(names, |prompt| {
        prompt.contains(PLAN).then(|| plan(READ, &[":fs.read"]))
    })
}

fn asked(server: &ModelServer) -> usize {
    let heard = server.heard();
    let is_plan = |body: &Value| body.to_string().contains(PLAN);
    heard.iter().filter(|one| is_plan(&one.body)).count()
}

/// Runs a goal without votes and without a question.
fn reach(env: &TestEnv, goal: &str, more: &[&str]) -> (Value, String) {
    let start = ["do", goal, "--yes", "--no-review", "--json"];
    let done = env.run(start.iter().chain(more)).success();
    (done.json(), done.stderr)
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

/// The records about goals, each with its status.
fn trail(env: &TestEnv) -> Vec<(String, Value)> {
    let query = ["audit", "query", "--event", "decision", "--json"];
    let found = env.run(query).success().json();
    let records = found["records"].as_array().unwrap().iter();
    records
        .filter(|record| !record["details"]["goal"].is_null())
        .map(|record| {
            let goal = record["details"]["goal"].clone();
            (text(record, "status").to_owned(), goal)
        })
        .collect()
}

/// The folder of the stored plans of the only project.
fn stored(env: &TestEnv) -> PathBuf {
    let all = env.machine_home().join("compiled-plans");
    let mut projects = fs::read_dir(all).unwrap();
    projects.next().unwrap().unwrap().path()
}

/// The goals of the index.
fn stored_goals(env: &TestEnv) -> Vec<String> {
    let index = fs::read(stored(env).join("index.json")).unwrap();
    let index: Value = serde_json::from_slice(&index).unwrap();
    let plans = index["plans"].as_array().unwrap().iter();
    let mut goals: Vec<_> = plans.map(|plan| text(plan, "goal").to_owned()).collect();
    goals.sort_unstable();
    goals
}

/// CCOS-DEL-1, DEL-4: a plan that was completed is proposed for the same goal without a model, and a person is asked as
/// ever. `delegation explain` says so, and a similar goal is only named.
#[test]
fn a_completed_plan_is_proposed_again() {
    let (env, server) = counting(&["one"]);
    let goal = "Count the lines of the README";
    let (first, _) = reach(&env, goal, &[]);
    let proposal = &first["proposal"];
    assert_eq!(proposal["capability"], "agent.one", "{first}");
    let shape = &proposal["expected_plan_shape"];
    let step = json!({"name": "read", "capabilities": [":fs.read"], "effects": ["reads-files"], "retries": 0,
                      "timeout_ms": null});
    assert_eq!(shape["steps"], json!([step]));
    assert_eq!(shape["max_calls"], 1);
    assert_eq!(proposal["fallback_strategy"][0]["then"], "retry");
    // The proposal was on the chain, with its bounds, before the model was asked.
    let records = trail(&env);
    let kinds: Vec<&str> = records.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(kinds, ["lent", "proposed", "outcome", "returned"]);
    let recorded = &records[1].1["proposal"];
    assert_eq!(recorded["capability"], "agent.one");
    assert_eq!(recorded["expected-plan-shape"]["max-calls"], 20);
    assert_eq!(recorded["intent"], first["intent"]);

    let explained = env.run(["delegation", "explain", goal, "--json"]);
    let explained = explained.success().json();
    assert_eq!(
        Schema::published("output-delegation").fault(&explained),
        None
    );
    assert!(text(&explained, "target").starts_with("l4:"), "{explained}");
    assert_eq!(explained["reused_from"], first["run"]);
    assert_eq!(explained["past"][0]["completed"], 1);

    let waiting = env.run(["do", "Count  the lines of the README"]);
    let waiting = waiting.ended_with(5);
    let line = format!("used again from {} (signed here)", text(&first, "run"));
    assert!(waiting.stderr.contains(&line), "{}", waiting.stderr);
    let hint = waiting.stderr.split("callosum do --intent ").nth(1);
    let intent = hint.unwrap().split(' ').next().unwrap();
    let again = env.run(["do", "--intent", intent, "--yes", "--json"]);
    let again = again.success().json();
    assert_eq!(Schema::published("output-do").fault(&again), None);
    assert_eq!(again["value"], "3");
    assert_eq!(again["reused_from"], first["run"]);
    assert_eq!(again["intent"], intent);
    assert_eq!(asked(&server), 1);

    let (fresh, _) = reach(&env, goal, &["--no-cache"]);
    assert_eq!(fresh["reused_from"], Value::Null);
    assert_eq!(asked(&server), 2);
    let (similar, stderr) = reach(&env, "Count the lines of the README file", &["--dry-run"]);
    assert_eq!(similar["similar_goal"], goal);
    assert!(stderr.contains("a similar goal exists"), "{stderr}");
    assert_eq!(asked(&server), 3);
    env.run(["audit", "verify"]).success();
}

/// CCOS-DEL-1: a stored plan that cannot be relied on is refused with the reason, and a model is asked.
#[test]
fn a_stored_plan_that_cannot_be_relied_on_is_refused() {
    let (env, server) = counting(&["one"]);
    let goal = "Count the lines";
    reach(&env, goal, &[]);
    let file = || {
        let files = fs::read_dir(stored(&env)).unwrap();
        let mut files = files.map(|entry| entry.unwrap().path());
        files.find(|path| path.file_name().unwrap().len() == 64)
    };
    let faults: [(&str, &dyn Fn()); 4] = [
        ("a byte was changed", &|| {
            let file = file().unwrap();
            let mut bytes = fs::read(&file).unwrap();
            *bytes.last_mut().unwrap() ^= 1;
            fs::write(&file, bytes).unwrap();
        }),
        ("is not in the store", &|| {
            fs::remove_file(file().unwrap()).unwrap();
        }),
        ("unknown key", &|| {
            fs::remove_dir_all(env.machine_home().join("keys")).unwrap();
        }),
        ("the constitution changed", &|| {
            let policy = format!(
                "{HEADER}@id(\"no-mesh\") forbid (principal, action, resource in Group::\"mesh\");"
            );
            env.write(".cal_constitution.cedar", policy);
        }),
    ];
    for (count, (reason, fault)) in faults.into_iter().enumerate() {
        fault();
        let (done, stderr) = reach(&env, goal, &[]);
        assert!(stderr.contains(reason), "{reason}: {stderr}");
        assert_eq!(done["reused_from"], Value::Null, "{reason}");
        assert_eq!(asked(&server), count + 2, "{reason}");
    }
    // What was stored instead is used again.
    let (done, _) = reach(&env, goal, &[]);
    assert!(done["reused_from"].is_string(), "{done}");
}

/// CCOS-DEL-1: two processes with one store lose no plan of each other.
#[test]
fn two_processes_share_one_store() {
    let (env, _server) = counting(&["one"]);
    let goals = ["Count the lines", "Measure the length"];
    thread::scope(|scope| {
        for goal in goals {
            let env = &env;
            scope.spawn(move || {
                let run = env.callosum().without("CALLOSUM_TEST_IDS");
                let arguments = ["do", goal, "--yes", "--no-review"];
                run.arguments(arguments).run().success();
            });
        }
    });
    assert_eq!(stored_goals(&env), goals);
    env.run(["audit", "verify"]).success();
}

/// CCOS-DEL-4: an intent is lent to one capability at a time, with its name in the refusal; the loan of a process that was
/// killed is returned when the goal is resumed.
#[test]
fn an_intent_is_lent_once() {
    let count = AtomicUsize::new(0);
    let (env, server) = with_models(&["one"], move |prompt| {
        prompt.contains(PLAN).then(|| ScriptTurn {
            delay_ms: match count.fetch_add(1, Ordering::SeqCst) {
                0 => 20_000,
                _ => 0,
            },
            ..plan(READ, &[":fs.read"])
        })
    });
    let mut first = env
        .callosum()
        .arguments(["do", "Count the lines", "--yes", "--no-review"])
        .command()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while asked(&server) == 0 {
        assert!(first.try_wait().unwrap().is_none(), "it ended");
        thread::sleep(Duration::from_millis(10));
    }
    let records = trail(&env);
    let (_, lent) = records.iter().find(|(kind, _)| kind == "lent").unwrap();
    let intent = text(lent, "intent");
    let second = env.run(["do", "--intent", intent, "--yes"]).ended_with(3);
    let refusal = format!("the intent {intent} is lent to agent.one since ");
    assert!(second.stderr.contains(&refusal), "{}", second.stderr);
    first.kill().unwrap();
    first.wait().unwrap();
    let run = text(lent, "run");
    let done = env.run(["do", "--resume", run, "--yes"]).success();
    assert_eq!(done.stdout, "3\n");
    let loans: Vec<String> = trail(&env)
        .iter()
        .filter(|(kind, _)| kind == "lent" || kind == "returned")
        .map(|(kind, goal)| format!("{kind} {}", text(goal, "reason")))
        .collect();
    let dead = "returned its process was found dead";
    assert_eq!(loans, ["lent ", dead, "lent ", "returned completed"]);
}

/// CCOS-ARB-3, DEL-2: the next model gets a goal for which the first has no plan, once, and both outcomes count.
#[test]
fn the_next_model_gets_a_goal_without_a_plan() {
    let count = Arc::new(AtomicUsize::new(0));
    let (env, server) = with_models(&["one", "two"], move |prompt| {
        let is_plan = prompt.contains(PLAN);
        is_plan.then(|| match count.fetch_add(1, Ordering::SeqCst) {
            0..3 => ScriptTurn::text("I would rather not."),
            _ => plan(READ, &[":fs.read"]),
        })
    });
    let (done, stderr) = reach(&env, "Count", &[]);
    assert_eq!(done["model"], "two", "{done}");
    assert_eq!(asked(&server), 4);
    assert!(stderr.contains("agent.two gets the goal"), "{stderr}");
    let explained = env.run(["delegation", "explain", "Count on", "--json"]);
    let explained = explained.success().json();
    let past = &explained["past"];
    assert_eq!(past[0]["no_plan"], 1, "{explained}");
    assert_eq!(past[0]["refused_replies"], 3);
    assert_eq!(past[1]["completed"], 1);
    assert!(text(&explained, "target").ends_with(":two"), "{explained}");
    let table = env.run(["delegation", "explain", "Count on"]).success();
    assert!(table.stdout.contains("REFUSED REPLIES"), "{}", table.stdout);
}

/// CCOS-ARB-3, DEL-4: a stored plan that fails is removed, and a model gets what happened.
#[test]
fn a_stored_plan_that_fails_leads_to_a_model() {
    let (env, server) = with_models(&["one"], |prompt| {
        if prompt.contains("the run failed") {
            return Some(plan(READ, &[":fs.read"]));
        }
        let source = "(defplan read () (:lines (call :fs.read \"notes.txt\")))";
        prompt.contains(PLAN).then(|| plan(source, &[":fs.read"]))
    });
    env.write("notes.txt", "one\ntwo\n");
    let goal = "Count the notes";
    assert_eq!(reach(&env, goal, &[]).0["value"], "2");
    fs::remove_file(env.project().join("notes.txt")).unwrap();
    let (done, stderr) = reach(&env, goal, &[]);
    assert_eq!(done["value"], "3", "{done}");
    assert!(stderr.contains("agent.one gets what happened"), "{stderr}");
    assert_eq!(asked(&server), 2);
    let (again, _) = reach(&env, goal, &[]);
    assert_eq!(again["reused_from"], done["run"]);
    assert_eq!(stored_goals(&env), [goal]);
}
