//! Going back to a snapshot, and what it leaves alone.

use super::{super::*, ground::*};

/// CAKE-SNAP-1: what was changed, and what was removed, comes back; what came since stays; and all of
/// it can be undone.
#[test]
fn going_back_brings_back_and_removes_nothing() {
    let ground = Fixture::repository();
    ground.write("work.txt", "hours of work\n");
    let store = ground.store();
    let snapshot = store.create(&labelled("before")).unwrap();
    ground.git(&["clean", "--force", "-d", "--quiet"]);
    ground.git(&["rm", "--quiet", "dir/b.txt"]);
    ground.write("a.txt", "broken\n");
    ground.write("since.txt", "since\n");
    let expected = pairs(&[
        ("a.txt", "rewrite"),
        ("dir/b.txt", "create"),
        ("since.txt", "leave"),
        ("work.txt", "create"),
    ]);
    assert_eq!(list_changes(&store.changes(&snapshot).unwrap()), expected);
    assert_eq!(ground.text("work.txt"), None, "looking changes nothing");
    let restored = store.restore(&snapshot).unwrap();
    assert_eq!(list_changes(&restored.changes), expected);
    assert_eq!(ground.text("work.txt").as_deref(), Some("hours of work\n"));
    assert_eq!(ground.text("dir/b.txt").as_deref(), Some("two\n"));
    assert_eq!(ground.text("a.txt").as_deref(), Some("one\n"));
    assert_eq!(ground.text("since.txt").as_deref(), Some("since\n"));
    let expected = pairs(&[
        ("a.txt", "rewrite"),
        ("dir/b.txt", "remove"),
        ("work.txt", "remove"),
    ]);
    let undone = store.restore(&restored.before).unwrap();
    assert_eq!(list_changes(&undone.changes), expected);
    assert_eq!(ground.text("a.txt").as_deref(), Some("broken\n"));
    assert_eq!(ground.text("work.txt"), None);
    let folder = ground.tree().join("dir");
    assert!(!ground.disk.exists(&folder).unwrap(), "it was made as well");
    // And that as well can be undone.
    store.restore(&undone.before).unwrap();
    assert_eq!(ground.text("work.txt").as_deref(), Some("hours of work\n"));
    assert_eq!(ground.text("a.txt").as_deref(), Some("one\n"));
    assert_eq!(ground.text("since.txt").as_deref(), Some("since\n"));
}

/// CAKE-SNAP-1: a file that a restore has created and someone has worked on since is theirs, and so
/// is one that was there before under the same name.
#[test]
fn undoing_removes_nothing_that_was_worked_on_since() {
    let ground = Fixture::repository();
    for name in ["kept.txt", "made.txt", "again.txt"] {
        ground.write(name, "of the snapshot\n");
    }
    let store = ground.store();
    let snapshot = store.create(&labelled("before")).unwrap();
    for name in ["kept.txt", "made.txt", "again.txt"] {
        ground.remove(name);
    }
    ground.write("since.txt", "since\n");
    let restored = store.restore(&snapshot).unwrap();
    ground.write("kept.txt", "and worked on\n");
    ground.remove("again.txt");
    let expected = pairs(&[("kept.txt", "leave"), ("made.txt", "remove")]);
    let undone = store.restore(&restored.before).unwrap();
    assert_eq!(list_changes(&undone.changes), expected);
    assert_eq!(ground.text("kept.txt").as_deref(), Some("and worked on\n"));
    assert_eq!(ground.text("made.txt"), None);
    assert_eq!(ground.text("since.txt").as_deref(), Some("since\n"));
}

/// CAKE-SNAP-1: the patch shows what going back does, and not what stays as it is.
#[test]
fn a_patch_shows_no_deletion_that_is_not_done() {
    let ground = Fixture::repository();
    let store = ground.store();
    ground.write(":(top)odd*", "odd\n");
    let snapshot = store.create(&labelled("before")).unwrap();
    ground.write("a.txt", "two\n");
    ground.write("since.txt", "since\n");
    ground.remove(":(top)odd*");
    let patch = String::from_utf8(store.patch(&snapshot).unwrap()).unwrap();
    assert!(patch.contains("+one") && patch.contains("+odd"), "{patch}");
    assert!(!patch.contains("since"), "{patch}");
    let restored = store.restore(&snapshot).unwrap();
    let patch = store.patch(&restored.before).unwrap();
    let patch = String::from_utf8(patch).unwrap();
    assert!(
        patch.contains("-odd") && !patch.contains("since"),
        "{patch}"
    );
    ground.git(&["rm", "--quiet", "--cached", "a.txt"]);
    assert_eq!(store.patch(&snapshot).unwrap(), b"");
}

/// CAKE-SNAP-1: what no snapshot holds is not written over.
#[test]
fn a_file_that_could_not_be_brought_back_again_is_not_written_over() {
    let ground = Fixture::repository();
    let store = ground.store();
    let snapshot = store.create(&labelled("before")).unwrap();
    ground.git(&["rm", "--quiet", "--cached", "a.txt"]);
    ground.write(".gitignore", "target/\n*.secret\na.txt\n");
    ground.write("a.txt", "ignored now\n");
    ground
        .disk
        .remove_file(&ground.top.join("machine/snapshots/x/tree.index"))
        .unwrap();
    let changes = store.restore(&snapshot).unwrap().changes;
    assert!(
        list_changes(&changes).contains(&("a.txt".to_owned(), "refuse")),
        "{changes:?}"
    );
    assert_eq!(ground.text("a.txt").as_deref(), Some("ignored now\n"));
}

/// CAKE-SNAP-1: a file is not put back under a merge.
#[test]
fn while_a_merge_is_under_way_nothing_is_put_back() {
    let ground = Fixture::repository();
    let store = ground.store();
    let snapshot = store.create(&labelled("before")).unwrap();
    ground.write(".git/MERGE_HEAD", "x");
    let refused = store.restore(&snapshot).unwrap_err();
    assert!(
        refused.to_string().ends_with("a merge is in progress"),
        "{refused}"
    );
}

/// CAKE-SNAP-1: a snapshot that borrows from objects that are gone reports it before anything is
/// written.
#[test]
fn a_snapshot_that_is_not_whole_any_more_is_not_gone_back_to() {
    let ground = Fixture::repository();
    ground.write("a.txt", "only staged\n");
    ground.git(&["add", "a.txt"]);
    let store = ground.store();
    let snapshot = store.create(&labelled("loose")).unwrap();
    ground.write("a.txt", "other\n");
    ground.write("dir/b.txt", "other\n");
    ground.git(&["add", "a.txt"]);
    ground.git(&["gc", "--quiet", "--prune=now"]);
    let refused = store.restore(&snapshot).unwrap_err();
    assert!(matches!(refused, SnapshotError::Broken { .. }), "{refused}");
    assert_eq!(ground.text("dir/b.txt").as_deref(), Some("other\n"));
    // The next index is built from scratch.
    let next = store.create(&labelled("next")).unwrap();
    store.restore(&next).unwrap();
}

/// CAKE-SNAP-1: a restore does what was shown: a file in the place of a folder gives way, an empty
/// folder in the place of a file as well, and one that holds an ignored file does not.
#[test]
fn an_entry_in_the_way_is_reported_with_its_change() {
    let ground = Fixture::repository();
    ground.write("empty", "a file\n");
    ground.write("full", "a file\n");
    let store = ground.store();
    let snapshot = store.create(&labelled("before")).unwrap();
    ground.run("rm", &["-r", "dir", "empty", "full"]);
    ground.write("dir", "a file where a folder was\n");
    ground.run("mkdir", &["-p", "empty/inner", "full"]);
    ground.write("full/x.secret", "ignored\n");
    let expected = pairs(&[
        ("dir", "replace"),
        ("dir/b.txt", "create"),
        ("empty", "create"),
        ("full", "refuse"),
    ]);
    assert_eq!(list_changes(&store.changes(&snapshot).unwrap()), expected);
    let restored = store.restore(&snapshot).unwrap();
    assert_eq!(list_changes(&restored.changes), expected);
    assert_eq!(ground.text("dir/b.txt").as_deref(), Some("two\n"));
    assert_eq!(ground.text("empty").as_deref(), Some("a file\n"));
    assert_eq!(ground.text("full/x.secret").as_deref(), Some("ignored\n"));
    store.restore(&restored.before).unwrap();
    assert_eq!(
        ground.text("dir").as_deref(),
        Some("a file where a folder was\n")
    );
}
