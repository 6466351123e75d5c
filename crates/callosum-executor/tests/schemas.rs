//! The published schemas and what we write and accept say the same.

use callosum_executor::{
    discover::KNOWN,
    protocol::{Request, parse_answer, parse_capabilities},
    registry::{Capabilities, Executor, Registry},
};
use callosum_testkit::Schema;
use serde_json::{Map, Value, json};

/// CAL-GOV-3: every registry that we write fits its schema.
#[test]
fn registries_that_we_write_fit_their_schema() {
    let schema = Schema::published("registry");
    let mut registry = Registry::initial();
    for known in KNOWN {
        registry.put(&known.entry());
    }
    let mut full = Executor::cli("full", "full {prompt}");
    full.last_validated = Some("2026-01-02T03:04:05Z".to_owned());
    full.protocol = Some("acp".to_owned());
    full.quiet_ms = Some(1);
    full.total_ms = Some(2);
    full.pass_environment = vec!["OLLAMA_*".to_owned()];
    full.extra.insert("note".to_owned(), json!([1]));
    full.tool = Some("ask".to_owned());
    full.argument = Some("prompt".to_owned());
    registry.put(&full);
    let mut served = Executor::http("served", "https://example.org/v1", "m");
    served.api_key_env = Some("KEY".to_owned());
    served.context_tokens = Some(8192);
    registry.put(&served);
    let written: Value = serde_json::from_slice(&registry.to_bytes()).unwrap();
    assert_eq!(schema.fault(&written), None);
    for (key, wrong) in [
        ("id", json!("../a")),
        ("type", json!("pigeon")),
        ("status", json!("asleep")),
        ("command_template", json!("")),
        ("quiet_ms", json!(0)),
        ("pass_environment", json!(["A=B"])),
        ("api_key_env", json!("A=B")),
        ("context_tokens", json!(10)),
    ] {
        let mut other = written.clone();
        other["executors"][0][key] = wrong;
        assert!(!schema.accepts(&other), "{key}");
    }
}

/// CAL-GOV-3: every request that we send fits its schema.
#[test]
fn requests_that_we_send_fit_their_schema() {
    let schema = Schema::published("executor-request");
    let mut context = Map::new();
    context.insert("kind".to_owned(), json!("scan"));
    context.insert("paths".to_owned(), json!(["src"]));
    context.insert("root".to_owned(), json!("/p"));
    let request = Request::for_task("map", "cal_2026_01_02_0001", context);
    for request in [Request::bare("ping"), request.shorter(20_000), request] {
        assert!(schema.accepts(&serde_json::from_slice(&request.to_bytes()).unwrap()));
    }
    assert!(!schema.accepts(&json!({"metadata": {}})));
}

/// CAL-GOV-3, REQ-COM-001: schema and reader agree about answers (but for what only bytes show).
#[test]
fn the_schema_and_the_reader_agree_about_answers() {
    let schema = Schema::published("executor-response");
    for answer in [
        json!({"summary": "s", "tokens_used": 0, "status": "success"}),
        json!({"summary": "s", "tokens_used": 1, "status": "success", "metadata": {"a": 1}, "x": 1}),
        json!({"summary": "s", "tokens_used": -1, "status": "success"}),
        json!({"summary": "s", "tokens_used": 0.5, "status": "success"}),
        json!({"summary": "s", "tokens_used": "1", "status": "success"}),
        json!({"summary": "", "tokens_used": 1, "status": "success"}),
        json!({"summary": "s".repeat(10_241), "tokens_used": 1, "status": "success"}),
        json!({"summary": "s", "tokens_used": 1, "status": "fine"}),
        json!({"summary": "s", "tokens_used": 1, "status": "success", "metadata": 1}),
        json!({"summary": "s", "tokens_used": 1, "status": "success", "metadata": null, "checksum": null}),
        json!({"summary": "s", "status": "success"}),
        json!({"tokens_used": 1, "status": "success"}),
        json!({"summary": "s", "tokens_used": 1}),
        json!({"summary": "s", "tokens_used": 1, "status": "success", "checksum": "12"}),
        json!([]),
        json!({}),
    ] {
        let read = parse_answer(answer.to_string().as_bytes(), Capabilities::default());
        assert_eq!(schema.accepts(&answer), read.is_ok(), "{answer}");
    }
    assert!(schema.accepts(&json!({"error": "E001 gone", "status": "error", "details": "x"})));
    let able = json!({"capabilities": {"prompt_input": true}, "version": "1"});
    assert!(schema.accepts(&able));
    assert!(parse_capabilities(able.to_string().as_bytes()).is_ok());
}
