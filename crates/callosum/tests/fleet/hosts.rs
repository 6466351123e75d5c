//! Hosts with networks of their own, real servers, and what goes wrong with them: 10,000 tasks and messages in all.
//!
//! Everything crosses by TLS, with the users and permissions of the documentation. After each fault all logs are compared.

use std::{thread, time::Duration};

use crate::{
    certificates::Certificates,
    link::{GOOD, Link, Quality},
    load::{Acknowledged, race, wait_until},
    machine::{Daemon, Machine},
    nats_server::NatsServer,
    network::{Network, SmallDisk},
    permissions::{creds, users},
};

/// Tasks and messages of each test.
const LOAD: usize = 2500;

/// Pairs of a task and a message of each of two machines.
const OF_TWO: usize = LOAD / 4;

/// Names of machines, by host.
const NAMES: [&str; 3] = ["one", "two", "three"];

/// Machines on the first hosts of a network, configured for these servers.
fn machines<const COUNT: usize>(
    network: &Network,
    servers: &[&NatsServer],
    certificates: &Certificates,
    mut prepare: impl FnMut(Machine) -> Machine,
) -> [Machine; COUNT] {
    std::array::from_fn(|at| {
        let bare = Machine {
            on: network.on(at + 1),
            ..Machine::bare(NAMES[at])
        };
        let machine = prepare(bare).begun();
        let addresses: Vec<String> = servers.iter().map(|server| server.address()).collect();
        let more = format!("{}\n{}", certificates.ca_file(), creds(&machine, NAMES[at]));
        let replicas = format!("{more}\nreplicas = {}", servers.len());
        machine.configure_all(&addresses, &replicas);
        machine
    })
}

/// Joins, as soon as the servers are ready for that.
fn join(machine: &Machine) {
    wait_until("a machine has joined", || {
        machine.run(&["mesh", "fleet", "join"]).code == 0
    });
}

fn is_connected(machine: &Machine) -> bool {
    machine.status()["connected"] == true
}

/// CALC-FUT-1: a host that is cut off, with clocks that are hours and days wrong: nothing acknowledged is lost, no task is
/// claimed twice, and all is everywhere soon after.
#[test]
fn hosts_agree_after_a_partition_whatever_their_clocks_say() {
    let Some(network) = Network::with_hosts(3) else {
        return;
    };
    let certificates = Certificates::new();
    let more = format!("{}\n{}", users(&NAMES[..2]), certificates.of_server());
    let mut server = NatsServer::on(&network, 3, &more);
    server.begin();
    let mut clocks = ["+7200", "-172800"].into_iter();
    let hosts: [Machine; 2] = machines(&network, &[&server], &certificates, |machine| Machine {
        clock: clocks.next(),
        ..machine
    });
    let [one, two] = &hosts;
    let both = [one, two];
    for machine in both {
        join(machine);
    }
    let _daemons = both.map(Daemon::start);
    let mut acknowledged = Acknowledged::default();
    assert_eq!(acknowledged.post(one, "before", 20), None);
    acknowledged.wait(&both);
    let held = race(&both, "before-one-0").expect("one gets it");
    two.claim("before-one-1").success();

    network.unplug(2);
    wait_until("the host notices", || !is_connected(two));
    for machine in both {
        assert_eq!(acknowledged.post(machine, "apart", OF_TWO - 40), None);
    }
    two.claim("before-one-2").ended_with(3);
    one.claim("before-one-2").success();
    let late = two.done("before-one-1", "done apart").success();
    assert!(
        late.stderr.contains("on this machine only"),
        "{}",
        late.stderr
    );
    network.plug_in(2);
    acknowledged.catch_up(&both, "a partition");

    // The server itself is off, and both notice.
    network.set_link(3, "down");
    for machine in both {
        assert_eq!(acknowledged.post(machine, "off", 20), None);
    }
    wait_until("both notice", || {
        both.iter().all(|machine| !is_connected(machine))
    });
    network.set_link(3, "up");
    acknowledged.catch_up(&both, "a link that was down");

    held.done("before-one-0", "done").success();
    one.done("before-one-2", "done").success();
    let rest = (LOAD - acknowledged.count()) / 2;
    assert_eq!(acknowledged.post(two, "after", rest), None);
    acknowledged.wait(&both);
    wait_until("the results are there", || {
        let is_done = |machine: &&Machine, id: &str| machine.task(id)["status"] == "complete";
        let ids = ["before-one-0", "before-one-1", "before-one-2"];
        ids.iter()
            .all(|id| both.iter().all(|machine| is_done(machine, id)))
    });
    assert_eq!(one.task("before-one-1")["result"], "done apart");
    assert_eq!(acknowledged.count(), LOAD);
    acknowledged.check(&both);
    // The clocks were wrong indeed.
    let times = both.map(|machine| machine.task("before-one-2")["created_at"].clone());
    assert_eq!(times[0], times[1], "a task is as old as its machine says");
    let logged = both.map(|machine| {
        let own = machine
            .log()
            .into_iter()
            .rfind(|line| line["from"].is_null());
        own.unwrap()["timestamp"].as_str().unwrap().to_owned()
    });
    assert!(logged[0][..10] > logged[1][..10], "{logged:?}");
}

/// CALC-FUT-1: of three servers each is killed while machines work: nothing acknowledged is lost, and each task is claimed
/// once.
#[test]
fn a_cluster_goes_on_while_its_servers_are_killed() {
    let Some(network) = Network::with_hosts(3) else {
        return;
    };
    let certificates = Certificates::new();
    let routes: Vec<String> = (1..=3)
        .map(|host| format!("nats-route://{}:6222", Network::address(host)))
        .collect();
    let mut servers: Vec<NatsServer> = (1..=3)
        .map(|host| {
            let more = format!(
                "server_name: s{host}\ncluster {{ name: c, listen: \"{}:6222\", routes: {routes:?} }}\n{}\n{}",
                Network::address(host),
                users(&NAMES),
                certificates.of_server()
            );
            NatsServer::on(&network, host, &more)
        })
        .collect();
    for server in &mut servers {
        server.begin();
    }
    let hosts: [Machine; 3] = {
        let servers: Vec<&NatsServer> = servers.iter().collect();
        machines(&network, &servers, &certificates, |machine| machine)
    };
    let all: Vec<&Machine> = hosts.iter().collect();
    for machine in &all {
        join(machine);
    }
    let doctor = all[0].run(&["mesh", "fleet", "doctor", "--json"]).json();
    assert!(doctor.to_string().contains("3 copies"), "{doctor}");
    let _daemons: Vec<Daemon> = hosts.iter().map(Daemon::start).collect();
    let mut acknowledged = Acknowledged::default();
    for machine in &all {
        assert_eq!(acknowledged.post(machine, "before", 10), None);
    }
    acknowledged.wait(&all);

    let mut claimed = Vec::new();
    let rounds = servers.len();
    for server in 0..rounds {
        servers[server].kill();
        for machine in &all {
            let pairs = (LOAD / 6 - 10) / rounds;
            assert_eq!(
                acknowledged.post(machine, &format!("kill{server}"), pairs),
                None
            );
        }
        for number in 0..3 {
            let task = format!("before-{}-{number}", NAMES[server]);
            // Without a leader no one gets it, and all try again.
            wait_until("one gets it", || race(&all, &task).is_some());
            claimed.push(task);
        }
        servers[server].begin();
        acknowledged.catch_up(&all, "a server that was killed");
    }
    // One machine has it, under the same token: a claim that was not answered is the same one when it is asked again.
    for task in &claimed {
        let again = race(&all, task).expect("who has it claims it again");
        again.done(task, "done").success();
    }
    let rest = (LOAD - acknowledged.count()) / 2;
    assert_eq!(acknowledged.post(all[2], "after", rest), None);
    acknowledged.wait(&all);
    wait_until("the results are there", || {
        claimed.iter().all(|task| {
            let mut tasks = all.iter().map(|machine| machine.task(task));
            tasks.all(|task| task["status"] == "complete")
        })
    });
    assert_eq!(acknowledged.count(), LOAD);
    acknowledged.check(&all);
}

/// CALC-FUT-1: a disk that is full, of a machine or of the server, delays what is sent and loses nothing.
#[test]
fn full_disks_only_delay() {
    let Some(network) = Network::with_hosts(3) else {
        return;
    };
    let certificates = Certificates::new();
    let more = format!("{}\n{}", users(&NAMES[..2]), certificates.of_server());
    let mut server = NatsServer::on(&network, 3, &more);
    let store = SmallDisk::at(&server.store(), "32m");
    server.begin();
    let mut home = None;
    let hosts: [Machine; 2] = machines(&network, &[&server], &certificates, |machine| {
        if machine.name == "two" {
            home = Some(SmallDisk::at(&machine.env.machine_home(), "32m"));
        }
        machine
    });
    let home = home.unwrap();
    let [one, two] = &hosts;
    let both = [one, two];
    for machine in both {
        join(machine);
    }
    let daemons = both.map(Daemon::start);
    let mut acknowledged = Acknowledged::default();
    for machine in both {
        assert_eq!(acknowledged.post(machine, "before", 100), None);
    }
    acknowledged.wait(&both);

    // The home of the second.
    home.fill();
    assert_eq!(acknowledged.post(one, "home-full", 250), None);
    let refused = (0..50).find_map(|number| acknowledged.post(two, &format!("full{number}"), 1));
    assert_eq!(
        refused,
        Some(507),
        "a machine without room acknowledges nothing"
    );
    thread::sleep(Duration::from_secs(2));
    home.empty();
    acknowledged.catch_up(&both, "a machine without room");
    two.claim("home-full-one-0").success();

    // The store of the server, which turns its streams off, until it is started again.
    store.fill();
    for machine in both {
        assert_eq!(acknowledged.post(machine, "store-full", 250), None);
    }
    wait_until("a machine notices", || {
        one.status()["failures"].as_u64() > Some(0)
    });
    assert_eq!(one.status()["durability"], "logged_locally");
    let done = two.done("home-full-one-0", "done").success();
    assert!(
        done.stderr.contains("on this machine only"),
        "{}",
        done.stderr
    );
    server.kill();
    store.empty();
    server.begin();
    acknowledged.catch_up(&both, "a server without room");
    let rest = (LOAD - acknowledged.count()) / 2;
    assert_eq!(acknowledged.post(two, "after", rest), None);
    acknowledged.wait(&both);
    wait_until("the result is there", || {
        one.task("home-full-one-0")["status"] == "complete"
    });
    assert_eq!(acknowledged.count(), LOAD);
    for daemon in &daemons {
        daemon.stop();
    }
    acknowledged.check(&both);
}

/// CALC-FUT-1: slow links that are cut again and again, with TLS: nothing is lost or comes twice.
#[test]
fn a_slow_and_lossy_link_only_delays() {
    let certificates = Certificates::new();
    let server = NatsServer::with(&certificates.of_server());
    let bad = Quality {
        delay: Duration::from_millis(20),
        bytes_per_second: 64 * 1024,
        cut_after: Some(Duration::from_millis(1500)),
    };
    let links = [(); 2].map(|()| Link::to(server.port(), GOOD));
    let hosts = [0, 1].map(|at: usize| {
        let machine = Machine::new(NAMES[at], &server, "");
        let address = format!("tls://127.0.0.1:{}", links[at].port());
        machine.configure(&address, &certificates.ca_file());
        join(&machine);
        machine
    });
    let [one, two] = &hosts;
    let both = [one, two];
    let daemons = both.map(Daemon::start);
    let mut acknowledged = Acknowledged::default();
    assert_eq!(acknowledged.post(one, "before", 5), None);
    acknowledged.wait(&both);
    for link in &links {
        link.set(bad);
    }
    let parts = 10;
    for part in 0..parts {
        for machine in both {
            let pairs = (OF_TWO - 5) / parts;
            assert_eq!(acknowledged.post(machine, &format!("p{part}"), pairs), None);
        }
        thread::sleep(Duration::from_millis(300));
    }
    // Of several that ask over such links one has it.
    let claimed: Vec<String> = (0..3)
        .map(|number| format!("before-one-{number}"))
        .collect();
    for task in &claimed {
        wait_until("one gets it", || race(&both, task).is_some());
    }
    let cuts: u64 = links.iter().map(Link::cuts).sum();
    assert!(cuts > 4, "the links were cut {cuts} times");
    for link in &links {
        link.set(GOOD);
    }
    acknowledged.catch_up(&both, "a bad link");
    let rest = (LOAD - acknowledged.count()) / 2;
    assert_eq!(acknowledged.post(two, "after", rest), None);
    acknowledged.wait(&both);
    assert_eq!(acknowledged.count(), LOAD);
    for daemon in &daemons {
        daemon.stop();
    }
    acknowledged.check(&both);
}
