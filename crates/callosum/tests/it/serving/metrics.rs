//! What Prometheus reads, and what the board and the alerts that we ship ask of it.

use std::collections::BTreeSet;

use callosum_testkit::TestEnv;

use super::daemon::{Daemon, event};

/// The metrics that a text names: ours and the guard's.
fn named(text: &str) -> BTreeSet<&str> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let ours = ["mesh_", "cake_", "process_"];
    words
        .filter(|word| ours.iter().any(|begin| word.starts_with(begin)))
        .collect()
}

/// CALC-L1-1: every metric that the board, the alerts and their page name is served.
/// CAKE-MET-1: the guard's are among them.
#[test]
fn every_metric_that_the_board_and_the_alerts_name_is_served() {
    let env = TestEnv::new();
    let asked = r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm -rf /"},"cwd":"/","session_id":"s"}"#;
    env.callosum()
        .arguments(["hook", "claude"])
        .input(asked)
        .run();
    let daemon = Daemon::start(&env);
    daemon
        .post("?durability=synced", &event("calc.note", 1))
        .with(200);
    daemon.post("", "{}").with(400);
    let served = daemon.get("metrics", "/metrics").with(200);
    assert!(served.headers["content-type"].starts_with("text/plain; version=0.0.4"));
    for line in [
        "mesh_events_total{topic_class=\"calc\",source=\"codex\"} 1",
        "mesh_publish_seconds_count{durability=\"synced\"} 1",
        "mesh_sync_seconds_count 1",
        "mesh_refused_total{reason=\"faults\"} 1",
        "mesh_log_last_seq 1",
        "cake_interventions_total{type=\"command\",severity=\"block\",success=\"true\"} 1",
    ] {
        assert!(
            served.body.lines().any(|found| found == line),
            "{line}\n{}",
            served.body
        );
    }
    let known = named(&served.body);
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/observability");
    for page in ["grafana-board.json", "alerts.yml", "README.md"] {
        let text = std::fs::read_to_string(root.join(page)).unwrap();
        let unknown: Vec<_> = named(&text)
            .into_iter()
            .filter(|name| !known.contains(name) && *name != "cake_")
            .collect();
        assert_eq!(unknown, [""; 0], "{page}");
        assert!(named(&text).len() > 3, "{page}");
    }
    let board = std::fs::read(root.join("grafana-board.json")).unwrap();
    let board: serde_json::Value = serde_json::from_slice(&board).unwrap();
    assert!(board["panels"].as_array().unwrap().len() > 5);
}
