//! Roots in folders with marks, repositories, worktrees, submodules, and forged ones.

use std::path::Path;

use super::*;
use crate::test_dir::TestDir;

/// A folder with files in it; `GROUND` in their content is the folder's path. Each `HEAD` makes its folder one that git takes for
/// a repository, and so does each `commondir`.
fn with(files: &[(&str, &str)]) -> TestDir {
    let ground = TestDir::new();
    for (name, content) in files {
        if let Some(folder) = name.strip_suffix("/HEAD") {
            ground.write(name, "ref: refs/heads/main\n");
            ground.folder(&format!("{folder}/objects"));
            ground.folder(&format!("{folder}/refs"));
            continue;
        }
        if let Some(folder) = name.strip_suffix("/commondir") {
            ground.write(&format!("{folder}/HEAD"), "ref: refs/heads/linked\n");
        }
        ground.write(
            name,
            content.replace("GROUND", ground.top.to_str().unwrap()),
        );
    }
    ground
}

#[track_caller]
fn check(ground: &TestDir, here: &str, named: Option<&str>, state: &str, tree: &str) {
    let found = Roots::find(&ground.disk, &ground.path(here), named.map(Path::new)).unwrap();
    assert_eq!(
        found.tree.strip_prefix(&ground.top),
        Ok(Path::new(tree)),
        "tree"
    );
    assert_eq!(
        found.state.strip_prefix(&ground.top),
        Ok(Path::new(state)),
        "state"
    );
    // Trust is kept by the name's bytes, to which a slash at the end would make a difference.
    let state = found.state.to_str().unwrap();
    assert!(!state.ends_with('/'), "{state}");
}

/// A repository `main` with the linked worktree `linked`, as git lays them.
const LINKED: &[(&str, &str)] = &[
    ("main/.git/HEAD", "ref: refs/heads/main\n"),
    ("main/.git/worktrees/linked/commondir", "../..\n"),
    ("main/.git/worktrees/linked/gitdir", "GROUND/linked/.git\n"),
    ("main/sub/x", ""),
    ("linked/.git", "gitdir: GROUND/main/.git/worktrees/linked\n"),
    ("linked/sub/x", ""),
    ("linked/new/x", ""),
];

#[test]
fn the_nearest_mark_comes_before_the_toplevel() {
    let ground = with(&[
        (".git/HEAD", ""),
        ("a/.calrc", "{}"),
        ("a/b/.cal_memory.json", "{}"),
        ("a/b/c/x", ""),
        ("d/x", ""),
    ]);
    check(&ground, "a/b/c", None, "a/b", "a/b");
    check(&ground, "a", None, "a", "a");
    check(&ground, "d", None, "", "");
}

/// Nothing above the git toplevel marks what is in it: a root above is about other repositories as well.
#[test]
fn a_mark_above_the_git_toplevel_is_not_the_root_of_what_is_in_it() {
    let ground = with(&[
        (".calrc", "{}"),
        ("loa-grimoire/NOTES.md", ""),
        ("own/.git/HEAD", ""),
        ("own/a/x", ""),
        ("own/a/.cal_memory.json", "{}"),
        ("own/b/x", ""),
        ("plain/x", ""),
    ]);
    check(&ground, "own/b", None, "own", "own");
    check(&ground, "own/a", None, "own/a", "own/a");
    check(&ground, "plain", None, "", "");
    check(&ground, "own/b", Some("../.."), "", "");
}

/// The main worktree's state is found by what git says, not by a mark above.
#[test]
fn a_linked_worktree_within_the_main_one_is_a_tree_of_its_own() {
    let ground = with(&[
        ("main/.calrc", "{}"),
        ("main/.git/HEAD", ""),
        ("main/.git/worktrees/x/commondir", "../..\n"),
        ("main/.git/worktrees/x/gitdir", "GROUND/main/trees/x/.git\n"),
        (
            "main/trees/x/.git",
            "gitdir: GROUND/main/.git/worktrees/x\n",
        ),
        ("main/.git/modules/part/HEAD", ""),
        ("main/part/.git", "gitdir: ../.git/modules/part\n"),
    ]);
    check(&ground, "main/trees/x", None, "main", "main/trees/x");
    check(&ground, "main/part", None, "main/part", "main/part");
}

/// Git takes a folder without a `HEAD`, objects and references for no repository, and so do we.
#[test]
fn what_git_takes_for_no_repository_marks_no_root() {
    let ground = with(&[
        ("own/.git/HEAD", ""),
        ("own/sub/x", ""),
        ("own/bare/x", ""),
        ("own/torn/x", ""),
    ]);
    for (folder, head) in [
        ("own/sub", ""),
        ("own/bare", "ref: refs/heads/main\n"),
        ("own/torn", ""),
    ] {
        ground.write(&format!("{folder}/.git/HEAD"), head);
        if folder != "own/bare" {
            ground.folder(&format!("{folder}/.git/objects"));
            ground.folder(&format!("{folder}/.git/refs"));
        }
    }
    for folder in ["sub", "bare", "torn"] {
        check(&ground, &format!("own/{folder}"), None, "own", "own");
    }
    let commit = "0123456789abcdef0123456789abcdef01234567\n";
    ground.write("own/sub/.git/HEAD", commit);
    check(&ground, "own/sub", None, "own/sub", "own/sub");
}

/// Git takes a folder without a `HEAD` for no repository, and so do we, also behind a link.
#[test]
fn a_git_folder_without_a_head_is_no_repository() {
    let ground = with(&[
        ("a/.git/config", ""),
        ("a/b/x", ""),
        ("c/.git/HEAD", ""),
        ("c/d/.git/hooks/x", ""),
        ("c/d/e/x", ""),
        ("f/x", ""),
        ("g/x", ""),
    ]);
    std::os::unix::fs::symlink("../a/.git", ground.path("f/.git")).unwrap();
    std::os::unix::fs::symlink("../c/.git", ground.path("g/.git")).unwrap();
    check(&ground, "a/b", None, "a/b", "a/b");
    check(&ground, "c/d/e", None, "c", "c");
    ground.folder("f/h");
    check(&ground, "f/h", None, "f/h", "f/h");
    ground.folder("g/h");
    check(&ground, "g/h", None, "g", "g");
}

/// REQ-SEC-001: no file of another user above the folder that one starts in marks a root.
#[test]
fn files_of_other_users_mark_no_root() {
    if callosum_host::disk::user() != 0 {
        // Only root can give a file away.
        return;
    }
    for mark in [
        "shared/.calrc",
        "shared/.cal_memory.json",
        "shared/loa-grimoire/NOTES.md",
        "shared/.git/HEAD",
    ] {
        let ground = with(&[(mark, ""), ("shared/own/x", "")]);
        check(&ground, "shared/own", None, "shared", "shared");
        let path = match mark.strip_suffix("/HEAD") {
            Some(git) => ground.path(git),
            None => ground.path(mark),
        };
        std::os::unix::fs::chown(&path, Some(12_345), None).unwrap();
        check(&ground, "shared/own", None, "shared/own", "shared/own");
        let here = ground.path("shared/own");
        let foreign = Roots::find(&ground.disk, &here, None).unwrap().foreign;
        let expected = ForeignMark { path, user: 12_345 };
        assert_eq!(foreign, [expected]);
        let named = Roots::find(&ground.disk, &here, Some(Path::new(".."))).unwrap();
        assert_eq!((named.tree, named.foreign), (ground.path("shared"), vec![]));
    }
}

/// REQ-SEC-001: who works in another user's folder, as root does in a container, has that user's root.
#[test]
fn files_of_who_owns_the_folder_mark_the_root() {
    if callosum_host::disk::user() != 0 {
        // Only root can give a file away.
        return;
    }
    let ground = with(&[(".calrc", ""), ("own/x", "")]);
    for path in ["", ".calrc", "own"] {
        std::os::unix::fs::chown(ground.path(path), Some(12_345), None).unwrap();
    }
    check(&ground, "own", None, "", "");
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o1777);
    std::fs::set_permissions(&ground.top, open).unwrap();
    check(&ground, "own", None, "own", "own");
}

#[test]
fn a_named_folder_is_the_root_with_anything_above_it() {
    let ground = with(&[(".calrc", "{}"), (".git/HEAD", ""), ("a/x", "")]);
    check(&ground, "", Some("a"), "a", "a");
    check(&ground, "a", Some(".."), "", "");
}

#[test]
fn without_mark_and_git_the_root_is_the_current_folder() {
    let ground = with(&[("a/x", "")]);
    check(&ground, "a", None, "a", "a");
}

/// LOA-ZONE-1: without git a folder below one with notes of sessions is of the same project.
#[test]
fn without_git_the_nearest_notes_of_sessions_mark_the_root() {
    let ground = with(&[
        ("a/loa-grimoire/NOTES.md", ""),
        ("a/b/c/x", ""),
        ("d/x", ""),
    ]);
    check(&ground, "a/b/c", None, "a", "a");
    check(&ground, "d", None, "d", "d");
    check(&ground, "", Some("a/b"), "a/b", "a/b");
}

#[test]
fn a_linked_worktree_keeps_its_state_in_the_main_one() {
    let ground = with(LINKED);
    check(&ground, "linked", None, "main", "linked");
    check(&ground, "linked/sub", None, "main", "linked");
    check(&ground, "main/sub", None, "main", "main");
    check(&ground, "", Some("linked"), "main", "linked");
}

#[test]
fn a_folder_of_a_linked_worktree_answers_to_that_of_the_main_one() {
    let ground = with(LINKED);
    check(&ground, "", Some("linked/sub"), "main/sub", "linked/sub");
    check(&ground, "", Some("linked/new"), "main", "linked/new");
}

/// LOA-ZONE-1: files of sessions that a branch has are read where it is checked out.
#[test]
fn a_linked_worktree_keeps_sessions_of_its_own_where_it_has_files_of_theirs() {
    let sessions = |of: &[(&str, &str)]| {
        let ground = with(&[LINKED, of].concat());
        let roots = Roots::find(&ground.disk, &ground.path("linked"), None).unwrap();
        assert_eq!(roots.state, ground.path("main"));
        roots.sessions.strip_prefix(&ground.top).unwrap().to_owned()
    };
    let notes = "main/loa-grimoire/NOTES.md";
    assert_eq!(sessions(&[(notes, "")]), Path::new("main"));
    assert_eq!(
        sessions(&[("linked/.beads/issues.jsonl", "")]),
        Path::new("main")
    );
    for own in [
        "loa-grimoire/NOTES.md",
        ".beads/bd-1.yaml",
        ".loa.config.yaml",
    ] {
        let own = format!("linked/{own}");
        assert_eq!(sessions(&[(notes, ""), (&own, "")]), Path::new("linked"));
    }
}

#[test]
fn a_linked_worktree_with_relative_paths_is_understood() {
    let ground = with(&[
        ("main/.git/HEAD", ""),
        ("main/.git/worktrees/linked/commondir", "../..\n"),
        (
            "main/.git/worktrees/linked/gitdir",
            "../../../../linked/.git\n",
        ),
        ("linked/.git", "gitdir: ../main/.git/worktrees/linked\n"),
    ]);
    check(&ground, "linked", None, "main", "linked");
}

#[test]
fn a_submodule_is_no_linked_worktree() {
    let ground = with(&[
        (".git/modules/part/HEAD", ""),
        ("part/.git", "gitdir: ../.git/modules/part\n"),
    ]);
    check(&ground, "part", None, "part", "part");
}

#[test]
fn a_worktree_of_a_bare_repository_keeps_its_own_state() {
    let ground = with(&[
        ("bare.git/worktrees/linked/commondir", "../..\n"),
        ("bare.git/worktrees/linked/gitdir", "GROUND/linked/.git\n"),
        ("linked/.git", "gitdir: GROUND/bare.git/worktrees/linked\n"),
    ]);
    check(&ground, "linked", None, "linked", "linked");
}

/// An unpacked archive whose `.git` points at a stranger's repository writes nothing there.
#[test]
fn a_forged_link_to_another_repository_is_not_followed() {
    let ground = with(&[
        ("victim/.git/worktrees/theirs/commondir", "../..\n"),
        (
            "victim/.git/worktrees/theirs/gitdir",
            "GROUND/elsewhere/.git\n",
        ),
        (
            "elsewhere/.git",
            "gitdir: GROUND/victim/.git/worktrees/theirs\n",
        ),
        (
            "stolen/.git",
            "gitdir: GROUND/victim/.git/worktrees/theirs\n",
        ),
        ("own/.git", "gitdir: fake/worktrees/x\n"),
        ("own/fake/worktrees/x/commondir", "GROUND/victim/.git\n"),
        ("own/fake/worktrees/x/gitdir", "GROUND/own/.git\n"),
    ]);
    check(&ground, "stolen", None, "stolen", "stolen");
    check(&ground, "own", None, "own", "own");
}

#[test]
fn a_git_file_that_makes_no_sense_marks_a_toplevel_and_no_more() {
    let garbage = "\0".repeat(100_000);
    for content in [
        "",
        "gitdir:",
        "gitdir: \n",
        "gitdir: /no/such/place\n",
        &garbage,
    ] {
        let ground = with(&[("a/.git", content), ("a/b/x", "")]);
        check(&ground, "a/b", None, "a", "a");
    }
}

#[test]
fn a_root_that_is_no_folder_is_refused() {
    let ground = with(&[("file", "")]);
    let find = |named: &str| Roots::find(&ground.disk, &ground.top, Some(Path::new(named)));
    assert!(matches!(find("none"), Err(RootError::Missing { .. })));
    assert!(matches!(find("file"), Err(RootError::NotAFolder { .. })));
    assert!(find("file/x").is_err());
}
