//! Queries about past sessions, as the daemon answers them.

use serde_json::{Value, json};

use super::daemon::{Answer, Daemon, ask};
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
    for body in [
        "{}",
        r#"{"query":""}"#,
        r#"{"query":"a","k_rag":0}"#,
        r#"{"query":"a","agent":"x"}"#,
    ] {
        let code = post(&daemon, "memory", "/query", body).status;
        assert!(code == 400 || code == 503, "{body}: {code}");
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
