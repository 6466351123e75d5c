//! Queries about past sessions, as the daemon answers them.

use serde_json::{Value, json};

use super::daemon::{Answer, Daemon, ask};
use crate::own_records::with_records;
use crate::past_sessions::two_sessions;

fn post(daemon: &Daemon<'_>, what: &str, path: &str, body: &str) -> Answer {
    let length = body.len();
    ask(
        daemon.at(what),
        &format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        ),
    )
}

/// CALC-L5-1: the seed's contract: `POST /query`, health and heartbeats, on an address that the person gives.
#[test]
fn the_daemon_answers_queries() {
    let env = two_sessions();
    let daemon = Daemon::with(&env, &["--memory", "127.0.0.1:0"]);
    let off = post(&daemon, "memory", "/query", r#"{"query":"broker"}"#);
    assert!(off.with(503).body.contains("is off"));
    env.run(["memory", "on"]).success();
    let body = r#"{"query":"why no broker","k_rag":2,"max_tokens":20,"include_graph":true}"#;
    let answer: Value =
        serde_json::from_str(&post(&daemon, "memory", "/query", body).with(200).body).unwrap();
    let turn = &answer["related_turns"][0];
    assert_eq!(turn["source"], "claude-code:aaa");
    assert_eq!(turn["provenance"]["verified"], "verified");
    assert!(turn["score"].as_f64().unwrap() > 0.0);
    let second = answer["related_turns"][1]["preview"].as_str().unwrap();
    assert!(
        second.starts_with("None: jobs") && second.ends_with('…'),
        "{answer}"
    );
    assert_eq!(answer["sources"], json!(["words", "graph"]));
    assert_eq!(answer["graph"]["files"][0]["path"], "src/queue.py");
    for (body, words) in [
        ("{}", "query"),
        (r#"{"query":""}"#, "`query`"),
        (r#"{"query":"!?"}"#, "no words"),
        (r#"{"query":"a","k_rag":0}"#, "`k_rag`"),
        (
            r#"{"query":"a","agent":"x"}"#,
            "allowed: claude-code, codex, gemini-cli, qwen-code, opencode, ledger",
        ),
    ] {
        let refused = post(&daemon, "memory", "/query", body).with(400);
        assert!(refused.body.contains(words), "{body}: {}", refused.body);
    }
    post(&daemon, "memory", "/heartbeat", r#"{"agent":"gemini"}"#).with(200);
    let health: Value =
        serde_json::from_str(&daemon.get("memory", "/health").with(200).body).unwrap();
    assert_eq!(
        (&health["healthy"], &health["memory"]["turns"]),
        (&json!(true), &json!(4))
    );
    assert!(health["heartbeats"]["gemini-cli"].is_string(), "{health}");
    // The other ports do not answer queries.
    assert_eq!(
        post(&daemon, "events", "/query", r#"{"query":"broker"}"#).status,
        404
    );
}

/// The kind and the name of each node, and of each edge the kinds of what it joins around its own.
type Graph = (Vec<(String, String)>, Vec<(String, String, String)>);

/// Returns the graph of an answer.
fn graph_of(answer: &Value) -> Graph {
    let text = |value: &Value, key: &str| value[key].as_str().unwrap().to_owned();
    let nodes = answer["graph"]["nodes"].as_array().unwrap().iter();
    let nodes: Vec<(String, String, String)> = nodes
        .map(|node| (text(node, "id"), text(node, "kind"), text(node, "name")))
        .collect();
    let kind = |id: &str| {
        let node = nodes.iter().find(|(own, ..)| own == id);
        node.unwrap_or_else(|| panic!("no node {id}")).1.clone()
    };
    let edges = answer["graph"]["edges"].as_array().unwrap().iter();
    let edges = edges.map(|edge| {
        let (from, to) = (text(edge, "from"), text(edge, "to"));
        (kind(&from), text(edge, "kind"), kind(&to))
    });
    let edges = edges.collect();
    let nodes = nodes.into_iter().map(|(_, kind, name)| (kind, name));
    (nodes.collect(), edges)
}

/// CALC-L5-1: the graph leads from the turns to the file, and from it to who touched, cites or names it, and what that is for.
#[test]
fn the_graph_walks_from_turns_to_files_records_and_intents() {
    let env = with_records();
    let session = json!({
        "type": "assistant", "uuid": "u1", "sessionId": "ccc", "cwd": env.project(), "timestamp": "2026-01-01T10:00:00Z",
        "message": { "role": "assistant", "content": [
            { "type": "tool_use", "id": "t1", "name": "Edit", "input": { "file_path": "src/queue.py" } },
        ] },
    });
    env.write(
        env.home().join(".claude/projects/-p/ccc.jsonl"),
        format!("{session}\n"),
    );
    let add = ["intent", "add", "Count all pelicans", "--json"];
    let parent = env.run(add).success().json()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let add = [
        "intent",
        "add",
        "Make src/queue.py count",
        "--parent",
        &parent,
        "--json",
    ];
    let intent = env.run(add).success().json()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    env.run(["intent", "link", &intent, "--task", "count"])
        .success();
    let bead = ["bead", "create", "Test src/queue.py", "--json"];
    env.run(bead).success();
    env.run(["memory", "on"]).success();
    let daemon = Daemon::with(&env, &["--memory", "127.0.0.1:0"]);
    let body = r#"{"query":"count pelicans","include_graph":true,"k_rag":20,"max_tokens":2000}"#;
    let answer = post(&daemon, "memory", "/query", body).with(200).body;
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let (nodes, edges) = graph_of(&answer);
    let has = |kind: &str, name: &str| {
        let node = (kind.to_owned(), name.to_owned());
        assert!(nodes.contains(&node), "{kind} {name}: {answer}");
    };
    has("file", "src/queue.py");
    has("session", "claude-code:ccc");
    has("task", "count");
    has("intent", &intent);
    has("intent", &parent);
    for edge in [
        ("session", "touched", "file"),
        ("decision", "cites", "file"),
        ("task", "names", "file"),
        ("bead", "names", "file"),
        ("intent", "names", "file"),
        ("task", "works_for", "intent"),
        ("intent", "part_of", "intent"),
    ] {
        let (from, kind, to) = edge;
        let edge = (from.to_owned(), kind.to_owned(), to.to_owned());
        assert!(edges.contains(&edge), "{edge:?}: {answer}");
    }
    let file = &answer["graph"]["files"][0];
    assert_eq!(file["path"], "src/queue.py");
    assert_eq!(file["touched_by"], json!(["claude-code:ccc"]));
    assert_eq!(answer["graph"]["truncated"], false);
}
