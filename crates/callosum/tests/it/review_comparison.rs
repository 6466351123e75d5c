//! `cargo xtask compare-reviews`: one model, self-consistency and a federation on planted bugs, with scripted models.

use std::{
    fs,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use callosum_testkit::{
    TestEnv, fakes,
    model::{ModelServer, ScriptTurn, Usage},
};
use serde_json::{Value, json};

use crate::goals::with_models;

/// Repositories, each with a model's behavior: it finds the bug, it is often wrong, it answers with prose.
const NAMES: [&str; 3] = ["clear", "subtle", "dull"];

/// Returns a file with many places for a bug.
fn source(name: &str) -> String {
    let function = |number| {
        format!(
            "/// Returns how many of `values` are in a range.\npub fn count_{number}(values: &[u32], low: u32, high: u32) -> u32 \
             {{\n    let mut count = 0;\n    for index in 0..values.len() {{\n        let value = values[index];\n        \
             if value >= low && value < high {{\n            count = count + 1;\n        }}\n    }}\n    count\n}}\n"
        )
    };
    let functions: Vec<String> = (0..6).map(function).collect();
    format!("//! The `{name}` library.\n\n{}", functions.join("\n"))
}

/// Creates the repositories beside the project.
fn repositories(env: &TestEnv) -> Vec<PathBuf> {
    let create = |name: &&str| {
        let root = env.folder().join("repositories").join(name);
        fs::create_dir_all(root.join("src")).unwrap();
        fs::create_dir_all(root.join("tests")).unwrap();
        fs::write(root.join("src/lib.rs"), source(name)).unwrap();
        fs::write(root.join("tests/it.rs"), source(name)).unwrap();
        root
    };
    NAMES.iter().map(create).collect()
}

/// Returns the line of the planted bug in a prompt: the one that the original does not have.
fn planted(prompt: &str, name: &str) -> usize {
    let original = source(name);
    let numbered = prompt.lines().filter_map(|line| {
        let (number, line) = line.split_once(" | ")?;
        Some((number.trim().parse::<usize>().ok()?, line))
    });
    let mut changed =
        numbered.filter(|(number, line)| original.lines().nth(number - 1) != Some(*line));
    let (number, _) = changed.next().expect("one line differs");
    assert_eq!(changed.next(), None, "one bug in {prompt}");
    number
}

fn answer(line: usize) -> ScriptTurn {
    ScriptTurn::text(json!({"line": line, "reason": "the bound is wrong"}).to_string())
}

/// Two models by one server. Outside of a federation, every third answer about `subtle` is right at first, wrong then.
fn models() -> (TestEnv, ModelServer) {
    let count = Arc::new(AtomicUsize::new(0));
    with_models(&["one", "two"], move |prompt| {
        let name = NAMES
            .into_iter()
            .find(|name| prompt.contains(&format!("The `{name}` library")))?;
        let line = planted(prompt, name);
        Some(match name {
            "clear" => answer(line),
            "dull" => ScriptTurn::text("I see nothing wrong here."),
            _ if prompt.contains("The reviewers disagree") => answer(line),
            _ if prompt.contains("Your role is strategy") => answer(line + 20),
            _ if prompt.contains("Your role is") => answer(line),
            _ => match count.fetch_add(1, Ordering::SeqCst) % 3 {
                0 => answer(line + 20),
                _ => answer(line + 1),
            },
        })
    })
}

/// Runs the comparison. Returns its JSON.
fn compare(env: &TestEnv, repositories: &[PathBuf], options: &[&str]) -> Value {
    let registry = env.project().join("registry.json");
    let mut run = env
        .program(fakes::program("xtask"))
        .arguments(["compare-reviews", "--json", "--registry"])
        .arguments([registry])
        .arguments(options)
        // Runs that begin in different processes need ids that differ.
        .without("CALLOSUM_TEST_IDS");
    for repository in repositories {
        run = run.arguments(["--repository"]).arguments([repository]);
    }
    run.run().success().json()
}

fn row<'r>(report: &'r Value, method: &str, model: &str) -> &'r Value {
    let rows = report["methods"].as_array().unwrap();
    let is_it = |row: &&Value| row["method"] == method && row["models"][0] == model;
    rows.iter().find(is_it).unwrap()
}

fn counts(row: &Value) -> [u64; 4] {
    ["found", "wrong_line", "not_found", "questions"].map(|key| row[key].as_u64().unwrap())
}

/// CCOS-FED-1: the comparison counts what each method finds, its tokens add up, and each keeps to its budget.
#[test]
fn a_comparison_counts_and_keeps_to_its_budget() {
    let (env, server) = models();
    let repositories = repositories(&env);
    let before = server.heard().len();
    let report = compare(&env, &repositories, &["--bugs", "3", "--tokens", "30000"]);

    // One bug for each repository, in shipped code.
    let bugs = report["bugs"].as_array().unwrap();
    for (bug, name) in bugs.iter().zip(NAMES) {
        assert_eq!(
            (&bug["repository"], &bug["file"]),
            (&json!(name), &json!("src/lib.rs"))
        );
        assert_ne!(bug["before"], bug["after"]);
        let line = bug["line"].as_u64().unwrap() as usize;
        let original = source(name);
        assert_eq!(
            bug["before"],
            original.lines().nth(line - 1).unwrap().trim()
        );
    }
    // `one` was wrong about `subtle`, and `two` right, so `two` is asked again and again, and most of its answers are right.
    // The federation is unanimous, or it debates, or it has no vote.
    assert_eq!(counts(row(&report, "single", "one")), [1, 1, 1, 3]);
    assert_eq!(counts(row(&report, "single", "two")), [2, 0, 1, 3]);
    assert_eq!(row(&report, "single", "two")["is_best_single"], true);
    assert_eq!(
        counts(row(&report, "self-consistency", "two")),
        [2, 0, 1, 18]
    );
    let federation = row(&report, "federation", "one");
    assert_eq!(federation["models"], json!(["one", "two"]));
    assert_eq!(counts(federation), [2, 0, 1, 3 + 6 + 3]);
    assert_eq!(federation["unreadable"], 3);

    // Tokens add up, from the attempts to the total, and every question reached the server.
    let rows = report["methods"].as_array().unwrap();
    let mut total = 0;
    for (index, row) in rows.iter().enumerate() {
        let attempts = bugs.iter().map(|bug| &bug["results"][index]);
        let tokens: u64 = attempts
            .clone()
            .map(|one| one["tokens"].as_u64().unwrap())
            .sum();
        assert_eq!(row["tokens"], tokens);
        assert!(
            attempts
                .clone()
                .all(|one| one["tokens"].as_u64().unwrap() <= 30_000)
        );
        total += tokens;
    }
    assert!(total > 0);
    assert_eq!(report["total"]["tokens"], total);
    let asked = server.heard().len() - before;
    assert_eq!(report["total"]["questions"], asked);
    let note = report["note"].as_str().unwrap();
    assert!(note.contains("Scripted models show only"), "{note}");
    // The records are in a home of its own, which is gone.
    let listed = env.run(["plan", "list", "--json"]).success().json();
    assert_eq!(listed["runs"], json!([]));
}

/// CCOS-FED-1: the same seed plants the same bugs, and a method stops before the question that would go above its
/// budget.
#[test]
fn a_small_budget_ends_the_questions() {
    let (env, server) = with_models(&["one"], |prompt| {
        let name = NAMES
            .into_iter()
            .find(|name| prompt.contains(&format!("The `{name}` library")))?;
        Some(ScriptTurn {
            usage: Some(Usage {
                input: 3000,
                output: 1000,
                cached: 0,
            }),
            ..answer(planted(prompt, name))
        })
    });
    let repositories = repositories(&env);
    let options = ["--bugs", "2", "--seed", "7", "--model", "one", "--tokens"];
    let small = compare(&env, &repositories, &[&options[..], &["10000"]].concat());
    for bug in small["bugs"].as_array().unwrap() {
        for result in bug["results"].as_array().unwrap() {
            let is_single = result["method"] == "single";
            assert_eq!(result["outcome"], "found");
            // A third question of 4,000 tokens does not fit 10,000.
            assert_eq!(result["questions"], if is_single { 1 } else { 2 });
            assert_eq!(result["is_out_of_budget"], !is_single);
            assert_eq!(result["tokens"], if is_single { 4000 } else { 8000 });
        }
    }
    let asked = server.heard().len();
    let larger = compare(&env, &repositories, &[&options[..], &["16500"]].concat());
    let places = |report: &Value| -> Vec<(Value, Value)> {
        let bugs = report["bugs"].as_array().unwrap().iter();
        bugs.map(|bug| (bug["line"].clone(), bug["change"].clone()))
            .collect()
    };
    assert_eq!(places(&larger), places(&small));
    // One answer, samples as long as they fit, and three reviewers who agree.
    assert_eq!(server.heard().len() - asked, 2 * (1 + 4 + 3));
}
