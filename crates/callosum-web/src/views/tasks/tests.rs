//! Tests of the view *Tasks*.

use serde_json::{Value, json};

use crate::{
    test_site::{TestSite, arguments},
    views::shown::{ActionCase, HOSTILE, HOSTILE_QUERY, Shown},
};

fn task(id: &str, status: &str, prompt: &str) -> Value {
    let claimed = (status == "in_progress").then_some("codex");
    let completed = (status == "complete").then_some("2026-01-02T04:00:00Z");
    json!({
        "id": id, "assigned_to": "gemini-cli", "status": status, "priority": 5, "prompt": prompt, "category": prompt,
        "reassigned": prompt, "output_file": null, "created_by": "claude-code", "created_at": "2026-01-02T03:00:00Z",
        "completed_at": completed, "cwd": prompt, "blocked_by": [], "unsatisfiable_needs": [], "claimed_by": claimed,
        "claimed_session": null, "claimed_until": null, "token": 7, "result": prompt,
        "output": {"outcome": "refused", "path": prompt, "reason": prompt, "at": null},
        "intents": [{"id": "i1", "status": "active", "name": prompt}],
    })
}

fn site(tasks: &[Value]) -> TestSite {
    let first = tasks.first().cloned().unwrap_or_default();
    TestSite::new(&[
        ("mesh task list --all", json!({ "tasks": tasks })),
        ("mesh task show -- t0", first),
    ])
}

/// CALC §2: the board has the columns pending, claimed and done.
#[test]
fn the_board_has_three_columns_and_places_to_drop_a_card() {
    let shown = Shown::of(
        &site(&[
            task("t0", "pending", "Review the parser"),
            task("t1", "in_progress", "Fix the lexer"),
            task("t2", "complete", "Count the tests"),
            task("t3", "cancelled", "Nothing"),
        ]),
        "tasks",
        &[],
    );
    for text in [
        "Pending (1)",
        "Claimed (1)",
        "Done (2)",
        "draggable=\"true\" data-drag=\"task=t0\"",
        "data-fields=\"to=codex\"",
        "data-fields=\"to=\"",
        "claimed by codex",
        "complete, by gemini-cli",
        "/tasks/assign\"",
        "/tasks/release\"",
        "callosum mesh task show -- t0",
    ] {
        assert!(shown.has(text), "{text}:\n{}", shown.html);
    }
    // Only a pending task can be dragged.
    assert_eq!(shown.html.matches("draggable").count(), 1);
    assert_eq!(shown.json["board"]["columns"][2]["total"], 2);
}

#[test]
fn a_column_is_bounded_and_links_to_all_of_it() {
    let tasks: Vec<Value> = (0..250)
        .map(|number| task(&format!("t{number}"), "pending", &format!("Task {number}")))
        .collect();
    let site = site(&tasks);
    let board = Shown::of(&site, "tasks", &[]);
    assert_eq!(board.html.matches("data-drag=").count(), 30);
    assert!(board.has("?state=pending\">All 250"), "{}", board.html);
    let all = Shown::of(&site, "tasks", &[("state", "pending"), ("page", "3")]);
    assert_eq!(all.html.matches("data-drag=").count(), 50);
    assert!(all.has("Page 3 of 3"));
    let filtered = Shown::of(&site, "tasks", &[("q", "task 24")]);
    assert!(filtered.has("Pending (13)"), "{}", filtered.html);
}

#[test]
fn a_task_is_shown_with_its_result_and_history() {
    let site = site(&[task("t0", "complete", "Count the tests")]);
    let shown = Shown::of(&site, "tasks", &[("id", "t0")]);
    assert_eq!(
        shown.asked,
        ["mesh task show -- t0", "mesh task list --all"]
    );
    for text in [
        "<h3>Result</h3>",
        "Left by claude-code",
        "Output file refused",
        "Moved to gemini-cli",
    ] {
        assert!(shown.has(text), "{text}:\n{}", shown.html);
    }
    let unknown = Shown::of(&site, "tasks", &[("id", "--help")]);
    assert_eq!(unknown.faults, ["no result for `mesh task show -- --help`"]);
}

/// CALC §2: text of agents is shown as text.
#[test]
fn hostile_text_of_tasks_is_escaped() {
    let hostile = [
        task("t0", "pending", HOSTILE),
        task(HOSTILE, "in_progress", HOSTILE),
        task("t2", "complete", &"x".repeat(100_000)),
    ];
    let site = site(&hostile);
    Shown::of(&site, "tasks", &[("id", "t0"), ("q", HOSTILE_QUERY)]);
    Shown::of(&site, "tasks", &[]);
    Shown::of(&site, "tasks", &[("state", "claimed")]);
}

/// CALC §2: a form chooses values, never the command.
#[test]
fn each_action_is_one_command() {
    let cases: &[ActionCase] = &[
        (
            "add",
            &[
                ("prompt", "--to=x\n-y"),
                ("to", "--yes"),
                ("priority", " -3 "),
                ("category", "code"),
                ("needs", ""),
            ],
            &[
                "mesh",
                "task",
                "add",
                "--to=--yes",
                "--category=code",
                "--priority=-3",
                "--",
                "--to=x\n-y",
            ],
        ),
        (
            "add",
            &[("prompt", "a"), ("needs", "t1")],
            &["mesh", "task", "add", "--add-dep=t1", "--", "a"],
        ),
        (
            "assign",
            &[("task", "-x"), ("to", "codex")],
            &["mesh", "task", "assign", "--to=codex", "--", "-x"],
        ),
        (
            "assign",
            &[("task", "t"), ("to", "")],
            &["mesh", "task", "assign", "--anyone", "--", "t"],
        ),
        (
            "cancel",
            &[("task", "t")],
            &["mesh", "task", "cancel", "--", "t"],
        ),
        (
            "cancel",
            &[("task", "t"), ("reason", "--as=codex")],
            &["mesh", "task", "cancel", "--reason=--as=codex", "--", "t"],
        ),
        (
            "release",
            &[("task", "t")],
            &["mesh", "task", "release", "--force", "--", "t"],
        ),
    ];
    for &(action, fields, expected) in cases {
        assert_eq!(
            arguments("tasks", action, fields).unwrap(),
            expected,
            "{action}"
        );
    }
    for priority in ["x", "1001", "1e3"] {
        assert!(arguments("tasks", "add", &[("prompt", "a"), ("priority", priority)]).is_err());
    }
    assert!(arguments("tasks", "done", &[("task", "t")]).is_err());
}
