//! Task files, good and bad, with the words that a person gets to read.

use std::path::Path;

use callosum_ledger::TaskId;
use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::{
    mode::Mode,
    priority::Priority,
    submission::Submission,
    task::{Kind, Link, Scope, TaskIndex},
};

const SCHEMA: &str = include_str!("../../../../docs/schemas/task-file.schema.json");

fn read_with(text: &str, defaults: &Defaults) -> Result<Submission, TaskFileError> {
    let known: TaskId = "cal_2026_01_02_0001".parse().unwrap();
    read(Path::new("tasks.json"), text.as_bytes(), defaults, &|id| {
        *id == known
    })
}

fn accept(text: &str) -> Submission {
    read_with(text, &Defaults::default()).unwrap()
}

#[track_caller]
fn refuse(text: &str, message: &str) {
    let error = read_with(text, &Defaults::default()).unwrap_err();
    assert_eq!(error.to_string(), message);
}

/// Whether the published schema takes a file.
fn fits_schema(text: &str) -> bool {
    let mut compiler = boon::Compiler::new();
    let mut schemas = boon::Schemas::new();
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    compiler.add_resource("task-file.json", schema).unwrap();
    let index = compiler.compile("task-file.json", &mut schemas).unwrap();
    let file: Value = serde_json::from_str(text).unwrap();
    schemas.validate(&file, index).is_ok()
}

const FULL: &str = r#"{"tasks": [
    {"id": "map", "prompt": "Map it", "kind": "scan", "paths": ["src", "tests"],
     "executor": "scout", "links": ["cal_2026_01_02_0001"], "scope_type": "repo",
     "estimated_io_ops": 12000, "priority": "round-robin"},
    {"id": "deps", "prompt": "Who imports whom?", "paths": ["src"], "links": ["map"]}
]}"#;

#[test]
fn every_key_is_read_and_links_reach_the_file_and_the_ledger() {
    let submission = accept(FULL);
    let [map, deps] = submission.tasks() else {
        panic!("two tasks");
    };
    assert_eq!(map.local_id, "map");
    assert_eq!(map.prompt, "Map it");
    assert_eq!(map.paths, ["src", "tests"]);
    assert_eq!(map.executor.as_deref(), Some("scout"));
    assert_eq!(
        map.links,
        [Link::Ledger("cal_2026_01_02_0001".parse().unwrap())]
    );
    assert_eq!(map.scope, Scope::Repo);
    assert_eq!(map.estimated_io_ops, Some(12_000));
    assert_eq!(map.priority, Priority::RoundRobin);
    assert_eq!(deps.links, [Link::Local(TaskIndex(0))]);
    assert_eq!(deps.scope, Scope::Module);
    assert!(fits_schema(FULL));
}

#[test]
fn what_a_task_does_not_say_comes_from_the_defaults() {
    let defaults = Defaults {
        kind: Some(Kind::Api),
        executor: Some("mine".to_owned()),
        priority: Priority::DependencyChain,
        mode: Some(Mode::Concurrent),
    };
    let text = r#"{"tasks": [{"id": "a", "prompt": "p"}]}"#;
    let submission = read_with(text, &defaults).unwrap();
    let task = submission.task(TaskIndex(0));
    assert_eq!(task.kind, Some(Kind::Api));
    assert_eq!(task.executor.as_deref(), Some("mine"));
    assert_eq!(task.priority, Priority::DependencyChain);
    assert_eq!(task.mode, Some(Mode::Concurrent));
    assert_eq!(task.scope, Scope::Repo);
}

#[test]
fn a_byte_order_mark_is_passed_over() {
    accept("\u{feff}{\"tasks\": [{\"id\": \"a\", \"prompt\": \"p\"}]}");
}

#[test]
fn a_misspelt_key_is_refused_with_the_nearest_name() {
    refuse(
        r#"{"tasks": [{"id": "a", "promt": "p"}]}"#,
        "`tasks.json`, task 1 (`a`): unknown key `promt`, did you mean `prompt`? (known: id, \
         prompt, kind, paths, executor, links, scope_type, estimated_io_ops, priority, \
         require_citations)",
    );
    refuse(
        r#"{"task": []}"#,
        "`tasks.json`: unknown key `task`, did you mean `tasks`? (known: tasks)",
    );
}

#[test]
fn a_value_out_of_range_is_refused_with_what_is_allowed() {
    refuse(
        r#"{"tasks": [{"id": "a", "prompt": "p", "kind": "scna"}]}"#,
        "`tasks.json`, task 1 (`a`): `kind` is `scna`, did you mean `scan`? (allowed: scan, deps, \
         tests, api)",
    );
    refuse(
        r#"{"tasks": [{"id": "a", "prompt": "p", "estimated_io_ops": -1}]}"#,
        "`tasks.json`, task 1 (`a`): `estimated_io_ops` is `-1` (allowed: a whole number from 0 to \
         2^64 - 1)",
    );
    refuse(
        r#"{"tasks": [{"id": "a", "prompt": "p", "estimated_io_ops": 18446744073709551616}]}"#,
        "`tasks.json`, task 1 (`a`): `estimated_io_ops` is `1.8446744073709552e+19` (allowed: a \
         whole number from 0 to 2^64 - 1)",
    );
    refuse(
        r#"{"tasks": [{"id": "a", "prompt": "p", "priority": 3}]}"#,
        "`tasks.json`, task 1 (`a`): `priority` is `3` (allowed: context-priority, round-robin, \
         dependency-chain)",
    );
    refuse(
        r#"{"tasks": [{"id": "a", "prompt": "p", "paths": "src"}]}"#,
        "`tasks.json`, task 1 (`a`): `paths` is `src` (allowed: a list of paths from the root)",
    );
    refuse(
        r#"{"tasks": [{"id": "a", "prompt": " \n"}]}"#,
        "`tasks.json`, task 1 (`a`): `prompt` is ` \\n` (allowed: text that is not blank)",
    );
}

#[test]
fn a_missing_key_is_named() {
    refuse(
        r#"{"tasks": [{"prompt": "p"}]}"#,
        "`tasks.json`, task 1: missing key `id`",
    );
    refuse("{}", "`tasks.json`: missing key `tasks`");
}

#[test]
fn an_id_that_looks_like_one_of_the_ledger_is_refused() {
    refuse(
        r#"{"tasks": [{"id": "cal_2026_01_02_0001", "prompt": "p"}]}"#,
        "`tasks.json`, task 1 (`cal_2026_01_02_0001`): `id` is `cal_2026_01_02_0001` (allowed: 1 to 64 characters, not all blank, without control characters, and not in the form of a ledger task id)",
    );
}

#[test]
fn an_id_may_be_any_short_text() {
    let longest = "é".repeat(64);
    for id in [
        "api tests",
        "été",
        "server/routes: 2",
        "\u{1f600}",
        &longest,
    ] {
        let text = format!(
            r#"{{"tasks": [{{"id": "{id}", "prompt": "p"}}, {{"id": "z", "prompt": "p", "links": ["{id}"]}}]}}"#
        );
        let submission = accept(&text);
        assert_eq!(submission.task(TaskIndex(0)).local_id, id);
        assert_eq!(
            submission.task(TaskIndex(1)).links,
            [Link::Local(TaskIndex(0))]
        );
        assert!(fits_schema(&text), "{id}");
    }
    let too_long = "é".repeat(65);
    for id in [
        "",
        " ",
        "a\\u0000",
        "a\\nb",
        "a\\u001b[2J",
        "a\\u009b",
        &too_long,
    ] {
        let text = format!(r#"{{"tasks": [{{"id": "{id}", "prompt": "p"}}]}}"#);
        let message = read_with(&text, &Defaults::default())
            .unwrap_err()
            .to_string();
        assert!(
            message.contains("(allowed: 1 to 64 characters"),
            "{message}"
        );
        assert!(!fits_schema(&text), "{id}");
    }
}

#[test]
fn two_tasks_with_one_id_are_refused() {
    refuse(
        r#"{"tasks": [{"id": "a", "prompt": "p"}, {"id": "a", "prompt": "q"}]}"#,
        "`tasks.json`, task 2 (`a`): task 1 already has this id",
    );
}

/// CAL-SCH-4: a link to nothing is refused before anything runs, and named.
#[test]
fn a_link_to_nothing_is_named() {
    refuse(
        r#"{"tasks": [{"id": "map", "prompt": "p"}, {"id": "b", "prompt": "q", "links": ["mpa"]}]}"#,
        "`tasks.json`, task 2 (`b`): it links to `mpa`, did you mean `map`?, which is in neither this file nor the ledger",
    );
    refuse(
        r#"{"tasks": [{"id": "a", "prompt": "p", "links": ["cal_2026_01_02_0009"]}]}"#,
        "`tasks.json`, task 1 (`a`): it links to `cal_2026_01_02_0009`, which is in neither this file nor the ledger",
    );
    refuse(
        r#"{"tasks": [{"id": "a", "prompt": "p"}, {"id": "b", "prompt": "q", "links": ["a", "a"]}]}"#,
        "`tasks.json`, task 2 (`b`): it links to `a` twice",
    );
}

#[test]
fn a_cycle_is_refused_with_every_task_on_it() {
    refuse(
        r#"{"tasks": [
            {"id": "a", "prompt": "p", "links": ["b"]},
            {"id": "b", "prompt": "p", "links": ["c"]},
            {"id": "c", "prompt": "p", "links": ["a"]}]}"#,
        "`tasks.json`: tasks link to each other in a cycle: `a` -> `b` -> `c` -> `a`",
    );
}

#[test]
fn what_is_not_json_is_refused_with_its_place() {
    let too_large = format!(
        "{{\"tasks\": [{{\"id\": \"a\", \"prompt\": \"p\",\n \"estimated_io_ops\": {}}}]}}",
        "9".repeat(400)
    );
    for (text, place) in [
        ("", "line 1"),
        ("{\"tasks\": [\n  {]}", "line 2"),
        ("{\"tasks\": [], \"tasks\": []}", "duplicate key"),
        ("{\"tasks\": NaN}", "NaN"),
        (&too_large, "too large for a float at line 2"),
    ] {
        let message = read_with(text, &Defaults::default())
            .unwrap_err()
            .to_string();
        assert!(message.contains(place), "{message}");
    }
    refuse("[]", "`tasks.json`: `[]` must be an object");
    refuse(
        r#"{"tasks": [7]}"#,
        "`tasks.json`, task 1: `7` must be an object",
    );
    refuse(
        r#"{"tasks": []}"#,
        "`tasks.json`: `tasks` is `[]` (allowed: a list of at least one task)",
    );
}

#[test]
fn an_error_repeats_no_more_than_a_little_of_a_value_and_no_escape_codes() {
    let text = format!(
        r#"{{"tasks": [{{"id": "\u001b[31m", "prompt": "p", "kind": "{}"}}]}}"#,
        "x".repeat(1_000_000)
    );
    let message = read_with(&text, &Defaults::default())
        .unwrap_err()
        .to_string();
    assert!(message.len() < 400, "{}", message.len());
    assert!(!message.contains('\u{1b}'), "{message}");
}

#[test]
fn a_file_nested_beyond_reason_is_refused() {
    for depth in [126, 127, 128, 1_000_000] {
        let text = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read_with(&text, &Defaults::default()).is_err());
    }
}

/// CAL-GOV-3: the published schema refuses what we refuse, so far as a schema can tell.
#[test]
fn the_schema_and_the_reader_agree_on_single_keys() {
    for text in [
        r#"{"tasks": [{"id": "a", "promt": "p"}]}"#,
        r#"{"tasks": [{"id": "a", "prompt": "p", "kind": "scna"}]}"#,
        r#"{"tasks": [{"id": "a", "prompt": "p", "estimated_io_ops": -1}]}"#,
        r#"{"tasks": [{"id": "a", "prompt": " \n"}]}"#,
        r#"{"tasks": [{"id": "a\nb", "prompt": "p"}]}"#,
        r#"{"tasks": [{"id": "cal_2026_01_02_0001", "prompt": "p"}]}"#,
        r#"{"tasks": [{"id": "a", "prompt": "p", "links": [""]}]}"#,
        r#"{"tasks": []}"#,
        r#"{"tasks": [{"prompt": "p"}]}"#,
    ] {
        assert!(!fits_schema(text), "{text}");
        assert!(read_with(text, &Defaults::default()).is_err(), "{text}");
    }
}

proptest! {
    /// Bytes of any kind are refused or read, never a panic.
    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _answer = read(Path::new("x"), &bytes, &Defaults::default(), &|_| false);
    }
}
