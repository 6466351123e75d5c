//! `callosum mcp`: the tools of the program, for coding agents, in both lifecycles of the protocol.

use std::{fs, process::Stdio};

use callosum_testkit::TestEnv;
use rmcp::{
    ServiceExt as _,
    model::{
        CallToolRequestParams, ClientCapabilities, ClientConfig, Implementation, ProtocolVersion,
    },
    service::{ClientLifecycleMode, serve_client_with_lifecycle},
};
use serde_json::{Value, json};
use tokio::{net::unix::pipe, runtime};

use crate::{
    mcp_server::{PATIENCE, Server, told},
    projects::{register, two_languages},
    scripts,
};

fn prepared() -> TestEnv {
    let env = two_languages();
    env.run(["init", "--ledger", "--sessions", "--share"])
        .success();
    env
}

/// What every request of the newer lifecycle says of its client.
fn inline(name: &str) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": name, "version": "2.1.330"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

const NAMES: [&str; 10] = [
    "recover",
    "find",
    "decide",
    "delegate",
    "runs",
    "ledger_query",
    "task",
    "message",
    "discovery",
    "lease",
];

fn names(answer: &Value) -> Vec<&str> {
    let tools = answer["result"]["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["name"].as_str().unwrap()).collect()
}

/// The older lifecycle, as Codex and Gemini CLI begin it.
#[test]
fn a_client_that_initializes_is_served() {
    let env = prepared();
    let mut server = Server::start(&env);
    let begun = server.initialize("codex-mcp-client");
    assert_eq!(begun["protocolVersion"], "2025-06-18");
    assert_eq!(begun["serverInfo"]["name"], "callosum");
    assert_eq!(begun["capabilities"], json!({"tools": {}, "resources": {}}));
    assert!(begun["instructions"].as_str().unwrap().contains("recover"));
    assert!(begun.get("resultType").is_none(), "{begun}");
    let list = server.ask("tools/list", &json!({}));
    assert_eq!(names(&list), NAMES);
    assert!(list["result"].get("resultType").is_none(), "{list}");
    assert_eq!(server.ask("ping", &json!({}))["result"], json!({}));
    let found = server.done("find", &json!({"query": "total"}));
    assert!(found.contains("src/sum.rs:"), "{found}");
    assert_eq!(server.end(), 0);
}

/// The newer one, as Claude Code begins it, in which nothing is initialized and every
/// request stands alone.
#[test]
fn a_client_that_discovers_is_served_without_a_session() {
    let env = prepared();
    let mut server = Server::start(&env);
    let with = |mut params: Value| {
        params["_meta"] = inline("claude-code");
        params
    };
    let found = server.ask("server/discover", &with(json!({})));
    let result = &found["result"];
    let versions = result["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")), "{found}");
    assert_eq!(result["resultType"], "complete");
    assert_eq!(
        result["capabilities"],
        json!({"tools": {}, "resources": {}})
    );
    let list = server.ask("tools/list", &with(json!({})));
    assert_eq!(names(&list), NAMES);
    assert_eq!(list["result"]["resultType"], "complete");
    let call = with(json!({"name": "find", "arguments": {"query": "total"}}));
    let called = server.ask("tools/call", &call);
    assert_eq!(called["result"]["resultType"], "complete");
    assert!(told(&called).0.contains("src/sum.rs:"), "{called}");
    assert_eq!(server.end(), 0);
}

/// A probe leaves both ways open, also one that is taken back.
#[test]
fn a_client_may_probe_and_then_initialize() {
    let env = prepared();
    let mut server = Server::start(&env);
    let probe = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}});
    let answer = server.ask("server/discover", &probe);
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    server.ask("server/discover", &json!({"_meta": inline("claude-code")}));
    server.notify("notifications/cancelled", &json!({"requestId": 2}));
    assert_eq!(
        server.initialize("claude-code")["protocolVersion"],
        "2025-06-18"
    );
    assert_eq!(names(&server.ask("tools/list", &json!({}))), NAMES);
    assert_eq!(server.end(), 0);
}

/// The client of `rmcp`, which does what the specification says, in both.
#[test]
fn a_client_of_the_reference_library_is_served_in_both_lifecycles() {
    let env = prepared();
    for newer in [true, false] {
        let mut command = env.callosum().arguments(["mcp"]).command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let output = std::os::fd::OwnedFd::from(child.stdout.take().unwrap());
        let input = std::os::fd::OwnedFd::from(child.stdin.take().unwrap());
        let runtime = runtime::Builder::new_current_thread().enable_all().build();
        runtime.unwrap().block_on(async {
            let pipes = (
                pipe::Receiver::from_owned_fd(output).unwrap(),
                pipe::Sender::from_owned_fd(input).unwrap(),
            );
            let named = Implementation::new("reference", "1.0.0");
            let client = ClientConfig::new(ClientCapabilities::default(), named);
            let client = if newer {
                let way = ClientLifecycleMode::Discover {
                    preferred_versions: vec![ProtocolVersion::V_2026_07_28],
                };
                serve_client_with_lifecycle(client, pipes, way)
                    .await
                    .unwrap()
            } else {
                client.serve(pipes).await.unwrap()
            };
            let tools = client.list_all_tools().await.unwrap();
            assert_eq!(tools.len(), NAMES.len());
            let decide = json!({"decision": "Keep one pool", "source": "user"});
            let decide = decide.as_object().unwrap().clone();
            let call = CallToolRequestParams::new("decide").with_arguments(decide);
            let answer = client.call_tool(call).await.unwrap();
            assert_eq!(answer.is_error, Some(false));
            client.cancel().await.unwrap();
        });
        assert!(child.wait().unwrap().success());
    }
    let kept = env.read("loa-grimoire/a2a/trajectory/reference-2026-01-02.jsonl");
    assert_eq!(
        kept.matches("\"claim\":\"Keep one pool\"").count(),
        2,
        "{kept}"
    );
}

/// Whatever a line is, it has an answer, and the next one has too.
#[test]
fn what_is_no_request_is_answered_and_survived() {
    let env = prepared();
    let mut server = Server::start(&env);
    server.say("{ broken");
    assert_eq!(server.next()["error"]["code"], -32700);
    server.say("[1, 2]");
    assert_eq!(server.next()["error"]["code"], -32600);
    server.initialize("some-editor");
    server.say("{\"jsonrpc\": \"2.0\", \"id\": 1.5, \"method\": \"tools/list\"}");
    assert_eq!(server.next()["error"]["code"], -32600);
    // What is longer than 4 MiB is told of by its own id, wherever that stands.
    let long = "x".repeat(5 << 20);
    let call = format!("\"method\":\"tools/call\",\"params\":{{\"name\":\"{long}\"}}");
    for line in [
        format!("{{{call},\"jsonrpc\":\"2.0\",\"id\":\"last\"}}"),
        format!("{{\"jsonrpc\":\"2.0\",\"id\":\"last\",{call}}}"),
    ] {
        server.say(&line);
        let answer = server.next();
        assert_eq!(answer["id"], "last", "{answer}");
        let said = answer["error"]["message"].as_str().unwrap();
        assert!(said.contains("longer than 4194304 bytes"), "{said}");
    }
    let unknown = server.ask("no/such", &json!({}));
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    let unknown = server.ask("tools/call", &json!({"name": "rm"}));
    assert_eq!(unknown["error"]["code"], -32602);
    let said = unknown["error"]["message"].as_str().unwrap();
    assert!(
        said.contains("`rm`") && said.contains("ledger_query"),
        "{said}"
    );
    assert_eq!(names(&server.ask("tools/list", &json!({}))), NAMES);
    assert_eq!(server.end(), 0);
}

/// A tool that fails says the same as its command does, and what is allowed.
#[test]
fn a_failure_has_the_words_and_the_hint_of_the_command_line() {
    let env = prepared();
    let mut server = Server::start(&env);
    server.initialize("some-editor");
    let said = server.refused("find", &json!({"query": "x", "section": "y"}));
    let wanted =
        "`section` is not known (allowed: query, paths, limit, full, past_sessions, budget)";
    assert!(said.contains(wanted), "{said}");
    let said = server.refused("find", &json!({}));
    assert!(
        said.contains("`query` is missing (allowed: a text)"),
        "{said}"
    );
    let said = server.refused("delegate", &json!({"prompt": "x", "executor": "nobody"}));
    let shell = env
        .run(["delegate", "x", "--executor", "nobody"])
        .ended_with(2);
    assert_eq!(said, shell.stderr);
    let said = server.refused("ledger_query", &json!({"task": "T-1"}));
    assert!(said.starts_with("error: "), "{said}");
    for (tool, arguments) in [
        (
            "decide",
            json!({"decision": "x", "cite": ["src/none.rs:1"]}),
        ),
        (
            "decide",
            json!({"decision": "x", "cite": ["src/sum.rs:1"], "source": "user"}),
        ),
        ("recover", json!({"level": 7})),
        ("delegate", json!({"prompt": "-"})),
        ("delegate", json!({"prompt": "x", "paths": ["../.."]})),
        ("ledger_query", json!({"since": "soon"})),
    ] {
        let said = server.refused(tool, &arguments);
        assert!(said.starts_with("error"), "{said}");
    }
    assert_eq!(server.end(), 0);
}

/// What is decided and delegated is kept for the agent and the session that asked, each
/// client's as it says them.
#[test]
fn what_is_kept_names_the_agent_and_its_session() {
    let env = prepared();
    let claude = env.callosum().arguments(["mcp"]);
    let mut server = Server::run(&claude.env("CLAUDE_CODE_SESSION_ID", "of-claude"));
    server.initialize("claude-code");
    let decision =
        json!({"decision": "Use one pool", "reason": "fewer sockets", "cite": ["src/sum.rs:4"]});
    let said = server.done("decide", &decision);
    assert!(
        said.contains("Use one pool") && said.contains("src/sum.rs:4"),
        "{said}"
    );
    let kept = env.read("loa-grimoire/a2a/trajectory/claude-2026-01-02.jsonl");
    assert!(kept.contains("of-claude"), "{kept}");
    let said = server.done("recover", &json!({}));
    assert!(said.contains("Use one pool"), "{said}");
    let said = server.done("recover", &json!({"about": "sockets"}));
    assert!(said.contains("Use one pool"), "{said}");
    let said = server.done("decide", &json!({"decision": "Retry for ever"}));
    assert!(said.contains("no evidence yet"), "{said}");
    assert_eq!(server.end(), 0);

    let codex = env.callosum().arguments(["mcp"]);
    let mut server = Server::run(&codex.env("CLAUDE_CODE_SESSION_ID", "of-claude"));
    server.initialize("codex-mcp-client");
    let asked = json!({"prompt": "Map it", "kind": "scan", "budget": 200});
    let (said, failed) = server.call_with("delegate", &asked, &json!({"threadId": "of-codex"}));
    assert!(!failed, "{said}");
    assert!(said.contains(" by scout, "), "{said}");
    assert!(said.contains("left out"), "{said}");
    let entries = env.run(["ledger", "query", "--json"]).success().json();
    let entry = &entries["entries"][0];
    assert_eq!(entry["metadata"]["asked_by"], "codex");
    assert_eq!(entry["metadata"]["asked_in"], "of-codex");
    let id = entry["task_id"].as_str().unwrap();
    assert!(said.contains(id), "{said}");
    let said = server.done("ledger_query", &json!({"text": "map it"}));
    assert!(said.contains(id) && said.contains("more lines"), "{said}");
    let said = server.done("ledger_query", &json!({"task": id}));
    let summary = callosum_redact::quote::lines(entry["summary"].as_str().unwrap().trim());
    assert!(said.contains(&summary), "{said}");
    assert_eq!(server.end(), 0);
    env.run(["ledger", "verify"]).success();
    env.run(["audit", "verify"]).success();
}

/// Where nothing was prepared, nothing is created, and it is said what to do; the tree can
/// be searched all the same.
#[test]
fn a_project_that_is_not_prepared_is_told_what_to_do() {
    let env = two_languages();
    let mut server = Server::start(&env);
    server.initialize("claude-code");
    for (tool, arguments) in [
        ("recover", json!({})),
        ("decide", json!({"decision": "x"})),
        ("delegate", json!({"prompt": "x"})),
        ("ledger_query", json!({})),
    ] {
        let said = server.refused(tool, &arguments);
        assert!(said.contains("callosum init"), "{said}");
    }
    let found = server.done("find", &json!({"query": "total", "limit": 1}));
    assert!(found.contains("src/sum.rs:"), "{found}");
    assert_eq!(env.git(&["status", "--porcelain", "--ignored"]), "");
    assert_eq!(server.end(), 0);
}

/// An answer keeps to its budget, and tells what it left out.
#[test]
fn an_answer_keeps_to_its_budget() {
    let env = prepared();
    let mut server = Server::start(&env);
    server.initialize("claude-code");
    let all = json!({"query": "sum total report numbers", "limit": 50, "full": true});
    let all = server.done("find", &all);
    let few = json!({"query": "sum total report numbers", "limit": 50, "full": true, "budget": 64});
    let few = server.done("find", &few);
    assert!(few.len() < all.len(), "{few}");
    assert!(few.contains("left out"), "{few}");
    assert_eq!(server.end(), 0);
}

/// An executor that says that it works, and then does for long.
const WORKING: &str = r#"
while True:
    print("still reading", file=sys.stderr, flush=True)
    time.sleep(0.2)
"#;

/// A project whose executor works for ever, and the script that it is.
fn with_worker() -> (TestEnv, String) {
    let env = prepared();
    let script = env.programs().join("working.py");
    fs::write(&script, scripts::script(WORKING)).unwrap();
    let script = script.display().to_string();
    register(&env, "worker", &format!("python3 {script}"));
    (env, script)
}

/// Whether any process was started with this word.
fn runs(word: &str) -> bool {
    let processes = fs::read_dir("/proc").unwrap();
    let mut lines = processes.filter_map(|entry| fs::read(entry.ok()?.path().join("cmdline")).ok());
    lines.any(|line| String::from_utf8_lossy(&line).contains(word))
}

/// A client with a token hears what is done; one that cancels ends it, and the child.
#[cfg(target_os = "linux")]
#[test]
fn a_delegation_is_heard_of_and_ends_when_it_is_cancelled() {
    let (env, script) = with_worker();
    let mut server = Server::start(&env);
    server.initialize("claude-code");
    let params = json!({
        "name": "delegate", "arguments": {"prompt": "map", "executor": "worker"},
        "_meta": {"progressToken": "of-the-call"},
    });
    let call = json!({"jsonrpc": "2.0", "id": "long", "method": "tools/call", "params": params});
    server.say(&call.to_string());
    let mut steps = Vec::new();
    loop {
        let message = server.next();
        assert_eq!(message["method"], "notifications/progress", "{message}");
        let params = &message["params"];
        assert_eq!(params["progressToken"], "of-the-call");
        steps.push(params["progress"].as_f64().unwrap());
        if params["message"] == "still reading" {
            break;
        }
    }
    assert!(steps.is_sorted_by(|a, b| a < b), "{steps:?}");
    assert!(runs(&script));
    // Others are served meanwhile.
    let found = server.done("find", &json!({"query": "total"}));
    assert!(found.contains("src/sum.rs:"), "{found}");
    server.notify("notifications/cancelled", &json!({"requestId": "long"}));
    // Its end is on the record once the child's is.
    let deadline = std::time::Instant::now() + PATIENCE;
    let is_told = || {
        let told = env
            .run(["audit", "query", "--event", "error", "--json"])
            .json();
        told["records"][0]["status"] == "cancelled"
    };
    while !is_told() {
        assert!(std::time::Instant::now() < deadline, "nobody was cancelled");
    }
    assert!(!runs(&script));
    assert_eq!(server.end(), 0);
}

/// Whoever goes away leaves nothing running.
#[cfg(target_os = "linux")]
#[test]
fn the_end_of_its_input_ends_all_that_it_started() {
    let (env, script) = with_worker();
    let mut server = Server::start(&env);
    server.initialize("claude-code");
    let params = json!({
        "name": "delegate", "arguments": {"prompt": "map", "executor": "worker"},
        "_meta": {"progressToken": 7},
    });
    let call = json!({"jsonrpc": "2.0", "id": "long", "method": "tools/call", "params": params});
    server.say(&call.to_string());
    while server.next()["params"]["message"] != "still reading" {}
    assert_eq!(server.end(), 0);
    assert!(!runs(&script));
    env.run(["ledger", "verify"]).success();
}

/// A client with roots is served in the first of them.
#[test]
fn a_client_with_roots_names_the_project() {
    let env = prepared();
    let elsewhere = env.folder().join("else where");
    fs::create_dir_all(&elsewhere).unwrap();
    let run = env.callosum().arguments(["mcp"]).in_folder(&elsewhere);
    let mut server = Server::run(&run);
    let params = json!({
        "protocolVersion": "2025-06-18", "capabilities": {"roots": {"listChanged": true}},
        "clientInfo": {"name": "some-editor", "version": "1.0.0"},
    });
    server.ask("initialize", &params);
    server.notify("notifications/initialized", &json!({}));
    let find = json!({"jsonrpc": "2.0", "id": "find", "method": "tools/call",
        "params": {"name": "find", "arguments": {"query": "total"}}});
    let names_root = |server: &mut Server, path: &str| {
        let asked = server.next();
        assert_eq!(asked["method"], "roots/list", "{asked}");
        let root = format!("file://{}", path.replace(' ', "%20"));
        let answer = json!({"jsonrpc": "2.0", "id": asked["id"],
            "result": {"roots": [{"uri": "https://example.org"}, {"uri": root}]}});
        server.say(&answer.to_string());
        told(&server.answer(&json!("find")))
    };
    server.say(&find.to_string());
    let (found, _) = names_root(&mut server, env.project().to_str().unwrap());
    assert!(found.contains("src/sum.rs:"), "{found}");
    // They are asked for once, and again once they have changed.
    let found = server.done("find", &json!({"query": "total"}));
    assert!(found.contains("src/sum.rs:"), "{found}");
    server.notify("notifications/roots/list_changed", &json!({}));
    server.say(&find.to_string());
    let (found, _) = names_root(&mut server, elsewhere.to_str().unwrap());
    assert!(found.contains("no matches"), "{found}");
    assert_eq!(server.end(), 0);
}

/// Whoever says nothing wanted nothing.
#[test]
fn a_server_that_nobody_speaks_to_ends() {
    let env = two_languages();
    let silent = env.run(["mcp"]).success();
    assert_eq!((silent.stdout.as_str(), silent.stderr.as_str()), ("", ""));
}
