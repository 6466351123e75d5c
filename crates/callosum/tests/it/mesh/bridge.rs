//! The bridge file, beside the verbs.

use std::path::Path;

use callosum_testkit::TestEnv;
use serde_json::Value;

use super::json;

/// CALC-L3-1: an edit by hand is taken over by whichever verb comes next.
#[test]
fn the_bridge_file_is_for_everybody() {
    let env = TestEnv::new();
    env.run([
        "mesh",
        "discovery",
        "share",
        "versions clash",
        "--as",
        "gemini",
    ])
    .success();
    let bridge = json(&env, &["bridge"]);
    let path = bridge["path"].as_str().unwrap().to_owned();
    let disk = callosum_host::Disk::real();
    let text = disk.read(Path::new(&path)).unwrap();
    let mut document: Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(document["discoveries"][0]["source"], "gemini-cli");
    document["task_queue"] = serde_json::json!([{"prompt": "by hand", "assigned_to": "codex"}]);
    env.write(&path, document.to_string());
    assert_eq!(
        json(&env, &["task", "claim", "--as", "codex"])["prompt"],
        "by hand"
    );
    env.write(&path, "{\n  \"task_queue\": [,]\n}");
    let refused = env.run(["mesh", "bridge"]).ended_with(1);
    assert!(
        refused.stderr.contains("line 2, column"),
        "{}",
        refused.stderr
    );
    let listed = json(&env, &["task", "list"]);
    assert_eq!(listed["tasks"][0]["prompt"], "by hand");
}
