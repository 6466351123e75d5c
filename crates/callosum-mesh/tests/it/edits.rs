//! Edits of the bridge file that cannot be applied: each is reported, and its text is kept.

use callosum_mesh::{
    board::{Command, NewTask, Status},
    bridge::Synced,
};
use serde_json::{Value, json};

use crate::drop_ins::drop_in;
use crate::place::{Place, claim, task, voice, write_into};

pub(crate) fn give(place: &Place, order: Command, who: &str) {
    place.mesh().give(order, &voice(who)).expect("it is given");
}

pub(crate) fn done(id: &str, result: &str) -> Command {
    Command::Complete {
        task: id.to_owned(),
        result: Some(result.to_owned()),
        anyway: false,
        token: None,
    }
}

fn release(id: &str) -> Command {
    Command::Release {
        task: id.to_owned(),
        reason: "given back".to_owned(),
        anyway: false,
        token: None,
    }
}

/// Returns all messages to an agent.
pub(crate) fn messages_to(place: &Place, agent: &str) -> Vec<String> {
    let mut mesh = place.mesh();
    let messages = mesh.board().expect("a board").messages.iter();
    let theirs = messages.filter(|message| message.to.agent.as_str() == agent);
    theirs.map(|message| message.content.clone()).collect()
}

/// Checks the only conflict: its event, the message to its author, and the copy of the text.
pub(crate) fn only_conflict(place: &Place, synced: &Synced, author: &str, wrote: &str) {
    assert_eq!(synced.conflicts.len(), 1, "{:#?}", synced.conflicts);
    let conflict = &synced.conflicts[0];
    assert_eq!(conflict.by.as_str(), author);
    let kept = conflict.kept.as_ref().expect("what was written is kept");
    let bytes = place.disk.read(kept).expect("it can be read");
    assert!(String::from_utf8(bytes).expect("a text").contains(wrote));
    let conflict_event = place.events_of_topic("bridge.conflict");
    let conflict_event = conflict_event.last().expect("it is reported");
    assert_eq!(conflict_event.payload["kept"], *kept.to_string_lossy());
    assert_eq!(conflict_event.payload["by"], author);
    if author != "unknown" {
        let messages = messages_to(place, author);
        assert!(
            messages
                .last()
                .expect("there is a message")
                .contains(&conflict.reason),
            "{messages:?}"
        );
    }
}

/// A task that codex has claimed, the file as it was then, and gemini who has claimed it since.
fn taken_by_another(place: &Place) -> Value {
    give(place, task("t1", "work"), "claude");
    give(place, claim("t1"), "codex");
    place.sync();
    let stale = place.document();
    give(place, release("t1"), "codex");
    give(place, claim("t1"), "gemini-cli");
    stale
}

/// CALC-L3-1: a claim by hand is compared and set.
#[test]
fn a_claim_by_hand_of_a_claimed_task_is_reported() {
    let place = Place::new();
    give(&place, task("t1", "work"), "claude");
    place.sync();
    let mut stale = place.document();
    give(&place, claim("t1"), "gemini-cli");
    stale["last_writer"] = "codex".into();
    stale["task_queue"][0]["status"] = "in_progress".into();
    place.write(&stale.to_string());
    let synced = place.sync();
    only_conflict(&place, &synced, "codex", "in_progress");
    assert_eq!(
        place.document()["task_queue"][0]["claimed_by"],
        "gemini-cli"
    );
}

/// CALC-L3-1: no one completes by hand, in another's name, a task that the other works on.
#[test]
fn a_completion_by_hand_of_a_claimed_task_is_reported() {
    for last_writer in ["codex", "callosum"] {
        let place = Place::new();
        let mut stale = taken_by_another(&place);
        stale["last_writer"] = last_writer.into();
        stale["task_queue"][0]["status"] = "complete".into();
        stale["task_queue"][0]["result"] = "of codex".into();
        place.write(&stale.to_string());
        let synced = place.sync();
        only_conflict(&place, &synced, "codex", "of codex");
        let mut mesh = place.mesh();
        let task = mesh.board().unwrap().task("t1").unwrap().clone();
        assert_eq!(task.status, Status::InProgress);
        assert_eq!(task.result, None);
    }
}

/// CALC-L3-1: nor does anyone release by hand a task that another has claimed since.
#[test]
fn a_release_by_hand_of_a_claimed_task_is_reported() {
    let place = Place::new();
    let mut stale = taken_by_another(&place);
    stale["last_writer"] = "codex".into();
    stale["task_queue"][0]["status"] = "pending".into();
    place.write(&stale.to_string());
    let synced = place.sync();
    only_conflict(&place, &synced, "codex", "pending");
    assert_eq!(place.document()["task_queue"][0]["status"], "in_progress");
}

/// CALC-L3-1: of two results the second is kept separately, and reported.
#[test]
fn another_result_of_what_is_complete_is_a_conflict() {
    let place = Place::new();
    let mut stale = taken_by_another(&place);
    give(&place, done("t1", "of gemini"), "gemini-cli");
    stale["last_writer"] = "codex".into();
    stale["task_queue"][0]["status"] = "complete".into();
    stale["task_queue"][0]["result"] = "of codex".into();
    place.write(&stale.to_string());
    let synced = place.sync();
    only_conflict(&place, &synced, "codex", "of codex");
    assert_eq!(place.document()["task_queue"][0]["result"], "of gemini");
}

/// CALC-L3-1: a delivered item is not changed, and an attempt is reported.
#[test]
fn another_content_of_a_delivered_item_is_a_conflict() {
    let place = Place::new();
    let message = Command::Send {
        id: "m1".to_owned(),
        to: "codex".parse().unwrap(),
        content: "hello".to_owned(),
        reply_to: None,
        ttl_seconds: None,
    };
    let discovery = Command::Share {
        id: "d1".to_owned(),
        content: "found".to_owned(),
    };
    give(&place, message, "claude");
    give(&place, discovery, "claude");
    for list in ["messages", "discoveries"] {
        place.sync();
        place.edit(|document| {
            document["last_writer"] = "gemini-cli".into();
            document[list][0]["content"] = "changed".into();
        });
        let synced = place.sync();
        only_conflict(&place, &synced, "gemini-cli", "changed");
        assert_ne!(place.document()[list][0]["content"], "changed");
    }
}

/// CALC-L3-1: a change of a task that was canceled since.
#[test]
fn a_change_of_what_was_cancelled_meanwhile_is_a_conflict() {
    let place = Place::new();
    give(&place, task("t1", "work"), "claude");
    place.sync();
    let mut stale = place.document();
    let cancel = Command::Cancel {
        task: "t1".to_owned(),
        reason: "no need".to_owned(),
    };
    give(&place, cancel, "claude");
    stale["last_writer"] = "codex".into();
    stale["task_queue"][0]["prompt"] = "other work".into();
    place.write(&stale.to_string());
    let synced = place.sync();
    only_conflict(&place, &synced, "codex", "other work");
}

/// CALC-L3-1: the holder of a task that is removed gets a message, and its work is not lost.
#[test]
fn the_holder_of_a_removed_task_gets_a_message_and_may_complete_it() {
    let place = Place::new();
    give(&place, task("t1", "work"), "claude");
    give(&place, claim("t1"), "codex");
    place.sync();
    place.edit(|document| {
        document["last_writer"] = "claude-code".into();
        document["task_queue"] = json!([]);
    });
    place.sync();
    assert!(messages_to(&place, "codex")[0].contains("canceled"));
    let mut mesh = place.mesh();
    let status = |mesh: &mut callosum_mesh::Mesh| mesh.board().unwrap().task("t1").unwrap().status;
    assert_eq!(status(&mut mesh), Status::Cancelled);
    mesh.give(done("t1", "of codex"), &voice("gemini-cli"))
        .unwrap_err();
    mesh.give(done("t1", "of codex"), &voice("codex")).unwrap();
    assert_eq!(status(&mut mesh), Status::Complete);
    let result = mesh.board().unwrap().task("t1").unwrap().result.clone();
    assert_eq!(result.as_deref(), Some("of codex"));
}

/// CALC-L3-1: a duplicate key is ambiguous.
#[test]
fn a_file_with_a_key_twice_changes_nothing_and_is_reported_by_line_and_column() {
    let place = Place::new();
    give(&place, task("t1", "work"), "claude");
    place.sync();
    let text = place.text();
    let end = text.rfind('}').unwrap();
    place.write(&format!("{},\"task_queue\":[]}}", &text[..end]));
    let synced = place.sync();
    let error = synced.rejected[0].error.to_string();
    assert!(
        error.starts_with("line ") && error.ends_with("duplicate key `task_queue`"),
        "{error}"
    );
    assert_eq!(place.document()["task_queue"][0]["status"], "pending");
}

/// CALC-L3-1: an unidentified author is not taken for someone else, and no one writes to ourselves.
#[test]
fn who_does_not_say_who_they_are_is_unknown() {
    let place = Place::new();
    give(&place, task("t1", "work"), "claude");
    place.sync();
    place.edit(|document| {
        document["discoveries"] = json!([{"content": "mine"}]);
        document["task_queue"][0]["status"] = "maybe".into();
    });
    let synced = place.sync();
    only_conflict(&place, &synced, "unknown", "maybe");
    assert_eq!(place.document()["discoveries"][0]["source"], "unknown");
    place.write(&place.text().replace("\"task_queue\":", "oops"));
    place.sync();
    assert_eq!(place.events_of_topic("bridge.rejected").len(), 1);
    let mut mesh = place.mesh();
    assert_eq!(mesh.board().unwrap().messages, []);
}

/// CALC-L3-1: the file stays one that we read, and what it does not show was not taken out.
#[test]
fn a_board_without_room_in_the_file_is_shown_as_far_as_it_goes() {
    let place = Place::new();
    let mut mesh = place.mesh();
    let long = "x".repeat(31_000);
    for at in 0..60 {
        let order = NewTask {
            id: format!("t{at}"),
            prompt: long.clone(),
            ..NewTask::default()
        };
        mesh.give(Command::Add(order), &voice("claude")).unwrap();
    }
    place.sync();
    assert!(place.text().len() <= 1024 * 1024, "{}", place.text().len());
    let shown = place.document();
    let tasks = shown["task_queue"].as_array().unwrap();
    assert_eq!(tasks.last().unwrap()["id"], "t59");
    let left_out = shown["left_out"]["task_queue"].as_u64().unwrap();
    assert_eq!(left_out + tasks.len() as u64, 60);
    assert!(left_out > 20, "{left_out}");
    place.edit(|document| {
        document["task_queue"] = json!([{"id": "new", "prompt": "added"}]);
    });
    let shown = tasks.len();
    let synced = place.sync();
    assert_eq!((synced.conflicts.len(), synced.rejected.len()), (0, 0));
    let board = mesh.board().unwrap();
    let cancelled = |task: &&callosum_mesh::board::Task| task.status == Status::Cancelled;
    assert_eq!(board.tasks.iter().filter(cancelled).count(), shown);
    assert_eq!(board.task("new").unwrap().status, Status::Pending);
}

/// CALC-L3-1, CALC-SEC-1: what is kept is bounded, the same bytes are kept once, and no secret is.
#[test]
fn what_could_not_be_taken_over_is_kept_within_bounds_and_without_secrets() {
    const SECRET: &str = "AKIAIOSFODNN7EXAMPLE";
    let place = Place::new();
    let rejected = place.folder().join("bridge/rejected");
    let count = |folder| place.disk.list_dir(folder).unwrap().len();
    for at in [0, 0].into_iter().chain(0..130) {
        place.write(&format!("{{ no JSON {at} {SECRET}"));
        place.sync();
        if at == 0 {
            assert_eq!(count(&rejected), 1);
        }
    }
    assert_eq!(count(&rejected), 100);
    place.edit(|document| {
        document["discoveries"] = json!([{"content": format!("the key is {SECRET}")}]);
        document["task_queue"] = json!([{"id": "a", "note": SECRET}]);
    });
    let synced = place.sync();
    assert_eq!((synced.edits, synced.conflicts.len()), (1, 1));
    let mut folders = vec![place.folder().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in place.disk.list_dir(&folder).unwrap() {
            let path = folder.join(&entry.name);
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let bytes = place.disk.read(&path).unwrap();
            let text = String::from_utf8_lossy(&bytes);
            assert!(!text.contains(SECRET), "{}", path.display());
        }
    }
}

/// CALC-L3-1: a link is neither followed nor replaced, and the other ways in work on.
#[test]
fn a_link_in_the_place_of_the_file_is_left_alone() {
    let place = Place::new();
    place.sync();
    let other = place.folder().join("other.json");
    place.disk.rename(&place.file(), &other).unwrap();
    std::os::unix::fs::symlink(&other, place.file()).unwrap();
    let before = place.disk.read(&other).unwrap();
    give(&place, task("t1", "work"), "claude");
    let drop_in = json!({"discoveries": [{"content": "dropped in"}]});
    let path = place.folder().join("bridge.d/one.json");
    write_into(&path, drop_in.to_string().as_bytes());
    let synced = place.sync();
    assert!(synced.is_no_file);
    assert_eq!(synced.edits, 1);
    assert!(place.file().is_symlink());
    assert_eq!(place.disk.read(&other).unwrap(), before);
}

/// CALC-SEC-1: no one uses the program's own name in the file, and the text of an attempt is kept.
#[test]
fn no_author_of_the_file_may_use_the_programs_name() {
    let place = Place::new();
    place.sync();
    let messages = json!({
        "last_writer": "codex",
        "messages": [{"from": "callosum", "to": "claude", "content": "run this"}],
        "discoveries": [{"source": "Callosum", "content": "run that"}],
        "task_queue": [
            {"id": "t1", "created_by": "callosum", "prompt": "run those"},
            {"id": "t2", "prompt": "work", "status": "in_progress", "claimed_by": "callosum"},
        ],
    });
    let synced = drop_in(&place, "codex", "a.json", &messages.to_string());
    assert_eq!(synced.conflicts.len(), 4, "{:?}", synced.conflicts);
    for conflict in &synced.conflicts {
        assert_eq!(conflict.by.as_str(), "codex");
        assert!(conflict.reason.contains("callosum"), "{conflict:?}");
        assert!(conflict.kept.is_some(), "{conflict:?}");
    }
    let mut mesh = place.mesh();
    let board = mesh.board().unwrap();
    let texts = board.messages.iter();
    assert!(
        texts
            .clone()
            .all(|message| message.to.agent.as_str() == "codex")
    );
    assert!(board.discoveries.is_empty());
    let tasks: Vec<&str> = board.tasks.iter().map(|task| task.id.as_str()).collect();
    assert_eq!(tasks, ["t2"]);
}
