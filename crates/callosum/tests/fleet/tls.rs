//! TLS, as beyond loopback: whom a machine talks to.

use crate::{
    certificates::Certificates,
    machine::{Machine, check_logs, sync_all},
    nats_server::NatsServer,
};

/// CALC-FUT-1: machines exchange tasks over TLS, with an authority of their own.
#[test]
fn machines_exchange_tasks_over_tls() {
    let certificates = Certificates::new();
    let server = NatsServer::with(&certificates.of_server());
    let machines = ["one", "two"].map(|name| {
        let machine = Machine::new(name, &server, &certificates.ca_file());
        machine.run(&["mesh", "fleet", "join"]).success();
        machine
    });
    let [one, two] = &machines;
    one.add("t", "work");
    sync_all(&[one, two]);
    two.claim("t").success();
    two.done("t", "done").success();
    sync_all(&[two, one]);
    assert_eq!(one.task("t")["result"], "done");
    check_logs(&[one, two]);
}

/// CALC-FUT-1: a machine talks to no server whose certificate another authority signed, and to none without TLS.
#[test]
fn a_server_that_is_not_the_one_gets_nothing() {
    let (certificates, others) = (Certificates::new(), Certificates::new());
    let wrong = NatsServer::with(&others.of_server());
    let bare = NatsServer::start();
    let machine = Machine::new("one", &wrong, &certificates.ca_file());
    let tls_to_bare = format!("tls://127.0.0.1:{}", bare.port());
    for address in [wrong.address(), tls_to_bare] {
        machine.configure(&address, &certificates.ca_file());
        let refused = machine.run(&["mesh", "fleet", "join"]).ended_with(3);
        assert!(
            refused.stderr.contains("no server answers"),
            "{address}: {}",
            refused.stderr
        );
        assert_eq!(machine.status()["joined"], false);
    }
    // The authority of the machine itself would not have signed it either.
    machine.configure(&wrong.address(), "");
    machine.run(&["mesh", "fleet", "join"]).ended_with(3);
    machine.configure(&wrong.address(), &others.ca_file());
    machine.run(&["mesh", "fleet", "join"]).success();
}
