//! The events that leave a machine, and those that are taken in.

use super::*;

/// CALC-FUT-1: a task of one machine is done on another, under its own paths.
#[test]
fn a_task_crosses_with_paths_that_hold_there() {
    let (cluster, mut one, mut two) = pair();
    one.add("t", "fix /home/one/app/src/x.rs, see /home/one/notes");
    sync_all(&mut [&mut one, &mut two]);
    let task = two.task("t");
    assert_eq!(task.prompt, "fix src/x.rs, see ~/notes");
    assert_eq!(task.cwd.as_deref(), Some("/home/two/app/src"));
    assert!(task.is_shared && one.task("t").is_shared);
    two.claim("t").unwrap();
    two.complete("t", "done").unwrap();
    sync_all(&mut [&mut one, &mut two]);
    assert_eq!(one.task("t").status, Status::Complete);
    assert_eq!(one.task("t").result.as_deref(), Some("done"));
    for (_, body) in cluster.messages() {
        let text = String::from_utf8(body).unwrap();
        assert!(!text.contains("/home/"), "{text}");
    }
    let machine = two.events().into_iter().find(|event| event.from.is_some());
    assert_eq!(machine.unwrap().machine, "ana@one");
}

/// CALC-FUT-1: what is not of the list stays here, and so does what happens in other repositories.
#[test]
fn files_fields_and_other_repositories_do_not_cross() {
    let (cluster, mut one, mut two) = pair();
    let voice = one.voice();
    let other = Author {
        cwd: Some("/home/one/private".to_owned()),
        ..voice.clone()
    };
    let task = NewTask {
        id: "private".to_owned(),
        prompt: "mine".to_owned(),
        ..NewTask::default()
    };
    one.mesh.give(Command::Add(task), &other).unwrap();
    let field = Command::SetField {
        key: "account_state".to_owned(),
        value: Some("field".into()),
    };
    one.mesh.give(field, &voice).unwrap();
    let custom = callosum_mesh::event::Draft::new(
        "agent.task_complete".parse().unwrap(),
        "codex".parse().unwrap(),
    );
    let durability = callosum_mesh::journal::Durability::Logged;
    one.mesh.publish(custom, durability).unwrap();
    for path in ["/home/one/app/src/x.rs", "/home/one/private/x.rs"] {
        let lease = Command::Lease {
            path: path.to_owned(),
            why: None,
            anyway: false,
        };
        one.mesh.give(lease, &voice).unwrap();
    }
    sync_all(&mut [&mut one, &mut two]);
    let events = two.events();
    let topics: Vec<&str> = events
        .iter()
        .filter(|event| event.from.is_some())
        .map(|event| event.topic.as_str())
        .collect();
    assert_eq!(topics, ["calc.lease.taken"]);
    let board = two.mesh.board().unwrap();
    assert_eq!(board.leases[0].path, "/home/two/app/src/x.rs");
    assert!(!one.task("private").is_shared);
    assert_eq!(cluster.messages().len(), 1);
}

/// CALC-FUT-1: a machine writes to its own subject, and what it sends is held to the list again.
#[test]
fn what_another_program_sends_is_checked() {
    let (cluster, mut one, mut two) = pair();
    one.add("t", "work");
    sync_all(&mut [&mut one, &mut two]);
    let names = Names {
        user: "eve".to_owned(),
        machine: "evil".to_owned(),
    };
    let event = |seq: u64, topic: &str, path: &str, payload: serde_json::Value| {
        serde_json::json!({
            "seq": seq, "id": format!("e{seq}"), "topic": topic, "source": "codex",
            "timestamp": "2026-01-02T03:04:05Z", "repository": "github.com/acme/app",
            "path": path, "payload": payload,
        })
    };
    let until = "2099-01-02T03:04:05Z";
    let envelope = |names: &Names| {
        let envelope = serde_json::json!({
            "v": 1, "origin": "evil-log", "user": names.user, "machine": names.machine, "previous": 0,
            "events": [
                event(1, "calc.lease.taken", "../../etc/passwd", serde_json::json!({"until": until})),
                event(2, "calc.bridge.field", "src", serde_json::json!({"key": "x", "value": 1})),
                event(3, "calc.fleet.unshared", "src", serde_json::json!({})),
                event(4, "calc.task.claimed", "src", serde_json::json!({"task": "t", "by": "codex", "until": until})),
                event(5, "calc.task.claimed", "src", serde_json::json!({"task": "t", "by": "codex", "until": until, "fence": u64::MAX})),
                event(6, "calc.lease.taken", "src/x.rs", serde_json::json!({"until": until})),
            ],
        });
        serde_json::to_vec(&envelope).unwrap()
    };
    let subject = crate::membership::subject("team", &names, "evil-log");
    // As another machine, on a subject that is not its own.
    cluster.forge(&subject, envelope(&one.membership.names));
    cluster.forge(&subject, envelope(&names));
    cluster.forge(&subject, b"no JSON".to_vec());
    two.sync().unwrap();
    let events = two.events();
    let foreign: Vec<&Event> = events
        .iter()
        .filter(|event| {
            event
                .from
                .as_ref()
                .is_some_and(|from| from.origin == "evil-log")
        })
        .collect();
    let topics: Vec<&str> = foreign.iter().map(|event| event.topic.as_str()).collect();
    let refused = "calc.fleet.refused";
    assert_eq!(
        topics,
        [
            refused,
            refused,
            refused,
            refused,
            refused,
            "calc.lease.taken"
        ]
    );
    assert!(foreign.iter().all(|event| event.machine == "eve@evil"));
    let until = two.mesh.board().unwrap().leases[0].until;
    let now = two.mesh.journal().now();
    assert!(until <= now + CLAIM + CLAIM, "{until}");
    assert!(two.task("t").is_shared);
    assert_eq!(two.task("t").status, Status::Pending);
    let folder = two.mesh.folder().to_owned();
    let status = crate::FleetStatus::read(&two.disk, &folder).unwrap();
    assert_eq!((status.refused_messages, status.refused_events), (2, 5));
}

/// CALC-FUT-1: a machine whose clock is years ahead does not end the leases of this one.
#[test]
fn a_wrong_clock_ends_no_lease_of_another_machine() {
    let (cluster, mut one, mut two) = pair();
    let lease = |path: &str| Command::Lease {
        path: path.to_owned(),
        why: None,
        anyway: false,
    };
    let voice = two.voice();
    let order = lease("/home/two/app/src/x.rs");
    two.mesh.give(order, &voice).unwrap();
    one.clock_is("2099-01-02T03:04:05Z");
    let voice = one.voice();
    for path in ["/home/one/app/src/x.rs", "/home/one/app/src/y.rs"] {
        one.mesh.give(lease(path), &voice).unwrap();
    }
    sync_all(&mut [&mut one, &mut two]);
    assert_eq!(cluster.messages().len(), 2);
    let leases = &two.mesh.board().unwrap().leases;
    let of: Vec<(&str, bool)> = leases
        .iter()
        .map(|lease| (lease.path.as_str(), lease.is_foreign()))
        .collect();
    let expected = [
        ("/home/two/app/src/x.rs", false),
        ("/home/two/app/src/y.rs", true),
    ];
    assert_eq!(of, expected);
}

/// CALC-FUT-1: the machines that are there are known under a wrong clock, too.
#[test]
fn presence_is_by_the_clock_of_the_server() {
    let (cluster, mut one, mut two) = pair();
    two.clock_is("2001-01-02T03:04:05Z");
    one.add("t", "work");
    sync_all(&mut [&mut one, &mut two, &mut Machine::join("three", &cluster)]);
    two.sync().unwrap();
    let folder = two.mesh.folder().to_owned();
    let status = crate::FleetStatus::read(&two.disk, &folder).unwrap();
    let now = two.mesh.journal().now();
    assert_eq!(status.present(now).count(), 2);
    assert_eq!(
        status.present(now + SignedDuration::from_mins(6)).count(),
        0
    );
}
