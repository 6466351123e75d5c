//! `callosum undo`: what agents changed is brought back, byte for byte, and what others changed is left.
//!
//! Each call is one as clients report it: the hook is asked before it, the tool does its work, the hook hears of it.

use std::{fs, os::unix::fs::PermissionsExt as _};

use callosum_testkit::{Output, Schema, TestEnv};
use serde_json::{Value, json};

use crate::agent_calls::{Agent, sh, write};

fn set_mode(env: &TestEnv, path: &str, mode: u32) {
    let path = env.project().join(path);
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Everything below the project but git's own: paths, permission bits, and bytes or where a link leads.
fn tree(env: &TestEnv) -> Vec<(String, u32, Vec<u8>)> {
    let root = env.project();
    let mut all = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(&root).unwrap().display().to_string();
            let found = fs::symlink_metadata(&path).unwrap();
            let mode = found.permissions().mode() & 0o7777;
            if found.is_dir() {
                if name != ".git" {
                    folders.push(path);
                }
            } else if found.is_symlink() {
                let target = fs::read_link(&path).unwrap();
                all.push((name, 0, target.as_os_str().as_encoded_bytes().to_vec()));
            } else {
                all.push((name, mode, fs::read(&path).unwrap()));
            }
        }
    }
    all.sort();
    all
}

fn undo<const N: usize>(env: &TestEnv, arguments: [&str; N]) -> Output {
    let undo = env.callosum().without("CALLOSUM_TEST_IDS");
    undo.arguments(["undo"]).arguments(arguments).run()
}

/// What `undo --json` says becomes of each file.
fn changes(output: &Output) -> Vec<(String, String)> {
    let said = output.clone().json();
    let files = said["files"].as_array().unwrap().clone();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let files = files
        .iter()
        .map(|file| (text(&file["path"]), text(&file["change"])));
    files.collect()
}

fn of(changes: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |(path, change): &(&str, &str)| ((*path).to_owned(), (*change).to_owned());
    changes.iter().map(owned).collect()
}

fn repository() -> TestEnv {
    let env = TestEnv::new();
    env.write(".gitignore", ".env\nbuild/\n*.local\n");
    env.write("src/a.rs", "fn a() {}\n");
    env.write("src/b.rs", "fn b() {}\n");
    env.git_init();
    env.write(".env", "KEY=one\n");
    env
}

/// Each client's file tool on an ignored, untracked, dirty and clean file: the bytes and bits come back, and go again.
#[test]
fn what_a_file_tool_wrote_is_undone_and_the_undo_is_undone() {
    for client in ["claude", "codex", "gemini", "qwen"] {
        let env = repository();
        write(&env, "notes.md", "mine\r\nwith CRLF\r\n");
        write(&env, "src/b.rs", "fn b() { dirty() }\n");
        write(&env, "blob.bin", [0, 159, 146, 150, 0, 13, 10]);
        set_mode(&env, ".env", 0o600);
        set_mode(&env, "notes.md", 0o755);
        let before = tree(&env);
        let agent = Agent::new(&env, client, "s-1");
        for path in [".env", "notes.md", "src/a.rs", "src/b.rs", "blob.bin"] {
            agent.write(path, format!("changed {path}\n"));
        }
        agent.write("src/new/deep.rs", "new\n");
        let after = tree(&env);
        undo(&env, ["--yes"]).success();
        assert_eq!(tree(&env), before, "{client}");
        assert!(!env.project().join("src/new").exists());
        undo(&env, ["--yes"]).success();
        assert_eq!(tree(&env), after, "{client}");
        undo(&env, ["--yes"]).success();
        assert_eq!(tree(&env), before, "{client}");
    }
}

/// A patch that deletes, moves and adds files.
#[test]
fn files_that_a_tool_deleted_or_moved_come_back() {
    let env = repository();
    write(&env, "note.local", "kept nowhere\n");
    let before = tree(&env);
    let agent = Agent::new(&env, "codex", "s-1");
    let patch = "*** Begin Patch\n*** Delete File: note.local\n*** Update File: src/a.rs\n\
                 *** Move to: src/moved.rs\n@@\n-a\n+b\n*** Add File: src/added.rs\n+x\n*** End Patch";
    agent.with_tool("apply_patch", &json!({"command": patch}), || {
        sh(
            &env,
            "rm note.local; mv src/a.rs src/moved.rs; echo x > src/added.rs",
        );
    });
    undo(&env, ["--yes"]).success();
    assert_eq!(tree(&env), before);
}

/// A tool writes through a link, or puts a file in its place.
#[test]
fn a_link_comes_back_and_so_does_what_it_leads_to() {
    let env = repository();
    write(&env, "real.local", "real\n");
    std::os::unix::fs::symlink("real.local", env.project().join("link.local")).unwrap();
    let before = tree(&env);
    let agent = Agent::new(&env, "claude", "s-1");
    agent.write("link.local", "through\n");
    assert_eq!(env.read("real.local"), "through\n");
    undo(&env, ["--yes"]).success();
    assert_eq!(tree(&env), before);
    agent.prompt();
    let input = json!({"file_path": env.project().join("link.local"), "content": "x"});
    agent.with_tool("Write", &input, || {
        sh(&env, "rm link.local; echo in-place > link.local");
    });
    undo(&env, ["--yes"]).success();
    assert_eq!(tree(&env), before);
}

/// `sed -i` on an ignored file with bits of its own, an untracked one with CRLF, and a dirty one.
#[test]
fn sed_in_place_is_undone() {
    for client in ["claude", "gemini"] {
        let env = repository();
        set_mode(&env, ".env", 0o600);
        write(&env, "notes.md", "one\r\ntwo\r\n");
        write(&env, "src/b.rs", "fn b() { one() }\n");
        let before = tree(&env);
        let agent = Agent::new(&env, client, "s-1");
        agent.shell("sed -i s/one/three/ .env notes.md src/b.rs");
        assert_eq!(env.read(".env"), "KEY=three\n");
        undo(&env, ["--yes"]).success();
        assert_eq!(tree(&env), before, "{client}");
        undo(&env, ["--yes"]).success();
        assert_eq!(env.read("notes.md"), "three\r\ntwo\r\n");
    }
}

/// `tar -x` over files: ignored, binary, executable ones, a link, and files that did not exist.
#[test]
fn an_unpacked_archive_is_undone() {
    let env = repository();
    write(&env, "run.sh", "#!/bin/sh\n");
    set_mode(&env, "run.sh", 0o755);
    write(&env, "blob.bin", [0, 1, 2, 13, 10, 255]);
    std::os::unix::fs::symlink("src/a.rs", env.project().join("link")).unwrap();
    let pack = env.folder().join("pack");
    let pack = pack.display();
    sh(
        &env,
        &format!(
            "mkdir -p {pack}/src {pack}/fresh/deep && cd {pack} && echo x > .env && echo y > src/a.rs && echo z > run.sh \
             && echo b > blob.bin && echo l > link && echo n > fresh/deep/new.txt && tar cf ../pack.tar ."
        ),
    );
    let before = tree(&env);
    let agent = Agent::new(&env, "claude", "s-1");
    agent.shell("tar -xf ../pack.tar");
    assert_eq!(env.read(".env"), "x\n");
    assert_eq!(env.read("fresh/deep/new.txt"), "n\n");
    undo(&env, ["--yes"]).success();
    assert_eq!(tree(&env), before);
    assert!(!env.project().join("fresh").exists());
}

/// Files that a command deletes, or moves over others.
#[test]
fn deleted_and_moved_files_come_back_after_a_command() {
    let env = repository();
    set_mode(&env, ".env", 0o640);
    write(&env, "data/x.local", "x\n");
    let before = tree(&env);
    let agent = Agent::new(&env, "claude", "s-1");
    agent.shell("rm -rf data .env");
    agent.shell("mv -f src/a.rs src/b.rs");
    assert_eq!(env.read("src/b.rs"), "fn a() {}\n");
    undo(&env, ["--yes"]).success();
    assert_eq!(tree(&env), before);
}

/// A refactoring of 30 files by file tools that fails halfway: clean, dirty, binary, new and deleted files.
#[test]
fn a_failed_refactoring_of_thirty_files_is_undone() {
    let env = repository();
    for at in 0..30 {
        write(&env, &format!("src/m{at}.rs"), format!("mod m{at};\r\n"));
    }
    env.git(&["add", "--all"]);
    env.git(&["commit", "--quiet", "--message=more"]);
    for at in 0..10 {
        write(
            &env,
            &format!("src/m{at}.rs"),
            format!("mod m{at}; // dirty\n"),
        );
    }
    write(&env, "src/m29.rs", [0, 255, 10]);
    set_mode(&env, "src/m28.rs", 0o755);
    let before = tree(&env);
    let agent = Agent::new(&env, "claude", "s-1");
    for at in 0..30 {
        let path = format!("src/m{at}.rs");
        agent.write(&path, format!("mod n{at};\n"));
        if at % 3 == 0 {
            agent.write(&path, format!("mod o{at};\n"));
        }
    }
    agent.write("src/extra.rs", "half\n");
    // The last call fails: it changes nothing, and no hook hears of its end.
    agent.before(
        "Edit",
        &json!({"file_path": env.project().join("src/m3.rs")}),
    );
    undo(&env, ["--yes"]).success();
    assert_eq!(tree(&env), before);
}

/// Two agents take turns: each undo brings back what its own agent changed, and no more.
#[test]
fn two_agents_on_different_files_are_undone_apart() {
    let env = repository();
    let before = tree(&env);
    let (claude, gemini) = (
        Agent::new(&env, "claude", "s-1"),
        Agent::new(&env, "gemini", "s-2"),
    );
    claude.write("src/a.rs", "fn a() { claude() }\n");
    gemini.write("src/b.rs", "fn b() { gemini() }\n");
    claude.shell("sed -i s/one/claude/ .env");
    gemini.write("new.md", "gemini\n");
    let said = undo(&env, ["--agent", "claude", "--json"]);
    assert_eq!(
        changes(&said.success()),
        of(&[(".env", "restore"), ("src/a.rs", "restore")])
    );
    assert_eq!(env.read(".env"), "KEY=one\n");
    assert_eq!(env.read("src/a.rs"), "fn a() {}\n");
    assert_eq!(env.read("src/b.rs"), "fn b() { gemini() }\n");
    undo(&env, ["--agent", "gemini"]).success();
    assert_eq!(tree(&env), before);
}

/// Two agents change the same file: what the other wrote is not lost.
#[test]
fn a_file_that_another_agent_changed_is_left() {
    let env = repository();
    let (claude, qwen) = (
        Agent::new(&env, "claude", "s-1"),
        Agent::new(&env, "qwen", "s-2"),
    );
    claude.write("src/a.rs", "claude\n");
    claude.write("src/b.rs", "claude\n");
    qwen.write("src/a.rs", "qwen\n");
    let said = undo(&env, ["--agent", "claude", "--json"]).ended_with(1);
    assert_eq!(
        changes(&said),
        of(&[("src/a.rs", "conflict"), ("src/b.rs", "restore")])
    );
    assert_eq!(env.read("src/a.rs"), "qwen\n");
    assert_eq!(env.read("src/b.rs"), "fn b() {}\n");
    // First the other one's, then its own.
    undo(&env, ["--agent", "qwen"]).success();
    assert_eq!(env.read("src/a.rs"), "claude\n");
    let listed = undo(&env, ["--agent", "claude", "--list", "--json"]).json();
    let entries = listed["entries"].as_array().unwrap();
    let turn = entries
        .iter()
        .find(|entry| entry["kind"] == "turn")
        .unwrap();
    undo(&env, [turn["id"].as_str().unwrap()]).success();
    assert_eq!(env.read("src/a.rs"), "fn a() {}\n");

    // One between two calls of the other, and two at the same time.
    claude.prompt();
    qwen.prompt();
    claude.write("src/a.rs", "claude 1\n");
    qwen.write("src/a.rs", "claude 1, qwen\n");
    claude.write("src/a.rs", "claude 1, qwen, claude 2\n");
    undo(&env, ["--agent", "claude"]).ended_with(1);
    assert_eq!(env.read("src/a.rs"), "claude 1, qwen, claude 2\n");
    let path = json!({"file_path": env.project().join("src/b.rs")});
    let (first, second) = (claude.before("Edit", &path), qwen.before("edit", &path));
    write(&env, "src/b.rs", "claude\n");
    claude.after(&first);
    write(&env, "src/b.rs", "claude and qwen\n");
    qwen.after(&second);
    let said = undo(&env, ["--agent", "qwen", "--limit", "1", "--json"]).ended_with(1);
    assert_eq!(changes(&said), of(&[("src/b.rs", "conflict")]));
    assert_eq!(env.read("src/b.rs"), "claude and qwen\n");
}

/// What a person changed since is left, unless they say --force; then it can be brought back as well.
#[test]
fn a_file_that_was_changed_since_is_left_without_force() {
    let env = repository();
    let agent = Agent::new(&env, "claude", "s-1");
    agent.write(".env", "KEY=masked\n");
    write(&env, ".env", "KEY=typed by hand\n");
    let said = undo(&env, ["--yes"]).ended_with(1);
    assert!(said.stdout.contains("conflict"), "{said:?}");
    assert!(said.stderr.contains("--force"), "{said:?}");
    assert_eq!(env.read(".env"), "KEY=typed by hand\n");
    undo(&env, ["--force"]).success();
    assert_eq!(env.read(".env"), "KEY=one\n");
    undo(&env, ["--yes"]).success();
    assert_eq!(env.read(".env"), "KEY=typed by hand\n");
}

/// Without a terminal and without --yes the plan is printed, and nothing is written.
#[test]
fn nothing_is_undone_unasked() {
    let env = repository();
    let agent = Agent::new(&env, "claude", "s-1");
    agent.write("src/a.rs", "fn a() { changed() }\n");
    let asked = env.callosum().without("CALLOSUM_ASSUME_YES");
    let said = asked.clone().arguments(["undo"]).run().ended_with(1);
    assert!(said.stdout.contains("restore  src/a.rs"), "{said:?}");
    let (paths, lines) = said.stdout.split_once("--- a/src/a.rs").unwrap();
    assert!(paths.contains("src/a.rs"), "{said:?}");
    assert!(
        lines.contains("-fn a() { changed() }\n+fn a() {}\n"),
        "{said:?}"
    );
    assert!(said.stderr.contains("callosum undo "), "{said:?}");
    let dry = undo(&env, ["--dry-run"]).success();
    assert_eq!(dry.stdout, said.stdout);
    let json = undo(&env, ["--dry-run", "--json"]).success().json();
    let patch = json["patch"].as_str().unwrap();
    assert!(said.stdout.ends_with(patch), "{patch}");
    assert!(
        patch.contains("-fn a() { changed() }\n+fn a() {}\n"),
        "{patch}"
    );
    assert_eq!(Schema::published("output-undo").fault(&json), None);
    assert_eq!(env.read("src/a.rs"), "fn a() { changed() }\n");
    asked.arguments(["undo", "--yes"]).run().success();
    assert_eq!(env.read("src/a.rs"), "fn a() {}\n");
}

/// Where no hook saw a call end, another agent's record of the same file tells what it left; else a person is asked.
#[test]
fn a_call_whose_end_was_not_seen_is_undone_only_if_that_is_known() {
    let env = repository();
    let (claude, qwen) = (
        Agent::new(&env, "claude", "s-1"),
        Agent::new(&env, "qwen", "s-2"),
    );
    claude.before(
        "Write",
        &json!({"file_path": env.project().join("src/a.rs")}),
    );
    write(&env, "src/a.rs", "unseen\n");
    let command = json!({"command": "sed -i s/one/two/ .env"});
    claude.before("Bash", &command);
    sh(&env, "sed -i s/one/two/ .env");
    let said = undo(&env, ["--json"]).ended_with(1);
    assert_eq!(
        changes(&said),
        of(&[(".env", "unverified"), ("src/a.rs", "unverified")])
    );
    assert_eq!(env.read("src/a.rs"), "unseen\n");
    qwen.write("src/a.rs", "qwen\n");
    undo(&env, ["--agent", "qwen"]).success();
    let said = undo(&env, ["--agent", "claude", "--json"]).ended_with(1);
    assert_eq!(
        changes(&said),
        of(&[(".env", "unverified"), ("src/a.rs", "restore")])
    );
    let listed = undo(&env, ["--agent", "claude", "--list", "--json"]).json();
    let turn = listed["entries"].as_array().unwrap().last().unwrap()["id"].clone();
    undo(&env, [turn.as_str().unwrap(), "--force"]).success();
    assert_eq!(env.read(".env"), "KEY=one\n");
    assert_eq!(env.read("src/a.rs"), "fn a() {}\n");
}

/// A turn is what happens between two prompts; `--limit` counts calls.
#[test]
fn turns_calls_and_sessions_are_told_apart() {
    let env = repository();
    let (first, second) = (
        Agent::new(&env, "claude", "s-1"),
        Agent::new(&env, "claude", "s-2"),
    );
    first.write("src/a.rs", "1\n");
    first.prompt();
    first.write("src/a.rs", "2\n");
    first.write("src/b.rs", "2\n");
    first.write("src/b.rs", "3\n");
    second.write(".env", "second\n");
    undo(&env, ["--session", "s-1", "--limit", "1"]).success();
    assert_eq!(env.read("src/b.rs"), "2\n");
    undo(&env, ["--session", "s-1", "--limit", "1"]).success();
    assert_eq!(env.read("src/b.rs"), "fn b() {}\n");
    assert_eq!(env.read("src/a.rs"), "2\n");
    undo(&env, ["--session", "s-1", "--limit", "5"]).success();
    assert_eq!(env.read("src/a.rs"), "fn a() {}\n");
    assert_eq!(env.read(".env"), "second\n");
    undo(&env, ["--session", "s-2"]).success();
    assert_eq!(env.read(".env"), "KEY=one\n");
    undo(&env, ["--session", "s-3"]).ended_with(1);
    let listed = undo(&env, ["--list"]).success();
    assert!(listed.stdout.contains("(undone) Write"), "{listed:?}");
}

/// What is too large to be kept is said, and so is what is outside of the project.
#[test]
fn what_was_not_kept_is_said() {
    let env = repository();
    write(&env, "large.local", vec![b'x'; 9 * 1024 * 1024]);
    let agent = Agent::new(&env, "claude", "s-1");
    agent.write("large.local", "small\n");
    agent.write("../outside.txt", "out\n");
    agent.write("src/a.rs", "changed\n");
    let listed = undo(&env, ["--list"]).success();
    assert!(
        listed
            .stderr
            .contains("content not stored: large.local (larger than 8 MiB)"),
        "{listed:?}"
    );
    assert!(
        listed.stderr.contains("outside of the project"),
        "{listed:?}"
    );
    let said = undo(&env, ["--json"]).ended_with(1);
    let changes = changes(&said);
    assert!(changes.contains(&("large.local".to_owned(), "not-kept".to_owned())));
    assert!(changes.contains(&("src/a.rs".to_owned(), "restore".to_owned())));
    assert_eq!(env.read("large.local"), "small\n");
    assert_eq!(env.read("src/a.rs"), "fn a() {}\n");
}

/// No file is written through a link that was put on the way to it.
#[test]
fn no_link_on_the_way_is_followed() {
    let env = repository();
    let agent = Agent::new(&env, "claude", "s-1");
    agent.write("src/a.rs", "changed\n");
    let elsewhere = env.folder().join("elsewhere");
    sh(
        &env,
        &format!("mv src {0} && ln -s {0} src", elsewhere.display()),
    );
    let said = undo(&env, ["--force"]).ended_with(1);
    assert!(said.stderr.contains("no longer a folder"), "{said:?}");
    assert_eq!(
        fs::read_to_string(elsewhere.join("a.rs")).unwrap(),
        "changed\n"
    );
}

/// A folder that is in no repository, and a linked worktree.
#[test]
fn trees_without_a_repository_and_linked_worktrees_are_undone() {
    let env = TestEnv::new();
    write(&env, "notes.md", "mine\n");
    let before = tree(&env);
    let agent = Agent::new(&env, "claude", "s-1");
    agent.write("notes.md", "theirs\n");
    agent.shell("sed -i s/theirs/ours/ notes.md");
    undo(&env, ["--yes"]).success();
    assert_eq!(tree(&env), before);

    let env = repository();
    env.git(&["worktree", "add", "--quiet", "../linked"]);
    let linked = env.folder().join("linked");
    let agent = Agent::new(&env, "claude", "s-1");
    let mut event = agent.event("Write", &json!({"file_path": linked.join("src/a.rs")}));
    event["cwd"] = linked.display().to_string().into();
    agent.hook("PreToolUse", &event).success();
    fs::write(linked.join("src/a.rs"), "linked\n").unwrap();
    agent.after(&event);
    let undo = env
        .callosum()
        .without("CALLOSUM_TEST_IDS")
        .in_folder(&linked);
    undo.arguments(["undo"]).run().success();
    assert_eq!(
        fs::read_to_string(linked.join("src/a.rs")).unwrap(),
        "fn a() {}\n"
    );
}
