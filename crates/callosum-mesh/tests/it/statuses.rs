//! Statuses of tasks as people write them into the bridge file, and tasks that would wait for themselves.

use callosum_mesh::board::{BoardError, Command, NewTask, Status};
use serde_json::json;

use crate::{
    edits::{give, messages_to},
    place::{Place, claim, refused, task, voice},
};

/// CALC-L3-1: a status is recognized in any case, and with spaces, dashes or other common words.
#[test]
fn a_status_is_read_as_people_write_it() {
    for (wrote, expected) in [
        ("done", Status::Complete),
        ("Completed", Status::Complete),
        ("COMPLETE", Status::Complete),
        ("in-progress", Status::InProgress),
        ("In Progress", Status::InProgress),
        ("WIP", Status::InProgress),
        ("to-do", Status::Pending),
        ("open", Status::Pending),
    ] {
        for is_new in [false, true] {
            let place = Place::new();
            if is_new {
                place.sync();
                place.edit(|document| {
                    document["last_writer"] = "codex".into();
                    document["task_queue"] =
                        json!([{"id": "t1", "prompt": "work", "status": wrote}]);
                });
            } else {
                give(&place, task("t1", "work"), "claude");
                place.sync();
                place.edit(|document| {
                    document["last_writer"] = "codex".into();
                    document["task_queue"][0]["status"] = wrote.into();
                });
            }
            let synced = place.sync();
            assert_eq!(synced.conflicts.len(), 0, "{wrote} {is_new}: {synced:?}");
            let shown = place.document()["task_queue"][0]["status"].clone();
            assert_eq!(shown, expected.as_str(), "{wrote} {is_new}");
            assert!(place.sync().is_quiet(), "{wrote} {is_new}");
        }
    }
    for wrote in ["maybe", "", "in", "not done"] {
        assert_eq!(Status::read(wrote), None, "{wrote}");
    }
}

/// CALC-L3-1: another word for the status that a task has is no change, and other changes of the
/// task count.
#[test]
fn another_word_for_the_same_status_changes_nothing() {
    let place = Place::new();
    give(&place, task("t1", "work"), "claude");
    give(&place, claim("t1"), "codex");
    place.sync();
    place.edit(|document| {
        document["last_writer"] = "gemini-cli".into();
        document["task_queue"][0]["status"] = "WIP".into();
        document["task_queue"][0]["priority"] = 1.into();
    });
    let synced = place.sync();
    assert_eq!(synced.conflicts.len(), 0, "{synced:?}");
    let mut mesh = place.mesh();
    let task = mesh.board().unwrap().task("t1").unwrap().clone();
    assert_eq!((task.status, task.priority), (Status::InProgress, 1));
    assert_eq!(task.claim.unwrap().by.as_str(), "codex");
}

fn needing(id: &str, needs: &[&str]) -> Command {
    Command::Add(NewTask {
        id: id.to_owned(),
        prompt: "work".to_owned(),
        needs: needs.iter().map(|need| (*need).to_owned()).collect(),
        ..NewTask::default()
    })
}

/// CALC-L3-1: of a circle every task is named, in the order in which they would wait.
#[test]
fn a_circle_of_needs_is_named() {
    let place = Place::new();
    let mut mesh = place.mesh();
    let claude = voice("claude");
    mesh.give(needing("a", &[]), &claude).unwrap();
    mesh.give(needing("x", &[]), &claude).unwrap();
    mesh.give(needing("b", &["x", "a"]), &claude).unwrap();
    mesh.give(needing("c", &["x", "b"]), &claude).unwrap();
    let needs = |task: &str, needs: &str| Command::Change {
        task: task.to_owned(),
        set: json!({"needs": [needs]}).as_object().unwrap().clone(),
    };
    for (task, need, expected) in [
        ("a", "c", "a → c → b → a"),
        ("a", "b", "a → b → a"),
        ("x", "x", "x → x"),
    ] {
        let refusal = refused(mesh.give(needs(task, need), &claude));
        let report = refusal.to_string();
        assert_eq!(
            report,
            format!("task `{task}` would wait for itself: {expected}")
        );
    }
    let report = refused(mesh.give(needing("d", &["a", "d"]), &claude)).to_string();
    assert_eq!(report, "task `d` would wait for itself: d → d");
}

/// CALC-L3-1: the conflict of a cycle among tasks that are written into the bridge file at once
/// names the cycle to its author.
#[test]
fn a_circle_in_the_bridge_file_is_named() {
    let place = Place::new();
    place.sync();
    place.edit(|document| {
        document["last_writer"] = "codex".into();
        document["task_queue"] = json!([
            {"id": "a", "prompt": "one", "needs": ["b"]},
            {"id": "b", "prompt": "two", "needs": ["a"]},
            {"id": "c", "prompt": "three", "needs": ["none"]},
        ]);
    });
    let synced = place.sync();
    let reasons: Vec<&str> = synced
        .conflicts
        .iter()
        .map(|it| it.reason.as_str())
        .collect();
    assert_eq!(
        reasons,
        [
            "task `a` would wait for itself: a → b → a",
            "task `b` would wait for itself: b → a → b",
            "task `none` does not exist",
        ]
    );
    assert!(messages_to(&place, "codex")[0].contains("a → b → a"));
}

/// CALC-L3-1: who says no session does not take over what one of its agent's sessions has claimed, and may finish it.
#[test]
fn a_claim_without_a_session_does_not_take_over_one_of_a_session() {
    let place = Place::new();
    let mut mesh = place.mesh();
    let codex = voice("codex");
    let session = callosum_mesh::Author {
        session_id: Some("s1".to_owned()),
        ..codex.clone()
    };
    mesh.give(task("t1", "work"), &voice("claude")).unwrap();
    mesh.give(claim("t1"), &session).unwrap();
    let token = mesh
        .board()
        .unwrap()
        .task("t1")
        .unwrap()
        .claim
        .clone()
        .unwrap()
        .token;
    for anyway in [false, true] {
        let order = Command::Claim {
            task: Some("t1".to_owned()),
            anyway,
            fence: None,
        };
        let refusal = refused(mesh.give(order, &codex));
        assert!(matches!(refusal, BoardError::ClaimedBy { .. }), "{refusal}");
    }
    let held = mesh
        .board()
        .unwrap()
        .task("t1")
        .unwrap()
        .claim
        .clone()
        .unwrap();
    assert_eq!(
        (held.session_id.as_deref(), held.token),
        (Some("s1"), token)
    );
    mesh.give(claim("t1"), &session).unwrap();
    mesh.give(crate::place::complete("t1"), &codex).unwrap();
    // A session takes over what was claimed without one.
    mesh.give(task("t2", "work"), &voice("claude")).unwrap();
    mesh.give(claim("t2"), &codex).unwrap();
    mesh.give(claim("t2"), &codex).unwrap();
    mesh.give(claim("t2"), &session).unwrap();
    let held = mesh
        .board()
        .unwrap()
        .task("t2")
        .unwrap()
        .claim
        .clone()
        .unwrap();
    assert_eq!(held.session_id.as_deref(), Some("s1"));
}
