//! Snapshots of what is named, alone or besides the tree.

use std::time::Duration;

use super::{super::*, ground::*};

fn also(names: &[&str]) -> Wanted {
    Wanted {
        also: names.iter().map(|name| (*name).to_owned()).collect(),
        ..labelled("named")
    }
}

/// CAKE-SNAP-1: a snapshot of named files is for when they are gone, all of them.
#[test]
fn named_files_come_back_from_folders_that_are_gone() {
    let ground = Fixture::new();
    ground.write("d/one.txt", "one\n");
    ground.write("f", "two\n");
    ground.write("other", "other\n");
    let store = ground.store();
    let wanted = Wanted {
        only: vec!["d".to_owned(), "f".to_owned()],
        ..labelled("named")
    };
    let snapshot = store.create(&wanted).unwrap();
    ground.run("rm", &["-r", "d", "f"]);
    let expected = pairs(&[("d/one.txt", "create"), ("f", "create")]);
    assert_eq!(list_changes(&store.changes(&snapshot).unwrap()), expected);
    assert!(!store.patch(&snapshot).unwrap().is_empty());
    let restored = store.restore(&snapshot).unwrap();
    assert_eq!(list_changes(&restored.changes), expected);
    assert_eq!(ground.text("d/one.txt").as_deref(), Some("one\n"));
    assert_eq!(ground.text("f").as_deref(), Some("two\n"));
    let expected = pairs(&[("d/one.txt", "remove"), ("f", "remove")]);
    let undone = store.restore(&restored.before).unwrap();
    assert_eq!(list_changes(&undone.changes), expected);
    assert_eq!(ground.text("other").as_deref(), Some("other\n"));
    let refused = store.create(&wanted).unwrap_err();
    assert!(
        matches!(refused, SnapshotError::Nothing { .. }),
        "{refused}"
    );
}

/// CAKE-SNAP-1: an ignored file is held if it is named, in addition to the tree, and by no later
/// snapshot.
#[test]
fn what_is_ignored_is_held_where_it_is_named() {
    let ground = Fixture::repository();
    let store = ground.store();
    let snapshot = store
        .create(&also(&["x.secret", "target", "gone"]))
        .unwrap();
    assert_eq!(snapshot.not_covered.named, [""; 0]);
    assert_eq!(snapshot.not_covered.ignored, [""; 0]);
    let plain = store.create(&labelled("plain")).unwrap();
    assert_eq!(plain.not_covered.ignored_count, 2);
    ground.run("rm", &["-r", "target", "x.secret", "a.txt"]);
    assert_eq!(
        list_changes(&store.changes(&plain).unwrap()),
        pairs(&[("a.txt", "create")])
    );
    let expected = pairs(&[
        ("a.txt", "create"),
        ("target/out", "create"),
        ("x.secret", "create"),
    ]);
    let restored = store.restore(&snapshot).unwrap();
    assert_eq!(list_changes(&restored.changes), expected);
    assert_eq!(ground.text("x.secret").as_deref(), Some("hush"));
    assert_eq!(ground.text("target/out").as_deref(), Some("built"));
    ground.write("x.secret", "changed since");
    ground.write("target/new", "made since");
    let expected = pairs(&[("target/new", "leave"), ("x.secret", "rewrite")]);
    let again = store.restore(&snapshot).unwrap();
    assert_eq!(list_changes(&again.changes), expected);
    store.restore(&again.before).unwrap();
    assert_eq!(ground.text("x.secret").as_deref(), Some("changed since"));
}

/// CAKE-SNAP-1: a folder that is named by a pattern is held with its contents, with any beginning
/// of the pattern.
#[test]
fn an_ignored_folder_is_held_by_a_pattern_of_its_name() {
    for pattern in ["t*t", "*get", "?arget", "[t]arget", "ta*"] {
        let ground = Fixture::repository();
        let store = ground.store();
        let snapshot = store.create(&also(&[pattern])).unwrap();
        ground.run("rm", &["-r", "target"]);
        store.restore(&snapshot).unwrap();
        assert_eq!(
            ground.text("target/out").as_deref(),
            Some("built"),
            "{pattern}"
        );
    }
}

/// CAKE-SNAP-1: named files that are not held are reported: too large, too much, a repository
/// inside.
#[test]
fn named_files_that_are_not_held_are_reported() {
    let ground = Fixture::repository();
    for name in ["large.bin", "large.secret"] {
        ground.write(name, "");
        ground.run("truncate", &["-s", "60000000", name]);
    }
    ground.write("inner/x", "");
    ground.run("git", &["init", "--quiet", "inner"]);
    let many = "for name in $(seq 2001); do : > target/$name; done";
    ground.run("sh", &["-c", many]);
    let store = ground.store();
    let names = ["large.bin", "*.secret", "inner", "target", "a.txt"];
    let snapshot = store.create(&also(&names)).unwrap();
    let mut lacks = snapshot.not_covered.named;
    lacks.sort();
    assert_eq!(lacks, ["inner/", "large.bin", "large.secret", "target"]);
    let large = snapshot.not_covered.too_large;
    assert_eq!(large.len(), 2, "{large:?}");
    ground.remove("x.secret");
    let listed = store.list().unwrap();
    store.restore(&listed[0]).unwrap();
    assert_eq!(ground.text("x.secret").as_deref(), Some("hush"));
    let other = store.create(&also(&["a.txt"])).unwrap();
    assert_eq!(other.not_covered.named, [""; 0]);
}

/// CAKE-SNAP-1: what is named alone is held while a tree is read, which may take long.
#[test]
fn what_is_named_alone_waits_for_no_tree() {
    let ground = Fixture::repository();
    let store = ground.store();
    let _tree = store.lock_tree(Duration::ZERO).unwrap();
    // A lock of a killed process is in no one's way.
    let left = store.repository.folder.join("named.index.lock");
    store.surroundings.disk.create(&left, b"", 0o600).unwrap();
    let wanted = Wanted {
        only: vec!["x.secret".to_owned()],
        ..labelled("named")
    };
    let snapshot = store.create(&wanted).unwrap();
    assert_eq!(snapshot.dirty_files, ["x.secret"]);
    let refused = store.lock_tree(Duration::ZERO).unwrap_err();
    assert!(matches!(refused, SnapshotError::Lock(_)), "{refused}");
}
