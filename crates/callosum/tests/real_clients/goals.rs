//! A goal that one client plans and others vote on.

use std::path::Path;

use callosum_testkit::model::{Call, Prompt, ScriptTurn};
use serde_json::json;

use crate::{
    client::{ALL, Client},
    install::Installed,
    stage::Stage,
};

/// The text that a model replies with, if a prompt is for a plan or a vote.
fn reply(prompt: &str) -> Option<String> {
    if prompt.contains("You review a plan") {
        let vote = json!({"vote": "approve", "reasons": ["it is short"], "rule": null});
        return Some(vote.to_string());
    }
    let plan = json!({
        "version": "1.0",
        "plan_source": "(defplan lines () (:lines (call :fs.read {:path \"src/main.rs\"})))",
        "constraints": {"caps": [":fs.read"], "max_yields": 1},
        "rationale": "one call is enough",
    });
    prompt
        .contains("Write a plan for this goal")
        .then(|| plan.to_string())
}

/// Replies in the form that the client asks for: by a tool if one is offered for it.
fn turn(prompt: &Prompt<'_>) -> Option<ScriptTurn> {
    let text = reply(prompt.text)?;
    let tools = ALL.iter().filter_map(|client| client.answers_by);
    let tool = tools
        .into_iter()
        .find(|tool| prompt.tools.iter().any(|offered| offered == tool));
    Some(match tool {
        None => ScriptTurn::text(text),
        Some(_) if prompt.answers > 0 => ScriptTurn::text("done"),
        Some(tool) => ScriptTurn {
            calls: vec![Call {
                name: tool.to_owned(),
                input: json!({"summary": text}),
                ..Call::default()
            }],
            ..ScriptTurn::default()
        },
    })
}

/// CCOS-MOD-1, FED-1: the client writes a plan, clients of other makers vote on it, and the plan runs.
pub(crate) fn plans_with_others(client: &Client, installed: &Installed) {
    let stage = Stage::replying(client, installed, turn);
    stage.register();
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("real-clients");
    let names = ["claude", "codex", "gemini"].into_iter();
    let names = names.filter(|name| *name != client.name);
    let found: Vec<(&Client, Installed)> = names
        .filter_map(|name| {
            let other = ALL.iter().find(|other| other.name == name)?;
            Some((other, Installed::find(other, &cache).ok()?))
        })
        .collect();
    let stages: Vec<Stage<'_>> = found
        .iter()
        .map(|(other, installed)| stage.beside(other, installed))
        .collect();
    let mut reviewers = Vec::new();
    for other in &stages {
        other.register();
        reviewers.push(other.client.name);
    }
    let others = reviewers.iter().flat_map(|name| ["--reviewer", name]);
    let done = stage
        .callosum_with(&stages)
        .arguments(["do", "How many lines has src/main.rs?", "--yes", "--json"])
        .arguments(["--planner", client.name])
        .arguments(others)
        .run()
        .success()
        .json();
    assert_eq!(done["outcome"], "completed", "{done}");
    assert_eq!(
        (&done["value"], &done["model"]),
        (&json!("1"), &json!(client.name))
    );
    let votes = done["votes"].as_array().unwrap();
    assert_eq!(votes.len(), 3, "{done}");
    for vote in votes {
        assert_eq!(vote["vote"], "approve", "{done}");
        if !reviewers.is_empty() {
            assert!(
                reviewers.iter().any(|name| vote["model"] == *name),
                "{done}"
            );
        }
    }
    assert!(done["tokens"].as_u64().unwrap() > 0);
    stage.env.run(["audit", "verify"]).success();
}
