//! Tasks, messages and discoveries, by their verbs.

use std::time::Duration;

use callosum_host::{Clock, Ids};
use callosum_mesh::{
    Mesh, Voice,
    board::{NewTask, Order, Receipt, Refusal, Status},
    digest::Beside,
    event::Draft,
    journal::Durability,
};
use jiff::SignedDuration;
use serde_json::json;

use crate::place::{Place, claim, refused, task, voice};

fn complete(id: &str) -> Order {
    Order::Complete {
        task: id.to_owned(),
        result: Some("done".to_owned()),
        anyway: false,
        token: None,
    }
}

fn send(mesh: &mut Mesh, id: &str) {
    let order = Order::Send {
        id: id.to_owned(),
        to: "codex".parse().expect("a name"),
        content: "look".to_owned(),
        reply_to: None,
        ttl_seconds: None,
    };
    mesh.give(order, &voice("claude")).expect("it is sent");
}

fn moved(message: &str, receipt: Receipt) -> Order {
    Order::Move {
        message: message.to_owned(),
        receipt,
        evidence: None,
    }
}

/// CALC-PAT-2: of two that claim the same task one has it.
#[test]
fn a_claim_is_compared_and_set() {
    let place = Place::new();
    place
        .mesh()
        .give(task("t", "work"), &voice("claude"))
        .unwrap();
    let names: Vec<String> = (0..8).map(|number| format!("agent-{number}")).collect();
    let winners: usize = std::thread::scope(|scope| {
        let claims = names.iter().map(|name| {
            let place = &place;
            scope.spawn(move || place.mesh().give(claim("t"), &voice(name)).is_ok())
        });
        let claims: Vec<_> = claims.collect();
        let won = claims.into_iter().map(|claim| claim.join().unwrap());
        won.filter(|won| *won).count()
    });
    assert_eq!(winners, 1);
    let mut mesh = place.mesh();
    let by = mesh
        .board()
        .unwrap()
        .task("t")
        .unwrap()
        .claim
        .clone()
        .unwrap()
        .by;
    assert!(matches!(
        refused(mesh.give(claim("t"), &voice("late"))),
        Refusal::ClaimedBy { .. }
    ));
    assert!(matches!(
        refused(mesh.give(complete("t"), &voice("late"))),
        Refusal::ClaimedBy { .. }
    ));
    mesh.give(complete("t"), &voice(by.as_str())).unwrap();
    assert!(matches!(
        refused(mesh.give(claim("t"), &voice("late"))),
        Refusal::IsOver { .. }
    ));
}

#[test]
fn the_most_urgent_that_waits_for_nothing_comes_first() {
    let place = Place::new();
    let mut mesh = place.mesh();
    let claude = voice("claude");
    let add = |id: &str, priority, needs: &[&str], to: Option<&str>| {
        Order::Add(NewTask {
            id: id.to_owned(),
            prompt: "work".to_owned(),
            priority: Some(priority),
            needs: needs.iter().map(|need| (*need).to_owned()).collect(),
            assigned_to: to.map(|to| to.parse().unwrap()),
            ..NewTask::default()
        })
    };
    mesh.give(add("later", 5, &[], None), &claude).unwrap();
    mesh.give(add("first", 2, &[], None), &claude).unwrap();
    mesh.give(add("waits", 1, &["first"], None), &claude)
        .unwrap();
    mesh.give(add("theirs", 0, &[], Some("gemini")), &claude)
        .unwrap();
    let next = |mesh: &mut Mesh| {
        let order = Order::Claim {
            task: None,
            anyway: false,
        };
        let events = mesh.give(order, &voice("codex")).unwrap();
        events[0].payload["task"].as_str().unwrap().to_owned()
    };
    assert_eq!(next(&mut mesh), "first");
    assert!(matches!(
        refused(mesh.give(claim("waits"), &voice("codex"))),
        Refusal::WaitsFor { .. }
    ));
    assert!(matches!(
        refused(mesh.give(claim("theirs"), &voice("codex"))),
        Refusal::MeantFor { .. }
    ));
    mesh.give(complete("first"), &voice("codex")).unwrap();
    assert_eq!(next(&mut mesh), "waits");
    assert_eq!(next(&mut mesh), "later");
    let none = Order::Claim {
        task: None,
        anyway: false,
    };
    assert_eq!(
        refused(mesh.give(none, &voice("codex"))),
        Refusal::NothingToDo
    );
    let circle = Order::Change {
        task: "theirs".to_owned(),
        set: json!({"needs": ["theirs"]}).as_object().unwrap().clone(),
    };
    assert!(matches!(
        refused(mesh.give(circle, &claude)),
        Refusal::Circle { .. }
    ));
}

/// CALC-PAT-2: what is delivered has evidence, and nothing goes back.
#[test]
fn a_message_goes_from_step_to_step() {
    let place = Place::new();
    let mut mesh = place.mesh();
    send(&mut mesh, "m");
    send(&mut mesh, "m");
    assert_eq!(place.told("calc.message").len(), 1, "the same message once");
    let codex = voice("codex");
    mesh.give(moved("m", Receipt::Delivered), &codex).unwrap();
    mesh.give(moved("m", Receipt::Seen), &codex).unwrap();
    assert_eq!(
        mesh.give(moved("m", Receipt::Delivered), &codex).unwrap(),
        []
    );
    let foreign = mesh.give(moved("m", Receipt::Acked), &voice("gemini"));
    assert!(matches!(refused(foreign), Refusal::NotTheirs { .. }));
    mesh.give(moved("m", Receipt::Acked), &codex).unwrap();
    let message = mesh.board().unwrap().message("m").unwrap().clone();
    assert_eq!(message.receipt, Some(Receipt::Acked));
    send(&mut mesh, "n");
    mesh.give(moved("n", Receipt::Dead), &voice("callosum"))
        .unwrap();
    let retry = |message: &str| Order::Retry {
        message: message.to_owned(),
    };
    mesh.give(retry("n"), &codex).unwrap();
    assert_eq!(mesh.board().unwrap().message("n").unwrap().receipt, None);
    assert!(matches!(
        refused(mesh.give(retry("n"), &codex)),
        Refusal::NotDead { .. }
    ));
}

/// CALC-L2-1: whoever knows only the seed's topics takes part.
#[test]
fn events_of_the_seeds_topics_mean_the_board() {
    let place = Place::new();
    let mut mesh = place.mesh();
    let publish = |mesh: &mut Mesh, value: serde_json::Value| {
        let draft = Draft::read(&value).unwrap();
        mesh.publish(draft, Durability::Logged)
    };
    publish(
        &mut mesh,
        json!({
            "type": "calc.task_handoff", "source": "claude-code", "cwd": "/work",
            "payload": {"id": "t", "assigned_to": "codex", "prompt": "analyse"},
        }),
    )
    .unwrap();
    publish(
        &mut mesh,
        json!({
            "type": "calc.discovery", "source": "codex", "payload": {"content": "found"},
        }),
    )
    .unwrap();
    publish(
        &mut mesh,
        json!({"type": "calc.task.claimed", "source": "codex", "payload": {"task": "t"}}),
    )
    .unwrap();
    publish(&mut mesh, json!({"type": "agent.step", "source": "codex"})).unwrap();
    let board = mesh.board().unwrap();
    assert_eq!(board.task("t").unwrap().status, Status::InProgress);
    assert_eq!(board.discoveries[0].content, "found");
    assert_eq!(board.seq, 4);
    let second = json!({"type": "calc.task.claimed", "source": "gemini", "payload": {"task": "t"}});
    assert!(matches!(
        refused(publish(&mut mesh, second)),
        Refusal::ClaimedBy { .. }
    ));
    let wrong = json!({"type": "calc.message", "source": "codex", "payload": {"content": 7}});
    let error = publish(&mut mesh, wrong).unwrap_err().to_string();
    assert!(error.contains("payload"), "{error}");
}

/// CALC-L1-1: what is handed in twice under an id of its author's is one event, also where it changes the board, alone or
/// in a list; and what says something else under that id is refused.
#[test]
fn an_event_of_the_board_that_is_handed_in_twice_is_one() {
    let place = Place::new();
    let mut mesh = place.mesh();
    let draft = |id: &str, topic: &str, payload: serde_json::Value| {
        let said = json!({"type": topic, "source": "codex", "id": id, "payload": payload});
        Draft::read(&said).expect("it is an event")
    };
    let add = |prompt: &str| draft("e1", "calc.task_handoff", json!({"prompt": prompt}));
    let first = mesh.publish(add("count"), Durability::Logged).unwrap();
    assert_eq!(first[0].payload["id"], "e1");
    // Also where things have gone on since.
    mesh.give(claim("e1"), &voice("codex")).unwrap();
    mesh.give(complete("e1"), &voice("codex")).unwrap();
    assert_eq!(
        mesh.publish(add("count"), Durability::Logged).unwrap(),
        first
    );
    let other = mesh.publish(add("weigh"), Durability::Logged).unwrap_err();
    assert!(
        other
            .to_string()
            .contains("`e1` is the id of another event"),
        "{other}"
    );
    let say = |content: &str| {
        let payload = json!({"to": "gemini", "content": content});
        draft("e2", "calc.message", payload)
    };
    let plain = || draft("e3", "build.done", json!({"n": 1}));
    let lists = vec![
        vec![say("look"), plain(), add("count"), say("look")],
        vec![plain(), say("look"), say("away")],
        vec![say("look"), plain()],
    ];
    let done = mesh.publish_lists(lists).unwrap();
    let seqs = |at: usize| -> Vec<u64> {
        let list = done[at].as_ref().unwrap().iter();
        list.map(|event| event.as_ref().unwrap().seq).collect()
    };
    let (said, built) = (seqs(0)[0], seqs(0)[1]);
    assert_eq!(seqs(0), [said, built, first[0].seq, said]);
    assert_eq!(seqs(2), [said, built]);
    let refused = done[1].as_ref().unwrap_err();
    assert_eq!(refused.at, 2);
    assert_eq!(mesh.board().unwrap().messages.len(), 1);
    assert_eq!(place.told("build.done").len(), 1);
}

/// CALC-L1-1: what an event says beside what the board knows is kept and handed on, and of a task stands in the board.
#[test]
fn what_an_author_says_beside_is_kept() {
    let place = Place::new();
    let mut mesh = place.mesh();
    let mut publish = |topic: &str, payload: serde_json::Value| {
        let said = json!({"type": topic, "source": "codex", "payload": payload});
        let draft = Draft::read(&said).expect("it is an event");
        mesh.publish(draft, Durability::Logged).unwrap().remove(0)
    };
    let found = publish(
        "calc.discovery",
        json!({"content": "c", "severity": "high", "key": "AKIAIOSFODNN7EXAMPLE"}),
    );
    assert_eq!(found.payload["severity"], "high");
    assert!(!found.payload["key"].to_string().contains("AKIA"));
    let sent = publish(
        "calc.message",
        json!({"to": "gemini", "content": "c", "thread": [1]}),
    );
    assert_eq!(sent.payload["thread"], json!([1]));
    let left = publish(
        "calc.task_handoff",
        json!({"id": "t", "prompt": "p", "category": "crm-math", "other": {"a": 1}}),
    );
    assert_eq!(
        left.payload["other"],
        json!({"a": 1, "category": "crm-math"})
    );
    assert!(!left.payload.contains_key("category"));
    let claimed = publish(
        "calc.task.claimed",
        json!({"task": "t", "note": "n", "until": "x"}),
    );
    assert_eq!(claimed.payload["note"], "n");
    assert_ne!(claimed.payload["until"], "x");
    assert_eq!(
        mesh.board().unwrap().task("t").unwrap().other["category"],
        "crm-math"
    );
    // Whoever reads the log comes to the same board.
    assert_eq!(*place.mesh().board().unwrap(), *mesh.board().unwrap());
}

/// CALC-FAIL-1: of a list it is said which event stood in the way.
#[test]
fn of_a_list_it_is_said_what_stood_in_the_way() {
    let place = Place::new();
    let mut mesh = place.mesh();
    let draft = |topic: &str, payload: serde_json::Value| {
        let said = json!({"type": topic, "source": "codex", "payload": payload});
        Draft::read(&said).expect("it is an event")
    };
    let fine = || draft("calc.discovery", json!({"content": "c"}));
    let wrong = draft("calc.message", json!({"content": 7}));
    let gone = draft("calc.task.claimed", json!({"task": "t"}));
    let done = mesh.publish_lists(vec![vec![fine(), fine(), wrong], vec![fine(), gone]]);
    let at: Vec<usize> = done
        .unwrap()
        .iter()
        .map(|done| done.as_ref().unwrap_err().at)
        .collect();
    assert_eq!(at, [2, 1]);
    assert_eq!(mesh.board().unwrap().discoveries.len(), 0);
}

/// CALC-FAIL-1: a board that another version remembers is never read as ours, and that of a newer one is left to it.
#[test]
fn a_board_of_another_form_is_not_taken_for_ours() {
    let place = Place::new();
    let mut mesh = place.mesh();
    for number in 0..300 {
        mesh.give(task(&format!("t{number}"), "work"), &voice("claude"))
            .unwrap();
    }
    let board = mesh.board().unwrap().clone();
    let path = place.folder().join("board.json");
    let text = place.disk.read(&path).unwrap();
    let own: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let format = own["format"].as_u64().unwrap();
    let put = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut other = own.clone();
        change(&mut other);
        let text = serde_json::to_vec(&other).unwrap();
        place.disk.replace_unsynced(&path, &text, 0o600).unwrap();
        text
    };
    for change in [
        &(|other: &mut serde_json::Value| other["format"] = (format - 1).into())
            as &dyn Fn(&mut serde_json::Value),
        &|other| other["board"]["tasks"][0]["colour"] = "red".into(),
        &|other| {
            let board = other["board"].as_object_mut().unwrap();
            board.shift_remove("leases");
        },
    ] {
        put(change);
        assert_eq!(*place.mesh().board().unwrap(), board);
    }
    let newer = put(&|other| other["format"] = (format + 1).into());
    let mut mesh = place.mesh();
    for number in 300..700 {
        mesh.give(task(&format!("t{number}"), "work"), &voice("claude"))
            .unwrap();
    }
    assert_eq!(place.disk.read(&path).unwrap(), newer);
}

/// CALC-FUT-1: a file has one lease, by whatever path it is named, also before it is there.
#[test]
fn a_file_that_is_to_be_made_has_one_lease_by_any_path() {
    let place = Place::new();
    let tree = tempfile::tempdir().unwrap();
    let root = place.disk.canonicalize(tree.path()).unwrap();
    place.disk.create_dir_all(&root.join("src/deep")).unwrap();
    std::os::unix::fs::symlink(root.join("src/deep"), root.join("link")).unwrap();
    let said = |path: &str| format!("{}/{path}", root.display());
    let lease = |path: &str| Order::Lease {
        path: said(path),
        why: None,
        anyway: false,
    };
    let mut mesh = place.mesh();
    mesh.give(lease("src/New.rs"), &voice("codex")).unwrap();
    mesh.give(lease("link/a/../b/New.rs"), &voice("codex"))
        .unwrap();
    for path in [
        "src/New.rs",
        "./src/../src/New.rs",
        "src/./New.rs",
        "link/../New.rs",
        "src/none/../New.rs",
        "src/deep/b/New.rs",
        "src/deep/none/../b/./New.rs",
    ] {
        let refused = refused(mesh.give(lease(path), &voice("gemini")));
        assert!(
            matches!(refused, Refusal::LeasedBy { .. }),
            "{path}: {refused}"
        );
    }
    let over_a_wire = json!({
        "type": "calc.lease.released", "source": "codex", "payload": {"path": said("src//x/../New.rs")},
    });
    let draft = Draft::read(&over_a_wire).unwrap();
    mesh.publish(draft, Durability::Logged).unwrap();
    let edited = [said("link/../New.rs")];
    mesh.lease_edited(&edited, &voice("gemini")).unwrap();
    let held: Vec<String> = mesh
        .board()
        .unwrap()
        .leases
        .iter()
        .map(|lease| lease.path.clone())
        .collect();
    assert_eq!(held, [said("src/deep/b/New.rs"), said("src/New.rs")]);
}

/// CALC-FAIL-1: what is remembered of the board is only a short cut.
#[test]
fn a_lost_or_broken_memory_of_the_board_costs_nothing() {
    let place = Place::new();
    let mut mesh = place.mesh();
    for number in 0..300 {
        mesh.give(task(&format!("t{number}"), "work"), &voice("claude"))
            .unwrap();
    }
    let board = mesh.board().unwrap().clone();
    let path = place.folder().join("board.json");
    assert!(place.disk.exists(&path).unwrap());
    assert_eq!(*place.mesh().board().unwrap(), board);
    crate::place::write_into(&path, b"{\"format\": 1, \"board\":");
    assert_eq!(*place.mesh().board().unwrap(), board);
    place.disk.remove_file(&path).unwrap();
    assert_eq!(*place.mesh().board().unwrap(), board);
}

fn send_to(to: &str, ttl_seconds: Option<u64>) -> Order {
    Order::Send {
        id: "m".to_owned(),
        to: to.parse().expect("a name"),
        content: "look".to_owned(),
        reply_to: None,
        ttl_seconds,
    }
}

/// CALC-PAT-2: a message to a name that nobody has is a dead letter at once, and says so; it can be tried again, and
/// taken back.
#[test]
fn a_message_to_nobody_is_a_dead_letter() {
    let place = Place::new();
    let mut mesh = place.mesh();
    mesh.give(send_to("codxe", None), &voice("claude")).unwrap();
    let message = mesh.board().unwrap().message("m").unwrap().clone();
    assert_eq!(message.receipt, Some(Receipt::Dead));
    let why = message.evidence.unwrap();
    assert!(why.contains("nobody named codxe"), "{why}");
    let retry = Order::Retry {
        message: "m".to_owned(),
    };
    mesh.give(retry, &voice("claude")).unwrap();
    assert_eq!(mesh.board().unwrap().message("m").unwrap().receipt, None);
    mesh.give(moved("m", Receipt::Dropped), &voice("claude"))
        .unwrap();
    let message = mesh.board().unwrap().message("m").unwrap().clone();
    assert_eq!(message.receipt, Some(Receipt::Dropped));
    // One that has told of anything is no stranger.
    mesh.give(task("t", "work"), &voice("reviewer-2")).unwrap();
    let known = Order::Send {
        id: "n".to_owned(),
        to: "reviewer-2".parse().unwrap(),
        content: "look".to_owned(),
        reply_to: None,
        ttl_seconds: None,
    };
    mesh.give(known, &voice("claude")).unwrap();
    assert_eq!(mesh.board().unwrap().message("n").unwrap().receipt, None);
}

/// CALC-PAT-2: a message that nobody was handed in time is a dead letter, and waits as long again when it is tried again.
#[test]
fn a_message_that_waits_too_long_is_a_dead_letter() {
    let place = Place::new();
    let mut mesh = place.mesh();
    let wrong = refused(mesh.give(send_to("codex", Some(0)), &voice("claude")));
    assert_eq!(wrong, Refusal::NoTtl { seconds: 0 });
    mesh.give(send_to("codex", Some(60)), &voice("claude"))
        .unwrap();
    let board = mesh.board().unwrap();
    let sent = board.message("m").unwrap();
    let expires = sent.expires.unwrap();
    assert!(
        board
            .expired(expires - SignedDuration::from_secs(1))
            .is_empty()
    );
    assert_eq!(board.expired(expires).len(), 1);
    drop(mesh);
    let late = Clock::fixed(expires, Duration::ZERO);
    let open = |clock: &Clock| {
        Mesh::open(&place.disk, clock, &Ids::random(), place.folder(), "mac1").unwrap()
    };
    let mut mesh = open(&late);
    mesh.settle().unwrap();
    let dead = mesh.board().unwrap().message("m").unwrap().clone();
    assert_eq!(dead.receipt, Some(Receipt::Dead));
    let seq = mesh.board().unwrap().seq;
    mesh.settle().unwrap();
    assert_eq!(mesh.board().unwrap().seq, seq, "it is told once");
    let retry = Order::Retry {
        message: "m".to_owned(),
    };
    mesh.give(retry, &voice("claude")).unwrap();
    let again = mesh.board().unwrap().message("m").unwrap().clone();
    assert_eq!(again.receipt, None);
    assert_eq!(again.expires, Some(expires + SignedDuration::from_secs(60)));
    // Whom it was for may read it though it is dead.
    let later = Clock::fixed(expires + SignedDuration::from_hours(1), Duration::ZERO);
    let mut mesh = open(&later);
    mesh.settle().unwrap();
    mesh.give(moved("m", Receipt::Acked), &voice("codex"))
        .unwrap();
    let read = mesh.board().unwrap().message("m").unwrap().receipt;
    assert_eq!(read, Some(Receipt::Acked));
}

/// CALC-L3-1: nobody completes what another has done, or is meant to do, but on purpose; and what is over is not
/// given back or taken back in silence.
#[test]
fn what_another_has_done_or_is_meant_to_do_is_left_to_it() {
    let complete = |result: &str, anyway| Order::Complete {
        task: "t1".to_owned(),
        result: Some(result.to_owned()),
        anyway,
        token: None,
    };
    let place = Place::new();
    let mut mesh = place.mesh();
    let meant = Order::Add(NewTask {
        id: "t1".to_owned(),
        prompt: "work".to_owned(),
        assigned_to: Some("gemini-cli".parse().unwrap()),
        ..NewTask::default()
    });
    mesh.give(meant, &voice("claude")).unwrap();
    let early = mesh.give(complete("mine", false), &voice("codex"));
    assert!(matches!(refused(early), Refusal::MeantFor { .. }));
    mesh.give(complete("of gemini", false), &voice("gemini-cli"))
        .unwrap();
    let second = mesh.give(complete("mine", false), &voice("codex"));
    assert!(
        matches!(refused(second), Refusal::DoneBy { by: Some(by), .. } if by.as_str() == "gemini-cli")
    );
    let corrected = mesh.give(complete("of gemini, mended", false), &voice("gemini-cli"));
    assert_eq!(corrected.unwrap().len(), 1);
    let release = Order::Release {
        task: "t1".to_owned(),
        reason: "given back".to_owned(),
        anyway: true,
        token: None,
    };
    let cancel = Order::Cancel {
        task: "t1".to_owned(),
        reason: "taken back".to_owned(),
    };
    for order in [release, cancel] {
        let over = mesh.give(order, &voice("gemini-cli"));
        assert!(matches!(refused(over), Refusal::IsOver { .. }));
    }
    mesh.give(complete("mine", true), &voice("codex")).unwrap();
    let task = mesh.board().unwrap().task("t1").unwrap();
    assert_eq!(task.result.as_deref(), Some("mine"));
    assert_eq!(task.completed_by.as_ref().unwrap().as_str(), "codex");
}

/// CALC-L3-1: a claim that has run out is seen as such, whether or not that was told yet.
#[test]
fn a_claim_that_has_run_out_holds_nothing() {
    let place = Place::new();
    let mut mesh = place.mesh();
    mesh.give(task("t1", "work"), &voice("claude")).unwrap();
    mesh.give(claim("t1"), &voice("codex")).unwrap();
    let task = mesh.board().unwrap().task("t1").unwrap().clone();
    let until = task.claim.as_ref().unwrap().until;
    let before = until - jiff::SignedDuration::from_secs(1);
    assert_eq!(task.status_at(before), Status::InProgress);
    assert_eq!(task.status_at(until), Status::Pending);
    assert_eq!(task.claim_at(until), None);
}

/// CALC-PAT-2: a message to one session is handed to that one alone, is a dead letter where that is not at work or has
/// ended, and can be tried again.
#[test]
fn a_message_to_one_session_is_for_that_one_alone() {
    let place = Place::new();
    let mut mesh = place.mesh();
    let session = |id: &str| Voice {
        session_id: Some(id.to_owned()),
        ..voice("codex")
    };
    let (one, two) = (session("s1"), session("s2"));
    for voice in [&one, &two] {
        mesh.begin_session(voice, None).unwrap();
    }
    let send = |mesh: &mut Mesh, id: &str, to: &str| {
        let order = Order::Send {
            id: id.to_owned(),
            to: to.parse().expect("somebody"),
            content: format!("look at {id}"),
            reply_to: None,
            ttl_seconds: None,
        };
        mesh.give(order, &voice("claude")).unwrap();
    };
    let state = |mesh: &mut Mesh, id: &str| {
        let message = mesh.board().unwrap().message(id).unwrap();
        (
            message.receipt,
            message.evidence.clone().unwrap_or_default(),
        )
    };
    send(&mut mesh, "m1", "codex@s1");
    // The same again is one, and another under its id is refused.
    send(&mut mesh, "m1", "codex@s1");
    let other = Order::Send {
        id: "m1".to_owned(),
        to: "codex@s1".parse().unwrap(),
        content: "look away".to_owned(),
        reply_to: None,
        ttl_seconds: None,
    };
    let other = refused(mesh.give(other, &voice("claude")));
    assert!(matches!(other, Refusal::SaysOther { .. }), "{other}");
    send(&mut mesh, "m2", "codex@s2");
    send(&mut mesh, "m3", "codex@s3");
    let (receipt, why) = state(&mut mesh, "m3");
    assert_eq!(receipt, Some(Receipt::Dead));
    assert_eq!(why, "no session s3 of codex is at work; there is s2, s1");
    // Neither another session nor one that nobody knows is handed it.
    for voice in [&two, &voice("codex")] {
        let told = mesh.hand_over(voice, "post-tool").unwrap();
        let told = told.map(|told| told.messages).unwrap_or_default();
        assert!(!told.contains(&"m1".to_owned()), "{told:?}");
    }
    assert_eq!(state(&mut mesh, "m2").0, Some(Receipt::Delivered));
    let digest = mesh.digest_for(&one, &Beside::default(), 400).unwrap();
    assert_eq!(digest.messages, ["m1"]);
    let acked = mesh.give(moved("m1", Receipt::Acked), &two);
    assert!(matches!(refused(acked), Refusal::NotTheirs { .. }));
    // It ends before it has seen or heard what was for it alone.
    send(&mut mesh, "m4", "codex@s2");
    mesh.end_session(&two, "its client said so").unwrap();
    for id in ["m2", "m4"] {
        let (receipt, why) = state(&mut mesh, id);
        assert_eq!(receipt, Some(Receipt::Dead), "{id}");
        assert_eq!(why, "the session s2 has ended");
    }
    mesh.give(moved("m1", Receipt::Acked), &one).unwrap();
    // The file shows to whom it is, and somebody may write it so by hand.
    place.sync();
    place.edit(|document| {
        let by_hand = json!({"from": "claude", "to": "codex@s1", "content": "by hand"});
        document["messages"].as_array_mut().unwrap().push(by_hand);
    });
    assert_eq!(place.sync().conflicts, []);
    let told = place.mesh().hand_over(&one, "post-tool").unwrap().unwrap();
    assert!(told.text.contains("by hand"), "{}", told.text);
    let retry = Order::Retry {
        message: "m4".to_owned(),
    };
    mesh.give(retry, &voice("claude")).unwrap();
    assert_eq!(state(&mut mesh, "m4").0, None);
}

/// CALC-FAIL-1: what is remembered of the board has this form under this number. Whoever changes the form, or what an event
/// does to the board, raises `FORMAT` in `mesh.rs` and the number here.
#[test]
fn the_form_of_what_is_remembered_has_one_number() {
    let place = Place::new();
    let mut mesh = place.mesh();
    let codex = Voice {
        session_id: Some("s".to_owned()),
        ..voice("codex")
    };
    mesh.begin_session(&codex, None).unwrap();
    mesh.give(task("t", "work"), &voice("claude")).unwrap();
    mesh.give(claim("t"), &codex).unwrap();
    send(&mut mesh, "m");
    let share = Order::Share {
        id: "d".to_owned(),
        content: "c".to_owned(),
    };
    mesh.give(share, &codex).unwrap();
    let lease = Order::Lease {
        path: "/a".to_owned(),
        why: None,
        anyway: false,
    };
    mesh.give(lease, &codex).unwrap();
    for number in 0..300 {
        mesh.give(task(&format!("t{number}"), "work"), &voice("claude"))
            .unwrap();
    }
    let text = place.disk.read(&place.folder().join("board.json")).unwrap();
    let remembered: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let board = &remembered["board"];
    let keys = |value: &serde_json::Value| -> String {
        let members = value.as_object().expect("an object");
        members.keys().cloned().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(remembered["format"], 3);
    for (value, expected) in [
        (&remembered, "format origin board"),
        (
            board,
            "seq rev last_writer last_updated tasks messages discoveries leases sessions heard fields",
        ),
        (
            &board["tasks"][0],
            "id assigned_to status priority prompt output_file created_by created_at completed_at completed_by \
             needs cwd claim queued_at result other rev",
        ),
        (
            &board["tasks"][0]["claim"],
            "by session_id since until token",
        ),
        (
            &board["messages"][0],
            "id from to content reply_to timestamp receipt evidence ttl_seconds expires session_id rev",
        ),
        (
            &board["discoveries"][0],
            "id content source timestamp cwd rev",
        ),
        (
            &board["leases"][0],
            "path by session_id why since until token",
        ),
        (&board["sessions"][0], "agent session_id machine process"),
    ] {
        assert_eq!(keys(value), expected);
    }
}

/// CALC-PAT-2: nothing is called delivered, seen or dead by who was not handed it, and nothing is taken back by a third.
#[test]
fn who_has_no_part_in_it_can_neither_answer_nor_take_back() {
    let place = Place::new();
    let mut mesh = place.mesh();
    let (claude, codex, qwen) = (voice("claude"), voice("codex"), voice("qwen"));
    let answers = [
        Receipt::Delivered,
        Receipt::Seen,
        Receipt::Acked,
        Receipt::Dead,
        Receipt::Dropped,
    ];
    mesh.give(send_to("codex", None), &claude).unwrap();
    for receipt in answers {
        let event = json!({"message": "m", "receipt": receipt, "evidence": "stop"});
        let draft = Draft::new("calc.message.receipt".parse().unwrap(), qwen.agent.clone())
            .with_payload(event.as_object().unwrap().clone());
        let made_up = mesh.publish(draft, Durability::Logged);
        assert!(
            matches!(
                refused(made_up),
                Refusal::NotTheirs { .. } | Refusal::NotTheirsToTake { .. }
            ),
            "{receipt:?}"
        );
    }
    assert_eq!(mesh.board().unwrap().message("m").unwrap().receipt, None);
    for receipt in [Receipt::Delivered, Receipt::Seen] {
        refused(mesh.give(moved("m", receipt), &claude));
        mesh.give(moved("m", receipt), &codex).unwrap();
    }
    mesh.give(moved("m", Receipt::Dropped), &claude).unwrap();
    let cancel = |id: &str| Order::Cancel {
        task: id.to_owned(),
        reason: "no need".to_owned(),
    };
    for (id, who) in [("a", "claude"), ("b", "codex"), ("c", "person")] {
        mesh.give(task(id, "work"), &claude).unwrap();
        mesh.give(claim(id), &codex).unwrap();
        let not_theirs = refused(mesh.give(cancel(id), &qwen)).to_string();
        assert_eq!(
            not_theirs,
            format!("task `{id}` is not qwen-code's to take back, but claude-code's or codex's")
        );
        mesh.give(cancel(id), &voice(who)).unwrap();
    }
    let share = Order::Share {
        id: "d".to_owned(),
        content: "found".to_owned(),
    };
    mesh.give(share, &claude).unwrap();
    let forget = Order::Forget {
        discovery: "d".to_owned(),
    };
    refused(mesh.give(forget.clone(), &qwen));
    mesh.give(forget, &claude).unwrap();
    assert!(mesh.board().unwrap().discoveries.is_empty());
}

/// CALC-SEC-1: nobody leaves a task in the program's own name.
#[test]
fn nobody_leaves_a_task_in_the_programs_name() {
    let place = Place::new();
    let task = Order::Add(NewTask {
        id: "t".to_owned(),
        prompt: "run this".to_owned(),
        created_by: Some("callosum".parse().unwrap()),
        ..NewTask::default()
    });
    let refusal = refused(place.mesh().give(task, &voice("codex")));
    assert_eq!(refusal, Refusal::OurName);
}

/// CALC-PAT-2: what needs something that was taken back is not begun, and says so.
#[test]
fn a_task_is_not_begun_that_needs_what_was_taken_back() {
    let place = Place::new();
    let mut mesh = place.mesh();
    let claude = voice("claude");
    mesh.give(task("n1", "first"), &claude).unwrap();
    let second = Order::Add(NewTask {
        id: "n2".to_owned(),
        prompt: "second".to_owned(),
        needs: vec!["n1".to_owned()],
        ..NewTask::default()
    });
    mesh.give(second, &claude).unwrap();
    let cancel = Order::Cancel {
        task: "n1".to_owned(),
        reason: "no need".to_owned(),
    };
    mesh.give(cancel, &claude).unwrap();
    let refusal = refused(mesh.give(claim("n2"), &voice("codex")));
    assert!(
        matches!(refusal, Refusal::NeedsWhatIsGone { .. }),
        "{refusal}"
    );
    let next = Order::Claim {
        task: None,
        anyway: false,
    };
    let refusal = refused(mesh.give(next, &voice("codex")));
    assert_eq!(refusal, Refusal::NothingToDo);
    let set = json!({"needs": []}).as_object().unwrap().clone();
    let task = "n2".to_owned();
    mesh.give(Order::Change { task, set }, &claude).unwrap();
    mesh.give(claim("n2"), &voice("codex")).unwrap();
}

/// CALC-PAT-2: who asks for any task is given one of the project that it is in, before what is older or more urgent elsewhere.
#[test]
fn the_own_projects_tasks_come_first() {
    let place = Place::new();
    let mut mesh = place.mesh();
    let at = |name: &str, cwd: &str| Voice {
        cwd: Some(cwd.to_owned()),
        ..voice(name)
    };
    mesh.give(task("other", "work"), &at("claude", "/srv/other"))
        .unwrap();
    mesh.give(task("own", "work"), &at("claude", "/srv/app/src"))
        .unwrap();
    let next = || Order::Claim {
        task: None,
        anyway: false,
    };
    let codex = at("codex", "/srv/app");
    for id in ["own", "other"] {
        let claimed = mesh.give(next(), &codex).unwrap();
        assert_eq!(claimed[0].payload["task"], id);
    }
}
