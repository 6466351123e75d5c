//! Guarantees about the list of tools as a whole.

use callosum_citation::tokens::estimate;
use serde_json::json;

use super::*;

/// The list is in every context, so it is short.
#[test]
fn the_whole_list_takes_less_than_a_thousand_tokens() {
    let list = serde_json::to_string(&listed()).unwrap();
    let tokens = estimate(&list);
    assert!(tokens < 1_000, "{tokens} tokens: {list}");
}

/// Codex asks a person before each call of a tool that may destroy something or reach others.
#[test]
fn each_tool_says_what_it_changes() {
    for tool in listed() {
        let hints = tool.annotations.unwrap();
        let reads = ["recover", "find", "ledger_query"].contains(&&*tool.name);
        assert_eq!(hints.read_only_hint, Some(reads), "{}", tool.name);
        let destroys = (!reads).then_some(false);
        assert_eq!(hints.destructive_hint, destroys, "{}", tool.name);
        let open = ["delegate", "runs"].contains(&&*tool.name);
        assert_eq!(hints.open_world_hint, Some(open), "{}", tool.name);
    }
}

#[test]
fn a_schema_says_what_a_call_needs_and_no_more() {
    let schema = Value::Object((named("delegate").unwrap().schema)());
    assert_eq!(schema["required"], json!(["prompt"]));
    let kinds = json!(["scan", "deps", "tests", "api"]);
    assert_eq!(
        schema["properties"]["kind"],
        json!({"type": "string", "enum": kinds})
    );
    assert_eq!(
        schema["properties"]["paths"]["items"],
        json!({"type": "string"})
    );
    let list = serde_json::to_string(&listed()).unwrap();
    for noise in [
        "\"null\"",
        "\"title\"",
        "\"format\"",
        "$schema",
        "$ref",
        "oneOf",
        "anyOf",
        "null",
        "additionalProperties",
    ] {
        assert!(!list.contains(noise), "{noise}: {list}");
    }
}
