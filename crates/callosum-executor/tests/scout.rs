//! Scout speaks the protocol that the controller reads.

use std::path::Path;

use callosum_executor::{
    protocol::{parse_answer, parse_capabilities},
    registry::Executor,
};
use callosum_host::Disk;
use callosum_scout::answer;
use serde_json::{Value, json};

fn ask(root: &Path, request: &Value) -> Vec<u8> {
    let reply = answer(&Disk::real(), root, request, &mut |_| {});
    reply.to_string().into_bytes()
}

/// REQ-COM-001, REQ-COM-002, CAL-SUM-1: the controller accepts an answer of scout.
#[test]
fn the_controller_reads_an_answer() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("lib.rs");
    Disk::real()
        .replace(&source, b"//! Small.\npub fn f() {}\n", 0o644)
        .unwrap();
    let context = json!({"kind": "api", "root": folder.path(), "paths": ["lib.rs"]});
    let request = json!({"prompt": "map it", "metadata": {"task_id": "t", "context": context}});
    let bytes = ask(Path::new("/nowhere"), &request);
    let read = parse_answer(&bytes, Executor::embedded().capabilities).unwrap();
    assert!(read.summary.starts_with("# api"), "{}", read.summary);
}

/// CAL-EXE-1: the handshake's second step reads no tree.
#[test]
fn the_controller_reads_the_capabilities() {
    let bytes = ask(
        Path::new("/nowhere/at/all"),
        &json!({"prompt": "capabilities"}),
    );
    let described = parse_capabilities(&bytes).unwrap();
    assert_eq!(described.capabilities, Executor::embedded().capabilities);
}
