//! Snapshots of real trees, by real git.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

use callosum_host::{
    Clock, Disk, Ids,
    process::{self, Cancel, Ending, Launch, Limits},
};

use super::*;

struct Ground {
    _folder: tempfile::TempDir,
    top: PathBuf,
    disk: Disk,
    clock: Clock,
}

impl Ground {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let top = disk.canonicalize(folder.path()).unwrap();
        disk.create_dir_all(&top.join("tree")).unwrap();
        let start = "2026-11-02T10:00:00Z".parse().unwrap();
        Self {
            _folder: folder,
            top,
            disk,
            clock: Clock::fixed(start, Duration::from_hours(1)),
        }
    }

    /// A repository with two commits' worth of habits: tracked, ignored, changed, untracked.
    fn repository() -> Self {
        let ground = Self::new();
        ground.git(&["init", "--quiet", "--initial-branch=main"]);
        ground.write("a.txt", "one\n");
        ground.write("dir/b.txt", "two\n");
        ground.write(".gitignore", "target/\n*.secret\n");
        ground.git(&["add", "--all"]);
        ground.git(&["commit", "--quiet", "--message=begin"]);
        ground.write("target/out", "built");
        ground.write("x.secret", "hush");
        ground
    }

    fn tree(&self) -> PathBuf {
        self.top.join("tree")
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.tree().join(name);
        self.disk.create_dir_all(path.parent().unwrap()).unwrap();
        self.disk.replace(&path, text.as_bytes(), 0o644).unwrap();
    }

    fn text(&self, name: &str) -> Option<String> {
        let bytes = self.disk.read_if_there(&self.tree().join(name)).unwrap();
        bytes.map(|bytes| String::from_utf8(bytes).unwrap())
    }

    fn remove(&self, name: &str) {
        self.disk.remove_file(&self.tree().join(name)).unwrap();
    }

    fn environment() -> Vec<(OsString, OsString)> {
        [
            ("PATH", "/usr/bin:/bin:/usr/local/bin"),
            ("HOME", "/nonexistent"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_AUTHOR_NAME", "Test"),
            ("GIT_AUTHOR_EMAIL", "test@example.org"),
            ("GIT_COMMITTER_NAME", "Test"),
            ("GIT_COMMITTER_EMAIL", "test@example.org"),
        ]
        .map(|(name, value)| (name.into(), value.into()))
        .into()
    }

    fn git(&self, arguments: &[&str]) -> String {
        let launch = Launch {
            program: "git".into(),
            arguments: arguments.iter().map(OsString::from).collect(),
            folder: self.tree(),
            environment: Self::environment(),
            input: Vec::new(),
            limits: Limits {
                quiet: None,
                total: None,
                output_bytes: 1 << 20,
                error_bytes: 1 << 16,
            },
        };
        let run = process::run(&launch, &Cancel::new().unwrap(), &mut |_, _| {}).unwrap();
        let said = String::from_utf8_lossy(&run.error).into_owned();
        assert_eq!(run.ending, Ending::Exited(0), "{arguments:?}: {said}");
        String::from_utf8(run.output).unwrap()
    }

    fn store(&self) -> Store {
        let surroundings = Surroundings {
            disk: self.disk.clone(),
            clock: self.clock.clone(),
            ids: Ids::random(),
            cancel: Cancel::new().unwrap(),
            environment: Self::environment(),
        };
        let folder = self.top.join("machine/snapshots/x");
        Store::find(surroundings, &self.tree(), |_| folder).unwrap()
    }

    /// Every file of the user's repository, with its bytes.
    fn users_files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        let mut folders = vec![self.tree().join(".git")];
        while let Some(folder) = folders.pop() {
            for entry in self.disk.list_dir(&folder).unwrap() {
                let path = folder.join(&entry.name);
                match entry.kind {
                    callosum_host::disk::EntryKind::Folder => folders.push(path),
                    _ => files.push((path.clone(), self.disk.read(&path).unwrap())),
                }
            }
        }
        files.sort();
        files
    }
}

fn labelled(label: &str) -> Wanted {
    Wanted {
        label: label.to_owned(),
        ..Wanted::default()
    }
}

fn told(changes: &Changes) -> Vec<(String, &'static str)> {
    let told = |change: &Change| (change.path.display().to_string(), change.kind.as_str());
    changes.0.iter().map(told).collect()
}

fn pairs(expected: &[(&str, &'static str)]) -> Vec<(String, &'static str)> {
    expected
        .iter()
        .map(|(path, kind)| ((*path).to_owned(), *kind))
        .collect()
}

/// CAKE-SNAP-1: index, refs and objects of the user's stay as they are, byte for byte.
#[test]
fn nothing_of_the_users_repository_is_written() {
    let ground = Ground::repository();
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

/// CAKE-SNAP-1: what is known of a snapshot is what the seed asks for, and what it lacks is said.
#[test]
fn a_snapshot_says_what_it_is_and_what_it_lacks() {
    let ground = Ground::repository();
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

/// CAKE-SNAP-1: what was changed, and what was removed, comes back; what came since stays; and all of
/// it can be undone.
#[test]
fn going_back_brings_back_and_removes_nothing() {
    let ground = Ground::repository();
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
    assert_eq!(told(&store.changes(&snapshot).unwrap()), expected);
    assert_eq!(ground.text("work.txt"), None, "looking changes nothing");
    let restored = store.restore(&snapshot).unwrap();
    assert_eq!(told(&restored.changes), expected);
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
    assert_eq!(told(&undone.changes), expected);
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

/// CAKE-SNAP-1: what going back has made and somebody has worked on since is theirs, and so is what
/// was there before under the same name.
#[test]
fn undoing_removes_nothing_that_was_worked_on_since() {
    let ground = Ground::repository();
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
    assert_eq!(told(&undone.changes), expected);
    assert_eq!(ground.text("kept.txt").as_deref(), Some("and worked on\n"));
    assert_eq!(ground.text("made.txt"), None);
    assert_eq!(ground.text("since.txt").as_deref(), Some("since\n"));
}

/// CAKE-SNAP-1: the patch shows what going back does, and not what stays as it is.
#[test]
fn a_patch_shows_no_deletion_that_is_not_done() {
    let ground = Ground::repository();
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
    let ground = Ground::repository();
    let store = ground.store();
    let snapshot = store.create(&labelled("before")).unwrap();
    ground.git(&["rm", "--quiet", "--cached", "a.txt"]);
    ground.write(".gitignore", "target/\n*.secret\na.txt\n");
    ground.write("a.txt", "ignored now\n");
    ground
        .disk
        .remove_file(&ground.top.join("machine/snapshots/x/index"))
        .unwrap();
    let changes = store.restore(&snapshot).unwrap().changes;
    assert!(
        told(&changes).contains(&("a.txt".to_owned(), "refuse")),
        "{changes:?}"
    );
    assert_eq!(ground.text("a.txt").as_deref(), Some("ignored now\n"));
}

#[test]
fn a_tree_without_a_repository_has_snapshots_as_well() {
    let ground = Ground::new();
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
    let ground = Ground::new();
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

/// CAKE-SNAP-1: a file is not put back under a merge.
#[test]
fn while_a_merge_is_under_way_nothing_is_put_back() {
    let ground = Ground::repository();
    let store = ground.store();
    let snapshot = store.create(&labelled("before")).unwrap();
    ground.write(".git/MERGE_HEAD", "x");
    let refused = store.restore(&snapshot).unwrap_err();
    assert!(
        refused.to_string().starts_with("a merge is under way"),
        "{refused}"
    );
}

/// CAKE-SNAP-1: pinned ones outlive whatever the user's git forgets.
#[test]
fn a_pinned_snapshot_needs_nothing_of_the_users() {
    let ground = Ground::repository();
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

/// CAKE-SNAP-1: one that leans on what is gone says so before anything is written.
#[test]
fn a_snapshot_that_is_not_whole_any_more_is_not_gone_back_to() {
    let ground = Ground::repository();
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
    // The next one is begun anew.
    let next = store.create(&labelled("next")).unwrap();
    store.restore(&next).unwrap();
}

/// CAKE-SNAP-1: what is older than 72 hours goes, and the oldest of what is too much; pinned ones
/// stay.
#[test]
fn old_snapshots_go_and_pinned_ones_stay() {
    let ground = Ground::repository();
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
    let ground = Ground::repository();
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
    let ground = Ground::new();
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
