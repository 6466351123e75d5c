//! A snapshot holds the bytes of the tree, independent of git's conversions.

use callosum_host::disk::EntryKind;

use super::{super::*, ground::*};

/// A repository whose files git would convert in each of its ways.
fn converting() -> Fixture {
    let ground = Fixture::new();
    ground.git(&["init", "--quiet", "--initial-branch=main"]);
    let attributes = "*.nb filter=strip\n*.txt text eol=lf\n*.id ident\n*.big filter=missing\n";
    ground.write(".gitattributes", attributes);
    ground.git(&["config", "filter.strip.clean", "touch ran; sed /output/d"]);
    ground.git(&["config", "filter.strip.smudge", "sed s/^/smudged/"]);
    for name in ["a.nb", "a.txt", "a.id", "a.big"] {
        ground.write(name, "code\r\noutput\r\n$Id: mine$\r\n");
    }
    ground.git(&["add", "--all"]);
    ground.git(&["commit", "--quiet", "--message=begin"]);
    ground.git(&["config", "filter.missing.clean", "not-installed"]);
    ground.git(&["config", "filter.missing.required", "true"]);
    ground.remove("ran");
    ground
}

/// CAKE-SNAP-1: what git would leave out, change or have a program change comes back as it was, and
/// no such program is run.
#[test]
fn files_that_git_converts_are_held_as_they_are() {
    let ground = converting();
    ground.write("new.nb", "new\r\noutput\r\n");
    let store = ground.store();
    let snapshot = store.create(&labelled("bytes")).unwrap();
    assert_eq!(list_changes(&store.changes(&snapshot).unwrap()), []);
    let names = ["a.nb", "a.txt", "a.id", "a.big", "new.nb"];
    let before = names.map(|name| ground.text(name).unwrap());
    for name in names {
        ground.write(name, "code\n");
    }
    assert_eq!(store.changes(&snapshot).unwrap().written().count(), 5);
    store.restore(&snapshot).unwrap();
    assert_eq!(names.map(|name| ground.text(name).unwrap()), before);
    assert_eq!(ground.text("ran"), None, "a filter was run");
}

/// CAKE-SNAP-1: the same if a setting alone converts the ends of lines.
#[test]
fn a_setting_for_ends_of_lines_changes_nothing() {
    let ground = Fixture::repository();
    ground.git(&["config", "core.autocrlf", "true"]);
    ground.write("crlf.txt", "a\r\n");
    ground.git(&["add", "--all"]);
    ground.write("new.txt", "b\r\n");
    let store = ground.store();
    let snapshot = store.create(&labelled("ends")).unwrap();
    ground.write("crlf.txt", "a\n");
    ground.write("new.txt", "b\n");
    let expected = pairs(&[("crlf.txt", "rewrite"), ("new.txt", "rewrite")]);
    assert_eq!(
        list_changes(&store.restore(&snapshot).unwrap().changes),
        expected
    );
    assert_eq!(ground.text("crlf.txt").as_deref(), Some("a\r\n"));
    assert_eq!(ground.text("new.txt").as_deref(), Some("b\r\n"));
    assert_eq!(ground.text("a.txt").as_deref(), Some("one\n"));
}

/// CAKE-SNAP-1: where git would convert every file, only those are read whose ends of lines it has
/// converted.
#[test]
fn files_whose_ends_of_lines_are_as_git_holds_them_are_not_read() {
    let ground = Fixture::repository();
    ground.write(".gitattributes", "* text=auto\n*.id ident\n");
    ground.write("lf.txt", "a\nb\n");
    ground.write("crlf.txt", "a\r\nb\r\n");
    ground.write("x.id", "$Id$\n");
    ground.git(&["add", "--all"]);
    ground.git(&["commit", "--quiet", "--message=ends"]);
    let store = ground.store();
    let snapshot = store.create(&labelled("ends")).unwrap();
    assert_eq!(snapshot.size_bytes, "a\r\nb\r\n$Id$\n".len() as u64);
    assert_eq!(list_changes(&store.changes(&snapshot).unwrap()), []);
    ground.write("crlf.txt", "a\nb\n");
    ground.write("lf.txt", "a\r\nb\r\n");
    store.restore(&snapshot).unwrap();
    assert_eq!(ground.text("crlf.txt").as_deref(), Some("a\r\nb\r\n"));
    assert_eq!(ground.text("lf.txt").as_deref(), Some("a\nb\n"));
}

/// CAKE-SNAP-1: what the user's repository alone ignores stays ignored.
#[test]
fn what_the_repository_itself_ignores_is_not_held() {
    let ground = Fixture::repository();
    ground.write(".git/info/exclude", "mine/\n");
    ground.write("mine/x", "x");
    let snapshot = ground.store().create(&labelled("x")).unwrap();
    assert_eq!(snapshot.dirty_files, [""; 0]);
    assert_eq!(snapshot.not_covered.ignored_count, 3);
}

/// CAKE-SNAP-1: a folder that became a link or a file is no obstacle, comes back, and can be undone.
#[test]
fn a_folder_that_became_something_else_comes_back() {
    for is_link in [true, false] {
        let ground = Fixture::repository();
        ground.write("/elsewhere/b.txt".trim_start_matches('/'), "theirs\n");
        let store = ground.store();
        let snapshot = store.create(&labelled("folder")).unwrap();
        ground.remove("dir/b.txt");
        let folder = ground.tree().join("dir");
        ground.disk.remove_dir(&folder).unwrap();
        if is_link {
            std::os::unix::fs::symlink("elsewhere", &folder).unwrap();
        } else {
            ground.write("dir", "a file\n");
        }
        let expected = pairs(&[("dir", "replace"), ("dir/b.txt", "create")]);
        let restored = store.restore(&snapshot).unwrap();
        assert_eq!(list_changes(&restored.changes), expected);
        assert_eq!(ground.text("dir/b.txt").as_deref(), Some("two\n"));
        assert_eq!(ground.text("elsewhere/b.txt").as_deref(), Some("theirs\n"));
        let undone = store.restore(&restored.before).unwrap();
        let expected = pairs(&[("dir", "create"), ("dir/b.txt", "remove")]);
        assert_eq!(list_changes(&undone.changes), expected);
        let kind = ground.disk.stat(&folder).unwrap().map(|found| found.kind);
        assert_ne!(kind, Some(EntryKind::Folder));
    }
}

/// CAKE-SNAP-1: a pipe in the place of a file is no obstacle, and is not written over.
#[test]
fn a_pipe_in_the_place_of_a_file_stays() {
    let ground = Fixture::repository();
    let store = ground.store();
    let snapshot = store.create(&labelled("file")).unwrap();
    ground.remove("a.txt");
    ground.pipe("a.txt");
    let with_pipe = store.create(&labelled("pipe")).unwrap();
    assert_eq!(with_pipe.dirty_files, ["a.txt"]);
    let changes = store.restore(&snapshot).unwrap().changes;
    assert_eq!(list_changes(&changes), pairs(&[("a.txt", "refuse")]));
}

/// CAKE-SNAP-1: a snapshot of nothing is none.
#[test]
fn names_of_nothing_are_refused() {
    let ground = Fixture::repository();
    let wanted = Wanted {
        only: vec!["nosuch".to_owned()],
        ..labelled("nothing")
    };
    let error = ground.store().create(&wanted).unwrap_err();
    assert!(error.to_string().contains("`nosuch`"), "{error}");
}

/// CAKE-SNAP-1: files that git is set to ignore are held as they are on disk, and so are those
/// outside a sparse checkout.
#[test]
fn files_that_git_ignores_by_a_setting_are_held() {
    let ground = Fixture::repository();
    for name in ["kept", "same", "cone/x", "other/x", "other/y"] {
        ground.write(name, "committed");
    }
    ground.run("git", &["add", "kept", "same", "cone", "other"]);
    ground.run("git", &["commit", "--quiet", "-m", "more"]);
    ground.run("git", &["update-index", "--skip-worktree", "kept"]);
    ground.run("git", &["update-index", "--assume-unchanged", "same"]);
    ground.run("git", &["sparse-checkout", "set", "cone"]);
    let files = ["kept", "same", "other/x"];
    for name in files {
        ground.write(name, "own");
    }
    let store = ground.store();
    store.create(&labelled("first")).unwrap();
    for name in files {
        ground.remove(name);
    }
    store.restore(&store.list().unwrap()[0]).unwrap();
    for name in files {
        assert_eq!(ground.text(name).as_deref(), Some("own"), "{name}");
    }
    assert_eq!(ground.text("other/y"), None);
}

/// CAKE-SNAP-1: an index that leans on a shared one is read.
#[test]
fn a_split_index_is_made_whole() {
    let ground = Fixture::repository();
    ground.run("git", &["config", "core.splitIndex", "true"]);
    ground.write("new", "committed");
    ground.run("git", &["add", "new"]);
    ground.run("git", &["update-index", "--split-index"]);
    ground.write("new", "own");
    let store = ground.store();
    store.create(&labelled("first")).unwrap();
    ground.remove("new");
    store.restore(&store.list().unwrap()[0]).unwrap();
    assert_eq!(ground.text("new").as_deref(), Some("own"));
}
