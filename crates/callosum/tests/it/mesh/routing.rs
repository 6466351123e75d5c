//! `callosum mesh route classify`, and tasks that get their agent from their text.

use callosum_testkit::{Schema, TestEnv};

use super::json;

const REVIEW: &str = "Read through the entire repository, about 300k tokens, and review it";

/// CALC-ROUTE-1: a prompt is classified by its text, once the user has categories.
#[test]
fn a_prompt_is_classified_once_there_are_categories() {
    let env = TestEnv::new();
    let none = env.run(["mesh", "route", "classify", REVIEW]).ended_with(1);
    assert!(none.stdout.starts_with("no category"), "{}", none.stdout);
    env.run(["mesh", "route", "init"]).success();
    let shown = env
        .run(["mesh", "route", "classify", REVIEW])
        .success()
        .stdout;
    assert!(shown.starts_with("large-review for gemini-cli"), "{shown}");
    let output = json(&env, &["route", "classify", REVIEW]);
    assert_eq!(output["category"], "large-review");
    assert!(output["confidence"].as_f64().unwrap() >= output["threshold"].as_f64().unwrap());
    assert_eq!(
        Schema::published("output-mesh-classify").fault(&output),
        None
    );
    env.run([
        "mesh",
        "route",
        "classify",
        "Fix the off-by-one in parser.rs",
    ])
    .ended_with(1);
}

/// CALC-ROUTE-1: a task without an agent and a category gets both from its text, and the reason is shown.
#[test]
fn a_task_gets_its_agent_from_its_text() {
    let env = TestEnv::new();
    env.run(["mesh", "route", "init"]).success();
    let added = env
        .run(["mesh", "task", "add", REVIEW, "--id", "review"])
        .success();
    assert!(
        added
            .stderr
            .contains("assigned to gemini-cli by category large-review"),
        "{}",
        added.stderr
    );
    let task = json(&env, &["task", "show", "review"]);
    assert_eq!(
        (&task["assigned_to"], &task["category"]),
        (&"gemini-cli".into(), &"large-review".into())
    );
    env.run([
        "mesh", "task", "add", REVIEW, "--id", "mine", "--to", "codex",
    ])
    .success();
    assert_eq!(
        json(&env, &["task", "show", "mine"])["assigned_to"],
        "codex"
    );
    env.run([
        "mesh",
        "task",
        "add",
        "Rename the variable",
        "--id",
        "small",
    ])
    .success();
    assert!(json(&env, &["task", "show", "small"])["assigned_to"].is_null());
}

/// CALC-ROUTE-1: the user's own examples come before the rules.
#[test]
fn an_example_of_the_user_comes_first() {
    let env = TestEnv::new();
    env.run(["mesh", "route", "init"]).success();
    let path = env.configuration();
    let before = env.read(&path);
    let example =
        "[[mesh.examples]]\nprompt = \"Polish the weekly note\"\ncategory = \"creative\"\n";
    env.write(&path, format!("{before}\n{example}"));
    let output = json(&env, &["route", "classify", "Polish the weekly note"]);
    assert_eq!(
        (&output["category"], output["confidence"].as_f64()),
        (&"creative".into(), Some(1.0))
    );
}
