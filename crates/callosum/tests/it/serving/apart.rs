//! Each part that is gone, slow, full or broken leaves the others working (Seed CALC §9).

use std::{
    net::TcpListener,
    time::{Duration, Instant},
};

use callosum_testkit::TestEnv;
use serde_json::{Value, json};

use super::{
    bus::Client,
    daemon::{Daemon, event},
};

/// How long something may take on a machine that is busy.
const PATIENCE: Duration = Duration::from_mins(1);

fn discovery(text: &str) -> String {
    json!({"type": "calc.discovery", "source": "codex", "payload": {"content": text}}).to_string()
}

/// That events are kept and told, the bus answers, and metrics are counted.
fn assert_well(daemon: &Daemon<'_>, number: usize) {
    let mut stream = daemon.stream("?topic=a.b", "");
    daemon
        .post("?durability=synced", &event("a.b", number))
        .with(200);
    assert_eq!(stream.number(), number as u64);
    assert_eq!(
        Client::connect(daemon).asked(json!({"op": "ping"}))["op"],
        "pong"
    );
    daemon.get("metrics", "/metrics").with(200);
}

fn metric(daemon: &Daemon<'_>, name: &str) -> u64 {
    let metrics = daemon.get("metrics", "/metrics").with(200).body;
    let value = metrics.lines().find_map(|line| line.strip_prefix(name));
    value.unwrap().trim().parse().unwrap()
}

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// CALC-FAIL-1: a bridge that cannot be brought in line costs the bridge alone, and is there again when it can be.
#[test]
fn a_bridge_that_cannot_be_written_costs_nothing_else() {
    let env = TestEnv::new();
    let folder = env.machine_home().join("mesh");
    std::fs::create_dir_all(&folder).unwrap();
    // A link is somebody's, also where it leads nowhere, and stays.
    std::os::unix::fs::symlink("nowhere", folder.join("bridge")).unwrap();
    let daemon = Daemon::start(&env);
    daemon.post("", &discovery("kept all the same")).with(200);
    until("it is counted", || {
        metric(&daemon, "mesh_bridge_errors_total") > 0
    });
    assert_well(&daemon, 1);
    std::fs::remove_file(folder.join("bridge")).unwrap();
    until("it is shown", || {
        let shown = std::fs::read_to_string(folder.join("orchestrator_bridge.json"));
        shown.is_ok_and(|shown| shown.contains("kept all the same"))
    });
}

/// CALC-FAIL-1: a board that is no JSON is made anew from the log; a line of the log that is none is told of and passed over.
#[test]
fn a_board_and_a_line_that_are_broken_cost_nothing_else() {
    let env = TestEnv::new();
    let folder = env.machine_home().join("mesh");
    let first = Daemon::start(&env);
    first.post("", &discovery("before")).with(200);
    first.signal("KILL");
    first.wait_until_gone();
    std::fs::write(folder.join("board.json"), "{\"format\":2,\"ori").unwrap();
    let log = folder.join("events/00000000000000000001.jsonl");
    let mut lines = std::fs::read_to_string(&log).unwrap();
    lines.push_str("{\"seq\":2,\"torn");
    std::fs::write(&log, lines).unwrap();
    let daemon = Daemon::start(&env);
    daemon.post("", &discovery("after")).with(200);
    assert_well(&daemon, 1);
    let found = daemon.get("events", "/events").with(200).json();
    assert_eq!(found["notices"][0]["kind"], "damaged", "{found}");
    let listed = env
        .run(["mesh", "discovery", "list", "--json"])
        .success()
        .json();
    let told: Vec<&Value> = listed["discoveries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["content"])
        .collect();
    assert_eq!(told, ["before", "after"]);
}

/// CALC-FAIL-1: a place outside that takes a connection and never answers keeps nobody waiting, not even the end.
#[test]
fn a_place_outside_that_hangs_keeps_nobody_waiting() {
    let env = TestEnv::new();
    let hanging = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = hanging.local_addr().unwrap();
    let text = "[sinks.team]\nkind = \"discord\"\nurl_env = \"TEAM_HOOK\"\n";
    std::fs::write(env.configuration(), text).unwrap();
    let started = env
        .callosum()
        .env("TEAM_HOOK", format!("http://{address}/x"))
        .arguments([
            "serve",
            "--detach",
            "--json",
            "--events",
            "127.0.0.1:0",
            "--bus",
            "127.0.0.1:0",
            "--metrics",
            "127.0.0.1:0",
        ])
        .run();
    let daemon = Daemon::of(&env, started.success().json());
    let status = || env.run(["serve", "status", "--json"]).success().json();
    until("it has a place", || status()["sinks"][0]["cursor"] != "");
    daemon.post("", &event("a.b", 0)).with(200);
    let (_held, _) = hanging.accept().unwrap();
    assert_well(&daemon, 1);
    env.run(["serve", "stop"]).success();
    daemon.wait_until_gone();
}

/// CALC-FAIL-1: without its socket and its page the daemon goes on at its ports.
#[test]
fn a_socket_that_is_removed_costs_only_the_socket() {
    let env = TestEnv::new();
    let daemon = Daemon::start(&env);
    let folder = env.machine_home().join("mesh");
    std::fs::remove_file(folder.join("serve.sock")).unwrap();
    std::fs::remove_file(folder.join("serve.json")).unwrap();
    assert_well(&daemon, 1);
    // The verbs need neither.
    env.run(["mesh", "discovery", "share", "found", "--as", "codex"])
        .success();
    let found = daemon
        .get("events", "/events?topic=calc.*")
        .with(200)
        .json();
    assert_eq!(found["events"].as_array().unwrap().len(), 1);
}

/// CALC-FAIL-1: while somebody holds the log's lock nothing is acknowledged, and reading goes on.
#[test]
fn a_lock_that_is_held_is_said_and_reading_goes_on() {
    let env = TestEnv::new();
    let daemon = Daemon::start(&env);
    daemon.post("", &event("a.b", 1)).with(200);
    let path = env.machine_home().join("mesh/events.lock");
    let disk = callosum_host::Disk::real();
    let lock = callosum_host::LockFile::private().acquire(&disk, &path, PATIENCE);
    let lock = lock.unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| daemon.post("", &event("a.b", 2)));
        let deciding = scope.spawn(|| daemon.post("", &discovery("late")));
        let found = daemon.get("events", "/events").with(200).json();
        assert_eq!(found["events"].as_array().unwrap().len(), 1);
        waiting.join().unwrap().with(503);
        deciding.join().unwrap().with(503);
    });
    drop(lock);
    assert_well(&daemon, 3);
    daemon.post("", &discovery("again")).with(200);
}
