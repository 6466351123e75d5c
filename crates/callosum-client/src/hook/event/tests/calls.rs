//! Calls of tools of public servers, with what the guard says of each.

use callosum_guard::{Decision, Facts, Policy, decide, decide_write};
use serde::Deserialize;

use super::*;

/// A call and its expected reading.
#[derive(Deserialize)]
struct Row {
    id: String,
    tool: String,
    input: Value,
    expect: Decision,
}

fn decision_of(row: &Row) -> Decision {
    let text = |text: &str| Some(text.to_owned());
    let facts = Facts {
        cwd: text("/home/u/p"),
        home: text("/home/u"),
        root: text("/home/u/p"),
        git_dir: text("/home/u/p/.git"),
        ..Facts::default()
    };
    let event = json!({"cwd": "/home/u/p", "tool_name": row.tool, "tool_input": row.input});
    let event = read(&event).unwrap().at_home(Some(Path::new("/home/u")));
    let facts = Facts {
        cwd: event.folder.map(|folder| folder.display().to_string()),
        ..facts
    };
    let policy = Policy::default();
    match event.action {
        Action::Shell(command) => decide(&command, &facts, &policy).decision,
        Action::Write(paths) => {
            let verdicts = paths.iter().map(|path| decide_write(path, &facts, &policy));
            let decisions = verdicts.map(|verdict| verdict.decision);
            decisions.max().unwrap_or_default()
        }
        Action::Read(_) | Action::Other => Decision::Allow,
    }
}

/// CAKE-SHIM-1: tools of public servers that destroy are stopped, and those that do not are not.
#[test]
fn calls_of_public_servers_get_their_verdicts() {
    let rows = include_str!("calls.jsonl").lines();
    let rows: Vec<Row> = rows
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let wrong: Vec<String> = rows
        .iter()
        .filter(|row| decision_of(row) != row.expect)
        .map(|row| {
            let (tool, input, decision) = (&row.tool, &row.input, decision_of(row).name());
            format!("{}: {decision} for {tool} {input}", row.id)
        })
        .collect();
    assert_eq!(wrong, [""; 0], "of {}", rows.len());
}
