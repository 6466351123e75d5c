//! Messages: their receipts, their recipients, and messages without one.

use std::time::Duration;

use callosum_host::{Clock, Ids};
use callosum_mesh::{
    Author, Mesh,
    board::{BoardError, Command, Receipt},
    digest::DigestContext,
    event::Draft,
    journal::Durability,
};
use jiff::SignedDuration;
use serde_json::json;

use crate::place::{Place, claim, handed_over, refused, send, task, voice};

fn moved(message: &str, receipt: Receipt) -> Command {
    Command::Move {
        message: message.to_owned(),
        receipt,
        evidence: None,
    }
}

fn send_to(to: &str, ttl_seconds: Option<u64>) -> Command {
    Command::Send {
        id: "m".to_owned(),
        to: to.parse().expect("a name"),
        content: "look".to_owned(),
        reply_to: None,
        ttl_seconds,
    }
}

/// CALC-PAT-2: what is delivered has evidence, and nothing goes back.
#[test]
fn a_message_goes_from_step_to_step() {
    let place = Place::new();
    let mut mesh = place.mesh();
    send(&mut mesh, "m");
    send(&mut mesh, "m");
    assert_eq!(
        place.events_of_topic("calc.message").len(),
        1,
        "the same message once"
    );
    let codex = voice("codex");
    mesh.give(moved("m", Receipt::Delivered), &codex).unwrap();
    mesh.give(moved("m", Receipt::Seen), &codex).unwrap();
    assert_eq!(
        mesh.give(moved("m", Receipt::Delivered), &codex).unwrap(),
        []
    );
    let foreign = mesh.give(moved("m", Receipt::Acked), &voice("gemini"));
    assert!(matches!(refused(foreign), BoardError::NotTheirs { .. }));
    mesh.give(moved("m", Receipt::Acked), &codex).unwrap();
    let message = mesh.board().unwrap().message("m").unwrap().clone();
    assert_eq!(message.receipt, Some(Receipt::Acked));
    send(&mut mesh, "n");
    mesh.give(moved("n", Receipt::Dead), &voice("callosum"))
        .unwrap();
    let retry = |message: &str| Command::Retry {
        message: message.to_owned(),
    };
    mesh.give(retry("n"), &codex).unwrap();
    assert_eq!(mesh.board().unwrap().message("n").unwrap().receipt, None);
    assert!(matches!(
        refused(mesh.give(retry("n"), &codex)),
        BoardError::NotDead { .. }
    ));
}

/// CALC-PAT-2: a message to an unknown name is a dead letter at once, with the reason. It can be
/// retried and dropped.
#[test]
fn a_message_to_an_unknown_name_is_a_dead_letter() {
    let place = Place::new();
    let mut mesh = place.mesh();
    mesh.give(send_to("codxe", None), &voice("claude")).unwrap();
    let message = mesh.board().unwrap().message("m").unwrap().clone();
    assert_eq!(message.receipt, Some(Receipt::Dead));
    let why = message.evidence.unwrap();
    assert!(why.contains("no agent named codxe"), "{why}");
    let retry = Command::Retry {
        message: "m".to_owned(),
    };
    let again = refused(mesh.give(retry.clone(), &voice("claude")));
    assert!(matches!(again, BoardError::Unreachable { .. }), "{again:?}");
    mesh.give(task("s", "work"), &voice("codxe")).unwrap();
    mesh.give(retry, &voice("claude")).unwrap();
    assert_eq!(mesh.board().unwrap().message("m").unwrap().receipt, None);
    mesh.give(moved("m", Receipt::Dropped), &voice("claude"))
        .unwrap();
    let message = mesh.board().unwrap().message("m").unwrap().clone();
    assert_eq!(message.receipt, Some(Receipt::Dropped));
    // An agent that has published any event is known.
    mesh.give(task("t", "work"), &voice("reviewer-2")).unwrap();
    let known = Command::Send {
        id: "n".to_owned(),
        to: "reviewer-2".parse().unwrap(),
        content: "look".to_owned(),
        reply_to: None,
        ttl_seconds: None,
    };
    mesh.give(known, &voice("claude")).unwrap();
    assert_eq!(mesh.board().unwrap().message("n").unwrap().receipt, None);
}

/// CALC-PAT-2: a message that was not delivered in time is a dead letter, and waits as long again
/// when it is retried.
#[test]
fn a_message_that_waits_too_long_is_a_dead_letter() {
    let place = Place::new();
    let mut mesh = place.mesh();
    let wrong = refused(mesh.give(send_to("codex", Some(0)), &voice("claude")));
    assert_eq!(wrong, BoardError::NoTtl { seconds: 0 });
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
    assert_eq!(mesh.board().unwrap().seq, seq, "it is recorded once");
    let retry = Command::Retry {
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

/// CALC-PAT-2: a message to one session is handed to that one alone, is a dead letter where that is not at work or has
/// ended, and can be tried again.
#[test]
fn a_message_to_one_session_is_for_that_one_alone() {
    let place = Place::new();
    let mut mesh = place.mesh();
    let session = |id: &str| Author {
        session_id: Some(id.to_owned()),
        ..voice("codex")
    };
    let (one, two) = (session("s1"), session("s2"));
    for voice in [&one, &two] {
        mesh.begin_session(voice, None).unwrap();
    }
    let send = |mesh: &mut Mesh, id: &str, to: &str| {
        let order = Command::Send {
            id: id.to_owned(),
            to: to.parse().expect("an addressee"),
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
    let other = Command::Send {
        id: "m1".to_owned(),
        to: "codex@s1".parse().unwrap(),
        content: "look away".to_owned(),
        reply_to: None,
        ttl_seconds: None,
    };
    let other = refused(mesh.give(other, &voice("claude")));
    assert!(matches!(other, BoardError::SaysOther { .. }), "{other}");
    send(&mut mesh, "m2", "codex@s2");
    send(&mut mesh, "m3", "codex@s3");
    let (receipt, why) = state(&mut mesh, "m3");
    assert_eq!(receipt, Some(Receipt::Dead));
    assert_eq!(why, "session s3 of codex is not active; active: s2, s1");
    // Neither another session nor an unknown one gets it.
    for voice in [&two, &voice("codex")] {
        let digest = handed_over(&mut mesh, voice, "post-tool");
        let digest = digest.map(|digest| digest.messages).unwrap_or_default();
        assert!(!digest.contains(&"m1".to_owned()), "{digest:?}");
    }
    assert_eq!(state(&mut mesh, "m2").0, Some(Receipt::Delivered));
    let digest = mesh
        .digest_for(&one, &DigestContext::default(), 400)
        .unwrap();
    assert_eq!(digest.messages, ["m1"]);
    let acked = mesh.give(moved("m1", Receipt::Acked), &two);
    assert!(matches!(refused(acked), BoardError::NotTheirs { .. }));
    // It ends before it has seen or heard what was for it alone.
    send(&mut mesh, "m4", "codex@s2");
    mesh.end_session(&two, "its client said so").unwrap();
    for id in ["m2", "m4"] {
        let (receipt, why) = state(&mut mesh, id);
        assert_eq!(receipt, Some(Receipt::Dead), "{id}");
        assert_eq!(why, "the session s2 has ended");
    }
    mesh.give(moved("m1", Receipt::Acked), &one).unwrap();
    // The file shows its recipient, and a person may write such a message by hand.
    place.sync();
    place.edit(|document| {
        let by_hand = json!({"from": "claude", "to": "codex@s1", "content": "by hand"});
        document["messages"].as_array_mut().unwrap().push(by_hand);
    });
    assert_eq!(place.sync().conflicts, []);
    let digest = handed_over(&mut place.mesh(), &one, "post-tool").unwrap();
    assert!(digest.text.contains("by hand"), "{}", digest.text);
    let retry = Command::Retry {
        message: "m4".to_owned(),
    };
    let again = refused(mesh.give(retry.clone(), &voice("claude")));
    assert!(matches!(again, BoardError::Unreachable { .. }), "{again:?}");
    // It may be taken up again.
    mesh.begin_session(&two, None).unwrap();
    mesh.give(retry, &voice("claude")).unwrap();
    assert_eq!(state(&mut mesh, "m4").0, None);
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
                BoardError::NotTheirs { .. } | BoardError::NotTheirsToTake { .. }
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
    let cancel = |id: &str| Command::Cancel {
        task: id.to_owned(),
        reason: "no need".to_owned(),
    };
    for (id, who) in [("a", "claude"), ("b", "codex"), ("c", "person")] {
        mesh.give(task(id, "work"), &claude).unwrap();
        mesh.give(claim(id), &codex).unwrap();
        let not_theirs = refused(mesh.give(cancel(id), &qwen)).to_string();
        assert_eq!(
            not_theirs,
            format!("task `{id}` does not belong to qwen-code, but to claude-code or codex")
        );
        mesh.give(cancel(id), &voice(who)).unwrap();
    }
    let share = Command::Share {
        id: "d".to_owned(),
        content: "found".to_owned(),
    };
    mesh.give(share, &claude).unwrap();
    let forget = Command::Forget {
        discovery: "d".to_owned(),
    };
    refused(mesh.give(forget.clone(), &qwen));
    mesh.give(forget, &claude).unwrap();
    assert!(mesh.board().unwrap().discoveries.is_empty());
}

/// CALC-PAT-2: text that was not output is not recorded as delivered, and text is output before it
/// is recorded.
#[test]
fn a_message_that_was_not_output_is_delivered_again() {
    let place = Place::new();
    let mut mesh = place.mesh();
    send(&mut mesh, "m");
    let codex = voice("codex");
    let undelivered = mesh.hand_over(&codex, "post-tool", |_| false).unwrap();
    assert_eq!(undelivered, None);
    assert_eq!(mesh.board().unwrap().message("m").unwrap().receipt, None);
    let output = mesh.hand_over(&codex, "post-tool", |digest| {
        let mut others = place.mesh();
        let noted = others.board().unwrap().message("m").unwrap().receipt;
        digest.text.contains("look") && noted.is_none()
    });
    assert_eq!(output.unwrap().unwrap().messages, ["m"]);
    let receipt = mesh.board().unwrap().message("m").unwrap().receipt;
    assert_eq!(receipt, Some(Receipt::Delivered));
}

/// CALC-PAT-2: of two sessions of an agent that ask at the same moment, one is handed a message.
#[test]
fn of_two_sessions_one_is_handed_a_message() {
    let place = Place::new();
    let mut mesh = place.mesh();
    for number in 0..20 {
        send(&mut mesh, &format!("m{number}"));
    }
    let handed = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for session in ["s1", "s2", "s3"] {
            let (place, handed) = (&place, &handed);
            scope.spawn(move || {
                let mut mesh = place.mesh();
                let voice = callosum_mesh::Author {
                    session_id: Some(session.to_owned()),
                    ..voice("codex")
                };
                while let Some(digest) = handed_over(&mut mesh, &voice, "post-tool") {
                    handed.lock().unwrap().extend(digest.messages);
                }
            });
        }
    });
    let mut handed = handed.into_inner().unwrap();
    handed.sort();
    let mut all: Vec<String> = (0..20).map(|number| format!("m{number}")).collect();
    all.sort();
    assert_eq!(handed, all);
}

/// CALC-PAT-2: delivered when a hook hands it over, seen when the same session goes on.
#[test]
fn messages_are_handed_over_between_calls_and_seen_by_who_goes_on() {
    let place = Place::new();
    let mut mesh = place.mesh();
    let mut codex = voice("codex");
    codex.session_id = Some("s1".to_owned());
    assert_eq!(handed_over(&mut mesh, &codex, "post-tool-use"), None);
    send(&mut mesh, "m");
    let digest = handed_over(&mut mesh, &codex, "post-tool-use").unwrap();
    assert!(digest.text.contains("\"look\""), "{}", digest.text);
    let state = |mesh: &mut Mesh| mesh.board().unwrap().message("m").unwrap().receipt;
    assert_eq!(state(&mut mesh), Some(Receipt::Delivered));
    let mut other = codex.clone();
    other.session_id = Some("s2".to_owned());
    assert_eq!(handed_over(&mut mesh, &other, "post-tool-use"), None);
    assert_eq!(
        state(&mut mesh),
        Some(Receipt::Delivered),
        "another session shows nothing"
    );
    assert_eq!(handed_over(&mut mesh, &codex, "post-tool-use"), None);
    mesh.seen(&other, "stop").unwrap();
    assert_eq!(state(&mut mesh), Some(Receipt::Delivered));
    mesh.seen(&codex, "stop").unwrap();
    assert_eq!(state(&mut mesh), Some(Receipt::Seen));
}
