//! The log file: what long-running commands write into it, and that hooks do not.

use callosum_testkit::TestEnv;
use serde_json::json;

use crate::serving::daemon::Daemon;

/// CAKE-LOG-1: the daemon logs its start and end into the configured file, at the configured level; a hook logs nothing.
#[test]
fn the_daemon_logs_into_the_configured_file() {
    let env = TestEnv::new();
    let log = env.home().join("logs/own.log");
    let config = env.configuration().with_file_name("cake_config.yaml");
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    let configure = |level: &str| {
        let text = format!("logging: {{level: {level}, file: ~/logs/own.log, max_size_mb: 1}}\n");
        std::fs::write(&config, text).unwrap();
    };
    configure("INFO");
    let event = json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": env.project(),
        "tool_input": {"command": "rm -rf /"}});
    let hook = env.callosum().arguments(["hook", "claude"]);
    hook.input(event.to_string()).run();
    assert!(!log.exists());
    let daemon = Daemon::start(&env);
    env.run(["serve", "stop"]).success();
    // The answer comes before the process has ended.
    let began = std::time::Instant::now();
    let text = loop {
        let text = std::fs::read_to_string(&log).unwrap();
        if text.contains("the daemon has ended") {
            break text;
        }
        assert!(began.elapsed().as_secs() < 60, "{text}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    drop(daemon);
    assert!(
        text.contains(" INFO callosum::cli::serve: the daemon is serving pid="),
        "{text}"
    );
    std::fs::remove_file(&log).unwrap();
    configure("ERROR");
    let daemon = Daemon::start(&env);
    env.run(["serve", "stop"]).success();
    drop(daemon);
    assert!(!log.exists());
}

/// CAKE-LOG-1, CAKE-OP-2: a notification that fails is in the log, without the address, which is a secret.
#[test]
fn a_failed_notification_is_logged_without_its_address() {
    let env = TestEnv::new();
    let config = env.configuration().with_file_name("cake_config.yaml");
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    let address = "http://127.0.0.1:1/s3cret-token";
    let text =
        format!("escalation: {{human_notification: {{enabled: true, webhook: \"{address}\"}}}}\n");
    std::fs::write(&config, text).unwrap();
    let failed = env.run(["operator", "notify"]).ended_with(3);
    let log = std::fs::read_to_string(env.machine_home().join("cake.log")).unwrap();
    assert!(
        log.contains("ERROR callosum::cli::operator: could not notify a person"),
        "{log}"
    );
    for text in [&log, &failed.stderr] {
        assert!(!text.contains("s3cret"), "{text}");
    }
}
