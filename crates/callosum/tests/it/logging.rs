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

/// CAKE-LOG-1: `CALLOSUM_LOG` has every command logged, by its verbs and without its arguments; a hook logs nothing.
#[test]
fn every_command_but_a_hook_is_logged_if_the_variable_is_set() {
    let env = TestEnv::new();
    let log = env.machine_home().join("cake.log");
    let run = |level: &str, arguments: &[&str]| {
        let run = env.callosum().arguments(arguments);
        run.env("CALLOSUM_LOG", level).run()
    };
    run("off", &["serve", "status"]);
    env.run(["status"]).success();
    let hook = env.callosum().arguments(["hook", "claude"]);
    hook.env("CALLOSUM_LOG", "debug").input("{}").run();
    assert!(!log.exists());
    run("info", &["mesh", "digest", "--to", "s3cret-agent"]);
    run("INFO", &["ledger", "show", "cal_2026_01_01_0001"]).ended_with(1);
    let text = std::fs::read_to_string(&log).unwrap();
    for line in [
        r#" INFO callosum::cli: started command="mesh digest""#,
        r#" INFO callosum::cli: ended command="mesh digest" exit_code=0"#,
        r#"ERROR callosum::cli: failed command="ledger show" exit_code=1 error="#,
    ] {
        assert!(text.contains(line), "{text}");
    }
    assert!(!text.contains("s3cret-agent"), "{text}");
    let unknown = run("loud", &["status"]).success();
    let what = "`CALLOSUM_LOG`: `loud` is not a log level (allowed: DEBUG, INFO, WARNING, ERROR)";
    assert!(unknown.stderr.contains(what), "{}", unknown.stderr);
}
