//! Claims of tasks that several machines see, and the state that their boards agree on.

use super::*;

/// CALC-FUT-1: of any number of machines that claim a task at once one has it.
#[test]
fn one_machine_gets_a_task_and_none_without_the_server() {
    let (cluster, mut one, mut two) = pair();
    one.add("t", "work");
    sync_all(&mut [&mut one, &mut two]);
    let fence = two.claim("t").unwrap();
    assert_eq!(one.claim("t"), Err("held".to_owned()));
    // Its own agents, who ask the board alone, do not get it either.
    for machine in [&mut one, &mut two] {
        let voice = Author {
            session_id: Some("another".to_owned()),
            ..machine.voice()
        };
        let order = Command::Claim {
            task: Some("t".to_owned()),
            anyway: true,
            fence: None,
        };
        let refused = machine.mesh.give(order, &voice);
        assert!(
            matches!(refused, Err(MeshError::Refused(BoardError::Shared { .. }))),
            "{refused:?}"
        );
    }
    cluster.set_down(true);
    one.add("u", "work");
    assert!(one.claim("t").is_err());
    // A task that no other machine has seen is this machine's own.
    one.give_claim("u", None).unwrap();
    cluster.set_down(false);
    sync_all(&mut [&mut one, &mut two]);
    assert_eq!(two.claim("u"), Err("held".to_owned()));
    assert!(one.task("u").fence > 0);
    assert_eq!(two.task("t").fence, fence);
    // The claim that was made before the task was shared can be completed.
    one.complete("u", "done").unwrap();
    sync_all(&mut [&mut one, &mut two]);
    assert_eq!(two.task("u").status, Status::Complete);
}

/// CALC-FUT-1: a claim ends by the server's clock, and what comes under an older token counts nowhere.
#[test]
fn what_a_fenced_machine_does_late_is_refused_on_all() {
    let (cluster, mut one, mut two) = pair();
    one.add("t", "work");
    sync_all(&mut [&mut one, &mut two]);
    let old = one.claim("t").unwrap();
    assert_eq!(two.claim("t"), Err("held".to_owned()));
    cluster.pass(CLAIM + SignedDuration::from_secs(1));
    let new = two.claim("t").unwrap();
    assert!(new > old);
    // It has not heard of it, and completes the task.
    one.complete("t", "late").unwrap();
    sync_all(&mut [&mut one, &mut two]);
    for machine in [&mut one, &mut two] {
        let task = machine.task("t");
        assert_eq!(task.status, Status::InProgress, "{}", machine.name);
        assert_eq!(task.fence, new);
    }
    two.complete("t", "right").unwrap();
    sync_all(&mut [&mut one, &mut two]);
    for machine in [&mut one, &mut two] {
        assert_eq!(machine.task("t").result.as_deref(), Some("right"));
    }
    let settled = claims::settle(
        &mut one.server,
        "t",
        &one.membership.origin,
        old,
        State::Complete,
    );
    assert!(matches!(settled, Ok(Settled::Lost(Some(_)))), "{settled:?}");
}

/// CALC-FUT-1: of two changes of a key by machines that do not see each other, the later counts on both.
#[test]
fn machines_agree_which_of_two_changes_counts() {
    let (_cluster, mut one, mut two) = pair();
    one.add("t", "work");
    sync_all(&mut [&mut one, &mut two]);
    for (machine, priority) in [(&mut one, 1), (&mut two, 2)] {
        let set = [("priority".to_owned(), priority.into())]
            .into_iter()
            .collect();
        let order = Command::Change {
            task: "t".to_owned(),
            set,
        };
        let voice = machine.voice();
        machine.mesh.give(order, &voice).unwrap();
        std::thread::sleep(Duration::from_millis(2));
    }
    sync_all(&mut [&mut one, &mut two]);
    assert_eq!((one.task("t").priority, two.task("t").priority), (2, 2));
}

/// CALC-FUT-1: a server that lost its keys counts revisions again, and tokens grow all the same.
#[test]
fn a_token_is_above_all_that_a_board_has_seen() {
    let (cluster, mut one, mut two) = pair();
    one.add("t", "work");
    sync_all(&mut [&mut one, &mut two]);
    let old = one.claim("t").unwrap();
    sync_all(&mut [&mut one, &mut two]);
    cluster.lose_keys();
    let new = two.claim("t").unwrap();
    assert!(new > old, "{new} after {old}");
    // The machine that added the task tells the server of it again, after the claim.
    let state = claims::State::Free;
    let home = one.membership.origin.clone();
    let taken = claims::register(&mut one.server, [("t", state)].into_iter(), &home);
    assert_eq!(taken, Ok(Vec::new()));
    let taken = claims::register(&mut two.server, [("t", state)].into_iter(), "another log");
    assert_eq!(taken, Ok(vec!["t".to_owned()]));
    assert_eq!(two.claim("t"), Ok(new));
    sync_all(&mut [&mut one, &mut two]);
    for machine in [&mut one, &mut two] {
        assert_eq!(machine.task("t").fence, new);
        assert!(machine.task("t").is_shared);
    }
}

/// Two tasks with one id stay on their machines.
#[test]
fn an_id_that_two_machines_gave_away_is_not_shared() {
    let (_cluster, mut one, mut two) = pair();
    one.add("t", "one's");
    two.add("t", "two's");
    sync_all(&mut [&mut one, &mut two]);
    assert!(one.task("t").is_shared);
    assert!(!two.task("t").is_shared);
    assert_eq!(two.task("t").prompt, "two's");
    // Each is claimed on its machine, and neither claim touches the other task.
    two.give_claim("t", None).unwrap();
    one.claim("t").unwrap();
    sync_all(&mut [&mut one, &mut two]);
    assert_eq!(two.task("t").fence, 0);
    assert!(!two.task("t").claim.unwrap().is_foreign());
}
