//! `callosum intent link`: tasks and beads of an intent, their states, and the intent where the task or bead is shown.

use std::fs;

use callosum_testkit::{Schema, TestEnv};
use serde_json::{Value, json};

use crate::intents::{add, project};

fn shown(env: &TestEnv, arguments: &[&str], schema: &str) -> Value {
    let shown = env.run([arguments, &["--json"]].concat()).success().json();
    assert_eq!(Schema::published(schema).fault(&shown), None);
    shown
}

/// The kind, id and state of each link of an intent.
fn links(intent: &Value) -> Vec<String> {
    let links = intent["links"].as_array().unwrap().iter();
    let text = |link: &Value, field: &str| link[field].as_str().unwrap().to_owned();
    let link = |link: &Value| ["to", "id", "status"].map(|field| text(link, field));
    links.map(|one| link(one).join(" ")).collect()
}

/// CCOS-ARB-1: tasks and beads link to intents and show their state, both name the intent, and an intent whose work is done
/// is proposed for completion and not changed.
#[test]
fn tasks_and_beads_link_to_an_intent_and_name_it() {
    let env = project();
    let id = add(&env, &["Rewrite the parser", "--active"]);
    env.run(["mesh", "task", "add", "Do the schema", "--id", "schema-1"])
        .success();
    env.run(["bead", "create", "Split the lexer", "--id", "bd-1"])
        .success();
    env.run(["intent", "link", &id, "--task", "schema-1"])
        .success();
    let linked = shown(
        &env,
        &["intent", "link", &id, "--bead", "bd-1"],
        "output-intent",
    );
    assert_eq!(links(&linked), ["task schema-1 pending", "bead bd-1 open"]);
    assert_eq!(linked["links"][0]["title"], "Do the schema");
    assert_eq!(linked["proposed_status"], Value::Null);
    let listed = shown(&env, &["intent", "list"], "output-intent-list");
    assert_eq!(links(&listed["intents"][0]), links(&linked));
    let tree = env.run(["intent", "tree"]).success().stdout;
    let row = format!("{id} active Rewrite the parser [task schema-1 pending, bead bd-1 open]\n");
    assert_eq!(tree, row);

    let named = json!([{"id": id, "status": "active", "name": "Rewrite the parser"}]);
    let task = shown(
        &env,
        &["mesh", "task", "show", "schema-1"],
        "output-mesh-task",
    );
    assert_eq!(task["intents"], named);
    let bead = shown(&env, &["bead", "show", "bd-1"], "output-bead");
    assert_eq!(bead["intents"], named);
    let text = env.run(["bead", "show", "bd-1"]).success().stdout;
    let comment = format!("# works for intent {id} active Rewrite the parser\n");
    let file = text.strip_prefix(&comment).unwrap();
    assert_eq!(
        file,
        fs::read_to_string(env.project().join(".beads/bd-1.yaml")).unwrap()
    );

    env.run(["mesh", "task", "done", "schema-1"]).success();
    env.run(["bead", "close", "bd-1"]).success();
    let shown = env.run(["intent", "show", &id]).success().stdout;
    let proposed = format!("all its links are done: callosum intent status {id} completed\n");
    assert!(shown.contains(&proposed), "{shown}");
    assert!(shown.contains("status        active\n"), "{shown}");
    env.run(["audit", "verify"]).success();
}

/// CCOS-ARB-1: a link needs a task or bead that exists; an error names near ones. What was removed later is missing, and its
/// link can still be removed.
#[test]
fn a_link_to_nothing_is_refused_and_a_removed_bead_is_missing() {
    let env = project();
    let id = add(&env, &["Rewrite the parser", "--active"]);
    env.run(["mesh", "task", "add", "Do the schema", "--id", "schema-1"])
        .success();
    env.run(["bead", "create", "Split the lexer", "--id", "bd-1"])
        .success();
    let refused = |arguments: &[&str], code: i32, why: &str| {
        let refused = env.run([&["intent", "link", &id], arguments].concat());
        let message = refused.ended_with(code).stderr;
        assert!(message.contains(why), "{message}");
    };
    refused(
        &["--task", "shcema-1"],
        1,
        "no task `shcema-1`, did you mean `schema-1`?",
    );
    refused(&["--bead", "bd-"], 1, "no bead `bd-`, did you mean `bd-1`?");
    refused(&["--bead", "xyz"], 1, "no bead `xyz`\n");
    refused(&[], 2, "--task");
    refused(
        &["--task", "schema-1", "--bead", "bd-1"],
        2,
        "cannot be used with",
    );
    refused(
        &["--task", "schema-1", "--remove"],
        1,
        "has no link to the task `schema-1`",
    );

    env.run(["intent", "link", &id, "--bead", "bd-1"]).success();
    refused(&["--bead", "bd-1"], 1, "has the bead `bd-1` already");
    let file = env.project().join(".beads/bd-1.yaml");
    fs::write(&file, "id: [\n").unwrap();
    let state = || links(&shown(&env, &["intent", "show", &id], "output-intent"));
    assert_eq!(state(), ["bead bd-1 unknown"]);
    fs::remove_file(&file).unwrap();
    assert_eq!(state(), ["bead bd-1 missing"]);
    env.run(["intent", "link", &id, "--bead", "bd-1", "--remove"])
        .success();
    assert_eq!(state(), Vec::<String>::new());
}
