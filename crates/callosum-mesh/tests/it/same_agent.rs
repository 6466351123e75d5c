//! Two sessions of one agent, and what they have for one another.

use callosum_mesh::{
    Author, Mesh,
    board::{Command, NewTask, Receipt},
    digest::DigestContext,
    event::Draft,
    journal::Durability,
};
use serde_json::{Value, json};

use crate::place::{Place, handed_over, voice};

fn session(agent: &str, session: &str) -> Author {
    Author {
        session_id: Some(session.to_owned()),
        ..voice(agent)
    }
}

fn news_text(mesh: &mut Mesh, voice: &Author) -> String {
    let digest = handed_over(mesh, voice, "post-tool-use");
    digest.map(|digest| digest.text).unwrap_or_default()
}

fn begun(mesh: &mut Mesh, voice: &Author) -> String {
    let digest = mesh
        .digest_for(voice, &DigestContext::default(), 400)
        .expect("a digest");
    mesh.deliver(&digest, voice, "session-start")
        .expect("a delivery");
    digest.text
}

fn say(mesh: &mut Mesh, id: &str, to: &str, by: &Author) {
    let order = Command::Send {
        id: id.to_owned(),
        to: to.parse().expect("an addressee"),
        content: format!("words of {id}"),
        reply_to: None,
        ttl_seconds: None,
    };
    mesh.give(order, by).expect("an accepted message");
}

fn publish(mesh: &mut Mesh, topic: &str, by: &Author, payload: Value) {
    let draft = json!({
        "type": topic, "source": by.agent, "session_id": by.session_id, "payload": payload,
    });
    let draft = Draft::read(&draft).expect("a draft");
    mesh.publish(draft, Durability::Logged)
        .expect("a logged event");
}

/// CALC-PAT-2: a message to an agent is handed to another of its sessions than the one that sent it, at work and at a
/// beginning; one to a session by its name is handed to that.
#[test]
fn a_message_to_ones_own_agent_is_for_its_other_sessions() {
    let place = Place::new();
    let mut mesh = place.mesh();
    let (one, other) = (session("claude", "s1"), session("claude", "s2"));
    say(&mut mesh, "m1", "claude", &one);
    assert_eq!(news_text(&mut mesh, &one), "");
    assert_eq!(begun(&mut mesh, &one), "");
    let text = news_text(&mut mesh, &other);
    assert!(
        text.contains("another session of claude-code says to you: \"words of m1\""),
        "{text}"
    );
    mesh.seen(&other, "stop").unwrap();
    let receipt = mesh.board().unwrap().message("m1").unwrap().receipt;
    assert_eq!(receipt, Some(Receipt::Seen));
    // The next session of who sent it is another one.
    say(&mut mesh, "m2", "claude", &one);
    let text = begun(&mut mesh, &session("claude", "s3"));
    assert!(text.contains("words of m2"), "{text}");
    mesh.begin_session(&one, None).unwrap();
    say(&mut mesh, "m3", "claude@s1", &one);
    assert!(news_text(&mut mesh, &one).contains("words of m3"));
    // Who says no session may be anyone.
    say(&mut mesh, "m4", "claude", &voice("claude"));
    let text = news_text(&mut mesh, &one);
    assert!(
        text.contains("claude-code says to you: \"words of m4\""),
        "{text}"
    );
}

/// CALC-PAT-2, CALC-PAT-4: sessions of one agent hear of one another's tasks, discoveries and requests, and not of their own.
#[test]
fn sessions_of_one_agent_hear_of_each_other() {
    let place = Place::new();
    let mut mesh = place.mesh();
    let (one, other) = (session("codex", "s1"), session("codex", "s2"));
    assert_eq!(begun(&mut mesh, &one), "");
    assert_eq!(begun(&mut mesh, &other), "");
    mesh.heard_all(&one).unwrap();
    mesh.heard_all(&other).unwrap();
    let task = |id: &str, to: Option<&str>| {
        Command::Add(NewTask {
            id: id.to_owned(),
            prompt: format!("work of {id}"),
            assigned_to: to.map(|to| to.parse().unwrap()),
            ..NewTask::default()
        })
    };
    mesh.give(task("t1", Some("codex")), &one).unwrap();
    let share = Command::Share {
        id: "d".to_owned(),
        content: "serde 2 breaks".to_owned(),
    };
    mesh.give(share, &one).unwrap();
    let asks = json!({"to": "codex", "what": "review a.rs"});
    publish(&mut mesh, "calc.request", &one, asks);
    assert_eq!(news_text(&mut mesh, &one), "");
    let text = news_text(&mut mesh, &other);
    for part in [
        "task for you from another session of codex, `callosum mesh task claim t1`: \"work of t1\"",
        "another session of codex found out: \"serde 2 breaks\"",
        "another session of codex asks you",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(news_text(&mut mesh, &other), "");
    let text = begun(&mut mesh, &session("codex", "s3"));
    assert!(
        text.contains("another session of codex found out"),
        "{text}"
    );
    mesh.give(task("t2", None), &one).unwrap();
    assert!(!begun(&mut mesh, &one).contains("work of t2"));
    let text = begun(&mut mesh, &session("codex", "s4"));
    assert!(
        text.contains("task for any agent from another session of codex"),
        "{text}"
    );
}

/// CALC-PAT-2: a session's request to another of its agent stays due, however much the session
/// itself gets in the meantime.
#[test]
fn what_a_session_asks_of_its_own_agent_waits_for_another() {
    for at_beginning in [false, true] {
        let place = Place::new();
        let mut mesh = place.mesh();
        let one = session("codex", "s1");
        begun(&mut mesh, &one);
        mesh.heard_all(&one).unwrap();
        let asks = json!({"to": "codex", "what": "review a.rs"});
        publish(&mut mesh, "calc.request", &one, asks);
        let share = Command::Share {
            id: "d".to_owned(),
            content: "serde 2 breaks".to_owned(),
        };
        mesh.give(share, &session("gemini", "g1")).unwrap();
        let own = if at_beginning {
            begun(&mut mesh, &one)
        } else {
            news_text(&mut mesh, &one)
        };
        assert!(
            own.contains("serde 2 breaks") && !own.contains("review a.rs"),
            "{own}"
        );
        let text = news_text(&mut mesh, &session("codex", "s2"));
        assert!(text.contains("review a.rs"), "{at_beginning}: {text}");
        let text = news_text(&mut mesh, &session("codex", "s3"));
        assert!(!text.contains("review a.rs"), "{at_beginning}: {text}");
    }
}
