//! Tests of the view *Now*.

use serde_json::{Value, json};

use crate::{
    test_site::{TestSite, arguments},
    views::shown::{ActionCase, HOSTILE, Shown},
};

fn overview(text: &str) -> Value {
    json!({
        "at": "2026-01-02T03:04:05Z", "project": text,
        "agents": [{
            "name": "codex@7f", "client": "codex", "pane": "%3", "pid": 4711, "state": "BLOCKED_ON_APPROVAL", "detail": text,
            "evidence": [{"signal": "hook", "rule": "permission", "text": text}], "since": "2026-01-02T03:00:00Z",
            "age_seconds": 245, "session_id": "7f", "project": "shop", "folder": text, "last_prompt": text, "resets_at": null,
            "task": {"id": "fix-1", "prompt": text},
            "budget": {"used": 84000, "window": 200_000, "percent": 42, "zone": "green"},
            "commands": [
                {"name": "explain", "argv": ["mesh", "panes", "--explain", "%3"]},
                {"name": "message", "argv": ["mesh", "message", "send", "--", "codex@7f", "-"]},
            ],
        }],
        "waiting": [
            {
                "kind": "plan_call", "id": "run1 key1", "title": text, "detail": text, "agent": null,
                "since": "2026-01-02T03:00:00Z", "age_seconds": 245,
                "commands": [
                    {"name": "approve", "argv": ["plan", "approve", "run1", "key1"]},
                    {"name": "deny", "argv": ["plan", "approve", "run1", "key1", "--refuse"]},
                    {"name": "show", "argv": ["plan", "show", "run1"]},
                ],
            },
            {
                "kind": "guard_asked", "id": "g1", "title": text, "detail": null, "agent": text,
                "since": "2026-01-02T03:00:00Z", "age_seconds": 245,
                "commands": [
                    {"name": "allow-once", "argv": ["guard", "allow", "--once", "--", text]},
                    // A command of another form is no button.
                    {"name": "approve", "argv": ["uninstall", "--yes"]},
                ],
            },
        ],
        "waiting_total": 2,
        "task_counts": {"pending": 1, "in_progress": 2, "complete": 3, "cancelled": 4},
        "tasks": [{
            "id": "fix-1", "status": "pending", "priority": 5, "prompt": text, "assigned_to": text, "claimed_by": null,
            "created_by": "claude-code", "created_at": "2026-01-02T03:00:00Z", "age_seconds": 245, "blocked_by": ["a"],
            "commands": [],
        }],
        "tasks_total": 3,
        "guard": [{
            "id": "g2", "at": "2026-01-02T03:00:00Z", "age_seconds": 245, "agent": null, "verdict": "blocked", "command": text,
            "paths": [], "rule": "git-reset", "reason": text, "alternative": text, "commands": [],
        }],
        "faults": ["the tmux server does not answer"],
    })
}

/// CALC §2: one look shows what waits for a person, with buttons, and what each agent does.
#[test]
fn what_waits_comes_first_with_the_buttons_that_resolve_it() {
    let site = TestSite::new(&[("top", overview("Count the tests"))]);
    let shown = Shown::of(&site, "now", &[]);
    assert_eq!(shown.asked, ["top"]);
    assert_eq!(shown.faults, ["the tmux server does not answer"]);
    let place = |text: &str| {
        let found = shown.html.find(text);
        found.unwrap_or_else(|| panic!("{text}:\n{}", shown.html))
    };
    assert!(place("Waiting for you (2)") < place("<h2 id=\"agents\">"));
    for text in [
        "blocked on approval",
        "42 % of 200000 tokens in use, zone green",
        "value=\"42\"",
        "/now/approve\"",
        "/now/deny\"",
        "/now/allow-once\"",
        "/now/message\"",
        "callosum plan approve run1 key1 --refuse",
        "plans?run=run1",
        "tasks?id=fix-1",
        "2 in progress, 1 pending",
        "name=\"token\"",
    ] {
        assert!(shown.has(text), "{text}:\n{}", shown.html);
    }
    assert!(!shown.has("uninstall"), "{}", shown.html);
    assert_eq!(shown.json["agents"][0]["state"], "BLOCKED_ON_APPROVAL");
}

/// CALC §2: text of agents is shown as text.
#[test]
fn hostile_text_of_agents_is_escaped() {
    let site = TestSite::new(&[("top", overview(HOSTILE))]);
    Shown::of(&site, "now", &[]);
    let long = TestSite::new(&[("top", overview(&"x".repeat(100_000)))]);
    assert!(Shown::of(&long, "now", &[]).has("more bytes"));
}

#[test]
fn a_machine_without_agents_says_so() {
    let mut empty = overview("");
    for key in ["agents", "waiting", "tasks", "guard", "faults"] {
        empty[key] = json!([]);
    }
    let shown = Shown::of(&TestSite::new(&[("top", empty)]), "now", &[]);
    for text in ["Nothing waits for you.", "No agent runs on this machine."] {
        assert!(shown.has(text), "{text}");
    }
}

/// CALC §2: a form chooses ids, never the command.
#[test]
fn each_action_is_one_command() {
    let cases: &[ActionCase] = &[
        (
            "approve",
            &[("run", "r"), ("key", "--refuse")],
            &["plan", "approve", "--", "r", "--refuse"],
        ),
        (
            "deny",
            &[("run", "r"), ("key", "k")],
            &["plan", "approve", "--refuse", "--", "r", "k"],
        ),
        (
            "cancel-run",
            &[("run", "-x")],
            &["plan", "cancel", "--", "-x"],
        ),
        (
            "allow-once",
            &[("command", "git push\n--force")],
            &["guard", "allow", "--once", "--", "git push\n--force"],
        ),
        (
            "retry",
            &[("id", "m")],
            &["mesh", "message", "retry", "--", "m"],
        ),
        (
            "drop",
            &[("id", "m")],
            &["mesh", "message", "drop", "--", "m"],
        ),
        (
            "resolve",
            &[("id", "c")],
            &["mesh", "conflicts", "resolve", "--", "c"],
        ),
        (
            "keep",
            &[("id", "--yes")],
            &["mesh", "conflicts", "resolve", "--keep", "--", "--yes"],
        ),
        (
            "cancel",
            &[("id", "t")],
            &["mesh", "task", "cancel", "--", "t"],
        ),
        (
            "message",
            &[("to", "--as=claude-code"), ("text", "a\nb")],
            &["mesh", "message", "send", "--", "--as=claude-code", "a\nb"],
        ),
    ];
    for &(action, fields, expected) in cases {
        assert_eq!(
            arguments("now", action, fields).unwrap(),
            expected,
            "{action}"
        );
    }
    assert!(arguments("now", "uninstall", &[]).is_err());
    assert!(arguments("now", "approve", &[("run", "r")]).is_err());
}
