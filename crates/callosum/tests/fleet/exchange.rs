//! Events that cross machines, and their way.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{
    machine::{Daemon, Machine, check_logs, sync_all},
    nats_server::NatsServer,
};

/// Longest wait for a daemon, on a machine that is busy.
const PATIENCE: Duration = Duration::from_mins(1);

/// CALC-FUT-1, LOA-FUT-1: tasks, messages and discoveries cross, and a result comes back.
#[test]
fn two_machines_exchange_tasks_messages_and_discoveries() {
    let server = NatsServer::start();
    let (one, two) = (Machine::join("one", &server), Machine::join("two", &server));
    let file = one.env.project().join("src/x.rs");
    one.add("t", &format!("fix {}", file.display()));
    let message = ["mesh", "message", "send", "gemini-cli", "the API moved"];
    one.run(&[&message[..], &["--as", "codex"]].concat())
        .success();
    let share = [
        "mesh",
        "discovery",
        "share",
        "the cache is stale",
        "--as",
        "codex",
    ];
    one.run(&share).success();
    let take = ["mesh", "lease", "take", "src/x.rs", "--as", "codex"];
    one.run(&take).success();
    sync_all(&[&one, &two]);
    let task = two.task("t");
    assert_eq!(task["prompt"], "fix src/x.rs");
    assert_eq!(
        (&task["created_on"], &task["shared"]),
        (&"ana@one".into(), &true.into())
    );
    let read = ["mesh", "message", "list", "--all", "--json"];
    let messages = two.run(&read).success().json();
    assert_eq!(
        messages["messages"][0]["content"], "the API moved",
        "{messages}"
    );
    let leases = two
        .run(&["mesh", "lease", "list", "--json"])
        .success()
        .json();
    let there = two.env.project().join("src/x.rs");
    assert_eq!(
        leases["leases"][0]["path"],
        there.to_str().unwrap(),
        "{leases}"
    );
    two.claim("t").success();
    two.done("t", "fixed").success();
    sync_all(&[&two, &one]);
    assert_eq!(one.task("t")["result"], "fixed");
    check_logs(&[&one, &two]);
    let machines: Vec<Value> = two.log();
    let foreign = machines
        .iter()
        .find(|line| !line["from"].is_null())
        .unwrap();
    assert_eq!(foreign["machine"], "ana@one");
    let status = one.status();
    assert_eq!(status["durability"], "synced_by_peers", "{status}");
    assert_eq!(status["peers"][0]["machine"], "two");
}

/// CALC-FUT-1: what happened before the join, in other folders, or is no event of the list stays here.
#[test]
fn what_is_not_shared_never_reaches_the_server() {
    let server = NatsServer::start();
    let one = Machine::new("one", &server, "");
    one.add("before", "a secret plan");
    one.run(&["mesh", "fleet", "join"]).success();
    let private = one.env.folder().join("private");
    std::fs::create_dir_all(&private).unwrap();
    let add = [
        "mesh",
        "task",
        "add",
        "private work",
        "--id",
        "private",
        "--as",
        "codex",
    ];
    one.callosum(&add).in_folder(&private).run().success();
    let publish = [
        "mesh",
        "publish",
        "agent.task_complete",
        "--as",
        "codex",
        "--payload",
        "{\"summary\":\"x\"}",
    ];
    one.run(&publish).success();
    let two = Machine::join("two", &server);
    sync_all(&[&one, &two]);
    assert!(two.log().iter().all(|line| line["from"].is_null()));
    assert_eq!(one.sync()["sent"], 0);
    // Neither is known to the server, so both are claimed without it.
    drop(server);
    one.claim("before").success();
    one.claim("private").success();
}

/// CALC-FUT-1: a daemon replicates by itself, and goes on after the server was away.
#[test]
fn daemons_replicate_by_themselves() {
    let mut server = NatsServer::start();
    let (one, two) = (Machine::join("one", &server), Machine::join("two", &server));
    let daemons = [&one, &two].map(Daemon::start);
    one.add("t", "work");
    wait_until("the task is there", || {
        let list = two
            .run(&["mesh", "task", "list", "--json"])
            .success()
            .json();
        list["tasks"]
            .as_array()
            .is_some_and(|tasks| tasks.len() == 1)
    });
    server.kill();
    one.add("u", "more work");
    wait_until("the daemon has noticed", || {
        one.status()["connected"] == false
    });
    let status = one.status();
    assert!(status["failures"].as_u64() > Some(0), "{status}");
    server.begin();
    wait_until("the second task is there", || {
        let list = two
            .run(&["mesh", "task", "list", "--json"])
            .success()
            .json();
        list["tasks"]
            .as_array()
            .is_some_and(|tasks| tasks.len() == 2)
    });
    for daemon in &daemons {
        daemon.stop();
    }
    check_logs(&[&one, &two]);
}

/// CALC-FUT-1: a daemon that is killed again and again loses nothing and takes nothing twice.
#[test]
fn a_killed_daemon_goes_on_with_its_log() {
    let server = NatsServer::start();
    let (one, two) = (Machine::join("one", &server), Machine::join("two", &server));
    let sender = Daemon::start(&one);
    for round in 0..4 {
        let receiver = Daemon::start(&two);
        for number in 0..5 {
            one.add(
                &format!("t{round}-{number}"),
                &format!("work {number} of {round}"),
            );
        }
        // Killed in the middle of what it does.
        drop(receiver);
    }
    let receiver = Daemon::start(&two);
    wait_until("all tasks are there", || {
        let list = two.run(&["mesh", "task", "list", "--json"]).success();
        let list = list.json();
        list["tasks"]
            .as_array()
            .is_some_and(|tasks| tasks.len() == 20)
    });
    for daemon in [&sender, &receiver] {
        daemon.stop();
    }
    check_logs(&[&one, &two]);
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "never: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A machine that leaves has its own tasks again, and can join again.
#[test]
fn a_machine_leaves_and_joins_again() {
    let server = NatsServer::start();
    let (one, two) = (Machine::join("one", &server), Machine::join("two", &server));
    one.add("t", "work");
    sync_all(&[&one, &two]);
    let left = two
        .run(&["mesh", "fleet", "leave", "--json"])
        .success()
        .json();
    assert_eq!(left["removed_on_server"], true, "{left}");
    assert_eq!(two.status()["joined"], false);
    two.run(&["mesh", "fleet", "sync"]).ended_with(1);
    // Its copy is its own.
    two.claim("t").success();
    one.claim("t").success();
    two.run(&["mesh", "fleet", "join"]).success();
    one.add("u", "more work");
    sync_all(&[&one, &two]);
    assert_eq!(two.task("u")["prompt"], "more work");
    check_logs(&[&one, &two]);
}
