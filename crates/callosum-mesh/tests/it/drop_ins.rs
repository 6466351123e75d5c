//! Files that are dropped in next to the bridge file.

use callosum_mesh::{
    board::{Command, Receipt},
    bridge::{Bridge, Synced},
};
use serde_json::{Value, json};

use crate::edits::{done, give, messages_to, only_conflict};
use crate::place::{Place, voice, write_into};

/// CALC-L3-1: a lossless way in, for any contents in any order.
#[test]
fn a_dropped_in_file_may_name_later_items_and_keeps_rejected_ones() {
    let place = Place::new();
    place.sync();
    let folder = place.folder().join("bridge.d/gemini-cli");
    place.disk.create_dir_all(&folder).unwrap();
    let drop_in = json!({"task_queue": [
        {"id": "f1", "prompt": "first", "needs": ["f2"]},
        {"id": "f2", "prompt": "second", "needs": ["f3"]},
        {"id": "f3", "prompt": "third"},
        {"id": "long", "prompt": "precious ".repeat(5000)},
    ]});
    write_into(&folder.join("one.json"), drop_in.to_string().as_bytes());
    let synced = place.sync();
    only_conflict(&place, &synced, "gemini-cli", "precious precious");
    let mut mesh = place.mesh();
    let board = mesh.board().unwrap();
    assert_eq!(board.task("f1").unwrap().needs, ["f2"]);
    assert_eq!(board.task("f3").unwrap().created_by.as_str(), "gemini-cli");
    assert!(board.task("long").is_none());
}

/// Drops a file into the folder of an agent, and brings file and log in line.
pub(crate) fn drop_in(place: &Place, agent: &str, name: &str, text: &str) -> Synced {
    let folder = place.folder().join("bridge.d").join(agent);
    let made = place.disk.create_dir_all(&folder);
    made.expect("a folder can be made");
    write_into(&folder.join(name), text.as_bytes());
    place.sync()
}

/// CALC-L3-1: an item that is repeated after it was done or read is added again, and one that is
/// read twice is added once.
#[test]
fn an_item_with_the_text_of_a_finished_one_is_added_again() {
    let place = Place::new();
    place.sync();
    let tasks = |place: &Place| place.events_of_topic("calc.task_handoff").len();
    let again = json!({"task_queue": [{"prompt": "run the tests"}]}).to_string();
    drop_in(&place, "codex", "a.json", &again);
    drop_in(&place, "codex", "b.json", &again);
    assert_eq!(tasks(&place), 1, "the first is not done");
    drop_in(&place, "gemini-cli", "c.json", &again);
    assert_eq!(tasks(&place), 2, "another's is another");
    let first = place.events_of_topic("calc.task_handoff")[0].payload["id"].clone();
    give(&place, done(first.as_str().unwrap(), "green"), "claude");
    drop_in(&place, "codex", "d.json", &again);
    assert_eq!(tasks(&place), 3);
    let say = |document: &mut Value| {
        let message = json!({"from": "codex", "to": "claude", "content": "tests pass"});
        document["messages"].as_array_mut().unwrap().push(message);
    };
    let sent = |place: &Place| place.events_of_topic("calc.message").len();
    place.edit(say);
    let open = place.text();
    place.sync();
    let read = |place: &Place| {
        let mut mesh = place.mesh();
        let waiting = mesh.board().unwrap().messages.iter();
        let waiting: Vec<String> = waiting
            .filter(|message| message.receipt.is_none())
            .map(|message| message.id.clone())
            .collect();
        for message in waiting {
            let order = Command::Move {
                message,
                receipt: Receipt::Acked,
                evidence: None,
            };
            mesh.give(order, &voice("claude")).unwrap();
        }
    };
    read(&place);
    place.sync();
    assert_eq!(sent(&place), 1);
    // Who has the file open since before it was read says nothing new.
    place.write(&open);
    place.sync();
    assert_eq!(sent(&place), 1);
    place.edit(say);
    place.sync();
    assert_eq!(sent(&place), 2);
    assert_eq!(place.events_of_topic("bridge.conflict").len(), 0);
}

/// CALC-L3-1: files that are never applied are named, and left where they are.
#[test]
fn what_is_dropped_in_and_never_taken_in_is_named() {
    let place = Place::new();
    place.sync();
    let folder = place.folder().join("bridge.d");
    place
        .disk
        .create_dir_all(&folder.join("codex/deep"))
        .unwrap();
    let whole = json!({"discoveries": [{"content": "x"}]}).to_string();
    for name in ["a.txt", "codex/deep/b.json", "codex/.c.json"] {
        write_into(&folder.join(name), whole.as_bytes());
    }
    std::os::unix::fs::symlink("a.txt", folder.join("d.json")).unwrap();
    place.sync();
    let bridge = Bridge::of(&place.disk, &place.mesh());
    let (added, strays) = bridge.waiting().unwrap();
    assert!(added.is_empty(), "{added:?}");
    let named: Vec<(String, &str)> = strays
        .iter()
        .map(|stray| {
            let path = stray.path.strip_prefix(&folder).unwrap();
            (path.to_string_lossy().into_owned(), stray.why)
        })
        .collect();
    let named: Vec<(&str, &str)> = named
        .iter()
        .map(|(path, why)| (path.as_str(), *why))
        .collect();
    assert_eq!(
        named,
        [
            ("a.txt", "does not end in .json"),
            ("codex/deep", "is a folder in an agent's folder"),
            ("d.json", "is a link"),
        ]
    );
}

/// CALC-L3-1: the owner of the folder gets a message about a file in it that is not JSON.
#[test]
fn the_folder_names_the_author_of_invalid_json() {
    let place = Place::new();
    place.sync();
    let folder = place.folder().join("bridge.d/codex");
    place.disk.create_dir_all(&folder).unwrap();
    write_into(&folder.join("a.json"), b"{\"task_queue\": [,]}");
    std::thread::sleep(std::time::Duration::from_millis(1100));
    let synced = place.sync();
    assert_eq!(synced.rejected.len(), 1, "{synced:?}");
    assert_eq!(
        place.events_of_topic("bridge.rejected")[0].payload["by"],
        "codex"
    );
    assert!(messages_to(&place, "codex")[0].contains("a.json was rejected"));
}

/// CALC-L3-1: another file that was put under the name of one that was taken in is taken in as well.
#[test]
fn a_drop_in_that_follows_another_of_its_name_is_taken_in() {
    let place = Place::new();
    place.sync();
    let path = place.folder().join("bridge.d/codex.json");
    for content in ["one", "two"] {
        let text = json!({"discoveries": [{"content": content, "source": "codex"}]}).to_string();
        place
            .disk
            .replace_unsynced(&path, text.as_bytes(), 0o600)
            .unwrap();
        place.sync();
        assert!(!place.disk.exists(&path).unwrap());
    }
    assert_eq!(place.mesh().board().unwrap().discoveries.len(), 2);
}
