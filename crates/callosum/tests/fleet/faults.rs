//! A server that is away, is killed, or loses its store.

use crate::{
    machine::{Machine, check_logs, sync_all},
    nats_server::NatsServer,
};

/// CALC-FUT-1: work on both sides of a partition is on both sides after it, once.
#[test]
fn nothing_is_lost_and_nothing_comes_twice_after_a_partition() {
    let mut server = NatsServer::start();
    let (one, two) = (Machine::join("one", &server), Machine::join("two", &server));
    one.add("before", "work");
    sync_all(&[&one, &two]);
    server.kill();
    for machine in [&one, &two] {
        let name = machine.name;
        for number in 0..20 {
            machine.add(
                &format!("{name}-{number}"),
                &format!("work {number} of {name}"),
            );
        }
        machine.add(&format!("{name}-last"), "work");
    }
    let refused = one.run(&["mesh", "fleet", "sync"]).ended_with(3);
    assert!(
        refused.stderr.contains("no server answers"),
        "{}",
        refused.stderr
    );
    assert_eq!(one.status()["durability"], "logged_locally");
    server.begin();
    sync_all(&[&one, &two]);
    assert_eq!(two.task("one-last")["prompt"], "work");
    assert_eq!(one.task("two-last")["prompt"], "work");
    check_logs(&[&one, &two]);
}

/// CALC-FUT-1: a server that is killed and started again with its store goes on, and so do claims.
#[test]
fn a_killed_server_goes_on_with_its_store() {
    let mut server = NatsServer::start();
    let (one, two) = (Machine::join("one", &server), Machine::join("two", &server));
    for round in 0..4 {
        let id = format!("t{round}");
        one.add(&id, &format!("work {round}"));
        one.sync();
        two.sync();
        two.claim(&id).success();
        server.kill();
        server.begin();
        one.claim(&id).ended_with(1);
        two.done(&id, "done").success();
        sync_all(&[&two, &one]);
        assert_eq!(one.task(&id)["result"], "done");
    }
    check_logs(&[&one, &two]);
}

/// CALC-FUT-1: the logs are the truth: a server that lost all is filled again by a new join.
#[test]
fn a_server_without_its_store_is_filled_again() {
    let server = NatsServer::start();
    let (one, two) = (Machine::join("one", &server), Machine::join("two", &server));
    one.add("t", "work");
    sync_all(&[&one, &two]);
    drop(server);
    let server = NatsServer::start();
    for machine in [&one, &two] {
        machine.configure(&server.address(), "");
    }
    let refused = one.run(&["mesh", "fleet", "sync"]).ended_with(1);
    assert!(
        refused.stderr.contains("has no workspace"),
        "{}",
        refused.stderr
    );
    one.run(&["mesh", "fleet", "join"]).success();
    let three = Machine::join("three", &server);
    two.run(&["mesh", "fleet", "join"]).success();
    one.add("u", "more work");
    sync_all(&[&one, &two, &three]);
    assert_eq!(three.task("t")["prompt"], "work");
    assert_eq!(three.task("u")["prompt"], "more work");
    check_logs(&[&one, &two, &three]);
}
