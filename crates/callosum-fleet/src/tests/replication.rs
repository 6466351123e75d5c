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

/// CALC-FUT-1: what is missing is waited for as long as the server has it; a gap that stays is counted.
#[test]
fn a_gap_is_waited_for_until_it_cannot_be_closed() {
    let (cluster, mut one, mut two) = pair();
    for number in 0..3 {
        one.add(&format!("t{number}"), "work");
        one.sync().unwrap();
    }
    // The first message is on its way a second time, while the others come.
    cluster.hold_back(&two.membership.origin, 1);
    two.sync().unwrap();
    assert!(two.received().is_empty());
    cluster.forget_acknowledgements();
    two.sync().unwrap();
    assert_eq!(two.received()[&one.membership.origin].len(), 3);
    // The stream drops its oldest messages, as by a limit of its age.
    cluster.drop_oldest(2);
    let mut three = Machine::join("three", &cluster);
    three.sync().unwrap();
    assert_eq!(three.received()[&one.membership.origin].len(), 1);
    let folder = three.mesh.folder().to_owned();
    let status = crate::FleetStatus::read(&three.disk, &folder).unwrap();
    assert_eq!(status.gaps, 1);
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
