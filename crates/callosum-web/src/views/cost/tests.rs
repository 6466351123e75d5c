//! Tests of the view *Cost*.

use serde_json::{Value, json};

use super::{grouped, money, time};
use crate::{
    test_site::{TestSite, arguments},
    views::shown::{HOSTILE, Shown},
};

fn cost(name: &str) -> Value {
    let sum = |name: &str, tokens: u64| {
        json!({
            "name": name, "entries": 2, "tokens_used": tokens, "cost_usd": 0.5, "priced": 1, "seconds": 90.0, "timed": 2,
        })
    };
    json!({
        "total": sum("total", 1_234_567),
        "days": [sum("2026-01-02", 1000), sum("2026-01-04", 2000)],
        "executors": [sum(name, 3000)],
        "agents": [sum(name, 3000)],
        "tasks": [{
            "task_id": "cal_2026_01_02_0001", "timestamp": "2026-01-02T03:04:05Z", "executor": name, "agent": name,
            "prompt": name, "tokens_used": 1000, "cost_usd": null, "seconds": null,
        }],
    })
}

fn site(name: &str) -> TestSite {
    TestSite::new(&[
        ("ledger cost", cost(name)),
        (
            "status",
            json!({ "hook_tokens": [{"client": name, "session_id": name, "session_tokens": 7, "today_tokens": 9}] }),
        ),
        (
            "top",
            json!({ "agents": [
                {"name": name, "budget": {"used": 5, "window": 10, "percent": 50, "zone": "green"}},
                {"name": "no-budget", "budget": null},
            ] }),
        ),
    ])
}

/// CALC §2, LOA-FUT-1: tokens, money and time are shown per day, executor, agent and task, with a table for each chart.
#[test]
fn a_chart_has_a_table_of_the_same_numbers() {
    let shown = Shown::of(&site("codex"), "cost", &[]);
    for text in [
        "1,234,567",
        "$0.50",
        "1.5 min",
        "1 of 2 answers state a price",
        "<svg class=\"chart\"",
        "<title>2026-01-03: none</title>",
        "<th scope=\"row\">2026-01-04</th>",
        "ledger?id=cal_2026_01_02_0001",
        "not reported",
        "value=\"50\"",
        "the last 7 days",
    ] {
        assert!(shown.has(text), "{text}:\n{}", shown.html);
    }
    assert!(!shown.has("no-budget"));
    assert_eq!(shown.html.matches("<svg").count(), 2);
    assert_eq!(shown.json["cost"]["total"]["tokens_used"], 1_234_567);
}

#[test]
fn only_ages_of_the_list_reach_the_command() {
    let site = site("codex");
    let line = |since: &str| {
        let asked = Shown::of(&site, "cost", &[("since", since)]).asked;
        asked
            .into_iter()
            .find(|line| line.starts_with("ledger"))
            .unwrap()
    };
    assert_eq!(line("30d"), "ledger cost --since=30d");
    assert_eq!(line("all"), "ledger cost");
    assert_eq!(line("--executor=x"), "ledger cost --since=7d");
}

/// CALC §2: text of agents is shown as text.
#[test]
fn hostile_names_are_escaped() {
    Shown::of(&site(HOSTILE), "cost", &[]);
}

#[test]
fn a_part_that_fails_leaves_the_others() {
    let shown = Shown::of(&TestSite::new(&[]), "cost", &[]);
    assert_eq!(shown.faults.len(), 3);
    assert!(shown.has("No running agent has a known context."));
    assert!(arguments("cost", "reset", &[]).is_err());
}

#[test]
fn numbers_are_for_people() {
    assert_eq!(
        [0, 999, 1000, 1_234_567].map(grouped),
        ["0", "999", "1,000", "1,234,567"]
    );
    assert_eq!(money(Some(0.001)), "less than $0.01");
    assert_eq!(money(Some(0.0)), "$0.00");
    assert_eq!(time(Some(7200.0)), "2.0 h");
}
