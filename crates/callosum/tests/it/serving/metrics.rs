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

/// CAKE-MET-1: what was decided in projects that were begun here is counted with what was decided elsewhere; a project that
/// is gone is passed over, one that cannot be read is told.
#[test]
fn decisions_in_projects_are_served_as_well() {
    let env = TestEnv::new();
    env.git_init_with_work();
    let decide = |folder: &std::path::Path| {
        let event = serde_json::json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": folder,
            "tool_input": {"command": "git reset --hard"}});
        let hook = env.callosum().arguments(["hook", "claude"]);
        hook.input(event.to_string()).run();
    };
    decide(&env.project());
    env.run(["init", "--ledger", "--sessions", "--share"])
        .success();
    decide(&env.project());
    decide(&env.project());
    let daemon = Daemon::start(&env);
    let served = || daemon.get("metrics", "/metrics").with(200).body;
    let prevented = "cake_errors_prevented_total{error_type=\"git.reset-hard\"}";
    assert!(
        served().contains(&format!("{prevented} 3\n")),
        "{}",
        served()
    );
    decide(&env.project());
    assert!(
        served().contains(&format!("{prevented} 4\n")),
        "{}",
        served()
    );
    assert!(
        served().contains("cake_unread_projects 0\n"),
        "{}",
        served()
    );
    env.write(".calrc", "{");
    assert!(
        served().contains(&format!("{prevented} 1\n")),
        "{}",
        served()
    );
    assert!(
        served().contains("cake_unread_projects 1\n"),
        "{}",
        served()
    );
    let elsewhere = env.project().with_file_name("elsewhere");
    std::fs::rename(env.project(), &elsewhere).unwrap();
    let text = served();
    std::fs::rename(elsewhere, env.project()).unwrap();
    assert!(text.contains("cake_unread_projects 0\n"), "{text}");
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

/// CALC-L1-1, CALC-PAT-2: what happens to messages, tasks and leases is counted, by whichever process it was done, and how they stand
/// is told.
#[test]
fn what_happens_on_the_board_is_counted_whoever_did_it() {
    let env = TestEnv::new();
    let daemon = Daemon::start(&env);
    for words in [
        &["message", "send", "codex", "look", "--as", "person"][..],
        &["message", "send", "gemini", "wait", "--as", "person"],
        &["message", "read", "--as", "codex"],
        &["task", "add", "Count", "--id", "t1", "--as", "person"],
        &["task", "add", "Again", "--id", "t2", "--as", "person"],
        &["task", "claim", "t1", "--as", "codex"],
        &["task", "done", "t1", "--as", "codex"],
        &["lease", "take", "a.rs", "--as", "codex"],
    ] {
        let run = env.callosum().arguments(["mesh"]).arguments(words);
        run.without("CALLOSUM_TEST_IDS").run().success();
    }
    let wanted = [
        "mesh_deliveries_total{agent=\"codex\",receipt=\"acked\"} 1",
        "mesh_task_changes_total{change=\"added\"} 2",
        "mesh_task_changes_total{change=\"claimed\"} 1",
        "mesh_task_changes_total{change=\"completed\"} 1",
        "mesh_task_changes_total{change=\"overdue\"} 0",
        "mesh_lease_changes_total{change=\"taken\"} 1",
        "mesh_messages{state=\"queued\"} 1",
        "mesh_tasks{status=\"pending\"} 1",
        "mesh_leases 1",
        "mesh_dead_letters 0",
    ];
    let begun = std::time::Instant::now();
    loop {
        let served = daemon.get("metrics", "/metrics").with(200).body;
        let missing = wanted
            .iter()
            .find(|line| served.lines().all(|found| found != **line));
        let Some(missing) = missing else {
            break;
        };
        assert!(begun.elapsed().as_secs() < 300, "{missing}\n{served}");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}
