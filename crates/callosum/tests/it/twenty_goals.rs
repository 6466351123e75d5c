//! Twenty goals on a real repository, each from its sentence to its result.

use std::{fs, path::Path};

use callosum_testkit::{TestEnv, model::ScriptTurn};
use serde_json::{Value, json};

use crate::goals::{PLAN, VOTE, plan, vote, with_models};

/// A goal, the body of its plan, the capabilities of the plan, and its value.
type Goal = (
    &'static str,
    &'static str,
    &'static [&'static str],
    &'static str,
);

const GOALS: [Goal; 20] = [
    (
        "Name the crate",
        "(nth (split (:text (call :fs.read {:path \"Cargo.toml\" :from 2 :lines 1})) \"\\\"\") 1)",
        &[":fs.read"],
        "\"callosum-plan\"",
    ),
    (
        "Count the lines of the span module",
        "(:lines (call :fs.read \"src/span.rs\"))",
        &[":fs.read"],
        "",
    ),
    (
        "Does the library forbid unsafe code?",
        "(> (count (split (:text (call :fs.read \"src/lib.rs\")) \"forbid(unsafe_code)\")) 1)",
        &[":fs.read"],
        "true",
    ),
    (
        "Compare two modules",
        "(let [a (:lines (call :fs.read \"src/span.rs\")) b (:lines (call :fs.read \"src/invisible_chars.rs\"))] (> a b))",
        &[":fs.read"],
        "true",
    ),
    (
        "Map the repository",
        "(count (:summary (call :agent.scout {:prompt \"map\" :kind :scan})))",
        &[":agent.scout"],
        "",
    ),
    (
        "Map the dependencies",
        "(string? (:summary (call :agent.scout {:prompt \"deps\" :kind :deps})))",
        &[":agent.scout"],
        "true",
    ),
    (
        "Map the tests",
        "(string? (:summary (call :agent.delegate {:prompt \"tests\" :kind :tests :executor :scout})))",
        &[":agent.delegate"],
        "true",
    ),
    (
        "List the API",
        "(string? (:summary (call :agent.scout {:prompt \"api\" :kind :api :paths [\"src/reader\"]})))",
        &[":agent.scout"],
        "true",
    ),
    (
        "Count the answers so far",
        "(> (count (call :ledger.query {:limit 10})) 0)",
        &[":ledger.query"],
        "true",
    ),
    (
        "What can plans call?",
        "(> (count (call :capability.query {})) 5)",
        &[":capability.query"],
        "true",
    ),
    (
        "Which agents are there?",
        "(map (fn [one] (:id one)) (call :capability.query {:kind :agent :trust-tier 3}))",
        &[":capability.query"],
        "[:agent.delegate :agent.scout]",
    ),
    (
        "What is known about spans?",
        "(:items (call :horizon.build {:intent \"decisions about spans\" :sources [:decision] :max-tokens 500}))",
        &[":horizon.build"],
        "[]",
    ),
    (
        "Record a decision",
        "(:title (call :session.decide {:decision \"spans are bytes\" :because \"the reader counts bytes\"}))",
        &[":session.decide"],
        "\"spans are bytes\"",
    ),
    (
        "Record a decision with evidence",
        "(count (:evidence (call :session.decide {:decision \"unsafe code is forbidden\" :cite [\"src/lib.rs:1\"]})))",
        &[":session.decide"],
        "1",
    ),
    (
        "Leave a task",
        "(string? (:task (call :task.add {:prompt \"document spans\" :id \"spans\"})))",
        &[":task.add"],
        "true",
    ),
    (
        "Tell the others",
        "(:topic (call :mesh.publish {:topic \"plan.done\" :payload {:n 1}}))",
        &[":mesh.publish"],
        "\"plan.done\"",
    ),
    (
        "Summarize a module",
        "(:text (call :nlp.summarize {:text (:text (call :fs.read \"src/invisible_chars.rs\")) :model :one}))",
        &[":fs.read", ":nlp.summarize"],
        "\"a summary\"",
    ),
    (
        "Judge three reviews",
        "(call :nlp.sentiment {:texts [\"good\" \"bad\" \"so so\"] :model :one})",
        &[":nlp.sentiment"],
        "[:positive :negative :neutral]",
    ),
    (
        "Retry what fails",
        "(try (call :fs.read \"no/such/file\") (catch :CapabilityError error :missing))",
        &[":fs.read"],
        ":missing",
    ),
    (
        "Compute without a call",
        "(reduce + 0 (map (fn [n] (* n n)) (range 1 5)))",
        &[],
        "30",
    ),
];

/// Copies the sources of a crate of this repository.
fn copy(env: &TestEnv) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../callosum-plan");
    let mut pending = vec![from.join("Cargo.toml"), from.join("src")];
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path).unwrap();
            pending.extend(entries.map(|entry| entry.unwrap().path()));
            continue;
        }
        let name = path.strip_prefix(&from).unwrap();
        env.write(name, fs::read(&path).unwrap());
    }
    env.git(&["add", "--all"]);
    env.git(&["commit", "--quiet", "--message=a real repository"]);
}

fn reply(prompt: &str) -> Option<ScriptTurn> {
    if prompt.contains(VOTE) {
        return Some(vote("approve", None));
    }
    if prompt.contains("Summarize the text below") {
        return Some(ScriptTurn::text("a summary"));
    }
    if prompt.contains("positive, negative or neutral") && !prompt.contains(PLAN) {
        let words = json!({"sentiments": ["positive", "negative", "neutral"]});
        return Some(ScriptTurn::text(words.to_string()));
    }
    let (_, body, caps, _) = GOALS
        .iter()
        .find(|(goal, ..)| prompt.contains(&format!("this goal:\n\n{goal}\n")))?;
    Some(plan(&format!("(defplan reach () (step :do {body}))"), caps))
}

/// Runs `callosum do`, with random ids: a test's are the same in each process.
fn run_do(env: &TestEnv, arguments: &[&str]) -> Value {
    let run = env.callosum().without("CALLOSUM_TEST_IDS");
    let run = run
        .arguments(["do", "--yes", "--json"])
        .arguments(arguments);
    run.run().success().json()
}

/// CCOS-ARB-2, CCOS-EXEC-1, FED-1, CHN-1: twenty goals run from their sentence to their value; each chain verifies and gives the same
/// again, and the costs are those of the calls.
#[test]
fn twenty_goals_run_from_sentence_to_result() {
    let (env, server) = with_models(&["one", "two"], reply);
    copy(&env);
    let mut ids = Vec::new();
    for (goal, _, caps, expected) in GOALS {
        let output = run_do(&env, &[goal]);
        assert_eq!(output["outcome"], "completed", "{goal}: {output}");
        assert_eq!(output["accepted"], true);
        if !expected.is_empty() {
            assert_eq!(output["value"], expected, "{goal}");
        }
        let [deliberation, run] = ["deliberation", "run"].map(|run| {
            let run = output[run].as_str().unwrap();
            env.run(["plan", "show", run, "--json"]).success().json()
        });
        let spent = |run: &Value| run["tokens"].as_u64().unwrap();
        assert_eq!(
            output["tokens"],
            spent(&deliberation) + spent(&run),
            "{goal}"
        );
        let mut called = Vec::new();
        calls(&run["tree"], &mut called);
        for name in called {
            let is_allowed = caps.iter().any(|cap| {
                let cap = cap.trim_start_matches(':');
                name == cap
                    || cap
                        .strip_suffix("/*")
                        .is_some_and(|start| name.starts_with(start))
            });
            assert!(is_allowed, "{goal}: {name} is not in {caps:?}");
        }
        ids.push((output["deliberation"].clone(), output["value"].clone()));
    }
    env.run(["audit", "verify"]).success();
    env.run(["ledger", "verify"]).success();
    let listed = env
        .run(["intent", "list", "--all", "--json"])
        .success()
        .json();
    let intents = listed["intents"].as_array().unwrap();
    assert_eq!(intents.len(), GOALS.len());
    assert!(intents.iter().all(|intent| intent["status"] == "completed"));
    // The same again, from the records alone.
    let asked = server.heard().len();
    for (id, value) in ids {
        let again = run_do(&env, &["--resume", id.as_str().unwrap()]);
        assert_eq!(again["value"], value);
    }
    assert_eq!(server.heard().len(), asked);
}

/// Adds the names of what a run called.
fn calls(node: &Value, found: &mut Vec<String>) {
    if node["kind"] == "call" {
        let name = node["name"].as_str().unwrap();
        found.push(name.trim_start_matches(':').to_owned());
    }
    for child in node["children"].as_array().into_iter().flatten() {
        calls(child, found);
    }
}
