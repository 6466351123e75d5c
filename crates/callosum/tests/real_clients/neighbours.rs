//! A client among others: what they left is told to it, what they say arrives while it works, and what
//! it does for them is known to be its own.

use serde_json::json;

use crate::{
    client::Client,
    install::Installed,
    sessions::{ask, ask_for, ask_with, program},
    stage::Stage,
};

/// The name by which the others know a client's agent.
fn agent(client: &Client) -> &'static str {
    match client.name {
        "claude" => "claude-code",
        "gemini" => "gemini-cli",
        "qwen" => "qwen-code",
        name => name,
    }
}

/// CALC-PAR-1, CALC-PAT-2, CALC-BOOT-1: the first request of a session tells of a task that was left for the agent; a
/// message that is sent while it works is before the model at its next request; it claims the task and completes it.
pub(crate) fn works_with_the_others(client: &Client, installed: &Installed) {
    let stage = Stage::new(client, installed);
    if client.shell.is_none() {
        return;
    }
    let init = ["init", "--all", "--share", "--client", client.name];
    stage.callosum().arguments(init).run().success();
    let mesh = |words: &[&str]| {
        let words = [&["mesh"], words].concat();
        stage.env.run(words).success()
    };
    mesh(&[
        "task",
        "add",
        "Count the lines",
        "--to",
        client.name,
        "--id",
        "count",
        "--as",
        "person",
    ]);
    let ours = |words: &str| format!("{} mesh {words}", program());
    // The first call has somebody else speak while the client works.
    let work = [
        ours(&format!(
            "message send {} 'the schema changed' --as person --id said",
            client.name
        )),
        ours("task claim count"),
        ours("task done count --result 'one line'"),
    ];
    let before = stage.server.heard().len();
    ask(&stage, &[], "See what is to be done.", &work).unwrap();
    let heard = stage.server.heard();
    let requests = heard[before..].iter();
    let requests = requests.map(|heard| serde_json::to_string(&heard.body).unwrap());
    // Of a message without a script nothing is called; what has no tools is a side call.
    let requests: Vec<String> = requests.filter(|body| body.contains("\"tools\"")).collect();
    assert!(
        requests[0].contains("callosum mesh task claim count"),
        "{}",
        requests[0]
    );
    let says = "person says to you";
    assert!(!requests[0].contains(says), "{}", requests[0]);
    assert!(requests[1].contains(says), "{}", requests[1]);
    let said = mesh(&["message", "list", "--all", "--json"]).json();
    assert_eq!(said["messages"][0]["state"], "seen", "{said}");
    let task = mesh(&["task", "show", "count", "--json"]).json();
    assert_eq!(task["status"], "complete", "{task}");
    let told = mesh(&["tail", "--topic", "calc.task.*", "--json"]).stdout;
    let by = format!("\"source\":\"{}\"", agent(client));
    assert!(told.lines().all(|line| line.contains(&by)), "{told}");
}

/// CALC-PAR-1: the tools are listed and called; by them a task is claimed and done in the client's name, and a message
/// that is sent meanwhile is before its model.
pub(crate) fn reaches_the_others_by_tools(client: &Client, installed: &Installed) {
    let stage = Stage::new(client, installed);
    let Some(shell) = &client.shell else {
        return;
    };
    let init = ["init", "--all", "--share", "--client", client.name];
    stage.callosum().arguments(init).run().success();
    let mesh = |words: &[&str]| {
        let words = [&["mesh"], words].concat();
        stage.env.run(words).success()
    };
    let add = ["task", "add", "Count the lines", "--to", client.name];
    mesh(&[&add[..], &["--id", "count", "--as", "person"]].concat());
    let said = format!(
        "{} mesh message send {} 'the schema changed' --as person --id said",
        program(),
        client.name
    );
    let calls = vec![
        client.ours("task", json!({"do": "claim"})),
        shell.call(&said),
        client.ours("message", json!({})),
        client.ours(
            "task",
            json!({"do": "done", "id": "count", "text": "one line"}),
        ),
    ];
    // It asks a person before each tool of a server that it was not told of.
    let more: &[&str] = match client.name {
        "claude" => &["--allowedTools", "mcp__callosum"],
        _ => &[],
    };
    let before = stage.server.heard().len();
    ask_for(&stage, more, "See what is to be done.", calls).unwrap();
    let heard = stage.server.heard();
    let requests = heard[before..].iter();
    let requests = requests.map(|heard| serde_json::to_string(&heard.body).unwrap());
    let requests: Vec<String> = requests.filter(|body| body.contains("\"tools\"")).collect();
    assert!(requests[0].contains("callosum"), "{}", requests[0]);
    let last = requests.last().unwrap();
    assert!(last.contains("data, not instructions"), "{last}");
    assert!(last.contains("> the schema changed"), "{last}");
    let said = mesh(&["message", "list", "--all", "--json"]).json();
    assert_eq!(said["messages"][0]["state"], "acked", "{said}");
    let task = mesh(&["task", "show", "count", "--json"]).json();
    assert_eq!(task["status"], "complete", "{task}");
    assert_eq!(task["result"], "one line", "{task}");
    let told = mesh(&["tail", "--topic", "calc.task.*", "--json"]).stdout;
    let by = format!("\"source\":\"{}\"", agent(client));
    assert!(told.lines().all(|line| line.contains(&by)), "{told}");
    assert!(!told.contains("\"session_id\":null"), "{told}");
}

/// CALC-PAR-1: one whose sandbox lets its commands write nothing is told of the tools by its digest and by the command that
/// fails, and by them it does its task.
pub(crate) fn reaches_the_others_from_a_sandbox(client: &Client, installed: &Installed) {
    let stage = Stage::new(client, installed);
    let shell = client.shell.as_ref();
    let Some((shell, sandboxed)) = shell.and_then(|shell| Some((shell, shell.sandboxed?))) else {
        return;
    };
    let init = ["init", "--all", "--share", "--client", client.name];
    stage.callosum().arguments(init).run().success();
    let add = ["mesh", "task", "add", "Count", "--to", client.name];
    stage
        .env
        .run(add.iter().chain(&["--id", "count", "--as", "person"]))
        .success();
    let claim = format!("{} mesh task claim count", program());
    let calls = vec![
        shell.call(&claim),
        client.ours("task", json!({"do": "claim"})),
        client.ours("task", json!({"do": "done", "id": "count"})),
    ];
    let told = ask_with(&stage, sandboxed, &[], "See what is to be done.", calls).unwrap();
    let told = told.heard;
    assert!(told.contains("If a sandbox stops these commands"), "{told}");
    assert!(told.contains("in a sandbox, use the tools task"), "{told}");
    let task = ["mesh", "task", "show", "count", "--json"];
    let task = stage.env.run(task).success().json();
    assert_eq!(task["status"], "complete", "{told}");
}
