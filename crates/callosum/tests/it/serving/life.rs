//! How the daemon begins, is found, and ends.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;

use callosum_testkit::TestEnv;
use serde_json::Value;

use super::daemon::{Daemon, event};

/// CALC-L1-1: one daemon a machine's home; who asks is told where it is.
#[test]
fn a_second_daemon_is_told_who_serves() {
    let env = TestEnv::new();
    env.run(["serve", "status"]).ended_with(1);
    env.run(["serve", "stop"]).ended_with(1);
    let daemon = Daemon::start(&env);
    let second = env.run(["serve"]).ended_with(3);
    let pid = daemon.pid().to_string();
    assert!(second.stderr.contains(&pid), "{}", second.stderr);
    assert!(
        second.stderr.contains("callosum serve stop"),
        "{}",
        second.stderr
    );
    env.run(["serve", "--detach"]).ended_with(3);
    let status = env.run(["serve", "status", "--json"]).success().json();
    assert_eq!(status["serving"], daemon.serving);
    assert_eq!(status["last_seq"], 0);
    let words = env.run(["serve", "status"]).success().stdout;
    assert!(words.contains(daemon.at("events")), "{words}");
    let folder = env.machine_home().join("mesh");
    for (name, mode) in [
        ("serve.sock", 0o600),
        ("serve.json", 0o600),
        ("serve.lock", 0o600),
        ("", 0o700),
    ] {
        let found = std::fs::metadata(folder.join(name)).unwrap();
        assert_eq!(found.permissions().mode() & 0o777, mode, "{name}");
    }
    let told: Value =
        serde_json::from_slice(&std::fs::read(folder.join("serve.json")).unwrap()).unwrap();
    assert_eq!(told, daemon.serving);
    env.run(["serve", "stop"]).success();
    assert!(!folder.join("serve.json").exists());
    assert!(!folder.join("serve.sock").exists());
    daemon.wait_until_gone();
    env.run(["serve", "status"]).ended_with(1);
}

/// CALC-FAIL-1: a daemon that hangs is told with its process, soon, and never as none.
#[test]
fn a_daemon_that_hangs_is_named() {
    let env = TestEnv::new();
    let daemon = Daemon::start(&env);
    daemon.signal("STOP");
    let who = format!("does not answer (pid {})", daemon.pid());
    for words in [
        ["serve", "status"],
        ["serve", "stop"],
        ["serve", "--detach"],
    ] {
        let told = env.run(words).ended_with(3);
        assert!(told.stderr.contains(&who), "{words:?}: {}", told.stderr);
    }
    let told = env.run(["serve", "status", "--json"]).ended_with(3);
    assert_eq!(told.json()["silent"], daemon.pid());
    daemon.signal("CONT");
    daemon.signal("KILL");
    daemon.wait_until_gone();
}

/// CALC-FAIL-1: what a killed daemon left is taken over, and the log goes on.
#[test]
fn what_a_killed_daemon_left_is_taken_over() {
    let env = TestEnv::new();
    let first = Daemon::start(&env);
    first.post("", &event("a", 1)).with(200);
    first.signal("KILL");
    first.wait_until_gone();
    assert!(env.machine_home().join("mesh/serve.sock").exists());
    env.run(["serve", "status"]).ended_with(1);
    let second = Daemon::start(&env);
    assert_eq!(second.serving["origin"], first.serving["origin"]);
    let ack = second.post("", &event("a", 2)).with(200).json();
    assert_eq!(ack["seq"], 2);
}

/// Removes a folder in one step, whatever is written in it meanwhile.
fn remove(folder: &std::path::Path) {
    let away = folder.with_extension("away");
    std::fs::rename(folder, &away).unwrap();
    std::fs::remove_dir_all(away).unwrap();
}

/// CALC-FAIL-1: a daemon whose folder is removed under it is found again, says what was the matter, and can be asked to end.
#[test]
fn a_daemon_whose_folder_was_removed_is_found_and_can_be_ended() {
    let env = TestEnv::new();
    let daemon = Daemon::start(&env);
    daemon.post("", &event("a", 1)).with(200);
    let folder = env.machine_home().join("mesh");
    remove(&folder);
    let status = env.run(["serve", "status", "--json"]).success();
    assert!(status.stderr.is_empty(), "{}", status.stderr);
    let status = status.json();
    assert_eq!(status["serving"]["pid"], daemon.serving["pid"]);
    assert!(status["replaced"].is_string(), "{status}");
    let words = env.run(["serve", "status"]).success();
    assert!(
        words
            .stderr
            .contains("was removed while the daemon was running"),
        "{}",
        words.stderr
    );
    assert_eq!(daemon.post("", &event("a", 2)).with(200).json()["seq"], 1);
    let status = env.run(["serve", "status", "--json"]).success().json();
    assert_ne!(status["serving"]["origin"], daemon.serving["origin"]);
    let second = env.run(["serve"]).ended_with(3);
    assert!(
        second.stderr.contains(&daemon.pid().to_string()),
        "{}",
        second.stderr
    );
    remove(&folder);
    env.run(["serve", "stop"]).success();
    daemon.wait_until_gone();
    env.run(["serve", "status"]).ended_with(1);
    assert!(!folder.join("serve.sock").exists());
}

/// CALC-FAIL-1: a port that is taken is told of, with who has it, and the others are served.
#[test]
fn a_port_that_is_taken_costs_only_what_was_to_be_there() {
    let env = TestEnv::new();
    let taken = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let daemon = Daemon::with(&env, &["--bus", &address]);
    assert_eq!(daemon.serving["bus"], Value::Null);
    let unserved = &daemon.serving["unserved"][0];
    assert_eq!(
        (unserved["what"].as_str(), unserved["address"].as_str()),
        (Some("bus"), Some(&*address))
    );
    let reason = unserved["reason"].as_str().unwrap();
    assert!(
        reason.contains(&format!("pid {}", std::process::id())),
        "{reason}"
    );
    daemon.post("", &event("a", 1)).with(200);
    daemon.get("metrics", "/metrics").with(200);
    env.run(["serve", "stop"]).success();
    let nothing = env.run([
        "serve",
        "--events",
        &address,
        "--bus",
        "off",
        "--metrics",
        "off",
        "--detach",
    ]);
    let nothing = nothing.ended_with(3);
    assert!(
        nothing.stderr.contains("the port is taken"),
        "{}",
        nothing.stderr
    );
}

/// CALC-SEC-1: what is not loopback is refused, by flag and by variable.
#[test]
fn other_machines_are_not_served() {
    let env = TestEnv::new();
    let refused = env.run(["serve", "--events", "0.0.0.0:0"]).ended_with(2);
    assert!(
        refused.stderr.contains("not on loopback"),
        "{}",
        refused.stderr
    );
    let refused = env
        .callosum()
        .env("CALLOSUM_BUS", "192.0.2.1:7890")
        .arguments(["serve"])
        .run();
    let refused = refused.ended_with(3);
    assert!(
        refused.stderr.contains("CALLOSUM_BUS"),
        "{}",
        refused.stderr
    );
    assert!(
        refused.stderr.contains("not on loopback"),
        "{}",
        refused.stderr
    );
}

/// CALC-L1-1: each part can be off; the socket is always there.
#[test]
fn each_part_can_be_off() {
    let env = TestEnv::new();
    let daemon = Daemon::with(
        &env,
        &["--events", "off", "--bus", "off", "--metrics", "off"],
    );
    for what in ["events", "bus", "metrics"] {
        assert_eq!(daemon.serving[what], Value::Null);
    }
    env.run(["serve", "status"]).success();
}

/// CALC-FAIL-1: asked to end, it lets everybody who listens go, and tells nobody that it is there any more.
#[test]
fn a_daemon_that_is_asked_to_end_leaves_in_order() {
    for signal in ["TERM", "INT"] {
        let env = TestEnv::new();
        let daemon = Daemon::start(&env);
        let mut stream = daemon.stream("", "");
        daemon.post("", &event("a", 1)).with(200);
        assert_eq!(stream.number(), 1);
        daemon.signal(signal);
        assert!(!stream.rest().contains("data:"));
        daemon.wait_until_gone();
        assert!(!env.machine_home().join("mesh/serve.json").exists());
        env.run(["serve", "status"]).ended_with(1);
    }
}

/// CALC-L1-1: the machine's home may be longer than the path of a socket.
#[cfg(target_os = "linux")]
#[test]
fn a_home_with_a_long_path_is_served() {
    let env = TestEnv::new();
    let home = env.home().join("long/".repeat(40));
    let said = |words: &[&str]| {
        let run = env.callosum().env("CALLOSUM_HOME", &home);
        run.arguments(words).run()
    };
    let off = ["--events", "off", "--bus", "off", "--metrics", "off"];
    said(&[&["serve", "--detach"], &off[..]].concat()).success();
    said(&["serve", "status"]).success();
    said(&["serve", "stop"]).success();
    said(&["serve", "status"]).ended_with(1);
}
