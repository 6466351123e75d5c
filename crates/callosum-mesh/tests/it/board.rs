//! The board: what is remembered of it follows from the log; and a lease on a file that is not there.

use callosum_mesh::{
    Author, MeshError,
    board::{Board, BoardError, Command},
    event::Draft,
    journal::{Cursor, Durability, Retention},
};
use serde_json::json;

use crate::place::{Place, claim, refused, send, task, voice};

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
        &(|other: &mut serde_json::Value| other["format"] = 3.into())
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

/// CALC-FAIL-1: the durable snapshot of the board has what the log has dropped, even if the other
/// snapshot is lost. If neither is there, the board reports that.
#[test]
fn a_board_outlives_the_files_of_the_log_that_it_follows_from() {
    let place = Place::new();
    let retention = Retention {
        file_bytes: 20_000,
        total_bytes: 60_000,
    };
    let mut mesh = place.mesh().with_retention(retention);
    mesh.give(task("old", "work"), &voice("claude")).unwrap();
    send(&mut mesh, "m");
    for _ in 0..400 {
        let draft = Draft::new("a.b".parse().unwrap(), "codex".parse().unwrap());
        mesh.publish(draft, Durability::Logged).unwrap();
        mesh.board().unwrap();
    }
    let (events, _) = {
        let mut reader = mesh.journal().read_after(&Cursor::START);
        let batch = reader.next_batch(1).unwrap();
        (batch.events, batch.notices)
    };
    assert!(events[0].seq > 100, "the first files are gone");
    let board = mesh.board().unwrap().clone();
    let path = |name: &str| place.folder().join(name);
    place.disk.remove_file(&path("board.json")).unwrap();
    assert_eq!(*place.mesh().board().unwrap(), board);
    // It remembers what the log has lost, as after a loss of power.
    let mut ahead = serde_json::to_value(&board).unwrap();
    ahead["seq"] = 100_000.into();
    let ahead = serde_json::json!({
        "format": 4, "origin": mesh.journal().origin(), "board": ahead,
    });
    crate::place::write_into(&path("board.json"), ahead.to_string().as_bytes());
    assert_eq!(*place.mesh().board().unwrap(), board);
    // It is as of an event that the log has dropped.
    let early = serde_json::json!({
        "format": 4, "origin": mesh.journal().origin(),
        "board": serde_json::to_value(Board::default()).unwrap(),
    });
    crate::place::write_into(&path("board.json"), early.to_string().as_bytes());
    assert_eq!(*place.mesh().board().unwrap(), board);
    let mut whole = place.mesh();
    whole.board().unwrap();
    assert_eq!(whole.lost(), 0);
    for name in ["board.json", "board.kept.json"] {
        drop(place.disk.remove_file(&path(name)));
    }
    let mut bare = place.mesh();
    assert!(bare.board().unwrap().tasks.is_empty());
    assert_eq!(bare.lost(), events[0].seq - 1);
}

/// CALC-FAIL-1: what a version before has kept of what the log has dropped since is read, whole.
#[test]
fn what_the_version_before_has_kept_is_read() {
    let place = Place::new();
    let retention = Retention {
        file_bytes: 2000,
        total_bytes: 6000,
    };
    let mut mesh = place.mesh().with_retention(retention);
    for _ in 0..100 {
        let draft = Draft::new("a.b".parse().unwrap(), "codex".parse().unwrap());
        mesh.publish(draft, Durability::Logged).unwrap();
    }
    let first = {
        let mut reader = mesh.journal().read_after(&Cursor::START);
        reader.next_batch(1).unwrap().events[0].seq
    };
    assert!(first > 50, "the first files are gone");
    let mut kept: serde_json::Value =
        serde_json::from_str(include_str!("../formats/board-4.json")).unwrap();
    kept["origin"] = mesh.journal().origin().into();
    kept["board"]["seq"] = (first - 1).into();
    for name in ["board.json", "board.kept.json"] {
        let path = place.folder().join(name);
        drop(place.disk.remove_file(&path));
        crate::place::write_into(&path, kept.to_string().as_bytes());
        let mut mesh = place.mesh();
        let board = serde_json::to_value(mesh.board().unwrap()).unwrap();
        for key in [
            "rev",
            "last_writer",
            "tasks",
            "messages",
            "discoveries",
            "leases",
            "sessions",
            "heard",
            "fields",
        ] {
            assert_eq!(board[key], kept["board"][key], "{name} {key}");
        }
        assert_eq!(mesh.lost(), 0);
        place.disk.remove_file(&path).unwrap();
    }
}

/// CALC-FAIL-1: a full board rejects more items with an error, and keeps those that are there.
#[test]
fn a_full_board_refuses_more_and_loses_nothing() {
    let place = Place::new();
    let mut mesh = place.mesh();
    let message = |number: usize, bytes: usize| {
        let message = json!({
            "type": "calc.message", "source": "codex",
            "payload": {"id": format!("m{number}"), "to": "gemini-cli", "content": "x".repeat(bytes)},
        });
        Draft::read(&message).unwrap()
    };
    let left = |number: usize| {
        let task = json!({
            "type": "calc.task_handoff", "source": "codex", "payload": {"id": format!("t{number}"), "prompt": "x"},
        });
        Draft::read(&task).unwrap()
    };
    let lists = vec![
        (0..1000).map(|number| message(number, 1)).collect(),
        (1000..2000).map(|number| message(number, 1)).collect(),
        (0..2000).map(left).collect(),
    ];
    for list in mesh.publish_lists(lists).unwrap() {
        list.unwrap();
    }
    for draft in [message(2000, 1), left(2000)] {
        let Err(MeshError::Refused(refusal)) = mesh.publish(draft, Durability::Logged) else {
            panic!("it has room");
        };
        assert!(
            matches!(refusal, BoardError::Full { count: 2000, .. }),
            "{refusal}"
        );
    }
    let board = mesh.board().unwrap();
    assert_eq!((board.messages.len(), board.tasks.len()), (2000, 2000));
    mesh.give(
        Command::Cancel {
            task: "t7".to_owned(),
            reason: "r".to_owned(),
        },
        &voice("codex"),
    )
    .unwrap();
    mesh.publish(left(2000), Durability::Logged).unwrap();
    let other = Place::new();
    let mut mesh = other.mesh();
    let lists = vec![(0..64).map(|number| message(number, 32 * 1024)).collect()];
    mesh.publish_lists(lists).unwrap().remove(0).unwrap();
    let Err(MeshError::Refused(refusal)) = mesh.publish(message(64, 1), Durability::Logged) else {
        panic!("it has room");
    };
    assert!(
        matches!(refusal, BoardError::Full { count: 64, .. }),
        "{refusal}"
    );
}

/// CALC-PAT-2: a canceled task that another one needs is not forgotten as long as that one waits,
/// however many are over since: else any agent could begin it.
#[test]
fn what_a_task_waits_for_in_vain_is_not_forgotten() {
    let place = Place::new();
    let mut mesh = place.mesh();
    let about = |kind: &str, payload: serde_json::Value| {
        let event = json!({"type": kind, "source": "codex", "payload": payload});
        Draft::read(&event).unwrap()
    };
    let left = |id: &str| about("calc.task_handoff", json!({"id": id, "prompt": "x"}));
    let back = |id: &str| about("calc.task.cancelled", json!({"task": id, "reason": "r"}));
    let waiting = json!({"id": "waiting", "prompt": "x", "needs": ["gone"]});
    let others: Vec<String> = (0..600).map(|number| format!("t{number}")).collect();
    let lists = vec![
        vec![
            left("gone"),
            about("calc.task_handoff", waiting),
            back("gone"),
        ],
        others.iter().map(|id| left(id)).collect(),
        others.iter().map(|id| back(id)).collect(),
    ];
    for list in mesh.publish_lists(lists).unwrap() {
        list.unwrap();
    }
    let codex = voice("codex");
    let refused = mesh.give(claim("waiting"), &codex);
    assert!(
        matches!(
            refused,
            Err(MeshError::Refused(BoardError::NeedsWhatIsGone { .. }))
        ),
        "{refused:?}"
    );
    let needs_no_more = Command::Change {
        task: "waiting".to_owned(),
        set: [("needs".to_owned(), json!([]))].into_iter().collect(),
    };
    mesh.give(needs_no_more, &codex).unwrap();
    assert_eq!(mesh.board().unwrap().tasks.len(), 501);
}

/// CALC-FAIL-1: what is changed on the board has no more room than what is new on it.
#[test]
fn a_change_that_has_no_room_is_refused() {
    let place = Place::new();
    let mut mesh = place.mesh();
    let left = |number: usize| {
        let task = json!({
            "type": "calc.task_handoff", "source": "codex", "payload": {"id": format!("t{number}"), "prompt": "x"},
        });
        Draft::read(&task).unwrap()
    };
    let change = |number: usize, bytes: usize| {
        let change = json!({
            "type": "calc.task.changed", "source": "codex",
            "payload": {"task": format!("t{number}"), "set": {"prompt": "y".repeat(bytes)}},
        });
        Draft::read(&change).unwrap()
    };
    let lists = vec![
        (0..70).map(left).collect(),
        (0..63).map(|number| change(number, 32 * 1024)).collect(),
    ];
    for list in mesh.publish_lists(lists).unwrap() {
        list.unwrap();
    }
    let mut publish = |draft: Draft| mesh.publish(draft, Durability::Logged);
    let refused = publish(change(64, 32 * 1024));
    assert!(
        matches!(refused, Err(MeshError::Refused(BoardError::Full { .. }))),
        "{refused:?}"
    );
    publish(change(0, 1)).unwrap();
    publish(change(64, 32 * 1024)).unwrap();
}

/// CALC-FAIL-1: no file of the log is removed that a board follows from which is kept nowhere else.
#[test]
fn a_log_whose_board_is_not_kept_drops_nothing() {
    let place = Place::new();
    let retention = Retention {
        file_bytes: 2000,
        total_bytes: 6000,
    };
    let mut mesh = place.mesh();
    for number in 0..300 {
        mesh.give(task(&format!("t{number}"), "work"), &voice("claude"))
            .unwrap();
    }
    mesh.board().unwrap();
    assert!(
        place
            .disk
            .exists(&place.folder().join("board.json"))
            .unwrap()
    );
    let mut writer = place.mesh().with_retention(retention);
    for _ in 0..100 {
        let draft = Draft::new("a.b".parse().unwrap(), "codex".parse().unwrap());
        writer.publish(draft, Durability::Logged).unwrap();
    }
    let mut reader = writer.journal().read_after(&Cursor::START);
    assert_eq!(reader.next_batch(1).unwrap().events[0].seq, 1);
}

/// CALC-FAIL-1: the snapshot of the board has this form under this number. A change of the form, or
/// of what an event does to the board, raises `FORMAT` in `board_snapshot.rs` and the number here.
#[test]
fn the_form_of_what_is_remembered_has_one_number() {
    let place = Place::new();
    let mut mesh = place.mesh();
    let codex = Author {
        session_id: Some("s".to_owned()),
        ..voice("codex")
    };
    mesh.begin_session(&codex, None).unwrap();
    mesh.give(task("t", "work"), &voice("claude")).unwrap();
    mesh.give(claim("t"), &codex).unwrap();
    send(&mut mesh, "m");
    let share = Command::Share {
        id: "d".to_owned(),
        content: "c".to_owned(),
    };
    mesh.give(share, &codex).unwrap();
    let lease = Command::Lease {
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
    assert_eq!(remembered["format"], 7);
    for (value, expected) in [
        (&remembered, "format origin kept board"),
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
            "id from to content reply_to timestamp receipt evidence ttl_seconds expires session_id cwd rev",
        ),
        (
            &board["discoveries"][0],
            "id content source session_id timestamp cwd rev",
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

/// CALC-FUT-1: a file has one lease, no matter which of its paths is named, even before it exists.
#[test]
fn a_file_that_is_to_be_made_has_one_lease_by_any_path() {
    let place = Place::new();
    let tree = tempfile::tempdir().unwrap();
    let root = place.disk.canonicalize(tree.path()).unwrap();
    place.disk.create_dir_all(&root.join("src/deep")).unwrap();
    std::os::unix::fs::symlink(root.join("src/deep"), root.join("link")).unwrap();
    let absolute = |path: &str| format!("{}/{path}", root.display());
    let lease = |path: &str| Command::Lease {
        path: absolute(path),
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
            matches!(refused, BoardError::LeasedBy { .. }),
            "{path}: {refused}"
        );
    }
    let over_a_wire = json!({
        "type": "calc.lease.released", "source": "codex", "payload": {"path": absolute("src//x/../New.rs")},
    });
    let draft = Draft::read(&over_a_wire).unwrap();
    mesh.publish(draft, Durability::Logged).unwrap();
    let edited = [absolute("link/../New.rs")];
    mesh.lease_edited(&edited, &voice("gemini")).unwrap();
    let held: Vec<String> = mesh
        .board()
        .unwrap()
        .leases
        .iter()
        .map(|lease| lease.path.clone())
        .collect();
    assert_eq!(
        held,
        [absolute("src/deep/b/New.rs"), absolute("src/New.rs")]
    );
}
