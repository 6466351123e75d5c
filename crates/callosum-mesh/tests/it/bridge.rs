//! The bridge file: edited by hand and by old scripts, without losing what others did.

use std::{
    thread,
    time::{Duration, Instant},
};

use callosum_host::OpenHow;
use callosum_mesh::{
    board::Status,
    bridge::{Bridge, WriteDelay},
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::place::{Place, claim, refused, task, voice, write_into};

fn contents(list: &Value) -> Vec<String> {
    let items = list.as_array().expect("it is a list").iter();
    items
        .map(|item| item["content"].as_str().expect("a text").to_owned())
        .collect()
}

fn push(list: &mut Value, item: Value) {
    list.as_array_mut().expect("it is a list").push(item);
}

fn discovery(content: &str) -> Value {
    json!({"content": content, "source": "gemini-cli", "timestamp": "2026-03-09T10:00:00Z"})
}

/// CALC-ROUTE-1, CALC-L3-1: an unknown category stays as its author wrote it, and the author gets
/// one message with the categories that are allowed.
#[test]
fn an_unknown_category_by_hand_is_kept_and_reported() {
    let place = Place::new();
    let task =
        |id: &str, category: Value| json!({"id": id, "prompt": "sum up", "category": category});
    let text = json!({
        "last_writer": "codex",
        "task_queue": [task("a", "maths".into()), task("b", "crm-math".into()), task("c", Value::Null)],
    });
    place.write(&text.to_string());
    let synced = place.sync();
    let reported: Vec<_> = synced
        .conflicts
        .iter()
        .map(|reported| reported.item.as_str())
        .collect();
    assert_eq!(reported, ["task_queue `a`"]);
    let shown = place.document();
    assert_eq!(shown["task_queue"][0]["category"], "maths");
    assert_eq!(shown["task_queue"][0]["assigned_to"], Value::Null);
    let reported = shown["messages"][0]["content"].as_str().unwrap();
    assert!(
        reported.contains("there is no category \"maths\" (allowed: ios-build, "),
        "{reported}"
    );
    assert_eq!(shown["messages"][0]["to"], "codex");
    assert!(place.sync().is_quiet());
    // A new edit is reported again.
    let mut edited = shown;
    edited["task_queue"][1]["category"] = "sums".into();
    edited["last_writer"] = "gemini-cli".into();
    place.write(&edited.to_string());
    let synced = place.sync();
    let reported: Vec<_> = synced
        .conflicts
        .iter()
        .map(|reported| reported.item.as_str())
        .collect();
    assert_eq!(reported, ["task_queue `b`"]);
    assert_eq!(place.document()["task_queue"][1]["category"], "sums");
}

/// CALC-L3-1: the seed's own example, written by a script that knows nothing of us.
#[test]
fn a_file_as_the_seed_writes_it_is_taken_over() {
    let place = Place::new();
    let text = json!({
        "version": "2.0.0", "last_updated": "2026-03-09T10:00:00Z", "last_writer": "claude-code",
        "active_evolution": "evo-7",
        "task_queue": [{
            "id": "7d1c", "assigned_to": "gemini-cli", "status": "pending", "priority": 1,
            "prompt": "Review the change", "output_file": "/tmp/review.md",
            "created_by": "claude-code", "created_at": "2026-03-09T10:00:00Z", "completed_at": null,
            "deadline": "noon",
        }],
        "account_state": {"mac1_account": {"email": "a@example.com", "status": "active"}},
        "discoveries": [discovery("a conflict of versions")],
        "messages": [{
            "from": "codex", "to": "claude-code", "content": "look at the tests",
            "timestamp": "2026-03-09T10:00:00Z",
        }],
        "notes_of_mine": ["kept"],
    });
    place.write(&text.to_string());
    let synced = place.sync();
    assert_eq!(synced.conflicts, []);
    let mut mesh = place.mesh();
    let board = mesh.board().unwrap();
    let task = board.task("7d1c").unwrap();
    assert_eq!(task.assigned_to.as_ref().unwrap().as_str(), "gemini-cli");
    assert_eq!(task.created_at.to_string(), "2026-03-09T10:00:00Z");
    assert_eq!(task.other["deadline"], "noon");
    assert_eq!(board.messages[0].from.as_str(), "codex");
    assert_eq!(board.discoveries[0].source.as_str(), "gemini-cli");
    let shown = place.document();
    for key in [
        "version",
        "active_evolution",
        "account_state",
        "notes_of_mine",
    ] {
        assert_eq!(shown[key], text[key], "{key}");
    }
    for (key, value) in text["task_queue"][0].as_object().unwrap() {
        assert_eq!(&shown["task_queue"][0][key], value, "{key}");
    }
    assert!(shown["revision"].as_u64().unwrap() > 0);
    // What was taken over once is not taken over again.
    let before = place.events().len();
    assert!(!place.sync().is_written);
    assert_eq!(place.events().len(), before);
}

/// CALC-L3-1: two who began with the same file, and a third whose words went another way.
#[test]
fn additions_from_the_same_beginning_all_survive() {
    let place = Place::new();
    place.sync();
    let mut one = place.document();
    let mut other = one.clone();
    push(&mut one["discoveries"], discovery("first"));
    push(&mut other["discoveries"], discovery("second"));
    place.write(&one.to_string());
    place.sync();
    place
        .mesh()
        .give(task("t1", "third"), &voice("codex"))
        .unwrap();
    place.write(&other.to_string());
    place.sync();
    assert_eq!(
        contents(&place.document()["discoveries"]),
        ["first", "second"]
    );
    assert_eq!(place.document()["task_queue"][0]["prompt"], "third");
}

/// CALC-L3-1: status changes by hand follow the same rules as the verbs.
#[test]
fn a_task_is_claimed_and_completed_by_hand() {
    let place = Place::new();
    place
        .mesh()
        .give(task("t1", "work"), &voice("claude"))
        .unwrap();
    place.sync();
    place.edit(|document| {
        document["last_writer"] = "gemini-cli".into();
        document["task_queue"][0]["status"] = "in_progress".into();
    });
    assert_eq!(place.sync().edits, 1);
    let mut mesh = place.mesh();
    let claimed = mesh.board().unwrap().task("t1").unwrap().clone();
    assert_eq!(claimed.claim.unwrap().by.as_str(), "gemini-cli");
    refused(mesh.give(claim("t1"), &voice("codex")));
    place.edit(|document| {
        document["task_queue"][0]["status"] = "complete".into();
        document["task_queue"][0]["result"] = "in /tmp/x".into();
        document["task_queue"][0]["completed_at"] = "2026-03-09T11:00:00Z".into();
    });
    assert_eq!(place.sync().edits, 1);
    let task = &place.document()["task_queue"][0];
    assert_eq!(task["status"], "complete");
    assert_eq!(task["result"], "in /tmp/x");
    assert_eq!(task["completed_at"], "2026-03-09T11:00:00Z");
}

/// CALC-L3-1: the second author who claims the same task gets a message, and so does everyone else.
#[test]
fn a_claim_by_hand_of_what_another_has_is_a_conflict() {
    let place = Place::new();
    place
        .mesh()
        .give(task("t1", "work"), &voice("claude"))
        .unwrap();
    place.sync();
    let mut stale = place.document();
    place.mesh().give(claim("t1"), &voice("codex")).unwrap();
    stale["last_writer"] = "gemini-cli".into();
    stale["task_queue"][0]["status"] = "in_progress".into();
    stale["task_queue"][0]["priority"] = 2.into();
    place.write(&stale.to_string());
    let synced = place.sync();
    // No one else changed the priority.
    assert_eq!(synced.conflicts.len(), 1, "{:?}", synced.conflicts);
    assert_eq!(synced.conflicts[0].by.as_str(), "gemini-cli");
    assert_eq!(place.document()["task_queue"][0]["claimed_by"], "codex");
    assert_eq!(place.document()["task_queue"][0]["priority"], 2);
    let mut stale = place.document();
    place
        .mesh()
        .give(
            callosum_mesh::board::Command::Change {
                task: "t1".to_owned(),
                set: json!({"prompt": "other work"}).as_object().unwrap().clone(),
            },
            &voice("claude"),
        )
        .unwrap();
    stale["last_writer"] = "reviewer".into();
    stale["task_queue"][0]["prompt"] = "my work".into();
    stale["task_queue"][0]["status"] = "complete".into();
    place.write(&stale.to_string());
    let synced = place.sync();
    assert_eq!(synced.conflicts.len(), 2, "{:?}", synced.conflicts);
    assert_eq!(place.document()["task_queue"][0]["prompt"], "other work");
    assert_eq!(place.document()["task_queue"][0]["status"], "in_progress");
    assert_eq!(place.events_of_topic("bridge.conflict").len(), 3);
    let mut mesh = place.mesh();
    let reported = mesh.board().unwrap().messages.iter();
    let reported: Vec<_> = reported.map(|message| message.to.agent.as_str()).collect();
    assert_eq!(reported, ["gemini-cli", "reviewer", "reviewer"]);
}

#[test]
fn removed_items_go_unless_another_changed_them_since() {
    let place = Place::new();
    let mut mesh = place.mesh();
    for id in ["t1", "t2"] {
        mesh.give(task(id, "work"), &voice("claude")).unwrap();
    }
    place.sync();
    let mut stale = place.document();
    mesh.give(claim("t2"), &voice("codex")).unwrap();
    stale["task_queue"] = json!([]);
    place.write(&stale.to_string());
    let synced = place.sync();
    assert_eq!(synced.conflicts.len(), 1, "{:?}", synced.conflicts);
    let tasks = place.document()["task_queue"].clone();
    assert_eq!(tasks.as_array().unwrap().len(), 1);
    assert_eq!(tasks[0]["id"], "t2");
    let board = mesh.board().unwrap();
    assert_eq!(board.task("t1").unwrap().status, Status::Cancelled);
}

/// CALC-L3-1: "invalid JSON never resets anything".
#[test]
fn invalid_json_is_kept_and_its_author_gets_the_path() {
    let place = Place::new();
    place
        .mesh()
        .give(task("t1", "work"), &voice("claude"))
        .unwrap();
    place.sync();
    let broken = place
        .text()
        .replace(
            "\"last_writer\": \"callosum\"",
            "\"last_writer\": \"codex\"",
        )
        .replace("\"task_queue\": [", "oops [");
    place.write(&broken);
    let synced = place.sync();
    assert_eq!(synced.rejected.len(), 1);
    let rejected = &synced.rejected[0];
    assert!(
        rejected.error.to_string().starts_with("line "),
        "{}",
        rejected.error
    );
    assert_eq!(place.disk.read(&rejected.kept).unwrap(), broken.as_bytes());
    assert_eq!(place.document()["task_queue"][0]["prompt"], "work");
    let mut mesh = place.mesh();
    let message = mesh.board().unwrap().messages[0].clone();
    assert!(message.content.contains("line "), "{}", message.content);
    // An empty file, as of one whose disk was full, costs nothing either.
    place.write("");
    place.sync();
    assert_eq!(place.document()["task_queue"][0]["prompt"], "work");
    place.disk.remove_file(&place.file()).unwrap();
    place.sync();
    assert_eq!(place.document()["task_queue"][0]["prompt"], "work");
}

#[test]
fn items_that_are_none_cost_no_other() {
    let place = Place::new();
    place.sync();
    place.edit(|document| {
        document["discoveries"] =
            json!([7, {"source": "codex"}, discovery("sound"), {"id": {}, "content": "x"}]);
        document["messages"] = json!("none");
        document["task_queue"] =
            json!([{"id": "a", "prompt": "p", "status": "maybe"}, {"id": "a", "prompt": "twice"}]);
    });
    let synced = place.sync();
    assert_eq!(synced.conflicts.len(), 6, "{:#?}", synced.conflicts);
    assert_eq!(contents(&place.document()["discoveries"]), ["sound"]);
    assert_eq!(place.document()["task_queue"][0]["prompt"], "p");
    assert_eq!(place.document()["messages"], json!([]));
}

/// CALC-L3-1: bytes that reach the file after it was exchanged are read again.
#[test]
fn bytes_that_come_late_are_taken_over() {
    let place = Place::new();
    place.sync();
    let file = place.disk.open(&place.file(), OpenHow::READ_WRITE).unwrap();
    let mut late = place.document();
    push(&mut late["discoveries"], discovery("late"));
    place
        .mesh()
        .give(task("t1", "work"), &voice("claude"))
        .unwrap();
    place.sync();
    assert_eq!(place.document()["task_queue"][0]["id"], "t1");
    file.set_len(0).unwrap();
    file.write_at(late.to_string().as_bytes(), 0).unwrap();
    place.sync();
    assert_eq!(contents(&place.document()["discoveries"]), ["late"]);
    assert_eq!(place.document()["task_queue"][0]["id"], "t1");
}

/// CALC-L3-1: a lossless way in for programs that can only write files.
#[test]
fn files_that_are_dropped_in_are_taken_over_and_removed() {
    let place = Place::new();
    place.sync();
    let folder = place.folder().join("bridge.d/gemini-cli");
    place.disk.create_dir_all(&folder).unwrap();
    let drop_in = json!({"last_writer": "gemini-cli", "discoveries": [discovery("dropped in")], "task_queue": [{"prompt": "do it", "assigned_to": "codex"}]});
    write_into(&folder.join("one.json"), drop_in.to_string().as_bytes());
    write_into(&folder.join(".hidden.json"), b"{}");
    // It may still be written, and is left until it is older; on a busy machine it gets older by
    // itself.
    let is_left = |_: &u8| {
        write_into(&folder.join("two.json"), b"{\"discoveries\": [");
        place.sync();
        place.disk.exists(&folder.join("two.json")).unwrap()
    };
    assert!((0..100_u8).find(is_left).is_some());
    assert_eq!(contents(&place.document()["discoveries"]), ["dropped in"]);
    assert_eq!(
        place.document()["task_queue"][0]["created_by"],
        "gemini-cli"
    );
    assert!(!place.disk.exists(&folder.join("one.json")).unwrap());
    write_into(
        &folder.join("two.json"),
        json!({"discoveries": [discovery("whole")]})
            .to_string()
            .as_bytes(),
    );
    place.sync();
    assert_eq!(
        contents(&place.document()["discoveries"]),
        ["dropped in", "whole"]
    );
}

/// CALC-L3-1: six who read, think and write back, as agents do.
#[test]
fn six_who_edit_by_hand_do_not_undo_one_another() {
    const EDITORS: usize = 6;
    const EDITS: usize = 12;
    let place = Place::new();
    place.sync();
    let is_over = std::sync::atomic::AtomicBool::new(false);
    let is_over = &is_over;
    let place = &place;
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut mesh = place.mesh();
            let bridge = Bridge::of(&place.disk, &mesh);
            while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                bridge.sync(&mut mesh).unwrap();
                thread::sleep(Duration::from_millis(1));
            }
        });
        let editors: Vec<_> = (0..EDITORS)
            .map(|editor| {
                scope.spawn(move || {
                    let mut random = editor as u64 * 7919 + 1;
                    for edit in 0..EDITS {
                        let started = Instant::now();
                        let mut document = loop {
                            if let Ok(document) = serde_json::from_str::<Value>(&place.text()) {
                                break document;
                            }
                            assert!(started.elapsed() < Duration::from_mins(1));
                            thread::sleep(Duration::from_millis(1));
                        };
                        random = random
                            .wrapping_mul(6_364_136_223_846_793_005)
                            .wrapping_add(1);
                        thread::sleep(Duration::from_millis(random >> 32 & 0xff));
                        let item = discovery(&format!("{editor}-{edit}"));
                        push(&mut document["discoveries"], item);
                        place.write(&document.to_string());
                    }
                })
            })
            .collect();
        for editor in editors {
            editor.join().unwrap();
        }
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    place.sync();
    let reported = place.events_of_topic("calc.discovery").len();
    // Where the last writer wins, three of four are lost.
    assert!(
        reported * 2 >= EDITORS * EDITS,
        "{reported} of {}",
        EDITORS * EDITS
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Everything that two editors add to the same projection is there, in any order of syncs.
    #[test]
    fn no_edit_undoes_what_others_did(
        edits in prop::collection::vec((0_usize..3, 0_u32..1000, any::<bool>()), 1..12),
    ) {
        let place = Place::new();
        place.sync();
        let mut copies = vec![place.document(); 3];
        let mut all = Vec::new();
        for (who, number, is_synced) in edits {
            let content = format!("{who}-{number}");
            push(&mut copies[who]["discoveries"], discovery(&content));
            if !all.contains(&content) {
                all.push(content);
            }
            place.write(&copies[who].to_string());
            place.sync();
            if is_synced {
                copies[who] = place.document();
            }
        }
        let mut reported = contents(&place.document()["discoveries"]);
        reported.sort();
        all.sort();
        prop_assert_eq!(reported, all);
    }
}

/// CALC-L3-1: text that another author has overwritten is applied if it was read in between. Our
/// own text and half-written text are ignored.
#[test]
fn what_was_read_between_two_who_overwrite_one_another_is_taken_over() {
    let place = Place::new();
    place.sync();
    let begun = place.document();
    let with = |content: &str| {
        let mut document = begun.clone();
        let found = json!({"content": content, "source": "codex"});
        document["discoveries"].as_array_mut().unwrap().push(found);
        document.to_string()
    };
    let ours = place.text().into_bytes();
    let cut = with("cut").into_bytes()[..40].to_vec();
    let wrong = b"{\"last_writer\": \"codex\", oh}".to_vec();
    place.write(&with("third"));
    let before = [
        ours,
        with("first").into_bytes(),
        cut,
        wrong,
        with("second").into_bytes(),
    ];
    let mut mesh = place.mesh();
    let bridge = Bridge::of(&place.disk, &mesh);
    let synced = bridge.sync_with(&mut mesh, &before, 0, &mut WriteDelay::default());
    let synced = synced.unwrap();
    assert_eq!(
        (synced.edits, synced.conflicts.len(), synced.rejected.len()),
        (3, 0, 1)
    );
    let found = &mesh.board().unwrap().discoveries;
    let found: Vec<&str> = found.iter().map(|found| found.content.as_str()).collect();
    assert_eq!(found, ["first", "second", "third"]);
    assert!(place.sync().is_quiet());
    assert_eq!(place.document()["discoveries"].as_array().unwrap().len(), 3);
}

/// CALC-L3-1: of two authors who write the file at once, the last text may be whole, before the
/// rest of a longer one: the whole text is applied, and the file is reported as rejected.
#[test]
fn what_is_whole_before_the_rest_of_another_is_taken_over() {
    let place = Place::new();
    place.sync();
    let with = |content: &str| {
        let mut document = place.document();
        push(&mut document["discoveries"], discovery(content));
        document.to_string()
    };
    let (short, long) = (with("short"), with(&"long ".repeat(20)));
    let mixed = format!("{short}{}", &long[short.len()..]);
    place.write(&mixed);
    let synced = place.sync();
    assert_eq!((synced.edits, synced.rejected.len()), (1, 1));
    assert_eq!(contents(&place.document()["discoveries"]), ["short"]);
    assert!(place.sync().is_quiet());
}

/// CALC-L3-1: an untouched item of a long file is neither an edit nor a conflict, no matter what
/// others did to the rest since.
#[test]
fn of_a_file_that_is_full_only_what_was_changed_counts() {
    let place = Place::new();
    let tasks = (0..400).map(|nth| json!({"id": format!("t{nth}"), "prompt": "p", "team": "a"}));
    let tasks: Vec<Value> = tasks.collect();
    place.write(&json!({"last_writer": "codex", "task_queue": tasks}).to_string());
    assert_eq!(place.sync().edits, 400);
    let (mut one, mut two) = (place.document(), place.document());
    one["task_queue"][7]["priority"] = 1.into();
    push(
        &mut one["task_queue"],
        json!({"id": "new", "prompt": "q", "created_by": "qwen"}),
    );
    place.write(&one.to_string());
    assert_eq!(place.sync().edits, 2);
    two["task_queue"][7]["prompt"] = "another".into();
    two["task_queue"].as_array_mut().unwrap().remove(9);
    push(
        &mut two["task_queue"],
        json!({"id": "newer", "prompt": "q", "created_by": "qwen"}),
    );
    place.write(&two.to_string());
    let synced = place.sync();
    assert_eq!((synced.edits, synced.conflicts.len()), (3, 0));
    let mut mesh = place.mesh();
    let board = mesh.board().unwrap();
    let seventh = board.task("t7").unwrap();
    assert_eq!((seventh.priority, seventh.prompt.as_str()), (1, "another"));
    assert_eq!(board.task("t9").unwrap().status, Status::Cancelled);
    assert_eq!(board.tasks.len(), 402);
}

/// CALC-L3-1: what is at being written when another file is put in its place is not waited for, and is taken over where it is set aside.
#[test]
fn what_is_being_written_while_the_file_is_exchanged_is_taken_over_afterwards() {
    let place = Place::new();
    place.sync();
    let mut document = place.document();
    push(&mut document["discoveries"], discovery("late"));
    let bytes = document.to_string().into_bytes();
    let mut mesh = place.mesh();
    let (disk, path) = (place.disk.clone(), place.file());
    // The writer has begun before the exchange, and goes on after it.
    let open = std::sync::Arc::new(std::sync::Mutex::new(None));
    let begun = std::sync::Arc::clone(&open);
    let half = bytes[..20].to_vec();
    let bridge = Bridge::of(&place.disk, &mesh).telling(move |_| {
        let file = disk.open(&path, OpenHow::READ_WRITE_CREATE).unwrap();
        file.set_len(0).unwrap();
        file.write_at(&half, 0).unwrap();
        *begun.lock().unwrap() = Some(file);
    });
    mesh.give(
        callosum_mesh::board::Command::Share {
            id: "d1".to_owned(),
            content: "first".to_owned(),
        },
        &voice("codex"),
    )
    .unwrap();
    let synced = bridge.sync(&mut mesh).unwrap();
    assert!(synced.is_written && synced.is_quiet(), "{synced:?}");
    let file = open.lock().unwrap().take().expect("it was exchanged");
    file.write_at(&bytes[20..], 20).unwrap();
    drop(file);
    assert_eq!(place.sync().edits, 1);
    assert_eq!(
        contents(&place.document()["discoveries"]),
        ["first", "late"]
    );
}
