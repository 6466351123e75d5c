//! Contents of a snapshot, and its lifetime.

use std::path::Path;

use super::{super::*, ground::*};

/// CAKE-SNAP-1: index, refs and objects of the user's stay as they are, byte for byte.
#[test]
fn nothing_of_the_users_repository_is_written() {
    let ground = Fixture::repository();
    ground.write("a.txt", "staged\n");
    ground.git(&["add", "a.txt"]);
    ground.write("a.txt", "and changed\n");
    ground.write("new.txt", "new\n");
    let before = ground.users_files();
    let store = ground.store();
    let first = store.create(&labelled("first")).unwrap();
    ground.write("new.txt", "newer\n");
    store.create(&labelled("second")).unwrap();
    store.changes(&first).unwrap();
    store.restore(&first).unwrap();
    store.clean(&Retention::default()).unwrap();
    assert_eq!(ground.users_files(), before);
    assert_eq!(ground.text("new.txt").as_deref(), Some("new\n"));
}

/// CAKE-SNAP-1: a snapshot has the metadata that the seed asks for, and lists what it lacks.
#[test]
fn a_snapshot_says_what_it_is_and_what_it_lacks() {
    let ground = Fixture::repository();
    ground.write("a.txt", "changed\n");
    ground.write("new.txt", "new\n");
    ground.remove("dir/b.txt");
    ground.write("large.bin", "");
    let large = ground.tree().join("large.bin");
    let file = ground
        .disk
        .open(&large, callosum_host::OpenHow::READ_WRITE)
        .unwrap();
    file.set_len(60_000_000).unwrap();
    ground.write("inner/x", "");
    ground
        .disk
        .create_dir_all(&ground.tree().join("inner/.git/objects"))
        .unwrap();
    ground
        .disk
        .create_dir_all(&ground.tree().join("inner/.git/refs"))
        .unwrap();
    ground.write("inner/.git/HEAD", "ref: refs/heads/main\n");
    ground.write(".cal_memory.json", "{}");
    ground.write("cal_audit/2026-11-02.jsonl", "{}");
    let snapshot = ground.store().create(&labelled("pre-force-push")).unwrap();
    assert_eq!(snapshot.label, "pre-force-push");
    assert_eq!(snapshot.branch.as_deref(), Some("main"));
    assert_eq!(
        snapshot.git_commit.as_deref(),
        Some(ground.git(&["rev-parse", "HEAD"]).trim())
    );
    assert_eq!(snapshot.dirty_files, ["a.txt", "dir/b.txt", "new.txt"]);
    assert_eq!(snapshot.size_bytes, 12);
    assert_eq!(snapshot.snapshot_id.len(), 36);
    let lacks = &snapshot.not_covered;
    assert_eq!(lacks.ignored, ["target/", "x.secret"]);
    assert_eq!(lacks.repositories, ["inner/"]);
    assert_eq!(lacks.too_large[0].path, "large.bin");
    assert!(!lacks.is_nothing());
}

#[test]
fn a_tree_without_a_repository_has_snapshots_as_well() {
    let ground = Fixture::new();
    ground.write("a.txt", "one\n");
    ground.write(".gitignore", "*.log\n");
    ground.write("x.log", "");
    let store = ground.store();
    let snapshot = store.create(&labelled("first")).unwrap();
    assert_eq!(snapshot.git_commit, None);
    assert_eq!(snapshot.branch, None);
    assert_eq!(snapshot.dirty_files, [".gitignore", "a.txt"]);
    assert_eq!(snapshot.not_covered.ignored, ["x.log"]);
    ground.write("a.txt", "two\n");
    store.restore(&snapshot).unwrap();
    assert_eq!(ground.text("a.txt").as_deref(), Some("one\n"));
    assert!(!ground.disk.exists(&ground.tree().join(".git")).unwrap());
}

/// CAKE-SNAP-1: a worktree of a repository has snapshots of its own.
#[test]
fn odd_names_and_empty_repositories_are_held() {
    let ground = Fixture::new();
    ground.git(&["init", "--quiet"]);
    for name in [
        "with space",
        "-dash",
        "q\"uote",
        "line\nfeed",
        "é",
        ":(top)magic",
        "*.c",
    ] {
        ground.write(name, name);
    }
    let store = ground.store();
    let snapshot = store.create(&labelled("odd")).unwrap();
    assert_eq!(snapshot.dirty_files.len(), 7);
    for path in &snapshot.dirty_files {
        ground.remove(path);
    }
    assert_eq!(
        store.restore(&snapshot).unwrap().changes.written().count(),
        7
    );
    assert_eq!(ground.text("line\nfeed").as_deref(), Some("line\nfeed"));
}

/// CAKE-SNAP-1: pinned ones survive anything that the user's git forgets.
#[test]
fn a_pinned_snapshot_needs_nothing_of_the_users() {
    let ground = Fixture::repository();
    ground.write("a.txt", "only staged\n");
    ground.git(&["add", "a.txt"]);
    let store = ground.store();
    let loose = store.create(&labelled("loose")).unwrap();
    let pinned = Wanted {
        checkpoint: true,
        ..labelled("pinned")
    };
    let pinned = store.create(&pinned).unwrap();
    ground.write("a.txt", "other\n");
    ground.git(&["add", "a.txt"]);
    ground.git(&["commit", "--quiet", "--amend", "--message=other"]);
    ground.git(&["reflog", "expire", "--expire=now", "--all"]);
    ground.git(&["gc", "--quiet", "--prune=now"]);
    store.restore(&pinned).unwrap();
    assert_eq!(ground.text("a.txt").as_deref(), Some("only staged\n"));
    // Its pack has what the other one lost.
    store.restore(&loose).unwrap();
}

/// CAKE-SNAP-1: what is older than 72 hours goes, and the oldest of what is too much; pinned ones
/// stay.
#[test]
fn old_snapshots_go_and_pinned_ones_stay() {
    let ground = Fixture::repository();
    let store = ground.store();
    let error = Wanted {
        linked_errors: vec!["error_sig_123".to_owned()],
        ..labelled("linked")
    };
    let linked = store.create(&error).unwrap();
    let old = store.create(&labelled("old")).unwrap();
    // The clock goes on by an hour each time it is asked.
    for _ in 0..73 {
        ground.clock.now();
    }
    let young = store.create(&labelled("young")).unwrap();
    let cleaned = store.clean(&Retention::default()).unwrap();
    assert_eq!(cleaned.removed, [old.snapshot_id]);
    let left: Vec<_> = store
        .list()
        .unwrap()
        .into_iter()
        .map(|left| left.label)
        .collect();
    assert_eq!(left, ["young", "linked"]);
    ground.write("large.txt", &"0123456789".repeat(100_000));
    store.create(&labelled("large")).unwrap();
    let nothing = Retention {
        bytes: 0,
        ..Retention::default()
    };
    let cleaned = store.clean(&nothing).unwrap();
    assert_eq!(cleaned.removed.len(), 2);
    assert_eq!(cleaned.removed[0], young.snapshot_id, "the oldest first");
    assert_eq!(store.list().unwrap(), std::slice::from_ref(&linked));
    store.restore(&linked).unwrap();
}

#[test]
fn a_snapshot_is_found_by_the_beginning_of_its_id() {
    let ground = Fixture::repository();
    let store = ground.store();
    assert_eq!(store.list().unwrap(), []);
    let snapshot = store.create(&labelled("x")).unwrap();
    assert_eq!(store.named(&snapshot.snapshot_id[..8]).unwrap(), snapshot);
    assert!(matches!(
        store.named(""),
        Err(SnapshotError::Unknown { .. })
    ));
    assert!(matches!(
        store.named("nope"),
        Err(SnapshotError::Unknown { .. })
    ));
    let patch = store.patch(&snapshot).unwrap();
    assert_eq!(patch, b"");
    ground.write("a.txt", "two\n");
    let patch = String::from_utf8(store.patch(&snapshot).unwrap()).unwrap();
    assert!(patch.contains("+one"), "{patch}");
    assert!(Path::new(&snapshot.tree_path).is_dir());
}

/// CAKE-SNAP-1: outside of a repository the files that are named are kept, and nothing else is read;
/// going back to them leaves all others alone, and can be undone.
#[test]
fn named_files_are_kept_alone() {
    let ground = Fixture::new();
    ground.write("notes/a.txt", "hours\n");
    ground.write("notes/b.log", "log\n");
    ground.write("large/c.txt", "other\n");
    ground.write(".gitignore", "notes/\n");
    ground.write("o[1].txt", "odd\n");
    let store = ground.store();
    let wanted = Wanted {
        only: vec![
            "notes/a.txt".into(),
            "*.log".into(),
            "o[1].txt".into(),
            "gone".into(),
        ],
        ..labelled("before")
    };
    let snapshot = store.create(&wanted).unwrap();
    assert_eq!(
        snapshot.dirty_files,
        ["notes/a.txt", "notes/b.log", "o[1].txt"]
    );
    assert_eq!(snapshot.only, wanted.only);
    ground.write("notes/a.txt", "");
    ground.remove("notes/b.log");
    ground.write("large/c.txt", "changed\n");
    let restored = store
        .restore(&store.named(&snapshot.snapshot_id).unwrap())
        .unwrap();
    assert_eq!(ground.text("notes/a.txt").as_deref(), Some("hours\n"));
    assert_eq!(ground.text("notes/b.log").as_deref(), Some("log\n"));
    assert_eq!(ground.text("large/c.txt").as_deref(), Some("changed\n"));
    store.restore(&restored.before).unwrap();
    assert_eq!(ground.text("notes/a.txt").as_deref(), Some(""));
    assert_eq!(ground.text("notes/b.log"), None);
}

/// CAKE-SNAP-1: files that were named come back if all of them are gone, and the restore can be
/// undone.
#[test]
fn named_files_come_back_where_none_of_them_is_left() {
    let ground = Fixture::new();
    ground.write("d/a.txt", "hours\n");
    ground.write("other.txt", "other\n");
    let store = ground.store();
    let wanted = Wanted {
        only: vec!["d".into()],
        ..labelled("before")
    };
    let snapshot = store.create(&wanted).unwrap();
    ground.remove("d/a.txt");
    assert_eq!(store.changes(&snapshot).unwrap().written().count(), 1);
    let restored = store.restore(&snapshot).unwrap();
    assert_eq!(ground.text("d/a.txt").as_deref(), Some("hours\n"));
    store.restore(&restored.before).unwrap();
    assert_eq!(ground.text("d/a.txt"), None);
    assert_eq!(ground.text("other.txt").as_deref(), Some("other\n"));
}

/// Unfinished files of a killed process go when snapshots are removed.
#[test]
fn half_a_note_goes_with_the_next_cleaning() {
    let ground = Fixture::repository();
    let store = ground.store();
    store.create(&labelled("x")).unwrap();
    let left = ground.top.join("machine/snapshots/x/notes/.a.json.1-0.tmp");
    // By another process, so that no lock of this one's may be on it.
    ground.run("cp", &["dir/b.txt", left.to_str().unwrap()]);
    store.clean(&Retention::default()).unwrap();
    assert!(!ground.disk.exists(&left).unwrap());
    assert_eq!(store.list().unwrap().len(), 1);
}
