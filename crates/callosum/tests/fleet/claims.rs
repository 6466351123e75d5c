//! One task, several machines.

use std::thread;

use crate::{
    machine::{Machine, check_logs, sync_all},
    nats_server::NatsServer,
};

/// Rounds of claims by all machines at once.
const ROUNDS: usize = 12;

/// CALC-FUT-1: of machines that claim a task at once one has it, round after round.
#[test]
fn one_machine_gets_a_task_that_all_claim_at_once() {
    let server = NatsServer::start();
    let machines = ["one", "two", "three"].map(|name| Machine::join(name, &server));
    for round in 0..ROUNDS {
        machines[0].add(&format!("t{round}"), &format!("work {round}"));
    }
    let all: Vec<&Machine> = machines.iter().collect();
    sync_all(&all);
    let mut winners = [0; 3];
    for round in 0..ROUNDS {
        let id = format!("t{round}");
        let won: Vec<bool> = thread::scope(|scope| {
            let claims = machines.iter().map(|machine| {
                let id = &id;
                scope.spawn(move || machine.claim(id))
            });
            let claims: Vec<_> = claims.collect();
            let outputs = claims.into_iter().map(|claim| claim.join().unwrap());
            let won = outputs.map(|output| {
                assert!(output.code <= 1, "{}", output.stderr);
                output.code == 0
            });
            won.collect()
        });
        assert_eq!(
            won.iter().filter(|won| **won).count(),
            1,
            "round {round}: {won:?}"
        );
        let winner = won.iter().position(|won| *won).unwrap();
        winners[winner] += 1;
        machines[winner]
            .done(&id, &format!("by {winner}"))
            .success();
    }
    sync_all(&all);
    for round in 0..ROUNDS {
        let id = format!("t{round}");
        let results: Vec<_> = machines.iter().map(|machine| machine.task(&id)).collect();
        assert!(
            results.iter().all(|task| task["status"] == "complete"),
            "{results:?}"
        );
        assert!(
            results
                .iter()
                .all(|task| task["result"] == results[0]["result"])
        );
    }
    check_logs(&all);
    assert_eq!(winners.iter().sum::<i32>(), 12);
}

/// CALC-FUT-1: without the server a shared task is not claimed; one that no other machine has seen is.
#[test]
fn a_shared_task_is_not_claimed_without_the_server() {
    let mut server = NatsServer::start();
    let (one, two) = (Machine::join("one", &server), Machine::join("two", &server));
    one.add("t", "work");
    one.add("u", "other work");
    sync_all(&[&one, &two]);
    two.claim("u").success();
    sync_all(&[&two, &one]);
    let claimed = one.task("u");
    assert_eq!(claimed["claimed_on"], "ana@two", "{claimed}");
    server.kill();
    let refused = one.claim("t").ended_with(3);
    assert!(
        refused.stderr.contains("not claimed without the server"),
        "{}",
        refused.stderr
    );
    one.add("own", "work here");
    // The next task is the one of this machine alone.
    let next = [
        "mesh",
        "task",
        "claim",
        "--as",
        "codex",
        "--session",
        "session-one",
        "--json",
    ];
    let next = one.run(&next).success();
    assert_eq!(next.json()["id"], "own", "{}", next.stdout);
    // The agent with a claim ends it without the server, which learns of it later.
    let done = two.done("u", "done offline").success();
    assert!(
        done.stderr.contains("logged on this machine only"),
        "{}",
        done.stderr
    );
    server.begin();
    sync_all(&[&two, &one]);
    assert_eq!(one.task("u")["result"], "done offline");
    // A claim from before the task was shared counts on all machines.
    let held = two.claim("own").ended_with(1);
    assert!(
        held.stderr.contains("claimed by codex of ana@one"),
        "{}",
        held.stderr
    );
    one.done("own", "here").success();
    sync_all(&[&one, &two]);
    assert_eq!(two.task("own")["result"], "here");
    check_logs(&[&one, &two]);
}

/// CALC-FUT-1: no clock of a machine decides about a claim: one that is years ahead does not take a task, and does not end a
/// claim of another.
#[test]
fn a_machine_with_a_wrong_clock_takes_nothing_from_another() {
    let server = NatsServer::start();
    let (one, two) = (Machine::join("one", &server), Machine::join("two", &server));
    one.add("t", "work");
    sync_all(&[&one, &two]);
    one.claim("t").success();
    sync_all(&[&one, &two]);
    let late = |arguments: &[&str]| {
        let run = two.callosum(arguments);
        run.env("CALLOSUM_TEST_CLOCK", "2099-01-02T03:04:05Z").run()
    };
    let claim = [
        "mesh",
        "task",
        "claim",
        "t",
        "--as",
        "codex",
        "--session",
        "s",
    ];
    let held = late(&claim).ended_with(1);
    assert!(
        held.stderr.contains("claimed by codex of ana@one"),
        "{}",
        held.stderr
    );
    late(&["mesh", "fleet", "sync"]).success();
    sync_all(&[&one, &two]);
    let task = one.task("t");
    assert_eq!(task["status"], "in_progress", "{task}");
    one.done("t", "done").success();
    sync_all(&[&one, &two]);
    assert_eq!(two.task("t")["result"], "done");
    check_logs(&[&one, &two]);
}

/// CALC-FUT-1: what a machine does late, under a claim that another machine has taken over, counts on none.
#[test]
fn a_machine_whose_claim_was_taken_over_is_fenced() {
    let server = NatsServer::start();
    let (one, two) = (Machine::join("one", &server), Machine::join("two", &server));
    one.add("t", "work");
    sync_all(&[&one, &two]);
    let old = one.claim("t").success().json()["token"].as_u64().unwrap();
    sync_all(&[&one, &two]);
    // The server loses its claims with its store, and only the second machine reaches the new one.
    drop(server);
    let server = NatsServer::start();
    two.configure(&server.address(), "");
    two.run(&["mesh", "fleet", "join"]).success();
    let new = two.claim("t").success().json()["token"].as_u64().unwrap();
    assert!(new > old, "{new} after {old}");
    let late = one.done("t", "late").success();
    assert!(
        late.stderr.contains("logged on this machine only"),
        "{}",
        late.stderr
    );
    one.configure(&server.address(), "");
    one.run(&["mesh", "fleet", "join"]).success();
    sync_all(&[&one, &two]);
    for machine in [&one, &two] {
        let task = machine.task("t");
        assert_eq!(task["status"], "in_progress", "{}: {task}", machine.name);
        assert_eq!(task["token"], new, "{}: {task}", machine.name);
    }
    two.done("t", "right").success();
    sync_all(&[&two, &one]);
    for machine in [&one, &two] {
        assert_eq!(machine.task("t")["result"], "right", "{}", machine.name);
    }
    check_logs(&[&one, &two]);
}
