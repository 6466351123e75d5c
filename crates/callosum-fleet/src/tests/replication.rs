//! Each event once on each machine, in the order of its log.

use super::*;

/// CALC-FUT-1: after a partition each machine has each event once, in order.
#[test]
fn nothing_is_lost_and_nothing_comes_twice() {
    let (cluster, mut one, mut two) = pair();
    one.add("a", "work");
    sync_all(&mut [&mut one, &mut two]);
    cluster.set_down(true);
    for number in 0..300 {
        one.add(&format!("one-{number}"), "work");
        two.add(&format!("two-{number}"), "work");
    }
    let error = one.sync().unwrap_err();
    assert!(error.is_offline(), "{error}");
    cluster.set_down(false);
    sync_all(&mut [&mut one, &mut two]);
    cluster.forget_acknowledgements();
    sync_all(&mut [&mut one, &mut two]);
    for (machine, other) in [(&one, &two), (&two, &one)] {
        let received = machine.received();
        assert_eq!(received.len(), 1);
        let places = &received[&other.membership.origin];
        assert!(places.is_sorted_by(|one, other| one < other));
    }
    let ids = |machine: &mut Machine| {
        let tasks = &machine.mesh.board().unwrap().tasks;
        let mut ids: Vec<String> = tasks.iter().map(|task| task.id.clone()).collect();
        ids.sort();
        ids
    };
    assert_eq!(ids(&mut one), ids(&mut two));
    assert_eq!(ids(&mut one).len(), 601);
}

/// CALC-FUT-1: a machine whose disk is full or fails, at any call, has each event once when that is over.
#[test]
fn a_disk_without_room_only_delays_what_comes() {
    for fault in [Fault::Full, Fault::ForGood, Fault::SyncForGood] {
        let mut failures = 0;
        for calls in 0..60 {
            let cluster = FakeCluster::default();
            let mut one = Machine::join("one", &cluster);
            let faulty = FaultyDisk::new(
                MemoryDisk::with(&Image::with_folder("/state")),
                fault,
                usize::MAX,
            );
            let mut two = Machine::on("two", &cluster, &faulty.disk(), Path::new("/state/mesh"));
            for number in 0..3 {
                one.add(&format!("one-{number}"), "work");
                two.add(&format!("two-{number}"), "work");
            }
            one.sync().unwrap();
            faulty.fail_after(calls);
            let failed = two.sync().is_err();
            faulty.mend();
            failures += usize::from(failed);
            assert!(!failed || faulty.has_failed(), "{fault:?} {calls}");
            sync_all(&mut [&mut one, &mut two]);
            for (machine, other) in [(&one, &two), (&two, &one)] {
                let received = machine.received();
                let places = &received[&other.membership.origin];
                assert!(
                    places.is_sorted_by(|one, other| one < other),
                    "{fault:?} {calls}: {places:?}"
                );
            }
            for machine in [&mut one, &mut two] {
                let tasks = machine.mesh.board().unwrap().tasks.len();
                assert_eq!(tasks, 6, "{fault:?} {calls} {}", machine.name);
            }
        }
        assert!(failures > 0, "{fault:?} never counted");
    }
}

/// CALC-FUT-1: the log is the truth: what a server loses is sent again.
#[test]
fn a_server_that_lost_its_end_gets_it_again() {
    let (cluster, mut one, mut two) = pair();
    for number in 0..3 {
        one.add(&format!("t{number}"), "work");
        one.sync().unwrap();
    }
    assert_eq!(cluster.messages().len(), 3);
    two.sync().unwrap();
    cluster.lose(2);
    let mut three = Machine::join("three", &cluster);
    sync_all(&mut [&mut one, &mut two, &mut three]);
    for machine in [&mut two, &mut three] {
        assert_eq!(machine.mesh.board().unwrap().tasks.len(), 3);
        let received = machine.received();
        let places = &received[&one.membership.origin];
        assert_eq!(places.len(), 3, "{places:?}");
    }
}

/// CALC-FUT-1: what was acknowledged and is not in the log is read from the stream; a gap that stays is counted.
#[test]
fn a_gap_is_closed_from_the_stream_and_counted_if_it_cannot_be() {
    let (cluster, mut one, mut two) = pair();
    for number in 0..3 {
        one.add(&format!("t{number}"), "work");
        one.sync().unwrap();
    }
    // The first two were acknowledged by a log that lost its end since, as one from a backup.
    cluster.hold_back(&two.membership.origin, 1);
    cluster.hold_back(&two.membership.origin, 2);
    two.sync().unwrap();
    assert_eq!(two.received()[&one.membership.origin].len(), 3);
    cluster.forget_acknowledgements();
    two.sync().unwrap();
    assert_eq!(two.received()[&one.membership.origin].len(), 3);
    let folder = two.mesh.folder().to_owned();
    let status = crate::FleetStatus::read(&two.disk, &folder).unwrap();
    assert_eq!(status.gaps, 0);
    // The stream drops its oldest messages, as by a limit of its age.
    cluster.drop_oldest(2);
    let mut three = Machine::join("three", &cluster);
    three.sync().unwrap();
    assert_eq!(three.received()[&one.membership.origin].len(), 1);
    let folder = three.mesh.folder().to_owned();
    let status = crate::FleetStatus::read(&three.disk, &folder).unwrap();
    assert_eq!(status.gaps, 1);
}

/// CALC-FUT-1: a machine that sends what is no message does not hold up what comes after, of itself or of others.
#[test]
fn what_is_no_message_holds_nothing_up() {
    let (cluster, mut one, mut two) = pair();
    let names = Names {
        user: "eve".to_owned(),
        machine: "evil".to_owned(),
    };
    let subject = crate::membership::subject("team", &names, "evil-log");
    let message = |previous: u64, seq: u64| {
        let event = serde_json::json!({
            "seq": seq, "id": format!("e{seq}"), "topic": "calc.discovery", "source": "codex",
            "timestamp": "2026-01-02T03:04:05Z", "payload": {"content": "x"},
        });
        let envelope = serde_json::json!({
            "v": 1, "origin": "evil-log", "user": "eve", "machine": "evil", "previous": previous,
            "events": [event],
        });
        serde_json::to_vec(&envelope).unwrap()
    };
    cluster.forge(&subject, message(0, 1));
    cluster.forge(&subject, b"no JSON".to_vec());
    for number in 3..100 {
        cluster.forge(&subject, message(number - 1, number));
    }
    one.add("t", "work");
    sync_all(&mut [&mut one, &mut two]);
    assert_eq!(two.received()["evil-log"].len(), 98);
    assert_eq!(two.task("t").prompt, "work");
    let folder = two.mesh.folder().to_owned();
    let status = crate::FleetStatus::read(&two.disk, &folder).unwrap();
    assert_eq!((status.refused_messages, status.gaps), (1, 1));
}

/// CALC-FUT-1: a machine that receives all the time sends as well, and can be asked to end.
#[test]
fn a_round_ends_and_what_happened_here_is_sent() {
    let (cluster, mut one, mut two) = pair();
    for number in 0..200 {
        one.add(&format!("t{number}"), "work");
        one.sync().unwrap();
    }
    two.add("own", "work");
    let round = two.round();
    assert!(round.is_more && round.received < 200, "{round:?}");
    assert_eq!(round.sent, 1);
    two.sync().unwrap();
    assert_eq!(two.received()[&one.membership.origin].len(), 200);
    assert_eq!(cluster.messages().len(), 201);
}

/// CALC-FUT-1: a machine at which nothing happens asks the server once a round, for any number of machines.
#[test]
fn a_round_in_which_nothing_happens_asks_once() {
    let (cluster, mut one, mut two) = pair();
    let mut others: Vec<Machine> = ["a", "b", "c", "d", "e", "f"]
        .map(|name| Machine::join(name, &cluster))
        .into();
    one.add("t", "work");
    one.sync().unwrap();
    for other in &mut others {
        other.sync().unwrap();
    }
    let folder = two.mesh.folder().to_owned();
    let membership = two.membership.clone();
    let repositories = vec!["github.com/acme/*".to_owned()];
    let mut fleet = Fleet::new(
        &two.disk,
        &folder,
        membership,
        repositories,
        &mut two.places,
    )
    .unwrap();
    fleet.sync(&mut two.mesh, &mut two.server).unwrap();
    assert_eq!(fleet.status.peers.len(), 7);
    let before = cluster.requests();
    let round = fleet.round(&mut two.mesh, &mut two.server, Duration::ZERO);
    assert_eq!(round.unwrap(), Round::default());
    assert_eq!(cluster.requests() - before, 1);
}

/// A summary that is lost is made again from the log.
#[test]
fn what_was_received_is_known_without_its_summary() {
    let (cluster, mut one, mut two) = pair();
    one.add("t", "work");
    sync_all(&mut [&mut one, &mut two]);
    let known = two.mesh.received().unwrap();
    let marks = two.mesh.folder().join("marks/received");
    assert!(two.disk.remove_file(&marks).unwrap());
    cluster.forget_acknowledgements();
    sync_all(&mut [&mut one, &mut two]);
    assert_eq!(two.mesh.received().unwrap(), known);
    assert_eq!(two.received()[&one.membership.origin].len(), 1);
}

/// A copy of a log on another machine is found before it sends anything.
#[test]
fn a_log_that_is_not_the_one_that_sent_before_sends_nothing() {
    let (cluster, mut one, mut two) = pair();
    one.add("t", "work");
    one.sync().unwrap();
    // The same names and log id, with other events.
    two.membership = one.membership.clone();
    two.add("x", "other work");
    let before = cluster.messages().len();
    let error = two.sync().unwrap_err();
    assert!(matches!(error, FleetError::Forked { .. }), "{error}");
    assert_eq!(cluster.messages().len(), before);
}
