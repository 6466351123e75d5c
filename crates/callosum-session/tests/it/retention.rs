//! Old trajectories are compressed, read all the same, and gone after a year.

use std::path::PathBuf;

use callosum_session::trajectory::{Pruned, Retention};

use crate::place::Place;

fn put(place: &Place, name: &str, text: &[u8]) -> PathBuf {
    let path = place.zones.trajectories().join(name);
    place.disk.create_dir_all(path.parent().unwrap()).unwrap();
    place.disk.replace(&path, text, 0o644).unwrap();
    path
}

fn prune(place: &Place) -> Pruned {
    let held = place.session().hold().unwrap();
    held.prune(&Retention::default()).unwrap()
}

fn claims(place: &Place) -> Vec<String> {
    let read = place.session().trajectory().since_handoff().unwrap();
    let claims = read.records.iter();
    claims
        .map(|(_, record)| record.text("claim").to_owned())
        .collect()
}

fn line(claim: &str) -> String {
    format!("{{\"phase\":\"cite\",\"claim\":\"{claim}\"}}\n")
}

/// LOA-TRJ-1: after 30 days a trajectory is compressed, and its claims count as before.
#[test]
fn an_old_trajectory_is_compressed_and_read_all_the_same() {
    let place = Place::new();
    let old = put(
        &place,
        "implementing-tasks-2025-12-02.jsonl",
        line("old").as_bytes(),
    );
    let others = put(&place, "reviewing-2025-11-01.jsonl", b"{torn");
    let kept = [
        "implementing-tasks-2025-12-03.jsonl",
        "implementing-tasks-2099-01-01.jsonl",
        "notes-2025-01-01.txt",
        "x-2025-13-01.jsonl",
    ]
    .map(|name| put(&place, name, line("kept").as_bytes()));
    let before = claims(&place);
    assert_eq!(before, ["old", "kept", "kept"]);
    let pruned = prune(&place);
    let folder = "loa-grimoire/a2a/trajectory";
    assert_eq!(
        pruned.archived,
        [
            format!("{folder}/implementing-tasks-2025-12-02.jsonl"),
            format!("{folder}/reviewing-2025-11-01.jsonl")
        ]
    );
    assert!(!place.disk.exists(&old).unwrap() && !place.disk.exists(&others).unwrap());
    assert!(kept.iter().all(|path| place.disk.exists(path).unwrap()));
    assert_eq!(claims(&place), before);
    assert_eq!(prune(&place), Pruned::default());
}

/// LOA-TRJ-1: a compressed trajectory is gone after a year, and only that; not in the run that compressed it, since a clock may be wrong once.
#[test]
fn a_compressed_trajectory_is_gone_after_a_year() {
    let place = Place::new();
    put(&place, "a-2024-12-01.jsonl", line("x").as_bytes());
    put(&place, "a-2025-06-01.jsonl", line("x").as_bytes());
    put(&place, "archive/notes.gz", b"mine");
    let pruned = prune(&place);
    assert_eq!(pruned.archived.len(), 2);
    assert_eq!(pruned.removed, [""; 0]);
    let pruned = prune(&place);
    let archive = "loa-grimoire/a2a/trajectory/archive";
    assert_eq!(pruned.removed, [format!("{archive}/a-2024-12-01.jsonl.gz")]);
    assert_eq!(prune(&place), Pruned::default());
}

/// LOA-TRJ-1: what is not what it was when it was compressed is left and named, never lost.
#[test]
fn nothing_is_lost_where_a_step_was_cut_or_an_archive_is_broken() {
    let place = Place::new();
    let name = "implementing-tasks-2025-11-01.jsonl";
    put(&place, name, line("one").as_bytes());
    prune(&place);
    let archive = format!("archive/{name}.gz");
    let compressed = place
        .disk
        .read(&place.zones.trajectories().join(&archive))
        .unwrap();

    // Killed between the two steps; then written to again; then something else.
    put(&place, name, line("one").as_bytes());
    assert_eq!(prune(&place).archived.len(), 1);
    put(&place, name, [line("one"), line("two")].concat().as_bytes());
    assert_eq!(prune(&place).archived.len(), 1);
    assert_eq!(claims(&place), ["one", "two"]);
    let other = put(&place, name, line("three").as_bytes());
    let pruned = prune(&place);
    assert_eq!(pruned.left[0].1, "its archive has different content");
    assert!(place.disk.exists(&other).unwrap());
    assert_eq!(claims(&place), ["one", "two", "three"]);

    put(&place, &archive, &compressed[..compressed.len() - 9]);
    let read = place.session().trajectory().since_handoff().unwrap();
    assert_eq!(read.bad_lines(), 1);
    assert_eq!(prune(&place).left.len(), 1);
}
