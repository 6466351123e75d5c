//! Events from elsewhere that mean the board: decided as orders, each once, a list all or none.

use callosum_mesh::{
    Mesh,
    board::{BoardError, Status},
    event::Draft,
    journal::Durability,
};
use serde_json::json;

use crate::place::{Place, claim, complete, refused, voice};

/// CALC-L2-1: a program that knows only the seed's topics can take part.
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
        BoardError::ClaimedBy { .. }
    ));
    let wrong = json!({"type": "calc.message", "source": "codex", "payload": {"content": 7}});
    let error = publish(&mut mesh, wrong).unwrap_err().to_string();
    assert!(error.contains("payload"), "{error}");
}

/// CALC-L1-1: an event that is submitted twice under an id of its author's is one event, even if it
/// changes the board, alone or in a list. An event with other contents under that id is rejected.
#[test]
fn an_event_of_the_board_that_is_handed_in_twice_is_one() {
    let place = Place::new();
    let mut mesh = place.mesh();
    let draft = |id: &str, topic: &str, payload: serde_json::Value| {
        let event = json!({"type": topic, "source": "codex", "id": id, "payload": payload});
        Draft::read(&event).expect("it is an event")
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
            .contains("`e1` is already the id of another event"),
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
    let (first_seq, built) = (seqs(0)[0], seqs(0)[1]);
    assert_eq!(seqs(0), [first_seq, built, first[0].seq, first_seq]);
    assert_eq!(seqs(2), [first_seq, built]);
    let refused = done[1].as_ref().unwrap_err();
    assert_eq!(refused.at, 2);
    assert_eq!(mesh.board().unwrap().messages.len(), 1);
    assert_eq!(place.events_of_topic("build.done").len(), 1);
}

/// CALC-L1-1: keys that the board does not know are stored and delivered with their event, and
/// those of a task are on the board.
#[test]
fn what_an_author_says_beside_is_kept() {
    let place = Place::new();
    let mut mesh = place.mesh();
    let mut publish = |topic: &str, payload: serde_json::Value| {
        let event = json!({"type": topic, "source": "codex", "payload": payload});
        let draft = Draft::read(&event).expect("it is an event");
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
    // Every reader of the log gets the same board.
    assert_eq!(*place.mesh().board().unwrap(), *mesh.board().unwrap());
}

/// CALC-FAIL-1: the error of a list names the event that failed.
#[test]
fn the_error_of_a_list_names_the_event_that_failed() {
    let place = Place::new();
    let mut mesh = place.mesh();
    let draft = |topic: &str, payload: serde_json::Value| {
        let event = json!({"type": topic, "source": "codex", "payload": payload});
        Draft::read(&event).expect("it is an event")
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
