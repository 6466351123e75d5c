//! A client that is handed a task: what it answers, counts, sees and remembers.

use callosum_testkit::model::{Call, ScriptTurn, Usage};
use serde_json::json;

use crate::{client::Client, install::Installed, stage::Stage};

/// CAL-EXE-1: what the client says is the entry's summary, and what it counts are its tokens.
pub(crate) fn delegates_and_counts(client: &Client, installed: &Installed) {
    let stage = Stage::new(client, installed);
    stage.register();
    let summary = "One function, main [src/main.rs:1], which does nothing.";
    let (code, output) = stage.delegate(&stage.answer(summary));
    assert_eq!(code, 0, "{output:#}");
    let id = output["task_id"].as_str().unwrap();
    let entry = stage.env.run(["ledger", "show", id, "--json"]).success();
    let entry = entry.json();
    assert_eq!(entry["summary"], summary);
    assert_eq!(entry["executor"], client.name);
    let method = format!("reported by {}", client.name);
    assert_eq!(entry["metadata"]["token_method"], method, "{entry:#}");
    assert_eq!(entry["tokens_used"], 5300, "{entry:#}");
    stage.env.run(["ledger", "verify"]).success();
}

/// CAL-EXE-2, CAL-SEC-1: held as it is registered it sees the files that it is asked about.
pub(crate) fn reads_the_tree_where_it_is_held(client: &Client, installed: &Installed) {
    let stage = Stage::new(client, installed);
    let text = "fn main() { let seen_by_the_model = 1; }\n";
    stage.env.write("src/main.rs", text);
    stage.register();
    let (tool, key) = client.looks_by;
    let input = match key {
        "cmd" => "cat src/main.rs".to_owned(),
        _ => stage
            .env
            .project()
            .join("src/main.rs")
            .display()
            .to_string(),
    };
    let look = ScriptTurn {
        calls: vec![Call {
            name: tool.to_owned(),
            input: json!({key: input}),
            ..Call::default()
        }],
        ..ScriptTurn::default()
    };
    let summary = "One function, main [src/main.rs:1], which does nothing.";
    let turns = [vec![look], stage.answer(summary)].concat();
    let (code, output) = stage.delegate(&turns);
    assert_eq!(code, 0, "{output:#}");
    let heard = stage.server.heard();
    let mut told = heard.iter().map(|heard| heard.body.to_string());
    assert!(
        told.any(|body| body.contains("seen_by_the_model")),
        "{heard:#?}"
    );
}

/// REQ-SEC-001: a repository's own hooks and plugins are not run by who is asked about it, also where nothing holds it.
pub(crate) fn obeys_no_settings_of_the_tree(client: &Client, installed: &Installed) {
    let stage = Stage::new(client, installed);
    let marks = stage.env.folder().join("obeyed");
    let command = format!("cat >/dev/null; echo hook >> '{}'", marks.display());
    let hooks = json!([{"matcher": "*", "hooks": [{"type": "command", "command": command}]}]);
    let events = [
        "SessionStart",
        "UserPromptSubmit",
        "BeforeAgent",
        "BeforeModel",
        "Stop",
        "AfterAgent",
    ];
    let hooks: serde_json::Map<_, _> = events
        .iter()
        .map(|event| ((*event).to_owned(), hooks.clone()))
        .collect();
    let servers = json!({"mark": {"command": "sh", "args": ["-c", command]}});
    let settings = json!({"hooks": hooks, "mcpServers": servers}).to_string();
    for path in [
        ".claude/settings.json",
        ".claude/settings.local.json",
        ".gemini/settings.json",
        ".qwen/settings.json",
        ".codex/hooks.json",
        ".mcp.json",
    ] {
        stage.env.write(path, &settings);
    }
    stage
        .env
        .write(".codex/config.toml", "[features]\nhooks = true\n");
    let plugin = format!(
        "import fs from \"fs\";\nexport const Mark = async () => {{\n  fs.appendFileSync({:?}, \
         \"plugin\\n\");\n  return {{}};\n}};\n",
        marks.display().to_string()
    );
    stage.env.write(".opencode/plugin/mark.js", &plugin);
    stage.env.write(".opencode/plugins/mark.js", plugin);
    stage.register_as(client.name, &["--sandbox", "off"]);
    let summary = "It has `fn main() {}` [src/main.rs:1].";
    let (code, said) = stage.delegate(&stage.answer(summary));
    assert_eq!(code, 0, "{said}");
    let obeyed = std::fs::read_to_string(&marks).ok();
    assert_eq!(obeyed, None);
}

/// CAL-COM-1: spoken to by the Agent Client Protocol it answers the same, and what it wants to write is
/// refused.
pub(crate) fn speaks_acp(client: &Client, installed: &Installed) {
    let agent = &client.agent;
    let stage = Stage::new(client, installed);
    stage.register_agent(agent);
    let usage = Usage {
        input: 5000,
        output: 300,
        cached: 0,
    };
    let summary = "One function, main [src/main.rs:1], which does nothing.";
    let mut turns = vec![ScriptTurn {
        usage: Some(usage),
        ..ScriptTurn::text(summary)
    }];
    if let Some(shell) = client.shell.as_ref().filter(|_| agent.outlives_refusal) {
        let call = Call {
            name: shell.tool.to_owned(),
            input: json!({shell.key: "touch made-by-agent", "description": "make it"}),
            ..Call::default()
        };
        let wants = ScriptTurn {
            calls: vec![call],
            ..ScriptTurn::text("Looking.")
        };
        turns.insert(0, wants);
    }
    let (code, output) = stage.delegate_to("agent", &turns, None);
    assert_eq!(code, 0, "{output:#}");
    assert_eq!(output["summary"], summary, "{output:#}");
    assert!(
        output["tokens_used"].as_u64().unwrap() >= 5300,
        "{output:#}"
    );
    assert!(!stage.env.project().join("made-by-agent").exists());
}

/// So many facts are found in a first session.
const FACTS: usize = 20;

/// REQ-PERF-002: what one session found stands word for word in what reaches the model first in
/// the next.
pub(crate) fn retains_what_was_found_before(client: &Client, installed: &Installed) {
    let stage = Stage::new(client, installed);
    stage.register();
    let facts: Vec<String> = (0..FACTS)
        .map(|number| format!("Store {number} keeps {} books.", 4_813 + 971 * number))
        .collect();
    let (code, output) = stage.delegate(&stage.answer(&facts.join("\n")));
    assert_eq!(code, 0, "{output:#}");
    let first = output["task_id"].as_str().unwrap();
    let heard_before = stage.server.heard().len();
    let (code, output) = stage.delegate_linked(&stage.answer("Nothing new."), Some(first));
    assert_eq!(code, 0, "{output:#}");
    let heard = stage.server.heard();
    let request = heard[heard_before..]
        .iter()
        .find(|heard| heard.method == "POST" && heard.turn == Some(0))
        .unwrap();
    let reached = serde_json::to_string(&request.body).unwrap();
    let retained = facts.iter().filter(|fact| reached.contains(*fact)).count();
    println!("{}: {retained} of {FACTS} facts retained", client.name);
    assert_eq!(retained, FACTS, "{reached}");
}
